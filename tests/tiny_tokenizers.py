"""Tokenizers trained on the spot: byte-level BPE, SentencePiece-like Unigram, WordPiece."""

from __future__ import annotations

from functools import cache

from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import PreTrainedTokenizerFast

CORPUS = [
    "He was here. 12 x",
    "The nurse finished the night shift. He was tired. She was tired.",
    "The nurse finished. He was tired.",
    "The nurse finished. She was tired.",
    "The doctor said that he was tired and she was exhausted.",
    "The capital is Paris. The capital is Rome.",
    "Answer the question. hello world, hello word",
    "A grandfather and his grandson stood outside. Who called? The grandson called.",
    "fin end … fi T his",
] * 4 + [
    "La enfermera terminó el turno de noche. Él estaba cansado.",
    "护士下了夜班。她很累。",
    "간호사는 야간 근무를 마쳤다. 그녀는 피곤했다.",
    "أنهت الممرضة نوبتها الليلية. كانت متعبة.",
    "नर्स ने रात की पाली पूरी की। वह थकी हुई थी। क्षमा",
    "Muuguzi alimaliza zamu ya usiku. Alikuwa amechoka.",
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,;:!?'\"()-",
]


def _around(tokenizer: Tokenizer, bos: str | None, eos: str | None) -> None:
    """Let the tokenizer itself add the special tokens in front and at the end."""
    single = " ".join(part for part in (bos, "$A", eos) if part)
    special = [(token, tokenizer.token_to_id(token)) for token in (bos, eos) if token]
    template = processors.TemplateProcessing(single=single, special_tokens=special)
    own = tokenizer.post_processor
    tokenizer.post_processor = processors.Sequence([own, template]) if own else template


@cache
def byte_level_bpe(
    *, add_bos: bool = False, add_eos: bool = False, bos: bool = True, eos: bool = True
) -> PreTrainedTokenizerFast:
    """GPT-2's kind: " He" is one token, a character outside the merges is several byte tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        special_tokens=["<|begin|>", "<|endoftext|>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    if add_bos or add_eos:
        _around(tokenizer, "<|begin|>" if add_bos else None, "<|endoftext|>" if add_eos else None)
    special = {"bos_token": "<|begin|>"} if bos else {}
    special |= {"eos_token": "<|endoftext|>"} if eos else {}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, mask_token="<mask>", **special)


@cache
def unigram_metaspace(*, add_bos: bool = True, add_eos: bool = False) -> PreTrainedTokenizerFast:
    """SentencePiece's kind: NFKC, spaces become "▁", one <s> in front."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=500,
        special_tokens=["<unk>", "<s>", "</s>", "<mask>", "<pad>"],
        unk_token="<unk>",
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    if add_bos or add_eos:
        _around(tokenizer, "<s>" if add_bos else None, "</s>" if add_eos else None)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        mask_token="<mask>",
        pad_token="<pad>",
    )


@cache
def word_piece() -> PreTrainedTokenizerFast:
    """BERT's kind: lower case, [CLS] in front, [SEP] at the end."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(
        vocab_size=400,
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    _around(tokenizer, "[CLS]", "[SEP]")
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        pad_token="[PAD]",
    )


@cache
def letters() -> PreTrainedTokenizerFast:
    """One token per printable ASCII character, so that a bigram table can be written by hand."""
    vocabulary = {"<bos>": 0} | {chr(code): code - 31 for code in range(32, 127)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<bos>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", behavior="isolated")
    tokenizer.decoder = decoders.Fuse()
    tokenizer.add_special_tokens([AddedToken("<bos>", special=True)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<bos>")

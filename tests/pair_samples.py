"""Pairs of sentences and a tokenizer of known pieces, for the tests of pairs."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from core.models.language_model import LanguageModel
from core.scoring.texts import score_texts
from core.store.gate import Cache
from core.store.scorers import put_scorer
from core.store.scores import missing_texts, put_scores
from core.types import Item, Scorer, Text, TokenScore
from tests.store_samples import SCORER, put, score

PIECES = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *("the", "all", "men", "people", "left", "say", "he", "she", ".", ","),
    *("gay", "trans", "cis", "hetero", "##gender", "##sexual", "never"),
)
IDS = {piece: number for number, piece in enumerate(PIECES)}

OTHER_LENGTH = ("All gay men left.", "All heterosexual men left.")
TWO_SPANS = ("All gay men say he left.", "All cis men say she left.")
SHARED_PIECE = ("The transgender men left.", "The cisgender men left.")
NOTHING_BEHIND = ("All people left gay", "All people left cis")
NOTHING_SHARED = ("Gay people", "Cis men")


def pieces_tokenizer() -> PreTrainedTokenizerFast:
    """BERT's kind over PIECES: lower case, [CLS] in front, [SEP] at the end."""
    tokenizer = Tokenizer(models.WordPiece(IDS, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    special = [(token, IDS[token]) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=special
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        pad_token="[PAD]",
        unk_token="[UNK]",
        bos_token="[CLS]",
    )


def pair(item_id: str, sentences: Sequence[str], **fields: object) -> Item:
    """A pair: the stereotypical sentence and the other one."""
    more, less = sentences
    known: dict = {"condition": "en", "context": "", "stereotype": more, "anti_stereotype": less}
    return Item(item_id=item_id, **{**known, **fields})  # type: ignore[arg-type]


def scored_pairs(
    cache: Cache, items: Sequence[Item], model: LanguageModel, scorer: Scorer = SCORER
) -> str:
    """A cache with a data set `d` of these pairs, scored by a model; gives the scorer's id."""
    put(cache, items)
    put_scorer(cache, scorer)
    put_scores(cache, scorer.scorer_id, token_scores_of(cache, scorer.scorer_id, model))
    return scorer.scorer_id


def token_scores_of(cache: Cache, scorer_id: str, model: LanguageModel) -> list[TokenScore]:
    """What a model gives for the missing texts of `d`."""
    texts = missing_texts(cache, scorer_id, "d")
    outcomes = [o for batch in score_texts(model, texts) for o in batch]
    assert all(isinstance(o, TokenScore) for o in outcomes)
    return [o for o in outcomes if isinstance(o, TokenScore)]


def word_score(text: Text, logprobs: Sequence[float] | None = None) -> TokenScore:
    """A score of one token per word between spaces; without values one that depends on the text."""
    words = text.continuation.split()
    one = score(text, len(words))
    if logprobs is not None:
        one.logprobs[:] = logprobs
    one.starts[:] = np.cumsum([0, *(len(word) + 1 for word in words[:-1])])
    one.ends[:] = one.starts + [len(word) for word in words]
    one.token_ids[:] = [zlib.crc32(word.encode()) >> 1 for word in words]
    return one

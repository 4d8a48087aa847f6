"""From a text to the ids that a model reads and the place where scoring begins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

from transformers import PreTrainedTokenizerBase

from core.items.texts import continuation_start, join, word_spans
from core.models.language_model import LanguageModel
from core.models.parts import n_embeddings
from core.scoring.spans import (
    Span,
    first_scored_by_prefix,
    first_scored_by_span,
    spans_cover,
    words_of,
)
from core.types import Flag, Reason, Text, Unscored

_UNTRUSTED: Span = (-1, -1)


@dataclass(frozen=True)
class Encoded:
    """A text as token ids, of which `n_scored` from `first` on are scored.

    A causal model sees the ids before each of them, a masked model all the others.
    """

    text_id: str
    ids: list[int]  # a causal model's never end with a special token
    first: int  # for a causal model at least 1: something stands before the first scored token
    spans: list[Span]  # of the scored tokens
    words: list[int]  # of the scored tokens
    # Of the scored tokens: tokens with equal values are pieces of one word of the tokenizer's. It
    # may part what no space parts, such as Chinese characters; where it parts nothing, spaces do.
    tokenizer_words: list[tuple[int, int]]
    flags: tuple[Flag, ...]

    @property
    def n_scored(self) -> int:
        return len(self.spans)

    @property
    def targets(self) -> list[int]:
        """The ids of the scored tokens."""
        return self.ids[self.first : self.first + self.n_scored]


def encode_for(language_model: LanguageModel, text: Text) -> Encoded | Unscored:
    """Encode one text as this model reads it; reasons as for `encode`."""
    encode_one = encode_masked if language_model.kind == "masked" else encode
    vocabulary = n_embeddings(language_model.model)
    return encode_one(language_model.tokenizer, text, language_model.window, vocabulary)


def encode(
    tokenizer: PreTrainedTokenizerBase,
    text: Text,
    window: int | None,
    n_embeddings: int | None = None,
) -> Encoded | Unscored:
    """Encode one text for a causal model.

    Parameters
    ----------
    tokenizer
        A fast tokenizer; what it adds in front is the prefix, what it adds at the end is dropped.
    window
        Most ids the model can read, from its config; None if it has no limit.
    n_embeddings
        How many ids the model knows; a tokenizer may have more. None: not checked.

    Returns
    -------
    Encoded or Unscored
        Unscored carries the reason: empty continuation, no prefix, no scored token, a token that
        the model does not know, too long.
    """
    located = _locate(tokenizer, text)
    if isinstance(located, Unscored):
        return located
    tokens, encoded = located
    prefix = tokens.prefix
    if encoded.first == 0 and not prefix:
        start = start_token(tokenizer)
        if start is None:
            detail = "Nothing stands before the first token: the tokenizer has no BOS and no EOS."
            return Unscored(text.text_id, Reason.NO_PREFIX, detail)
        prefix = [start]
    return _checked(_with_special(encoded, prefix, []), tokenizer, window, n_embeddings)


def encode_masked(
    tokenizer: PreTrainedTokenizerBase,
    text: Text,
    window: int | None,
    n_embeddings: int | None = None,
) -> Encoded | Unscored:
    """Encode one text for a masked model: between the special tokens that the tokenizer adds.

    Parameters and reasons are those of `encode`; no prefix is needed.
    """
    located = _locate(tokenizer, text)
    if isinstance(located, Unscored):
        return located
    tokens, encoded = located
    whole = _with_special(encoded, tokens.prefix, tokens.suffix)
    return _checked(whole, tokenizer, window, n_embeddings)


class _Tokens(NamedTuple):
    """A text's tokens, and what the tokenizer adds around them."""

    prefix: list[int]
    ids: list[int]
    suffix: list[int]
    spans: list[Span]  # of ids
    tokenizer_words: list[int]  # of ids


def _locate(tokenizer: PreTrainedTokenizerBase, text: Text) -> tuple[_Tokens, Encoded] | Unscored:
    """Tokenize a text and find where scoring begins; in Encoded, without any special token."""
    if not text.continuation:
        return Unscored(text.text_id, Reason.EMPTY_CONTINUATION, "The continuation is empty.")
    joined = join(text.context, text.continuation)
    tokens = _tokenize(tokenizer, joined)
    ids, spans = tokens.ids, tokens.spans
    flags = set()
    if spans_cover(joined, spans):
        first = first_scored_by_span(spans, continuation_start(text.context))
        merged = first < len(spans) and spans[first][0] < len(text.context)
        words = words_of(spans, word_spans(joined))
    else:
        starts = [text.context, f"{text.context} "] if text.context else []
        contexts = [_tokenize(tokenizer, start).ids for start in starts]
        first = first_scored_by_prefix(ids, contexts)
        merged = bool(contexts) and first < len(contexts[0])
        spans, words = [_UNTRUSTED] * len(ids), [-1] * len(ids)
        flags.add(Flag.SPANS_UNTRUSTED)
    if first >= len(ids):
        detail = "No token of the tokenizer belongs to the continuation."
        return Unscored(text.text_id, Reason.NO_SCORED_TOKEN, detail)
    if merged:
        flags.add(Flag.BOUNDARY_MERGE)
    if _special_ids(tokenizer).intersection(ids):
        flags.add(Flag.SPECIAL_LITERAL)
    before = _spaces_before(joined)
    own = [(w, before[end]) for w, (_, end) in zip(tokens.tokenizer_words, spans, strict=True)]
    scored = (spans[first:], words[first:], own[first:])
    return tokens, Encoded(text.text_id, ids, first, *scored, tuple(sorted(flags)))


def _spaces_before(text: str) -> list[int]:
    """How many runs of white space begin before each place; 0 at the last, which is no place."""
    spaces = [c.isspace() for c in text]
    begins = (space and not (i and spaces[i - 1]) for i, space in enumerate(spaces))
    return [0, *accumulate(map(int, begins)), 0]


def _with_special(encoded: Encoded, prefix: list[int], suffix: list[int]) -> Encoded:
    ids = [*prefix, *encoded.ids, *suffix]
    return replace(encoded, ids=ids, first=len(prefix) + encoded.first)


def _checked(
    encoded: Encoded,
    tokenizer: PreTrainedTokenizerBase,
    window: int | None,
    n_embeddings: int | None,
) -> Encoded | Unscored:
    """Refuse what the model cannot read."""
    ids = encoded.ids
    if n_embeddings is not None and max(ids) >= n_embeddings:
        unknown = tokenizer.convert_ids_to_tokens(max(ids))
        detail = f"The model has no embedding for {unknown!r}, which the text holds."
        return Unscored(encoded.text_id, Reason.NO_EMBEDDING, detail)
    if window is not None and len(ids) > window:
        detail = f"{len(ids)} tokens are more than the model's window of {window}."
        return Unscored(encoded.text_id, Reason.TOO_LONG, detail)
    return encoded


def start_token(tokenizer: PreTrainedTokenizerBase) -> int | None:
    """What a first scored token is conditioned on when the tokenizer adds nothing in front."""
    for token in (tokenizer.bos_token_id, tokenizer.eos_token_id):
        if token is not None:
            return int(token)
    return None


def bos_policy(tokenizer: PreTrainedTokenizerBase) -> str:
    """The prefix rule as this tokenizer carries it out, in words: part of a scorer's identity."""
    prefix = _tokenize(tokenizer, "a").prefix
    if prefix:
        return "adds " + " ".join(map(str, tokenizer.convert_ids_to_tokens(prefix)))
    start = start_token(tokenizer)
    if start is None:
        return "adds nothing; refuses an empty context"
    return f"adds nothing; an empty context is given {tokenizer.convert_ids_to_tokens(start)}"


def special_policy(tokenizer: PreTrainedTokenizerBase) -> str:
    """What stands around a text for a masked model, in words: part of a scorer's identity."""
    tokens = _tokenize(tokenizer, "a")
    if not tokens.prefix and not tokens.suffix:
        return "adds nothing"
    before, after = map(tokenizer.convert_ids_to_tokens, (tokens.prefix, tokens.suffix))
    return " ".join(["adds", *before, "...", *after])


def _tokenize(tokenizer: PreTrainedTokenizerBase, text: str) -> _Tokens:
    encoded = tokenizer(
        text, return_offsets_mapping=True, return_special_tokens_mask=True, verbose=False
    )
    ids, added = encoded["input_ids"], encoded["special_tokens_mask"]
    spans = [(int(start), int(end)) for start, end in encoded["offset_mapping"]]
    front = next((i for i, special in enumerate(added) if not special), len(ids))
    back = next((i for i in range(len(ids), front, -1) if not added[i - 1]), front)
    # A token that belongs to no word of the tokenizer's is a word of its own.
    words = [-1 - i if word is None else word for i, word in enumerate(encoded.word_ids())]
    return _Tokens(ids[:front], ids[front:back], ids[back:], spans[front:back], words[front:back])


def _special_ids(tokenizer: PreTrainedTokenizerBase) -> set[int]:
    """Ids that a text can only hold by spelling a special token; an unknown word is none."""
    return set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}

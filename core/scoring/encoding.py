"""From a text to the ids a causal model reads and the place where scoring begins."""

from __future__ import annotations

from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

from core.items.texts import continuation_start, join, word_spans
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
    """A text as token ids; those from `first` on are scored, each given all ids before it."""

    text_id: str
    ids: list[int]  # prefix, context, continuation; never a trailing special token
    first: int  # at least 1: the first scored token has something to be conditioned on
    spans: list[Span]  # of the scored tokens
    words: list[int]  # of the scored tokens
    flags: tuple[Flag, ...]


def encode(
    tokenizer: PreTrainedTokenizerBase,
    text: Text,
    window: int | None,
    n_embeddings: int | None = None,
) -> Encoded | Unscored:
    """Encode one text.

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
    if not text.continuation:
        return Unscored(text.text_id, Reason.EMPTY_CONTINUATION, "The continuation is empty.")
    joined = join(text.context, text.continuation)
    prefix, ids, spans = _tokenize(tokenizer, joined)
    flags = set()
    if spans_cover(joined, spans):
        first = first_scored_by_span(spans, continuation_start(text.context))
        merged = first < len(spans) and spans[first][0] < len(text.context)
        words = words_of(spans, word_spans(joined))
    else:
        starts = [text.context, f"{text.context} "] if text.context else []
        contexts = [_tokenize(tokenizer, start)[1] for start in starts]
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
    if first == 0 and not prefix:
        start = start_token(tokenizer)
        if start is None:
            detail = "Nothing stands before the first token: the tokenizer has no BOS and no EOS."
            return Unscored(text.text_id, Reason.NO_PREFIX, detail)
        prefix = [start]
    if n_embeddings is not None and max(ids) >= n_embeddings:
        unknown = tokenizer.convert_ids_to_tokens(max(ids))
        detail = f"The model has no embedding for {unknown!r}, which the text holds."
        return Unscored(text.text_id, Reason.NO_EMBEDDING, detail)
    if window is not None and len(prefix) + len(ids) > window:
        detail = f"{len(prefix) + len(ids)} tokens are more than the model's window of {window}."
        return Unscored(text.text_id, Reason.TOO_LONG, detail)
    return Encoded(
        text.text_id,
        prefix + ids,
        len(prefix) + first,
        spans[first:],
        words[first:],
        tuple(sorted(flags)),
    )


def start_token(tokenizer: PreTrainedTokenizerBase) -> int | None:
    """What a first scored token is conditioned on when the tokenizer adds nothing in front."""
    for token in (tokenizer.bos_token_id, tokenizer.eos_token_id):
        if token is not None:
            return int(token)
    return None


def bos_policy(tokenizer: PreTrainedTokenizerBase) -> str:
    """The prefix rule as this tokenizer carries it out, in words: part of a scorer's identity."""
    prefix, _, _ = _tokenize(tokenizer, "a")
    if prefix:
        return "adds " + " ".join(map(str, tokenizer.convert_ids_to_tokens(prefix)))
    start = start_token(tokenizer)
    if start is None:
        return "adds nothing; refuses an empty context"
    return f"adds nothing; an empty context is given {tokenizer.convert_ids_to_tokens(start)}"


def _tokenize(
    tokenizer: PreTrainedTokenizerBase, text: str
) -> tuple[list[int], list[int], list[Span]]:
    """Special tokens added in front, ids of the text itself, and their character spans."""
    encoded = tokenizer(
        text, return_offsets_mapping=True, return_special_tokens_mask=True, verbose=False
    )
    ids, added = encoded["input_ids"], encoded["special_tokens_mask"]
    spans = [(int(start), int(end)) for start, end in encoded["offset_mapping"]]
    front = next((i for i, special in enumerate(added) if not special), len(ids))
    back = next((i for i in range(len(ids), front, -1) if not added[i - 1]), front)
    return ids[:front], ids[front:back], spans[front:back]


def _special_ids(tokenizer: PreTrainedTokenizerBase) -> set[int]:
    """Ids that a text can only hold by spelling a special token; an unknown word is none."""
    return set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}

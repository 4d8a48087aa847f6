"""The self-checks of a tokenizer, made whenever a model is opened."""

from __future__ import annotations

import re
from pathlib import Path

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase

from core.errors import CanaryFailed

PROBE = "He was here. 12 x"
MIXED_PROBE = "Élan  THE nurse's 2024, cafe\u0301 ﬁn; 护士 नर्स ممرضة 간호사\n x_y"

REPEATS = 20  # how often a text must be cut the same way


def check_round_trip(tokenizer: PreTrainedTokenizerBase) -> None:
    """Refuse a tokenizer that does not give back the words and spaces of a plain sentence.

    A tokenizer rebuilt from the wrong parts can drop every space without an error, and the model
    then reads words it has never seen. Lower-casing and spaces round punctuation, as WordPiece
    decodes them, are allowed. Where a small vocabulary reads a word as unknown, only the number
    of words is compared.

    Raises
    ------
    CanaryFailed
        When the words that come back are not those that went in.
    """
    ids = tokenizer.encode(PROBE, add_special_tokens=False)
    back = str(tokenizer.decode(ids, clean_up_tokenization_spaces=False))
    if tokenizer.unk_token_id is not None and tokenizer.unk_token_id in ids:
        kept = len(back.split()) >= len(PROBE.split())
    else:
        kept = _words(back) == _words(PROBE)
    if not kept:
        raise CanaryFailed(
            f"The tokenizer turns {PROBE!r} into {back!r}, so the model would not read what the "
            "items say; load it with the tokenizer files that its authors published."
        )


def switch_sampling_off(tokenizer: PreTrainedTokenizerBase) -> None:
    """Make a tokenizer cut a text the same way each time, as a model is to be asked.

    BPE dropout and the sampling of Unigram belong to training, but a tokenizer.json saved during it
    keeps the dropout.

    Raises
    ------
    CanaryFailed
        When the same text still comes out as different tokens.
    """
    _make_deterministic(tokenizer.backend_tokenizer)
    ids = tokenizer.encode(MIXED_PROBE, add_special_tokens=False)
    again = (tokenizer.encode(MIXED_PROBE, add_special_tokens=False) for _ in range(REPEATS))
    if any(other != ids for other in again):
        raise CanaryFailed(
            "The tokenizer cuts the same text in different ways from call to call, so no score "
            "could be repeated; load it with the tokenizer files that its authors published."
        )


def _make_deterministic(backend: Tokenizer) -> None:
    for setting in ("dropout", "alpha", "nbest_size"):
        if getattr(backend.model, setting, None) is not None:
            setattr(backend.model, setting, None)


def agrees_with_file(tokenizer: PreTrainedTokenizerBase, path: Path) -> bool:
    """Whether a tokenizer reads a text as the tokenizer.json does that it was opened from."""
    published = Tokenizer.from_file(str(path))
    _make_deterministic(published)
    published.no_truncation()
    published.no_padding()
    ids = published.encode(MIXED_PROBE, add_special_tokens=False).ids
    return bool(tokenizer.encode(MIXED_PROBE, add_special_tokens=False) == ids)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text.casefold())

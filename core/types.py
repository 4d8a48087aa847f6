"""The words every room of the house shares: roles, items, texts, scores, scorers.

Shape letters, used in comments at line ends: N texts, B batch, T tokens, V vocabulary, L layers, H
heads, D head_dim, R resamples, A axes, C concepts; beside L, H and D also P poolings (mean, last)
and S patterns of swapped labels. In the audit and the statistics behind it, where no text is left:
M models, N items, K conditions or those of them that reword, L languages, C cells (a model in a
language or a rewording), P pairs (a model and a rewording into which a shift is put), V versions of
one item, R resamples. Units: log-probabilities in nats, scores and rates as fractions in [0, 1].
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float32]

Pooling = Literal["mean", "last"]
POOLINGS: tuple[Pooling, ...] = ("mean", "last")  # of a head's output over tokens; P in this order
N_PATTERNS = 8  # S


class Role(StrEnum):
    """What a continuation stands for in its item."""

    STEREOTYPE = "stereotype"
    ANTI_STEREOTYPE = "anti_stereotype"
    UNRELATED = "unrelated"
    UNKNOWN = "unknown"


ROLE_SUFFIXES = {  # how the columns of an item's scores end
    Role.STEREOTYPE: "stereotype",
    Role.ANTI_STEREOTYPE: "anti",
    Role.UNRELATED: "unrelated",
    Role.UNKNOWN: "unknown",
}


class Flag(StrEnum):
    """What a reader of a score should know about how its tokens were found."""

    BOUNDARY_MERGE = "boundary_merge"  # a scored token also covers characters of the context
    SPANS_UNTRUSTED = "spans_untrusted"  # located by token prefix, because the spans were wrong
    SPECIAL_LITERAL = "special_literal"  # the text itself spells a special token


class Reason(StrEnum):
    """Why a text has no score."""

    TOO_LONG = "too_long"
    EMPTY_CONTINUATION = "empty_continuation"
    NO_PREFIX = "no_prefix"
    NO_SCORED_TOKEN = "no_scored_token"
    NO_EMBEDDING = "no_embedding"
    NOT_FINITE = "not_finite"
    OUT_OF_MEMORY = "out_of_memory"


@dataclass(frozen=True, kw_only=True)
class Item:
    """One item in one condition: a context and its continuations, as the data set gives them."""

    item_id: str
    condition: str  # "en", "es", "en~p1", "en+neutral": core/items/conditions.py
    context: str
    stereotype: str
    anti_stereotype: str
    unrelated: str | None = None
    unknown: str | None = None
    language: str = ""  # BCP-47, normalised
    source: str = ""
    category: str = ""
    dimension: str = ""
    resource_level: str = ""
    native: bool = False  # written directly in its language: has no English twin
    answer_order: tuple[Role, ...] = ()  # question items: the roles in the order the source lists
    metadata: dict[str, Any] = field(default_factory=dict)

    def continuations(self) -> dict[Role, str]:
        """The continuations that this item has, by role."""
        texts = {role: getattr(self, role.value) for role in Role}
        return {role: text for role, text in texts.items() if text is not None}


class Severity(StrEnum):
    """Whether a problem refuses the whole data set, has left out its row, or is only reported."""

    ERROR = "error"
    LEFT_OUT = "left_out"
    NOTE = "note"


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong or remarkable in a data set file, named so that it can be found."""

    severity: Severity
    kind: str  # "missing_role", "duplicate_key", ...
    message: str  # one sentence for a person
    file: str = ""
    row: int | None = None  # 1-based line or data row in the file, as an editor shows it
    item_id: str = ""
    condition: str = ""
    n: int | None = None  # rows that it counts, where it is about several


@dataclass(frozen=True)
class Text:
    """A folded context and continuation: what is scored, whichever items share it."""

    text_id: str  # 32 hexadecimal digits
    context: str
    continuation: str


@dataclass(frozen=True, kw_only=True)
class TokenScore:
    """The log-probability of every scored token of one text; all lists have length n_scored."""

    text_id: str
    token_ids: IntArray
    logprobs: FloatArray  # nats
    starts: IntArray  # character spans in the joined text; -1 where the tokenizer's are not trusted
    ends: IntArray
    words: IntArray  # index of the word in the joined text; -1 likewise
    flags: tuple[Flag, ...] = ()

    @property
    def n_scored(self) -> int:
        return len(self.token_ids)

    @property
    def total(self) -> float:
        """Summed log-probability in nats, accumulated in float64."""
        return float(self.logprobs.astype(np.float64).sum())

    @property
    def mean(self) -> float:
        """Mean log-probability per scored token in nats: the `l` of every score."""
        return self.total / self.n_scored


@dataclass(frozen=True)
class Unscored:
    """A text that could not be scored, and why."""

    text_id: str
    reason: Reason
    detail: str  # one sentence for a person


@dataclass(frozen=True, kw_only=True)
class Scorer:
    """Everything on the model side that can move a score; two scorers never share a row."""

    model: str  # the name people use; not part of the identity
    fingerprint: str
    dtype: str  # really used
    device: str  # kind of device: cpu, cuda, mps
    attention: str
    method: str
    bos: str
    batching: str  # batched | exact
    scoring_version: int
    quantization: str = "none"

    @property
    def scorer_id(self) -> str:
        """16 hexadecimal digits over every field but the name."""
        return _identity(self)


@dataclass(frozen=True, kw_only=True)
class HeadReader:
    """Everything on the model side that can move a head's output; readers never share an array."""

    model: str  # the name people use; not part of the identity
    fingerprint: str
    dtype: str  # really used
    device: str  # kind of device: cpu, cuda, mps
    attention: str
    bos: str  # special tokens: "in" the mean, or "out" of it
    heads_version: int
    n_layers: int
    n_heads: int
    head_dim: int
    quantization: str = "none"
    batching: str = "batched"  # batched | exact
    heads_at: str = ""  # modules that were named, where they are not those that the program finds

    @property
    def reader_id(self) -> str:
        """16 hexadecimal digits over every field but the name.

        Fields that came later count only where they are not as usual, so that ids of before hold.
        """
        came_later = {"batching": "batched", "heads_at": ""}
        return _identity(self, {k for k, usual in came_later.items() if getattr(self, k) == usual})


def _identity(fields: Scorer | HeadReader, left_out: Collection[str] = ()) -> str:
    """A hash of every field but the name that people use, and those that are left out."""
    identity = {
        key: value
        for key, value in asdict(fields).items()
        if key != "model" and key not in left_out
    }
    packed = json.dumps(identity, sort_keys=True).encode()
    return hashlib.blake2b(packed, digest_size=8).hexdigest()

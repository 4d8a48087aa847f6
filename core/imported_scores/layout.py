"""What the reader of one layout of scores is, what it may be told, and the rows that it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from core.files.places import Place
from core.files.tables import Table
from core.types import Problem, Role

THIRD = "third"  # stands for the continuation of an item besides its two poles, whichever it has
WHOLE = ""  # stands for the role that a text or sentence has in its items


class Scale(StrEnum):
    """What the numbers of a file are, and so what may be computed from them."""

    MEAN = "mean"  # log-probability per scored token, nats: everything
    SUM = "sum"  # of a continuation, nats, without token counts: no mean
    ORDER = "order"  # larger is more probable, on an unknown scale: choices only
    PAIRS = "pairs"  # summed over what the two sentences of a pair share, nats


LOG_SCALES = (Scale.MEAN, Scale.SUM, Scale.PAIRS)  # whose numbers are log-probabilities


class Finds(StrEnum):
    """By what the items of a row are found."""

    TEXT = "text"  # context and continuation
    SENTENCE = "sentence"  # the id that the data set gives to a sentence
    ITEM = "item"  # item id and condition
    PAIR = "pair"  # both sentences


@dataclass(frozen=True, kw_only=True)
class ScoreRow:
    """Numbers of one row, and by what their item is found."""

    place: Place
    values: Mapping[str, float]  # by role, THIRD or WHOLE; NaN where the row has no number
    n_tokens: Mapping[str, int] = field(default_factory=dict)  # by role, where the file says so
    model: str = ""  # as the file names it
    item_id: str = ""
    condition: str = ""  # empty where the row does not say
    key: str = ""  # text id or sentence id
    shown: str = ""  # what the row calls its item, for messages
    part: str = ""  # of the file that the row stands in, where it has parts
    sentences: tuple[str, str] = ("", "")  # of a pair, the stereotypical one first


@dataclass(frozen=True)
class ScoreOptions:
    """What a person may say about a file of scores that it does not say itself."""

    columns: Mapping[str, str] = field(default_factory=dict)  # what it holds -> column
    scale: Scale | None = None
    condition: str = ""  # of rows that do not name theirs
    # Role corrections by base id: {role: field that holds it}, or None for an item to leave out.
    labels: Mapping[str, Mapping[str, str] | None] = field(default_factory=dict)


Read = Callable[[Table, ScoreOptions], tuple[list[ScoreRow], list[Problem]]]


@dataclass(frozen=True)
class ScoreLayout:
    """A layout in which programs of this field write scores."""

    name: str  # as `--format` takes it
    title: str  # as people call it
    detects: Callable[[Table], bool]
    read: Read
    finds: Finds
    scale: Scale | None  # of its numbers; None where only a person knows
    scales: tuple[Scale, ...] = ()  # others that a person may name instead
    options: frozenset[str] = frozenset()  # fields of ScoreOptions besides scale and condition
    suffixes: tuple[str, ...] = ()  # of its files; others beside them in a folder are left


ROLES = tuple(str(role) for role in Role)

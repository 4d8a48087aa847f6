"""Some heads of an axis, and what is found in them: the truth behind the preview while dragging.

A choice is written into links: "k128" (the heads of highest R), "all", "rect:0,3,7,9" (layers 0 to
7, heads 3 to 9, both ends with it), "head:4,2".

Letters: C concepts, R reference phrases, K heads, L layers, H heads of a layer.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.analysis.heads.axis_view import AxisView
from core.analysis.heads.question import NO_REFERENCE
from core.errors import InputError
from core.stats.levels import CONFIDENCE, LEAST_ITEMS
from core.stats.probes.kolmogorov import Method
from core.stats.probes.location import difference_interval
from core.stats.probes.positions import PositionPrediction, position_prediction
from core.stats.probes.projection import Heads, aggregate, check_k, top_heads
from core.stats.probes.stereotypicality import stereotypicality
from core.stats.resampling import bootstrap_means

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

NO_LABELS = "fewer than two labelled concepts on this axis"
ONE_LABEL = "all labels on this axis are the same"
N_RESAMPLES = 1_000
_FORMS = 'write "k" and a number, "all", "head:layer,head" or "rect:layer,head,layer,head"'


@dataclass(frozen=True)
class HeadChoice:
    """Which heads: the k of highest R (None for all), or those of a rectangle."""

    k: int | None = None
    box: tuple[int, int, int, int] | None = None  # first layer and head, last layer and head

    def __str__(self) -> str:
        if self.box is None:
            return "all" if self.k is None else f"k{self.k}"
        if self.box[:2] == self.box[2:]:
            return "head:{},{}".format(*self.box[:2])
        return "rect:{},{},{},{}".format(*self.box)


class ChosenHeads(NamedTuple):
    """The heads of a choice that can be used, and how many of it cannot."""

    heads: Heads  # flat indices l * H + h, the most separable first
    n_skipped: int  # without variance or direction


@dataclass(frozen=True, eq=False)
class Chosen:
    """Values of phrases in some heads, and their tests; NaN where undefined, with the reason."""

    heads: Heads
    n_skipped: int
    values: Array  # mean of z over the heads, concepts first, (C + R,)
    interval: Array  # of each concept, over heads drawn with replacement, (C, 2)
    n_concepts: int  # with a value
    n_reference: int
    method: Method  # of the Kolmogorov-Smirnov p-value
    statistic: float  # Kolmogorov-Smirnov D, concepts against reference phrases
    pvalue: float
    difference: float  # mean of the concepts less that of the reference phrases
    difference_low: float  # Welch's interval of it, over phrases
    difference_high: float
    superiority: float  # share of pairs in which the concept is higher, a tie counting half
    pvalue_location: float  # Mann-Whitney
    spread_ratio: float  # mean distance to the median: the concepts' over the reference's
    pvalue_spread: float  # Brown-Forsythe
    reason: str  # why there is no test
    centre: float  # mean of all values: what is above it is on the positive side
    accuracy: float  # share of labelled concepts on the side of their label; on neither: half
    balanced_accuracy: float
    auc: float
    majority: float  # accuracy of always guessing the commoner label
    n_labelled: int  # concepts with a label and a value
    n_positive: int  # of them labelled 1
    position_reason: str  # why sides and labels cannot be compared


def parse_choice(text: str, n_layers: int, n_heads: int) -> HeadChoice:
    """The heads that a text means, in a grid of layers and heads; `str` is its inverse.

    The corners of a rectangle may come in any order.

    Raises
    ------
    InputError
        It is none of the four forms, lies outside the grid, or asks for no head, or for more than
        there are.
    """
    if text == "all":
        return HeadChoice()
    if text.startswith("k"):
        (k,) = _numbers(text, text[1:], 1)
        check_k(k, n_layers * n_heads)
        return HeadChoice(k=k)
    kind, _, rest = text.partition(":")
    if kind not in ("rect", "head"):
        raise _no_choice(text)
    numbers = _numbers(text, rest, 4 if kind == "rect" else 2)
    layers, heads = sorted(numbers[::2]), sorted(numbers[1::2])
    if layers[-1] >= n_layers or heads[-1] >= n_heads:
        raise InputError(
            f"{text!r} lies outside the model's heads: its layers are 0 to {n_layers - 1}, the "
            f"heads of each 0 to {n_heads - 1}; choose among those."
        )
    return HeadChoice(box=(layers[0], heads[0], layers[-1], heads[-1]))


def chosen_heads(view: AxisView, choice: HeadChoice) -> ChosenHeads:
    """The heads of a choice, those without variance or direction left out and counted.

    Raises
    ------
    InputError
        The model has fewer heads than are asked for.
    """
    inside = np.zeros(view.shape, dtype=bool)
    if choice.box is None:
        inside[:] = True
    else:
        first_layer, first_head, last_layer, last_head = choice.box
        inside[first_layer : last_layer + 1, first_head : last_head + 1] = True
    usable = inside.ravel() & np.isfinite(view.z).any(axis=1)
    heads = top_heads(view.separability, choice.k, usable=usable)
    n_usable = int((usable & np.isfinite(view.separability).ravel()).sum())
    return ChosenHeads(heads, int(inside.sum()) - n_usable)


def choose(view: AxisView, choice: HeadChoice, *, seed: int) -> Chosen:
    """Values of all phrases in the chosen heads, tested as a table of axes tests them.

    Parameters
    ----------
    seed
        Of the heads drawn for the intervals. The heads are drawn from those chosen, which are not
        chosen anew.

    Raises
    ------
    InputError
        The model has fewer heads than are asked for.
    """
    found = chosen_heads(view, choice)
    values = aggregate(view.z.T, found.heads)
    n = len(view.concepts)
    concepts, reference = values[None, :n], values[None, n:]
    tests = stereotypicality(concepts, reference)
    ((low, high),) = difference_interval(concepts, reference).tolist()
    known = values[np.isfinite(values)]
    centre = float(known.mean()) if known.size else math.nan
    rng = np.random.default_rng(seed)
    labels = np.array([label or 0 for label in view.labels])
    # Only what one labeling gives is looked at: no labeling needs to be drawn.
    positions = position_prediction(concepts - centre, labels, n_resamples=1, rng=rng)
    return Chosen(
        heads=found.heads,
        n_skipped=found.n_skipped,
        values=values,
        interval=_interval(view.z[found.heads, :n], rng),
        n_concepts=int(np.isfinite(concepts).sum()),
        n_reference=int(np.isfinite(reference).sum()),
        method=tests.method,
        statistic=float(tests.statistic[0]),
        pvalue=float(tests.pvalue[0]),
        difference=float(tests.difference[0]),
        difference_low=low,
        difference_high=high,
        superiority=float(tests.superiority[0]),
        pvalue_location=float(tests.pvalue_location[0]),
        spread_ratio=float(tests.spread_ratio[0]),
        pvalue_spread=float(tests.pvalue_spread[0]),
        reason=str(tests.undefined[0]) if view.reference else NO_REFERENCE,
        centre=centre,
        accuracy=float(positions.accuracy[0]),
        balanced_accuracy=float(positions.balanced_accuracy[0]),
        auc=float(positions.auc[0]),
        majority=positions.majority,
        n_labelled=positions.n_groups,
        n_positive=positions.n_positive,
        position_reason=_why_no_position(positions),
    )


def _numbers(text: str, written: str, n: int) -> list[int]:
    """So many whole numbers with commas between them, of few digits each."""
    parts = written.split(",")
    if len(parts) != n or not all(re.fullmatch("[0-9]{1,6}", part) for part in parts):
        raise _no_choice(text)
    return [int(part) for part in parts]


def _no_choice(text: str) -> InputError:
    return InputError(f"{text[:40]!r} chooses no heads: {_FORMS}.")


def _why_no_position(positions: PositionPrediction) -> str:
    if positions.n_groups < 2:
        return NO_LABELS
    if positions.n_positive in (0, positions.n_groups):
        return ONE_LABEL
    return str(positions.undefined[0])


def _interval(z: npt.NDArray[np.float32], rng: np.random.Generator) -> Array:
    """Percentile interval of each concept's mean (K, C) over heads. (C, 2)

    NaN for a concept without a value, and below five heads: it would be their range.
    """
    known = np.isfinite(z).all(axis=0)
    ends = np.full((z.shape[1], 2), np.nan)
    if len(z) >= LEAST_ITEMS and known.any():
        draws = bootstrap_means(z[:, known].T, n_resamples=N_RESAMPLES, rng=rng)
        levels = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
        ends[known] = np.quantile(draws, levels, axis=0).T
    return ends

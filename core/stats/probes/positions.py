"""Does the side of an axis that a group lies on agree with where people place it?

After "StereoDisco" (arXiv 2607.27824), section 7 of the method: the sign of a group's value on a
warmth or competence axis against its label, +1 or -1. Which side is which depends on where the
centre is put, which is therefore stated: the mean of the groups and a reference set together, of
the groups alone, or the midpoint of the axis's poles; never the raw origin. An accuracy means
little without what always guessing the commoner label reaches, and without how often other labels
would have done as well.

Letters: A axes, G groups, L layers, H heads, D head_dim, R resamples.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.stats.agreement import SameChoice, same_choice
from core.stats.known import mean_of, sd_of
from core.stats.probes.projection import project, zscore
from core.stats.probes.undefined import Undefined, is_defined, known_anywhere, reasons_of
from core.stats.resampling import drawn_pvalue

Array = npt.NDArray[np.float64]

Centre = Literal["joint", "groups", "midpoint"]
N_LABELINGS = 20_000  # drawn where there are more
CENTRES: tuple[Centre, ...] = ("joint", "groups", "midpoint")


@dataclass(frozen=True)
class PositionPrediction:
    """How well the sides of an axis predict labels; NaN where undefined."""

    accuracy: Array  # share of groups on the side of their label, (A,)
    balanced_accuracy: Array  # mean of that share over the two labels, (A,)
    auc: Array  # share of (+1, -1) pairs of groups in the right order; needs no centre, (A,)
    mean_accuracy: float  # over the axes that are defined
    sd_accuracy: float  # ddof 1, over axes
    mean_balanced_accuracy: float
    mean_auc: float
    majority: float  # accuracy of always guessing the commoner label
    pvalue: float  # of the mean accuracy, and just so of the mean balanced accuracy; one-sided
    pvalue_auc: float  # of the mean AUC; one-sided
    n_labelings: int  # that they are from
    exact: bool  # these are all there are
    n_axes: int  # defined
    n_groups: int  # with a label and a value
    n_positive: int  # of them labelled +1
    undefined: tuple[Undefined, ...]  # why an axis has no number; empty where it has, (A,)


@dataclass(frozen=True)
class Labelings:
    """Other ways to deal out the labels of G groups, as many of them +1."""

    positive: Array  # 1 where a group gets +1, else 0, (R, G)
    exact: bool  # these are all there are


def position_scores(
    groups: npt.ArrayLike,
    directions: npt.ArrayLike,
    *,
    centre: Centre = "joint",
    reference: npt.ArrayLike | None = None,
    midpoints: npt.ArrayLike | None = None,
) -> Array:
    """Groups on axes in every head, 0 being the stated centre.

    The projection less the centre's in units of the standard deviation over groups and reference
    together (over the groups alone where there is no reference, or with `groups`).

    Parameters
    ----------
    groups : array, shape (G, L, H, D)
        Pooled outputs; a group that is not finite has no score.
    directions : array, shape (A, L, H, D)
    reference : array, shape (phrases, L, H, D)
        Needed for the centre `joint`.
    midpoints : array, shape (A, L, H, D)
        As of `midpoint`; needed for the centre of that name.

    Returns
    -------
    array, shape (A, G, L * H)

    Raises
    ------
    InputError
        What the centre needs is missing.
    """
    if centre not in CENTRES:
        raise InputError(f"{centre!r} is no centre; choose from: {', '.join(CENTRES)}.")
    needed = {"joint": reference, "groups": groups, "midpoint": midpoints}
    if needed[centre] is None:
        what = "reference phrases" if centre == "joint" else "the midpoints of the axes"
        raise InputError(f"The centre {centre!r} needs {what}: hand them in, or take another.")
    around, known = _finite(groups)
    theta, n = np.asarray(directions, dtype=np.float64), len(around)
    if reference is not None and centre != "groups":
        around = np.concatenate([around, _finite(reference)[0]])
    pi = project(around, theta)
    points = None
    if centre == "midpoint":
        middles = np.asarray(midpoints, dtype=np.float64)
        each = [project(middle[None], axis)[0] for middle, axis in zip(middles, theta, strict=True)]
        points = np.array(each)
    scores = np.full((len(theta), len(known), pi.shape[-1]), np.nan)
    scores[:, known] = zscore(pi[:, :n], moments_of=pi, centre=points)
    return scores


def position_prediction(
    values: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    n_resamples: int = N_LABELINGS,
    rng: np.random.Generator,
    labelings: Labelings | None = None,
) -> PositionPrediction:
    """Do the sides that groups lie on agree with their labels, over the axes of one dimension?

    Parameters
    ----------
    values : array, shape (A, G)
        Scores of `position_scores`, each axis's as a mean over its best heads; exactly 0 is on
        neither side and counts half. A group without any
        value is left out; another NaN makes its axis undefined, and so do values all the same.
    labels : array, shape (G,)
        +1 or -1; NaN or 0 leaves the group out.
    n_resamples
        R, the labelings drawn where there are more.
    labelings
        Those of `draw_labelings`, for several calls; drawn anew where a labelled group has no
        value.

    Returns
    -------
    PositionPrediction
        p is the share of labelings, with as many +1, whose mean over all axes is at least the
        observed one; the axes are kept together, as they share their groups. All labelings are
        taken where there are at most R, else R are drawn and p = (1 + #) / (R + 1). Accuracy and
        balanced accuracy rise together over such labelings, so that they have one p.

    Raises
    ------
    ValueError
        The shapes do not fit.
    InputError
        A label is something else, or there is no resample.
    """
    v, y, undefined = _labelled(values, labels, n_resamples)
    positive = y > 0
    n, n_positive = len(y), int(positive.sum())
    at = is_defined(undefined)
    hits = np.where(at[:, None], (1 + np.sign(v) * y) / 2, np.nan)  # (A, G)
    accuracy, auc = np.where(at, hits.sum(axis=1) / max(n, 1), np.nan), np.full(len(v), np.nan)
    balanced, pvalues, n_labelings, exact = auc.copy(), [math.nan, math.nan], 0, False
    if at.any() and 0 < n_positive < n:
        balanced = (hits[:, positive].mean(axis=1) + hits[:, ~positive].mean(axis=1)) / 2
        ranks = _ranks(v[at])
        least = n_positive * (n_positive + 1) / 2  # rank sum of groups that are all the lowest
        auc[at] = (ranks[:, positive].sum(axis=1) - least) / (n_positive * (n - n_positive))
        scores = np.array([np.sign(v[at]).sum(axis=0), ranks.sum(axis=0)])  # (2, G)
        if labelings is None or labelings.positive.shape[1] != n:
            labelings = draw_labelings(y, n_resamples, rng=rng)
        n_labelings, exact = len(labelings.positive), labelings.exact
        pvalues = _label_pvalues(scores, positive, labelings)
    return PositionPrediction(
        accuracy=accuracy,
        balanced_accuracy=balanced,
        auc=auc,
        mean_accuracy=mean_of(accuracy),
        sd_accuracy=sd_of(accuracy),
        mean_balanced_accuracy=mean_of(balanced),
        mean_auc=mean_of(auc),
        majority=max(n_positive, n - n_positive) / n if n else math.nan,
        pvalue=pvalues[0],
        pvalue_auc=pvalues[1],
        n_labelings=n_labelings,
        exact=exact,
        n_axes=int(at.sum()),
        n_groups=n,
        n_positive=n_positive,
        undefined=undefined,
    )


def draw_labelings(
    labels: npt.ArrayLike, n_resamples: int = N_LABELINGS, *, rng: np.random.Generator
) -> Labelings:
    """All labelings of groups with as many +1, or R of them where there are more.

    Parameters
    ----------
    labels : array, shape (G,)
        +1 or -1; a group with another label is left out.
    """
    y = np.asarray(labels, dtype=np.float64)
    positive = y[np.abs(y) == 1] > 0
    n, n_positive = len(positive), int(positive.sum())
    exact = math.comb(n, n_positive) <= n_resamples
    if not exact:
        drawn = rng.permuted(np.tile(positive, (n_resamples, 1)), axis=1)
        return Labelings(drawn.astype(np.float64), exact)
    chosen = np.array(list(itertools.combinations(range(n), n_positive)), dtype=np.int64)
    every = np.zeros((len(chosen), n))
    np.put_along_axis(every, chosen, 1.0, axis=1)
    return Labelings(every, exact)


def position_agreement(first: npt.ArrayLike, second: npt.ArrayLike) -> SameChoice:
    """Share of (axis, group) pairs on the same side, and Cohen's kappa: of two models, or people.

    Parameters
    ----------
    first, second : array, shape (A, G) or (G,)
        Values, or labels +1 and -1, for all axes alike where there is one row. NaN and exactly 0
        are on no side and enter nothing.
    """
    a, b = np.broadcast_arrays(
        np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    )
    return same_choice(np.where(a == 0, np.nan, a), np.where(b == 0, np.nan, b), neutral=0.0)


def _finite(activations: npt.ArrayLike) -> tuple[Array, npt.NDArray[np.bool_]]:
    """The phrases whose outputs are all finite, and which they are."""
    x = np.asarray(activations, dtype=np.float64)
    known = np.asarray(np.isfinite(x).all(axis=(1, 2, 3)))
    return x[known], known


def _labelled(
    values: npt.ArrayLike, labels: npt.ArrayLike, n_resamples: int
) -> tuple[Array, Array, tuple[Undefined, ...]]:
    """Values (A, G) and labels (G,) of the groups that have both, and why axes are undefined."""
    v, y = np.asarray(values, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    if v.ndim != 2 or y.shape != v.shape[1:]:
        raise ValueError(f"values (axes, groups) of the shape {v.shape}, labels {y.shape}")
    y = np.nan_to_num(y)
    if not np.isin(y, (-1.0, 0.0, 1.0)).all():
        raise InputError("A group's label is +1 or -1, or empty where it has none.")
    if n_resamples < 1:
        raise InputError("A permutation test needs at least one labeling.")
    used = (y != 0) & known_anywhere(v)
    v, y = v[:, used], y[used]
    return v, y, reasons_of(v, few=len(y) < 2)


def _ranks(values: Array) -> Array:
    """Ranks within each row, ties sharing their mean."""
    from scipy.stats import rankdata  # takes a second

    return np.asarray(rankdata(values, axis=1), dtype=np.float64)


def _label_pvalues(
    scores: Array, positive: npt.NDArray[np.bool_], labelings: Labelings
) -> list[float]:
    """Share of labelings whose +1 groups sum to no less than the observed ones, per row of scores.

    The sums are of whole numbers and halves, so that ties are exact.
    """
    null = scores @ labelings.positive.T  # (rows, R)
    above = (null >= (scores @ positive)[:, None]).sum(axis=1)
    n = len(labelings.positive)
    pvalues = above / n if labelings.exact else drawn_pvalue(above, n)
    return list(pvalues.tolist())

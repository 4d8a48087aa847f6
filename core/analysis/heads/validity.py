"""Is an axis what it is taken for? Four checks, beside what each would give where nothing is.

Beside "StereoDisco" (arXiv 2607.27824), section 8.7 of the method; the checks themselves are in
`core.stats.probes.validity`.

floor        reference phrases against reference phrases: how often is chance flagged?
halves       the heads chosen in one half of the templates, looked at in the other
swapped      heads whose R exceeds that of every swap of the poles' labels
length       do values follow the length of the phrase?
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.analysis.heads.arrays import grids, pole_halves, poles_of
from core.analysis.heads.question import BOTH, NO_REFERENCE, HeadsQuestion
from core.analysis.heads.stored import StoredAxes
from core.axes.axis import Axis
from core.errors import InputError
from core.stats.levels import LEVEL
from core.stats.multiple import n_tests
from core.stats.probes.validity import (
    ReferenceFloor,
    above_swapped,
    compare_probes,
    length_association,
    reference_floor,
)
from core.store.gate import Cache
from core.store.phrase_lengths import get_lengths

N_SPLITS = 1_000
TOKENS, CHARACTERS = "tokens", "characters"  # what lengths are counted in
_AT_A_TIME = 32  # axes whose sums are in memory together


@dataclass(frozen=True)
class Validity:
    """Checks of axes, and of the set as a whole."""

    axes: pd.DataFrame
    floor: pd.DataFrame  # one row


def validity(cache: Cache, found: StoredAxes, axis_ids: Collection[str] | None = None) -> Validity:
    """The checks of a question's axes, or of some of them.

    Parameters
    ----------
    axis_ids
        The axes to check; left out, all. The floor and the length's q are always over all.

    Returns
    -------
    Validity
        `axes`, in the order of the set: `halves_cosine`, `halves_overlap` and what is expected of
        it, R of the best heads of the first half of the templates (`separability_first`), R of the
        same heads in the second (`separability_held_out`) and of independent sentences without a
        difference (`held_out_chance`); the share of all heads `above_swapped`, beside the expected
        one; Spearman's `length_r` of concepts and reference phrases with their length in
        `length_unit` (the model's own tokens where all are known, else characters), with p and q;
        `floor_statistic`, the mean KS D of reference phrases against
        reference phrases; each n, and the reasons where something is undefined.

        `floor`: the share of such tests with p < .05, the 95th percentile over splits of the share
        of axes, n and the reason.

    Raises
    ------
    InputError
        An axis is not in the set, or its heads were not read.
    CacheError
        A file of arrays is gone or damaged.
    """
    axes = found.held.axes
    unknown = set(axis_ids or ()) - {axis.axis_id for axis in axes}
    if unknown:
        raise InputError(f"No axis of the set is called {min(unknown)}.")
    wanted = [a for a in axes if axis_ids is None or a.axis_id in axis_ids]
    floor, why = _floor(found)
    of_values = pd.concat([length_table(cache, found), _floor_of_axes(found, floor, why)], axis=1)
    probes = pd.DataFrame(list(_probes(cache, found.question, wanted)))
    rows = pd.concat([probes, of_values.loc[[a.axis_id for a in wanted]].reset_index()], axis=1)
    both = zip(rows["length_reason"], rows["floor_reason"], strict=True)
    reasons = ["; ".join(dict.fromkeys(filter(None, each))) for each in both]
    first = ["axis_id", "negative", "positive"]
    words = pd.DataFrame(
        [(a.axis_id, ", ".join(a.negative.lemmas), ", ".join(a.positive.lemmas)) for a in wanted],
        columns=first,
    )
    rest = rows.drop(columns=["axis_id", "length_reason", "floor_reason"])
    return Validity(
        pd.concat([words, rest], axis=1).assign(reason=reasons), _floor_row(found, floor, why)
    )


def length_table(cache: Cache, found: StoredAxes) -> pd.DataFrame:
    """Whether values follow the length of the phrases, by axis_id; it takes no heads to be read.

    Returns
    -------
    DataFrame
        Indexed by axis_id: length_r, length_pvalue, length_qvalue, n_tests (that q is adjusted
        for), length_unit, n_phrases, and length_reason, as in `Validity.axes`.
    """
    held = found.held
    phrases = (*held.concepts, *held.reference)
    tokens = get_lengths(cache, found.question.reader_id, phrases)
    # Heads read before tokens were counted have no counts; one unit for all phrases.
    unit = TOKENS if all(phrase in tokens for phrase in phrases) else CHARACTERS
    long = [tokens[p] if unit == TOKENS else len(p) for p in phrases]
    lengths = length_association(held.values, long)
    return pd.DataFrame(
        {
            "length_r": lengths.r,
            "length_pvalue": lengths.pvalue,
            "length_qvalue": lengths.pvalue_adjusted,
            "n_tests": n_tests(lengths.pvalue),
            "length_unit": unit,
            "n_phrases": lengths.n,
            "length_reason": [str(reason) for reason in lengths.undefined],
        },
        index=pd.Index([axis.axis_id for axis in held.axes], name="axis_id"),
    )


def _probes(
    cache: Cache, question: HeadsQuestion, axes: Sequence[Axis]
) -> Iterator[dict[str, object]]:
    """What is checked in the probe sentences themselves, axis by axis."""
    for start in range(0, len(axes), _AT_A_TIME):
        block = axes[start : start + _AT_A_TIME]
        with cache.kept_open() as opened:
            sums, held = pole_halves(opened, question, block), grids(opened, question, block)
        for axis, separability, swapped in zip(block, held.separability, held.swapped, strict=True):
            halves = compare_probes(poles_of(sums, axis, 0), poles_of(sums, axis, 1), k=question.k)
            every = np.arange(separability[BOTH].size)
            labels = above_swapped(separability[BOTH], swapped, every)
            yield {
                "halves_cosine": halves.cosine,
                "halves_overlap": halves.overlap,
                "halves_overlap_expected": halves.expected_overlap,
                "separability_first": halves.separability,
                "separability_held_out": halves.separability_other,
                "held_out_chance": halves.chance,
                "n_heads": halves.n_heads,
                "above_swapped": labels.share,
                "above_swapped_expected": labels.expected,
                "n_heads_swapped": labels.n_heads,
                "n_patterns": labels.n_patterns,
            }


def _floor(found: StoredAxes) -> tuple[ReferenceFloor | None, str]:
    """Reference phrases against reference phrases, or why there is none."""
    held = found.held
    if not held.reference:
        return None, NO_REFERENCE
    rng = np.random.default_rng(found.question.seed)
    try:
        floor = reference_floor(held.of_reference, len(held.concepts), n_splits=N_SPLITS, rng=rng)
    except InputError as error:
        return None, str(error).rstrip(".")
    return floor, ""


def _floor_of_axes(found: StoredAxes, floor: ReferenceFloor | None, why: str) -> pd.DataFrame:
    ids = pd.Index([axis.axis_id for axis in found.held.axes], name="axis_id")
    return pd.DataFrame(
        {
            "floor_statistic": np.full(len(ids), np.nan) if floor is None else floor.statistic,
            "n_each": 0 if floor is None else floor.n_each,
            "floor_reason": why,
        },
        index=ids,
    )


def _floor_row(found: StoredAxes, floor: ReferenceFloor | None, why: str) -> pd.DataFrame:
    """The floor of the whole set beside what the model's flags come to."""
    known = found.table["flagged"].notna()
    undefined = float("nan")
    row = {
        "share": undefined if floor is None else floor.share,
        "expected": LEVEL,
        "high": undefined if floor is None else floor.high,
        "flagged": float(found.table.loc[known, "flagged"].mean()) if known.any() else undefined,
        "n_each": 0 if floor is None else floor.n_each,
        "n_axes": 0 if floor is None else floor.n_axes,
        "n_splits": 0 if floor is None else floor.n_splits,
        "reason": why,
    }
    return pd.DataFrame([row])

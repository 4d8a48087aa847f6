"""Three errors of scoring pipelines, switched on one at a time: what would they have concluded?

After "Lost in Translation" (arXiv 2610.20479), section 5 and appendix H. The stored scores are
rearranged as the wrong pipeline would have had them, and the cells are tested again.
Shape letters: M models, K conditions, N items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.cells import cells as test_cells
from core.analysis.audit.error_intervals import N_RESAMPLES, Draws, draws_of, error_intervals
from core.analysis.audit.metadata import of_source
from core.analysis.audit.names import (
    ALIKE,
    FEW_ITEMS,
    HELD_SDS,
    NO_CHOICE_CHANGES,
    NO_ITEM,
    NO_REWORDING,
    NOTHING_CHANGES,
    ONE_ITEM,
    SUFFIXES,
)
from core.analysis.audit.panel import NUMBERS, Panel
from core.analysis.audit.request import STANDARDISED, AuditRequest, AuditTable
from core.stats.known import mean_of
from core.stats.levels import LEAST_ITEMS
from core.stats.multiple import benjamini_hochberg, n_tests
from core.store.audit import first_tokens
from core.store.gate import Cache

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]

RIGHT = "right"
LABELS = "stereoset_labels_inverted"
ORDER = "bbq_roles_from_order"
FIRST = "first_token_unscored"
FIRST_PUBLISHED = "first_token_unscored_published"
ALL = "all"  # in the place of a condition: over all translations

# In the place of -inf, which would make NaN of a difference: exp of it is 0 all the same.
NO_PROBABILITY = -1e6

NO_STEREOSET = "No item has a source that begins with stereoset."
NO_ORDER = "No item has an answer order whose first answer but for the unknown one is another role."
NO_LISTS = "The scores have no token lists (they were computed elsewhere)."
NO_MERGE = (
    "No first token takes the space before it or has nothing before it, so none would have been "
    "left out."
)
NOT_STANDARDISED = "A preference of minus infinity has no standard deviation."
NO_LANGUAGE = "There is no translation."
RIGHT_MOVES = "The right pipeline moves nothing."
MOVES_NONE = "The error moves no mean here beyond what all items share."
MOVES_NO_CHOICE = "The error does not move the choices."


class Pipeline(NamedTuple):
    """The scores as one pipeline would have them."""

    name: str
    panel: Panel
    affected: Mask  # (M, K, N) where its numbers differ from the right ones
    reason: str  # why it cannot be said what it would have done; else empty
    n_single: Counts  # poles of one token that it left without any, (M, K, N)


class _Tested(NamedTuple):
    """A panel and the tests of its cells."""

    panel: Panel
    cells: pd.DataFrame | None  # None where they are undefined
    n_resamples: int


def pipeline_errors(
    panel: Panel, request: AuditRequest, cells: AuditTable, cache: Cache
) -> AuditTable:
    """What three known errors would have done to the means, the drops and the reliable cells.

    1. `stereoset_labels_inverted`: stereotype and anti-stereotype of items of StereoSet swapped.
    2. `bbq_roles_from_order`: the first answer that is not the unknown one taken for the
       stereotype.
    3. `first_token_unscored`: l = (sum - first) / (n - 1) where the first scored token starts
       before the continuation or nothing stands before it; a pole of one token is undefined.
       `first_token_unscored_published` gives it -inf, as the published pipeline did.

    Returns
    -------
    AuditTable
        Per pipeline one row over all translations (`condition` "all", drops are means over them)
        and one per translation, the right pipeline first: the English means over models and items,
        the drop (mean over models of - mean d), and of the `n_cells` cells how many changes are
        negative, how many are reliable drops (q < .05) and how many reliable rises. `right_*`
        are the same numbers of the right pipeline, on the scores that this one has too: a pole of
        one token may have none, nor has a score without its token list. `n` counts scores behind
        the drop, `n_affected` scores that the error changes, in English and there, `n_single`
        poles of one token there. Cells that are tested anew are so with `n_resamples` sign vectors,
        5,000 at most. What the error does, `moved`, and all intervals are those of
        `error_intervals`; `moved_qvalue` over the `moved_n_tests` errors and languages with a
        test, without "all".
    """
    draws = draws_of(request)
    rows: list[dict[str, object]] = []
    for pipeline in _pipelines(panel, request, cache):
        if pipeline.reason:
            wrong, right = _Tested(panel, None, 0), _Tested(panel, None, 0)
        else:
            wrong = _tested(panel, pipeline.panel, request, cells)
            right = _tested(panel, _on_the_same(panel, pipeline.panel), request, cells)
        rows += _rows(pipeline, wrong, right, request, draws)
    table = pd.DataFrame(rows)
    single = table["condition"] != ALL
    for suffix in SUFFIXES:
        pvalues = table[f"moved_pvalue{suffix}"].where(single)
        table[f"moved_qvalue{suffix}"] = benjamini_hochberg(pvalues)
        table[f"moved_n_tests{suffix}"] = n_tests(pvalues)
    held = (HELD_SDS,) if request.kind == STANDARDISED else ()
    return AuditTable(table, (*panel.no_languages, *held))


def _pipelines(panel: Panel, request: AuditRequest, cache: Cache) -> Iterator[Pipeline]:
    shape = (len(panel.scorers), len(panel.conditions), len(panel.items))
    none = np.zeros(shape, dtype=np.int64)
    yield Pipeline(RIGHT, panel, none > 0, "", none)
    for name, swapped, reason in (
        (LABELS, _stereoset(panel), NO_STEREOSET),
        (ORDER, _not_first(panel), NO_ORDER),
    ):
        affected = np.broadcast_to(swapped, shape) & panel.is_scored
        why = "" if affected.any() else reason
        yield Pipeline(name, _with_swapped(panel, swapped), affected, why, none)
    firsts = _first_tokens(panel, cache)
    yield _without_first(FIRST, panel, firsts, np.nan)
    published = _without_first(FIRST_PUBLISHED, panel, firsts, NO_PROBABILITY)
    if request.kind == STANDARDISED and published.n_single.any():
        published = published._replace(reason=NOT_STANDARDISED)
    yield published


def _stereoset(panel: Panel) -> Mask:
    """Items whose source is StereoSet, in every condition. (K, N)"""
    of_it = of_source(panel, "stereoset")
    return np.broadcast_to(of_it, (len(panel.conditions), len(of_it)))


def _not_first(panel: Panel) -> Mask:
    """Versions whose first answer but for the unknown one is the anti-stereotype. (K, N)"""
    twins = panel.versions[~panel.versions["native"]]
    wrong = twins["answer_order"].map(
        lambda order: [role for role in order if role != "unknown"][:1] == ["anti_stereotype"]
    )
    at = twins[wrong.to_numpy(np.bool_)]
    mask = np.zeros((len(panel.conditions), len(panel.items)), dtype=np.bool_)
    mask[panel.place(at)[0]] = True
    return mask


def _with_swapped(panel: Panel, swapped: Mask) -> Panel:
    """The panel with the two poles exchanged where asked."""
    numbers, points = dict(panel.numbers), dict(panel.points)
    for name in ("l", "sum", "n", "order"):
        plus, minus = f"{name}_stereotype", f"{name}_anti"
        numbers[plus] = np.where(swapped, panel.numbers[minus], panel.numbers[plus])
        numbers[minus] = np.where(swapped, panel.numbers[plus], panel.numbers[minus])
    points["stereotype"] = np.where(swapped, panel.points["anti"], panel.points["stereotype"])
    points["anti"] = np.where(swapped, panel.points["stereotype"], panel.points["anti"])
    return replace(panel, numbers=numbers, points=points)


def _first_tokens(panel: Panel, cache: Cache) -> dict[str, tuple[Array, Mask]]:
    """By pole: log-probability of the first scored token, and whether the error leaves it out.

    NaN where there is no token list. (M, K, N) each
    """
    table = first_tokens(cache, panel.dataset, panel.scorers)
    shape = (len(panel.scorers), len(panel.conditions), len(panel.items))
    found = {}
    for pole in ("stereotype", "anti"):
        part = table[table["pole"] == pole]
        place, known = panel.place(part)
        first, left_out = np.full(shape, np.nan), np.zeros(shape, dtype=np.bool_)
        first[place] = part["first"].to_numpy(np.float64)[known]
        left_out[place] = (part["merged"] | part["alone"]).to_numpy(np.bool_)[known]
        found[pole] = (first, left_out)
    return found


def _without_first(
    name: str, panel: Panel, firsts: dict[str, tuple[Array, Mask]], of_none: float
) -> Pipeline:
    """The panel without the first tokens; `of_none` is the l of a pole that had only that one."""
    scored = panel.is_scored
    has_lists = np.isfinite(firsts["stereotype"][0]) & np.isfinite(firsts["anti"][0])
    affected = (firsts["stereotype"][1] | firsts["anti"][1]) & scored & has_lists
    none = np.zeros(scored.shape, dtype=np.int64)
    if not (has_lists & scored).any():
        return Pipeline(name, panel, affected, NO_LISTS, none)
    if not affected.any():
        return Pipeline(name, panel, affected, NO_MERGE, none)
    numbers = dict(panel.numbers)
    empty = {}
    for pole, (first, left_out) in firsts.items():
        n = np.where(left_out, panel.numbers[f"n_{pole}"] - 1, panel.numbers[f"n_{pole}"])
        total = panel.numbers[f"sum_{pole}"] - np.where(left_out, first, 0)
        empty[pole] = n == 0
        total = np.where(empty[pole], of_none, np.where(has_lists, total, np.nan))
        numbers[f"sum_{pole}"], numbers[f"n_{pole}"] = total, n
        numbers[f"l_{pole}"] = total / np.maximum(n, 1)
        numbers[f"order_{pole}"] = np.where(has_lists, panel.numbers[f"order_{pole}"], np.nan)
    both = empty["stereotype"] & empty["anti"]  # -inf against -inf compares nothing
    for number in NUMBERS:
        numbers[number] = np.where(both, np.nan, numbers[number])
    n_single = np.sum([scored & of_pole for of_pole in empty.values()], axis=0)
    return Pipeline(name, replace(panel, numbers=numbers), affected, "", n_single)


def _on_the_same(right: Panel, wrong: Panel) -> Panel:
    """The right scores, where the wrong pipeline has one too; the same panel if that is all."""
    missing = right.is_scored & ~wrong.is_scored
    if not missing.any():
        return right
    kept = {name: np.where(missing, np.nan, of_it) for name, of_it in right.numbers.items()}
    return replace(right, numbers=kept)


def _tested(right: Panel, panel: Panel, request: AuditRequest, cells: AuditTable) -> _Tested:
    """The cells of a panel: those there are if it is the right one, else tested anew."""
    if panel is right or all(panel.numbers[n] is right.numbers[n] for n in NUMBERS):
        return _Tested(panel, cells.rows, request.n_resamples)
    fewer = replace(request, n_resamples=min(request.n_resamples, N_RESAMPLES))
    return _Tested(panel, test_cells(panel, fewer).rows, fewer.n_resamples)


def _rows(
    pipeline: Pipeline, wrong: _Tested, right: _Tested, request: AuditRequest, draws: Draws
) -> list[dict[str, object]]:
    """One row over all translations, then one for each."""
    panel, languages = pipeline.panel, pipeline.panel.languages
    rows = []
    intervals = error_intervals(wrong.panel, right.panel, request, draws)
    for condition, found in zip((ALL, *languages), intervals, strict=True):
        of = languages if condition == ALL else [condition]
        at = [panel.at(c) for c in of]
        values = _values(wrong, request, of)
        values |= {f"right_{name}": x for name, x in _values(right, request, of).items()} | found
        n = int(np.isfinite(panel.changes(request.kind)[:, at]).sum())
        if pipeline.reason:
            values, n = dict.fromkeys(values, np.nan) | {"n_items": 0, "n_english": 0}, 0
        rows.append(
            {
                "pipeline": pipeline.name,
                "condition": condition,
                **values,
                "n": n,
                "n_affected": int(pipeline.affected[:, [panel.english, *at]].sum()),
                "n_single": int(pipeline.n_single[:, [panel.english, *at]].sum()),
                "n_resamples": wrong.n_resamples,
                "reason": pipeline.reason or _reason(pipeline.name, values, languages, n),
            }
        )
    return rows


def _reason(name: str, values: dict[str, Any], languages: list[str], n: int) -> str:
    """Why numbers of a row are missing."""
    if not languages:
        return NO_LANGUAGE
    if not n:
        return NO_ITEM
    is_few, one = values["n_items"] < LEAST_ITEMS, values["n_items"] == 1
    few = ONE_ITEM if one else FEW_ITEMS
    nothing, no_choice = MOVES_NONE, MOVES_NO_CHOICE
    if name == RIGHT:
        nothing = no_choice = RIGHT_MOVES
    missing = [
        (values["noise_floor"], NO_REWORDING),
        (values["n_reliable"], ONE_ITEM if one else NOTHING_CHANGES),
        (values["n_reliable_binary"], NO_CHOICE_CHANGES),
        (values["drop_low"], few if is_few else ALIKE),
        (values["drop_binary_low"], few if is_few else NO_CHOICE_CHANGES),
        (values["moved_low"] + values["moved_pvalue"], nothing),
        (values["moved_binary_low"], no_choice),
    ]
    return " ".join(dict.fromkeys(why for value, why in missing if np.isnan(value)))


def _values(tested: _Tested, request: AuditRequest, conditions: list[str]) -> dict[str, float]:
    """Means, drops and counts of cells, soft and binary."""
    panel, at = tested.panel, [tested.panel.at(c) for c in conditions]
    values: dict[str, float] = {}
    for suffix, kind in zip(SUFFIXES, (request.kind, "binary"), strict=True):
        values[f"english{suffix}"] = _over_models(panel.scores(kind)[:, panel.english])
        drops = [_over_models(panel.changes(kind)[:, k]) for k in at]
        values[f"drop{suffix}"] = -mean_of(drops)
    return values | _cell_counts(tested.cells, conditions)


def _cell_counts(tested: pd.DataFrame | None, conditions: list[str]) -> dict[str, float]:
    """How many cells of these conditions there are, are negative, are reliable: soft and binary."""
    counts: dict[str, float] = {}
    of = None if tested is None else tested[tested["condition"].isin(conditions)]
    for suffix in SUFFIXES:
        for name, count in _COUNTS.items():
            # Without a test of any cell it is not known how many are reliable.
            if of is None or (name in _OF_TESTS and of[f"qvalue{suffix}"].isna().all()):
                counts[f"{name}{suffix}"] = np.nan
            else:
                counts[f"{name}{suffix}"] = count(of, suffix)
    return counts


_COUNTS: dict[str, Callable[[pd.DataFrame, str], float]] = {
    "n_cells": lambda cells, suffix: int(cells[f"qvalue{suffix}"].notna().sum()),
    "n_negative": lambda cells, suffix: int((cells[f"mean_change{suffix}"] < 0).sum()),
    "n_reliable": lambda cells, suffix: int(cells[f"reliable{suffix}"].sum()),
    "n_reliable_rise": lambda cells, suffix: int(cells[f"reliable_rise{suffix}"].sum()),
}
_OF_TESTS = ("n_reliable", "n_reliable_rise")  # unknown where no cell has a test


def _over_models(values: Array) -> float:
    """Mean over the models of each one's mean over its items, (M, N) -> one number."""
    return mean_of([mean_of(of_model) for of_model in values])

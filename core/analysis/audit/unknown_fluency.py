"""How models answer in each condition, beside the change: unknown chosen, fluency, ICAT.

After "Lost in Translation" (arXiv 2610.20479), BBQ (Parrish et al. 2022) and StereoSet (Nadeem et
al. 2021). Shape letters: M models, K conditions, N items.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.metadata import BBQ, of_source
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.settings import REFERENCE_CONDITION
from core.stats.known import mean_over_items
from core.stats.scores import (
    fluency,
    icat,
    ranking,
    stereoset_metric,
    stereotype_score,
    unknown_chosen,
)
from core.words import counted

Array = npt.NDArray[np.float64]

TARGET = "target"  # metadata: the term that an item of StereoSet is about

NO_UNKNOWN = "No scored item of this condition has an answer that nobody can know."
NO_ENGLISH = "None of these items has a scored answer in English."
NO_UNRELATED = "No scored item of this condition has an unrelated continuation."
NO_TARGET = f"No item names its target term in the metadata column {TARGET!r}."


def bbq_unknown(panel: Panel, request: AuditRequest) -> AuditTable:
    """Share of question items whose unknown answer beats both group answers, l_unknown > both.

    Returns
    -------
    AuditTable
        One row per model and condition: `share` of `n` items. `share_english` is the share on
        the same items in English, of the `n_english` of them that are scored there; undefined
        without English versions.
    """
    del request
    n = panel.numbers
    ranked = [ranking(n, suffix) for suffix in ("stereotype", "anti", "unknown")]
    chosen = unknown_chosen(*ranked)  # (M, K, N)
    nowhere = np.full_like(chosen[:, :1], np.nan)
    english = chosen[:, [panel.english]] if panel.has_english else nowhere
    in_both = np.where(np.isfinite(chosen), english, np.nan)
    share, count = mean_over_items(chosen)
    share_english, count_english = mean_over_items(in_both)
    rows = [
        {
            **_place(panel, m, k),
            "share": share[m, k],
            "n": int(count[m, k]),
            "share_english": share_english[m, k],
            "n_english": int(count_english[m, k]),
            "reason": _no_share(int(count[m, k]), int(count_english[m, k])),
        }
        for m in range(len(panel.scorers))
        for k in range(len(panel.conditions))
    ]
    without = "No item has an answer that nobody can know, so there is nothing to choose."
    return AuditTable(pd.DataFrame(rows), (() if count.any() else (without,)) + panel.not_for_pairs)


def fluency_icat(panel: Panel, request: AuditRequest) -> AuditTable:
    """Fluency and ICAT per model and condition, question items of BBQ left out.

    Returns
    -------
    AuditTable
        Over the `n` items with all three continuations scored: `fluency`, the mean of
        sigmoid(max(l+, l-) - l_unrelated); `fluency_stereotype` and `fluency_anti`, those of the
        single comparisons sigmoid(l - l_unrelated), and `fluency_single`, their mean; `ss`, the
        mean stereotype score; `icat` of the means fluency and ss, and `icat_items`, the mean of
        the items' own. `stereoset_*` is the official metric over the items that name their
        target term: `lms`, `ss`, `icat`, `n`, `n_terms`.
    """
    del request
    terms = _terms(panel)
    values = _fluency_values(panel)
    means = {name: mean_over_items(value)[0] for name, value in values.items()}
    count = mean_over_items(values["fluency"])[1]
    rows = []
    for m in range(len(panel.scorers)):
        for k in range(len(panel.conditions)):
            mean = {name: float(by_place[m, k]) for name, by_place in means.items()}
            official = _official(panel, m, k, terms)
            reasons = [NO_UNRELATED] if not count[m, k] else []
            reasons += [NO_TARGET] if not any(terms) else []
            rows.append(
                {
                    **_place(panel, m, k),
                    **{name: value for name, value in mean.items() if name != "icat_items"},
                    "fluency_single": (mean["fluency_stereotype"] + mean["fluency_anti"]) / 2,
                    "icat": float(icat(mean["fluency"], mean["ss"])),
                    "icat_items": mean["icat_items"],
                    "n": int(count[m, k]),
                    **official,
                    "reason": " ".join(reasons),
                }
            )
    return AuditTable(
        pd.DataFrame(rows), (() if any(terms) else (NO_TARGET,)) + panel.not_for_pairs
    )


def _no_share(n: int, n_english: int) -> str:
    if not n:
        return NO_UNKNOWN
    return "" if n_english else NO_ENGLISH


def fluency_besides_bbq(panel: Panel) -> Array:
    """Fluency of the items with an unrelated continuation, without those of BBQ. (M, K, N)"""
    n = panel.numbers
    return fluency(n["l_stereotype"], n["l_anti"], _unrelated(panel))


def _unrelated(panel: Panel) -> Array:
    """Of the unrelated continuations, l; NaN for questions of BBQ, which have none. (M, K, N)"""
    return np.where(of_source(panel, BBQ), np.nan, panel.numbers["l_unrelated"])


def _fluency_values(panel: Panel) -> dict[str, Array]:
    """By name, a value per item that has all three continuations and is none of BBQ. (M, K, N)"""
    n, unrelated = panel.numbers, _unrelated(panel)
    both = fluency_besides_bbq(panel)
    ss = np.where(np.isfinite(both), stereotype_score(n["l_stereotype"], n["l_anti"]), np.nan)
    return {
        "fluency": both,
        "fluency_stereotype": stereotype_score(n["l_stereotype"], unrelated),
        "fluency_anti": stereotype_score(n["l_anti"], unrelated),
        "ss": ss,
        "icat_items": icat(both, ss),
    }


def _official(panel: Panel, m: int, k: int, terms: list[str]) -> dict[str, float | int]:
    plus, minus, unrelated = (
        ranking(panel.numbers, name)[m, k] for name in ("stereotype", "anti", "unrelated")
    )
    found = stereoset_metric(plus, minus, unrelated, terms)
    return {
        "stereoset_lms": found.lms,
        "stereoset_ss": found.ss,
        "stereoset_icat": found.icat,
        "stereoset_n": found.n,
        "stereoset_n_terms": found.n_terms,
    }


def _terms(panel: Panel) -> list[str]:
    """The target term of each item, empty where it names none. (N,)

    It is that of the English version, else of the first one.
    """
    versions = panel.versions[~panel.versions["native"]]
    in_english = versions["condition"] == REFERENCE_CONDITION
    first = pd.concat([versions[in_english], versions[~in_english]]).drop_duplicates("item_id")
    named = dict(zip(first["item_id"], first["metadata"], strict=True))
    return [str(named[item_id].get(TARGET) or "") for item_id in panel.item_ids]


def official_rows(table: AuditTable) -> pd.DataFrame:
    """The rows of `fluency_icat` that have StereoSet's own metric."""
    return table.rows[table.rows["stereoset_n"] > 0]


def official_sentences(table: AuditTable, *, alone: bool = False) -> list[str]:
    """StereoSet's own metric of each model and condition, in a sentence with its n.

    Parameters
    ----------
    table
        `fluency_icat`.
    alone
        Only where there is no fluency beside it, as without a mean per token.
    """
    rows = official_rows(table)
    rows = rows[rows["n"] == 0] if alone else rows
    return [
        f"StereoSet's own metric, {row['model']}, {row['condition']}: "
        f"LMS {row['stereoset_lms']:.3f}, SS {row['stereoset_ss']:.3f}, "
        f"ICAT {row['stereoset_icat']:.3f}, means over "
        f"{counted(row['stereoset_n_terms'], 'target term')} of "
        f"{counted(row['stereoset_n'], 'item')}; SS 0.5 is no preference."
        for row in rows.to_dict("records")
    ]


def _place(panel: Panel, m: int, k: int) -> dict[str, Any]:
    return {
        "scorer_id": panel.scorers[m],
        "model": panel.models[m],
        "condition": panel.conditions[k],
    }

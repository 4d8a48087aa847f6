"""Scores from elsewhere in an audit: which file they are of, and what they leave undefined.

Their scale decides: means give scores, sums none without token counts, numbers of an unknown scale
only choices.
A soft number is never made of them in another way; it is undefined, and its row says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.cells import NO_SCORE
from core.analysis.audit.floor_vs_gap import NO_COMPLETE, NO_TRANSLATED_ITEM
from core.analysis.audit.item_tests import NO_WHOLE_ITEM
from core.analysis.audit.main import NO_FLUENCY
from core.analysis.audit.names import NO_ITEM, NO_ITEM_OF_MODEL
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditTable
from core.analysis.audit.score_panel import NO_WHOLE_ITEM as NO_ITEM_OF_ALL
from core.analysis.audit.unknown_fluency import NO_UNRELATED
from core.settings import REFERENCE_CONDITION
from core.stats.scores import KINDS, ScoreKind, ranking
from core.store.gate import Cache
from core.store.imported_scores import score_imports
from core.words import listed_or

FROM_ELSEWHERE = "The scores of {} are imported from {}: {}"
SCALES = {
    "mean": "log-probabilities per token, so all but what needs sums or tokens is there.",
    "sum": "sums without token counts, so choices and the summed score are there, and no mean.",
    "order": "numbers of an unknown scale, so only choices are there (and StereoSet's own metric).",
    "pairs": "sums over what the sentences of a pair share, so only choices are there.",
}
COUNTED = {
    "mean": "log-probabilities per token with token counts, so sums are there too.",
    "sum": "sums with token counts, so means per token are there too.",
}
PARTLY_COUNTED = {
    "mean": "log-probabilities per token; {:,} of {:,} items have token counts, and so sums too.",
    "sum": "sums; {:,} of {:,} items have token counts, and so means per token too.",
}
LEFT_OUT = (
    "{} is left out, because its imported scores have no mean per token for every item; choose it "
    "with "
    "--scorer / Models to see its choices."
)
NO_FLUENCY_ELSEWHERE = (
    "The imported scores of {} have no mean per token of unrelated continuations, so no fluency."
)
NO_MEAN = "The imported scores of {} give no score of this kind, so all but choices is undefined."
OTHER_KINDS = "Choose {} with --kind / Score."
ABSENT = "{} {} no score in {}; choose the other models with --scorer / Models."
# What a table says where it finds no score of the kind: untrue of items that have a choice.
_UNTRUE = (
    *(NO_ITEM, NO_ITEM_OF_MODEL, NO_WHOLE_ITEM, NO_ITEM_OF_ALL, NO_SCORE),
    *(NO_COMPLETE, NO_TRANSLATED_ITEM),
)
_OF_ALL = (NO_ITEM, NO_WHOLE_ITEM, NO_ITEM_OF_ALL, NO_COMPLETE)  # that could be one model's
_UNTRUE_OF_FLUENCY = (NO_FLUENCY, NO_UNRELATED)


def without_means(cache: Cache, dataset: str) -> set[str]:
    """Ids of the scorers whose imported scores of a data set are not all means, nor give them."""
    found = score_imports(cache)
    counted = (found["scale"] == "sum") & (found["n_counted"] == found["n_scored"])
    found = found[(found["dataset"] == dataset) & (found["scale"] != "mean") & ~counted]
    return set(found["scorer_id"])


def source_notes(cache: Cache, dataset: str, labels: Mapping[str, str]) -> Iterator[str]:
    """One sentence for each of these scorers whose scores are imported: its file and its scale.

    Parameters
    ----------
    labels
        Of the scorers, by id.
    """
    for row in score_imports(cache).to_dict("records"):
        if row["dataset"] == dataset and row["scorer_id"] in labels:
            name, file = labels[row["scorer_id"]], Path(str(row["path"])).name
            yield FROM_ELSEWHERE.format(
                name, file, _what(str(row["scale"]), row["n_counted"], row["n_scored"])
            )


def _what(scale: str, n_counted: int, n_scored: int) -> str:
    """What the numbers are; token counts make sums of means and means of sums."""
    if n_counted and scale in COUNTED:
        return (
            COUNTED[scale]
            if n_counted == n_scored
            else PARTLY_COUNTED[scale].format(n_counted, n_scored)
        )
    return SCALES.get(scale, "")


def with_reasons(table: AuditTable, panel: Panel, kind: ScoreKind) -> AuditTable:
    """The table, its undefined rows with the true reason where a scale or one model is to blame.

    Rows of one model speak of it alone, others of all that have no score of the kind, or none in
    the language.
    """
    if "reason" not in table.rows or table.rows.empty:
        return table
    reasons = _with_absent(_of_scales(table.rows, panel, kind), table.rows, panel)
    return replace(table, rows=table.rows.assign(reason=reasons))


def _of_scales(rows: pd.DataFrame, panel: Panel, kind: ScoreKind) -> list[str]:
    """The reasons of rows, with the scale where it is to blame."""
    defined = np.isfinite(panel.scores(kind)).any(axis=(1, 2))  # (M,)
    is_lacking = np.asarray(panel.is_scored.any(axis=(1, 2)) & ~defined)
    lacking = _named(panel, is_lacking)
    ranked = np.isfinite(ranking(panel.numbers, "unrelated")).any(axis=(1, 2))
    means = np.isfinite(panel.numbers["l_unrelated"]).any(axis=(1, 2))
    not_fluent = _named(panel, np.asarray(ranked & ~means))
    reasons = [str(reason) for reason in rows["reason"]]
    if not (lacking or not_fluent):
        return reasons
    instead = _other_kinds(panel, is_lacking) if lacking else ""
    return [
        _replaced(
            _of_fluency(reason, _models(not_fluent, scorer_id)),
            _models(lacking, scorer_id),
            instead,
        )
        for reason, scorer_id in zip(reasons, _of_model(rows), strict=True)
    ]


def _other_kinds(panel: Panel, lacking: npt.NDArray[np.bool_]) -> str:
    """Which kinds of score these models have, and how to choose one. lacking (M,)"""
    kinds = [kind for kind in KINDS if np.isfinite(panel.scores(kind)[lacking]).any()]
    return OTHER_KINDS.format(listed_or([kind.replace("_", " ") for kind in kinds]))


def _with_absent(reasons: Sequence[str], rows: pd.DataFrame, panel: Panel) -> list[str]:
    """The reasons, with the models that have no score at all in a language while others have."""
    if "condition" not in rows:
        return list(reasons)
    scored = np.asarray(panel.is_scored.any(axis=2))  # (M, K)
    said = {}
    for k, condition in enumerate(panel.conditions):
        names = list(_named(panel, ~scored[:, k]).values())
        if 0 < len(names) < len(panel.models):
            has = "has" if len(names) == 1 else "have"
            said[condition] = ABSENT.format(" and ".join(names), has, condition)
    found = []
    places = zip(reasons, rows["condition"], _of_model(rows), strict=True)
    for reason, condition, scorer_id in places:
        if not scorer_id and any(sentence in reason for sentence in _OF_ALL):
            names_them = (said.get(c, "") for c in (REFERENCE_CONDITION, condition))
            added = [text for text in names_them if text and text not in reason]
            reason = " ".join([reason, *dict.fromkeys(added)])
        found.append(reason)
    return found


def _of_model(rows: pd.DataFrame) -> Sequence[str]:
    """Whose each row is; empty where it is of several models."""
    return [str(s) for s in rows["scorer_id"]] if "scorer_id" in rows else [""] * len(rows)


def _named(panel: Panel, wanted: npt.NDArray[np.bool_]) -> dict[str, str]:
    """The labels of some models of a panel, by scorer. wanted (M,)"""
    return {panel.scorers[m]: panel.models[m] for m in np.flatnonzero(wanted).tolist()}


def _models(names: Mapping[str, str], scorer_id: str) -> list[str]:
    """Those that a row speaks of: its own model, or all where it is of none."""
    return [name for scorer, name in names.items() if scorer_id in ("", scorer)]


def _of_fluency(reason: str, models: Sequence[str]) -> str:
    """A reason that says of these models that they have no means of unrelated continuations."""
    for sentence in _UNTRUE_OF_FLUENCY if models else ():
        reason = reason.replace(sentence, NO_FLUENCY_ELSEWHERE.format(" and ".join(models)))
    return reason


def _replaced(reason: str, models: Sequence[str], instead: str) -> str:
    """A reason that names the scale of these models; empty where nothing is undefined."""
    if not reason or not models:
        return reason
    no_mean = NO_MEAN.format(" and ".join(models))
    for sentence in (*_UNTRUE, no_mean, instead):  # a table may have its reason from another one
        reason = reason.replace(sentence, "")
    return " ".join([no_mean, instead, *reason.split()])

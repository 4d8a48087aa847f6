"""Scores from elsewhere in an audit: which file they are of, and what they leave undefined.

Their scale decides: means give everything, sums no mean, numbers of an unknown scale only choices.
A soft number is never made of them in another way; it is undefined, and its row says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from core.analysis.audit.cells import NO_SCORE
from core.analysis.audit.floor_vs_gap import NO_COMPLETE, NO_TRANSLATED_ITEM
from core.analysis.audit.item_tests import NO_WHOLE_ITEM
from core.analysis.audit.names import NO_ITEM, NO_ITEM_OF_MODEL
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditTable
from core.analysis.audit.score_panel import NO_WHOLE_ITEM as NO_ITEM_OF_ALL
from core.analysis.audit.unknown_fluency import NO_UNRELATED
from core.stats.scores import ScoreKind
from core.store.gate import Cache
from core.store.imported_scores import score_imports

FROM_ELSEWHERE = "The scores of {} are imported from {}: {}"
SCALES = {
    "mean": "log-probabilities per token, so all but what needs sums or tokens is there.",
    "sum": "sums without token counts, so choices and the summed score are there, and no mean.",
    "order": "numbers of an unknown scale, so only choices are there (and StereoSet's own metric).",
    "pairs": "sums over what the sentences of a pair share, so only choices are there.",
}
LEFT_OUT = (
    "{} is left out, because its imported scores have no mean per token; choose it with "
    "--scorer / Models to see its choices."
)
NO_MEAN = "The imported scores of {} give no score of this kind, so all but choices is undefined."
# What a table says where it finds no score of the kind: untrue of items that have a choice.
_UNTRUE = (
    *(NO_ITEM, NO_ITEM_OF_MODEL, NO_WHOLE_ITEM, NO_ITEM_OF_ALL, NO_SCORE),
    *(NO_COMPLETE, NO_TRANSLATED_ITEM, NO_UNRELATED),
)


def without_means(cache: Cache, dataset: str) -> set[str]:
    """Ids of the scorers whose scores of a data set are imported and have no mean per token."""
    found = score_imports(cache)
    found = found[(found["dataset"] == dataset) & (found["scale"] != "mean")]
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
            name, what = labels[row["scorer_id"]], SCALES.get(str(row["scale"]), "")
            yield FROM_ELSEWHERE.format(name, Path(str(row["path"])).name, what)


def with_reasons(table: AuditTable, panel: Panel, kind: ScoreKind) -> AuditTable:
    """The table, its undefined rows with the true reason where a scale is to blame.

    Rows of one model speak of it alone, others of all that have no score of the kind.
    """
    defined = np.isfinite(panel.scores(kind)).any(axis=(1, 2))  # (M,)
    lacking = np.asarray(panel.is_scored.any(axis=(1, 2)) & ~defined)
    names = {panel.scorers[m]: panel.models[m] for m in np.flatnonzero(lacking).tolist()}
    if not names or "reason" not in table.rows:
        return table
    of = table.rows["scorer_id"] if "scorer_id" in table.rows else [""] * len(table.rows)
    reasons = [
        _replaced(str(reason), [name for s, name in names.items() if scorer_id in ("", s)])
        for reason, scorer_id in zip(table.rows["reason"], of, strict=True)
    ]
    return replace(table, rows=table.rows.assign(reason=reasons))


def _replaced(reason: str, models: Sequence[str]) -> str:
    """A reason that names the scale of these models; empty where nothing is undefined."""
    if not reason or not models:
        return reason
    for sentence in _UNTRUE:
        reason = reason.replace(sentence, "")
    return " ".join([NO_MEAN.format(" and ".join(models)), *reason.split()])

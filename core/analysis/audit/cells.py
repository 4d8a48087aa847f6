"""Every model in every language: its mean score, and whether its change from English is real.

After "Lost in Translation" (arXiv 2610.20479), sections on the paired design and the permutation
test. A cell is a model and a language; d = score - score of the same item in English. Letters: M
models, L languages, N items.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.names import (
    NO_CHOICE_CHANGES,
    NO_ITEM_OF_MODEL,
    NOTHING_CHANGES,
    ONE_ITEM,
    SUFFIXES,
)
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.stats.known import mean_over_items
from core.stats.levels import LEVEL
from core.stats.multiple import benjamini_hochberg, n_tests
from core.stats.resampling import sign_flip_test
from core.stats.scores import ScoreKind

Array = npt.NDArray[np.float64]

NO_SCORE = "No item of this condition has a score of this model, or all are alike and standardised."
_COLUMNS = (
    *("model", "scorer_id", "condition", "n", "mean_change", "sd", "pvalue", "qvalue"),
    *("pvalue_maxt", "exact", "reliable", "reliable_rise", "n_tests"),
)


def cells(panel: Panel, request: AuditRequest) -> AuditTable:
    """Test the change of each model in each language.

    Returns
    -------
    AuditTable
        One row per model and translation; the columns from `n` on also with the suffix `_binary`,
        for the choice alone. `mean_change` is mean d, its negative is the drop; `sd` has ddof 1.
        `pvalue` is of the sign-flip test, `qvalue` the same after Benjamini and Hochberg over all
        `n_tests` cells of the request, soft and binary apart, `pvalue_maxt` of step-down maxT over
        the same cells. `exact`: from all sign vectors instead of drawn ones. `reliable` is a drop
        with q < .05, `reliable_rise` a rise; both missing where q is undefined.
    """
    places = _places(panel, panel.languages)
    parts = [places]
    for suffix, kind in zip(SUFFIXES, (request.kind, "binary"), strict=True):
        tested = _tested(panel, request, kind)
        parts.append(tested.add_suffix(suffix))
    rows = judged(pd.concat(parts, axis=1))
    rows["reason"] = [untested(row) for row in rows.to_dict("records")]
    columns = ["model", "scorer_id", "condition"]
    columns += [f"{name}{suffix}" for suffix in SUFFIXES for name in _COLUMNS[3:]]
    return AuditTable(rows[[*columns, "reason"]], _notes(panel, request, rows))


def judged(rows: pd.DataFrame) -> pd.DataFrame:
    """Cells with their q-values, and which of them are reliable.

    Parameters
    ----------
    rows
        One family: `mean_change` and `pvalue`, both also with the suffix `_binary`.

    Returns
    -------
    pandas.DataFrame
        The same with `qvalue`, `n_tests`, `reliable` and `reliable_rise`, as of `cells`.
    """
    found = rows.copy()
    for suffix in SUFFIXES:
        q = benjamini_hochberg(rows[f"pvalue{suffix}"])
        change = rows[f"mean_change{suffix}"].to_numpy(np.float64)
        found[f"qvalue{suffix}"] = q
        found[f"n_tests{suffix}"] = n_tests(q)
        for name, sign in (("reliable", -1), ("reliable_rise", 1)):
            known = pd.array((sign * change > 0) & (q < LEVEL), dtype="boolean")
            known[np.isnan(q)] = pd.NA
            found[f"{name}{suffix}"] = known
    return found


def score_map(panel: Panel, request: AuditRequest) -> AuditTable:
    """Mean score of each model in each condition.

    Over all items of the condition that did not collapse, so that the difference of two conditions
    is not the drop: their items are not the same.

    Returns
    -------
    AuditTable
        One row per model and condition, English and rewordings among them: `score` of `n` items,
        `score_binary` of `n_binary`.
    """
    rows = _places(panel, panel.conditions)
    for suffix, kind in zip(SUFFIXES, (request.kind, "binary"), strict=True):
        mean, n = mean_over_items(panel.scores(kind))
        rows[f"score{suffix}"], rows[f"n{suffix}"] = mean.ravel(), n.ravel()
    rows["reason"] = np.where(rows["n"] > 0, "", NO_SCORE)
    note = (
        "Means over all items of a condition that did not collapse; the difference of two of them "
        "is not the drop, which compares the same items."
    )
    columns = [
        "model",
        "scorer_id",
        "condition",
        "n",
        "score",
        "n_binary",
        "score_binary",
        "reason",
    ]
    return AuditTable(rows[columns], (note, *panel.not_for_pairs))


def _tested(panel: Panel, request: AuditRequest, kind: ScoreKind) -> pd.DataFrame:
    """The sign-flip tests of all cells, models first."""
    at = [panel.at(language) for language in panel.languages]
    changes = panel.changes(kind)[:, at].reshape(-1, len(panel.items))  # (M L, N)
    # The generator is made anew, so that soft and binary scores meet the same signs.
    found = sign_flip_test(changes, n_resamples=request.n_resamples, rng=request.rng("signs"))
    return pd.DataFrame(
        {
            "n": found.n,
            "mean_change": found.mean,
            "sd": found.sd,
            "pvalue": found.pvalue,
            "pvalue_maxt": found.pvalue_maxt,
            "exact": found.exact,
        }
    )


def _places(panel: Panel, conditions: list[str] | tuple[str, ...]) -> pd.DataFrame:
    """Model and condition of every row, models first."""
    n_models = len(panel.scorers)
    return pd.DataFrame(
        {
            "model": np.repeat(np.array(panel.models, dtype=object), len(conditions)),
            "scorer_id": np.repeat(np.array(panel.scorers, dtype=object), len(conditions)),
            "condition": np.tile(np.array(conditions, dtype=object), n_models),
        }
    )


def untested(row: Mapping[Any, Any]) -> str:
    """Why a cell has no p-value, soft or binary; empty where it has both."""
    if row["n"] < 2:
        return ONE_ITEM if row["n"] else NO_ITEM_OF_MODEL
    if np.isnan(row["pvalue"]):
        return NOTHING_CHANGES
    return NO_CHOICE_CHANGES if np.isnan(row["pvalue_binary"]) else ""


def _notes(panel: Panel, request: AuditRequest, rows: pd.DataFrame) -> tuple[str, ...]:
    if panel.no_languages:
        return panel.no_languages
    m, m_binary = int(rows["n_tests"].iloc[0]), int(rows["n_tests_binary"].iloc[0])
    notes = [
        f"Benjamini-Hochberg at 5 % over {m} cells, and apart over {m_binary} of binary choices; "
        f"{request.n_resamples:,} sign vectors, the same for all cells."
    ]
    if rows["exact"].any():
        notes.append(
            "Cells marked exact are tested with all their sign vectors; maxT needs what the cells "
            "have in common and uses the drawn ones for them too."
        )
    if unmoved := int((rows["n"].gt(1) & rows["pvalue"].isna()).sum()):
        notes.append(f"In {unmoved} cells no item changes, so there is nothing to test.")
    return tuple(notes)

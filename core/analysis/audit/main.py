"""The main table: each language in one row, over all models, and rewording in the last.

After "Lost in Translation" (arXiv 2610.20479), main table.
Letters: M models, L languages, K conditions, N items.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.floors import median_floor
from core.analysis.audit.item_changes import item_changes
from core.analysis.audit.names import (
    ALIKE_DROPS,
    FEW_ITEMS,
    NO_ITEM,
    ONE_MODEL,
    REWORDING,
    SUFFIXES,
)
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import STANDARDISED, AuditRequest, AuditTable
from core.analysis.audit.unknown_fluency import fluency_besides_bbq
from core.stats.intervals import t_interval
from core.stats.known import mean_over_items
from core.stats.levels import LEAST_ITEMS
from core.stats.standardised import standardised_change

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

OVER_MODELS = "spread over models on these same items"
SAME_DROP = "All models drop alike: no spread over models."
NO_TEST = "The test against rewording or its interval is undefined; item_tests says why."
NO_FLUENCY = "No item has an unrelated continuation that counts for fluency."
NO_FLOOR = "No model has a rewording that covers every English item."
NO_SHARES = "The carry-over or the same choice is undefined."
FLOOR_ONLY = "A floor has no interval and no test."
FLOOR = (
    "In the last row, rewording, the drop is the median over the models of the noise floor: a size "
    "without a direction, so it has no interval and no test."
)
_COLUMNS = (
    *("condition", "score", "score_binary", "drop", "drop_low", "drop_high", "drop_interval"),
    *("drop_items", "drop_items_low", "drop_items_high", "t", "t_low", "t_high", "qvalue"),
    *("n_reliable", "n_reliable_binary", "slope", "same_choice", "fluency", "n_fluency"),
    *("n", "n_changes", "n_models", "n_items", "reason"),
)


def main(
    panel: Panel,
    request: AuditRequest,
    cells: AuditTable,
    item_tests: AuditTable,
    floors: AuditTable,
    association: AuditTable,
    same_choice: AuditTable,
) -> AuditTable:
    """One row per language, and what rewording alone does in the last.

    Parameters
    ----------
    floors
        Noise floors: columns `model` and `floor`.

    Returns
    -------
    AuditTable
        `score` and `score_binary` are means over the models of each one's mean over its items, `n`
        scores in all; `n_changes` of them have one in English and stand behind `drop`, the mean
        over `n_models` of each one's -mean d, whatever items it has, with its 95 % t interval over
        models (`drop_interval` says what that is). `drop_items` = -mean D_i over the `n_items` that
        every model has scored, with its 95 % bootstrap interval over items, on which verdicts
        stand. `t` and `qvalue` are those of the item test against rewording. `n_reliable` models
        drop reliably; `slope` and `same_choice` say what the items keep; `fluency` is without BBQ,
        over `n_fluency` scores.

        Last row, `rewording`: the median over models of the noise floor, slope and same choice of
        the rewordings of English, and the scores of those behind R of the item tests.
    """
    rows = pd.DataFrame({"condition": [*panel.languages, REWORDING]})
    for part in (
        _levels(panel, request),
        language_drops(_own_changes(panel, request, cells.rows)),
        cells.rows.groupby("condition", sort=False)["n"].sum().rename("n_changes").reset_index(),
        _of_items(item_tests.rows),
        _where_all(association.rows, ["slope"]),
        _where_all(same_choice.rows, ["same_choice"]),
    ):
        rows = rows.merge(part, on="condition", how="left")
    last = rows.index[-1]
    rows.loc[last, "drop"] = median_floor(floors.rows)
    rows.loc[last, "n_models"] = int(floors.rows["floor"].count())
    noise = item_changes(panel, request.kind, complete=request.complete).reworded
    rows.loc[last, "n_items"] = int(np.isfinite(noise).sum())
    rows["drop_interval"] = np.where(rows["drop_low"].notna(), OVER_MODELS, "")
    rows["reason"] = [_reason(row) for row in rows.to_dict("records")]
    for name in (
        "n",
        "n_changes",
        "n_models",
        "n_items",
        "n_fluency",
        "n_reliable",
        "n_reliable_binary",
    ):
        rows[name] = rows[name].astype("Int64")
    notes = dict.fromkeys((*panel.notes, *panel.no_languages, FLOOR))
    return AuditTable(rows[list(_COLUMNS)], tuple(notes))


def language_drops(cells: pd.DataFrame) -> pd.DataFrame:
    """Drop of each language over the models, and how many of its cells are reliable.

    Parameters
    ----------
    cells
        Rows of the table `cells`: condition, mean_change, reliable, reliable_binary.

    Returns
    -------
    pandas.DataFrame
        Per condition `drop` = mean over `n_models` of -mean_change, `drop_low` and `drop_high` of
        the 95 % t interval over models (NaN with one model), `n_reliable` and `n_reliable_binary`
        (missing where no cell has a q-value).
    """
    rows = []
    for condition, of_language in cells.groupby("condition", sort=False):
        interval = t_interval(-of_language["mean_change"])
        rows.append(
            {
                "condition": condition,
                "drop": interval.value,
                "drop_low": interval.low,
                "drop_high": interval.high,
                "n_models": interval.n,
                **{
                    f"n_reliable{suffix}": of_language[f"reliable{suffix}"].sum(min_count=1)
                    for suffix in SUFFIXES
                },
            }
        )
    names = ["drop", "drop_low", "drop_high", "n_models", *(f"n_reliable{s}" for s in SUFFIXES)]
    found = pd.DataFrame(rows, columns=["condition", *names])
    return found.astype(dict.fromkeys(("drop", "drop_low", "drop_high"), np.float64))


def _levels(panel: Panel, request: AuditRequest) -> pd.DataFrame:
    """Scores and fluency of each language; of the rewordings behind R, the mean of theirs."""
    values = {
        "score": panel.scores(request.kind),
        "score_binary": panel.scores("binary"),
        "fluency": fluency_besides_bbq(panel),
    }
    at = {c: [panel.at(c)] for c in panel.languages}
    at[REWORDING] = [panel.at(c) for c in panel.noise_rewordings()]
    found: dict[str, list[float]] = {}
    for name, of_items in values.items():
        means, counts = mean_over_items(of_items)  # (M, K)
        by_condition = mean_over_items(means.T)[0]
        found[name] = [float(mean_over_items(by_condition[k])[0]) for k in at.values()]
        found[f"n_{name}"] = [int(counts[:, k].sum()) for k in at.values()]
    rows = pd.DataFrame({"condition": list(at), **found})
    return rows.rename(columns={"n_score": "n"}).drop(columns="n_score_binary")


def _own_changes(panel: Panel, request: AuditRequest, cells: pd.DataFrame) -> pd.DataFrame:
    """The cells, the standardised ones with the sds of the items that they compare.

    So that the mean over the models is what the items say, where every model has scored all.
    """
    if request.kind != STANDARDISED or cells.empty:
        return cells
    u = panel.numbers["l_stereotype"] - panel.numbers["l_anti"]  # (M, K, N)
    model = pd.Index(panel.scorers).get_indexer(pd.Index(cells["scorer_id"]))
    condition = [panel.at(c) for c in cells["condition"]]
    once = np.ones((1, len(panel.items)))
    changes = standardised_change(u[model, panel.english], u[model, condition], once)[0]
    return cells.assign(mean_change=changes)


def _of_items(item_tests: pd.DataFrame) -> pd.DataFrame:
    """What the item test says of each language: the numbers that verdicts stand on."""
    names = {"drop": "drop_items", "drop_low": "drop_items_low", "drop_high": "drop_items_high"}
    names["n_drop"] = "n_items"
    columns = [*names, "t", "t_low", "t_high", "qvalue"]
    return _where_all(item_tests, columns).rename(columns=names)


def _where_all(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """These columns of the rows over all items and models."""
    rows = table[table["group_kind"] == "all"]
    return rows[["condition", *columns]].drop_duplicates("condition")


def _reason(row: dict[Any, Any]) -> str:
    """Why a number of the row is NaN."""
    reasons = []
    if row["condition"] == REWORDING:
        reasons += [NO_FLOOR] if pd.isna(row["drop"]) else []
        reasons += [FLOOR_ONLY]
    elif pd.isna(row["drop"]):
        reasons += [NO_ITEM]
    else:
        if pd.isna(row["drop_low"]):
            reasons += [ONE_MODEL if row["n_models"] == 1 else SAME_DROP]
        if pd.isna(row["drop_items_low"]):
            reasons += [FEW_ITEMS if row["n_items"] < LEAST_ITEMS else ALIKE_DROPS]
        reasons += [NO_TEST] if pd.isna(row["t_low"]) else []
    reasons += [NO_FLUENCY] if pd.isna(row["fluency"]) else []
    reasons += [NO_SHARES] if pd.isna(row["slope"]) or pd.isna(row["same_choice"]) else []
    return " ".join(reasons)

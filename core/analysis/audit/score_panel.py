"""Every language under every kind of score: does the verdict depend on which one is read?

After "Lost in Translation" (arXiv 2610.20479): the scale of a mean log-probability depends on
tokens per word, so part of a drop may be scale alone.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.audit.drops import SIGN_FLIP, language_rows
from core.analysis.audit.names import FEW_ITEMS, NO_REWORDING, NOTHING_CHANGES, ONE_ITEM
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable, margin_of
from core.analysis.audit.verdicts import depends_on_score, verdict
from core.stats.levels import LEAST_ITEMS
from core.stats.multiple import benjamini_hochberg, n_tests
from core.stats.scores import KINDS, ScoreKind

NO_WHOLE_ITEM = "No item is scored by every model in both versions."
NOT_REWORDED = "No item is scored by every model in the language and in what it is set against."
NOTHING_VARIES = "The items of every model do not vary, or change alike: no interval."
ONE_KIND = "No other kind of score has a verdict here, so there is nothing that it could depend on."
_COLUMNS = (
    *("condition", "kind", "drop", "drop_low", "drop_high", "n", "t", "t_low", "t_high"),
    *("t90_low", "t90_high", "n_t", "test", "pvalue", "qvalue", "n_tests"),
    *("verdict", "depends_on_score"),
    *("n_models", "n_bootstrap", "reason"),
)
# As `item_tests` names them: n there is that of t.
_TAKEN = (
    *("condition", "kind", "drop", "drop_low", "drop_high", "n_drop", "t", "t_low", "t_high"),
    *("t90_low", "t90_high", "n", "test", "pvalue", "n_bootstrap"),
)


def score_panel(
    panel: Panel, request: AuditRequest, item_tests: AuditTable, other_kinds: AuditTable
) -> AuditTable:
    """Test each language under each kind of score.

    Parameters
    ----------
    item_tests, other_kinds
        Of the same request: the rows of its kind, and those of all others.

    Returns
    -------
    AuditTable
        One row per language and kind: `drop` = -mean D over the `n` items scored by every model,
        with a 95 % bootstrap interval over items; `t`, the drop beyond that of rewording, over the
        `n_t` that are reworded too, with 95 and 90 % intervals and the p-value of its `test`, all
        of `language_rows`; q after Benjamini and Hochberg over the `n_tests` languages under the
        same kind; `verdict` of that kind alone, a standardised one without a margin.
        `depends_on_score`, the same for all rows of a language: some kinds show a shift and others
        none, or one the other way. `n_bootstrap` draws are behind the intervals; standardising many
        items takes fewer than the request asks for.
    """
    if not panel.languages:
        return AuditTable(pd.DataFrame(columns=list(_COLUMNS)), panel.no_languages)
    table = _of_all_kinds(panel, request, item_tests, other_kinds)
    families = table.groupby("kind", sort=False)["pvalue"]
    table["qvalue"] = families.transform(benjamini_hochberg)
    table["n_tests"] = families.transform(n_tests).astype(np.int64)
    found = table.to_dict("records")
    table["verdict"] = [
        verdict(r["qvalue"], r["t90_low"], r["t90_high"], margin_of(request, r["kind"]))
        for r in found
    ]
    depends = {
        condition: depends_on_score(zip(part["verdict"], part["t"], strict=True))
        for condition, part in table.groupby("condition", sort=False)
    }
    table["depends_on_score"] = pd.array(
        [depends[condition] for condition in table["condition"]], dtype="boolean"
    )
    table["n_models"] = len(panel.scorers)
    reworded = bool(panel.noise_rewordings())
    table["reason"] = [_reason(r, reworded) or _alone(depends[r["condition"]]) for r in found]
    return AuditTable(table[list(_COLUMNS)])


def other_kinds(panel: Panel, request: AuditRequest) -> AuditTable:
    """The rows of `language_rows` under every kind of score that was not asked for.

    Apart from `score_panel`, because another margin changes nothing here.
    """
    kinds: list[ScoreKind] = [kind for kind in KINDS if kind != request.kind]
    return AuditTable(pd.DataFrame(language_rows(panel, request, kinds)))


def _of_all_kinds(
    panel: Panel, request: AuditRequest, item_tests: AuditTable, others: AuditTable
) -> pd.DataFrame:
    """The rows of every language, the kinds in their order."""
    tested = item_tests.rows[item_tests.rows["group_kind"] == "all"]
    tested = tested[tested["condition"].isin(panel.languages)].assign(kind=request.kind)
    table = pd.concat([tested, others.rows])
    place = {(c, kind): at for at, (c, kind) in enumerate(product(panel.languages, KINDS))}
    order = [place[key] for key in zip(table["condition"], table["kind"], strict=True)]
    table = table.iloc[np.argsort(order)].reset_index(drop=True)[list(_TAKEN)]
    return table.rename(columns={"n": "n_t", "n_drop": "n"})


def _alone(depends: bool | None) -> str:
    return ONE_KIND if depends is None else ""


def _reason(row: dict[Any, Any], reworded: bool) -> str:
    if not row["n"]:
        return NO_WHOLE_ITEM
    if row["n"] == 1:
        return ONE_ITEM
    if np.isnan(row["drop"]):
        return NOTHING_VARIES
    if not reworded:
        return NO_REWORDING
    if not row["n_t"]:
        return NOT_REWORDED
    if row["n_t"] == 1:
        return ONE_ITEM
    if row["test"] == SIGN_FLIP and np.isnan(row["pvalue"]):
        return NOTHING_CHANGES
    if not np.isnan([row["t_low"], row["drop_low"]]).any():
        return ""
    return FEW_ITEMS if row["n_t"] < LEAST_ITEMS else NOTHING_VARIES

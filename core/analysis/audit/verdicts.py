"""What may be said of each language: the one place where numbers become a verdict.

A verdict rests on the item test of "Lost in Translation" (arXiv 2610.20479) and on two one-sided
tests against a margin fixed before looking (Schuirmann 1987). None of them says that a model is
fair: a lower score is not less bias, and no difference is not no bias.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal

import pandas as pd

from core.analysis.audit.floors import median_floor
from core.analysis.audit.names import ALL_MODELS, ONE_MODEL
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import STANDARDISED, AuditRequest, AuditTable, margin_of
from core.analysis.audit.verdict_sentences import DEPENDS, sentence
from core.languages import language_name
from core.stats.equivalence import is_equivalent
from core.stats.levels import LEVEL
from core.stats.wording import LEAST_REWORDINGS

Verdict = Literal["shift", "equivalent", "real but small", "undecided", "undefined"]
FEW = 12  # with fewer the smallest p-value that sign flips can give is worth saying
SHIFTS: tuple[Verdict, ...] = ("shift", "real but small")

_COLUMNS = (
    *("condition", "language", "kind", "verdict", "depends_on_score", "reads", "sentence"),
    *("drop", "drop_low", "drop_high", "n", "t", "t_low", "t_high", "t90_low", "t90_high", "n_t"),
    *("pvalue", "qvalue", "n_tests", "noise_floor", "n_rewordings", "margin", "n_needed"),
    *("prediction_low", "prediction_high", "outside", "qvalue_prediction", "n_tests_prediction"),
    *("n_models", "reason"),
)


def verdict(qvalue: float, t90_low: float, t90_high: float, margin: float) -> Verdict:
    """What a test and an interval of the same shift say together.

    Parameters
    ----------
    qvalue
        Of the test against no shift, adjusted over its family.
    t90_low, t90_high
        90 % interval of the shift.
    margin
        Shifts within +-margin are too small to matter; NaN where there is none, and then nothing
        is equivalent.

    Returns
    -------
    str
        `shift` if q < .05; `equivalent` if the interval lies inside the margin; both: `real but
        small`; neither: `undecided`. `undefined` where there is no q, or where neither the test
        nor an interval says anything: that is never the same as not significant.
    """
    if math.isnan(qvalue):
        return "undefined"
    shifted = qvalue < LEVEL
    if math.isnan(margin):
        return "shift" if shifted else "undecided"
    inside = is_equivalent(t90_low, t90_high, margin)
    if inside is None:
        return "shift" if shifted else "undefined"
    if shifted:
        return "real but small" if inside else "shift"
    return "equivalent" if inside else "undecided"


def depends_on_score(found: Iterable[tuple[str, float]]) -> bool | None:
    """Whether kinds of score disagree on whether there is a shift, or on its direction.

    A margin means another thing on each scale, so being small or equivalent counts as no
    disagreement by itself.

    Parameters
    ----------
    found
        Verdict and shift under each kind.

    Returns
    -------
    bool or None
        None with fewer than two kinds whose verdict is defined.
    """
    directions = [
        math.copysign(1, t) if name in SHIFTS else 0.0 for name, t in found if name != "undefined"
    ]
    return None if len(directions) < 2 else len(set(directions)) > 1


def verdicts(
    panel: Panel,
    request: AuditRequest,
    item_tests: AuditTable,
    equivalence: AuditTable,
    score_panel: AuditTable,
    floors_by_model: AuditTable,
    wording_variance: AuditTable,
) -> AuditTable:
    """The verdict on each language, the numbers it rests on, and a sentence for a person.

    Parameters
    ----------
    item_tests, equivalence, score_panel, floors_by_model, wording_variance
        Of the same request.

    Returns
    -------
    AuditTable
        One row per language. `drop` with its 95 % item interval over `n` items is what a reader
        sees; `t`, the drop beyond rewording over `n_t` items, with q, 90 % interval and `margin`
        is what `verdict` rests on, q over the `n_tests` languages that have one. `reads` is what to
        show: the verdict, or "depends on the score" where `depends_on_score`. `noise_floor` is the
        median over models of F_m. `n_needed` items would show equivalence. The prediction interval
        is for the drop under one more rewording of English; `outside`: the drop lies beyond it, of
        this language by itself; `qvalue_prediction` is adjusted over the `n_tests_prediction`
        languages.
    """
    floor = median_floor(floors_by_model.rows)
    parts = (
        _by_condition(item_tests.rows, "group_kind", "all"),
        _by_condition(equivalence.rows),
        _by_condition(score_panel.rows, "kind", request.kind),
        _wording(wording_variance.rows),
    )
    margin = margin_of(request)
    rows = []
    for condition in panel.languages:
        tested, needed, shown, wording = (part.get(condition, {}) for part in parts)
        row = _numbers(tested, needed, shown, wording) | {
            "condition": condition,
            "language": language_name(condition),
            "kind": request.kind,
            "noise_floor": floor,
            "margin": margin,
            "n_models": len(panel.scorers),
        }
        row["verdict"] = verdict(row["qvalue"], row["t90_low"], row["t90_high"], margin)
        row["reads"] = DEPENDS if row["depends_on_score"] is True else row["verdict"]
        rows.append(row | {"sentence": sentence(row, _findings(score_panel.rows, condition))})
    table = pd.DataFrame(rows, columns=list(_COLUMNS))
    answers = dict.fromkeys(("depends_on_score", "outside"), "boolean")
    return AuditTable(table.astype(answers), _notes(panel, request, table))


def _findings(rows: pd.DataFrame, condition: str) -> dict[str, str]:
    found = {}
    for row in rows[rows["condition"] == condition].to_dict("records"):
        if row["verdict"] in SHIFTS:
            found[str(row["kind"])] = "lower" if row["t"] > 0 else "higher"
        elif row["verdict"] != "undefined":
            found[str(row["kind"])] = "none shown"
    return found


def _numbers(
    tested: dict[str, Any], needed: dict[str, Any], shown: dict[str, Any], wording: dict[str, Any]
) -> dict[str, Any]:
    """The numbers of one language from the tables that have them; NaN where one has none."""
    nan = math.nan
    outside, depends = wording.get("outside"), shown.get("depends_on_score")
    reasons = (part.get("reason", "") for part in (shown, tested, wording, needed))
    return {
        **{name: tested.get(name, nan) for name in ("drop", "drop_low", "drop_high")},
        **{name: tested.get(name, nan) for name in ("t", "t_low", "t_high", "t90_low", "t90_high")},
        **{name: tested.get(name, nan) for name in ("pvalue", "qvalue")},
        "n": int(tested.get("n_drop", 0)),
        "n_t": int(tested.get("n", 0)),
        "n_needed": needed.get("n_needed", nan),
        "n_tests": int(tested.get("n_tests", 0)),
        "n_rewordings": int(tested.get("n_rewordings", 0)),
        # Of a mean change; the drop is its negative.
        "prediction_low": -wording.get("prediction_high", nan),
        "prediction_high": -wording.get("prediction_low", nan),
        "qvalue_prediction": wording.get("qvalue_prediction", nan),
        "n_tests_prediction": int(wording.get("n_tests_prediction", 0)),
        "outside": None if outside is None or pd.isna(outside) else bool(outside),
        "depends_on_score": None if depends is None or pd.isna(depends) else bool(depends),
        "reason": next((r for r in reasons if r), ""),
    }


def _by_condition(
    rows: pd.DataFrame, column: str = "", value: str = ""
) -> dict[str, dict[str, Any]]:
    chosen = rows[rows[column] == value] if column else rows
    return {
        str(row["condition"]): {str(name): value for name, value in row.items()}
        for row in chosen.to_dict("records")
    }


def _wording(rows: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """The rows of the mean over all models, by language."""
    if rows.empty:
        return {}
    return _by_condition(rows[rows["unit"] == "language"], "model", ALL_MODELS)


def _notes(panel: Panel, request: AuditRequest, rows: pd.DataFrame) -> tuple[str, ...]:
    if not panel.languages:
        return tuple(dict.fromkeys((*panel.notes, *panel.no_languages)))
    notes = [*panel.notes]
    if len(panel.scorers) == 1:
        notes.append(ONE_MODEL)
    judged = rows[rows["qvalue"].notna()]
    few = rows.loc[rows["verdict"] != "undefined", "n_rewordings"]
    few = few[few < LEAST_REWORDINGS]
    if len(few):
        n = int(few.min())
        notes.append(
            f"Fewer than {LEAST_REWORDINGS} rewordings ({n}): verdicts hold against "
            f"{'this one' if n == 1 else 'these'}; what another wording would do is not known."
        )
    if request.kind != STANDARDISED:  # no sign flip tests these
        for n_items, same in judged[judged["n_t"] < FEW].groupby("n_t"):
            least = 2.0 ** (1 - int(str(n_items)))
            notes.append(
                f"Few items: with {n_items} ({', '.join(same['language'])}) no p-value can be "
                f"below {least:.3g}."
            )
    return tuple(notes)

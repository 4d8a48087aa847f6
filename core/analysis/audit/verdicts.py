"""What may be said of each language: the one place where numbers become a verdict and a sentence.

A verdict rests on the item test of "Lost in Translation" (arXiv 2610.20479) and on two one-sided
tests against a margin fixed before looking (Schuirmann 1987). None of them says that a model is
fair: a lower score is not less bias, and no difference is not no bias.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.analysis.audit.cells import LEVEL
from core.analysis.audit.flow import ALL_MODELS
from core.analysis.audit.panel import NO_TRANSLATION, Panel
from core.analysis.audit.request import AuditRequest, AuditTable, margin_of
from core.items.languages import language_name
from core.settings import REFERENCE_CONDITION
from core.stats.equivalence import is_equivalent
from core.stats.wording import LEAST_REWORDINGS

Verdict = Literal["shift", "equivalent", "real but small", "undecided", "undefined"]
SHIFTS: tuple[Verdict, ...] = ("shift", "real but small")
DEPENDS = "depends on the score"

_COLUMNS = (
    *("condition", "language", "kind", "verdict", "depends_on_score", "reads", "sentence"),
    *("drop", "drop_low", "drop_high", "n", "t", "t_low", "t_high", "t90_low", "t90_high", "n_t"),
    *("pvalue", "qvalue", "noise_floor", "n_rewordings", "margin", "n_needed"),
    *("prediction_low", "prediction_high", "outside", "n_models", "reason"),
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
        is what `verdict` rests on. `reads` is what to show: the verdict, or "depends on the score"
        where `depends_on_score`. `noise_floor` is the median over models of F_m. `n_needed` items
        would show equivalence. The prediction interval is for the drop under one more rewording of
        English; `outside`: the drop lies beyond it.
    """
    noise = floors_by_model.rows["floor"].to_numpy(np.float64)
    floor = float(np.median(noise[np.isfinite(noise)])) if np.isfinite(noise).any() else math.nan
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
    return AuditTable(table.astype(answers), _notes(panel))


def sentence(row: dict[str, Any], findings: dict[str, str]) -> str:
    """A verdict in words: difference, items, rewording noise, q, and what it does not show.

    Parameters
    ----------
    row
        Of `verdicts`.
    findings
        What each kind of score finds, "lower", "higher" or "none shown".
    """
    drop = row["drop"]
    if math.isnan(drop):
        return f"{row['language']} cannot be compared with {_english()}: {_lowered(row['reason'])}"
    items = f"{row['n']} shared item{'' if row['n'] == 1 else 's'}"
    parts = [
        f"{_difference(row)}, paired over {items}; {_noise(row['noise_floor'])}; {_judgment(row)}."
    ]
    if row["depends_on_score"] is True:
        parts.append(f"This {DEPENDS}: {_disagreement(findings)}.")
    who = "models are"
    if row["n_models"] == 1:
        parts.append("One model: no spread over models.")
        who = "model is"
    what = "fairer" if drop >= 0 else "less fair"
    parts.append(f"This does not show that the {who} {what}.")
    return " ".join(parts)


def _difference(row: dict[str, Any]) -> str:
    """How far a language lies from English, and the interval of that, in the same direction."""
    name, drop = row["language"], row["drop"]
    if f"{abs(drop):.3f}" == "0.000":
        return (
            f"Scores in {name} and {_english()} are the same to three digits, the drop is within "
            f"{_bounds(row['drop_low'], row['drop_high'], 1)}"
        )
    side, sign = ("below", 1) if drop >= 0 else ("above", -1)
    interval = _bounds(row["drop_low"], row["drop_high"], sign)
    return f"Scores in {name} lie {abs(drop):.3f} {side} {_english()} {interval}"


def _judgment(row: dict[str, Any]) -> str:
    """q, and what the verdict means."""
    if row["verdict"] == "undefined":
        return f"whether it is more than rewording cannot be said: {_lowered(row['reason'])[:-1]}"
    q = _q(row["qvalue"])
    within = f"90 % interval {_bounds(row['t90_low'], row['t90_high'], 1)}"
    if row["verdict"] == "undecided":
        return f"{q}: neither a difference beyond rewording nor its absence is shown{_enough(row)}"
    if row["verdict"] == "equivalent":
        return f"{q}: beyond rewording, the difference is smaller than {row['margin']:g} ({within})"
    size = _beyond_rewording(row)
    if row["verdict"] == "real but small":
        size += f"; beyond rewording it is smaller than {row['margin']:g} ({within})"
    return f"{q}: {size}"


def _beyond_rewording(row: dict[str, Any]) -> str:
    """What a shift is shown to be.

    The item test sets the mean change against that of the given rewordings, with its sign. Only a
    drop outside the prediction interval is more than rewording in general does.
    """
    t, drop = row["t"], row["drop"]
    if abs(drop) <= abs(drop - t):  # the rewordings move scores as far, the other way
        side = "below" if t > 0 else "above"
        size = f"against these rewordings of the same items, scores lie {abs(t):.3f} {side}"
    elif row["outside"] is True:
        return "larger than rewording noise"
    else:
        size = "more than these rewordings do to the same items"
    if row["outside"] is True:
        return size
    if row["outside"] is False:
        low, high = row["prediction_low"], row["prediction_high"]
        return (
            f"{size}, yet one more rewording might do as much: its drop is predicted within "
            f"{_bounds(low, high, 1)}"
        )
    if row["n_rewordings"] < LEAST_REWORDINGS:
        return (
            f"{size}; with fewer than {LEAST_REWORDINGS} rewordings nobody can say what one more "
            "would do"
        )
    return f"{size}; what one more rewording would do is not known"


def _enough(row: dict[str, Any]) -> str:
    needed = row["n_needed"]
    if math.isnan(needed):
        return ""
    return f" (showing that there is none would take about {needed:.0f} items)"


def _noise(floor: float) -> str:
    if math.isnan(floor):
        return "what rewording does to scores is not known"
    return f"rewording moves scores by {floor:.3f}"


def _disagreement(findings: dict[str, str]) -> str:
    """Which kinds find what: "lower under mean, summed; none shown under binary"."""
    by_finding: dict[str, list[str]] = {}
    for kind, finding in findings.items():
        by_finding.setdefault(finding, []).append(kind.replace("_", " "))
    return "; ".join(f"{finding} under {', '.join(kinds)}" for finding, kinds in by_finding.items())


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
    reasons = (part.get("reason", "") for part in (shown, tested, wording))
    return {
        **{name: tested.get(name, nan) for name in ("drop", "drop_low", "drop_high")},
        **{name: tested.get(name, nan) for name in ("t", "t_low", "t_high", "t90_low", "t90_high")},
        **{name: tested.get(name, nan) for name in ("pvalue", "qvalue")},
        "n": int(tested.get("n_drop", 0)),
        "n_t": int(tested.get("n", 0)),
        "n_needed": needed.get("n_needed", nan),
        "n_rewordings": int(tested.get("n_rewordings", 0)),
        # Of a mean change; the drop is its negative.
        "prediction_low": -wording.get("prediction_high", nan),
        "prediction_high": -wording.get("prediction_low", nan),
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


def _notes(panel: Panel) -> tuple[str, ...]:
    if not panel.languages:
        return (NO_TRANSLATION,)
    return ("One model: no spread over models.",) if len(panel.scorers) == 1 else ()


def _q(qvalue: float) -> str:
    if qvalue < 0.00005:
        return "q < 0.0001"
    digits = 4 if qvalue < 0.001 else 3 if qvalue < 0.1 else 2
    return f"q = {qvalue:.{digits}f}"


def _bounds(low: float, high: float, sign: int) -> str:
    """An interval of the difference in the direction that the sentence speaks of."""
    if math.isnan(low) or math.isnan(high):
        return "(no interval)"
    ends = (low, high) if sign > 0 else (-high, -low)
    # Rounded to zero from below, a number would read -0.000.
    shown = [f"{round(end, 3) + 0.0:.3f}".replace("-", "\u2212") for end in ends]
    return f"[{', '.join(shown)}]"


def _english() -> str:
    return language_name(REFERENCE_CONDITION)


def _lowered(text: str) -> str:
    """A sentence as the end of another."""
    return text[:1].lower() + text[1:] if text else "it has no number."

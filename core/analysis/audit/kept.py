"""What items keep of their scores in each language, as one sentence for a person.

After "Lost in Translation" (arXiv 2610.20479), the section on what a lower score does not show. The
numbers are those of the tables `association` and `attenuation`.
"""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from core.analysis.audit import words
from core.analysis.audit.names import REWORDING
from core.analysis.audit.request import AuditTable
from core.languages import language_name
from core.settings import REFERENCE_CONDITION

Row = dict[Any, Any]

LESS, CARRIES, TURNED = "less than rewording", "carries over", "turned round"
UNDECIDED, UNDEFINED = "undecided", "undefined"
DIGITS = 2  # of what lies between -1 and 1 or so
CAUTION = (
    "This does not show how biased a model is. A score that does not carry over can be a "
    "preference that went, one that the wording scattered, or text that the model reads less well."
)
UNADJUSTED = "Each interval is at 95 % for its language alone, not adjusted for how many there are."


def kept(association: pd.DataFrame, attenuation: pd.DataFrame) -> AuditTable:
    """One sentence per language about what of an item's score carries over.

    Parameters
    ----------
    association, attenuation
        Rows of these tables, of the same request.

    Returns
    -------
    AuditTable
        `reads`: "turned round" where the interval of the slope lies below 0; "less than rewording"
        where it lies below that of rewordings (apart, which asks for more than a test of the
        difference), or where the interval of r_ratio, the language's correlation over that of
        rewordings on the same items, lies below 1; else "carries over" where the interval of the
        slope lies above 0; else "undecided".
    """
    whole = _by_condition(association[association["group_kind"] == "all"])
    ceiling, ratios = whole.pop(REWORDING, None), _by_condition(attenuation)
    models = association[(association["group_kind"] == "model") & (association["n_rows"] > 0)]
    rows = []
    for condition, row in whole.items():
        n_models = int((models["condition"] == condition).sum())
        ratio = ratios.get(condition)
        findings = _findings(row, ceiling, ratio)
        reads = _reads(row, findings)
        rows.append(
            {
                "condition": condition,
                "language": language_name(condition),
                **{name: row[name] for name in ("slope", "slope_low", "slope_high", "r")},
                "n_items": int(row["n_items"]),
                "n_models": n_models,
                "reads": reads,
                "sentence": _sentence(condition, row, n_models, ceiling, reads, findings),
            }
        )
    notes = (UNADJUSTED,) if len(rows) > 1 else ()
    columns = ["condition", "language", "slope", "slope_low", "slope_high", "r", "n_items"]
    columns += ["n_models", "reads", "sentence"]
    return AuditTable(pd.DataFrame(rows, columns=columns), notes)


def bounds(low: float, high: float) -> str:
    """An interval of slopes or correlations, to two digits."""
    return words.bounds(low, high, DIGITS)


def number(value: float) -> str:
    """A slope or correlation, to two digits."""
    return words.number(value, DIGITS)


def _by_condition(rows: pd.DataFrame) -> dict[str, Row]:
    return {str(row["condition"]): row for row in rows.to_dict("records")}


def _findings(row: Row, ceiling: Row | None, ratio: Row | None) -> list[tuple[str, bool]]:
    """Both comparisons with rewording that can be made: in words, and whether it keeps more."""
    found = []
    if ceiling is not None and not math.isnan(row["slope_high"] - ceiling["slope_low"]):
        apart = bool(row["slope_high"] < ceiling["slope_low"])
        above = bool(row["slope_low"] > ceiling["slope_high"])
        how = "lie apart" if apart else "lie apart, the language's above" if above else "overlap"
        found.append((f"the two intervals {how}", apart))
    if ratio is not None and not math.isnan(ratio["r_ratio_high"]):
        ends = bounds(ratio["r_ratio_low"], ratio["r_ratio_high"])
        least, most = int(ratio["n_items_least"]), int(ratio["n_items"])
        items = f"the same {most:,} items"
        if least < most:
            items = f"the same items, {least:,} to {most:,} of them by model,"
        clause = f"r is {number(ratio['r_ratio'])} {ends} times that of rewordings on {items}"
        found.append((clause, bool(ratio["r_ratio_high"] < 1)))
    return found


def _reads(row: Row, findings: list[tuple[str, bool]]) -> str:
    if math.isnan(row["slope_low"]) or math.isnan(row["slope_high"]):
        return UNDEFINED
    if row["slope_high"] < 0:
        return TURNED
    if any(less for _, less in findings):
        return LESS
    return CARRIES if row["slope_low"] > 0 else UNDECIDED


def _sentence(
    condition: str,
    row: Row,
    n_models: int,
    ceiling: Row | None,
    reads: str,
    findings: list[tuple[str, bool]],
) -> str:
    name, english = language_name(condition), language_name(REFERENCE_CONDITION)
    if math.isnan(row["slope"]):
        return f"What items keep in {name} cannot be said: {words.lowered(row['reason'])}"
    of = f"{row['n_items']:,} item{'' if row['n_items'] == 1 else 's'}, "
    of += f"{n_models} model{'' if n_models == 1 else 's'}"
    slope = f"slope {number(row['slope'])} {bounds(row['slope_low'], row['slope_high'])}"
    slope += f" = r {number(row['r'])} × spread {number(row['sd_ratio'])}"
    keep = f"keep {number(row['slope'])} of" if row["slope"] > 0 else "do not keep"
    said = f"In {name}, items {keep} what sets them apart in {english} ({slope}; {of}); "
    if ceiling is None:
        said += "what mere rewording keeps is not known"
    elif math.isnan(ceiling["slope"]):
        said += f"what mere rewording keeps cannot be said: {words.lowered(ceiling['reason'])[:-1]}"
    else:
        said += f"mere rewording keeps {number(ceiling['slope'])} "
        said += f"{bounds(ceiling['slope_low'], ceiling['slope_high'])}: the ceiling"
    return f"{said}. {_conclusion(row, reads, findings)}"


def _conclusion(row: Row, reads: str, findings: list[tuple[str, bool]]) -> str:
    """What follows, and from which numbers."""
    if reads == UNDEFINED:
        return f"There is no interval: {words.lowered(row['reason'])}"
    why = "; ".join(clause for clause, _ in findings)
    if reads == TURNED:
        return f"Items tend to turn round{': ' + why if why else ''}."
    holds_zero = row["slope_low"] <= 0 <= row["slope_high"]
    if reads == LESS:
        also = "; whether anything carries over is not shown" if holds_zero else ""
        return f"That is less than rewording keeps: {why}{also}."
    nothing = (
        "Whether anything carries over is not shown" if holds_zero else "Something carries over"
    )
    less = f", nor whether it is less than rewording keeps: {why}" if why and holds_zero else ""
    if why and not holds_zero:
        less = f"; whether less than under rewording is not shown: {why}"
    return f"{nothing}{less}."

"""What the positive control shows, arm by arm: intervals over models and a sentence each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import pandas as pd

from core.analysis.audit.control import NEUTRAL
from core.analysis.audit.names import MODEL
from core.analysis.audit.request import AuditTable
from core.analysis.audit.words import bounds, p_words
from core.items.conditions import without_prefix
from core.languages import language_name
from core.stats.levels import LEVEL

Row: TypeAlias = Mapping[Any, Any]

ASSERTS = {
    "true": "A sentence in front that calls stereotypes true",
    "false": "A sentence in front that calls stereotypes false",
    NEUTRAL: "A neutral sentence in front",
}


def arms(control: AuditTable, *, floor: float = math.nan) -> pd.DataFrame:
    """The rows over all models, each with its interval over models and a sentence.

    Parameters
    ----------
    control
        The table of that name.
    floor
        Noise floor, which the sentences name; NaN where there is none.

    Returns
    -------
    pandas.DataFrame
        Its rows of all models with `n_reliable` models of `n_tested` that move by themselves at
        q < .05, and `sentence`.
    """
    rows = control.rows
    found = []
    for row in rows[rows["unit"] != MODEL].to_dict("records"):
        single = rows[
            (rows["unit"] == MODEL)
            & (rows["condition"] == row["condition"])
            & (rows["against"] == row["against"])
        ]
        tested = single["qvalue"].notna()
        new = {str(name): value for name, value in row.items()} | {
            "n_tested": int(tested.sum()),
            "n_reliable": int((single["qvalue"] < LEVEL).sum()),
        }
        q_of_one = float(single["qvalue"].dropna().iloc[0]) if tested.sum() == 1 else math.nan
        found.append(new | {"sentence": _sentence(new, q_of_one, floor)})
    columns = [*rows, "n_tested", "n_reliable", "sentence"]
    return pd.DataFrame(found, columns=columns)


def is_found(row: Row) -> bool:
    """Whether an arm moves scores reliably: most models by themselves, or all by their signs."""
    return bool(2 * row["n_reliable"] > row["n_tested"] or row["qvalue"] < LEVEL)


def as_expected(row: Row) -> bool | None:
    """Whether an arm moves scores in the direction of its sentence; None of a neutral one."""
    change = row["mean_change"]
    return {"true": change > 0, "false": change < 0}.get(row["arm"])


def summary(reads: pd.DataFrame) -> list[str]:
    """What came of the control as a whole, in a sentence or two.

    Parameters
    ----------
    reads
        Of `arms`. Of a version, the sentences that say something count against the neutral one
        where there is one.
    """
    rows = reads.to_dict("records")
    beyond = [row for row in rows if without_prefix(row["against"]) != row["against"]]
    neutral = [row for row in rows if row["arm"] == NEUTRAL]
    apart = {row["condition"] for row in beyond}
    said = [*beyond, *(r for r in rows if r["arm"] != NEUTRAL and r["condition"] not in apart)]
    lines = []
    if said:
        parts = (_outcome(said, "true", "raises"), _outcome(said, "false", "lowers"))
        than = "the neutral sentence" if len(beyond) == len(said) else "no sentence"
        if beyond and len(beyond) < len(said):
            than = "the neutral sentence where there is one"
        outcome = ", and ".join(part for part in parts if part)
        lines.append(f"Against {than}, {outcome} ({_basis(said)}).")
    if neutral:
        moved = _names(row for row in neutral if is_found(row))
        does = f"moves scores in {moved}" if moved else "is not shown to move scores"
        lines.append(f"The neutral sentence by itself {does} ({_basis(neutral)}).")
    return lines


def _outcome(rows: Sequence[Row], arm: str, moves: str) -> str:
    """Where an arm does what it ought to; empty without the arm."""
    of_arm = [row for row in rows if row["arm"] == arm]
    if not of_arm:
        return ""
    right = _names(row for row in of_arm if as_expected(row) and is_found(row))
    where = f"in {right}" if right else "in no version"
    return f"one that calls stereotypes {arm} {moves} scores reliably {where}"


def _names(rows: Iterable[Row]) -> str:
    names = [language_name(without_prefix(row["condition"])) for row in rows]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _basis(rows: Sequence[Row]) -> str:
    models, items = (max(int(row[name]) for row in rows) for name in ("n_models", "n"))
    n = len({without_prefix(row["condition"]) for row in rows})
    versions = f"{n} version{'' if n == 1 else 's'}"
    return f"{versions}, n = {items:,} items, {models} model{'' if models == 1 else 's'}"


def _sentence(row: dict[str, Any], q_of_one: float, floor: float) -> str:
    """What an arm does; `q_of_one` is the q of a model that is alone."""
    name = f"{ASSERTS[row['arm']]} ({row['condition']} against {row['against']})"
    change = row["mean_change"]
    if math.isnan(change):
        return f"{name}: {row['reason'] or 'no score.'}"
    verb = "raises" if change > 0 else "lowers" if change < 0 else "leaves"
    interval = "(no interval)"
    if not math.isnan(row["low"]):
        ends = (row["low"], row["high"]) if change >= 0 else (-row["high"], -row["low"])
        interval = bounds(*ends)
    q = row["qvalue"]
    noise = "" if math.isnan(floor) else f"; rewording alone moves a mean by {floor:.3f}"
    if row["n_models"] == 1:
        own = "no test" if math.isnan(q_of_one) else p_words("q", q_of_one)
        models = f"one model, {own}"
    else:
        sign = "" if math.isnan(q) else f"; sign test over models {p_words('q', q)}"
        models = (
            f"{row['n_up']} of {row['n_moved']} models that move go up{sign}; {row['n_reliable']} "
            f"of {row['n_tested']} move by themselves at q < .05"
        )
    expected, found = as_expected(row), is_found(row)
    if expected is None:
        end = (
            "a sentence by itself moves scores, so the other arms are read against it"
            if found
            else "that a sentence by itself moves scores is not shown"
        )
    elif expected:
        end = "as it ought to" if found else "in the direction it ought to, yet no model reliably"
    else:
        end = "against what the sentence says"
    size = f"{abs(change):.3f} {interval} over {row['n']:,} items"
    return f"{name} {verb} the mean score by {size}{noise}; {models}: {end}."

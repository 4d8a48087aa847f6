"""What the positive control shows, arm by arm: intervals over models and a sentence each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import pandas as pd

from core.analysis.audit.control import NEUTRAL
from core.analysis.audit.names import MODEL
from core.analysis.audit.request import AuditTable
from core.analysis.audit.words import bounds, is_nothing, p_words
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
        q < .05, `n_along` of these in the direction of the mean, and `sentence`.
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
        reliable = single[single["qvalue"] < LEVEL]
        new = {str(name): value for name, value in row.items()} | {
            "n_tested": int(tested.sum()),
            "n_reliable": len(reliable),
            "n_along": int((reliable["mean_change"] * row["mean_change"] > 0).sum()),
        }
        q_of_one = float(single["qvalue"].dropna().iloc[0]) if tested.sum() == 1 else math.nan
        found.append(new | {"sentence": _sentence(new, q_of_one, floor)})
    columns = [*rows, "n_tested", "n_reliable", "n_along", "sentence"]
    return pd.DataFrame(found, columns=columns)


def is_found(row: Row) -> bool:
    """Whether an arm reliably moves scores to where their mean lies.

    Most models do by themselves, or the signs of all do; what is 0 to three digits moves nothing.
    """
    change = row["mean_change"]
    if math.isnan(change) or is_nothing(change):
        return False
    signs_along = (2 * row["n_up"] > row["n_moved"]) == (change > 0)
    return bool(2 * row["n_along"] > row["n_tested"] or (row["qvalue"] < LEVEL and signs_along))


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
    noise = "" if math.isnan(floor) else f"; rewording alone moves a mean by {floor:.3f}"
    return f"{name} {_size(row)}{noise}; {_models(row, q_of_one)}: {_meaning(row)}."


def _size(row: Row) -> str:
    """How far the mean moves, with its interval in the direction that the words speak of."""
    change, low, high = (row[name] for name in ("mean_change", "low", "high"))
    over = f"over {row['n']:,} items"
    if is_nothing(change):
        return f"leaves the mean score the same to three digits {bounds(low, high)} {over}"
    verb, ends = ("raises", (low, high)) if change > 0 else ("lowers", (-high, -low))
    return f"{verb} the mean score by {abs(change):.3f} {bounds(*ends)} {over}"


def _models(row: Row, q_of_one: float) -> str:
    """How many models move, and how many of these by themselves."""
    if row["n_models"] == 1:
        own = "no test" if math.isnan(q_of_one) else p_words("q", q_of_one)
        return f"one model, {own}"
    q, back = row["qvalue"], row["n_reliable"] - row["n_along"]
    sign = "" if math.isnan(q) else f"; sign test over models {p_words('q', q)}"
    other = f", {back} of them against the mean" if back else ""
    return (
        f"{row['n_up']} of {row['n_moved']} models that move go up{sign}; {row['n_reliable']} "
        f"of {row['n_tested']} move by themselves at q < .05{other}"
    )


def _meaning(row: Row) -> str:
    """What that says of the sentence: only against the neutral one is it what the sentence says."""
    expected, found = as_expected(row), is_found(row)
    if is_nothing(row["mean_change"]):
        return "nothing is shown"
    if expected is None:
        this = "this sentence, which says nothing,"
        if found:
            return f"{this} moves scores, so the other arms are read against it"
        return f"that {this} moves scores is not shown"
    way = "in the direction of what it says" if expected else "against what the sentence says"
    if not found:
        return f"{way}, yet that is not shown reliably"
    if not expected:
        return way
    if without_prefix(row["against"]) != row["against"]:
        return "as it ought to"
    return f"{way}; whether for what it says, the comparison with the neutral one tells"

"""What the positive control shows, arm by arm: intervals over models and a sentence each."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from core.analysis.audit.control import NEUTRAL
from core.analysis.audit.names import MODEL
from core.analysis.audit.request import AuditTable
from core.analysis.audit.words import bounds, p_words
from core.stats.levels import LEVEL

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
    expected = {"true": change > 0, "false": change < 0}.get(row["arm"])
    found = 2 * row["n_reliable"] > row["n_tested"] or q < LEVEL
    if expected is None:
        end = (
            "any sentence moves scores by about as much, so the others count beyond it"
            if found
            else "that a sentence by itself moves scores is not shown"
        )
    elif expected:
        end = "as it ought to" if found else "in the direction it ought to, yet no model reliably"
    else:
        end = "against what the sentence says"
    return (
        f"{name} {verb} the mean score by {abs(change):.3f} {interval} over {row['n']} items{noise}"
        f"; {models}: {end}."
    )

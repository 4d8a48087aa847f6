"""The tables of an audit on a terminal."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from core.analysis.audit.audit import Audit
from core.analysis.audit.names import REWORDING
from core.analysis.audit.request import AuditTable
from core.analysis.audit.unknown_fluency import official_sentences
from core.analysis.overview import STAMP
from core.cli.terminal import out, print_rows, print_table, say

SHOWN_ROWS = 20

_DROPS = {
    "condition": "Language",
    "score": "Score",
    "drop": "Drop",
    "drop_between": "Over models",
    "items_between": "Over items",
    "reliable": "Reliable",
    "n_models": "Models",
}
_KEPT = {
    "condition": "Language",
    "t": "Beyond rewording",
    "qvalue": "q",
    "n_items": "n items",
    "slope": "Slope",
    "same_choice": "Same choice",
    "fluency": "Fluency",
}

_DROPS_LEGEND = (
    "Drop: English minus the language, mean over models, with 95 % intervals. Reliable: models "
    "whose drop has q < .05, by the score / by the choice alone."
)
_KEPT_LEGEND = (
    "Beyond rewording: the drop minus that of rewording. Slope: of the score on the English score. "
    "Same choice: share that prefers the same pole as in English. Fluency: preference for the "
    "better pole over the unrelated continuation, 0 to 1."
)
# Columns of differences of scores, which have a sign, and of sizes in the same unit.
_SIGNED = re.compile(
    r"(drop|drop_pooled|drop_rows|reworded_drop|right_drop|language_drop|moved|english_moved|"
    r"t|t90|t_pooled|mean_change|difference|shift|prediction)"
    r"(_(low|high|items|items_low|items_high|binary|binary_low|binary_high|equal|equal_low|"
    r"equal_high|unfiltered))?"
)
_SIZE = re.compile(
    r"(score|gap|floor|noise_floor|right_noise_floor|abs_mean_change)(_(binary|low|high|english))?"
)


def print_audit(found: Audit, *, named: bool) -> None:
    """What fits a terminal: the tables asked for, else the main one and the verdicts."""
    if found.simulated:
        say(STAMP, style="bold", to=out)
    for warning in found.warnings:
        say(f"Note: {warning}", to=out)
    if found.only_pairs and not named:
        return
    if not named:
        _print_main(found.tables, found.warnings)
    else:
        for name, table in found.tables.items():
            _print_table(name, table, found.warnings)
    say(f"Seed {found.request.seed}; --json gives every table in full.", to=out)


def _print_main(tables: dict[str, AuditTable], said: tuple[str, ...]) -> None:
    """The main table and the verdicts where there are languages to compare, the notes."""
    main, verdicts = tables["main"].rows, tables["verdicts"].rows
    compared = bool((main["n_models"] > 0).any())
    if compared:
        _print_drops(main)
        say("", to=out)
        say("Verdicts", style="bold", to=out)
        for label, sentence in zip(verdicts["reads"], verdicts["sentence"], strict=True):
            say(f"{label}: {sentence}", to=out)
    icat = tables["fluency_icat"]
    for sentence in official_sentences(icat, alone=len(verdicts) > 0):
        say(sentence, to=out)
    noted = (tables["main"], tables["verdicts"]) if compared else (tables["verdicts"],)
    for note in dict.fromkeys(note for table in noted for note in table.notes):
        if note not in said:
            say(f"Note: {note}", to=out)


def _print_drops(rows: pd.DataFrame) -> None:
    """The main table as two that fit a narrow terminal."""
    sized = rows["drop"].where(rows["condition"] == REWORDING)  # a floor has no direction
    shown = rows.assign(
        score=rows["score"].map(_size),
        drop=rows["drop"].map(_three_digits).where(sized.isna(), sized.map(_size)),
        t=rows["t"].map(_three_digits),
        **rows[["slope", "same_choice", "fluency"]].round(3),
        qvalue=rows["qvalue"].round(4),
        drop_between=_between(rows, "drop"),
        items_between=_between(rows, "drop_items"),
        reliable=_pair(rows["n_reliable"], rows["n_reliable_binary"]),
    )
    print_table(shown[[*_DROPS]].rename(columns=_DROPS), "Drop of the score from English")
    say(_DROPS_LEGEND, to=out)
    print_table(shown[[*_KEPT]].rename(columns=_KEPT), "What the items keep")
    say(_KEPT_LEGEND, to=out)


def _print_table(name: str, table: AuditTable, said: tuple[str, ...]) -> None:
    """The first rows of any table; a reason only where there is one."""
    say(name, style="bold", to=out)
    rows = table.rows
    shown = rows if (rows["reason"] != "").any() else rows.drop(columns="reason")
    print_rows(_rounded(shown.head(SHOWN_ROWS)))
    if len(rows) > SHOWN_ROWS:
        say(f"  showing {SHOWN_ROWS} of {len(rows)}; --json and --out give all of them", to=out)
    for note in table.notes:
        if note not in said:
            say(f"Note: {note}", to=out)


def _rounded(rows: pd.DataFrame) -> pd.DataFrame:
    """Differences and sizes of scores with three digits everywhere, differences with their sign."""
    shown = rows.copy()
    for name in shown.columns[shown.dtypes == np.float64]:
        if _SIGNED.fullmatch(name):
            shown[name] = shown[name].map(_three_digits)
        elif _SIZE.fullmatch(name):
            shown[name] = shown[name].map(_size)
    return shown


def _between(rows: pd.DataFrame, name: str) -> pd.Series:
    """The interval of a number as a text, empty where there is none."""
    low, high = (rows[f"{name}_{end}"].map(_three_digits) for end in ("low", "high"))
    return ("[" + low + "," + high + "]").where(low != "", "")


def _three_digits(value: float) -> str:
    """A difference as `signed` of core/words.py writes it, on a narrow terminal."""
    return "" if pd.isna(value) else f"{round(value, 3) + 0.0:+.3f}".replace("-", "\u2212")


def _size(value: float) -> str:
    """A number without a direction, in the digits of a difference."""
    return "" if pd.isna(value) else f"{value:.3f}"


def _pair(soft: pd.Series, binary: pd.Series) -> list[str]:
    """Two counts as one text, empty where they are unknown."""
    both = zip(soft, binary, strict=True)
    return ["" if pd.isna(a) or pd.isna(b) else f"{a} / {b}" for a, b in both]

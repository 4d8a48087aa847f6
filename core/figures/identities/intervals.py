"""The share of every identity under one model, with intervals, below the bias over all of them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from core.figures.heads.strip import short
from core.figures.identities.marks import (
    Label,
    Mark,
    band_key,
    evidence_words,
    lane,
    legend_symbols,
    mark_traces,
    marks_of,
    share_layout,
)
from core.figures.identities.rows import (
    NEUTRAL,
    NEUTRAL_WORDS,
    SHARE,
    Beside,
    band_words,
    kind_names,
    kinds_of,
    kinds_words,
    of_kind,
    symbol_of,
)
from core.figures.rows import span
from core.figures.theme import Figure, drawn, plain
from core.languages import language_name
from core.words import counted

_ROW, _TWO_MARKS_ROW = 26, 34  # px
_OVER_ALL = (("bias_w", "bias (W)", "diamond"), ("bias_m", "bias (M)", "square"))
_GAP = 0.4  # rows between the bias over all and the identities


def share_intervals(rows: pd.DataFrame, overview: pd.DataFrame, *, beside: Beside) -> Figure:
    """Bias (W), bias (M) and below them the share of each identity, beside 50 % and the floor.

    Parameters
    ----------
    rows
        Of the table `identities`, those of one model and condition. Where a column `pairs` tells
        them apart, those without confounded pairs stand beside those with all, as open marks.
    overview
        Rows of the table `overview` of the same model and condition.
    """
    over_all, labels = _over_all(overview)
    marks, names = _of_each(rows, len(labels) + _GAP if labels else 0.0)
    labels += names
    kinds = [kind for kind, _ in kinds_of(rows)]
    n_places = labels[-1][0] + 1 if labels else 1.0
    traces = [
        *band_key(beside),
        *legend_symbols(kind_names("circle", "", kinds)),
        *mark_traces([*over_all, *marks], NEUTRAL, NEUTRAL_WORDS),
    ]
    height = int(n_places * (_ROW if len(kinds) < 2 else _TWO_MARKS_ROW))
    layout = share_layout(traces, height, labels, [*over_all, *marks], beside)
    layout["meta"] = {"caption": _caption(rows, kinds, [*over_all, *marks], beside)}
    return drawn(traces, layout)


def _over_all(overview: pd.DataFrame) -> tuple[list[Mark], list[Label]]:
    kinds = kinds_of(overview)
    marks = [
        mark
        for k, (kind, part) in enumerate(kinds)
        for at, (column, name, symbol) in enumerate(_OVER_ALL)
        for mark in marks_of(
            part,
            column,
            [of_kind(name, kind, [k for k, _ in kinds])],
            [at + lane(k, len(kinds))],
            symbol_of(symbol, kind),
        )
    ]
    if not kinds:
        return [], []
    n = kinds[0][1]["n"].iloc[0]
    return marks, [(at, f"<b>{name}</b> ({n:,})") for at, (_, name, _) in enumerate(_OVER_ALL)]


def _of_each(rows: pd.DataFrame, first: float) -> tuple[list[Mark], list[Label]]:
    """Marks of the identities, from the row `first` on, in the order of the table."""
    kinds = kinds_of(rows)
    place = {name: first + i for i, name in enumerate(dict.fromkeys(rows["identity"]))}
    marks = [
        mark
        for k, (kind, part) in enumerate(kinds)
        for mark in marks_of(
            part,
            "share",
            [of_kind(name, kind, [k for k, _ in kinds]) for name in part["identity"]],
            [place[name] + lane(k, len(kinds)) for name in part["identity"]],
            symbol_of("circle", kind),
        )
    ]
    n = rows.drop_duplicates("identity").set_index("identity")["n"]
    return marks, [(at, f"{plain(short(name, 18))} ({n[name]:,})") for name, at in place.items()]


def _caption(rows: pd.DataFrame, kinds: Sequence[str], marks: list[Mark], beside: Beside) -> str:
    if rows.empty:
        return "No identity has a pair, so there is nothing to draw."
    who = f"{rows['model'].iloc[0]}, {language_name(rows['condition'].iloc[0])}"
    n_identities = rows["identity"].nunique()
    sentences = [
        f"{who}: {SHARE}, for each of {counted(n_identities, 'identity', 'identities')} (circles, "
        f"n = {span(rows['n'])} pairs), over all pairs (bias (W)) and as the mean of the "
        "identities (bias (M)). Lines: 95 % intervals over predicates, each with all its pairs.",
        kinds_words(kinds),
        evidence_words(marks, NEUTRAL, NEUTRAL_WORDS),
        "Where many identities are looked at, some intervals leave out 50 % by chance: the verdict "
        "counts those that lie clearly off it, all taken together.",
        band_words(beside),
    ]
    return " ".join(sentence for sentence in sentences if sentence)

"""Drops of languages and of groups of items, beside what rewording does.

A drop is the score in English minus that in the language, of the same items. Rows are those of the
tables of an audit; nothing is computed here but places and colours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import pandas as pd
from plotly import graph_objects as go

from core.analysis.audit.names import POOLED
from core.figures.colours import ENGLISH, language_colour
from core.figures.theme import Figure, drawn, plain, signed
from core.languages import language_name
from core.stats.levels import LEVEL

Row: TypeAlias = dict[Any, Any]


@dataclass(frozen=True)
class Yardstick:
    """What every drop is shown beside."""

    floor: float  # median over `n_models` of the noise floor; NaN where there is none
    n_models: int
    margin: float  # of equivalence; NaN where scores have no unit for one


ROW_HEIGHT = 30  # px per language
_GROUP_HEIGHT = 22  # px per group of items


def drop_plot(rows: pd.DataFrame, verdicts: pd.DataFrame, beside: Yardstick) -> Figure:
    """The drop of each language, its two intervals, the noise floor and the margin.

    Parameters
    ----------
    rows : DataFrame
        Of the table `main`, languages alone.
    verdicts : DataFrame
        Of the table of that name: `condition`, `reads`.
    """
    records = rows.to_dict("records")
    reads = dict(zip(verdicts["condition"], verdicts["reads"], strict=True))
    traces = [
        *_frame(len(records), beside),
        *_intervals(records, ("drop_items_low", "drop_items_high"), "95 % over items", 4),
        *_intervals(
            records, ("drop_low", "drop_high"), "95 % over models: their spread", 1.5, 0.24
        ),
        *_dots(
            records,
            "drop_items",
            [True] * len(records),
            [_drop_hover(row, reads.get(row["condition"], "")) for row in records],
        ),
    ]
    labels = [f"{language_name(r['condition'])} ({_count(r['n_items'])})" for r in records]
    layout = _layout(traces, labels, ROW_HEIGHT, "drop: English minus language (n items)")
    layout["meta"] = {"caption": _drop_caption(records, reads, beside)}
    return drawn(traces, layout)


def group_plot(rows: pd.DataFrame, beside: Yardstick, title: str) -> Figure:
    """The drop beyond rewording of every language in every group of items.

    Parameters
    ----------
    rows : DataFrame
        Of the table `item_tests`, of one `group_kind`.
    title : str
        What the groups are.
    """
    records = rows.to_dict("records")
    shown = [row["qvalue"] < LEVEL for row in records]
    traces = [
        *_frame(len(records), beside),
        *_intervals(records, ("t_low", "t_high"), "95 % over items", 3),
        *_legend_dots(records, shown),
        *_dots(records, "t", shown, [_group_hover(row) for row in records]),
    ]
    labels = [f"{_group_label(row)} ({_count(row['n'])})" for row in records]
    layout = _layout(traces, labels, _GROUP_HEIGHT, "drop beyond rewording (n items)")
    n_undefined = sum(not math.isfinite(row["t"]) for row in records)
    sentences = [
        f"Drop beyond that of rewording, T = −mean(D − R), by {title}, with 95 % bootstrap "
        "intervals over items. Filled: q < .05 over the languages of the same group. Groups hold "
        "few items and many are looked at: one that stands out may do so by chance."
    ]
    if n_undefined:
        sentences.append(f"{n_undefined} of {len(records)} are undefined: a dash at the edge.")
    layout["meta"] = {"caption": " ".join([*sentences, _frame_words(beside)])}
    return drawn(traces, layout)


def _frame(n_rows: int, beside: Yardstick) -> list[go.Scatter]:
    """What every chart of drops has: the noise floor as a band, the margin as dotted lines."""
    top, bottom = -0.6, n_rows - 0.4
    floor, margin = beside.floor, beside.margin
    traces = []
    if math.isfinite(floor):
        traces.append(
            go.Scatter(
                x=[-floor, floor, floor, -floor],
                y=[top, top, bottom, bottom],
                fill="toself",
                fillcolor="rgba(120, 120, 120, 0.22)",
                mode="lines",
                line={"width": 0, "color": ENGLISH},
                name=f"rewording alone: ±{floor:.3f}",
                hoverinfo="skip",
            )
        )
    if math.isfinite(margin):
        traces.append(_margin_lines(margin, top, bottom))
    return traces


def _margin_lines(margin: float, top: float, bottom: float) -> go.Scatter:
    return go.Scatter(
        x=[-margin, -margin, None, margin, margin],
        y=[top, bottom, None, top, bottom],
        mode="lines",
        line={"width": 1.5, "dash": "dot", "color": ENGLISH},
        name=f"margin of equivalence: ±{margin:g}",
        hoverinfo="skip",
    )


def _frame_words(beside: Yardstick) -> str:
    whose = "one model" if beside.n_models == 1 else f"median over {beside.n_models} models"
    band = (
        f"Band: ±{beside.floor:.3f}, what rewording English does to a mean score ({whose})."
        if math.isfinite(beside.floor)
        else "No rewording covers every English item, so there is no noise band."
    )
    if not math.isfinite(beside.margin):
        return f"{band} On this scale there is no margin of equivalence."
    return f"{band} Dotted: the margin of equivalence, ±{beside.margin:g}."


def _intervals(
    records: list[Row], ends: tuple[str, str], name: str, width: float, below: float = 0
) -> list[go.Scatter]:
    """Intervals as lines, one trace per colour, and their name in grey; none without intervals."""
    by_colour: dict[str, tuple[list[Any], list[Any]]] = {}
    for at, row in enumerate(records):
        if math.isfinite(row[ends[0]]):
            x, y = by_colour.setdefault(_colour(row), ([], []))
            x += [row[ends[0]], row[ends[1]], None]
            y += [at + below, at + below, None]
    if not by_colour:
        return []
    grey = {"width": width, "color": ENGLISH}
    return [
        go.Scatter(x=[None], y=[None], mode="lines", line=grey, name=name),
        *(
            go.Scatter(
                x=x,
                y=y,
                mode="lines",
                line={"width": width, "color": colour},
                showlegend=False,
                hoverinfo="skip",
                name=name,
            )
            for colour, (x, y) in by_colour.items()
        ),
    ]


def _legend_dots(records: list[Row], shown: list[bool]) -> list[go.Scatter]:
    known = {s for row, s in zip(records, shown, strict=True) if math.isfinite(row["t"])}
    return [
        go.Scatter(
            x=[None],
            y=[None],
            mode="markers",
            marker={"symbol": symbol, "size": 9, "color": ENGLISH},
            name=name,
        )
        for value, name, symbol in (
            (True, "q < .05", "circle"),
            (False, "q ≥ .05: no shift shown", "circle-open"),
        )
        if value in known
    ]


def _dots(
    records: list[Row], column: str, filled: list[bool], hover: list[list[str]]
) -> list[go.Scatter]:
    """A dot per row, and a dash at the left edge, not at a value, where there is none."""
    known = [at for at, row in enumerate(records) if math.isfinite(row[column])]
    rest = [at for at, row in enumerate(records) if not math.isfinite(row[column])]
    colours = [_colour(records[at]) for at in known]
    traces = [
        go.Scatter(
            x=[records[at][column] for at in known],
            y=known,
            mode="markers",
            marker={
                "symbol": ["circle" if filled[at] else "circle-open" for at in known],
                "color": colours,
                "size": 11,
                "line": {"color": colours, "width": 2},
            },
            customdata=[hover[at] for at in known],
            hovertemplate="<b>%{customdata[1]}</b><br>%{customdata[2]}<extra></extra>",
            name="drops",
            showlegend=False,
        )
    ]
    if rest:
        traces.append(
            go.Scatter(
                x=[0.01] * len(rest),
                xaxis="x2",
                y=rest,
                mode="text",
                text=["– undefined"] * len(rest),
                textposition="middle right",
                textfont={"color": ENGLISH},
                customdata=[
                    [records[at]["condition"], plain(records[at]["reason"])] for at in rest
                ],
                hovertemplate="%{customdata[1]}<extra></extra>",
                showlegend=False,
                name="undefined",
            )
        )
    return traces


def _drop_hover(row: Row, reads: str) -> list[str]:
    """Condition first, then what the hover box says; every number is a column of the table."""
    lines = [
        f"drop {signed(row['drop_items'], 4)} "
        f"{interval(row['drop_items_low'], row['drop_items_high'])}"
        f" over {_count(row['n_items'])} items",
        "one model: no spread"
        if row["n_models"] == 1
        else f"mean of {_count(row['n_models'])} models {signed(row['drop'], 4)} "
        f"{interval(row['drop_low'], row['drop_high'])}",
        reads,
    ]
    return [row["condition"], language_name(row["condition"]), "<br>".join(lines)]


def _group_hover(row: Row) -> list[str]:
    lines = [
        f"T {signed(row['t'], 4)} {interval(row['t_low'], row['t_high'])}",
        f"n = {_count(row['n'])} items, q = {q_words(row['qvalue'])}",
        *([plain(row["reason"])] if row["reason"] else []),
    ]
    return [row["condition"], plain(_group_label(row)), "<br>".join(lines)]


def _colour(row: Row) -> str:
    """Of the row's language; what is pooled over all of them is grey."""
    return ENGLISH if row["condition"] == POOLED else language_colour(row["condition"])


def _layout(
    traces: list[go.Scatter], labels: list[str], row_height: int, title: str
) -> dict[str, Any]:
    top = 20 * sum(trace.showlegend is not False for trace in traces) + 12
    ends = [x for trace in traces if trace.xaxis is None for x in trace.x if x is not None]
    low, high = min(ends, default=-1.0), max(ends, default=1.0)
    space = 0.04 * (high - low)
    axis = {"zeroline": False, "fixedrange": True}
    return {
        "height": top + row_height * max(len(labels), 1) + 60,
        "margin": {"l": 8, "r": 12, "t": top, "b": 52},
        "dragmode": False,
        "legend": {"orientation": "v", "x": 0, "y": 1, "yanchor": "bottom"},
        "showlegend": True,
        "xaxis": axis
        | {"title": {"text": title}, "nticks": 7, "range": [low - space, high + space]},
        # Marks of what is undefined have a place on the screen and none among the values.
        "xaxis2": {"overlaying": "x", "range": [0, 1], "visible": False, "fixedrange": True},
        "yaxis": axis
        | {
            "range": [len(labels) - 0.4, -0.6],
            "tickvals": list(range(len(labels))),
            "ticktext": [plain(label) for label in labels],
            "showgrid": False,
            "ticklabelstandoff": 6,
        },
        "shapes": [
            {"type": "line", "x0": 0, "x1": 0, "yref": "paper", "y0": 0, "y1": 1}
            | {"layer": "below", "line": {"width": 1.5}}
        ],
    }


def _drop_caption(records: list[Row], reads: dict[Any, Any], beside: Yardstick) -> str:
    models = max((int(row["n_models"]) for row in records), default=0)
    over = (
        "One model: no spread over models."
        if models == 1
        else f"Thin lines: 95 % t interval over {models} models, their spread on these same items."
    )
    found: dict[str, list[str]] = {}
    for row in records:
        found.setdefault(str(reads.get(row["condition"], "")), []).append(row["condition"])
    verdicts = "; ".join(
        f"{verdict}: {', '.join(map(language_name, conditions))}"
        for verdict, conditions in found.items()
    )
    return (
        "Drop of each language: mean score in English minus that in the language, of the items "
        "that every model has scored in both; right of zero the language scores lower. Thick "
        f"lines: 95 % bootstrap interval over items. {over} {_frame_words(beside)} Verdicts rest "
        "on the test of the drop beyond rewording, not on whether an interval leaves the band: "
        f"{verdicts}."
    )


def interval(low: float, high: float) -> str:
    """An interval for people; a dash where there is none."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return "–"
    # Rounded to zero from below, a number would read -0.000.
    return f"[{signed(round(low, 3) + 0.0, 3)}, {signed(round(high, 3) + 0.0, 3)}]"


def _group_label(row: Row) -> str:
    condition = row["condition"]
    if row["group_kind"] == "rewording":
        return str(condition)
    name = "all" if condition == POOLED else condition
    return f"{row['group']} · {name}" if row["group"] else str(name)


def _count(value: Any) -> str:
    return "0" if pd.isna(value) else f"{int(value)}"


def q_words(value: float) -> str:
    if not math.isfinite(value):
        return "–"
    return f"{value:.4f}" if value >= 0.0001 else "< 0.0001"

"""Models against identities: whom each model is biased about, on a fixed scale around 50 %."""

from __future__ import annotations

import math
from textwrap import wrap
from typing import Any

import pandas as pd
from plotly import graph_objects as go

from core.analysis.identities.overview import HIGHEST, LOWEST, MEAN
from core.figures.colours import score_colours
from core.figures.heads.strip import short
from core.figures.identities.rows import SHARE, Beside, Row, floor_words, share_words
from core.figures.rows import span
from core.figures.theme import Figure, drawn, plain
from core.languages import language_name
from core.words import counted

MARKS = {HIGHEST: "▲", LOWEST: "▼"}

_MEANS = (
    "",
    "The last row is the mean over the models, its n of all of them.",
    "The last rows are the means over the models of a kind, their n of all of them.",
)
_ROW, _ABOVE = 30, 46  # px
_APART = 0.4  # rows between the models and their means
_LETTERS = 18  # of an identity's name, or in a line of a model's
_SLANTED = 6.4  # px of a letter, downwards
_CROWDED = 12  # identities; more of them have narrower cells than a number with its mark
_TOO_MANY = 25  # identities; more of them have narrower cells than a number


def identity_map(rows: pd.DataFrame, *, chosen: str = "", beside: Beside) -> Figure:
    """Share of every identity under every model, means over the models of a kind last.

    Each cell carries an invisible mark, which a click selects: its `customdata` begins with the
    label of the model (or of the mean) and the identity.

    Parameters
    ----------
    rows
        The table `identities` of one condition and one value of `pairs`.
    chosen
        Identity whose column is outlined.
    """
    models, identities = (list(dict.fromkeys(rows[name])) for name in ("model", "identity"))
    means = set(rows.loc[rows["row"] == MEAN, "model"])
    places = [i + _APART * (model in means) for i, model in enumerate(models)]
    cells = {(row["model"], row["identity"]): row for row in rows.to_dict("records")}
    n_alone = len(models) - len(means)
    traces = [
        _heat([[cells.get((m, i)) for i in identities] for m in models[of]], places[of])
        for of in (slice(n_alone), slice(n_alone, None))
        if models[of]
    ]
    traces[1:] = [trace.update(showscale=False) for trace in traces[1:]]
    if models:
        traces.append(_squares(cells, dict(zip(models, places, strict=True)), identities))
    layout = _layout(models, places, identities)
    if chosen in identities:
        layout["shapes"] = [_outline(identities.index(chosen), places[-1])]
    layout["meta"] = {"caption": _caption(rows, chosen, beside)}
    return drawn(traces, layout)


def _heat(cells: list[list[Row | None]], places: list[float]) -> go.Heatmap:
    colours, n = score_colours(), len(cells[0])
    return go.Heatmap(
        z=[[_share(cell) for cell in line] for line in cells],
        x=list(range(len(cells[0]))),
        y=places,
        text=[[_text(cell, n) for cell in line] for line in cells],
        texttemplate="%{text}",
        textfont={"size": 8 if n > _CROWDED else 10},
        hoverinfo="skip",
        hoverongaps=False,
        xgap=1,
        ygap=1,
        colorscale=colours["colorscale"],
        zmin=colours["cmin"],
        zmid=colours["cmid"],
        zmax=colours["cmax"],
        colorbar={
            "thickness": 10,
            "orientation": "h",
            "yref": "container",
            "y": 1.0,
            "yanchor": "top",
            "ypad": 2,
            "len": 0.8,
            "tickvals": [0, 0.25, 0.5, 0.75, 1],
            "ticktext": ["0 %", "25 %", "50 %", "75 %", "100 %"],
        },
    )


def _share(cell: Row | None) -> float | None:
    return cell["share"] if cell is not None and math.isfinite(cell["share"]) else None


def _text(cell: Row | None, n_identities: int) -> str:
    share = _share(cell)
    if cell is None or share is None:
        return "–"
    mark = MARKS.get(cell["mark"], "")
    if n_identities > _TOO_MANY:
        return mark
    return f"{100 * share:.0f}{'<br>' if n_identities > _CROWDED and mark else ''}{mark}"


def _squares(
    cells: dict[tuple[str, str], Row], places: dict[str, float], identities: list[str]
) -> go.Scatter:
    """Marks that are not seen, over all cells: a heat map's own cannot be clicked on."""
    at = [(model, i, name) for model in places for i, name in enumerate(identities)]
    return go.Scatter(
        x=[i for _, i, _ in at],
        y=[places[model] for model, _, _ in at],
        mode="markers",
        marker={"symbol": "square", "size": 20, "opacity": 0, "line": {"width": 0}},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        customdata=[
            [model, name, f"<b>{plain(name)}</b>, {plain(model)}<br>{_hover(cells, model, name)}"]
            for model, _, name in at
        ],
        hovertemplate="%{customdata[2]}<extra></extra>",
        showlegend=False,
        name="cells",
    )


def _hover(cells: dict[tuple[str, str], Row], model: str, identity: str) -> str:
    if (model, identity) not in cells:
        return "undefined<br>no pair is about it"
    row = cells[model, identity]
    words = share_words(row, "share")
    if row["n_models"] > 1:
        words.insert(1, f"of {counted(row['n_models'], 'model')} together:")
    return "<br>".join(map(plain, words))


def _outline(at: int, last: float) -> dict[str, Any]:
    place = {"x0": at - 0.5, "x1": at + 0.5, "y0": -0.5, "y1": last + 0.5}
    return {"type": "rect", "layer": "above", "line": {"width": 2.5}} | place


def _layout(models: list[str], places: list[float], identities: list[str]) -> dict[str, Any]:
    axis = {"showgrid": False, "zeroline": False, "fixedrange": True}
    last = places[-1] if places else 0.0
    names = [short(name, _LETTERS) for name in identities]
    crowded = len(identities) > _CROWDED
    below = int(16 + _SLANTED * max(map(len, names), default=0))
    return {
        "height": int(_ABOVE + _ROW * (last + 1) + below),
        "margin": {"l": 8, "r": 8, "t": _ABOVE, "b": below},
        "dragmode": False,
        "hovermode": "closest",
        "hoverdistance": -1,  # the cell whose middle is nearest is the one that holds the pointer
        "xaxis": axis
        | {"tickvals": list(range(len(identities))), "tickangle": -90 if crowded else -60}
        | {"ticktext": [plain(name) for name in names]}
        | {"range": [-0.5, max(len(identities), 1) - 0.5]},
        "yaxis": axis
        | {"tickvals": places, "ticktext": [_two_lines(model) for model in models]}
        | {"tickfont": {"size": 11}}
        | {"range": [last + 0.5, -0.5]},
    }


def _two_lines(label: str) -> str:
    """A name that leaves room for the cells on a narrow screen; hovering names it in full."""
    lines = wrap(label, _LETTERS)
    if len(lines) > 2:
        lines = [lines[0], f"\u2026{label[1 - _LETTERS :]}"]
    return "<br>".join(map(plain, lines))


def _caption(rows: pd.DataFrame, chosen: str, beside: Beside) -> str:
    if rows.empty:
        return "No identity has a pair, so there is nothing to draw."
    n_undefined = int(rows["share"].isna().sum())
    of_models = rows[rows["row"] != MEAN]
    n_models = of_models["model"].nunique()
    n_means = rows["model"].nunique() - n_models
    n_identities = rows["identity"].nunique()
    sentences = [
        f"{language_name(rows['condition'].iloc[0])}: {SHARE}, in per cent, of "
        f"{counted(n_models, 'model')} and {counted(n_identities, 'identity', 'identities')}; "
        "pale: 50 %, neither sentence is preferred. A tie counts one half. "
        f"n = {span(of_models['n'])} pairs per cell.",
        "Too many identities for numbers: hover." if n_identities > _TOO_MANY else "",
        f"{MARKS[HIGHEST]} and {MARKS[LOWEST]}: the highest and the lowest of the row.",
        _MEANS[min(n_means, 2)],
        f"–: {n_undefined:,} of {len(rows):,} cells are undefined." if n_undefined else "",
        f"Outlined: {chosen}." if chosen in set(rows["identity"]) else "",
        floor_words(beside),
    ]
    return " ".join(sentence for sentence in sentences if sentence)

"""How every figure looks: an explicit template for light and dark, fonts, captions, the camera.

Streamlit replaces Plotly's default template by placeholder colours that turn black outside the
browser, so no figure leaves a colour to the default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from typing import Any, Literal, TypeAlias

from plotly import graph_objects as go
from plotly.basedatatypes import BaseTraceType

from core.figures.colours import CHANGE_SCALE, COLOURS

Figure: TypeAlias = go.Figure
Trace: TypeAlias = BaseTraceType
Mode = Literal["light", "dark"]
ImageFormat = Literal["svg", "png"]

# The first family that has a character draws it: Latin, Arabic, Devanagari, Han, Hangul.
FONTS = (
    '"Source Sans", "Noto Sans", "Noto Sans Arabic", "Noto Sans Devanagari", "Noto Sans SC", '
    '"Noto Sans CJK SC", "Noto Sans KR", "Noto Sans CJK KR", "Segoe UI", "Nirmala UI", '
    '"Microsoft YaHei", "Malgun Gothic", "Helvetica Neue", Arial, sans-serif'
)
BACKGROUND = {"light": "#ffffff", "dark": "#171614"}  # as Streamlit's
_INK = {"light": "#31333f", "dark": "#fafafa"}
_FAINT = {"light": "#e1e3e8", "dark": "#33363f"}
IMAGE_SCALE = 3  # a picture of 600 px becomes one of 1,800, enough for print


@cache
def template(mode: Mode) -> go.layout.Template:
    """The colours and fonts of one mode, none of them left to a default."""
    ink, faint, background = _INK[mode], _FAINT[mode], BACKGROUND[mode]
    axis = {
        "gridcolor": faint,
        "linecolor": ink,
        "zerolinecolor": ink,
        "tickcolor": ink,
        "tickfont": {"color": ink, "family": FONTS},
        "title": {"font": {"color": ink}},
        "automargin": True,
    }
    layout = {
        "font": {"family": FONTS, "size": 12, "color": ink},
        "paper_bgcolor": background,
        "plot_bgcolor": background,
        "colorway": list(COLOURS),
        "colorscale": {"diverging": CHANGE_SCALE},
        "xaxis": axis,
        "yaxis": axis,
        "legend": {"font": {"color": ink}, "bgcolor": background},
        "hoverlabel": {
            "bgcolor": background,
            "bordercolor": ink,
            "font": {"family": FONTS, "color": ink},
        },
        "annotationdefaults": {"font": {"color": ink}, "showarrow": False},
        "shapedefaults": {"line": {"color": ink, "width": 1}},
        "separators": ".,",
    }
    # The outline of a mark that names no colour of its own.
    marks = [go.Scatter(marker={"line": {"color": ink}})]
    return go.layout.Template(layout=layout, data={"scatter": marks})


def drawn(traces: Sequence[Trace], layout: Mapping[str, Any]) -> Figure:
    """A figure of these traces in light colours, without a look at each property again.

    Plotly checks a property whenever it is handed over, which takes longer than all the rest: here
    those of the traces were checked when they were made, those of the layout are, and the
    template's never differ.
    """
    return _figure(traces, go.Layout(**layout).to_plotly_json(), "light")


def themed(figure: Figure, mode: Mode) -> Figure:
    """The same figure in the colours of a mode; itself, not to be changed, where it has them."""
    if figure.layout.template == template(mode):
        return figure
    parts = figure.to_plotly_json()
    return _figure(parts["data"], parts["layout"], mode)


def _figure(traces: Sequence[Any], layout: dict[str, Any], mode: Mode) -> Figure:
    colours = {"template": template(mode).to_plotly_json()}
    return go.Figure(traces, layout | colours, _validate=False)


def caption_of(figure: Figure) -> str:
    """What the figure shows, in the sentences that it carries wherever it is shown or saved."""
    return str((figure.layout.meta or {}).get("caption", ""))


def saved_caption(figure: Figure) -> str:
    """The caption with what a page says once and not again under each figure: its `caution`."""
    meta = figure.layout.meta or {}
    return " ".join(part for part in (meta.get("caption", ""), meta.get("caution", "")) if part)


def plain(text: str) -> str:
    """A text of the data for a label or hover box, which would read `<b>` as a tag."""
    return escape(text, quote=False)


def signed(value: float, digits: int) -> str:
    """A number for people, with a minus sign that no line break separates from it."""
    return f"{value:.{digits}f}".replace("-", "\u2212")


def chart_config(name: str, image_format: ImageFormat = "svg") -> dict[str, Any]:
    """What a chart offers to its reader: a camera that saves under this name, nothing that sends.

    Parameters
    ----------
    name
        File name without an ending; anything but letters, digits, dot, dash and underscore becomes
        a dash.
    """
    return {
        "showSendToCloud": False,
        "displaylogo": False,
        "responsive": True,
        "toImageButtonOptions": {
            "format": image_format,
            "filename": file_stem(name),
            "scale": IMAGE_SCALE,
        },
    }


def file_stem(name: str) -> str:
    """The name as every file system takes it."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "figure"

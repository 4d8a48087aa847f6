"""How a page shows a figure: in the reader's colours, with a camera and a file to take along."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.overview import STAMP
from core.export.audit import audit_bytes
from core.export.figures import figure_html
from core.figures.theme import (
    Figure,
    ImageFormat,
    Mode,
    caption_of,
    chart_config,
    file_stem,
    saved_caption,
    themed,
)

_FORMATS = {"svg": "SVG", "png": "PNG"}


def show_figure(
    figure: Figure,
    name: str,
    provenance: Mapping[str, object] | None = None,
    *,
    table: pd.DataFrame | None = None,
    alt: str = "",
    on_select: Callable[[], None] | None = None,
) -> None:
    """A figure with its caption and its downloads.

    Parameters
    ----------
    name
        Of the files; it also keeps the widgets of several figures on a page apart.
    provenance
        What the figure was made from; it goes into the HTML file. Where it says `simulated`, the
        caption does too.
    table
        The figure's numbers, offered as CSV.
    alt
        What the figure shows, for those who cannot see it; its caption where nothing is given.
    on_select
        Called when the reader clicks on a point or draws around some; `selected_points` says which.
    """
    made_from = provenance or {}
    stamp = f"{STAMP} " if made_from.get("simulated") else ""
    caption, saved = (f"{stamp}{of(figure)}".strip() for of in (caption_of, saved_caption))
    key = f"figure-{name}"
    image_format: ImageFormat = st.session_state.get(f"{key}-format") or "svg"
    st.plotly_chart(
        themed(figure, _mode()),
        theme=None,
        config=chart_config(name, image_format),
        key=key,
        alt=alt or caption,
        on_select=on_select or "ignore",
    )
    if caption:
        st.caption(literal(caption))
    with st.popover("Save", icon=":material/download:"):
        if table is not None:
            _csv_button(table, name, simulated=bool(made_from.get("simulated")))
        st.download_button(
            "Figure as HTML",
            # Only made when somebody asks: it carries the whole charting code.
            lambda: figure_html(figure, saved, made_from, name=name),
            f"{file_stem(name)}.html",
            "text/html",
            key=f"{key}-html",
            on_click="ignore",
        )
        st.segmented_control(
            "The camera on the figure saves",
            list(_FORMATS),
            format_func=_FORMATS.__getitem__,
            default="svg",
            required=True,
            key=f"{key}-format",
        )


def selected_points(name: str) -> tuple[list[dict[str, Any]], bool]:
    """The points of a figure that the reader has just taken, and whether by drawing around them."""
    event = (st.session_state.get(f"figure-{name}") or {}).get("selection", {})
    return list(event.get("points", ())), bool(event.get("box") or event.get("lasso"))


def literal(text: str) -> str:
    """A text with names from the data in it, for a place that would read Markdown: `en~p1`, `_`."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def _csv_button(table: pd.DataFrame, name: str, *, simulated: bool) -> None:
    st.download_button(
        "Numbers as CSV",
        lambda: audit_bytes(table, "csv", simulated=simulated),
        f"{file_stem(name)}-{len(table)}-rows.csv",
        "text/csv",
        key=f"figure-{name}-csv",
        on_click="ignore",
    )


def _mode() -> Mode:
    """What the reader's browser shows; light where it does not say."""
    return "dark" if st.context.theme.type == "dark" else "light"

"""Figures out to files that stand alone: a page that opens from a disk, without a network."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, Protocol

from core.figures.theme import BACKGROUND, FONTS, chart_config

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 1rem auto; max-width: 60rem; padding: 0 1rem; background: {background};
  color: #31333f; font: 16px/1.5 {fonts}; }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 1rem;
  font-size: 0.85rem; }}
dt {{ font-weight: 600; }}
dd {{ margin: 0; overflow-wrap: anywhere; }}
</style>
</head>
<body>
{chart}
<p dir="auto">{caption}</p>
<dl>
{provenance}
</dl>
</body>
</html>
"""


class Figure(Protocol):
    """What this room needs of a Plotly figure."""

    def to_html(self, **options: Any) -> str:
        """The chart as HTML."""


def figure_html(
    figure: Figure, caption: str, provenance: Mapping[str, object], *, name: str = "figure"
) -> bytes:
    """A figure as one HTML file, its caption and provenance as text below it.

    The charting code is part of the file (4.8 MB), so it works from a disk with no request to
    anywhere; there is no button that uploads.

    Parameters
    ----------
    provenance
        What the figure was made from: model, revision, data set, library versions, ...
    name
        Title of the page, and file name of the pictures that its camera saves.
    """
    chart = figure.to_html(
        full_html=False, include_plotlyjs=True, config=chart_config(name), default_width="100%"
    )
    rows = [
        f"<dt>{escape(str(key))}</dt><dd>{escape(str(value))}</dd>"
        for key, value in provenance.items()
    ]
    page = _PAGE.format(
        title=escape(name),
        background=BACKGROUND["light"],
        fonts=FONTS,
        chart=chart,
        caption=escape(caption),
        provenance="\n".join(rows),
    )
    return page.encode("utf-8")

"""A figure as one HTML file: complete, escaped, and silent towards the network."""

from __future__ import annotations

import re

from plotly import graph_objects as go

from core.export.figures import figure_html
from core.figures.theme import template


def example() -> bytes:
    figure = go.Figure(
        go.Bar(x=["قبل", "चाय", "他", "할"], y=[1, 2, 3, 4]), {"template": template("light")}
    )
    return figure_html(figure, "Caption <b> قبل", {"model": "a<b>&", "n": 3}, name="my figure")


def test_the_file_holds_figure_caption_and_provenance():
    page = example().decode("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "<title>my figure</title>" in page
    assert '<p dir="auto">Caption &lt;b&gt; قبل</p>' in page
    assert "<dt>model</dt><dd>a&lt;b&gt;&amp;</dd>" in page
    assert "<dt>n</dt><dd>3</dd>" in page
    assert '"filename": "my-figure"' in page
    assert '"showSendToCloud": false' in page


def test_nothing_is_loaded_from_elsewhere():
    page = example().decode("utf-8")
    outside = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.findall(r"(?:src|href)\s*=", outside)
    assert not re.findall(r"<script[^>]*\ssrc=", page)
    assert "url(" not in outside

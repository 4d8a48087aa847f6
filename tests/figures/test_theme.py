"""Colours that everybody can tell apart, in light and dark, and nothing left to a default."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from plotly import graph_objects as go

from core.figures.colours import (
    ANTI_STEREOTYPE,
    COLOURS,
    ENGLISH,
    NEGATIVE_POLE,
    POSITIVE_POLE,
    SHARED,
    STEREOTYPE,
    change_colours,
    condition_symbol,
    language_colour,
    score_colours,
)
from core.figures.theme import (
    BACKGROUND,
    chart_config,
    drawn,
    file_stem,
    plain,
    signed,
    template,
    themed,
)
from core.settings import ROOT

POLES = (STEREOTYPE, ANTI_STEREOTYPE, NEGATIVE_POLE, POSITIVE_POLE)

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
VISION = {
    "full": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour: str) -> np.ndarray:
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    return float(linear(colour) @ TO_XYZ[1])


def contrast(a: str, b: str) -> float:
    """Contrast ratio of WCAG 2."""
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def lab(colour: str, vision: str) -> np.ndarray:
    seen = np.clip(VISION[vision] @ linear(colour), 0, 1)
    x, y, z = TO_XYZ @ seen / np.array([0.9505, 1, 1.089])
    f = [np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("colour", [*COLOURS, ENGLISH, *POLES, SHARED])
def test_marks_stand_out_from_both_backgrounds(mode, colour):
    assert contrast(colour, BACKGROUND[mode]) >= 3


@pytest.mark.parametrize("vision", VISION)
def test_colours_stay_apart_for_everybody(vision):
    pairs = [*combinations((*COLOURS, ENGLISH), 2), POLES[:2], POLES[2:]]
    assert min(np.linalg.norm(lab(a, vision) - lab(b, vision)) for a, b in pairs) > 19


def test_a_language_has_one_colour_whatever_is_reworded_or_prefixed():
    assert language_colour("hi") == language_colour("hi~llm") == language_colour("hi+neutral")
    assert language_colour("en~p1") == ENGLISH
    shown = {language_colour(c) for c in ("en", "es", "fr", "zh", "ko", "ar", "hi", "sw", "nl")}
    assert len(shown) == 9
    assert condition_symbol("hi") == "circle"
    assert condition_symbol("hi~llm") == "diamond-open"


def test_other_languages_keep_their_mark_in_every_process():
    code = (
        "from core.figures.colours import *\n"
        "print(language_colour('de'), condition_symbol('de'), condition_symbol('ja'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    here = (language_colour("de"), condition_symbol("de"), condition_symbol("ja"))
    assert done.stdout.split() == list(here)
    assert "circle" not in here


def test_scales_are_pale_where_nothing_is_preferred():
    middle = [colour for place, colour in score_colours()["colorscale"] if place == 0.5]
    assert middle == ["#f7f7f7"]
    assert (score_colours()["cmin"] + score_colours()["cmax"]) / 2 == score_colours()["cmid"] == 0.5
    assert change_colours(0.2) | {"colorscale": None} == {
        "colorscale": None,
        "cmin": -0.2,
        "cmid": 0.0,
        "cmax": 0.2,
    }


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_template_leaves_no_colour_open(mode):
    layout = template(mode).layout
    assert contrast(layout.font.color, layout.paper_bgcolor) > 7
    assert layout.plot_bgcolor == layout.paper_bgcolor == BACKGROUND[mode]
    assert list(layout.colorway) == list(COLOURS)
    for axis in (layout.xaxis, layout.yaxis):
        assert axis.gridcolor
        assert axis.tickfont.color == layout.font.color
    assert "Noto Sans Arabic" in layout.font.family


def test_theming_leaves_the_figure_itself_alone():
    figure = drawn([go.Scatter(x=[1, 2], y=[3, 4])], {"title": {"text": "t"}})
    dark = themed(figure, "dark")
    assert dark.layout.template.layout.paper_bgcolor == BACKGROUND["dark"]
    assert figure.layout.template.layout.paper_bgcolor == BACKGROUND["light"]
    assert dark.data == figure.data


def test_a_figure_is_what_plotly_makes_of_the_same_parts():
    traces = [go.Bar(x=[1, None], y=["a", "b"], xaxis="x2"), go.Heatmap(z=[[1, 2]])]
    layout = {"xaxis2": {"range": (0, 1)}, "shapes": [{"x0": 1}], "meta": {"caption": "c"}}
    whole = go.Figure(traces, layout).update_layout(template=template("dark"))
    assert themed(drawn(traces, layout), "dark").to_dict() == whole.to_dict()


def test_a_property_that_does_not_exist_is_an_error():
    with pytest.raises(ValueError, match="colour"):
        drawn([], {"colour": "red"})


def test_charts_send_nothing_and_save_large_pictures():
    config = chart_config("a/b <c>", "png")
    assert config["showSendToCloud"] is False
    assert config["displaylogo"] is False
    assert config["toImageButtonOptions"] == {"format": "png", "filename": "a-b-c", "scale": 3}


@pytest.mark.parametrize(
    ("name", "stem"), [("../../etc", "etc"), ("", "figure"), ("…", "figure"), ("hi~p1", "hi-p1")]
)
def test_file_names_are_harmless(name, stem):
    assert file_stem(name) == stem


def test_small_texts():
    assert plain("<a>&") == "&lt;a&gt;&amp;"
    assert signed(-1.25, 1) == "\u22121.2"

"""Figures of axes: what is drawn equals what was handed in, with its n and what was left out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly
import pytest

from core.figures.colours import NEGATIVE_POLE, POSITIVE_POLE
from core.figures.heads.atlas import (
    LABELLED,
    NEAREST,
    atlas_scatter,
    label_places,
    narrow_style,
)
from core.figures.heads.positions import accuracy_lines
from core.figures.heads.profile import profile_bars
from core.figures.heads.references import two_references
from core.figures.heads.strip import MOST, Strip, outermost, projection_strip
from core.figures.theme import Figure, caption_of, saved_caption, themed


def sound(figure: Figure) -> None:
    """It has a template, a caption, and is drawn in both modes."""
    assert figure.layout.template.layout.font.color
    assert caption_of(figure)
    for mode in ("light", "dark"):
        plotly.io.to_json(themed(figure, mode), validate=True)


def strip_of(n: int, n_phrases: int = 20, **fields) -> Strip:
    rng = np.random.default_rng(0)
    value = rng.normal(size=n)
    concepts = pd.DataFrame(
        {
            "concept": [f"<b>group {i}</b>" for i in range(n)],
            "value": value,
            "low": value - 0.1,
            "high": value + 0.2,
            "label": [(1, -1, 0)[i % 3] for i in range(n)],
        }
    )
    phrases = rng.normal(size=n_phrases)
    reference = pd.DataFrame(
        {"phrase": [f"phrase {i}" for i in range(n_phrases)], "value": phrases}
    )
    usual = {"negative": "cold", "positive": "warm", "heads": "all 9 heads", "said": "It is so."}
    return Strip(concepts=concepts, reference=reference, **(usual | fields))


def test_the_strip_has_every_value_in_order_with_its_interval_and_label() -> None:
    strip = strip_of(30)
    figure = projection_strip(strip)
    sound(figure)
    cloud, *marks = figure.data
    assert sorted(cloud.x) == pytest.approx(sorted(strip.reference["value"]))
    drawn = sorted((y, x) for mark in marks for x, y in zip(mark.x, mark.y, strict=True))
    assert [x for _, x in drawn] == pytest.approx(sorted(strip.concepts["value"]))
    assert all(np.allclose(m.error_x.array, 0.2) for m in marks)
    assert all(np.allclose(m.error_x.arrayminus, 0.1) for m in marks)
    colours = {mark.marker.symbol: mark.marker.color for mark in marks}
    assert colours["triangle-right"] == POSITIVE_POLE
    assert colours["triangle-left"] == NEGATIVE_POLE
    assert [note.text for note in figure.layout.annotations] == ["<b>← cold</b>", "<b>warm →</b>"]
    assert all("&lt;b&gt;" in text for text in figure.layout.yaxis.ticktext)
    band = figure.layout.shapes[0]
    assert (band.x0, band.x1) == pytest.approx(
        np.quantile(strip.reference["value"], [0.05, 0.95]).tolist()
    )
    assert "It is so." not in caption_of(figure)
    assert saved_caption(figure).endswith("It is so.")


@pytest.mark.parametrize("n", [0, 1, 2])
def test_a_strip_of_hardly_anything_is_drawn(n: int) -> None:
    figure = projection_strip(strip_of(n, n_phrases=0))
    sound(figure)
    assert "just any phrase spreads is not known" in caption_of(figure)
    assert sum(len(trace.x) for trace in figure.data) == n


def test_what_the_strip_leaves_out_is_counted() -> None:
    strip = strip_of(MOST + 50)
    strip.concepts.loc[:9, "value"] = np.nan
    figure = projection_strip(strip)
    assert sum(len(mark.x) for mark in figure.data[1:]) == MOST
    said = caption_of(figure)
    assert f"Showing {MOST} of {MOST + 50} (the {MOST} outermost, 10 without a value)" in said
    values = strip.concepts["value"].dropna().sort_values()
    kept = outermost(strip.concepts.dropna().sort_values("value"), MOST)["value"]
    assert kept.tolist() == [*values[: MOST // 2], *values[-MOST // 2 :]]


def rows_of_axes() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "axis_id": list("abcd"),
            "axis": [f"axis {name}" for name in "abcd"],
            "statistic": [0.8, 0.6, 0.1, np.nan],
            "flagged": pd.array([True, True, False, None], dtype="boolean"),
            "statistic_other": [0.7, 0.2, 0.1, 0.3],
            "flagged_other": pd.array([True, False, False, False], dtype="boolean"),
        }
    )


def test_two_references_tell_axes_by_how_many_flag_them() -> None:
    figure = two_references(rows_of_axes(), first="any", second="people", chosen="b", said="So.")
    sound(figure)
    ring, *groups = figure.data
    assert (ring.x[0], ring.y[0]) == (0.6, 0.2)
    assert [[point[0] for point in group.customdata] for group in groups] == [["a"], ["b"], ["c"]]
    assert "Showing 3 of 4" in caption_of(figure)
    assert figure.layout.xaxis.title.text == "KS D against any"


def test_layers_have_a_bar_for_either_pooling() -> None:
    rows = pd.DataFrame(
        {"pooling": ["mean"] * 3 + ["last"] * 3, "layer": [0, 1, 2] * 2, "n_heads": range(6)}
    )
    figure = profile_bars(rows, expected=1.5, what="an axis")
    sound(figure)
    assert [list(bars.y) for bars in figure.data] == [[0, 1, 2], [3, 4, 5]]
    assert figure.layout.shapes[0].y0 == 1.5


def test_accuracy_stands_beside_guessing_and_undefined_is_said() -> None:
    rows = pd.DataFrame(
        {
            "dimension": ["warmth"] * 2 + ["competence"] * 2,
            "k": [1, 2] * 2,
            "accuracy": [0.5, 0.7, np.nan, np.nan],
            "accuracy_sd": [0.1, np.nan, np.nan, np.nan],
            "balanced_accuracy": [0.5, 0.6, np.nan, np.nan],
            "auc": 0.6,
            "majority": [0.68, 0.68, np.nan, np.nan],
            "pvalue": 0.2,
            "n_axes": 3,
            "n_groups": 25,
            "reason": ["", "", "no label", "no label"],
        }
    )
    figure = accuracy_lines(rows, chosen=2, centre="mean of groups and phrases")
    sound(figure)
    measured, _, guessing = figure.data
    assert (list(measured.y), list(guessing.y)) == ([0.5, 0.7], [0.68, 0.68])
    assert list(measured.error_y.array) == [0.1, None]  # undefined is no bar of length zero
    said = caption_of(figure)
    assert "Competence is undefined: no label." in said
    assert "Centre: mean of groups and phrases. p is not adjusted over k and settings." in said


def test_ticks_of_numbers_of_heads_that_would_overlap_give_way_to_the_largest() -> None:
    ks = [1, 2, 4, 8, 16, 32, 64, 128, 256, 270]
    rows = pd.DataFrame(
        {
            "dimension": "warmth", "k": ks, "accuracy": 0.6, "accuracy_sd": 0.1,
            "majority": 0.5, "balanced_accuracy": 0.6, "auc": 0.6, "pvalue": 0.2,
            "n_axes": 3, "n_groups": 25, "reason": "",
        }
    )  # fmt: skip
    figure = accuracy_lines(rows)
    assert "sd of 3 axes" in figure.data[0].name
    assert "sd of 1 axis (" in accuracy_lines(rows.assign(n_axes=1)).data[0].name
    assert list(figure.layout.xaxis.tickvals) == [*ks[:-2], 270]
    assert list(figure.data[0].x) == ks  # every number is drawn


def points(n: int) -> pd.DataFrame:
    x, y = np.random.default_rng(1).normal(size=(2, n))
    words = [f"words of {i}" for i in range(n)]
    return pd.DataFrame(
        {"key": [f"k{i}" for i in range(n)], "words": words, "x": x, "y": y, "d": 0.5}
    )


@pytest.mark.parametrize("n", [1, 2, 3, 200])
def test_the_atlas_draws_every_point_and_names_only_some(n: int) -> None:
    rows = points(n)
    names = ("one", "two")
    figure = atlas_scatter(
        rows, colour="d", colour_name="D", axis_names=names, said="Points.", chosen="k0"
    )
    sound(figure)
    assert list(figure.data[0].x) == rows["x"].tolist()
    assert figure.data[-1].name == "open: words of 0"
    labels = label_places(rows, "k0")
    placed = [i for i, place in enumerate(labels.places) if place]
    assert 0 < len(placed) <= LABELLED
    assert label_places(rows.head(0)).places == []
    # A narrow screen shows the first words of their trace: those that have room there.
    drawn_words = next(trace for trace in figure.data if trace.mode == "markers+text")
    assert len(drawn_words.text) == len(placed)
    assert list(drawn_words.text[: len(labels.narrow)]) == [f"words of {i}" for i in labels.narrow]
    hidden = f".here .textpoint:nth-child(n+{len(labels.narrow) + 1})"
    assert hidden in narrow_style(figure, ".here")


@pytest.mark.parametrize("chosen", ["k3", "k199", "none"])
def test_words_on_a_narrow_screen_are_of_the_open_point_and_its_neighbours(chosen: str) -> None:
    rows = points(200)
    labels = label_places(rows, chosen)
    assert set(labels.narrow) <= {i for i, place in enumerate(labels.places) if place}
    assert len(labels.narrow) <= NEAREST
    if chosen == "none":
        assert set(labels.narrow) <= set(range(NEAREST))
        return
    at = rows.loc[rows["key"] == chosen].iloc[0]
    away = np.hypot(
        (rows["x"] - at["x"]) / np.ptp(rows["x"]) * 700,
        (rows["y"] - at["y"]) / np.ptp(rows["y"]) * 480,
    )
    assert set(labels.narrow) <= set(np.argsort(away)[:NEAREST])


@pytest.mark.parametrize("width", [225.0, 700.0])
def test_no_words_leave_the_plot_or_cover_another(width: float) -> None:
    rows = points(60).assign(words=[f"a pair of rather long words {i}" for i in range(60)])
    labels = label_places(rows, "k5")
    shown = labels.narrow if width < 300 else [i for i, p in enumerate(labels.places) if p]
    boxes = []
    for i in shown:
        text = 6.3 * len(rows["words"][i])
        low, high = (rows["x"].min(), rows["x"].max())
        x = (rows["x"][i] - low + 0.16 * (high - low)) / (1.32 * (high - low)) * width
        y = (rows["y"][i] - rows["y"].min()) / np.ptp(rows["y"]) / 1.32 * 480
        side = {"middle right": 7, "middle left": -7 - text}.get(labels.places[i], -text / 2)
        up = {"top center": 12, "bottom center": -12}.get(labels.places[i], 0)
        boxes.append((x + side, x + side + text, y + up))
        assert x + side >= 0 and x + side + text <= width
    for n, (left, right, y) in enumerate(boxes):
        for other_left, other_right, other_y in boxes[:n]:
            assert left > other_right or right < other_left or abs(y - other_y) >= 14


def test_points_at_one_place_and_texts_as_colours() -> None:
    rows = points(4).assign(x=1.0, y=1.0, group=["a", "a", "b", ""])
    figure = atlas_scatter(
        rows, colour="group", colour_name="", axis_names=("x", "y"), said="All the same."
    )
    sound(figure)
    named = [trace.name for trace in figure.data if trace.name]
    assert named == ["none (n = 1)", "a (n = 2)", "b (n = 1)"]
    low, high = figure.layout.xaxis.range
    assert low < 1 < high

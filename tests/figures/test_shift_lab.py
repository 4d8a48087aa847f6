"""Figures of the shift lab: what is drawn equals the tables, band and caption are there."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import plotly
import pytest

from core.analysis.audit.arms import arms
from core.analysis.audit.control import control
from core.analysis.audit.lab import make_lab
from core.analysis.audit.lab_plan import Change, needed, runs
from core.analysis.audit.lab_shift import Shift, inject
from core.analysis.audit.names import MODEL
from core.analysis.audit.request import AuditRequest
from core.figures.detection import detection_curves, items_for_shifts
from core.figures.shift import before_and_after
from core.figures.shift_lab import control_arms, drops_with_errors
from core.figures.theme import Figure, caption_of, themed
from tests.made_panels import made_panel

REQUEST = AuditRequest(dataset="made", n_resamples=200, n_bootstrap=200)


@pytest.fixture(scope="module")
def panel():
    rng = np.random.default_rng(0)
    base = rng.uniform(0.3, 0.7, (3, 30))
    moved = {"en": 0, "en~p1": 0, "en~p2": 0, "en+true": 0.05, "en+neutral": 0}
    return made_panel({c: base + x + rng.normal(0, 0.03, base.shape) for c, x in moved.items()})


@pytest.fixture(scope="module")
def lab(panel):
    return make_lab(panel, REQUEST)


def sound(figure: Figure) -> None:
    """It has a template, a caption, and is drawn in both modes."""
    assert figure.layout.template.layout.font.color
    assert caption_of(figure)
    for mode in ("light", "dark"):
        plotly.io.to_json(themed(figure, mode), validate=True)


def test_before_and_after_are_the_numbers_of_the_pair(lab) -> None:
    found = inject(lab, Shift(delta=0.3), 0.02)
    figure = before_and_after(found.shown, found.items, found.sentence)
    sound(figure)
    before, items, after, _ = figure.data
    assert (before.x[0], after.x[0]) == (found.shown["mean_before"], found.shown["mean"])
    assert after.x[0] + after.error_x.array[0] == pytest.approx(found.shown["high"])
    assert after.x[0] - after.error_x.arrayminus[0] == pytest.approx(found.shown["low"])
    assert list(items.x) == found.items["before"].tolist()
    assert figure.layout.shapes[0].x1 == found.shown["floor"]
    assert found.sentence in caption_of(figure)
    low, high = figure.layout.xaxis.range
    assert low < found.shown["low"] < found.shown["high"] < high


def test_without_an_interval_or_a_floor_it_is_drawn_and_says_so(lab) -> None:
    found = inject(lab, Shift(), 0.02)
    shown = found.shown | dict.fromkeys(("low", "high", "low_before", "high_before"), math.nan)
    figure = before_and_after(shown | {"floor": math.nan}, found.items, "")
    sound(figure)
    assert not figure.layout.shapes
    assert "no noise band" in caption_of(figure)


def test_curves_are_the_points_and_count_their_runs(lab) -> None:
    points = next(runs(lab, Shift(delta=0.2))).rows
    figure = detection_curves(points, 0.031, n_wanted=200, seed=7)
    sound(figure)
    for trace, column in zip(
        figure.data, ("detection", "flags_among_rest", "exaggeration"), strict=True
    ):
        assert list(trace.x) == points["shift"].tolist()
        np.testing.assert_array_equal(np.array(trace.y, float), points[column])
    assert "2 of 200 runs of each size" in caption_of(figure)
    assert "seed 7" in caption_of(figure)
    assert figure.layout.shapes[0].x0 == 0.031
    assert not detection_curves(points, 0.0, n_wanted=200, seed=7).layout.shapes


def test_items_needed_have_a_line_for_each_kind_of_change() -> None:
    table = needed(
        [Change("en~p1 <b>", 30, 0.1, 0.02), Change("pooled", 30, 0.2, 0.02)], [0.02, 0.01]
    ).rows
    figure = items_for_shifts(table)
    sound(figure)
    assert list(figure.data[0].x) == [0.01, 0.02]
    assert figure.data[0].name == "en~p1 &lt;b&gt; (n = 30)"
    assert list(figure.data[1].y) == table["items_needed"].tolist()[:1:-1]


def test_drops_stand_side_by_side_by_language() -> None:
    rows = pd.DataFrame(
        [
            {"pipeline": p, "condition": c, "drop": d, "drop_low": d - 0.02,
             "drop_high": d + 0.01, "n_items": 9, "n_affected": 3, "n_reliable": 1,
             "n_reliable_rise": 0, "n_cells": 2}
            for p, c, d in (("right", "es", 0.02), ("right", "hi", 0.04), ("wrong", "es", -0.01),
                            ("wrong", "hi", math.nan))
        ]
    )  # fmt: skip
    figure = drops_with_errors(rows, {"right": "right pipeline", "wrong": "wrong"}, 0.01)
    sound(figure)
    assert [list(trace.y) for trace in figure.data] == [[-0.11, 0.89], [0.11, 1.11]]
    assert list(figure.data[0].error_x.array) == pytest.approx([0.01, 0.01])
    assert list(figure.data[0].error_x.arrayminus) == pytest.approx([0.02, 0.02])
    assert list(figure.data[0].x) == [0.02, 0.04]
    assert figure.data[0].customdata[0][0] == "right"
    assert figure.layout.shapes[0].x0 == -0.01


def test_arms_show_every_model_and_the_mean_with_its_interval(panel) -> None:
    table = control(panel, REQUEST)
    reads = arms(table)
    single = table.rows[table.rows["unit"] == MODEL]
    figure = control_arms(single, reads, 0.01)
    sound(figure)
    models, means = figure.data
    assert list(models.x) == single["mean_change"].tolist()
    assert list(means.x) == reads["mean_change"].tolist()
    assert means.x[0] + means.error_x.array[0] == pytest.approx(reads["high"].iloc[0])
    assert models.customdata[0][0] == single["scorer_id"].iloc[0]

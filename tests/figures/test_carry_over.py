"""The figures of the Carry-over page, read back from their JSON."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from core.analysis.audit.carry_over import association
from core.analysis.audit.choices import fates
from core.analysis.audit.kept import CAUTION
from core.analysis.audit.points import MEAN, ceiling_line, fitted_line, points
from core.analysis.audit.request import AuditRequest
from core.figures.carry_over import carry_scatter
from core.figures.colours import ANTI_STEREOTYPE, STEREOTYPE, language_colour
from core.figures.fates import fate_bars
from core.figures.slopes import slope_dots
from core.figures.theme import caption_of, saved_caption
from tests.audit.test_points import REQUEST, M, N, made
from tests.made_panels import made_panel


def drawn(figure):
    assert figure.layout.template.layout.colorway
    return json.loads(figure.to_json())


def traces(figure):
    return {trace.get("name"): trace for trace in drawn(figure)["data"]}


def scatter(panel, condition="hi", request=REQUEST, **options):
    asked = {name: options[name] for name in ("of", "passing") if name in options}
    rows = association(panel, request).rows
    found = points(panel, request, condition, most=options.pop("most", 2000), **asked)
    fitted = fitted_line(rows, condition, **asked)
    ceiling = ceiling_line(rows, condition, of=asked.get("of", ""))
    return carry_scatter(found, fitted, ceiling, **options), found, fitted, ceiling


def test_points_carry_their_item_first_and_lines_none():
    figure, found, _, _ = scatter(made(hi=0.3))
    dots = traces(figure)[f"points (n = {found.n})"]
    assert dots["customdata"] == found.rows[["item_id", "scorer_id"]].to_numpy().tolist()
    assert dots["x"] == found.rows["before"].tolist()
    assert dots["y"] == found.rows["after"].tolist()
    assert dots["marker"]["color"] == language_colour("hi")
    others = [t for t in drawn(figure)["data"] if t["name"] != dots["name"]]
    assert len(others) == 4
    assert all("customdata" not in trace for trace in others)


def test_lines_are_those_of_the_table():
    figure, _, fitted, ceiling = scatter(made(hi=0.3))
    for start, line in (("fitted", fitted), ("rewording: slope", ceiling)):
        (trace,) = [t for name, t in traces(figure).items() if name.startswith(start)]
        (x0, x1), (y0, y1) = trace["x"], trace["y"]
        assert (y1 - y0) / (x1 - x0) == pytest.approx(line.slope)
        assert y0 + line.slope * (0.5 - x0) == pytest.approx(line.at_neutral)
    identity = traces(figure)["kept in full (slope 1)"]
    assert identity["x"] == pytest.approx(identity["y"])


def test_the_caption_says_n_noise_line_ceiling_and_what_it_does_not_show():
    figure, found, fitted, ceiling = scatter(made(hi=0.3), dataset="d")
    caption = caption_of(figure)
    assert f"English and Hindi, data set d: each point is one score {''}" in caption
    assert f"{M * N - 1} points of {N} items" in caption
    assert f"±{found.noise:.3f} (sd, n = {found.n_noise} changes)" in caption
    assert f"least squares over {fitted.n_rows} scores of {fitted.n_items} items" in caption
    assert f"({ceiling.n_items} items): the ceiling" in caption
    assert CAUTION not in caption  # the page says it once
    assert saved_caption(figure) == f"{caption} {CAUTION}"


def test_a_sample_and_a_filter_are_named():
    figure, _, _, _ = scatter(made(hi=0.3), most=20, passing="judged preserved")
    assert f"points (showing 20 of {M * N // 2})" in traces(figure)
    assert f"Showing 20 of {M * N // 2}, drawn by the seed." in caption_of(figure)
    assert f"judged preserved; {M * N // 2 - 1} points are left out" in caption_of(figure)
    assert "Fitted line (judged preserved)" in caption_of(figure)


def test_means_say_that_the_line_is_of_single_scores():
    figure, _, _, _ = scatter(made(hi=0.3), of=MEAN)
    assert "line of the single scores, not of their means" in caption_of(figure)


def test_dragging_draws_or_a_click_takes():
    assert scatter(made(hi=0.3))[0].layout.dragmode == "pan"
    assert scatter(made(hi=0.3), drawing=True)[0].layout.dragmode == "lasso"


def test_without_rewording_there_is_no_band_and_no_ceiling():
    panel = made_panel({"en": [[0.2, 0.5, 0.9, 0.4]], "hi": [[0.3, 0.5, 0.6, 0.4]]})
    figure, _, _, _ = scatter(panel)
    assert len(figure.data) == 3
    assert "No rewording is scored" in caption_of(figure)


def test_two_items_have_points_and_no_line():
    figure, _, _, _ = scatter(made_panel({"en": [[0.2, 0.5]], "hi": [[0.3, 0.5]]}))
    assert [trace.mode for trace in figure.data] == ["lines", "markers"]
    assert "There is no fitted line." in caption_of(figure)


def test_standardised_scores_are_drawn_around_zero():
    request = AuditRequest(dataset="made", n_bootstrap=50, kind="standardised")
    figure, found, _, _ = scatter(made(hi=0.3), request=request, neutral=0.0)
    low, high = figure.layout.xaxis.range
    assert low == -high
    assert np.abs(found.rows[["before", "after"]].to_numpy()).max() < high
    assert [shape.x0 for shape in figure.layout.shapes] == [0.0, low]


def test_slopes_stand_beside_the_band_of_rewording():
    rows = association(made(hi=0.3, es=0.4), REQUEST).rows
    whole = rows[rows["group_kind"] == "all"]
    figure = slope_dots(whole, dataset="d")
    dots = traces(figure)["slope, 95 % interval over items"]
    languages = whole[whole["condition"] != "rewording"]
    assert dots["x"] == languages["slope"].tolist()
    assert [row[0] for row in dots["customdata"]] == ["es", "hi"]
    assert figure.layout.yaxis.ticktext == ("Spanish (n = 40)", "Hindi (n = 40)")
    band = figure.data[0]
    ceiling = whole[whole["condition"] == "rewording"].iloc[0]
    assert (min(band.x), max(band.x)) == (ceiling["slope_low"], ceiling["slope_high"])
    assert "slopes of 2 languages" in caption_of(figure)


def test_slopes_that_are_undefined_are_named():
    rows = association(made_panel({"en": [[0.2, 0.5]], "hi": [[0.3, 0.5]]}), REQUEST).rows
    figure = slope_dots(rows[rows["group_kind"] == "all"])
    assert "No slope: hi." in caption_of(figure)
    assert "the ceiling is unknown" in caption_of(figure)


def test_fates_are_coloured_by_the_side_they_end_on():
    rows = fates(made(hi=0.3), REQUEST).rows
    shown = rows[~rows["condition"].str.contains("~")]
    figure = fate_bars(shown)
    bars = [t for t in drawn(figure)["data"] if t.get("customdata")]
    assert [bar["name"] for bar in bars] == ["kept", "neutral", "reversed"] * 2
    assert bars[0]["marker"]["color"] == bars[5]["marker"]["color"] == STEREOTYPE
    assert bars[2]["marker"]["color"] == bars[3]["marker"]["color"] == ANTI_STEREOTYPE
    for bar, column in zip(bars[:3], ("kept", "neutral", "reversed"), strict=True):
        assert bar["x"] == shown[f"share_{column}"].tolist()[::-1]
        assert [row[1] for row in bar["customdata"]] == shown[column].tolist()[::-1]
    assert "carry no interval" in caption_of(figure)


def test_fates_name_the_original_of_every_bar():
    numbers = {c: [3.0, 3.0] for c in ("n", "n_above", "n_below")}
    shares = {
        f"{f}{side}": [1, 1] for f in ("kept", "neutral", "reversed") for side in ("", "_below")
    }
    shares |= {f"share_{name}": [0.3, 0.3] for name in shares}
    rows = pd.DataFrame({"condition": ["hi", "hi~llm"], **numbers, **shares})
    shown = drawn(fate_bars(rows))
    labels = {label for bar in shown["data"] for label in bar["y"] if label}
    assert any("from Hindi" in label for label in labels)
    assert any("from" not in label for label in labels)
    titles = [a["text"] for a in shown["layout"]["annotations"]]
    assert titles == ["above 0.55 in the original", "below 0.45 in the original"]
    english = drawn(fate_bars(rows[rows["condition"] == "hi"]))["layout"]["annotations"]
    assert english[0]["text"] == "above 0.55 in English"

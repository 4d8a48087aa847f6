"""Figures of the Noise floor page, read back: every number is a column of the table behind it."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from core.analysis.audit.distributions import distributions
from core.analysis.audit.floor_vs_gap import floor_vs_gap
from core.analysis.audit.floors import floors
from core.analysis.audit.request import AuditRequest
from core.analysis.audit.wording_variance import wording_variance
from core.analysis.audit.words import p_words
from core.figures.colours import language_colour
from core.figures.item_changes import distribution_figure
from core.figures.noise_floor import floor_figure, gap_figure
from core.figures.theme import caption_of
from core.figures.wording import wording_figure
from tests.made_panels import made_panel

REQUEST = AuditRequest(dataset="made", n_resamples=200, n_bootstrap=200)
NAMES = {"s0": "a<b>", "s1": "second"}
WORDS = {"score": "score (mean)", "origin": "made"}
CONDITIONS = ("en", "en~p1", "en~p2", "en~p3", "en~llm", "es", "hi", "hi~p1")


def panel(models: int = 2, items: int = 40, conditions=CONDITIONS):
    rng = np.random.default_rng(3)
    item = rng.uniform(0.4, 0.6, items)
    moved = {"hi": -0.2, "en~p1": 0.08}
    scores = {c: item + moved.get(c, 0) + rng.normal(0, 0.05, (models, items)) for c in conditions}
    if "en~llm" in scores:
        scores["en~llm"][:, 20:] = np.nan
    return made_panel(scores)


def drawn(figure) -> dict:
    return json.loads(figure.to_json())


def traces(figure) -> dict[str, dict]:
    return {trace.get("name", str(i)): trace for i, trace in enumerate(drawn(figure)["data"])}


def english(table: pd.DataFrame) -> pd.DataFrame:
    return table[(table["original"] == "en") & (table["subset"] == "")]


def test_each_rewording_stands_beside_its_pure_noise():
    table = floors(panel(), REQUEST).rows
    rows = english(table)
    figure = floor_figure(table[table["original"] == "en"], NAMES, **WORDS)
    shown = traces(figure)
    assert shown["expected of pure noise"]["x"] == rows["expected_noise"].tolist()
    for condition, part in rows.groupby("condition"):
        name = condition + (", partial" if condition == "en~llm" else "")
        trace = shown[name]
        assert trace["x"] == part["abs_mean_change"].tolist()
        assert len(set(trace["y"])) == 2  # one lane under each model
        opened = [symbol.endswith("-open") for symbol in trace["marker"]["symbol"]]
        assert opened == (~part["full_coverage"]).tolist()
        first = part.iloc[0]
        assert trace["customdata"][0][:3] == [f"s0|{condition}", "a&lt;b&gt;", condition]
        assert f"n = {first['n']}" in trace["customdata"][0][3]
        assert p_words("q", first["qvalue"]) in trace["customdata"][0][3]
    found = rows[rows["qvalue"] < 0.05]
    assert shown["q < .05"]["x"] == found["abs_mean_change"].tolist()
    assert drawn(figure)["layout"]["yaxis"]["ticktext"] == ["a&lt;b&gt;", "second"]
    caption = caption_of(figure)
    assert "rewording of English" in caption
    assert "2 models, data set made (n = 20 to 40 items)" in caption
    assert f"Ring: q < .05, {len(found)} of 8" in caption


def test_of_one_model_the_lanes_are_named_at_the_axis():
    table = floors(panel(models=1), REQUEST).rows
    figure = floor_figure(table[table["original"] == "hi"], NAMES, **WORDS)
    assert drawn(figure)["layout"]["yaxis"]["ticktext"] == ["hi~p1"]
    assert "rewording of hi" in caption_of(figure)
    assert traces(figure)["hi~p1"]["marker"]["color"] == language_colour("hi")
    assert traces(figure)["hi~p1"]["showlegend"] is False


def test_gaps_are_drawn_with_their_interval_and_filled_above_the_floor():
    table = floor_vs_gap(panel(), REQUEST).rows
    figure = gap_figure(table, NAMES, **WORDS)
    languages = table[table["unit"] == "language"]
    trace = traces(figure)["language, mean over models"]
    assert trace["x"] == pytest.approx(languages["difference"].tolist())
    high = np.array(trace["x"]) + trace["error_x"]["array"]
    low = np.array(trace["x"]) - trace["error_x"]["arrayminus"]
    assert high == pytest.approx(languages["difference_high"].to_numpy(float))
    assert low == pytest.approx(languages["difference_low"].to_numpy(float))
    assert trace["marker"]["color"] == [language_colour("es"), language_colour("hi")]
    filled = [s == "circle" for s in trace["marker"]["symbol"]]
    assert filled == languages["above"].tolist() == [False, True]
    assert [row[0] for row in trace["customdata"]] == ["es", "hi"]
    assert f"gap {languages['gap'].iloc[0]:.4f}" in trace["customdata"][0][2]
    assert len(traces(figure)["model, mean over languages"]["x"]) == 2
    assert drawn(figure)["layout"]["yaxis"]["ticktext"] == ["a&lt;b&gt;", "second", "es", "hi"]
    assert "Bias-corrected 95 % intervals" in caption_of(figure)


def test_a_gap_without_a_floor_is_a_dash_with_its_reason():
    table = floor_vs_gap(panel(conditions=("en", "es")), REQUEST).rows
    shown = traces(gap_figure(table, NAMES, **WORDS))
    assert list(shown) == ["gap alone; the floor is not known"]
    (trace,) = shown.values()
    assert trace["text"] == ["–"] * 3
    assert trace["customdata"][2][:2] == ["es", "es"]
    assert trace["customdata"][2][2] == table["reason"].iloc[2] != ""


@pytest.mark.parametrize("with_interval", [True, False])
def test_languages_lie_on_what_one_more_rewording_would_do(with_interval):
    table = wording_variance(panel(), REQUEST).rows
    mine = table[table["scorer_id"] == ""]
    languages = mine[mine["unit"] == "language"]
    if with_interval:
        ends = languages["mean_change"]
        languages = languages.assign(change_low=ends - 0.01, change_high=ends + 0.02)
    row = mine[(mine["unit"] == "rewordings") & (mine["original"] == "en")].iloc[0].to_dict()
    means = pd.DataFrame({"condition": ["en~p1"], "mean_change": [0.08], "n": [40]})
    figure = wording_figure(languages, means, row, who="over 2 models", **WORDS)
    shown = traces(figure)
    band = shown["one more rewording, 95 % prediction interval"]
    bounds = [row["prediction_low"], *languages["prediction_low"]]
    assert band["base"] == pytest.approx(bounds)
    width = [row["prediction_high"], *languages["prediction_high"]]
    assert np.add(band["base"], band["x"]) == pytest.approx(width)
    assert shown["language"]["x"] == languages["mean_change"].tolist()
    filled = [symbol == "circle" for symbol in shown["language"]["marker"]["symbol"]]
    assert filled == languages["outside"].tolist()
    p = languages["pvalue_exchange"].iloc[0]
    assert f"exchange: {p_words('p', p)}" in shown["language"]["customdata"][0][1]
    assert shown["rewording of English"]["x"] == [0.08]
    assert "over 2 models, data set made" in caption_of(figure)
    assert "t with 2 degrees of freedom, 3 rewordings, n = 40 items" in caption_of(figure)
    assert ("error_x" in shown["language"]) is with_interval
    assert ("Whiskers: 95 % intervals" in caption_of(figure)) is with_interval


def test_item_changes_have_curve_quantiles_sd_and_n():
    found = distributions(panel(), REQUEST)
    rows = found.table.rows
    figure = distribution_figure(rows, found.curves, who="side by side", **WORDS)
    layout = drawn(figure)["layout"]
    assert len(layout["yaxis"]["ticktext"]) == len(rows) == 7
    first = rows.iloc[0]
    assert layout["yaxis"]["ticktext"][0] == (
        f"<b>{first['condition']}</b><br>sd {first['sd']:.3f}, n {first['n']}"
    )
    parts = drawn(figure)["data"]
    assert len(parts) == len(rows) + 3  # curves, two kinds of lines, marks
    wide, half, marks = parts[-3:]
    for place, row in enumerate(rows.to_dict("records")):
        curve = parts[place]
        assert curve["line"]["dash"] == ("dot" if "~" in row["condition"] else "solid")
        assert min(curve["y"]) >= place - 0.75
        assert wide["x"][3 * place : 3 * place + 3] == [row["q05"], row["q95"], None]
        assert half["x"][3 * place : 3 * place + 3] == [row["q25"], row["q75"], None]
        here = slice(2 * place, 2 * place + 2)
        assert marks["x"][here] == [row["q50"], row["mean_change"]]
        assert marks["marker"]["color"][here] == [language_colour(row["condition"])] * 2
        assert marks["customdata"][here][0][0] == row["condition"]
        assert (
            f"n = {row['n']} changes of {row['n_items']} items" in marks["customdata"][here][0][1]
        )
    assert "side by side, data set made" in caption_of(figure)


def test_conditions_without_a_curve_keep_their_marks():
    scores = np.full((1, 5), 0.4)
    scores_es = scores.copy()
    scores_es[0, 1:] = math.nan
    found = distributions(made_panel({"en": scores, "es": scores_es, "hi": scores}), REQUEST)
    figure = distribution_figure(found.table.rows, found.curves, who="m", **WORDS)
    assert drawn(figure)["layout"]["yaxis"]["ticktext"] == [
        "<b>es</b><br>sd –, n 1",
        "<b>hi</b><br>sd 0.000, n 5",
    ]


def test_every_figure_has_a_template_of_its_own():
    made = panel()
    rows = floors(made, REQUEST).rows
    found = distributions(made, REQUEST)
    for figure in (
        floor_figure(rows[rows["original"] == "en"], NAMES, **WORDS),
        gap_figure(floor_vs_gap(made, REQUEST).rows, NAMES, **WORDS),
        distribution_figure(found.table.rows, found.curves, who="m", **WORDS),
    ):
        assert figure.layout.template.layout.paper_bgcolor == "#ffffff"
        assert figure.layout.height > 100

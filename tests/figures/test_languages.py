"""Figures of the Languages page, read back from their JSON."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.figures.cells import LEAST_LIMIT, change_map, score_heatmap
from core.figures.colours import ENGLISH, EVIDENCE, language_colour
from core.figures.drop_rows import Yardstick, interval
from core.figures.item_groups import group_plot
from core.figures.languages import drop_plot
from core.figures.score_kinds import MARKS, kinds_plot
from core.figures.specifications import specification_curve
from core.figures.theme import BACKGROUND, caption_of

NAN = math.nan
BESIDE = Yardstick(floor=0.01, n_models=3, margin=0.02)
WORDS = {"mean": "mean per token", "summed": "summed over tokens"}


def main_rows(n_models: int = 3, **changes: Any) -> pd.DataFrame:
    """Rows of `main` for Hindi, Swahili and a language without a drop."""
    rows = pd.DataFrame(
        {
            "condition": ["hi", "sw", "fr"],
            "drop": [0.03, -0.001, NAN],
            "drop_low": [0.02, -0.004, NAN],
            "drop_high": [0.04, 0.002, NAN],
            "drop_items": [0.031, -0.001, NAN],
            "drop_items_low": [0.01, -0.02, NAN],
            "drop_items_high": [0.05, 0.018, NAN],
            "n_items": pd.array([40, 38, 0], "Int64"),
            "n_models": pd.array([n_models, n_models, 0], "Int64"),
            "reason": ["", "", "No item <b> is scored."],
        }
    )
    return rows.assign(**changes)


def verdicts() -> pd.DataFrame:
    return pd.DataFrame(
        {"condition": ["hi", "sw", "fr"], "reads": ["shift", "undecided", "undefined"]}
    )


def item_tests(**changes: Any) -> pd.DataFrame:
    """Rows of `item_tests` by source."""
    rows = pd.DataFrame(
        {
            "condition": ["hi", "pooled", "hi"],
            "group_kind": "source",
            "group": ["bbq", "bbq", "a<b"],
            "t": [0.03, 0.01, NAN],
            "t_low": [0.01, -0.01, NAN],
            "t_high": [0.05, 0.03, NAN],
            "qvalue": [0.01, 0.3, NAN],
            "n": [20, 20, 0],
            "n_models": 3,
            "reason": ["", "", "Nothing here."],
        }
    )
    return rows.assign(**changes)


def cells(n_models: int = 2) -> pd.DataFrame:
    """Rows of `cells`: the last cell has no item."""
    n = 2 * n_models
    return pd.DataFrame(
        {
            "model": np.repeat([f"m{i}, float32" for i in range(n_models)], 2),
            "scorer_id": np.repeat([f"id{i}" for i in range(n_models)], 2),
            "condition": ["hi", "sw"] * n_models,
            "n": [40] * (n - 1) + [0],
            "mean_change": [-0.05] + [0.01] * (n - 2) + [NAN],
            "qvalue": [0.001] + [0.9] * (n - 2) + [NAN],
            "n_tests": n - 1,
            "reliable": pd.array([True] + [False] * (n - 2) + [pd.NA], "boolean"),
            "reliable_rise": pd.array([False] * (n - 1) + [pd.NA], "boolean"),
            "reason": [""] * (n - 1) + ["No item."],
        }
    )


def panel() -> pd.DataFrame:
    """Rows of `score_panel` for one language of every finding."""
    found = [("shift", 0.1), ("shift", -0.1), ("real but small", 0.01), ("real but small", -0.01)]
    found += [("equivalent", 0.0), ("undecided", 0.1), ("undefined", NAN)]
    codes = ["hi", "sw", "fr", "es", "nl", "ar", "zh"]
    rows = [
        {"condition": c, "kind": kind, "verdict": v, "t": t, "drop": t, "qvalue": 0.5, "n_t": 9}
        for c, (v, t) in zip(codes, found, strict=True)
        for kind in WORDS
    ]
    table = pd.DataFrame(rows).assign(reason="why")
    table["qvalue"] = table["qvalue"].where(table["t"].notna())
    table["depends_on_score"] = pd.array(table["condition"] == "hi", "boolean")
    return table


def specifications() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "condition": "hi",
            "choice": ["all", "bbq", "all", "all"],
            "kind": ["mean", "mean", "summed", "summed"],
            "items": "every model",
            "corrected": pd.array([True, True, False, False], "boolean"),
            "estimator": "mean",
            "main": pd.array([True, False, False, False], "boolean"),
            "n": [40, 20, 40, 0],
            "drop": [0.03, 0.02, 0.1, NAN],
            "z": [3.0, 1.0, -2.5, NAN],
            "qvalue": [0.01, 0.4, 0.04, NAN],
            "significant": pd.array([True, False, True, pd.NA], "boolean"),
        }
    )


def data(figure: Any) -> list[dict[str, Any]]:
    return json.loads(figure.to_json())["data"]


def named(figure: Any, name: str) -> list[dict[str, Any]]:
    return [trace for trace in data(figure) if trace["name"] == name]


def test_a_drop_has_its_dot_and_two_intervals_in_the_colour_of_its_language() -> None:
    figure = drop_plot(main_rows(), verdicts(), BESIDE)
    (dots,) = named(figure, "drops")
    assert (dots["x"], dots["y"]) == ([0.031, -0.001], [0, 1])
    assert dots["marker"]["color"] == [language_colour("hi"), language_colour("sw")]
    assert dots["customdata"][0][:2] == ["hi", "Hindi"]
    assert "[0.010, 0.050] over 40 items" in dots["customdata"][0][2]
    assert "mean of 3 models 0.0300 [0.020, 0.040]" in dots["customdata"][0][2]
    legend, *items = named(figure, "95 % over items")
    assert legend["line"]["color"] == ENGLISH
    assert [line["x"] for line in items] == [[0.01, 0.05, None], [-0.02, 0.018, None]]
    _, *models = named(figure, "95 % over models: their spread")
    assert [line["x"] for line in models] == [[0.02, 0.04, None], [-0.004, 0.002, None]]
    assert items[0]["line"]["width"] > models[0]["line"]["width"]


def test_a_language_without_a_drop_is_a_dash_with_its_reason() -> None:
    figure = drop_plot(main_rows(), verdicts(), BESIDE)
    (dash,) = named(figure, "undefined")
    assert (dash["text"], dash["y"], dash["xaxis"]) == (["– undefined"], [2], "x2")
    assert dash["customdata"] == [["fr", "No item &lt;b&gt; is scored."]]
    assert figure.layout.yaxis.ticktext == ("Hindi (40)", "Swahili (38)", "French (0)")


def test_the_band_is_the_floor_and_the_dashed_lines_the_margin() -> None:
    figure = drop_plot(main_rows(), verdicts(), BESIDE)
    (band,) = named(figure, "rewording alone: ±0.010")
    assert band["x"] == [-0.01, 0.01, 0.01, -0.01]
    (lines,) = named(figure, "margin of equivalence: ±0.02")
    assert lines["x"] == [-0.02, -0.02, None, 0.02, 0.02]
    assert lines["line"]["dash"] == "dash"
    assert "Dashed: the margin" in caption_of(figure)
    low, high = figure.layout.xaxis.range
    assert low < -0.02
    assert high > 0.05
    caption = caption_of(figure)
    assert "(median over 3 models)" in caption
    assert "shift: Hindi; undecided: Swahili; undefined: French." in caption


def test_without_floor_and_margin_the_caption_says_so() -> None:
    figure = drop_plot(main_rows(), verdicts(), Yardstick(NAN, 0, NAN))
    assert not [t for t in data(figure) if t["name"].startswith(("rewording", "margin"))]
    assert "there is no noise band" in caption_of(figure)
    assert "there is no margin of equivalence" in caption_of(figure)


def test_one_model_has_no_spread() -> None:
    rows = main_rows(1, drop_low=NAN, drop_high=NAN)
    figure = drop_plot(rows, verdicts(), BESIDE)
    assert not named(figure, "95 % over models: their spread")
    assert "one model: no spread" in named(figure, "drops")[0]["customdata"][0][2]
    assert "One model: no spread over models." in caption_of(figure)


def test_groups_are_filled_where_the_test_shows_a_shift() -> None:
    figure = group_plot(item_tests(), BESIDE, "source")
    (dots,) = named(figure, "drops")
    assert dots["marker"]["symbol"] == ["circle", "circle-open"]
    assert dots["marker"]["color"] == [language_colour("hi"), ENGLISH]
    assert "q = 0.010" in dots["customdata"][0][2]
    assert figure.layout.yaxis.ticktext == ("bbq · hi (20)", "bbq · all (20)", "a&lt;b · hi (0)")
    assert "1 of 3 are undefined" in caption_of(figure)
    assert named(figure, "q < .05")
    assert named(figure, "rewording alone: ±0.010")


def test_groups_that_are_all_undefined_still_have_a_figure() -> None:
    figure = group_plot(item_tests(t=NAN, t_low=NAN, t_high=NAN, qvalue=NAN), BESIDE, "source")
    assert named(figure, "undefined")[0]["y"] == [0, 1, 2]
    nothing = Yardstick(NAN, 0, NAN)
    group_plot(item_tests(t=NAN, t_low=NAN, t_high=NAN, qvalue=NAN), nothing, "source")


def test_reliable_cells_are_marked_and_empty_ones_have_a_reason() -> None:
    figure = change_map(cells(), BESIDE)
    (heat,) = data(figure)
    assert heat["z"] == [[-0.05, 0.01], [0.01, None]]
    assert heat["text"] == [["\u2212.050●", ".010"], [".010", "–"]]
    assert heat["customdata"][0][0][0] == "id0"
    assert "n = 40" in heat["customdata"][0][0][3]
    assert heat["customdata"][1][1][3] == "No item."
    assert (heat["zmin"], heat["zmid"], heat["zmax"]) == (-LEAST_LIMIT, 0, LEAST_LIMIT)
    assert figure.layout.yaxis.ticktext == ("m0", "m1")
    assert "the 1 of 4 cells" in caption_of(figure)
    assert "n = 0 to 40 items per cell" in caption_of(figure)


def test_a_reliable_change_is_told_with_what_is_left_of_it() -> None:
    pulled = {"shrunk": 0.04, "shrunk_low": 0.03, "shrunk_high": 0.05}
    (heat,) = data(change_map(cells().assign(**pulled), BESIDE))
    said = "shrunk \u22120.0400 [\u22120.0500, \u22120.0300]"
    assert said in heat["customdata"][0][0][3]
    assert "shrunk" not in heat["customdata"][0][1][3]


def test_scores_are_pale_where_neither_pole_is_preferred() -> None:
    rows = cells().assign(score=[0.5, 0.6, 0.4, NAN])
    (heat,) = data(score_heatmap(rows, 0.5))
    assert (heat["zmin"], heat["zmid"], heat["zmax"]) == (0, 0.5, 1)
    (heat,) = data(score_heatmap(rows, 0.0))
    assert heat["zmid"] == 0
    assert heat["zmax"] == -heat["zmin"] >= 0.6


def test_kinds_of_score_are_marked_by_what_they_find() -> None:
    figure = kinds_plot(panel(), WORDS)
    assert [trace["name"] for trace in data(figure)] == list(MARKS)
    assert [trace["x"] for trace in data(figure)] == [[i, i] for i in range(7)]
    assert all(trace["y"] == [0, 1] for trace in data(figure))
    filled = [t["name"] for t in data(figure) if not t["marker"]["symbol"].endswith("open")]
    assert filled == ["lower", "higher"]
    assert "depends on the score in Hindi." in caption_of(figure)
    assert named(figure, "undefined")[0]["customdata"][0][2].startswith("undefined: why")


def test_specifications_are_sorted_and_the_page_s_own_is_marked() -> None:
    figure = specification_curve(specifications(), WORDS)
    assert named(figure, "q < .05")[0]["y"] == [-2.5]
    assert named(figure, "not shown")[0]["y"] == [1.0]
    (own,) = named(figure, "the choice of this page (q < .05)")
    assert (own["x"], own["y"]) == ([2], [3.0])
    caption = caption_of(figure)
    assert (
        "3 ways to test Hindi, sorted by z of the drop: 1 show it lower (q < .05), 1 higher, 1"
        in (caption)
    )
    assert "1 of 4 are undefined and left out" in caption
    names = figure.layout.yaxis2.ticktext
    assert names[:2] == ("mean per token", "summed over tokens")
    (plan,) = named(figure, "choices")
    assert len(plan["x"]) == 3 * 5
    at = {(x, names[y]) for x, y in zip(plan["x"], plan["y"], strict=True)}
    assert {(0, "summed over tokens"), (0, "not subtracted"), (1, "bbq"), (2, "all sources")} <= at


def test_a_language_without_any_specification_has_an_empty_curve() -> None:
    figure = specification_curve(specifications().assign(z=NAN), WORDS)
    assert "0 ways to test Hindi" in caption_of(figure)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(-0.0001, 0.02, "[0.000, 0.020]"), (-0.02, NAN, "–"), (-0.02, 0.1, "[\u22120.020, 0.100]")],
)
def test_intervals_read_as_people_write_them(low: float, high: float, text: str) -> None:
    assert interval(low, high) == text


@pytest.mark.parametrize("colour", EVIDENCE.values())
@pytest.mark.parametrize("background", BACKGROUND.values())
def test_the_colours_of_evidence_are_seen_on_both_backgrounds(colour: str, background: str) -> None:
    def luminance(code: str) -> float:
        channels = [int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(colour), luminance(background)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 3


@pytest.mark.parametrize("n", [0, 1])
def test_few_rows_make_a_figure(n: int) -> None:
    figure = drop_plot(main_rows().iloc[:n], verdicts(), BESIDE)
    assert len(figure.layout.yaxis.ticktext) == n
    if n:
        change_map(cells().iloc[:n], BESIDE)

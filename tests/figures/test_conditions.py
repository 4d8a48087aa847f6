"""One item over conditions, read back from the figure's JSON."""

from __future__ import annotations

import json
import math

import pandas as pd
import pytest

from core.figures.conditions import item_across_conditions
from core.figures.theme import caption_of
from core.stats.noise import RewordingNoise

NOISE = RewordingNoise(floor=0.005, item_sd=0.1, n_changes=126, n_rewordings=3)
UNKNOWN = RewordingNoise(floor=math.nan, item_sd=math.nan, n_changes=0, n_rewordings=0)


def rows(scores: dict[str, float], native: bool = False) -> pd.DataFrame:
    """Card rows with these scores; NaN is a collapsed condition."""
    table = pd.DataFrame({"condition": list(scores), "ss": list(scores.values())})
    table["state"] = ["collapsed" if math.isnan(s) else "scored" for s in table["ss"]]
    english = math.nan if native else scores.get("en", math.nan)
    return table.assign(
        item_id="i1",
        reason="",
        native=native,
        change=[math.nan if c == "en" else s - english for c, s in scores.items()],
        n_stereotype=pd.array([10] * len(table), "Int64"),
        n_anti=pd.array([12] * len(table), "Int64"),
        rewording_sd=0.1,
        rewording_n=126,
    )


def traces(figure) -> dict[str, dict]:
    return {trace["name"]: trace for trace in json.loads(figure.to_json())["data"]}


SCORES = {"en": 0.55, "en~p1": 0.5, "ar": math.nan, "hi": 0.7}


def test_versions_rewordings_and_empty_conditions_are_told_apart():
    drawn = traces(item_across_conditions(rows(SCORES), NOISE))
    assert drawn["original or translation"]["x"] == [0.55, 0.7]
    assert drawn["original or translation"]["y"] == [0, 3]
    assert drawn["rewording"]["x"] == [0.5]
    assert drawn["rewording"]["marker"]["symbol"] == ["diamond-open"]
    empty = drawn["no SS"]
    assert empty["y"] == [2]
    assert empty["text"] == [" collapsed"]
    assert "Both poles say the same" in empty["customdata"][0][2]


@pytest.mark.parametrize(("english", "low", "high"), [(0.55, 0.45, 0.65), (0.03, 0.0, 0.13)])
def test_the_band_is_english_and_what_rewording_does_to_one_item(english, low, high):
    figure = item_across_conditions(rows({"en": english, "hi": 0.7}), NOISE)
    name = "rewording alone: English ± 0.100 (sd, n = 126)"
    band = traces(figure)[name]
    assert band["x"] == pytest.approx([low, high, high, low])
    assert "126 changes of single items" in caption_of(figure)


def test_without_a_yardstick_there_is_no_band():
    for table, noise in ((rows(SCORES), UNKNOWN), (rows({"ar": 0.4}, native=True), NOISE)):
        assert not any(
            "rewording alone" in name for name in traces(item_across_conditions(table, noise))
        )
    assert "no noise band" in caption_of(item_across_conditions(rows(SCORES), UNKNOWN))


def test_hover_shows_columns_of_the_table():
    table = rows(SCORES)
    drawn = traces(item_across_conditions(table, NOISE))["original or translation"]
    assert drawn["customdata"][0] == ["i1", "en", "<br>tokens 10 and 12"]
    assert drawn["customdata"][1] == [
        "i1",
        "hi",
        "<br>change from English +0.1500<br>rewording alone: sd 0.1000, n = 126"
        "<br>tokens 10 and 12",
    ]


def test_a_second_scorer_has_marks_of_its_own():
    other = rows({"en": 0.4, "zh": 0.3})
    figure = item_across_conditions(rows(SCORES), NOISE, other, model="a", other_model="b")
    drawn = traces(figure)
    assert drawn["b"]["x"] == [0.4, 0.3]
    assert drawn["b"]["y"] == [0, 4]  # a condition that only the second has comes last
    assert drawn["original or translation (a)"]["x"] == [0.55, 0.7]
    assert "Crosses: b." in caption_of(figure)


def test_the_caption_counts_conditions_with_a_score():
    figure = item_across_conditions(rows(SCORES), NOISE, model="demo", dataset="mine")
    assert "item i1 under demo, data set mine, in 3 of 4 conditions" in caption_of(figure)


def test_no_scores_at_all_is_still_a_figure():
    drawn = traces(item_across_conditions(rows({"en": math.nan}), UNKNOWN))
    assert list(drawn) == ["no SS"]

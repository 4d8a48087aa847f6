"""Token bars read back from the figure's JSON: sums, places, direction, marks, escaping."""

from __future__ import annotations

import itertools
import json
import re

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.figures.theme import caption_of
from core.figures.tokens import LABEL_LENGTH, PER_LINE, is_right_to_left, token_bars

logprobs = st.lists(st.floats(-50, -(2**-10), width=32), min_size=1, max_size=70)


def table(
    plus: list[tuple[str, float]], minus: list[tuple[str, float]], shared: int = 1
) -> pd.DataFrame:
    """A token table of two continuations that differ from their token `shared` on."""
    rows = []
    for role, tokens in (("stereotype", plus), ("anti_stereotype", minus)):
        for i, (token, logprob) in enumerate(tokens):
            rows.append(
                {
                    "item_id": "1",
                    "condition": "en",
                    "role": role,
                    "position": i + 1,
                    "n": len(tokens),
                    "token": token,
                    "text": token,
                    "logprob": logprob,
                    "piece": 1,
                    "pieces": 1,
                    "differs": i >= shared,
                    "first_difference": i == shared,
                }
            )
    return pd.DataFrame(rows).astype({"differs": "boolean", "first_difference": "boolean"})


def words(n: int, value: float = -1.0) -> list[tuple[str, float]]:
    return [(f"w{i}", value) for i in range(n)]


def read(figure) -> dict:
    return json.loads(figure.to_json())


@settings(max_examples=20, deadline=None)
@given(logprobs, logprobs)
def test_the_bars_add_up_to_what_the_title_says(plus, minus):
    parts = [[(f"w{i}", v) for i, v in enumerate(values)] for values in (plus, minus)]
    figure = token_bars(table(*parts))
    drawn = read(figure)
    for values, name in ((plus, "<b>Stereotype"), (minus, "<b>Anti-stereotype")):
        bars = [t for t in drawn["data"] if t["name"].startswith(name)]
        heights = [y for trace in bars for y in trace["y"]]
        assert heights == pytest.approx(values)
        assert [x for trace in bars for x in trace["x"]] == list(range(1, len(values) + 1))
        title = next(t["name"] for t in bars if "l = " in t["name"]).replace("−", "-")
        n, mean = re.search(r"n = (\d+), l = (-?[\d.]+)", title).groups()
        assert int(n) == len(values)
        assert float(mean) == pytest.approx(sum(heights) / len(heights), abs=6e-4)
    assert all(f"l = {t.split('l = ')[1]}" in caption_of(figure) for t in titles(drawn))


def titles(drawn: dict) -> list[str]:
    return [t["name"] for t in drawn["data"] if "l = " in t["name"]]


def test_both_rows_have_the_same_places_and_scale():
    drawn = read(token_bars(table(words(3), words(5, -4.0))))
    layout = drawn["layout"]
    assert layout["xaxis"]["range"] == layout["xaxis2"]["range"] == [0.5, 5.5]
    assert layout["yaxis"]["range"] == layout["yaxis2"]["range"] == [-5.0, 0]


def test_right_to_left_begins_at_the_right():
    arabic = [("قبل", -1.0), ("أن", -2.0), ("1/2", -1.0)]
    layout = read(token_bars(table(arabic, arabic[:2])))["layout"]
    assert layout["xaxis"]["range"] == [3.5, 0.5]
    assert layout["xaxis"]["ticktext"] == ["قبل", "أن", "1/2"]


@pytest.mark.parametrize(
    ("text", "backwards"),
    [("", False), ("12 שלום", True), ("«قبل» a", True), ("a قبل", False), ("한국", False)],
)
def test_direction_is_that_of_the_first_letter(text, backwards):
    assert is_right_to_left(text) is backwards


def test_long_texts_break_into_even_lines():
    drawn = read(token_bars(table(words(PER_LINE + 2), words(3))))
    assert len(drawn["data"]) == 3  # two lines, the second of one continuation only
    assert len(drawn["data"][0]["x"]) == (PER_LINE + 2) // 2
    domains = [drawn["layout"][f"yaxis{n}"]["domain"] for n in ("", 2, 3)]
    assert all(low < high for low, high in domains)
    assert all(a[0] > b[1] for a, b in itertools.pairwise(domains))


@pytest.mark.parametrize("shared", [0, 2, 9])
def test_the_first_differing_token_is_marked(shared):
    figure = token_bars(table(words(10), words(10), shared))
    layout = read(figure)["layout"]
    assert [shape["x0"] for shape in layout["shapes"]] == [shared + 0.5] * 2
    colours = read(figure)["data"][0]["marker"]["color"]
    assert len(set(colours[:shared])) <= 1
    assert set(colours[:shared]).isdisjoint(colours[shared:])
    assert "Grey bars" in caption_of(figure)


def test_equal_tokens_have_no_mark():
    figure = token_bars(table(words(2), words(2), shared=2))
    assert not read(figure)["layout"].get("shapes")
    assert "have the same tokens" in caption_of(figure)


def test_bytes_of_a_character_are_numbered_above_the_bars():
    rows = table([("é 1/2", -1.0), ("é 2/2", -1.0)], words(2))
    rows[["piece", "pieces"]] = [[1, 2], [2, 2], [1, 1], [1, 1]]
    figure = token_bars(rows)
    assert read(figure)["layout"]["xaxis"]["ticktext"] == ["é", "₂"]
    assert [row[0] for row in read(figure)["data"][0]["customdata"]] == ["é 1/2", "é 2/2"]
    assert "further bytes" in caption_of(figure)


def test_texts_of_the_data_are_not_markup():
    drawn = read(token_bars(table([("<b>&", -1.0), ("x" * 40, -1.0)], words(1))))
    assert drawn["layout"]["xaxis"]["ticktext"][0] == "&lt;b&gt;&amp;"
    assert len(drawn["layout"]["xaxis"]["ticktext"][1]) == LABEL_LENGTH
    assert drawn["data"][0]["customdata"] == [["&lt;b&gt;&amp;", 1, 2], ["x" * 40, 2, 2]]


def test_hover_shows_columns_of_the_table():
    rows = table(words(2, -1.25), words(1))
    trace = read(token_bars(rows))["data"][0]
    assert trace["y"] == rows["logprob"].tolist()[:2]
    expected = rows[["token", "position", "n"]].head(2).to_numpy().tolist()
    assert trace["customdata"] == expected


def test_one_item_in_one_condition_with_both_continuations():
    rows = table(words(2), words(2))
    with pytest.raises(ValueError, match="one item in one condition"):
        token_bars(pd.concat([rows, rows.assign(condition="hi")]))
    with pytest.raises(ValueError, match="no tokens"):
        token_bars(rows[rows["role"] == "stereotype"])
    with pytest.raises(ValueError, match="no tokens"):
        token_bars(rows.head(0))


def test_the_caption_names_model_and_data_set():
    caption = caption_of(token_bars(table(words(1), words(1)), model="demo", dataset="mine"))
    assert "item 1 in en under demo, data set mine" in caption

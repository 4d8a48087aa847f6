"""The table of pairs and its summary, on scores that are set by hand."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from core.analysis.pairs import pair_sentence, pair_summary, pair_table
from core.store.gate import Cache
from core.store.scorers import put_scorer
from core.store.scores import missing_texts, put_scores
from core.types import Reason, Unscored
from tests.pair_samples import pair, word_score
from tests.store_samples import SCORER, item, put

S = SCORER.scorer_id
NUMBERS = ["condition", "group", "value", "n", "n_more", "n_less", "n_ties"]


def logprobs(cache: Cache, said: dict[str, list[float]]) -> None:
    """Store scores of one token per word with these log-probabilities; other texts cannot be."""
    scores, failed = [], []
    for text in missing_texts(cache, S, "d"):
        values = said.get(text.continuation)
        if values is None:
            failed.append(Unscored(text.text_id, Reason.TOO_LONG, "Too long."))
            continue
        scores.append(word_score(text, values))
    put_scores(cache, S, scores, failed)


@pytest.fixture
def table(cache: Cache) -> Cache:
    put(
        cache,
        [
            pair("wins", ("he left", "she left"), condition="es", category="gender"),
            pair(
                "wins",
                ("he left", "she left"),
                category="gender",
                metadata={"stereo_antistereo": "stereo"},
            ),
            pair(
                "hair",
                ("he ran", "she ran"),
                category="gender",
                metadata={"stereo_antistereo": "antistereo"},
            ),
            pair(
                "loses",
                ("old left", "new left"),
                category="age",
                metadata={"stereo_antistereo": "stereo"},
            ),
            pair("tie", ("old ran", "new ran"), category="age"),
            pair("front", ("left he", "left she")),
            pair("long", ("never mind", "always mind"), category="age"),
            pair("same", ("he left", "he left!")),
            item("other"),
        ],
    )
    put_scorer(cache, SCORER)
    logprobs(
        cache,
        {
            "he left": [-1, -2],
            "she left": [-1, -3],
            "he ran": [-9, -2.00001],
            "she ran": [-1, -2.00002],
            "old left": [-1, -4],
            "new left": [-1, -3],
            "old ran": [-1, -2],
            "new ran": [-9, -2],
            "left he": [-1, -2],
            "left she": [-1, -9],
        },
    )
    return cache


def test_every_pair_is_a_row_with_its_preference(table: Cache) -> None:
    rows = pair_table(table, S, "d").set_index(["condition", "item_id"])
    assert rows.index.tolist() == [
        *(("en", i) for i in ("wins", "hair", "loses", "tie", "front", "long", "same")),
        ("es", "wins"),
    ]
    assert rows.preferred.tolist() == [
        "more",
        "more",
        "less",
        "tie",
        "uninformative",
        "",
        "",
        "more",
    ]
    assert rows.state.tolist()[5:7] == ["unscored", "collapsed"]
    assert rows.loc[("en", "long"), "reason"] == "too_long"
    first = rows.loc[("en", "wins")]
    assert (first.score_more, first.score_less, first.difference) == (-2, -3, 1)
    assert (first.sentence_more, first.direction, first.n_unmodified) == ("he left", "stereo", 1)
    assert rows.difference.isna().tolist() == [False] * 5 + [True] * 2 + [False]
    assert pair_table(table, S, "d", item_ids=["tie"]).item_id.tolist() == ["tie"]


def test_the_summary_counts_by_condition_type_and_direction(table: Cache) -> None:
    word, token = (pair_table(table, S, "d", unit) for unit in ("word", "token"))
    summary = pair_summary(word, token)
    assert summary[NUMBERS].values.tolist() == [
        ["en", "all", "all", 4, 2, 1, 1],
        ["en", "type", "age", 2, 0, 1, 1],
        ["en", "type", "gender", 2, 2, 0, 0],
        ["en", "direction", "antistereo", 1, 1, 0, 0],
        ["en", "direction", "stereo", 2, 1, 1, 0],
        ["es", "all", "all", 1, 1, 0, 0],
        ["es", "type", "gender", 1, 1, 0, 0],
    ]
    assert summary.share.tolist() == [2.5 / 4, 0.25, 1, 1, 0.5, 1, 1]
    assert summary.n_uninformative.tolist() == [1, 0, 0, 0, 0, 0, 0]
    assert summary.n_not_scored.tolist() == [2, 1, 0, 0, 0, 0, 0]
    assert summary.n_both.tolist() == summary.n.tolist()
    assert summary.share_flips.tolist() == [0] * 7


def test_the_published_rule_rounds_and_counts_ties_against(table: Cache) -> None:
    word = pair_table(table, S, "d")
    published = pair_summary(word, word, ties="against", decimals=3).iloc[0]
    assert (published.share, published.n, published.n_more, published.n_ties) == (0.25, 4, 1, 2)
    excluded = pair_summary(word, word, ties="exclude").iloc[0]
    assert (excluded.share, excluded.n, excluded.n_ties) == (2 / 3, 3, 1)


def test_flips_are_counted_where_both_units_decide(table: Cache) -> None:
    word = pair_table(table, S, "d")
    token = word.copy()
    token.loc[token.item_id == "hair", "preferred"] = "less"
    token.loc[token.item_id == "tie", "preferred"] = "uninformative"
    token = token[token.item_id != "loses"]
    summary = pair_summary(word, token).set_index(["condition", "value"])
    assert summary.loc[("en", "all"), ["n_flips", "n_both"]].tolist() == [1, 2]
    assert summary.loc[("en", "gender"), "share_flips"] == 0.5
    assert math.isnan(summary.loc[("en", "age"), "share_flips"])


def test_without_a_decided_pair_there_is_no_share(table: Cache) -> None:
    word = pair_table(table, S, "d")
    empty = word[word.item_id.isin(["front", "long"])]
    summary = pair_summary(empty, empty)
    assert summary.n.tolist() == [0, 0]
    assert summary.share.isna().all()
    assert pair_sentence(summary, "en") == "en: no pair has a share to show."


def test_the_sentence_has_its_n_and_says_what_a_share_does_not(table: Cache) -> None:
    word = pair_table(table, S, "d")
    sentence = pair_sentence(pair_summary(word, word), "en")
    assert "preferred in 62.50 % of 4 pairs (50 % is neutral; ties: 1" in sentence
    assert "can hide groups that go opposite ways" in sentence
    assert "fair" not in sentence


def test_tables_without_texts_have_the_same_numbers(table: Cache) -> None:
    whole, slim = pair_table(table, S, "d"), pair_table(table, S, "d", texts=False)
    assert "sentence_more" not in slim
    pd.testing.assert_frame_equal(slim, whole[slim.columns])

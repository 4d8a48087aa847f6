"""Pair scores in the cache: by hand, always whole, and as verify and repair see them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.errors import InputError
from core.store import migrations, pair_rows
from core.store.gate import Cache
from core.store.generations import generation
from core.store.pairs import ask_alignment, has_pairs, pair_scores
from core.store.repair import repair
from core.store.scorers import put_scorer
from core.store.scores import missing_texts, put_scores
from core.store.verify import verify
from core.types import Flag, Reason, Unscored
from tests.bigram import (
    bigram_logprob,
    bigram_model,
    bigram_table,
    masked_bigram_logprob,
    masked_bigram_model,
)
from tests.pair_samples import (
    IDS,
    NOTHING_BEHIND,
    NOTHING_SHARED,
    OTHER_LENGTH,
    SHARED_PIECE,
    TWO_SPANS,
    pair,
    pieces_tokenizer,
    scored_pairs,
)
from tests.store_samples import OTHER, SCORER, item, put, python, score, score_all

S = SCORER.scorer_id
MASKED = replace(SCORER, method="pll:original")
TABLE = bigram_table(len(IDS))
PAIRS = [
    pair("length", OTHER_LENGTH),
    pair("spans", TWO_SPANS),
    pair("piece", SHARED_PIECE),
    pair("behind", NOTHING_BEHIND),
    pair("nothing", NOTHING_SHARED),
]

# The pieces of each sentence; those that count under the word rule, those under the token rule.
BY_HAND = {
    "length": (
        ["all", "gay", "men", "left", "."],
        ["all", "hetero", "##sexual", "men", "left", "."],
        ([0, 2, 3, 4], [0, 3, 4, 5]),
        ([0, 2, 3, 4], [0, 3, 4, 5]),
    ),
    "spans": (
        ["all", "gay", "men", "say", "he", "left", "."],
        ["all", "cis", "men", "say", "she", "left", "."],
        ([0, 2, 3, 5, 6], [0, 2, 3, 5, 6]),
        ([0, 2, 3, 5, 6], [0, 2, 3, 5, 6]),
    ),
    "piece": (
        ["the", "trans", "##gender", "men", "left", "."],
        ["the", "cis", "##gender", "men", "left", "."],
        ([0, 3, 4, 5], [0, 3, 4, 5]),
        ([0, 2, 3, 4, 5], [0, 2, 3, 4, 5]),
    ),
    "behind": (
        ["all", "people", "left", "gay"],
        ["all", "people", "left", "cis"],
        ([0, 1, 2], [0, 1, 2]),
        ([0, 1, 2], [0, 1, 2]),
    ),
    "nothing": (["gay", "people"], ["cis", "men"], ([], []), ([], [])),
}


def causal_sum(pieces: list[str], kept: list[int]) -> float:
    ids = [IDS["[CLS]"], *(IDS[piece] for piece in pieces)]
    return sum(bigram_logprob(TABLE, ids[i], ids[i + 1]) for i in kept)


def masked_sum(pieces: list[str], kept: list[int]) -> float:
    ids = [IDS["[CLS]"], *(IDS[piece] for piece in pieces), IDS["[SEP]"]]
    return sum(masked_bigram_logprob(TABLE, ids[i], ids[i + 2], ids[i + 1]) for i in kept)


def by_id(cache: Cache, scorer_id: str = S, **options: str) -> pd.DataFrame:
    return pair_scores(cache, scorer_id, "d", **options).set_index("item_id")


@pytest.fixture
def scored(cache: Cache) -> Cache:
    scored_pairs(cache, PAIRS, bigram_model(pieces_tokenizer()))
    return cache


@pytest.mark.parametrize("unit", ["word", "token"])
@pytest.mark.parametrize(
    ("scorer", "model", "by_hand", "uninformative"),
    [
        (SCORER, bigram_model, causal_sum, {"behind", "nothing"}),
        (MASKED, masked_bigram_model, masked_sum, {"nothing"}),
    ],
)
def test_scores_are_the_sums_over_the_shared_pieces(
    cache: Cache, scorer, model: Callable, by_hand: Callable, uninformative: set, unit: str
) -> None:
    scorer_id = scored_pairs(cache, PAIRS, model(pieces_tokenizer()), scorer)
    table = by_id(cache, scorer_id, unit=unit)
    assert table.index.tolist() == list(BY_HAND)
    for item_id, (more, less, words, tokens) in BY_HAND.items():
        kept_more, kept_less = words if unit == "word" else tokens
        row = table.loc[item_id]
        assert row.score_more == pytest.approx(by_hand(more, kept_more), abs=1e-5)
        assert row.score_less == pytest.approx(by_hand(less, kept_less), abs=1e-5)
        assert row.n_unmodified == len(kept_more) == len(kept_less)
        assert ("uninformative" in row["flags"]) == (item_id in uninformative)
        assert ("mostly_different" in row["flags"]) == (item_id == "nothing")
    assert verify(cache) == []


def test_swapping_the_sentences_negates_the_difference(cache: Cache, scored: Cache) -> None:
    for unit in ("word", "token"):
        before = by_id(cache, unit=unit)
        swapped = [
            replace(p, stereotype=p.anti_stereotype, anti_stereotype=p.stereotype) for p in PAIRS
        ]
        put(cache, swapped, "swapped")
        after = pair_scores(cache, S, "swapped", unit=unit).set_index("item_id")
        assert after.score_more.tolist() == before.score_less.tolist()
        assert after.score_less.tolist() == before.score_more.tolist()
        assert [*map(list, after["flags"])] == [*map(list, before["flags"])]


def test_the_stereotypical_sentence_is_more_in_both_directions(cache: Cache) -> None:
    """CrowS-Pairs once stored the scores of the other direction under the wrong sentence."""
    both = [pair(d, TWO_SPANS, metadata={"stereo_antistereo": d}) for d in ("stereo", "antistereo")]
    scored_pairs(cache, both, bigram_model(pieces_tokenizer()))
    ask_alignment(cache, "d", "difflib")
    more, less, (kept, _), _ = BY_HAND["spans"]
    for align in ("lcs", "difflib"):
        table = by_id(cache, align=align)
        assert table.direction.tolist() == ["stereo", "antistereo"]
        assert (table.sentence_more == TWO_SPANS[0]).all()
        assert table.score_more.to_numpy() == pytest.approx(causal_sum(more, kept), abs=1e-5)
        assert table.score_less.to_numpy() == pytest.approx(causal_sum(less, kept), abs=1e-5)


def test_both_sentences_leave_together(cache: Cache) -> None:
    collapsed = pair("c", ("He left.", "he left!"))
    put(cache, [pair("a", TWO_SPANS), pair("b", OTHER_LENGTH), collapsed])
    put_scorer(cache, SCORER)
    one, two, three, four = missing_texts(cache, S, "d")
    states = []
    for batch in (
        ([score(one)], []),
        ([score(three)], [Unscored(four.text_id, Reason.TOO_LONG, "Too long.")]),
        ([score(two)], []),
    ):
        put_scores(cache, S, *batch)
        table = by_id(cache)
        states.append(table.state.tolist())
        assert table.score_more.notna().tolist() == [s == "scored" for s in table.state]
    assert states == [
        ["missing", "missing", "collapsed"],
        ["missing", "unscored", "collapsed"],
        ["scored", "unscored", "collapsed"],
    ]
    assert by_id(cache).reason.tolist() == ["", "too_long", ""]
    assert verify(cache) == []


def test_only_empty_contexts_with_exactly_two_continuations_are_pairs(cache: Cache) -> None:
    fields = {"stereotype": "She ran.", "anti_stereotype": "He ran."}
    put(
        cache,
        [
            item("context", **fields),
            item("three", context="", unrelated="Potatoes grow.", **fields),
            item("question", context="", unknown="Nobody knows", **fields),
        ],
    )
    assert not has_pairs(cache, "d")
    put(cache, [item("pair", context=" ", **fields)], "e")
    assert has_pairs(cache, "e")
    put_scorer(cache, SCORER)
    for name in ("d", "e"):
        put_scores(cache, S, score_all(missing_texts(cache, S, name)))
    assert pair_scores(cache, S, "d").empty
    assert pair_scores(cache, S, "e").state.tolist() == ["scored"]
    with pytest.raises(InputError, match="no data set 'x'"):
        has_pairs(cache, "x")


def test_flags_of_the_tokens_and_of_the_pair(cache: Cache) -> None:
    put(cache, [pair("a", ("He left </s>", "She left </s>")), pair("b", ("A \u200db", "A b"))])
    put_scorer(cache, SCORER)
    one, two, three, four = missing_texts(cache, S, "d")
    same = replace(score(three), text_id=four.text_id)
    put_scores(
        cache, S, [score(one, flags=(Flag.SPECIAL_LITERAL,)), score(two), score(three), same]
    )
    flags = by_id(cache, unit="token")["flags"].map(list)
    assert "special_literal" in flags["a"]
    assert flags["b"] == ["identical", "uninformative"]


def test_without_the_tokens_places_the_word_rule_is_undefined(cache: Cache) -> None:
    put(cache, [pair("a", ("He left now", "She left now"))])
    put_scorer(cache, SCORER)
    one, two = missing_texts(cache, S, "d")
    lost = score(one, flags=(Flag.SPANS_UNTRUSTED,))
    lost.starts[:] = lost.ends[:] = lost.words[:] = -1
    other = replace(score(two), token_ids=lost.token_ids + np.array([1, 0, 0], np.int32))
    put_scores(cache, S, [lost, other])
    word, token = by_id(cache).loc["a"], by_id(cache, unit="token").loc["a"]
    assert np.isnan(word.score_more)
    assert np.isnan(word.score_less)
    assert (word.state, word.n_unmodified, list(word["flags"])) == (
        "scored",
        0,
        ["spans_untrusted"],
    )
    assert token.n_unmodified == 2
    assert verify(cache) == []


def test_another_alignment_is_computed_when_asked_for_and_kept_up(cache: Cache) -> None:
    model = bigram_model(pieces_tokenizer())
    scored_pairs(cache, PAIRS[:2], model)
    with pytest.raises(InputError, match=r"pairs --dataset d --align difflib"):
        pair_scores(cache, S, "d", align="difflib")
    before = generation(cache, S, "d")
    assert ask_alignment(cache, "d", "difflib")
    assert not ask_alignment(cache, "d", "difflib")
    assert not ask_alignment(cache, "d", "lcs")
    assert generation(cache, S, "d") > before
    assert by_id(cache, align="difflib").state.tolist() == ["scored"] * 2
    put(cache, PAIRS, replace=True)
    assert by_id(cache, align="difflib").state.tolist() == ["scored"] * 2 + ["missing"] * 3
    texts = missing_texts(cache, S, "d")
    put_scores(cache, S, score_all(texts))
    assert by_id(cache, align="difflib").state.tolist() == ["scored"] * 5
    assert verify(cache) == []
    for options, words in (({"align": "x"}, "'x' is not an alignment"), ({"unit": "x"}, "unit")):
        with pytest.raises(InputError, match=words):
            pair_scores(cache, S, "d", **options)
    with pytest.raises(InputError, match="not an alignment"):
        ask_alignment(cache, "d", "x")


def test_batches_make_no_difference(
    cache: Cache, scored: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = by_id(cache)
    monkeypatch.setattr(pair_rows, "AT_A_TIME", 2)
    monkeypatch.setattr("core.store.verify.AT_A_TIME", 2)
    put(cache, PAIRS[::-1], replace=True)
    again = by_id(cache).loc[whole.index]
    assert again.score_more.tolist() == whole.score_more.tolist()
    assert verify(cache) == []


def test_replacing_a_data_set_replaces_its_pairs_under_every_scorer(
    cache: Cache, scored: Cache
) -> None:
    put_scorer(cache, OTHER)
    put_scores(cache, OTHER.scorer_id, score_all(missing_texts(cache, OTHER.scorer_id, "d")))
    put(cache, [PAIRS[1], pair("new", ("He left", "She left")), item("3")], replace=True)
    for scorer_id in (S, OTHER.scorer_id):
        assert by_id(cache, scorer_id).state.tolist() == ["scored", "missing"]
    with cache.reading() as con:
        rows = con.execute("SELECT item_id, count(*) FROM pair_score GROUP BY ALL").fetchall()
    assert rows == [("spans", 4)]
    assert verify(cache) == []


def test_some_items_are_those_rows_and_texts_can_be_left_out(cache: Cache, scored: Cache) -> None:
    whole = pair_scores(cache, S, "d")
    some = pair_scores(cache, S, "d", item_ids=["piece", "spans"])
    assert some.item_id.tolist() == ["spans", "piece"]
    rows = whole[whole.item_id.isin(some.item_id)].reset_index(drop=True)
    pd.testing.assert_frame_equal(some, rows)
    slim = pair_scores(cache, S, "d", texts=False)
    assert slim.score_more.tolist() == whole.score_more.tolist()
    assert {"sentence_more", "sentence_less", "metadata"}.isdisjoint(slim.columns)


FAULTS = {
    "A pair score under scorer": "UPDATE pair_score SET score_more = score_more + 1e-9 "
    "WHERE item_id = 'spans' AND unit = 'word'",
    "not what its token scores give (found 5 times)": "DELETE FROM pair_score",
    "not what its token scores give (found 1 times)": "INSERT INTO pair_score FROM pair_score "
    "WHERE item_id = 'spans' AND unit = 'token'",
    "A pair score is of no pair": "UPDATE item SET context = 'Now.' WHERE item_id = 'spans'",
    "A pair score is of a scorer": "INSERT INTO pair_score SELECT * REPLACE ('x' AS scorer_id) "
    "FROM pair_score LIMIT 1",
}


@pytest.mark.parametrize("words", FAULTS)
def test_a_damaged_row_is_found_and_repaired(cache: Cache, scored: Cache, words: str) -> None:
    assert verify(cache) == []
    before = generation(cache, S, "d")
    with cache.writing() as con:
        con.execute(FAULTS[words])
    assert any(words in finding for finding in verify(cache))
    assert words in repair(cache).message
    assert verify(cache) == []
    assert generation(cache, S, "d") > before


def without_pairs(cache: Cache) -> None:
    """Make a cache as it was before there were pair scores."""
    with cache.writing() as con:
        con.execute("DROP VIEW pair")
        for sql in migrations.MIGRATIONS[migrations.FIRST_WITH_PAIRS - 1 :]:
            for table in re.findall(r"CREATE TABLE (\w+)", sql):
                con.execute(f"DROP TABLE {table}")
            for column in re.findall(r"ALTER TABLE item_score ADD COLUMN (\w+)", sql):
                con.execute(f"ALTER TABLE item_score DROP COLUMN {column}")
        con.execute("DELETE FROM migration WHERE number >= ?", [migrations.FIRST_WITH_PAIRS])


def test_an_older_cache_gets_the_pairs_that_it_has_scored(cache: Cache, scored: Cache) -> None:
    before = pair_scores(cache, S, "d")
    without_pairs(cache)
    pd.testing.assert_frame_equal(pair_scores(cache, S, "d"), before)
    assert verify(cache) == []


def test_an_older_cache_with_damage_still_opens_and_can_be_repaired(
    cache: Cache, scored: Cache
) -> None:
    with cache.writing() as con:
        con.execute("UPDATE token_score SET ends = [1]")
    without_pairs(cache)
    assert any("unequal length" in finding for finding in verify(cache))
    repair(cache)
    assert verify(cache) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from core.store import pair_rows
from core.store.gate import Cache
from core.store.pairs import ask_alignment
from core.store.scores import missing_texts, put_scores
from tests.store_samples import SCORER, score_all

cache, what = Cache(Path(sys.argv[1])), sys.argv[2]
pair_rows.AT_A_TIME = 2
seen = []
whole = pair_rows._rows_of

def die_in_the_second_batch(pair, *args, **options):
    seen.append(pair)
    if len(seen) == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return whole(pair, *args, **options)

pair_rows._rows_of = die_in_the_second_batch
if what == "put":
    s = SCORER.scorer_id
    put_scores(cache, s, score_all(missing_texts(cache, s, "d")))
else:
    ask_alignment(cache, "d", "difflib")
"""


@pytest.mark.parametrize("what", ["put", "ask"])
def test_a_killed_writer_leaves_all_or_nothing(cache: Cache, what: str) -> None:
    put(cache, PAIRS)
    put_scorer(cache, SCORER)
    if what == "ask":
        put_scores(cache, S, score_all(missing_texts(cache, S, "d")))
    before = pair_scores(cache, S, "d")
    process = python(KILLED, cache.folder, what)
    _, problem = process.communicate()
    assert process.returncode == -9, problem
    pd.testing.assert_frame_equal(pair_scores(cache, S, "d"), before)
    assert verify(cache) == []
    if what == "put":
        put_scores(cache, S, score_all(missing_texts(cache, S, "d")))
    else:
        with pytest.raises(InputError, match="not aligned by difflib"):
            pair_scores(cache, S, "d", align="difflib")
        ask_alignment(cache, "d", "difflib")
        assert by_id(cache, align="difflib").state.tolist() == ["scored"] * 5
    assert by_id(cache).state.tolist() == ["scored"] * 5
    assert verify(cache) == []


def test_an_exception_while_deriving_stores_nothing(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(cache, PAIRS)
    put_scorer(cache, SCORER)
    texts = missing_texts(cache, S, "d")

    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch, pytest.raises(ZeroDivisionError):
        patch.setattr(pair_rows, "unmodified_sum", fails)
        put_scores(cache, S, score_all(texts))
    assert missing_texts(cache, S, "d") == texts
    assert verify(cache) == []

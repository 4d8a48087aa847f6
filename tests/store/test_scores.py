"""Scores in the cache: each text once, items derived from their texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.store.gate import Cache
from core.store.generations import generation
from core.store.runs import end_run, runs, start_run
from core.store.scorers import put_scorer, scorers
from core.store.scores import (
    item_scores,
    missing_texts,
    put_scores,
    sample_scores,
    token_scores,
    unscored,
)
from core.store.verify import verify
from core.types import Flag, Reason, Text, TokenScore, Unscored
from tests.store_samples import OTHER, SCORER, filled, item, put, score, score_all

S = SCORER.scorer_id


def failed(text: Text, reason: Reason = Reason.TOO_LONG) -> Unscored:
    return Unscored(text.text_id, reason, "17 tokens, but 16 fit.")


def test_a_shared_text_is_scored_once_and_both_items_get_rows(cache: Cache) -> None:
    shared = {"stereotype": "She ran.", "anti_stereotype": "He ran."}
    put(cache, [item("1", **shared), item("2", **shared), item("3")])
    put(cache, [item("1", **shared)], "other")
    put_scorer(cache, SCORER)
    texts = missing_texts(cache, S, "d")
    assert len(texts) == 4
    assert put_scores(cache, S, score_all(texts)) == 4
    assert item_scores(cache, S, "d").state.tolist() == ["scored"] * 3
    assert item_scores(cache, S, "other").state.tolist() == ["scored"]
    assert verify(cache) == []


def test_item_scores_are_the_means_of_the_token_scores(cache: Cache) -> None:
    put(cache, [item("1", unrelated="Potatoes grow.")])
    put_scorer(cache, SCORER)
    texts = missing_texts(cache, S, "d")
    flags = [(Flag.SPECIAL_LITERAL,), (Flag.BOUNDARY_MERGE, Flag.SPECIAL_LITERAL), ()]
    scores = [score(t, n, f) for t, n, f in zip(texts, (1, 4, 9), flags, strict=True)]
    put_scores(cache, S, scores)
    row = item_scores(cache, S, "d").iloc[0]
    for suffix, expected in zip(("stereotype", "anti", "unrelated"), scores, strict=True):
        assert row[f"l_{suffix}"] == expected.mean
        assert row[f"sum_{suffix}"] == expected.total
        assert row[f"n_{suffix}"] == expected.n_scored
        column = f"text_{suffix}"
        assert row[column] == expected.text_id
    assert np.isnan(row.l_unknown)
    assert list(row["flags"]) == ["boundary_merge", "special_literal"]
    assert (row.state, row.reason) == ("scored", "")


def test_continuations_of_an_item_leave_together(cache: Cache) -> None:
    put(cache, [item("1", unrelated="Potatoes grow."), item("1", "es"), item("2")])
    put_scorer(cache, SCORER)
    one, two, three, *rest = missing_texts(cache, S, "d")
    put_scores(cache, S, score_all([one, *rest]), [failed(two)])
    table = item_scores(cache, S, "d")
    assert table.state.tolist() == [
        "missing",
        "scored",
        "scored",
    ]  # the third text is not tried yet
    put_scores(cache, S, [], [failed(three, Reason.NO_SCORED_TOKEN)])
    table = item_scores(cache, S, "d")
    assert table.state.tolist() == ["unscored", "scored", "scored"]
    left = table.iloc[0]
    assert left.reason == "no_scored_token, too_long"
    assert list(left["flags"]) == ["no_scored_token", "too_long"]
    assert left.filter(regex="^(l|sum|n)_").isna().all()
    assert unscored(cache, S, "d").role.tolist() == ["anti_stereotype", "unrelated"]
    assert verify(cache) == []


def test_a_text_that_gets_a_score_leaves_the_unscored(cache: Cache) -> None:
    filled(cache, 1)
    texts = missing_texts(cache, S, "d")
    for reason in (Reason.OUT_OF_MEMORY, Reason.TOO_LONG):
        put_scores(cache, S, [score(texts[0])], [failed(texts[1], reason)])
        assert unscored(cache, S, "d").reason.tolist() == [reason]
    assert missing_texts(cache, S, "d") == [texts[1]]
    put_scores(cache, S, [score(texts[1])], [failed(texts[0]), failed(texts[1])])
    assert unscored(cache, S, "d").empty
    assert item_scores(cache, S, "d").state.tolist() == ["scored"]
    assert verify(cache) == []


def test_the_first_row_of_a_key_wins(cache: Cache) -> None:
    filled(cache, 1)
    texts = missing_texts(cache, S, "d")
    first = score(texts[0])
    second = replace(first, logprobs=first.logprobs * 2)
    assert put_scores(cache, S, [first, second, *score_all(texts[1:])]) == 2
    before = generation(cache, S, "d")
    assert put_scores(cache, S, [second]) == 0
    assert generation(cache, S, "d") == before  # nothing changed, nothing to show again
    kept = token_scores(cache, S, [first.text_id])[first.text_id]
    assert np.array_equal(kept.logprobs, first.logprobs)
    assert item_scores(cache, S, "d").l_stereotype.tolist() == [first.mean]
    assert verify(cache) == []


def test_scorers_never_share_a_row(cache: Cache) -> None:
    filled(cache, 2)
    put_scorer(cache, OTHER)
    put_scorer(cache, replace(SCORER, model="another name"))
    assert scorers(cache).model.tolist() == ["tiny", "tiny"]
    put_scores(cache, S, score_all(missing_texts(cache, S, "d")))
    assert len(missing_texts(cache, OTHER.scorer_id, "d")) == 4
    assert item_scores(cache, OTHER.scorer_id, "d").state.tolist() == ["missing"] * 2
    assert generation(cache, OTHER.scorer_id, "d") == 0


def test_item_scores_without_texts_are_the_same_numbers(cache: Cache) -> None:
    put(cache, [item("1"), item("1", "es")])
    put_scorer(cache, SCORER)
    put_scores(cache, S, score_all(missing_texts(cache, S, "d")))
    whole, slim = item_scores(cache, S, "d"), item_scores(cache, S, "d", texts=False)
    assert slim.l_anti.tolist() == whole.l_anti.tolist()
    assert {"context", "metadata", "text_anti"}.isdisjoint(slim.columns)


def test_item_scores_of_some_items_are_those_rows(cache: Cache) -> None:
    put(cache, [item("1"), item("2"), item("1", "es")])
    put_scorer(cache, SCORER)
    put_scores(cache, S, score_all(missing_texts(cache, S, "d")))
    whole, some = item_scores(cache, S, "d"), item_scores(cache, S, "d", item_ids=["1"])
    rows = whole[whole.item_id == "1"].reset_index(drop=True)
    pd.testing.assert_frame_equal(some, rows)
    assert item_scores(cache, S, "d", item_ids=[]).empty


def test_collapsed_items_are_neither_asked_for_nor_scored(cache: Cache) -> None:
    same = item("1", stereotype="He ran.", anti_stereotype="he ran!")
    put(cache, [same, item("2"), item("3", stereotype="He ran.")])
    put_scorer(cache, SCORER)
    texts = missing_texts(cache, S, "d")
    assert [t.continuation for t in texts].count("He ran.") == 1  # item 3 needs it
    put_scores(cache, S, score_all(texts))
    assert item_scores(cache, S, "d").state.tolist() == ["collapsed", "scored", "scored"]


def test_missing_texts_follow_the_items(cache: Cache) -> None:
    put(cache, [item("2"), item("1", "es"), item("1")])
    put_scorer(cache, SCORER)
    said = [t.continuation for t in missing_texts(cache, S, "d")]
    assert [s.split(" of ")[1] for s in said[::2]] == ["2 in en.", "1 in es.", "1 in en."]
    assert [s.split()[0] for s in said] == ["She", "He"] * 3


def test_a_batch_raises_the_generation_of_every_data_set_that_it_touches(cache: Cache) -> None:
    put(cache, [item("1"), item("2")], "a")
    put(cache, [item("1")], "b")
    put_scorer(cache, SCORER)
    one, two, three, four = missing_texts(cache, S, "a")
    put_scores(cache, S, [score(one)])
    seen = [(generation(cache, S, "a"), generation(cache, S, "b"))]
    for batch in ([score(two)], [score(three), score(four)]):
        put_scores(cache, S, batch)
        seen.append((generation(cache, S, "a"), generation(cache, S, "b")))
    (a, b), (a_shared, b_shared), (a_own, b_own) = seen
    assert a < a_shared < a_own
    assert b < b_shared == b_own  # the second batch holds no text of it


@pytest.mark.parametrize("field", ["token_ids", "logprobs", "starts", "ends", "words"])
def test_lists_of_unequal_length_are_refused(cache: Cache, field: str) -> None:
    filled(cache, 1)
    good, text = missing_texts(cache, S, "d")
    bad = score(text)
    bad = replace(bad, **{field: getattr(bad, field)[:-1]})
    with pytest.raises(ValueError, match="unequal length"):
        put_scores(cache, S, [score(good), bad])
    assert len(missing_texts(cache, S, "d")) == 2


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_log_probability_that_is_not_finite_is_refused(cache: Cache, value: float) -> None:
    filled(cache, 1)
    bad = score(missing_texts(cache, S, "d")[0])
    bad.logprobs[1] = value
    with pytest.raises(ValueError, match="not finite"):
        put_scores(cache, S, [bad])


def test_empty_scores_bad_ids_and_unknown_scorers_are_refused(cache: Cache) -> None:
    filled(cache, 1)
    text = missing_texts(cache, S, "d")[0]
    with pytest.raises(ValueError, match="no scored token"):
        put_scores(cache, S, [score(text, 0)])
    with pytest.raises(ValueError, match="text id"):
        put_scores(cache, S, [score("not a text id")])
    with pytest.raises(ValueError, match="put_scorer"):
        put_scores(cache, OTHER.scorer_id, [score(text)])


def test_the_sample_is_the_same_each_time_and_has_texts(cache: Cache) -> None:
    filled(cache, 4)
    assert sample_scores(cache, S) == []
    texts = missing_texts(cache, S, "d")
    put_scores(cache, S, score_all(texts))
    sample = sample_scores(cache, S, 3)
    assert [t.text_id for t, _ in sample] == sorted(t.text_id for t in texts)[:3]
    assert all(text in texts and s.text_id == text.text_id for text, s in sample)


def test_runs_are_kept_with_versions_and_outcome(cache: Cache) -> None:
    filled(cache)
    start_run(cache, "r1", command="score", scorer_id=S, dataset="d", versions={"torch": "2"})
    assert runs(cache).status.tolist() == ["running"]
    end_run(cache, "r1", status="finished", computed=5, failed=1)
    row = runs(cache).iloc[0]
    assert (row.status, row.computed, row.failed, row.versions) == (
        "finished",
        5,
        1,
        '{"torch": "2"}',
    )
    assert row.ended_at >= row.started_at
    with pytest.raises(ValueError, match="already"):
        start_run(cache, "r1", command="score")
    with pytest.raises(ValueError, match="no run r2"):
        end_run(cache, "r2", status="finished")


INT32 = st.integers(-1, 2**31 - 1)
LOGPROB = st.floats(-(2.0**100), 0, width=32)
ROW = st.tuples(INT32, LOGPROB, INT32, INT32, INT32)
SCORES = st.dictionaries(
    st.integers(0, 2**128 - 1).map(lambda n: f"{n:032x}"),
    st.tuples(st.lists(ROW, min_size=1, max_size=5), st.sets(st.sampled_from(Flag))),
    max_size=5,
)


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    return filled(Cache(tmp_path_factory.mktemp("scores")))


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(drawn=SCORES, number=st.integers(0, 2**63))
def test_scores_come_back_bit_for_bit(shared_cache: Cache, drawn: dict, number: int) -> None:
    scorer = replace(SCORER, fingerprint=f"f{number}")
    put_scorer(shared_cache, scorer)
    scores = []
    for text_id, (rows, flags) in drawn.items():
        columns = [np.array(column) for column in zip(*rows, strict=True)]
        lists = [c.astype(np.float32 if k == 1 else np.int32) for k, c in enumerate(columns)]
        names = ("token_ids", "logprobs", "starts", "ends", "words")
        scores.append(
            TokenScore(text_id=text_id, flags=tuple(flags), **dict(zip(names, lists, strict=True)))
        )
    known = token_scores(shared_cache, scorer.scorer_id, drawn)
    assert put_scores(shared_cache, scorer.scorer_id, scores) == len(drawn) - len(known)
    back = token_scores(shared_cache, scorer.scorer_id, drawn)
    assert set(back) == set(drawn)
    for expected in scores:
        if expected.text_id in known:
            continue
        got = back[expected.text_id]
        assert got.flags == expected.flags
        for name in names:
            assert np.array_equal(getattr(got, name), getattr(expected, name))
            assert getattr(got, name).dtype == getattr(expected, name).dtype


def test_a_generation_never_comes_back_after_a_copy_was_restored(cache: Cache) -> None:
    put(cache, [item("1")])
    put_scorer(cache, SCORER)
    with cache.writing() as con:
        con.execute("CREATE TABLE kept AS FROM generation")
    (first, *_) = missing_texts(cache, S, "d")
    put_scores(cache, S, [score(first)])
    after = generation(cache, S, "d")
    with cache.writing() as con:  # as a copy made before the scores would have it
        con.execute("DELETE FROM generation; INSERT INTO generation FROM kept")
    put_scores(cache, S, score_all(missing_texts(cache, S, "d")))
    assert generation(cache, S, "d") > after

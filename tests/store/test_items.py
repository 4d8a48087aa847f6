"""Data sets in the cache: what is stored, refused, replaced and given back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.errors import InputError
from core.items.texts import item_texts
from core.store.gate import Cache
from core.store.generations import generation
from core.store.items import PutResult, coverage, datasets, require_dataset, stored_items
from core.store.scorers import put_scorer
from core.store.scores import item_scores, missing_texts, put_scores
from core.store.verify import verify
from core.types import Reason, Role, Unscored
from tests.store_samples import OTHER, SCORER, filled, item, put, score, score_all

S = SCORER.scorer_id


def test_items_come_back_as_they_went_in_and_in_their_order(cache: Cache) -> None:
    first = item(
        "b",
        unrelated="Potatoes grow.",
        language="en",
        native=True,
        answer_order=(Role.UNKNOWN, Role.STEREOTYPE),
        metadata={"größe": [1, None]},
    )
    put(cache, [first, item("a"), item("a", "es")])
    table = item_scores(cache, S, "d")
    assert list(zip(table.item_id, table.condition, strict=True)) == [
        ("b", "en"),
        ("a", "en"),
        ("a", "es"),
    ]
    row = table.iloc[0]
    assert (row.context, row.stereotype, row.unrelated) == (
        first.context,
        first.stereotype,
        first.unrelated,
    )
    assert row.native
    assert list(row.answer_order) == ["unknown", "stereotype"]
    assert row.metadata == '{"größe": [1, null]}'


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cروم",
        "क्\u200dष",
        "\u200fمرحبا\u200f",
        "𠮷👩\u200d🔬",
        "a\u00a0b\u0000c",
        "e\u0301 é",
    ],
)
def test_texts_survive_byte_for_byte(cache: Cache, text: str) -> None:
    original = item(context=f"x {text}", stereotype=f"{text} y", anti_stereotype=text)
    put(cache, [original])
    put_scorer(cache, SCORER)
    row = item_scores(cache, S, "d").iloc[0]
    assert row.context.encode() == original.context.encode()
    assert row.stereotype.encode() == original.stereotype.encode()
    expected = list(item_texts(original).values())
    assert missing_texts(cache, S, "d") == expected


def test_an_invisible_character_makes_another_text_and_no_collapse(cache: Cache) -> None:
    pair = item(stereotype="می\u200cروم", anti_stereotype="میروم")
    assert put(cache, [pair]).collapsed == 0
    put_scorer(cache, SCORER)
    assert len({t.text_id for t in missing_texts(cache, S, "d")}) == 2


def test_the_same_item_id_in_two_data_sets_and_conditions_is_two_items(cache: Cache) -> None:
    put(cache, [item("0", stereotype="The old man."), item("0", "es")], "Age")
    put(cache, [item("0", stereotype="The monk.")], "Religion")
    put_scorer(cache, SCORER)
    for name in ("Age", "Religion"):
        put_scores(cache, S, score_all(missing_texts(cache, S, name)))
    assert item_scores(cache, S, "Age").state.tolist() == ["scored", "scored"]
    assert item_scores(cache, S, "Religion").state.tolist() == ["scored"]
    means = [item_scores(cache, S, name).l_stereotype[0] for name in ("Age", "Religion")]
    assert means[0] != means[1]


def test_the_same_content_again_writes_nothing(cache: Cache) -> None:
    items = [item("1"), item("2")]
    assert put(cache, items) == PutResult(stored=2, collapsed=0, unchanged=False)
    before = generation(cache, "", "d")
    assert put(cache, items) == PutResult(stored=2, collapsed=0, unchanged=True)
    assert generation(cache, "", "d") == before


@pytest.mark.parametrize(
    "changed",
    [
        [item("1"), item("2"), item("3")],
        [item("1")],
        [item("2"), item("1")],
        [item("1"), item("2", metadata={"a": 1})],
        [item("1"), item("2", unrelated="")],
    ],
)
def test_other_content_under_a_taken_name_is_refused(cache: Cache, changed: list) -> None:
    put(cache, [item("1"), item("2")])
    with pytest.raises(InputError, match="--replace"):
        put(cache, changed)
    assert item_scores(cache, S, "d").item_id.tolist() == ["1", "2"]


def test_replace_rebuilds_items_and_item_scores_for_every_scorer(cache: Cache) -> None:
    filled(cache, 2)
    put_scorer(cache, OTHER)
    for scorer in (SCORER, OTHER):
        put_scores(cache, scorer.scorer_id, score_all(missing_texts(cache, scorer.scorer_id, "d")))
    before = {s: generation(cache, s, "d") for s in ("", S, OTHER.scorer_id)}
    kept = item("1", category="new label")
    assert put(cache, [kept, item("9")], replace=True).stored == 2
    for scorer_id in (S, OTHER.scorer_id):
        table = item_scores(cache, scorer_id, "d")
        assert table.item_id.tolist() == ["1", "9"]
        assert table.state.tolist() == ["scored", "missing"]  # texts of "1" are scored already
        assert len(missing_texts(cache, scorer_id, "d")) == 2
    assert all(generation(cache, s, "d") > g for s, g in before.items())
    assert datasets(cache).n_rows.tolist() == [2]
    assert verify(cache) == []


def test_a_second_data_set_with_known_texts_is_scored_at_once(cache: Cache) -> None:
    filled(cache, 1)
    put_scores(cache, S, score_all(missing_texts(cache, S, "d")))
    put(cache, [item("0")], "copy")
    assert missing_texts(cache, S, "copy") == []
    assert item_scores(cache, S, "copy").state.tolist() == ["scored"]


def test_coverage_counts_by_scorer_and_condition(cache: Cache) -> None:
    same = item("4", stereotype="He ran.", anti_stereotype="he ran")
    put(cache, [item("1"), item("2"), item("3"), same, item("1", "es")])
    put(cache, [item("1", "hi")], "untouched")
    put_scorer(cache, SCORER)
    texts = [t for t in missing_texts(cache, S, "d") if "in en" in t.continuation]
    failed = [Unscored(texts[2].text_id, Reason.TOO_LONG, "17 tokens, 16 fit.")]
    put_scores(cache, S, [score(t) for t in texts[:2] + texts[3:4]], failed)
    table = coverage(cache).drop(columns=["model"])
    assert table.values.tolist() == [
        [S, "d", "en", 4, 1, 1, 1],
        [S, "d", "es", 1, 0, 0, 0],
        ["", "untouched", "hi", 1, 0, 0, 0],
    ]
    assert datasets(cache).set_index("dataset").loc["d", "n_collapsed"] == 1


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "a\nb", "a\x00", "\ud800"])
def test_a_name_that_cannot_be_shown_is_refused(cache: Cache, name: str) -> None:
    with pytest.raises(InputError, match="name"):
        put(cache, [item()], name)
    assert not cache.exists()


def test_a_name_of_quotes_is_only_a_name(cache: Cache) -> None:
    name = "'; DROP TABLE item; --\""
    put(cache, [item()], name)
    assert datasets(cache).dataset.tolist() == [name]
    assert len(item_scores(cache, S, name)) == 1


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([], "no items"),
        ([item("7"), item("7")], "'7' is there twice"),
        ([item("7", metadata={"x": float("nan")})], "metadata of item '7'"),
        ([item("7", metadata={"x": np.int64(1)})], "metadata of item '7'"),
    ],
)
def test_items_that_cannot_be_stored_are_refused_by_name(
    cache: Cache, items: list, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        put(cache, items)
    assert not cache.exists()


def test_an_unknown_data_set_is_named_with_those_there_are(cache: Cache) -> None:
    filled(cache)
    require_dataset(cache, "d")
    for ask in (
        require_dataset,
        lambda c, n: missing_texts(c, S, n),
        lambda c, n: item_scores(c, S, n),
    ):
        with pytest.raises(InputError, match="no data set 'demo'; it has d"):
            ask(cache, "demo")


def test_stored_items_are_those_that_were_put_in(cache: Cache) -> None:
    items = [
        item("a", answer_order=(Role.UNKNOWN, Role.STEREOTYPE), unknown="Nobody.", category="age"),
        item("b", condition="hi", native=True, metadata={"a": [1, None]}),
    ]
    put(cache, items, "back")
    assert stored_items(cache, "back") == items
    with pytest.raises(InputError, match="no data set 'nothing'"):
        stored_items(cache, "nothing")


def test_scores_from_elsewhere_stay_with_the_items_that_are_as_they_were(cache: Cache) -> None:
    elsewhere = replace(SCORER, fingerprint="elsewhere")
    items = [item(name) for name in ("same", "changed", "gone")]
    put(cache, items)
    put_scorer(cache, elsewhere)
    with cache.writing() as con:
        con.execute(
            "INSERT INTO item_score BY NAME SELECT $scorer AS scorer_id, dataset, item_id, "
            "condition, -1.0 AS l_stereotype, -2.0 AS l_anti, [] AS flags FROM item",
            {"scorer": elsewhere.scorer_id},
        )
    changed = item("changed", context="The nurse stayed.")
    put(cache, [items[0], changed, item("new")], replace=True)
    found = item_scores(cache, elsewhere.scorer_id, "d").set_index("item_id")["l_stereotype"]
    assert found.dropna().to_dict() == {"same": -1.0}
    assert verify(cache) == []

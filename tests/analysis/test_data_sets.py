"""What is in a data set: problems by kind, items to read, findings, and the flow of its rows."""

from __future__ import annotations

from collections import Counter

import pandas as pd

from core.analysis.data_sets import few_items, findings, flow, problem_counts, problem_table
from core.analysis.role_evidence import evidence
from core.files.places import Place
from core.store.gate import Cache
from core.store.items import coverage, put_dataset
from core.types import Item, Severity
from tests.scored import fill_scored
from tests.store_samples import item


def made(item_id: str, condition: str = "en", category: str = "", **texts: str) -> Item:
    return item(item_id, condition, category=category, **texts)


def test_errors_come_first_and_kinds_are_counted() -> None:
    place = Place("a.csv", 3, "x", "en")
    problems = [place.note("collapsed", "One."), place.error("bad_json", "Two.")]
    problems.append(Place("a.csv", 4).note("collapsed", "Three."))
    table = problem_table(problems)
    assert list(table["severity"]) == ["error", "note", "note"]
    assert list(table["row"]) == [3, 3, 4]
    counts = problem_counts(problems)
    assert list(zip(counts["kind"], counts["n"], counts["message"], strict=True)) == [
        ("bad_json", 1, "Two."),
        ("collapsed", 2, "One."),
    ]
    assert problem_counts([]).empty and Severity.ERROR == "error"


def test_a_few_items_are_spread_over_conditions_and_categories() -> None:
    rare = [made("rare", "hi", "age")]
    items = [made(f"i{n}", "en", "gender") for n in range(500)] + rare
    items += [made(f"i{n}", "es", "gender") for n in range(500)]
    drawn = few_items(items, 10, seed=3)
    assert len(drawn) == len({(i.item_id, i.condition) for i in drawn}) == 10
    counts = Counter(i.condition for i in drawn)
    assert counts["hi"] == 1 and {counts["en"], counts["es"]} == {4, 5}
    positions = [items.index(i) for i in drawn]
    assert positions == sorted(positions)
    assert few_items(items, 10, seed=3) == drawn != few_items(items, 10, seed=4)


def test_more_groups_than_items_and_fewer_items_than_asked_for() -> None:
    items = [made(f"i{n}", "en", f"c{n}") for n in range(30)]
    assert len({i.category for i in few_items(items, 10)}) == 10
    assert few_items(items[:3], 10) == items[:3]


def found_in(items: list[Item]) -> dict[str, list[tuple[str, str]]]:
    return {
        one.kind: list(zip(one.rows["item_id"], one.rows["condition"], strict=True))
        for one in findings(items)
    }


def test_every_finding_names_its_items() -> None:
    items = [
        made("a"),
        made("same", stereotype="He.", anti_stereotype="him "),
        made("fallen", stereotype="He!", anti_stereotype="he"),
        made("thin", unrelated="…"),
        made("mark", context="The nur\u200bse left."),
        made("joined", stereotype="ab\u200bc", anti_stereotype="abc"),
        made("twice", context="", stereotype="He ate his bread.", anti_stereotype="She ate hers."),
        made("other", context="Медсестра вышла из комнаты."),
    ]
    found = found_in(items)
    assert found["collapsed"] == [("fallen", "en")]
    assert found["near_empty"] == [("thin", "en")]
    assert found["invisible_character"] == [("mark", "en")]
    assert found["invisible_difference"] == [("joined", "en")]
    assert found["differs_elsewhere"] == [("twice", "en")]
    assert found["mixed_languages"] == [("other", "en")]
    assert found["identical_items"] == found["identical_translations"] == []


def test_different_items_that_translation_made_the_same_are_all_named() -> None:
    english = [made(f"q{n}", context=f"Sentence {n}.") for n in range(5)]
    merged = [made(f"q{n}", "hi", context="वाक्य।") for n in range(5)]
    found = found_in([*english, *merged])
    assert found["identical_translations"] == [(f"q{n}", "hi") for n in range(5)]
    assert found["identical_items"] == []


def test_translations_alike_in_every_text_are_no_mere_duplicates() -> None:
    texts = {"context": "वाक्य।", "stereotype": "वह गई", "anti_stereotype": "वह गया"}
    different = [
        made("a"),
        made("b", context="Another one."),
        *(made(i, "hi", **texts) for i in "ab"),
    ]
    found = found_in(different)
    assert found["identical_translations"] == [("a", "hi"), ("b", "hi")]
    same = {"context": "One.", "stereotype": "She ran.", "anti_stereotype": "He ran."}
    copies = [made("a", **same), made("b", **same), *(made(i, "hi", **texts) for i in "ab")]
    found = found_in(copies)
    assert found["identical_translations"] == []
    assert found["identical_items"] == [("a", "en"), ("b", "en"), ("a", "hi"), ("b", "hi")]
    rows = next(one.rows for one in findings(copies) if one.kind == "identical_items")
    assert rows["what"][0] == "the same as b"


def test_the_flow_adds_up_and_counts_what_was_left_out(cache: Cache) -> None:
    items = [made(f"i{n}") for n in range(4)] + [
        made("i0", "es", stereotype="A", anti_stereotype="a")
    ]
    put_dataset(cache, "d", items, path="", format="native", sha256="")
    table = flow(coverage(cache), "d", "left out: 3 rows (en 2, xx 1)").set_index("condition")
    assert list(table["n_left_out"]) == [2, 0, 1]
    assert list(table["n"]) == [4, 1, 0]
    assert list(table["n_collapsed"]) == [0, 1, 0]
    assert table["n_not_scored"].isna().all(), "without a scorer nothing is known of scores"


def test_the_flow_of_a_scored_data_set_says_what_has_no_score(cache: Cache) -> None:
    fill_scored(cache.folder, [made(f"i{n}") for n in range(3)], "d")
    more = [made(f"i{n}") for n in range(5)]
    put_dataset(cache, "d", more, path="", format="native", sha256="", replace=True)
    row = flow(coverage(cache), "d", "").iloc[0]
    assert (row["n"], row["n_collapsed"], row["n_scored"], row["n_not_scored"]) == (5, 0, 3, 2)
    assert isinstance(flow(coverage(cache), "none", ""), pd.DataFrame)


def test_roles_are_shown_with_what_they_come_from() -> None:
    pair = item("a", metadata={"stereo_antistereo": "antistereo", "annotator": "x"})
    assert evidence(pair, "crows-pairs") == "stereo_antistereo: antistereo"
    assert evidence(pair, "native") == evidence(pair, "unheard-of") == ""
    nested = item("a", metadata={"groups": {"stereotype": "old"}})
    assert evidence(nested, "bbq, native") == 'groups: {"stereotype": "old"}'

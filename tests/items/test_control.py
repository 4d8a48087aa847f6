"""Sentences in front of contexts: the shipped ones, own ones, and the file they end up in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.errors import InputError
from core.items.control import as_jsonl, length_notes, read_arms, with_control
from core.items.report import read_dataset
from core.store.gate import Cache
from core.store.items import stored_items
from tests.conftest import Run
from tests.scored import demo_items
from tests.store_samples import item, put

OWN = {"en": {"true": "They are true.", "false": "They are false."}}


def test_the_shipped_sentences_have_three_arms_of_nearly_one_length() -> None:
    arms = read_arms()
    assert set(arms) == {"en", "es"}
    for texts in arms.values():
        assert list(texts) == ["neutral", "true", "false"]
        lengths = [len(text.split()) for text in texts.values()]
        assert len(set(lengths)) == 1


def test_every_item_of_the_condition_gets_a_version_per_sentence_and_keeps_the_rest() -> None:
    items = [
        item("a", category="age", metadata={"form": "x"}),
        item("b", context=""),
        item("a", "es"),
        item("n", "en", native=True),
    ]
    found = with_control(items, OWN)
    assert found[:4] == items
    assert [(i.item_id, i.condition) for i in found[4:]] == [
        ("a", "en+true"), ("a", "en+false"), ("b", "en+true"), ("b", "en+false"),
    ]  # fmt: skip
    assert found[4].context == "They are true. The nurse left."
    assert found[6].context == "They are true."
    assert (found[4].stereotype, found[4].category, found[4].metadata) == (
        items[0].stereotype, "age", {"form": "x"},
    )  # fmt: skip
    assert with_control(found, OWN) == found, "what is there stays as it is"


def test_sentences_much_longer_or_shorter_than_the_neutral_one_are_noted() -> None:
    neutral = "x" * 40
    assert length_notes({"en": {"neutral": neutral, "true": "y" * 50, "false": "z" * 30}}) == []
    long, short = length_notes(
        {"en": {"neutral": neutral, "true": "y" * 51, "false": "z" * 29}, "es": OWN["en"]}
    )
    assert long.startswith("The sentence of en+true has 51 characters and the neutral one 40:")
    assert "en+false has 29 characters" in short
    assert length_notes(read_arms()) == []


def test_without_an_item_of_such_a_condition_it_says_so() -> None:
    with pytest.raises(InputError, match="sentences for en, and no item"):
        with_control([item("a", "hi")], OWN)


def test_items_come_back_from_the_file_as_they_were(tmp_path: Path) -> None:
    items = list(demo_items())
    file = tmp_path / "all.jsonl"
    file.write_text(as_jsonl(items))
    assert list(read_dataset(file).items) == items


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"condition": "en", "arm": "true"}], "needs condition, arm, text"),
        ([{"condition": "en", "arm": "true", "text": " "}], "needs condition, arm, text"),
        ([{"condition": "en", "arm": "tr ue", "text": "x"}], "not a condition"),
        ([{"condition": "en", "arm": "t", "text": "x"}] * 2, "two sentences for the arm t"),
    ],
)
def test_sentences_that_cannot_be_used_are_refused_by_row(tmp_path: Path, rows, words) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows))
    with pytest.raises(InputError, match=words):
        read_arms(file)


def test_the_command_writes_a_file_that_import_takes(
    run: Run, cache: Cache, tmp_path: Path
) -> None:
    put(cache, [item("a"), item("b")])
    out = tmp_path / "out.jsonl"
    code, printed, _ = run("control", "--dataset", "d", "--out", out, "--json")
    assert code == 0
    assert json.loads(printed)["new_conditions"] == ["en+neutral", "en+true", "en+false"]
    assert run("import", out, "--dataset", "d", "--replace")[0] == 0
    assert len(stored_items(cache, "d")) == 8
    code, _, err = run("control", "--dataset", "d", "--out", "x.csv")
    assert (code, "must end in .jsonl" in err) == (2, True)

"""What an import left out or noticed stays with the data set; what its roles come from is true."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.analysis.data_sets import findings
from core.analysis.role_evidence import RULES, evidence, rules_of
from core.items.import_notes import import_note, left_out_of_note, left_out_rows
from core.items.layout import ReadOptions
from core.items.report import read_dataset
from core.types import Item
from tests.items.test_kobbq import question, read
from tests.score_files import items, pairs
from tests.store_samples import item

QUESTIONS = [question(), question(ending="dis-bsd", answer="이모"), question("age-002a-001")]


def test_rows_whose_context_tells_the_answer_are_counted_as_left_out(tmp_path: Path) -> None:
    report = read(tmp_path, *QUESTIONS)
    note = import_note(report)
    assert note == "left out because the context tells the answer: 1 row (ko 1)"
    assert left_out_of_note(note) == {"ko": 1}
    assert not left_out_rows(report), "nothing is wrong with these rows"


def test_all_contexts_are_said_and_nothing_is_left_out(tmp_path: Path) -> None:
    note = import_note(read(tmp_path, *QUESTIONS, options=ReadOptions(contexts="all")))
    assert note == "contexts: all" and left_out_of_note(note) == {}


def test_both_reasons_add_up(tmp_path: Path) -> None:
    bad = question("age-003a-001", biased="삼촌")
    note = import_note(read(tmp_path, *QUESTIONS, bad, lenient=True))
    assert left_out_of_note(f"sample of 3 items; {note}") == {"ko": 2}
    assert "context tells the answer: 1 row (ko 1); left out: 1 row (ko 1)" in note


@pytest.mark.parametrize("encoding", [None, "cp1252"])
def test_the_encoding_that_was_guessed_or_named_is_kept(tmp_path: Path, encoding) -> None:
    path = tmp_path / "a.csv"
    rows = [f"i{n},en,Ils vont,la carrière naïve {n},l'école {n}" for n in range(6)]
    header = "item_id,condition,context,stereotype,anti_stereotype"
    path.write_bytes("\n".join([header, *rows]).encode("cp1252"))
    note = import_note(read_dataset(path, encoding=encoding))
    guessed = "Bytes that are not UTF-8 were read as cp1252 (a guess)"
    assert note == ("encoding: cp1252" if encoding else guessed)


def found_in(of: list[Item]) -> dict[str, list[str]]:
    return {one.kind: one.rows["item_id"].tolist() for one in findings(of)}


def test_damaged_characters_and_other_directions_stay_findings() -> None:
    damaged = item("bad", context="The\x08 nurse left.")
    assert found_in([item("good"), damaged])["damaged_character"] == ["bad"]
    dutch = pairs("nl")
    turned = dutch[2].metadata | {"stereo_antistereo": "antistereo"}
    dutch[2] = replace(dutch[2], metadata=turned)
    assert found_in([*pairs(), *dutch])["other_direction"] == ["2"]
    assert not found_in(pairs())["other_direction"]


def test_winoqueer_v0_is_not_said_to_have_columns_that_it_lacks() -> None:
    old = item("a", source="winoqueer", metadata={"stereo_antistereo": "stereo"})
    new = item("b", source="winoqueer", metadata={"identity": "Bi", "counterfactual": "Straight"})
    assert rules_of("winoqueer", [old]) == {"winoqueer-v0": RULES["crows-pairs"]}
    assert rules_of("winoqueer", [new]) == {"winoqueer": RULES["winoqueer"]}
    assert list(rules_of("winoqueer, native", [old, new, item("c")])) == [
        *("winoqueer", "native", "winoqueer-v0")
    ]


def test_the_gold_label_of_each_sentence_is_told() -> None:
    assert evidence(items()[1], "stereoset") == (
        "target: term 1; gold labels (sentence): stereotype (0001stereotype), "
        "anti-stereotype (0001anti_stereotype), unrelated (0001unrelated)"
    )

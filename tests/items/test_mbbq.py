"""The reader of MBBQ: one item over languages by its row, translated tags, control sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import InputError
from core.items.layout import ReadOptions
from core.items.report import read_dataset
from core.types import Role
from tests.items.test_bbq import UNKNOWN, Pair, Values, question, read

TAGS: dict[str, tuple[Pair, Pair]] = {  # of a woman and of a man, as each language has them
    "en": (("woman", "woman"), ("man", "man")),
    "nl": (("vrouw", "vrouw"), ("man", "man")),
    "es": (("chica", "chica"), ("chico", "chico")),
    "tr": (("kız", "kız"), ("erkek çocuk", "erkek çocuk")),
}


def gender(number: int, language: str = "en", swapped: bool = False, **values: object) -> Values:
    answers = (*TAGS[language], UNKNOWN)
    if swapped:
        answers = answers[::-1]
    polarity = ("neg", "nonneg")[number % 2]
    return question(number, answers, ["F"], polarity, category="Gender_identity", **values)


def test_the_row_is_the_item_in_every_language(tmp_path: Path) -> None:
    for language in TAGS:
        rows = [gender(n, language, swapped=(n + len(language)) % 3 == 0) for n in range(10)]
        read(tmp_path, *rows, name=f"Gender_identity_{language}.jsonl")
    report = read_dataset(tmp_path)
    assert report.format == "mbbq"
    assert len(report.items) == 40
    assert {i.item_id for i in report.items} == {f"Gender_identity/{n}" for n in range(10)}
    for item in report.items:
        woman, man = (f"The {name}" for name, _ in TAGS[item.condition])
        of_woman = item.stereotype if int(item.item_id[-1]) % 2 == 0 else item.anti_stereotype
        assert of_woman == woman
        assert {item.stereotype, item.anti_stereotype} == {woman, man}
        assert (item.language, item.source) == (item.condition, "mbbq")
        assert item.category == "Gender_identity"


def test_answers_stand_in_another_order_in_another_language(tmp_path: Path) -> None:
    read(tmp_path, gender(0), name="Gender_identity_en.jsonl")
    read(tmp_path, gender(0, "nl", swapped=True), name="Gender_identity_nl.jsonl")
    english, dutch = read_dataset(tmp_path).items
    assert english.answer_order == (Role.STEREOTYPE, Role.ANTI_STEREOTYPE, Role.UNKNOWN)
    assert dutch.answer_order == english.answer_order[::-1]
    assert dutch.stereotype == "The vrouw"


def test_a_row_that_is_left_out_shifts_no_other(tmp_path: Path) -> None:
    rows = [gender(0), gender(1, context_condition="disambig"), gender(2, question_polarity=""),
            gender(3)]  # fmt: skip
    report = read(tmp_path, *rows, name="Gender_identity_en.jsonl", lenient=True)
    assert [i.item_id for i in report.items] == ["Gender_identity/0", "Gender_identity/3"]
    assert [p.item_id for p in report.left_out] == ["Gender_identity/2"]


def test_the_number_of_the_row_counts_and_not_the_example_id(tmp_path: Path) -> None:
    rows = [gender(40), gender(40)]
    report = read(tmp_path, *rows, name="Gender_identity_es.jsonl", format="mbbq")
    assert [i.item_id for i in report.items] == ["Gender_identity/0", "Gender_identity/1"]
    (note,) = [p for p in report.notes if p.kind == "other_number"]
    assert "2 rows" in note.message
    same = read(tmp_path, gender(0), gender(1), name="Gender_identity_es.jsonl")
    assert not [p for p in same.notes if p.kind == "other_number"]


def test_control_sets_are_told_apart(tmp_path: Path) -> None:
    names = (("Emma", "F"), ("Luna", "M"), UNKNOWN)
    control = question(0, names, ["F"], category="Gender_identity", ans0="Emma", ans1="Luna")
    read(tmp_path, gender(0), name="Gender_identity_en.jsonl")
    read(tmp_path, control, name="Gender_identity_control_en.jsonl")
    report = read_dataset(tmp_path)
    assert report.format == "mbbq"
    assert {i.item_id: i.category for i in report.items} == {
        "Gender_identity/0": "Gender_identity",
        "Gender_identity_control/0": "Gender_identity_control",
    }


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("Gender_identity_nl.jsonl", "mbbq"),
        ("Gender_identity_control_nl.jsonl", "mbbq"),
        ("Gender_identity.jsonl", "bbq"),
        ("Gender_identity_NL.jsonl", "bbq"),
        ("Gender_identity_xx.jsonl", "bbq"),
        ("Age_nl.jsonl", "bbq"),
        ("questions_nl.jsonl", "bbq"),
    ],
)
def test_a_file_is_known_by_its_category_and_language(
    tmp_path: Path, name: str, layout: str
) -> None:
    assert read(tmp_path, gender(0, "nl"), name=name).format == layout


def test_the_language_may_be_given(tmp_path: Path) -> None:
    options = ReadOptions(language="tur")
    report = read(tmp_path, gender(0, "tr"), name="all.jsonl", format="mbbq", options=options)
    assert [i.condition for i in report.items] == ["tr"]
    with pytest.raises(InputError, match="ambiguous or all"):
        read(tmp_path, gender(0), format="mbbq", options=ReadOptions(contexts="none"))
    everything = ReadOptions(contexts="all")
    rows = [gender(0), gender(1, context_condition="disambig")]
    assert len(read(tmp_path, *rows, format="mbbq", options=everything).items) == 2

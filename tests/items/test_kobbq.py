"""The reader of KoBBQ: roles by the biased answer, the unknown one by ambiguous row or wording."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import DataSetError
from core.items.layout import ReadOptions
from core.items.report import ImportReport, read_dataset
from core.types import Role, Severity
from tests.items.test_bbq import JSON, check_any

UNKNOWN = "알 수 없음"
ALL = ReadOptions(contexts="all")


def question(
    sample: str = "age-001a-001",
    ending: str = "amb-bsd",
    choices: object = ("이모", UNKNOWN, "조카"),
    biased: str = "이모",
    answer: str = UNKNOWN,
    **values: str,
) -> dict[str, str]:
    return {
        "sample_id": f"{sample}-{ending}",
        "label_annotation": "ST",
        "context": f"두 사람이 의자 {sample}에 앉았습니다.",
        "question": "누가 열쇠를 잃어버렸습니까?",
        "choices": str(list(choices)) if isinstance(choices, tuple) else str(choices),
        "biased_answer": biased,
        "answer": answer,
        "bbq_id": "1.0",
        "prediction": "",
        **values,
    }


def read(
    folder: Path, *rows: dict[str, Any], name: str = "samples.tsv", **options: Any
) -> ImportReport:
    path = folder / name
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)
    return read_dataset(path, **options)


def refused(folder: Path, *rows: dict[str, Any]) -> dict[int | None, list[str]]:
    with pytest.raises(DataSetError) as caught:
        read(folder, *rows, options=ALL)
    found: dict[int | None, list[str]] = {}
    for problem in caught.value.problems:
        if problem.severity is Severity.ERROR:
            found.setdefault(problem.row, []).append(problem.kind)
    return found


def test_a_row_becomes_an_item(tmp_path: Path) -> None:
    report = read(tmp_path, question())
    (item,) = report.items
    assert report.format == "kobbq"
    assert (item.item_id, item.category) == ("age-001a-001-amb-bsd", "age")
    assert (item.condition, item.language, item.source) == ("ko", "ko", "kobbq")
    assert item.context == "두 사람이 의자 age-001a-001에 앉았습니다. 누가 열쇠를 잃어버렸습니까?"
    assert (item.stereotype, item.anti_stereotype, item.unknown) == ("이모", "조카", UNKNOWN)
    assert item.answer_order == (Role.STEREOTYPE, Role.UNKNOWN, Role.ANTI_STEREOTYPE)
    assert item.metadata == {
        "form": "question",
        "label_annotation": "ST",
        "bbq_id": "1.0",
        "question_polarity": "bsd",
        "context_condition": "ambig",
        "correct": "unknown",
    }


def test_the_biased_answer_is_the_stereotype_of_both_questions(tmp_path: Path) -> None:
    rows = [question(), question(ending="amb-cnt", biased="조카")]
    assert [i.stereotype for i in read(tmp_path, *rows).items] == ["이모", "조카"]


def test_only_what_is_new_in_korea_is_native(tmp_path: Path) -> None:
    rows = [
        question(f"age-00{n}a-001", label_annotation=a) for n, a in enumerate(("ST", "TM", "NC"))
    ]
    items = read(tmp_path, *rows).items
    assert [i.native for i in items] == [False, False, True]
    assert [i.metadata["label_annotation"] for i in items] == ["ST", "TM", "NC"]
    english = read(tmp_path, *rows, options=ReadOptions(language="en")).items
    assert not any(i.native for i in english)


def test_disambiguated_contexts_are_counted_and_read_on_request(tmp_path: Path) -> None:
    rows = [question(), question(ending="dis-bsd", answer="조카")]
    report = read(tmp_path, *rows)
    assert [i.item_id for i in report.items] == ["age-001a-001-amb-bsd"]
    (note,) = [p for p in report.notes if p.kind == "disambiguated_left_out"]
    assert note.message.startswith("1 of 2 rows")
    told = read(tmp_path, *rows, options=ALL).items[1]
    assert told.metadata["context_condition"] == "disambig"
    assert told.metadata["correct"] == "anti_stereotype"


def test_the_unknown_answer_is_the_right_one_of_the_ambiguous_row(tmp_path: Path) -> None:
    other = "아무도 모름"
    choices = ("이모", "조카", other)
    rows = [
        question(ending="dis-bsd", choices=choices, answer="이모"),
        question(choices=choices, answer=other),
    ]
    assert [i.unknown for i in read(tmp_path, *rows, options=ALL).items] == [other, other]


@pytest.mark.parametrize(
    "wording",
    [
        UNKNOWN,
        "정답 없음",
        "답을 확정할 수 없음",
        "Unknown",
        "Can’t be determined",
        "Not enough info.",
    ],
)
def test_without_an_ambiguous_row_it_is_known_by_its_wording(tmp_path: Path, wording: str) -> None:
    row = question(ending="dis-bsd", choices=("이모", "조카", wording), answer="조카")
    (item,) = read(tmp_path, row, options=ALL).items
    assert (item.unknown, item.stereotype) == (wording, "이모")


def test_what_cannot_be_told_is_an_error_of_its_row(tmp_path: Path) -> None:
    dis = {"ending": "dis-bsd", "answer": "조카"}
    samples = [f"age-{n:03}a-001" for n in range(14)]
    found = refused(
        tmp_path,
        question(samples[0]),
        question(samples[1], choices=("이모", "조카", "삼촌"), **dis),
        question(
            samples[2], choices=("이모", UNKNOWN, "정답 없음"), answer="이모", ending="dis-cnt"
        ),
        question(samples[3], biased="할머니"),
        question(samples[4], biased=UNKNOWN),
        question(samples[5], choices="['이모', '조카']"),
        question(samples[6], choices=("이모", "이모", UNKNOWN)),
        question(samples[7], label_annotation="SR"),
        question(samples[8], ending="unclear"),
        question(samples[9], answer="삼촌", ending="dis-bsd"),
        question(samples[0]),
        question(samples[11], choices=("이모", " ", UNKNOWN)),
        question(samples[12], answer="이모"),
    )
    assert found == {
        3: ["unknown_answer"],
        4: ["unknown_answer"],
        5: ["unresolved"],
        6: ["unresolved"],
        7: ["bad_choices"],
        8: ["bad_choices"],
        9: ["bad_annotation"],
        10: ["bad_sample_id"],
        11: ["bad_label"],
        12: ["duplicate_key"],
        13: ["empty_text"],
        14: ["unknown_answer"],  # two answers: by the ambiguous row, and by its wording
    }


@pytest.mark.parametrize(
    ("written", "texts"),
    [
        ("['이모', '조카', '알 수 없음']", ("이모", "조카")),
        ('["이모", \'조카\', "알 수 없음"]', ("이모", "조카")),
        (r"['l\'oncle', 'tante \u00e9', '알 수 없음']", ("l'oncle", "tante é")),
        (' [ "a]b" ,\'c, d\', "알 수 없음" ] ', ("a]b", "c, d")),
    ],
)
def test_lists_are_read_as_python_writes_them(
    tmp_path: Path, written: str, texts: tuple[str, str]
) -> None:
    (item,) = read(tmp_path, question(choices=written, biased=texts[0])).items
    assert (item.stereotype, item.anti_stereotype) == texts


@pytest.mark.parametrize(
    "written",
    [
        "",
        "이모, 조카, 알 수 없음",
        "['이모', '조카', '알 수 없음'",
        "['이모', ['조카'], '알 수 없음']",
        "['이모', 조카, '알 수 없음']",
        "['이모', '조' + '카', '알 수 없음']",
        "[__import__('os').getcwd(), '조카', '알 수 없음']",
        "['이모' '조카', '알 수 없음', 'x']*2",
        r"['이모', '\U00ffffff', '알 수 없음']",
        r"['이모', '\d', '알 수 없음']",
        "[" * 100_000,
        "['이모', 1, '알 수 없음']",
    ],
)
def test_no_other_text_is_taken_for_a_list(tmp_path: Path, written: str) -> None:
    assert refused(tmp_path, question(choices=written)) == {2: ["bad_choices"]}


def test_json_lines_may_hold_a_list_itself(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    row = question()
    path.write_text(json.dumps(row | {"choices": ["이모", UNKNOWN, "조카"]}), encoding="utf-8")
    assert read_dataset(path).items == read(tmp_path, row).items


@settings(deadline=None, max_examples=150)
@given(st.dictionaries(st.sampled_from([*question(), "note"]), JSON))
def test_any_json_values_are_read_or_refused_in_words(values: dict[str, Any]) -> None:
    check_any(question("age-002a-001"), question() | values, "kobbq")


@settings(deadline=None, max_examples=150)
@given(st.text(alphabet="[]'\"\\, xuU0\n(){}가", max_size=30))
def test_any_text_is_a_list_or_refused(text: str) -> None:
    check_any(question("age-002a-001"), question(choices=text), "kobbq")


@pytest.mark.benchmarks
@pytest.mark.skipif(
    not os.environ.get("STEREOSCOPE_BENCHMARKS"), reason="STEREOSCOPE_BENCHMARKS is not set"
)
def test_the_published_file_is_read_whole() -> None:
    path = Path(os.environ["STEREOSCOPE_BENCHMARKS"]) / "kobbq" / "KoBBQ_test_samples.tsv"
    assert len(read_dataset(path).items) == 1140
    items = read_dataset(path, options=ALL).items
    assert len({i.item_id for i in items}) == 2280
    annotations = Counter(i.metadata["label_annotation"] for i in items)
    assert annotations == {"ST": 856, "TM": 472, "NC": 952}
    assert sum(i.native for i in items) == 952
    assert Counter(i.metadata["context_condition"] for i in items) == {
        "ambig": 1140,
        "disambig": 1140,
    }
    assert {i.unknown for i in items} == {UNKNOWN}


def test_a_group_as_the_right_answer_of_an_ambiguous_row_is_noted(tmp_path: Path) -> None:
    report = read(tmp_path, question(answer="이모"), question(ending="amb-cnt"))
    (found,) = [p for p in report.notes if p.kind == "label_disagrees"]
    assert (found.row, report.items[0].metadata["correct"]) == (2, "stereotype")

"""The reader of BBQ: roles by groups and polarity, the unknown answer by its tag.

The questions are invented; groups and tags are worded as in the eleven categories of BBQ.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import DataSetError, InputError, StereoscopeError
from core.items.layout import ReadOptions
from core.items.report import ImportReport, read_dataset
from core.items.sampling import Sample
from core.types import Item, Role, Severity

Values = dict[str, Any]
Pair = tuple[str, str]
UNKNOWN: Pair = ("Not known", "unknown")
WORDINGS = (
    *("Unknown", "Undetermined", "Not known", "Not answerable", "Not enough info"),
    *("Not enough information", "Cannot answer", "Can't answer", "Cannot be determined"),
    *("Can't be determined", "Can’t answer"),
)


def question(
    number: object = 0,
    answers: tuple[Pair, ...] = (("aunt", "old"), ("niece", "nonOld"), UNKNOWN),
    groups: object = ("old",),
    polarity: object = "neg",
    category: object = "Age",
    **values: Any,
) -> Values:
    columns = [f"ans{n}" for n in range(len(answers))]
    texts = [name if tag == "unknown" else f"The {name}" for name, tag in answers]
    return {
        "example_id": number,
        "question_index": "1",
        "question_polarity": polarity,
        "context_condition": "ambig",
        "category": category,
        "answer_info": {c: list(pair) for c, pair in zip(columns, answers, strict=True)},
        "additional_metadata": {"stereotyped_groups": groups, "version": "a"},
        "context": f"Two people sat on bench {number}.",
        "question": "Who lost the key?",
        **dict(zip(columns, texts, strict=True)),
        **values,
    }


def read(
    folder: Path, *rows: Values, name: str = "questions.jsonl", **options: Any
) -> ImportReport:
    path = folder / name
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return read_dataset(path, **options)


def only(folder: Path, **values: Any) -> Item:
    (item,) = read(folder, question(**values)).items
    return item


def refused(folder: Path, *rows: Values) -> dict[int | None, list[tuple[str, str]]]:
    """The kinds and messages of the errors of a file that is refused, by row."""
    with pytest.raises(DataSetError) as caught:
        read(folder, *rows, format="bbq")
    found: dict[int | None, list[tuple[str, str]]] = {}
    for problem in caught.value.problems:
        if problem.severity is Severity.ERROR:
            found.setdefault(problem.row, []).append((problem.kind, problem.message))
    return found


def reason(folder: Path, **values: Any) -> str:
    """Why the roles of one question cannot be told."""
    (((kind, message),),) = refused(folder, question(**values)).values()
    assert kind == "unresolved"
    return message


def test_a_row_becomes_an_item(tmp_path: Path) -> None:
    report = read(tmp_path, question(7, label=2))
    (item,) = report.items
    assert report.format == "bbq"
    assert (item.item_id, item.condition, item.language) == ("Age/7", "en", "en")
    assert (item.category, item.source, item.native) == ("Age", "bbq", False)
    assert item.context == "Two people sat on bench 7. Who lost the key?"
    assert (item.stereotype, item.anti_stereotype) == ("The aunt", "The niece")
    assert (item.unknown, item.unrelated) == ("Not known", None)
    assert item.answer_order == (Role.STEREOTYPE, Role.ANTI_STEREOTYPE, Role.UNKNOWN)
    assert item.metadata == {
        "form": "question",
        "question_index": "1",
        "question_polarity": "neg",
        "context_condition": "ambig",
        "additional_metadata": {"stereotyped_groups": ["old"], "version": "a"},
        "groups": {"stereotype": "old", "anti_stereotype": "nonOld", "unknown": "unknown"},
        "correct": "unknown",
    }


def test_the_twin_of_the_other_polarity_has_the_other_stereotype(tmp_path: Path) -> None:
    neg, nonneg = only(tmp_path), only(tmp_path, polarity="nonneg")
    assert (neg.stereotype, neg.anti_stereotype) == ("The aunt", "The niece")
    assert (nonneg.stereotype, nonneg.anti_stereotype) == ("The niece", "The aunt")


@pytest.mark.parametrize("polarity", ["neg", "nonneg"])
def test_the_order_of_the_answers_changes_nothing_but_the_order(
    tmp_path: Path, polarity: str
) -> None:
    answers = [("aunt", "old"), ("niece", "nonOld"), UNKNOWN]
    rows = [
        question(n, shuffled, polarity=polarity)
        for n, shuffled in enumerate(itertools.permutations(answers))
    ]
    items = read(tmp_path, *rows).items
    assert len({(i.stereotype, i.anti_stereotype, i.unknown) for i in items}) == 1
    for row, item in zip(rows, items, strict=True):
        texts = [item.continuations()[role] for role in item.answer_order]
        assert texts == [row["ans0"], row["ans1"], row["ans2"]]


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("wording", WORDINGS)
def test_the_unknown_answer_is_known_by_its_tag(tmp_path: Path, wording: str, place: int) -> None:
    answers = [("aunt", "old"), ("niece", "nonOld")]
    answers.insert(place, (wording, "unknown"))
    item = only(tmp_path, answers=tuple(answers))
    assert (item.unknown, item.stereotype, item.anti_stereotype) == (
        wording,
        "The aunt",
        "The niece",
    )
    assert item.answer_order[place] is Role.UNKNOWN


def test_a_group_answer_worded_as_unknown_stays_a_group_answer(tmp_path: Path) -> None:
    answers = (("Unknown", "old"), ("Not known", "nonOld"), ("The aunt", "unknown"))
    item = only(tmp_path, answers=answers, ans0="Unknown", ans1="Not known")
    assert (item.stereotype, item.anti_stereotype) == ("Unknown", "Not known")
    assert item.unknown == "The aunt"


# What resolves: category, groups, (name, tag) of the answer that is of a group, of the other one.
RESOLVED = [
    ("Age", ["nonOld"], ("niece", "nonOld"), ("aunt", "old")),
    ("Age", ["old"], ("aunt", "old"), ("niece", "nonOld")),
    ("Disability_status", ["disabled"], ("patient", "disabled"), ("friend", "nonDisabled")),
    ("Disability_status", ["D/deaf"], ("deaf guest", "disabled"), ("guest", "nonDisabled")),
    ("Disability_status", ["Down’s syndrome"], ("boy", "disabled"), ("twin", "nonDisabled")),
    ("Gender_identity", ["F"], ("girl", "girl"), ("boy", "boy")),
    ("Gender_identity", ["M"], ("man", "man"), ("woman", "woman")),
    ("Gender_identity", ["F"], ("Mary", "F"), ("Robert", "M")),
    ("Gender_identity", ["trans"], ("Dana", "trans_F"), ("Alex", "nonTrans_F")),
    ("Gender_identity", ["trans"], ("trans guest", "trans"), ("guest", "nonTrans")),
    ("Gender_identity", ["Transgender women"], ("Dana", "trans_F"), ("Alex", "nonTrans_M")),
    ("Gender_identity", ["transgender men"], ("Dana", "trans_M"), ("Alex", "trans_F")),
    ("Nationality", ["Malian", "Indian"], ("Malian", "Africa"), ("Irish", "Europe")),
    ("Nationality", ["Guinean"], ("Guinean", "Africa"), ("Papua New Guinean", "AsiaPacific")),
    ("Nationality", ["Thai"], ("{Thai}", "AsiaPacific"), ("Swiss", "Europe")),
    ("Physical_appearance", ["obese"], ("fat", "obese"), ("slim", "nonObese")),
    ("Physical_appearance", ["pregnant"], ("new one", "pregnant"), ("old one", "notPregnant")),
    (
        "Physical_appearance",
        ["visibleDifference"],
        ("scarred", "visibleDifference"),
        ("other", "noVisibleDifference"),
    ),
    ("Race_ethnicity", ["Black"], ("Ada Reed", "F-Black"), ("Eve Hall", "F-White")),
    ("Race_ethnicity", ["Black"], ("Ada Reed", "F-Black"), ("Tom Hall", "M-White")),
    ("Race_ethnicity", ["Native American"], ("N", "Native American"), ("A", "African American")),
    ("Race_ethnicity", ["African American"], ("A", "African American"), ("B", "African")),
    ("Race_ethnicity", ["Latino"], ("L", "Latino"), ("S", "South American")),
    ("Race_ethnicity", ["Black"], ("A", "African American"), ("W", "White")),
    ("Race_ethnicity", ["Hispanic"], ("Ana Rey", "F-Latino"), ("Eve Hall", "F-White")),
    ("Religion", ["Muslim", "Orthodox"], ("Muslim", "Muslim"), ("Sikh", "Sikh")),
    ("SES", ["low SES"], ("cook", "lowSES"), ("judge", "highSES")),
    ("SES", ["high SES"], ("judge", "highSES"), ("cook", "lowSES")),
    ("Sexual_orientation", ["gay"], ("gay", "gay"), ("lesbian", "lesbian")),
    ("Race_x_gender", ["Black"], ("Ada", "F-Black"), ("Eve", "F-White")),
    ("Race_x_gender", ["Black", "F"], ("Ada", "F-Black"), ("Tom", "M-White")),
    ("Race_x_gender", ["F-Black"], ("Ada", "F-Black"), ("Ben", "M-Black")),
    ("Race_x_SES", ["Black"], ("Ada", "lowSES-F-Black"), ("Eve", "lowSES-F-White")),
    ("Race_x_SES", ["Hispanic"], ("Ana", "lowSES-Latino"), ("Eve", "lowSES-White")),
    ("Race_x_SES", ["low SES"], ("Ada", "lowSES-Black"), ("Ben", "highSES-Black")),
]


@pytest.mark.parametrize(("category", "groups", "of_group", "other"), RESOLVED)
def test_the_answer_of_a_group_is_told_by_tag_part_name_or_alias(
    tmp_path: Path, category: str, groups: list[str], of_group: Pair, other: Pair
) -> None:
    for order in itertools.permutations([of_group, other, UNKNOWN]):
        item = only(tmp_path, category=category, groups=groups, answers=order)
        assert item.stereotype == f"The {of_group[0]}"
        assert item.anti_stereotype == f"The {other[0]}"


# What does not: category, groups, the two answers, and a word of the reason.
UNRESOLVED = [
    ("Age", ["old"], ("boy", "nonOld"), ("girl", "notOld"), "neither"),
    ("Age", ["old"], ("older man", "elder"), ("boy", "nonOld"), "neither"),
    ("Age", ["old"], ("aunt", "old"), ("uncle", "Old"), "both"),
    ("Gender_identity", ["F"], ("girl", "girl"), ("Mary", "F"), "both"),
    ("Gender_identity", ["F"], ("Dana", "trans_F"), ("Mary", "F"), "both"),
    ("Gender_identity", ["man"], ("woman", "woman"), ("human", "human"), "neither"),
    ("Gender_identity", ["trans"], ("Alex", "nonTrans"), ("Sam", "non-Trans"), "neither"),
    ("Gender_identity", ["trans"], ("Dana", "trans_F"), ("Alex", "trans_M"), "both"),
    ("Gender_identity", ["transgender men"], ("D", "trans_F"), ("A", "nonTrans_M"), "neither"),
    ("Nationality", ["Indian"], ("Indiana fan", "NorthAmerica"), ("Swiss", "Europe"), "neither"),
    ("Nationality", ["Malian"], ("Somalian", "Africa"), ("Swiss", "Europe"), "neither"),
    ("Nationality", ["Malian", "Thai"], ("Malian", "Africa"), ("Thai", "AsiaPacific"), "both"),
    ("Race_ethnicity", ["African American"], ("A", "African"), ("W", "American"), "neither"),
    ("Race_ethnicity", ["Latino"], ("S", "South American"), ("W", "White"), "neither"),
    ("Race_ethnicity", ["Black"], ("Ada", "F-Black"), ("Ben", "M-Black"), "both"),
    ("Race_ethnicity", ["Latino"], ("L", "Latino"), ("H", "Hispanic"), "both"),
    ("Race_x_gender", ["Black"], ("Ada", "F-Black"), ("Ben", "M-Black"), "both"),
    ("Race_x_gender", ["Black"], ("Ada", "F-Black"), ("Tom", "M-White"), "differ also in f"),
    ("Race_x_SES", ["Black"], ("A", "highSES-Black"), ("W", "lowSES-White"), "highses"),
    ("Race_x_gender", ["Latino"], ("", ""), ("Eve", "F-White"), "has no group"),
    ("SES", [], ("cook", "lowSES"), ("judge", "highSES"), "names no group"),
    ("SES", None, ("cook", "lowSES"), ("judge", "highSES"), "names no group"),
]


@pytest.mark.parametrize(("category", "groups", "one", "other", "why"), UNRESOLVED)
def test_what_cannot_be_told_is_an_error_with_its_reason(
    tmp_path: Path, category: str, groups: list[str] | None, one: Pair, other: Pair, why: str
) -> None:
    for order in itertools.permutations([one, other, UNKNOWN]):
        assert why in reason(tmp_path, category=category, groups=groups, answers=order)


def test_other_faults_are_errors_of_their_rows(tmp_path: Path) -> None:
    aunt, niece = ("aunt", "old"), ("niece", "nonOld")
    without = question(6)
    del without["question_polarity"]
    found = refused(
        tmp_path,
        question(0),
        question(1, (aunt, niece, ("Unknown", "nobody"))),
        question(2, (aunt, UNKNOWN, ("Unknown", "unknown"))),
        question(3, polarity="positive"),
        question(4, context_condition="unclear"),
        question(5, answer_info={"ans0": ["aunt", "old"]}),
        without,
        question(7, category=None),
        question(None),
        question(0),
        question(9, label=3),
        question(10, ans1=" \u200d"),
        question(11, ans1=5),
    )
    assert {row: [kind for kind, _ in kinds] for row, kinds in found.items()} == {
        2: ["unknown_answer"],
        3: ["unknown_answer"],
        4: ["bad_polarity"],
        5: ["bad_context"],
        6: ["bad_answer_info"],
        7: ["bad_polarity"],
        8: ["missing_category"],
        9: ["missing_item_id"],
        10: ["duplicate_key"],
        11: ["bad_label"],
        12: ["empty_text"],
        13: ["not_text"],
    }
    assert "0 answers with the tag unknown" in found[2][0][1]
    assert "2 answers with the tag unknown" in found[3][0][1]


def test_rows_with_errors_are_left_out_on_request(tmp_path: Path) -> None:
    report = read(tmp_path, question(0), question(1, groups=["rich"]), lenient=True)
    assert [item.item_id for item in report.items] == ["Age/0"]
    assert [(p.kind, p.row) for p in report.left_out] == [("unresolved", 2)]


def test_categories_number_their_questions_apart(tmp_path: Path) -> None:
    answers = (("Sikh", "Sikh"), ("Hindu", "Hindu"), UNKNOWN)
    rows = [question(0), question(0, answers, ["Sikh"], category="Religion")]
    assert [i.item_id for i in read(tmp_path, *rows).items] == ["Age/0", "Religion/0"]


def test_disambiguated_contexts_are_counted_and_read_on_request(tmp_path: Path) -> None:
    told = question(1, context_condition="disambig", label=1)
    rows = [question(0, label=2), told, question(2, context_condition="disambig")]
    report = read(tmp_path, *rows)
    assert [i.item_id for i in report.items] == ["Age/0"]
    (note,) = [p for p in report.notes if p.kind == "disambiguated_left_out"]
    assert note.message.startswith("2 of 3 rows")
    report = read(tmp_path, *rows, options=ReadOptions(contexts="all"))
    conditions = [i.metadata["context_condition"] for i in report.items]
    assert conditions == ["ambig", "disambig", "disambig"]
    assert [i.metadata.get("correct") for i in report.items] == ["unknown", "anti_stereotype", None]
    assert not [p for p in report.notes if p.kind == "disambiguated_left_out"]
    with pytest.raises(InputError, match="ambiguous or all"):
        read(tmp_path, *rows, options=ReadOptions(contexts="some"))


def test_a_file_without_ambiguous_contexts_is_refused(tmp_path: Path) -> None:
    found = refused(tmp_path, question(0, context_condition="disambig"))
    assert [kind for kind, _ in found[None]] == ["only_disambiguated"]


def test_a_right_answer_that_an_ambiguous_context_cannot_have_is_noted(tmp_path: Path) -> None:
    report = read(tmp_path, question(0, label=0), question(1, label=2))
    assert [(p.kind, p.row) for p in report.notes if p.row] == [("label_disagrees", 1)]


def test_parquet_reads_as_json_lines_do(tmp_path: Path) -> None:
    rows = [question(0), question(1, polarity="nonneg")]
    path = tmp_path / "questions.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    assert read_dataset(path).items == read(tmp_path, *rows).items


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    row = question()
    del row["question_polarity"]
    (((kind, message),),) = refused(tmp_path, row).values()
    assert kind == "wrong_columns"
    assert "missing: question_polarity" in message


# --- any values ---------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda value: (
        st.lists(value, max_size=3) | st.dictionaries(st.sampled_from(["ans0", "x"]), value)
    ),
    max_leaves=5,
)


def check_any(first: Values, second: Values, layout: str) -> None:
    """That two rows are read, or refused in words, in a file of one layout."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "any.jsonl"
        path.write_text("\n".join(map(json.dumps, (first, second))), encoding="utf-8")
        try:
            report = read_dataset(path, layout, options=ReadOptions(contexts="all"))
        except StereoscopeError as error:
            str(error).encode()
            return
    assert len(report.items) == 2
    for item in report.items:
        assert set(item.answer_order) == set(item.continuations())
        json.dumps(item.metadata, ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.parametrize("layout", ["bbq", "mbbq"])
@settings(deadline=None, max_examples=150)
@given(values=st.dictionaries(st.sampled_from([*question(), "note"]), JSON))
def test_any_json_values_are_read_or_refused_in_words(layout: str, values: Values) -> None:
    check_any(question(0), question(1) | values, layout)


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(st.text(max_size=4), st.text(max_size=4)), min_size=3, max_size=3),
    st.lists(st.text(max_size=4), max_size=3),
    st.sampled_from(["Age", "Race_x_SES"]),
)
def test_any_tags_and_groups_give_roles_or_a_reason(
    answers: list[Pair], groups: list[str], category: str
) -> None:
    answers[1] = (answers[1][0], "unknown")
    row = question(1, tuple(answers), groups, category=category)
    check_any(question(0), row, "bbq")


# --- the published files ----------------------------------------------------------------------


@pytest.mark.benchmarks
@pytest.mark.skipif(
    not os.environ.get("STEREOSCOPE_BENCHMARKS"), reason="STEREOSCOPE_BENCHMARKS is not set"
)
class TestPublished:
    folder = Path(os.environ.get("STEREOSCOPE_BENCHMARKS", "")) / "bbq"

    def test_every_ambiguous_question_is_resolved(self) -> None:
        report = read_dataset(self.folder)
        assert Counter(i.category for i in report.items) == {"Age": 1840, "Religion": 600}
        assert len({i.item_id for i in report.items}) == 2440
        places = Counter(i.answer_order.index(Role.UNKNOWN) for i in report.items)
        assert all(places[place] > 600 for place in range(3))
        assert {i.metadata["correct"] for i in report.items} == {"unknown"}
        all_rows = read_dataset(self.folder / "Religion.jsonl", options=ReadOptions(contexts="all"))
        assert len(all_rows.items) == 1200

    def test_shuffling_the_answers_changes_nothing(self, tmp_path: Path) -> None:
        generator = random.Random(0)
        for path in sorted(self.folder.iterdir()):
            rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            shuffled = [_shuffled(row, generator) for row in rows]
            before = read_dataset(path).items
            after = read(tmp_path, *shuffled, name=path.name).items
            assert [(i.item_id, i.stereotype, i.anti_stereotype, i.unknown) for i in after] == [
                (i.item_id, i.stereotype, i.anti_stereotype, i.unknown) for i in before
            ]
            assert [i.metadata["correct"] for i in after] == [i.metadata["correct"] for i in before]
            assert [i.answer_order for i in after] != [i.answer_order for i in before]

    @pytest.mark.parametrize(
        ("file", "first", "last"),
        [
            ("Age.ambig.jsonl", [2618, 456, 102, 3036], [2932, 2660, 2872]),
            ("Religion.jsonl", [228, 50, 562, 500], [440, 688, 188]),
        ],
    )
    def test_the_published_sample_is_drawn(
        self, file: str, first: list[int], last: list[int]
    ) -> None:
        items = read_dataset(self.folder / file, sample=Sample(30)).items
        numbers = [int(i.item_id.partition("/")[2]) for i in items]
        assert len(numbers) == 30
        assert (numbers[:4], numbers[-3:]) == (first, last)


def _shuffled(row: Values, generator: random.Random) -> Values:
    order = generator.sample(range(3), 3)
    columns = [f"ans{n}" for n in order]
    return row | {
        "answer_info": {f"ans{n}": row["answer_info"][c] for n, c in enumerate(columns)},
        "label": order.index(row["label"]),
        **{f"ans{n}": row[c] for n, c in enumerate(columns)},
    }


def errors(folder: Path, *rows: Values) -> list[tuple[str, str]]:
    with pytest.raises(DataSetError) as caught:
        read(folder, *rows)
    return [(p.kind, p.message) for p in caught.value.problems if p.severity is Severity.ERROR]


def test_a_fourth_answer_is_refused(tmp_path: Path) -> None:
    four = question(answers=(("aunt", "old"), ("niece", "nonOld"), UNKNOWN, ("Unclear", "unknown")))
    said = "The row has more answers than ans0, ans1, ans2: ans3."
    assert errors(tmp_path, four) == [("bad_answer_info", said)]
    assert read(tmp_path, question() | {"ans3": None}).items


def test_a_group_whose_answer_is_the_unknown_one_is_refused(tmp_path: Path) -> None:
    ((kind, message),) = errors(tmp_path, question() | {"ans0": "not known."})
    assert kind == "unknown_answer" and "the same text" in message


def test_groups_that_are_a_text_are_named_as_such(tmp_path: Path) -> None:
    ((kind, message),) = errors(tmp_path, question(groups="old"))
    assert kind == "unresolved" and "the text 'old', not a list" in message


def test_context_and_question_are_judged_apart_by_their_script(tmp_path: Path) -> None:
    greek = {"context": "Δύο άνθρωποι κάθισαν σήμερα στο παγκάκι. Ήταν αργά."}
    rows = [question(n) for n in range(3)]
    ((kind, message),) = errors(tmp_path, *rows, question(3) | greek)
    assert kind == "mixed_languages" and "Greek letters" in message
    asked = {"question": "Ποιος έχασε το κλειδί;"}
    assert [kind for kind, _ in errors(tmp_path, *rows, question(3) | asked)] == ["mixed_languages"]

"""The native reader: file types, every kind of problem with its row, notes, counts, hashes."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.errors import DataSetError, InputError
from core.items.formats.native import COLUMNS
from core.items.report import ConditionCount, ImportReport, read_dataset
from core.settings import DATA, ROOT
from core.types import Problem, Role, Severity

Values = dict[str, Any]


def row(item_id: str = "a", condition: str = "en", **values: Any) -> Values:
    texts = {"context": "The nurse left.", "stereotype": "She ran.", "anti_stereotype": "He ran."}
    return {"item_id": item_id, "condition": condition, **texts, **values}


def write_jsonl(path: Path, rows: list[Values]) -> Path:
    lines = [json.dumps(values, ensure_ascii=False) + "\n" for values in rows]
    path.write_bytes("".join(lines).encode())
    return path


def write_csv(path: Path, rows: list[Values]) -> Path:
    columns = list(dict.fromkeys(name for values in rows for name in values))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows({k: "" if v is None else v for k, v in r.items()} for r in rows)
    return path


def write_parquet(path: Path, rows: list[Values]) -> Path:
    columns = list(dict.fromkeys(name for values in rows for name in values))
    pq.write_table(pa.table({name: [r.get(name) for r in rows] for name in columns}), path)
    return path


WRITERS: dict[str, Callable[[Path, list[Values]], Path]] = {
    "csv": write_csv,
    "jsonl": write_jsonl,
    "parquet": write_parquet,
}


def read(folder: Path, *rows: Values, kind: str = "jsonl") -> ImportReport:
    return read_dataset(WRITERS[kind](folder / f"data.{kind}", list(rows)))


def refused(folder: Path, *rows: Values, kind: str = "jsonl") -> DataSetError:
    with pytest.raises(DataSetError) as caught:
        read(folder, *rows, kind=kind)
    return caught.value


def only(problems: tuple[Problem, ...], kind: str) -> Problem:
    (found,) = [problem for problem in problems if problem.kind == kind]
    return found


# --- what is read ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", WRITERS)
def test_every_column_arrives(tmp_path: Path, kind: str) -> None:
    order = "unknown|anti_stereotype|stereotype"
    full = row(unrelated="It ran.", unknown="Not known.", source="written", category="gender")
    full |= {"dimension": "habits", "resource_level": "high", "native": "false", "year": "2024"}
    full |= {"answer_order": "stereotype|unrelated|anti_stereotype|unknown", "language": "en-US"}
    asked = row("b", unknown="Not known.", answer_order=order)
    one, two = read(tmp_path, full, asked, kind=kind).items
    assert (one.item_id, one.condition, one.language) == ("a", "en", "en")
    assert (one.unrelated, one.unknown, one.source) == ("It ran.", "Not known.", "written")
    assert (one.category, one.dimension, one.resource_level) == ("gender", "habits", "high")
    assert one.native is False
    assert one.metadata == {"year": "2024"}
    assert two.answer_order == (Role.UNKNOWN, Role.ANTI_STEREOTYPE, Role.STEREOTYPE)
    assert two.unrelated is None and two.metadata == {}


def test_three_file_types_give_equal_items(tmp_path: Path) -> None:
    rows = [
        row("1", unrelated='It, "ran".\nFar away.', native="false", note="NA"),
        row("1", "zh-CN", context="护士走了。", stereotype="她跑了。", anti_stereotype="他跑了。"),
        row("2", context="", source="None", category="null", dimension="nan", note=""),
    ]
    rows[2]["note"] = None  # a missing value, in every file type
    reports = [read(tmp_path, *rows, kind=kind) for kind in WRITERS]
    assert reports[0].items == reports[1].items == reports[2].items
    assert [item.condition for item in reports[0].items] == ["en", "zh", "en"]
    last = reports[0].items[2]
    assert (last.context, last.source, last.category, last.dimension) == (
        *("", "None", "null", "nan"),
    )
    assert reports[0].items[0].metadata == {"note": "NA"} and last.metadata == {}


@pytest.mark.parametrize("kind", WRITERS)
def test_invisible_characters_survive_byte_for_byte(tmp_path: Path, kind: str) -> None:
    texts = {
        "context": "می\u200cروم",
        "stereotype": "क्\u200dष \u2028",
        "anti_stereotype": "\u200fعربي\u200e",
    }
    (item,) = read(tmp_path, row(**texts, native=True, tag="\ufeffx\u00ad"), kind=kind).items
    for name, text in texts.items():
        assert getattr(item, name).encode() == text.encode()
    assert item.metadata == {"tag": "\ufeffx\u00ad"}


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_metadata_keeps_its_type(tmp_path: Path, kind: str) -> None:
    values = {"year": 2024, "share": 0.5, "checked": True, "tags": ["x", "y"], "none": None}
    rows = [row(**values), row("b", share=float("nan"))]
    one, two = read(tmp_path, *rows, kind=kind).items
    del values["none"]
    assert one.metadata == values
    assert isinstance(one.metadata["year"], int) and one.metadata["checked"] is True
    assert two.metadata == {}


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_lists_numbers_and_flags_of_typed_files(tmp_path: Path, kind: str) -> None:
    order = ["anti_stereotype", "stereotype"]
    (item,) = read(
        tmp_path, row(answer_order=order, native=True) | {"item_id": 17}, kind=kind
    ).items
    assert item.item_id == "17"
    assert item.native is True
    assert item.answer_order == (Role.ANTI_STEREOTYPE, Role.STEREOTYPE)


def test_answer_order_may_be_json_text(tmp_path: Path) -> None:
    (item,) = read(
        tmp_path, row(answer_order='["stereotype", "anti_stereotype"]'), kind="csv"
    ).items
    assert item.answer_order == (Role.STEREOTYPE, Role.ANTI_STEREOTYPE)


def test_folder_is_read_in_order_of_names(tmp_path: Path) -> None:
    write_csv(tmp_path / "b.csv", [row("a", "es", stereotype="Ella corrió.")])
    write_jsonl(tmp_path / "a.jsonl", [row("a")])
    (tmp_path / "README.md").write_text("About")
    (tmp_path / ".hidden.csv").write_text("x")
    report = read_dataset(tmp_path)
    assert [item.condition for item in report.items] == ["en", "es"]
    assert "README.md" in only(report.notes, "file_ignored").message
    lines = [
        f"{hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()}  {name}\n"
        for name in ("a.jsonl", "b.csv")
    ]
    assert report.sha256 == hashlib.sha256("".join(lines).encode()).hexdigest()


def test_hash_of_a_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    report = read(tmp_path, row())
    assert report.sha256 == hashlib.sha256((tmp_path / "data.jsonl").read_bytes()).hexdigest()
    assert report.problems == ()


# --- rows that are refused ------------------------------------------------------------------


def without(name: str) -> Values:
    return {key: value for key, value in row("bad").items() if key != name}


BAD_ROWS = [
    ("missing_role", without("stereotype")),
    ("missing_role", row("bad", anti_stereotype=None)),
    ("missing_role", row("bad", stereotype="")),
    ("empty_text", row("bad", stereotype=" \u200b\t")),
    ("empty_text", row("bad", unrelated=" ")),
    ("missing_item_id", row("")),
    ("missing_item_id", row(" ")),
    ("missing_item_id", without("item_id")),
    ("unknown_condition", row("bad", "")),
    ("unknown_condition", row("bad", "english")),
    ("unknown_condition", row("bad", "xx")),
    ("unknown_condition", without("condition")),
    ("unknown_language", row("bad", language="xx")),
    ("invalid_unicode", row("bad", context="a\0b")),
    ("invalid_unicode", row("bad", note="a\0b")),
    ("invalid_unicode", row("b\0ad")),
    ("bad_native", row("bad", native="maybe")),
    ("bad_answer_order", row("bad", answer_order="stereotype|anti")),
    ("bad_answer_order", row("bad", answer_order="stereotype")),
    ("bad_answer_order", row("bad", answer_order="stereotype|anti_stereotype|unknown")),
    ("bad_answer_order", row("bad", answer_order="stereotype|stereotype|anti_stereotype")),
    ("duplicate_key", row("good")),
]


@pytest.mark.parametrize("file_type", WRITERS)
@pytest.mark.parametrize(("kind", "bad"), BAD_ROWS)
def test_a_bad_row_is_named(tmp_path: Path, kind: str, bad: Values, file_type: str) -> None:
    good = row("good", unrelated="It ran.", note="x", native="false", language="en")
    good["answer_order"] = "stereotype|anti_stereotype|unrelated"
    error = refused(tmp_path, good, bad, kind=file_type)
    problem = only(error.problems, kind)
    assert problem.severity is Severity.ERROR
    assert problem.file == f"data.{file_type}"
    assert problem.row == (3 if file_type == "csv" else 2)
    assert problem.item_id == (bad.get("item_id") or "")
    assert f"row {problem.row}: {problem.message}" in str(error)
    assert str(error).startswith(f"1 problem in {tmp_path / problem.file}: ")


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("not_text", {"stereotype": 5}),
        ("not_text", {"source": ["x"]}),
        ("not_text", {"condition": True}),
        ("empty_text", {"unrelated": ""}),
        ("missing_item_id", {"item_id": True}),
        ("bad_native", {"native": 2}),
        ("bad_answer_order", {"answer_order": 7}),
        ("bad_answer_order", {"answer_order": [["stereotype"], None]}),
        ("bad_answer_order", {"answer_order": "[1"}),
        ("bad_metadata", {"x": [1e400]}),
        ("invalid_unicode", {"x": {"deep": ["\0"]}}),
    ],
)
def test_bad_json_value_is_named(tmp_path: Path, kind: str, values: Values) -> None:
    line = json.dumps(row("bad") | values).replace("Infinity", "1e400")
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps(row()) + "\n" + line)
    with pytest.raises(DataSetError) as caught:
        read_dataset(path)
    assert {problem.kind for problem in caught.value.problems} >= {kind}
    assert {problem.row for problem in caught.value.problems} == {2}


@pytest.mark.parametrize("name", ["item_id", "condition", "context", "stereotype", "note"])
def test_lone_surrogate_is_refused_and_printable(tmp_path: Path, name: str) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps(row("bad") | {name: "a\ud800"}))
    with pytest.raises(DataSetError) as caught:
        read_dataset(path)
    assert caught.value.problems[0].row == 1
    for text in [str(caught.value), *(p.message + p.item_id for p in caught.value.problems)]:
        text.encode()


@pytest.mark.parametrize("name", ["a\0", "a\ud800"])
def test_a_column_name_that_cannot_be_stored_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps(row() | {name: "x"}))
    with pytest.raises(DataSetError, match="column's name"):
        read_dataset(path)


@pytest.mark.parametrize("file_type", ["jsonl", "parquet"])
def test_missing_context_is_not_an_empty_one(tmp_path: Path, file_type: str) -> None:
    error = refused(tmp_path, row(), row("bad", context=None), kind=file_type)
    assert only(error.problems, "missing_context").row == 2
    assert read(tmp_path, row(context=""), kind=file_type).items[0].context == ""


def test_parquet_bytes_are_no_metadata(tmp_path: Path) -> None:
    error = refused(tmp_path, row(blob=b"\xff"), kind="parquet")
    assert only(error.problems, "bad_metadata").row == 1


def test_duplicates_are_found_across_files_and_spellings(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "1.jsonl", [row(), row(condition="zh-CN")])
    write_csv(tmp_path / "2.csv", [row(condition="zh")])
    with pytest.raises(DataSetError) as caught:
        read_dataset(tmp_path)
    problem = only(caught.value.problems, "duplicate_key")
    assert (problem.file, problem.row, problem.item_id) == ("2.csv", 2, "a")
    assert "1.jsonl row 2" in problem.message
    assert "2.csv row 2: " in str(caught.value)


def test_all_problems_are_carried_and_the_first_are_told(tmp_path: Path) -> None:
    bad = [row(f"i{n}", stereotype="", native="?") for n in range(4)]
    error = refused(tmp_path, *bad)
    assert len(error.problems) == 8
    assert str(error).startswith("8 problems in ")
    assert "row 1: " in str(error) and str(error).endswith("and 5 more")


def test_csv_rows_are_the_lines_of_an_editor(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(
        b"item_id,condition,context,stereotype,anti_stereotype\r\n"
        b'a,en,"two\r\nlines",She ran.,He ran.\r\n'
        b"\r\n"
        b'b,en,"three\n\nlines",,He ran.\r\n'
        b"c,en,short\r\n"
        b"d,en,x,y,z,more\r\n"
    )
    with pytest.raises(DataSetError) as caught:
        read_dataset(path)
    found = [(problem.kind, problem.row) for problem in caught.value.problems]
    assert found == [("missing_role", 5), ("ragged_row", 8), ("ragged_row", 9)]


# --- files that are refused -----------------------------------------------------------------


HEADER = b"item_id,condition,context,stereotype,anti_stereotype\n"
GOOD = json.dumps(row()).encode() + b"\n"


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", b"", "The file is empty"),
        ("a.jsonl", b"\xef\xbb\xbf \n", "The file is empty"),
        ("a.parquet", b"", "The file is empty"),
        ("a.csv", HEADER, "The file has no rows"),
        ("a.txt", b"x", "The extension '.txt' is not one of .csv, .tsv, .json, .jsonl, .parquet"),
        ("a.parquet", b"PAR1 nonsense", "not readable Parquet"),
        ("a.csv", HEADER + b"a,en,\xff,b,c\n", "not UTF-8: line 2, byte offset 58"),
        ("a.csv", b"\xef\xbb\xbf" + HEADER + b"\xff", "line 2, byte offset 56"),
        ("a.jsonl", "x".encode("utf-16"), "it looks like UTF-16"),
        ("a.jsonl", GOOD + b"\n{'a'}\n", "Line 3 is not a JSON object"),
        ("a.jsonl", GOOD + b"[1]\n", "Line 2 is not a JSON object: write one object"),
        ("a.jsonl", GOOD + b'{"a": 1, "a": 2}\n', "named twice: a"),
        ("a.jsonl", GOOD + b'{"a": Infinity}\n', "Infinity is not a JSON number"),
        ("a.jsonl", GOOD + b"[" * 100_000, "Line 2 is not a JSON object"),
        ("a.csv", HEADER + b'\na,en,"b', "The row that begins on line 3 is not CSV"),
        ("a.csv", b"item_id,item_id\n1,2\n", "Columns named twice: item_id"),
        (
            "a.csv",
            HEADER.replace(b"anti_", b"anti-") + b"a,en,b,c,d\n",
            "(is it 'anti-stereotype'?)",
        ),
        ("a.csv", HEADER.replace(b"context", b" Context") + b"a,en,b,c,d\n", "(is it ' Context'?)"),
        ("a.jsonl", b'{"item_id": "a"}\n', "Columns are missing: condition, context"),
        ("a.jsonl", b'{"Id": "a"}\n', "item_id (is it 'Id'?), condition, context"),
        ("a.jsonl", b'{"lang": "en"}\n', "condition (is it 'lang'?)"),
        ("a.jsonl", b'{"language": "en"}\n', "condition (is it 'language'?)"),
        ("a.jsonl", b'{"prompt": "a"}\n', "context (is it 'prompt'?)"),
        ("a.jsonl", b'{"prompt": "a"}\n', "data/README.md says what each holds."),
    ],
)
def test_an_unusable_file_is_refused_with_its_reason(
    tmp_path: Path, name: str, content: bytes, sentence: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataSetError) as caught:
        read_dataset(tmp_path / name)
    assert sentence in str(caught.value)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_paths_with_nothing_to_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_dataset(tmp_path / "absent.csv")
    with pytest.raises(InputError, match="does not exist"):
        read_dataset(tmp_path / "a\0b")
    with pytest.raises(InputError, match="cannot be read"):
        read_dataset(tmp_path / ("x" * 5000))
    with pytest.raises(InputError, match=r"holds no \.csv"):
        read_dataset(tmp_path)
    with pytest.raises(InputError, match="neither a file nor a folder"):
        read_dataset(Path("/dev/null"))


def test_a_file_without_permission_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [row()])

    def denied(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", denied)
    with pytest.raises(InputError, match=r"a\.jsonl cannot be read: Permission denied"):
        read_dataset(path)


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [row()])
    with pytest.raises(InputError, match="choose from: native"):
        read_dataset(path, format="nativ")


# --- notes ----------------------------------------------------------------------------------


def spanish(item_id: str = "a", **values: Any) -> Values:
    texts = {"context": "Se fue.", "stereotype": "Ella corrió.", "anti_stereotype": "Él corrió."}
    return row(item_id, "es", **(texts | values))


NOTED = [
    ("collapsed", spanish(stereotype="¡El corrió!", anti_stereotype="el  CORRIÓ")),
    ("invisible_difference", spanish(stereotype="می\u200cروم", anti_stereotype="میروم")),
    ("white_space_at_joint", spanish(context="Se fue. ")),
    ("white_space_at_joint", spanish(anti_stereotype="\u00a0Él corrió.")),
    ("white_space_at_end", spanish(stereotype="Ella corrió.\n")),
    ("damaged_character", spanish(context="Se fu\ufffd.")),
    ("damaged_character", spanish(stereotype="Ella corri\x93.")),
    ("other_language", spanish(language="pt-BR")),
    ("untranslated", spanish(context="The nurse left.")),
    ("untranslated", spanish(context="", stereotype="She ran.")),
    ("native_with_english", spanish(native=True)),
    ("no_english", spanish("other")),
]


@pytest.mark.parametrize(("kind", "noted"), NOTED)
def test_note_names_its_row_and_the_item_is_kept(tmp_path: Path, kind: str, noted: Values) -> None:
    report = read(tmp_path, row(), noted)
    problem = only(report.notes, kind)
    assert report.problems == (problem,)
    assert (problem.row, problem.item_id, problem.condition) == (2, noted["item_id"], "es")
    kept = report.items[1]
    assert (kept.context, kept.stereotype) == (noted["context"], noted["stereotype"])


def test_a_clean_file_has_no_notes(tmp_path: Path) -> None:
    one_word = spanish(stereotype="doctor", anti_stereotype="maestra")
    english = row(stereotype="doctor", anti_stereotype="teacher")
    rewording = row(condition="en~p1") | {"stereotype": "doctor", "anti_stereotype": "teacher"}
    native = spanish("n", context="Ya vino.", native=True, language="es-MX")
    report = read(tmp_path, english, one_word, rewording, native)
    assert report.problems == ()


def test_missing_english_is_told_once(tmp_path: Path) -> None:
    report = read(tmp_path, row(), spanish("b"), row("b", "hi"), row("b", "en~p1"))
    problem = only(report.notes, "no_english")
    assert "es, hi, en~p1" in problem.message and problem.item_id == "b"
    report = read(tmp_path, *(spanish(f"i{n}", context=f"Se fue {n}.") for n in range(3)))
    assert "None of the 3 items" in only(report.notes, "no_english").message


def test_items_and_collapsed_pairs_are_counted_per_condition(tmp_path: Path) -> None:
    rows = [
        row(),
        row("b", context="x"),
        spanish(),
        spanish("b", stereotype="Él", anti_stereotype="él."),
    ]
    report = read(tmp_path, *rows)
    assert report.counts == {"en": ConditionCount(2, 0), "es": ConditionCount(2, 1)}


def test_byte_order_mark_is_removed_and_told(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", [row()])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    report = read_dataset(path)
    assert report.items[0].item_id == "a"
    assert report.problems == (only(report.notes, "byte_order_mark"),)


def test_column_that_looks_misspelt_is_kept_and_told(tmp_path: Path) -> None:
    report = read(tmp_path, row(Unrelatd="It ran."))
    assert "is it meant as unrelated" in only(report.notes, "column_like").message
    assert report.items[0].metadata == {"Unrelatd": "It ran."}


# --- duplicates made by translation (E5) ----------------------------------------------------


def questions(condition: str, contexts: list[str]) -> list[Values]:
    pairs = [(f"{condition} she {n}", f"{condition} he {n}") for n in range(len(contexts))]
    return [
        row(f"q{n}", condition, context=context, stereotype=she, anti_stereotype=he)
        for n, (context, (she, he)) in enumerate(zip(contexts, pairs, strict=True))
    ]


def test_contexts_that_translation_merged_are_named(tmp_path: Path) -> None:
    english = questions("en", [f"Sentence {n}." for n in range(5)])
    problem = only(
        read(tmp_path, *english, *questions("hi", ["वाक्य।"] * 5)).notes, "identical_contexts"
    )
    assert (problem.row, problem.item_id, problem.condition) == (6, "q0", "hi")
    assert all(repr(f"q{n}") in problem.message for n in range(5))


def test_questions_on_one_passage_are_no_duplicates(tmp_path: Path) -> None:
    rows = [*questions("en", ["Passage."] * 5), *questions("hi", ["अंश।"] * 5)]
    assert read(tmp_path, *rows).problems == ()


def test_identical_items_are_named(tmp_path: Path) -> None:
    hindi = {"context": "वाक्य।", "stereotype": "वह गई", "anti_stereotype": "वह गया"}
    english = questions("en", [f"Sentence {n}." for n in range(5)])
    report = read(tmp_path, *english, *(row(f"q{n}", "hi", **hindi) for n in range(5)))
    problem = only(report.notes, "identical_items")
    assert report.problems == (problem,)
    assert all(repr(f"q{n}") in problem.message for n in range(5))
    assert len(report.items) == 10


def test_long_lists_of_names_are_cut_with_their_number(tmp_path: Path) -> None:
    report = read(tmp_path, *(row(f"i{n}") for n in range(14)))
    message = only(report.notes, "identical_items").message
    assert "'i9' and 4 more" in message


# --- the description ------------------------------------------------------------------------


def test_every_problem_and_column_is_described() -> None:
    described = (DATA / "README.md").read_text("utf-8")
    paths = [path for room in ("items", "files") for path in (ROOT / "core" / room).rglob("*.py")]
    code = "".join(path.read_text("utf-8") for path in paths)
    kinds = set(re.findall(r'(?:error|note|_unusable)\((?:[\w.]+, )?"(\w+)"', code))
    assert len(kinds) > 30
    for name in [*kinds, *COLUMNS]:
        assert f"`{name}`" in described


def test_rows_in_the_description_can_be_read(tmp_path: Path) -> None:
    described = (DATA / "README.md").read_text("utf-8")
    rows = [json.loads(line) for line in re.findall(r"^\{.*\}$", described, re.M)]
    report = read(tmp_path, *rows)
    assert [item.metadata["form"] for item in report.items] == [
        "fill_in",
        "question",
        "continuation",
    ]
    assert report.problems == ()


@pytest.mark.parametrize(
    "values",
    [
        {"context": "Шахматист приехал и был очень BLANK."},
        {"stereotype": "Она убежала вчера."},
        {"context": "An English beginning.", "anti_stereotype": "Он убежал вчера вечером."},
    ],
)
def test_one_text_in_another_script_is_refused_by_row(tmp_path: Path, values: Values) -> None:
    others = [row(str(n)) for n in range(3)]
    with pytest.raises(DataSetError, match="row 4: The text is in Cyrillic letters, while en is"):
        read(tmp_path, *others, row("bad", **values))


def test_an_id_that_is_neither_text_nor_whole_number_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match="no id that is a text or a whole number"):
        read(tmp_path, row() | {"item_id": 1.0})


def test_many_identical_items_are_one_note_of_their_condition(tmp_path: Path) -> None:
    def twice(n: int) -> list[Values]:
        return [row(f"{k}-{i}", context=f"Nurse {k} left.") for k in range(n) for i in (0, 1)]

    few, many = read(tmp_path, *twice(20)).notes, read(tmp_path, *twice(21)).notes
    assert [n.kind for n in few] == ["identical_items"] * 20
    (note,) = many
    assert (note.kind, note.row) == ("identical_items", None)
    assert "42 items in en" in note.message and "21 groups" in note.message
    assert "'0-0', '0-1'" in note.message


def test_an_encoding_that_means_nothing_is_refused(tmp_path: Path) -> None:
    path = WRITERS["parquet"](tmp_path / "data.parquet", [row()])
    with pytest.raises(DataSetError, match="--encoding means nothing to Parquet"):
        read_dataset(path, encoding="cp1252")
    path = WRITERS["csv"](tmp_path / "data.csv", [row()])
    with pytest.raises(DataSetError, match="The file is not utf-16"):
        read_dataset(path, encoding="utf-16")


def test_a_device_is_no_data_set() -> None:
    with pytest.raises(InputError, match="/dev/zero is neither a file nor a folder"):
        read_dataset(Path("/dev/zero"))

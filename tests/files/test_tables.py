"""Files as rows: lines, numbers of rows, and rows that share what is the same in all of them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import DataSetError
from core.files.places import Place
from core.files.reading import DataFile
from core.files.tables import JSON_LIST, Record, Records, Table, read_table


def table(name: str, content: str) -> Table:
    return read_table(DataFile(Path(name), content.encode()))


@given(st.lists(st.lists(st.text('ab",\r\n\u2028\x85 ', max_size=6), min_size=2, max_size=2)))
def test_csv_is_read_as_from_a_file_opened_without_translated_line_ends(
    cells: list[list[str]],
) -> None:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([["x", "y"], *cells])
    expected = list(csv.reader(io.StringIO(out.getvalue(), newline="")))[1:]
    assert expected == cells
    if cells:
        rows = [list(record.values.values()) for record in table("a.csv", out.getvalue()).records]
        assert rows == cells


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_row_has_the_line_on_which_it_begins(end: str) -> None:
    text = end.join(["x,y", "1,a", "", f'2,"b{end}c"', "3,d"])
    found = table("a.csv", text).records
    assert [(r.place.row, r.values["y"]) for r in found] == [(2, "a"), (4, f"b{end}c"), (6, "d")]


def test_lines_of_json_are_numbered_with_the_blank_ones() -> None:
    found = table("a.jsonl", '{"x": "a\u2028b"}\r\n\n  \n{"x": 1}').records
    assert [(r.place.row, r.values) for r in found] == [(1, {"x": "a\u2028b"}), (4, {"x": 1})]


def test_rows_by_group_and_key_have_the_key_as_their_id() -> None:
    groups = {"0": {"a": {"x": 1}, "b": {"x": 2}}, "1": {"a": {"x": 3, "id": "own"}}}
    found = table("a.json", json.dumps(groups))
    assert found.columns == ("id", "x", JSON_LIST)
    assert [r.values for r in found.records] == [
        {"id": "a", "x": 1, JSON_LIST: "0"},
        {"id": "b", "x": 2, JSON_LIST: "0"},
        {"id": "own", "x": 3, JSON_LIST: "1"},
    ]
    for other in ({"0": {"a": 1}}, {"0": {"a": {}}, "1": []}, {"a": {}}):
        with pytest.raises(DataSetError, match="no list of objects"):
            table("a.json", json.dumps(other))


def test_a_list_is_read_whole_though_its_first_element_is_no_object() -> None:
    found = table("a.json", json.dumps({"one": [None, {"x": 1}], "two": [{"x": 2}], "by": ["me"]}))
    assert [(r.place.row, r.values["x"]) for r in found.records] == [(2, 1), (3, 2)]
    assert [(p.kind, p.row) for p in found.problems] == [("content_ignored", None), ("bad_json", 1)]
    assert found.problems[0].message == "Not read, because they are no lists of objects: by."


def test_what_stands_beside_the_lists_of_a_json_object_is_noted() -> None:
    within = {"version": 1, "data": {"one": [{"x": 1}], "two": 3, "three": "abc", "four": [-1.0]}}
    (note,) = table("a.json", json.dumps(within)).problems
    assert (note.kind, note.message.rpartition(": ")[2]) == ("content_ignored", "two, three, four.")
    assert not table("a.json", json.dumps([{"x": 1}])).problems
    assert not table("a.json", json.dumps({"0": {"id": {"x": 1}}})).problems


def test_a_file_of_white_space_is_empty() -> None:
    for text in ("", " \r\n\t", "\ufeff", "\ufeff \n"):
        with pytest.raises(DataSetError, match="The file is empty"):
            table("a.csv", text)


# --- rows ---------------------------------------------------------------------------------------

ROWS = [{"id": "a", "n": 1}, {"id": "b"}, {"n": None, "id": "c", "more": ["x"]}]


def records(rows: Sequence[dict[str, object]]) -> Records:
    found = Records("a.jsonl")
    for number, row in enumerate(rows, start=3):
        found.add(number, row, row.values())
    return found


def test_rows_are_a_sequence_of_records() -> None:
    found = records(ROWS)
    expected = [Record(Place("a.jsonl", n), row) for n, row in enumerate(ROWS, start=3)]
    assert list(found) == expected
    assert (len(found), found[1], found[-1]) == (3, expected[1], expected[2])
    assert (found[1:], found[::-2]) == (expected[1:], expected[::-2])
    assert [list(r.values) for r in found] == [list(row) for row in ROWS]
    assert not Records("a.jsonl")
    with pytest.raises(IndexError):
        found[3]


def test_rows_are_no_copies_of_each_other_and_share_repeated_texts() -> None:
    found = records([{"kind": "".join(["la", "bel"]), "text": "x" * 41} for _ in range(3)])
    first, second = found[0], found[1]
    assert first.values["kind"] is second.values["kind"]
    first.values["kind"] = "changed"
    assert found[0].values["kind"] == "label"


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.text(max_size=2)), max_size=40))
def test_sharing_changes_no_value(rows: list[dict[str, str]]) -> None:
    assert [r.values for r in records(rows)] == rows


def test_more_texts_than_are_remembered_come_back() -> None:
    found = records([{"id": str(n), "kind": "k"} for n in range(1000)])
    assert [r.values["id"] for r in found] == [str(n) for n in range(1000)]


def test_a_cell_may_be_longer_than_the_csv_module_allows_by_itself() -> None:
    text = "a" * 140_000
    (record,) = table("a.csv", f"x,y\n1,{text}\n").records
    assert record.values["y"] == text

"""Tables out to files: what comes back is what went in, bit for bit."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.errors import InputError
from core.export.tables import FORMATS, as_arrow, json_rows, table_bytes, write_table

TEXTS = [
    "plain",
    "two\nlines",
    "carriage\rreturn",
    "windows\r\nlines",
    'a "quote", a comma; a\ttab',
    "",
    "می\u200cروم",  # zero-width non-joiner
    "\u200fמימין\u202b לשמאל\u202c",  # right-to-left marks
    "न\u0940ल \U0001f469\u200d\u2695\ufe0f 中文\u2028 separator",
    "'",
    "\ufeffmark",
    " spaces ",
    "NaN",
    "null",
]
FORMULAS = ["=1+1", "+1", "-1 year", "@SUM(A1)", "=cmd|' /C calc'!A0", "\t=1"]

finite = st.floats(allow_nan=False, allow_infinity=False)
text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


def read_csv(content: bytes) -> list[dict[str, str]]:
    """The cells as Python's own reader sees them."""
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def read_jsonl(content: bytes) -> list[dict[str, object]]:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    lines = content.decode().split("\n")
    assert lines[-1] == ""
    return [json.loads(line, parse_constant=refuse) for line in lines[:-1]]


def read_parquet(content: bytes) -> list[dict[str, object]]:
    return pq.read_table(io.BytesIO(content)).to_pylist()


@given(st.lists(finite, min_size=1, max_size=5))
@example([0.1 + 0.2, -1e-320, 1.7976931348623157e308, -0.0, 1 / 3, -123.45678901234567])
def test_floats_come_back_exactly_from_every_format(values: list[float]) -> None:
    table = pd.DataFrame({"x": values})
    expected = [v.hex() for v in values]
    assert [float(r["x"]).hex() for r in read_csv(table_bytes(table, "csv"))] == expected
    assert [float(r["x"]).hex() for r in read_jsonl(table_bytes(table, "jsonl"))] == expected
    assert [r["x"].hex() for r in read_parquet(table_bytes(table, "parquet"))] == expected


@given(st.lists(text, min_size=1, max_size=5))
@example(TEXTS)
@example(FORMULAS)
def test_texts_come_back_exactly_from_every_format(texts: list[str]) -> None:
    table = pd.DataFrame({"text": texts, "n": range(len(texts))})
    assert [r["text"] for r in read_csv(table_bytes(table, "csv"))] == texts
    assert [r["text"] for r in read_jsonl(table_bytes(table, "jsonl"))] == texts
    assert [r["text"] for r in read_parquet(table_bytes(table, "parquet"))] == texts


def test_cells_that_a_spreadsheet_would_compute_are_not_changed() -> None:
    content = table_bytes(pd.DataFrame({"a": FORMULAS[:2]}), "csv")
    assert content == b'"a"\n"=1+1"\n"+1"\n'


def test_undefined_is_an_empty_cell_null_in_json_and_null_in_parquet() -> None:
    table = pd.DataFrame({"x": [math.nan, 0.5], "t": [None, "b"], "n": pd.array([1, None])})
    assert table_bytes(table, "csv") == b'"x","t","n"\n,,1\n0.5,"b",\n'
    rows = [{"x": None, "t": None, "n": 1}, {"x": 0.5, "t": "b", "n": None}]
    assert read_jsonl(table_bytes(table, "jsonl")) == rows
    assert read_parquet(table_bytes(table, "parquet")) == rows


def test_json_has_no_infinity() -> None:
    table = pd.DataFrame({"x": [math.inf, -math.inf], "l": [[math.nan], [1.0, math.inf]]})
    rows = [{"x": None, "l": [None]}, {"x": None, "l": [1.0, None]}]
    assert read_jsonl(table_bytes(table, "jsonl")) == rows == json_rows(table)


@pytest.mark.parametrize("as_arrays", [False, True])
def test_list_columns_come_back_as_lists(as_arrays: bool) -> None:
    lists = [["too_long", 'a "b", c'], [], ["ي\u200c"]]
    column = [np.array(values, dtype=object) for values in lists] if as_arrays else lists
    table = pd.DataFrame({"flags": column})
    assert [json.loads(r["flags"]) for r in read_csv(table_bytes(table, "csv"))] == lists
    assert [r["flags"] for r in read_jsonl(table_bytes(table, "jsonl"))] == lists
    assert [r["flags"] for r in read_parquet(table_bytes(table, "parquet"))] == lists


def test_a_long_list_is_not_abbreviated() -> None:
    values = [float(n) for n in range(5000)]
    (row,) = read_csv(table_bytes(pd.DataFrame({"l": [np.array(values)]}), "csv"))
    assert json.loads(row["l"]) == values


def test_parquet_keeps_types() -> None:
    table = pd.DataFrame(
        {
            "text": ["a"],
            "x": np.array([0.5]),
            "single": np.array([0.5], np.float32),
            "n": pd.array([3], "Int64"),
            "yes": [True],
            "at": pd.to_datetime(["2026-01-02T03:04:05"]),
            "flags": [["a"]],
        }
    )
    back = pd.read_parquet(io.BytesIO(table_bytes(table, "parquet")))
    schema = pq.read_schema(io.BytesIO(table_bytes(table, "parquet")))
    assert [str(schema.field(n).type) for n in ("x", "single", "n", "yes")] == [
        "double",
        "float",
        "int64",
        "bool",
    ]
    assert back["at"].dt.year.tolist() == [2026]
    assert schema.field("flags").type == pa.list_(pa.string())


def test_parquet_columns_without_any_value_are_text_and_so_fit_other_exports() -> None:
    table = pd.DataFrame({"unknown": [None, None], "flags": [[], []]})
    schema = pq.read_schema(io.BytesIO(table_bytes(table, "parquet")))
    assert schema.field("unknown").type == pa.string()
    assert schema.field("flags").type == pa.list_(pa.string())


def test_whole_numbers_stay_whole_beside_a_missing_one() -> None:
    big = 2**53 + 1
    table = pa.table({"n": pa.array([big, None], pa.int64()), "t": ["a", "b"]})
    assert table_bytes(table, "csv") == b'"n","t"\n9007199254740993,"a"\n,"b"\n'
    assert [r["n"] for r in read_jsonl(table_bytes(table, "jsonl"))] == [big, None]
    assert [r["n"] for r in read_parquet(table_bytes(table, "parquet"))] == [big, None]


def test_a_missing_value_is_a_row_also_where_there_is_one_column() -> None:
    table = pd.DataFrame({"x": [0.1, math.nan, 0.3]})
    assert [r["x"] for r in read_csv(table_bytes(table, "csv"))] == ["0.1", "", "0.3"]


def test_the_types_of_a_query_have_json_values() -> None:
    with duckdb.connect() as con:
        table = con.sql(
            "SELECT sum(3) AS whole, 1.25::DECIMAL(5, 2) AS cents, DATE '2026-01-02' AS day, "
            "'\\xAA'::BLOB AS raw, {'a': 0.5, 'b': ['x']} AS part, NULL AS nothing, "
            "TIMESTAMP '2026-01-02 03:04:05' AS at, INTERVAL 1 DAY AS span"
        ).to_arrow_table()
    (row,) = json_rows(table)
    assert row | {"span": ""} == {
        "whole": 3,
        "cents": 1.25,
        "day": "2026-01-02",
        "raw": "aa",
        "part": {"a": 0.5, "b": ["x"]},
        "nothing": None,
        "at": "2026-01-02T03:04:05",
        "span": "",
    }
    assert json.dumps(row)
    (cells,) = read_csv(table_bytes(table, "csv"))
    assert (cells["whole"], cells["cents"], cells["raw"]) == ("3", "1.25", "aa")
    assert json.loads(cells["part"]) == row["part"]
    with pytest.raises(InputError, match="use csv or jsonl"):
        table_bytes(table, "parquet")


def test_no_column_is_lost_when_two_have_one_name() -> None:
    table = pa.table([[1], [2], [3]], names=["a", "a", "a_2"])
    assert as_arrow(table).column_names == ["a", "a_2", "a_2_2"]
    assert json_rows(table) == [{"a": 1, "a_2": 2, "a_2_2": 3}]


@pytest.mark.parametrize("file_format", FORMATS)
def test_a_table_without_rows_keeps_its_columns_or_is_empty(file_format: str) -> None:
    table = pd.DataFrame({"a": pd.Series([], dtype=float), "b": pd.Series([], dtype=str)})
    content = table_bytes(table, file_format)
    if file_format == "parquet":
        assert pq.read_table(io.BytesIO(content)).column_names == ["a", "b"]
    elif file_format == "tex":
        assert b"a & b" in content
    else:
        assert content == {"csv": b'"a","b"\n', "jsonl": b""}[file_format]


def test_the_index_of_a_filtered_table_is_not_exported() -> None:
    table = pd.DataFrame({"a": [1, 2, 3]})
    table = table[table["a"] > 1]
    assert table_bytes(table, "csv") == b'"a"\n2\n3\n'
    assert pq.read_table(io.BytesIO(table_bytes(table, "parquet"))).column_names == ["a"]


def test_an_unknown_format_names_those_there_are() -> None:
    with pytest.raises(InputError, match="csv, parquet, jsonl"):
        table_bytes(pd.DataFrame({"a": [1]}), "xlsx")


# Files


@pytest.mark.parametrize("name", ["t.csv", "t.CSV", "t.parquet", "t.jsonl", "a.b.csv"])
def test_the_ending_names_the_format(tmp_path: Path, name: str) -> None:
    table = pd.DataFrame({"a": [1]})
    write_table(table, tmp_path / name)
    assert (tmp_path / name).read_bytes() == table_bytes(table, name.lower().split(".")[-1])
    assert [p.name for p in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("t.xlsx", "does not end in a format"),
        ("t", ".csv, .parquet, .jsonl"),
        ("", "is a folder"),
        ("none/t.csv", "does not exist; create it"),
    ],
)
def test_a_path_that_cannot_be_written_says_why(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        write_table(pd.DataFrame({"a": [1]}), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fails_leaves_the_old_file_and_no_half_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("old")

    def full(self: Path, content: bytes) -> int:
        with self.open("wb") as file:
            file.write(content[:1])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match="No space left"):
        write_table(pd.DataFrame({"a": [1]}), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_latex_writes_counts_whole_and_no_flags_as_nothing() -> None:
    table = pd.DataFrame(
        {
            "ss": [0.5, 1.0],
            "n_anti": [4.0, None],
            "n": pd.array([3, None], "Int64"),
            "flags": [["a_b", "c"], []],
        }
    )
    lines = table_bytes(table, "tex").decode().splitlines()
    assert r"0.5000 & 4 & 3 & a\_b, c \\" in lines
    assert r"1.0000 & -- & -- &  \\" in lines


def test_latex_is_a_booktabs_table_with_its_texts_escaped() -> None:
    table = pd.DataFrame({"item_id": ["50 %_a&b", "c"], "ss": [0.123456, float("nan")]})
    text = table_bytes(table, "tex").decode()
    assert "\\toprule" in text
    assert r"50 \%\_a\&b & 0.1235" in text
    assert "c & --" in text

"""Any bytes give items or one of our errors, never another exception."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import StereoscopeError
from core.items.report import read_dataset
from core.items.texts import item_texts
from core.types import Severity

ROWS = [
    {
        "item_id": item_id,
        "condition": condition,
        "context": 'The nurse, "left".\nToday.',
        "stereotype": "She ran. क्\u200dष",
        "anti_stereotype": "He ran.",
        "native": native,
        "answer_order": "anti_stereotype|stereotype",
        "year": 2024,
    }
    for item_id, condition, native in [("1", "en", False), ("1", "zh-CN", False), ("2", "nl", True)]
]


def _csv() -> bytes:
    cells = [[str(value).replace('"', '""') for value in row.values()] for row in ROWS]
    lines = [",".join(f'"{cell}"' for cell in line) for line in [list(ROWS[0]), *cells]]
    return "\r\n".join(lines).encode()


def _parquet() -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(ROWS), sink, compression="none")
    return sink.getvalue().to_pybytes()


VALID = {
    ".csv": _csv(),
    ".jsonl": "\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS).encode(),
    ".parquet": _parquet(),
}
SUFFIX = st.sampled_from(sorted(VALID))
# Bytes that mean something to one of the file types.
SPICE = st.sampled_from([b'"', b",", b"\n", b"\r", b"{", b"[", b"\\ud800", b"\0", b"\xef\xbb\xbf"])


def check(suffix: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data{suffix}"
        path.write_bytes(content)
        try:
            report = read_dataset(path)
        except StereoscopeError as error:
            str(error).encode()
            return
    assert report.items and not any(p.severity is Severity.ERROR for p in report.problems)
    assert all(problem.severity is Severity.NOTE for problem in report.problems)
    for item in report.items:
        item_texts(item)  # every text can be hashed and stored
        json.dumps(item.metadata, ensure_ascii=False, allow_nan=False).encode()


def test_the_files_that_are_mutated_are_valid() -> None:
    for suffix, content in VALID.items():
        check(suffix, content)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"data{suffix}"
            path.write_bytes(content)
            assert len(read_dataset(path).items) == len(ROWS)


@settings(deadline=None, max_examples=150)
@given(SUFFIX, st.binary(max_size=200))
def test_random_bytes_are_read_or_refused_in_words(suffix: str, content: bytes) -> None:
    check(suffix, content)


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_mutated_files_are_read_or_refused_in_words(data: st.DataObject) -> None:
    suffix = data.draw(SUFFIX)
    content = VALID[suffix]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, min(len(content), start + 8)))
        content = content[:start] + data.draw(SPICE | st.binary(max_size=8)) + content[end:]
    check(suffix, content)


@settings(deadline=None, max_examples=200)
@given(
    st.dictionaries(
        st.sampled_from([*ROWS[0], "unrelated", "unknown", "language", "note"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda value: (
                st.lists(value, max_size=3)
                | st.dictionaries(st.text(max_size=3), value, max_size=3)
            ),
            max_leaves=5,
        ),
    )
)
def test_any_json_values_are_read_or_refused_in_words(values: dict[str, object]) -> None:
    check(".jsonl", json.dumps(ROWS[0] | values).encode())

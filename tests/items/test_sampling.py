"""Lenient reading and samples: what is kept, what is left out, and in which order."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from core.errors import DataSetError
from core.items.report import read_dataset
from core.items.sampling import Sample
from core.types import Severity


def row(number: int, condition: str = "en", **values: Any) -> dict[str, Any]:
    return {
        "item_id": str(number),
        "condition": condition,
        "context": f"Case {number} in {condition}.",
        "stereotype": "She ran.",
        "anti_stereotype": "He ran.",
        "category": "odd" if number % 2 else "even",
        **values,
    }


def write(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "data.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_a_lenient_reading_leaves_rows_out_and_names_them(tmp_path: Path) -> None:
    path = write(tmp_path, [row(0), row(1, stereotype=None), row(2), row(2), row(3, native="?")])
    with pytest.raises(DataSetError) as refused:
        read_dataset(path)
    report = read_dataset(path, lenient=True)
    assert [item.item_id for item in report.items] == ["0", "2"]
    assert [(p.row, p.kind) for p in report.left_out] == [
        (2, "missing_role"),
        (4, "duplicate_key"),
        (5, "bad_native"),
    ]
    errors = [p for p in refused.value.problems if p.severity is Severity.ERROR]
    assert [p.message for p in errors] == [p.message for p in report.left_out]


def test_a_lenient_reading_still_refuses_a_file_without_a_usable_row(tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match="no stereotype"):
        read_dataset(write(tmp_path, [row(1, stereotype=None)]), lenient=True)
    with pytest.raises(DataSetError, match="Columns are missing"):
        read_dataset(write(tmp_path, [{"item_id": "1"}]), lenient=True)


def test_a_sample_is_drawn_anew_for_each_category(tmp_path: Path) -> None:
    path = write(tmp_path, [row(n, c) for n in range(40) for c in ("en", "es")])
    report = read_dataset(path, sample=Sample(5))
    odd, even = ([str(n) for n in range(start, 40, 2)] for start in (1, 0))
    expected = [random.Random(42).sample(names, 5) for names in (even, odd)]
    english = [item.item_id for item in report.items if item.condition == "en"]
    assert english == expected[0] + expected[1]
    assert len(report.items) == 20
    assert "42" in report.note and "5" in report.note
    assert len(read_dataset(path, sample=Sample(50)).items) == 80


def test_categories_smaller_than_the_sample_are_named(tmp_path: Path) -> None:
    path = write(tmp_path, [row(n) for n in (0, 1, 2, 4)])
    (note,) = read_dataset(path, sample=Sample(2)).notes
    assert note.kind == "small_category"
    assert note.message == (
        "Fewer than 2 items are in 1 of 2 categories, all of which are taken: odd 1."
    )
    assert read_dataset(path, sample=Sample(1)).notes == ()

"""Uploaded files: their names lead nowhere else, and nothing of them stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import InputError
from core.files.uploads import LONGEST, on_disk, safe_name
from core.items.detection import detect
from tests.items.test_crows_pairs import pair
from tests.items.test_crows_pairs import write as write_pairs
from tests.items.test_read import row, write_jsonl


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("crows_dutch.csv", "crows_dutch.csv"),
        ("../../etc/passwd", "passwd"),
        ("/etc/cron.d/x.json", "x.json"),
        ("C:\\data\\Age_nl.jsonl", "Age_nl.jsonl"),
        ("..", "upload"),
        ("", "upload"),
        ("...hidden.csv", "hidden.csv"),
        (".csv", "csv"),
        ("a\0b\n\x1b[31m.csv", "ab[31m.csv"),
        ("abc\u202evsc.csv", "abcvsc.csv"),
        ("\ud800.csv", "csv"),
        ("नर्स.jsonl", "नर्स.jsonl"),
        ("a/..", "upload"),
    ],
)
def test_a_name_keeps_what_it_says_and_leads_nowhere(name: str, kept: str) -> None:
    assert safe_name(name) == kept


@pytest.mark.parametrize("name", ["x" * 5000 + ".csv", "字" * 300 + ".jsonl", "a." + "b" * 300])
def test_a_long_name_is_cut_to_what_a_file_system_takes(name: str, tmp_path: Path) -> None:
    short = safe_name(name)
    assert len(short.encode()) <= LONGEST
    (tmp_path / short).write_bytes(b"")
    assert short.endswith((".csv", ".jsonl")) or name.startswith("a.")


def test_files_are_there_while_they_are_read_and_gone_afterwards(tmp_path: Path) -> None:
    with on_disk([("../a.csv", b"one")], tmp_path) as path:
        assert path.read_bytes() == b"one" and path.name == "a.csv"
        assert path.resolve().is_relative_to(tmp_path.resolve())
    with pytest.raises(ZeroDivisionError), on_disk([("a", b""), ("b", b"")], tmp_path) as path:
        assert sorted(p.name for p in path.iterdir()) == ["a", "b"]
        raise ZeroDivisionError
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []
    assert list((tmp_path / "uploads").iterdir()) == []


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    files = [("x/a.csv", b"1"), ("y/a.csv", b"2")]
    with pytest.raises(InputError, match=r"Two files are called a\.csv"), on_disk(files, tmp_path):
        pass


def test_where_nothing_can_be_written_the_reason_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with (
        pytest.raises(InputError, match="cannot be written"),
        on_disk([("a", b"")], tmp_path / "file"),
    ):
        pass


def test_layouts_are_seen_before_anything_is_read(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", [row()])
    write_pairs(tmp_path / "b.csv", [pair()])
    (tmp_path / "c.jsonl").write_text('{"prompt": "x"}\n')
    found = detect(tmp_path)
    assert [layout.name for layout in found.layouts] == ["native", "crows-pairs"]
    assert found.unknown == ("c.jsonl",)

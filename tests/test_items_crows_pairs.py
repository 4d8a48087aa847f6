"""The reader of sentence pairs: roles, ids, languages, and every kind of problem with its row."""

from __future__ import annotations

import csv
import json
import os
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
from core.items.texts import item_texts
from core.types import Severity

Values = dict[str, Any]


def pair(number: object = 0, **values: Any) -> Values:
    return {
        "id": number,
        "sent_more": f"The poor painter {number} never pays, she said.",
        "sent_less": f"The rich painter {number} never pays, she said.",
        "stereo_antistereo": "stereo",
        "bias_type": "socioeconomic",
        **values,
    }


def write(path: Path, rows: list[Values], separator: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), restval="", delimiter=separator)
        writer.writeheader()
        writer.writerows(rows)
    return path


def read(
    folder: Path,
    *rows: Values,
    name: str = "pairs.csv",
    language: str | None = None,
    **options: Any,
) -> ImportReport:
    return read_dataset(
        write(folder / name, list(rows)), options=ReadOptions(language=language), **options
    )


def refused(folder: Path, *rows: Values) -> dict[str, list[int | None]]:
    """The kinds of error of a file that is refused, each with its rows."""
    with pytest.raises(DataSetError) as caught:
        read(folder, *rows)
    kinds: dict[str, list[int | None]] = {}
    for problem in caught.value.problems:
        if problem.severity is Severity.ERROR:
            kinds.setdefault(problem.kind, []).append(problem.row)
    return kinds


def test_a_row_becomes_an_item_without_context(tmp_path: Path) -> None:
    report = read(tmp_path, pair(7, annotations="[['gender']]"), pair(8))
    assert report.format == "crows-pairs"
    item = report.items[0]
    assert (item.item_id, item.condition, item.language) == ("7", "en", "en")
    assert (item.context, item.unrelated, item.unknown) == ("", None, None)
    assert item.stereotype == "The poor painter 7 never pays, she said."
    assert item.anti_stereotype == "The rich painter 7 never pays, she said."
    assert (item.category, item.source) == ("socioeconomic", "crows_pairs")
    assert item.metadata == {"stereo_antistereo": "stereo", "annotations": "[['gender']]"}
    assert report.items[1].metadata == {"stereo_antistereo": "stereo"}


def test_the_stereotypical_sentence_keeps_its_role_in_both_directions(tmp_path: Path) -> None:
    rows = [pair(n, stereo_antistereo=d) for n, d in enumerate(("stereo", "antistereo"))]
    for row, item in zip(rows, read(tmp_path, *rows).items, strict=True):
        assert item.stereotype == row["sent_more"]
        assert item.metadata["stereo_antistereo"] == row["stereo_antistereo"]


def test_ids_come_from_the_column_with_or_without_a_name_else_from_the_row(tmp_path: Path) -> None:
    rows = [pair(n) for n in (3, 5)]
    unnamed = [{"": r["id"], **{k: v for k, v in r.items() if k != "id"}} for r in rows]
    without = [{k: v for k, v in r.items() if k != "id"} for r in rows]
    assert [i.item_id for i in read(tmp_path, *rows).items] == ["3", "5"]
    assert [i.item_id for i in read(tmp_path, *unnamed).items] == ["3", "5"]
    found = read(tmp_path, *without).items
    assert [i.item_id for i in found] == ["0", "1"]
    assert all("" not in i.metadata and "id" not in i.metadata for i in found)


@pytest.mark.parametrize(
    ("name", "language", "kind"),
    [
        ("crows_dutch.csv", "nl", "language_from_name"),
        ("French-pairs.csv", "fr", "language_from_name"),
        ("crows_eng.csv", "en", "language_from_name"),
        ("crows-pt-BR.csv", "pt-BR", "language_from_name"),
        ("crows-fr.csv", "fr", "language_from_name"),
        ("crows_pairs_anonymized.csv", "en", "language_assumed"),
    ],
)
def test_the_language_is_in_the_name_or_taken_to_be_english(
    tmp_path: Path, name: str, language: str, kind: str
) -> None:
    report = read(tmp_path, pair(), name=name)
    assert [i.condition for i in report.items] == [language]
    assert [p.kind for p in report.notes if p.kind.startswith("language")] == [kind]
    given_language = read(tmp_path, pair(), name=name, language="nl-NL")
    assert given_language.items[0].condition == "nl"
    assert not [p for p in given_language.notes if p.kind.startswith("language")]


def test_files_of_several_languages_are_conditions_of_one_set(tmp_path: Path) -> None:
    write(tmp_path / "crows_english.csv", [pair(0), pair(1)])
    write(tmp_path / "crows_dutch.csv", [pair(0, sent_more="De arme.", sent_less="De rijke.")])
    report = read_dataset(tmp_path)
    keys = [(i.item_id, i.condition) for i in report.items]
    assert keys == [("0", "nl"), ("0", "en"), ("1", "en")]


def test_every_error_of_every_row_is_named(tmp_path: Path) -> None:
    found = refused(
        tmp_path,
        pair(0),
        pair(1, sent_less=" \u200d"),
        pair(2, stereo_antistereo="both", sent_more=""),
        pair("", bias_type="age"),
        pair(0),
        pair(5, stereo_antistereo=""),
    )
    assert found == {
        "empty_text": [3, 4],
        "bad_direction": [4, 7],
        "missing_item_id": [5],
        "duplicate_key": [6],
    }


def test_notes_name_what_is_remarkable(tmp_path: Path) -> None:
    same = {"sent_more": "He ran.", "sent_less": "he ran!"}
    other = {"sent_more": "A painter came in late.", "sent_less": "Nobody would ever go there."}
    report = read(
        tmp_path,
        pair(0),
        pair(1, **same),
        pair(2, **other),
        pair(3, bias_type=""),
        pair(4, sent_more=pair(0)["sent_more"], sent_less=pair(0)["sent_less"]),
    )
    assert len(report.items) == 5
    rows = {p.kind: p.row for p in report.notes if p.row}
    assert rows == {"identical_items": 2, "collapsed": 3, "mostly_different": 4, "missing_type": 5}
    assert report.counts["en"].collapsed == 1


def test_results_are_no_data_set(tmp_path: Path) -> None:
    assert refused(tmp_path, pair(0, sent_more_score="-1.5")) == {"wrong_columns": [None]}


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_another_separator_is_seen_in_the_header(tmp_path: Path, separator: str) -> None:
    report = read_dataset(write(tmp_path / "pairs_en.csv", [pair(7)], separator=separator))
    assert report.items == read(tmp_path, pair(7)).items
    (note,) = [p for p in report.notes if p.kind == "separator"]
    assert repr(separator) in note.message


def test_a_missing_column_is_named_and_the_format_can_be_insisted_on(tmp_path: Path) -> None:
    row = pair()
    del row["bias_type"]
    with pytest.raises(DataSetError, match="missing: bias_type"):
        read(tmp_path, row)
    with pytest.raises(DataSetError, match="missing: item_id"):
        read(tmp_path, pair(), format="native")
    native = {
        "item_id": "1",
        "condition": "en",
        "context": "",
        "stereotype": "A.",
        "anti_stereotype": "B.",
    }
    with pytest.raises(DataSetError, match="missing: sent_more"):
        read(tmp_path, native, format="crows-pairs")
    with pytest.raises(InputError, match="--language means nothing to pairs"):
        read(tmp_path, native, language="nl")
    with pytest.raises(InputError, match="known language"):
        read(tmp_path, pair(), language="qq")


# --- any bytes --------------------------------------------------------------------------------

ROWS = [pair(0), pair(1, stereo_antistereo="antistereo", note="क्\u200dष"), pair(2, year=2020)]


def _parquet() -> bytes:
    sink = pa.BufferOutputStream()
    columns = {name: [row.get(name) for row in ROWS] for name in (*ROWS[0], "note", "year")}
    pq.write_table(pa.table(columns), sink, compression="none")
    return bytes(sink.getvalue().to_pybytes())


def _csv() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        columns = [{**dict.fromkeys(("note", "year"), ""), **row} for row in ROWS]
        return write(Path(folder) / "a.csv", columns).read_bytes()


VALID = {
    ".csv": _csv(),
    ".jsonl": "\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS).encode(),
    ".parquet": _parquet(),
}
SPICE = st.sampled_from([b'"', b",", b"\n", b"{", b"[", b"\\ud800", b"\0", b"stereo", b"id"])


def check(suffix: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"pairs{suffix}"
        path.write_bytes(content)
        try:
            report = read_dataset(path, "crows-pairs")
        except StereoscopeError as error:
            str(error).encode()
            return
    assert report.items and not any(p.severity is Severity.ERROR for p in report.problems)
    for item in report.items:
        item_texts(item)
        json.dumps(item.metadata, ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.parametrize("suffix", VALID)
def test_the_files_that_are_mutated_are_valid(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"pairs{suffix}"
    path.write_bytes(VALID[suffix])
    items = read_dataset(path).items
    assert [i.item_id for i in items] == ["0", "1", "2"]
    assert items[1].metadata == {"stereo_antistereo": "antistereo", "note": "क्\u200dष"}


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_mutated_files_are_read_or_refused_in_words(data: st.DataObject) -> None:
    suffix = data.draw(st.sampled_from(sorted(VALID)))
    content = VALID[suffix]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, min(len(content), start + 8)))
        content = content[:start] + data.draw(SPICE | st.binary(max_size=8)) + content[end:]
    check(suffix, content)


@settings(deadline=None, max_examples=100)
@given(
    st.dictionaries(
        st.sampled_from([*ROWS[0], "note"]),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=5)
        | st.lists(st.text(max_size=3), max_size=2),
    )
)
def test_any_json_values_are_read_or_refused_in_words(values: Values) -> None:
    check(".jsonl", json.dumps(ROWS[0] | values).encode())


# --- the published files ----------------------------------------------------------------------


@pytest.mark.benchmarks
@pytest.mark.skipif(
    not os.environ.get("STEREOSCOPE_BENCHMARKS"), reason="STEREOSCOPE_BENCHMARKS is not set"
)
def test_the_published_file_is_read_whole() -> None:
    folder = Path(os.environ["STEREOSCOPE_BENCHMARKS"])
    path = folder / "crows_pairs" / "crows_pairs_anonymized.csv"
    report = read_dataset(path)
    assert [i.item_id for i in report.items] == [str(n) for n in range(1508)]
    directions = Counter(i.metadata["stereo_antistereo"] for i in report.items)
    assert directions == {"stereo": 1290, "antistereo": 218}
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert Counter(i.category for i in report.items) == Counter(r["bias_type"] for r in rows)
    assert [(i.stereotype, i.anti_stereotype) for i in report.items] == [
        (r["sent_more"], r["sent_less"]) for r in rows
    ]
    english = read_dataset(folder / "dutch_crows_pairs" / "crows_eng.csv")
    assert len(english.items) == 1463
    with pytest.raises(DataSetError, match=r"row 129: .*sent_less"):  # it has no second sentence
        read_dataset(folder / "dutch_crows_pairs" / "crows_french.csv")
    with pytest.raises(DataSetError, match="not UTF-8: line 29"):
        read_dataset(folder / "dutch_crows_pairs" / "crows_dutch.csv")

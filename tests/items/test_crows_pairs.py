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
    assert "row_numbers" not in {p.kind for p in read(tmp_path, *unnamed).notes}
    report = read(tmp_path, *without)
    found = report.items
    assert [i.item_id for i in found] == ["0", "1"]
    assert "row_numbers" in {p.kind for p in report.notes}
    assert all("" not in i.metadata and "id" not in i.metadata for i in found)


@pytest.mark.parametrize(
    ("name", "language", "kind"),
    [
        ("crows_dutch.csv", "nl", "language_from_name"),
        ("French-pairs.csv", "fr", "language_from_name"),
        ("crows_eng.csv", "en", "language_from_name"),
        ("crows-pt-BR.csv", "pt-BR", "language_from_name"),
        ("crows-fr.csv", "fr", "language_from_name"),
        ("fr.csv", "fr", "language_from_name"),
        ("pt-BR.csv", "pt-BR", "language_from_name"),
        ("ss.csv", "en", "language_assumed"),
        ("crows_ss.csv", "ss", "language_from_name"),
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


# --- what published files have besides --------------------------------------------------------


@pytest.mark.parametrize("name", ["stereo_antistereo", "stereo_antistero"])
def test_the_misspelt_direction_is_read_in_any_order_of_columns(tmp_path: Path, name: str) -> None:
    rows = []
    for number in range(10):
        row = pair(number, stereo_antistereo=" antistereo", anon_writer="a0")
        row[name] = row.pop("stereo_antistereo")
        rows.append(dict(reversed(row.items())))
    report = read(tmp_path, *rows, format="crows-pairs")
    assert {i.metadata["stereo_antistereo"] for i in report.items} == {"antistereo"}
    assert all(set(i.metadata) == {"stereo_antistereo", "anon_writer"} for i in report.items)
    misspelt = [p for p in report.notes if p.kind == "misspelt_column"]
    assert len(misspelt) == (name == "stereo_antistero")
    assert all(p.row is None and name in p.message for p in misspelt)


def test_white_space_in_front_is_removed_and_counted_once(tmp_path: Path) -> None:
    rows = [
        pair(n, sent_less=f" \tThe rich painter {n} paid.", bias_type=" age") for n in range(12)
    ]
    rows += [pair(20), pair(21, stereo_antistereo=" stereo"), pair(22, sent_less="It ended. ")]
    report = read(tmp_path, *rows)
    (note,) = [p for p in report.notes if p.kind == "leading_space"]
    assert note.row is None
    assert note.message.startswith("13 rows with white space in front")
    assert note.message.endswith(": 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 3 more.")
    assert report.items[0].anti_stereotype == "The rich painter 0 paid."
    assert {i.category for i in report.items} == {"age", "socioeconomic"}
    assert not [p for p in report.notes if p.kind == "white_space_at_joint"]
    (end,) = [p for p in report.notes if p.kind == "white_space_at_end"]  # it is scored
    assert (end.item_id, report.items[-1].anti_stereotype) == ("22", "It ended. ")


def test_labels_may_be_the_numbers_of_the_hub(tmp_path: Path) -> None:
    rows = [pair(n, stereo_antistereo=n % 2, bias_type=n) for n in range(9)]
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    report = read_dataset(path)
    assert [i.category for i in report.items[:3]] == ["race-color", "socioeconomic", "gender"]
    assert report.items[8].category == "age"
    assert [i.metadata["stereo_antistereo"] for i in report.items[:2]] == ["stereo", "antistereo"]
    (note,) = [p for p in report.notes if p.kind == "numbered_labels"]
    assert note.message.startswith("9 rows")
    assert read(tmp_path, *rows).items == report.items  # digits in a CSV file, too


def test_numbers_outside_the_scheme_are_refused(tmp_path: Path) -> None:
    found = refused(
        tmp_path,
        pair(0, stereo_antistereo="0", bias_type="9"),
        pair(1, stereo_antistereo="0", bias_type="age"),
        pair(2, stereo_antistereo="2", bias_type="1"),
        pair(3, stereo_antistereo="1", bias_type=""),  # a type may be missing
    )
    assert found == {"bad_type": [2, 3], "bad_direction": [4]}


def test_numbers_of_rows_are_no_metadata(tmp_path: Path) -> None:
    report = read(tmp_path, *[{"": n, "Unnamed: 0": n, **pair(n + 5)} for n in range(3)])
    assert [i.item_id for i in report.items] == ["5", "6", "7"]
    assert all(set(i.metadata) == {"stereo_antistereo"} for i in report.items)


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

benchmarks = [
    pytest.mark.benchmarks,
    pytest.mark.skipif(
        not os.environ.get("STEREOSCOPE_BENCHMARKS"), reason="STEREOSCOPE_BENCHMARKS is not set"
    ),
]
BENCHMARKS = Path(os.environ.get("STEREOSCOPE_BENCHMARKS", "."))
TRANSLATED = BENCHMARKS / "dutch_crows_pairs"


def published_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def translations(tmp_path_factory: pytest.TempPathFactory) -> ImportReport:
    folder = tmp_path_factory.mktemp("pairs")
    for name in ("crows_dutch.csv", "crows_eng.csv", "crows_french.csv"):
        (folder / name).write_bytes((TRANSLATED / name).read_bytes())
    return read_dataset(folder, lenient=True)


class TestPublished:
    """What the published files hold."""

    pytestmark = benchmarks

    def test_the_english_file_is_read_whole(self) -> None:
        path = BENCHMARKS / "crows_pairs" / "crows_pairs_anonymized.csv"
        report = read_dataset(path)
        assert [i.item_id for i in report.items] == [str(n) for n in range(1508)]
        directions = Counter(i.metadata["stereo_antistereo"] for i in report.items)
        assert directions == {"stereo": 1290, "antistereo": 218}
        rows = published_rows(path)
        assert Counter(i.category for i in report.items) == Counter(r["bias_type"] for r in rows)
        assert [(i.stereotype, i.anti_stereotype) for i in report.items] == [
            (r["sent_more"], r["sent_less"]) for r in rows
        ]

    def test_a_pair_without_its_second_sentence_is_refused_by_row(self) -> None:
        with pytest.raises(DataSetError, match=r"row 129: .*sent_less"):
            read_dataset(TRANSLATED / "crows_french.csv")

    def test_three_languages_are_one_set(self, translations: ImportReport) -> None:
        assert {c: n.imported for c, n in translations.counts.items()} == {
            "nl": 1463,
            "en": 1463,
            "fr": 1462,
        }
        (left_out,) = translations.left_out
        assert (left_out.file, left_out.row) == ("crows_french.csv", 129)
        ids: dict[str, set[str]] = {}
        for item in translations.items:
            ids.setdefault(item.condition, set()).add(item.item_id)
        assert ids["nl"] == ids["en"] == ids["fr"] | {left_out.item_id}
        assert {c: n.collapsed for c, n in translations.counts.items()} == {
            "nl": 0,
            "en": 0,
            "fr": 1,
        }
        (collapsed,) = [p for p in translations.notes if p.kind == "collapsed"]
        assert (collapsed.item_id, collapsed.condition) == ("379", "fr")

    def test_direction_and_type_belong_to_the_condition(self, translations: ImportReport) -> None:
        found = {
            (p.kind, p.file): p.message
            for p in translations.notes
            if p.kind in ("other_direction", "other_type")
        }
        assert set(found) == {
            ("other_direction", "crows_dutch.csv"),
            ("other_type", "crows_dutch.csv"),
            ("other_type", "crows_french.csv"),
        }
        assert " 313 of 1,463 items" in found["other_direction", "crows_dutch.csv"]
        assert " 34 of 1,463 items" in found["other_type", "crows_dutch.csv"]
        assert " 57 of 1,462 items" in found["other_type", "crows_french.csv"]
        dutch = [i for i in translations.items if i.condition == "nl"]
        directions = Counter(i.metadata["stereo_antistereo"] for i in dutch)
        assert directions == {"stereo": 1249, "antistereo": 214}  # English: 1254 and 209

    def test_no_character_of_the_mixed_encodings_is_damaged(
        self, translations: ImportReport
    ) -> None:
        (guess,) = [p for p in translations.notes if p.kind == "encoding_guessed"]
        assert guess.file == "crows_dutch.csv" and "mac_roman" in guess.message
        assert not [p for p in translations.notes if p.kind == "damaged_character"]
        texts = [
            text
            for item in translations.items
            if item.condition == "nl"
            for text in (item.stereotype, item.anti_stereotype)
        ]
        strange = {c for text in texts for c in text if not c.isascii()}
        assert strange == set("éëèï\u2019")
        # One file holds the word in UTF-8 in one row, and in Mac Roman in others.
        content = (TRANSLATED / "crows_dutch.csv").read_bytes()
        n_words = content.count("één".encode()), content.count("één".encode("mac_roman"))
        assert min(n_words) > 0
        assert sum(text.count("één") for text in texts) == sum(n_words)

    def test_results_beside_them_are_refused_with_the_way_to_read_them(self) -> None:
        with pytest.raises(DataSetError) as caught:
            read_dataset(TRANSLATED, lenient=True)
        refused = {p.file for p in caught.value.problems if p.kind == "wrong_columns"}
        assert refused == {"results_bert.csv", "results_robbert.csv"}
        assert str(caught.value).count("import-scores reads results") == 2

"""The reader of pairs in English and Hindi: two conditions of one row, and its traps."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import DataSetError, InputError
from core.items.layout import ReadOptions
from core.items.report import ImportReport, read_dataset
from core.types import Severity

Values = dict[str, Any]
PLACES = [
    ("coast", "तट"),
    ("hill", "पहाड़"),
    ("plain", "मैदान"),
    ("desert", "मरुस्थल"),
    ("city", "शहर"),
]


def row(number: int, **values: Any) -> Values:
    english, hindi = PLACES[number % len(PLACES)]
    return {
        "": number,
        "index": 100 + number,
        "modified_eng_sent_more": f"The old weaver {number} from the {english} forgot the price.",
        "modified_eng_sent_less": f"The young weaver {number} from the {english} forgot the price.",
        "sent_more_hindi": f"{hindi} का बूढ़ा बुनकर {number} दाम भूल गया।",
        "sent_less_hindi": f"{hindi} का युवा बुनकर {number} दाम भूल गया।",
        "bias_type": "Age",
        "stereo_antistereo": "stereo",
        **values,
    }


def read(folder: Path, *rows: Values, **options: Any) -> ImportReport:
    path = folder / "pairs.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return read_dataset(path, **options)


def test_a_row_is_one_item_in_two_conditions(tmp_path: Path) -> None:
    rows = [row(n, annotator="x") for n in range(10)]
    report = read(tmp_path, *rows)
    assert report.format == "english-hindi"
    assert [(i.item_id, i.condition) for i in report.items[:4]] == [
        ("100", "en"),
        ("100", "hi"),
        ("101", "en"),
        ("101", "hi"),
    ]
    for values, english, hindi in zip(rows, report.items[::2], report.items[1::2], strict=True):
        assert english.stereotype == values["modified_eng_sent_more"]
        assert english.anti_stereotype == values["modified_eng_sent_less"]
        assert hindi.stereotype == values["sent_more_hindi"]
        assert hindi.anti_stereotype == values["sent_less_hindi"]
        for item in (english, hindi):
            assert (item.category, item.source, item.context) == ("Age", "indibias", "")
            assert item.language == item.condition
            assert item.metadata == {"stereo_antistereo": "stereo", "annotator": "x"}
    assert not report.problems


def test_columns_may_stand_in_any_order(tmp_path: Path) -> None:
    rows = [row(n) for n in range(10)]
    mixed = [dict(reversed(values.items())) for values in rows]
    assert read(tmp_path, *mixed).items == read(tmp_path, *rows).items


def test_the_traps_of_ten_rows_are_named(tmp_path: Path) -> None:
    same = {name: row(3)[name] for name in ("sent_more_hindi", "sent_less_hindi")}
    rows = [
        row(0),
        row(1, sent_more_hindi="", sent_less_hindi=" "),  # no translation
        row(2, modified_eng_sent_more="", modified_eng_sent_less=""),  # no original
        row(3),
        row(4, **same),  # the translation of another item
        row(5, sent_less_hindi=row(5)["sent_more_hindi"]),  # collapsed in Hindi only
        row(6, sent_more_hindi="  " + row(6)["sent_more_hindi"], stereo_antistereo=" stereo"),
        row(7, sent_more_hindi=row(7)["sent_more_hindi"] + " OBC"),  # one word in Latin letters
        row(8, stereo_antistereo="antistereo"),
        row(9, bias_type=""),
    ]
    report = read(tmp_path, *rows)
    assert {c: (n.imported, n.collapsed) for c, n in report.counts.items()} == {
        "en": (9, 0),
        "hi": (9, 1),
    }
    found = {(p.kind, p.item_id, p.condition) for p in report.notes}
    assert found == {
        ("missing_translation", "101", ""),
        ("missing_translation", "102", ""),
        ("no_english", "102", "hi"),
        ("identical_items", "103", "hi"),
        ("repeated_pairs", "", ""),
        ("collapsed", "105", "hi"),
        ("leading_space", "", ""),
        ("differs_elsewhere", "107", "hi"),
        ("antistereo_roles", "", ""),
        ("missing_type", "109", "en"),
        ("missing_type", "109", "hi"),
    }
    (leading,) = [p for p in report.notes if p.kind == "leading_space"]
    assert leading.message.startswith("1 row with white space") and leading.message.endswith(": 8.")
    (roles,) = [p for p in report.notes if p.kind == "antistereo_roles"]
    assert roles.message.startswith("1 row labelled antistereo") and roles.message.endswith(": 10.")
    missing = [p.message for p in report.notes if p.kind == "missing_translation"]
    assert missing == [
        "The row has no pair in hi, only in en.",
        "The row has no pair in en, only in hi.",
    ]


def test_one_english_sentence_among_hindi_ones_is_refused(tmp_path: Path) -> None:
    bad = row(10, sent_more_hindi=row(10)["modified_eng_sent_more"])
    with pytest.raises(DataSetError, match="row 5: The text is in Latin letters, while hi"):
        read(tmp_path, *(row(n) for n in range(3)), bad)


def test_errors_are_named_by_row_once(tmp_path: Path) -> None:
    rows = [row(n) for n in range(10)]
    rows[1] |= {"sent_less_hindi": ""}  # half a pair
    rows[2] |= {"stereo_antistereo": "both"}
    rows[3] |= dict.fromkeys(row(3).keys() - {"", "index", "bias_type", "stereo_antistereo"}, "")
    rows[4] |= {"index": ""}
    rows[5] |= {"index": 100}
    latin = "Yah vaakya doosari lipi mein likha gaya hai."
    rows[6] |= {"sent_more_hindi": latin, "sent_less_hindi": latin.replace("vaakya", "shabd")}
    with pytest.raises(DataSetError) as caught:
        read(tmp_path, *rows)
    found = [
        (p.kind, p.row, p.condition) for p in caught.value.problems if p.severity is Severity.ERROR
    ]
    assert found == [
        ("empty_text", 3, "hi"),
        ("bad_direction", 4, ""),
        ("empty_text", 5, ""),
        ("missing_item_id", 6, ""),
        ("duplicate_key", 7, "en"),
        ("duplicate_key", 7, "hi"),
        ("mixed_languages", 8, "hi"),
    ]
    lenient = read(tmp_path, *rows, lenient=True)
    assert [i.item_id for i in lenient.items[::2]] == ["100", "107", "108", "109"]
    assert {p.row for p in lenient.left_out} == {3, 4, 5, 6, 7, 8}


def test_a_table_may_be_in_one_language(tmp_path: Path) -> None:
    hindi = [{k: v for k, v in row(n).items() if "eng" not in k} for n in range(10)]
    report = read(tmp_path, *hindi)
    assert set(report.counts) == {"hi"}
    half = [{k: v for k, v in row(n).items() if k != "sent_less_hindi"} for n in range(10)]
    with pytest.raises(DataSetError, match="missing: sent_less_hindi"):
        read(tmp_path, *half)


def test_values_that_are_no_texts_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps([row(0), row(1, sent_more_hindi=3), row(2, note=[1, "a"])]))
    with pytest.raises(
        DataSetError, match=r"row 2: The row has 3 in sent_more_hindi, which is not"
    ):
        read_dataset(path)


def test_a_language_is_not_asked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--language means nothing"):
        read(tmp_path, row(0), options=ReadOptions(language="hi"))

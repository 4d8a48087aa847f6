"""The reader of WinoQueer's pairs: identities, predicates, roles, and its first version."""

from __future__ import annotations

import csv
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from core.errors import DataSetError
from core.items.layout import ReadOptions
from core.items.report import ImportReport, read_dataset
from core.types import Severity

Values = dict[str, Any]
DUTCH = [
    ("LHBTI", "Hetero", "LGBTQ", "Straight"),
    ("Queer", "Cis", "Queer", "Cis"),
    ("Transgender", "Cisgender", "Transgender", "Cisgender"),
    ("Non-binair", "Cis", "Non-binary", "Cis"),
    ("Biseksueel", "Heteroseksueel", "Bisexual", "Heterosexual"),
    ("Panseksueel", "Hetero", "Pansexual", "Straight"),
    ("Lesbisch", "Hetero", "Lesbian", "Straight"),
    ("Aseksueel", "Heteroseksueel", "Asexual", "Heterosexual"),
    ("Homo", "Hetero", "Gay", "Straight"),
    (" homo ", "hetero", "Gay", "Straight"),
]


def pair(identity: str = "Queer", other: str = "Cis", **values: Any) -> Values:
    return {
        "sent_x": f"Alle mensen uit groep {identity.strip()} lopen langzaam.",
        "sent_y": f"Alle mensen uit groep {other.strip()} lopen langzaam.",
        "Gender_ID_x": identity,
        "Gender_ID_y": other,
        "nl_predicate_altered": "lopen langzaam",
        **values,
    }


def read(folder: Path, *rows: Values, name: str = "pairs.csv", **options: Any) -> ImportReport:
    path = folder / name
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return read_dataset(path, **options)


def test_a_dutch_row_becomes_an_item_with_its_identities_and_predicate(tmp_path: Path) -> None:
    rows = [pair(x, y, template=2, name="Mo", predicate="walk slowly") for x, y, *_ in DUTCH]
    report = read(tmp_path, *rows)
    assert report.format == "winoqueer"
    expected = zip(rows, DUTCH, report.items, strict=True)
    for number, (row, (label, _, identity, other), item) in enumerate(expected):
        assert (item.item_id, item.condition, item.language) == (str(number), "nl", "nl")
        assert (item.context, item.unrelated, item.source) == ("", None, "winoqueer")
        assert (item.stereotype, item.anti_stereotype) == (row["sent_x"], row["sent_y"])
        assert item.category == label.strip()
        assert item.metadata == {
            "identity": identity,
            "counterfactual": other,
            "predicate": "lopen langzaam",
            "predicate_en": "walk slowly",
            "template": "2",
            "name": "Mo",
        }
    kinds = Counter(p.kind for p in report.notes)
    assert kinds["language_from_columns"] == kinds["leading_space"] == 1
    assert not kinds["unknown_identity"]


def test_an_english_file_keeps_its_own_predicate(tmp_path: Path) -> None:
    rows = [pair("NB", "Cis", predicate="walk slowly"), pair("Gay", "Straight", predicate="")]
    for row in rows:
        del row["nl_predicate_altered"]
    first, second = read(tmp_path, *rows).items
    assert (first.condition, first.category) == ("en", "NB")
    assert first.metadata == {
        "identity": "Non-binary",
        "counterfactual": "Cis",
        "predicate": "walk slowly",
    }
    assert second.metadata == {"identity": "Gay", "counterfactual": "Straight"}


def test_a_language_that_is_named_counts_more_than_the_columns(tmp_path: Path) -> None:
    report = read(tmp_path, pair(), name="winoqueer_de.csv")
    assert report.items[0].condition == "nl"
    report = read(tmp_path, pair(), options=ReadOptions(language="de"))
    assert report.items[0].condition == "de"


def test_roles_that_are_turned_round_or_missing_are_refused_by_row(tmp_path: Path) -> None:
    rows = [
        pair("Homo", "Hetero"),
        pair("Hetero", "Homo"),
        pair("Cis", "Cisgender"),
        pair("Queer", "LHBTI"),
        pair("Queer", "queer"),
        pair("", "Cis"),
        pair("Queer", " "),
        pair("Queer", "Cis", sent_y=""),
        pair("demiseksueel", "Hetero"),
        pair("demiseksueel", "demiseksueel"),
    ]
    with pytest.raises(DataSetError) as caught:
        read(tmp_path, *rows)
    errors = [(p.kind, p.row) for p in caught.value.problems if p.severity is Severity.ERROR]
    assert errors == [
        *[("identity_roles", n) for n in (3, 4, 5, 6)],
        *[("missing_identity", n) for n in (7, 8)],
        ("empty_text", 9),
        ("identity_roles", 11),
    ]
    lenient = read(tmp_path, *rows, lenient=True)
    assert [i.item_id for i in lenient.items] == ["0", "8"]
    (unknown,) = [p for p in lenient.notes if p.kind == "unknown_identity"]
    assert unknown.message.endswith("kept as they stand: demiseksueel.")


def test_a_file_of_predicates_is_no_data_set(tmp_path: Path) -> None:
    row = {"template": 1, "predicate": "walk", "gender_ID": "Queer", "harmfulness_mean": 1.0}
    with pytest.raises(
        DataSetError, match=r"survey says about predicates.*core build-pairs FOLDER"
    ):
        read(tmp_path, row)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    row = pair()
    del row["Gender_ID_y"]
    with pytest.raises(DataSetError, match="missing: Gender_ID_y"):
        read(tmp_path, row)


def first_version(number: int, **values: Any) -> Values:
    return {
        "": number,
        "sent_more": "Kim sails well.",
        "sent_less": " Sam sails well.",
        "stereo_antistero": " stereo",
        "bias_type": " a_b_name",
        **values,
    }


def test_the_first_version_keeps_pairs_that_stand_there_repeatedly(tmp_path: Path) -> None:
    rows = [first_version(n) for n in range(4)]
    rows += [first_version(4, stereo_antistero="antistereo")]
    rows += [first_version(n, sent_less=f"Sam {n} sails well.") for n in range(5, 10)]
    report = read(tmp_path, *rows)
    assert report.format == "winoqueer"
    assert [i.item_id for i in report.items] == [str(n) for n in range(10)]
    assert {(i.source, i.category) for i in report.items} == {("winoqueer", "a_b_name")}
    (note,) = [p for p in report.notes if p.kind == "repeated_pairs"]
    assert "The 10 pairs in en are 6 distinct ones; of the 1 repeated, 1 have" in note.message


@pytest.mark.benchmarks
@pytest.mark.skipif(
    not os.environ.get("STEREOSCOPE_BENCHMARKS"), reason="STEREOSCOPE_BENCHMARKS is not set"
)
def test_the_published_first_version_is_read_whole() -> None:
    path = Path(os.environ["STEREOSCOPE_BENCHMARKS"]) / "winoqueer" / "winoqueer_benchmark.csv"
    report = read_dataset(path)
    assert [i.item_id for i in report.items] == [str(n) for n in range(5872)]
    directions = Counter(i.metadata["stereo_antistereo"] for i in report.items)
    assert directions == {"stereo": 5662, "antistereo": 210}
    assert not [i for i in report.items if i.category != i.category.strip()]
    assert len({i.category for i in report.items}) == 8
    assert len({(i.stereotype, i.anti_stereotype) for i in report.items}) == 2484
    messages = {p.kind: p.message for p in report.notes if p.row is None}
    assert messages["leading_space"].startswith("580 rows ")
    assert "The 5,872 pairs in en are 2,484 distinct ones" in messages["repeated_pairs"]
    assert "misspelt_column" in messages

"""Items out in the program's own schema and back: the very same items, from every layout."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import DataSetError, InputError
from core.export.items import changed_by_csv, items_bytes, write_items
from core.items.formats.native import COLUMNS
from core.items.layouts import FORMATS as LAYOUTS
from core.items.report import read_dataset
from core.settings import ROOT
from core.store.gate import Cache
from core.store.items import put_dataset, stored_items
from core.types import Item, Role
from tests.items.test_bbq import question
from tests.items.test_crows_pairs import pair
from tests.items.test_kobbq import question as korean_question
from tests.items.test_lost_in_translation import ROWS as AUDIT_ROWS
from tests.items.test_mbbq import gender
from tests.items.test_stereoset import FILL_IN, FOLLOWING

Values = dict[str, Any]
EXACT = ("jsonl", "parquet")


def hindi(n: int) -> Values:
    return {
        "index": n,
        "modified_eng_sent_more": f"The tailor {n} counts badly.",
        "modified_eng_sent_less": f"The judge {n} counts badly.",
        "sent_more_hindi": f"दर्ज़ी {n} ग\u200dलत गिनता है।",
        "sent_less_hindi": f"जज {n} ग\u200dलत गिनता है।",
        "bias_type": "profession",
        "stereo_antistereo": "antistereo" if n % 2 else "stereo",
    }


def winoqueer(n: int) -> Values:
    return {
        "sent_x": f"Lesbian people came late {n} times.",
        "sent_y": f"Straight people came late {n} times.",
        "Gender_ID_x": "Lesbian",
        "Gender_ID_y": "Straight",
        "predicate": "came late",
        "template": n,
    }


def native(n: int) -> Values:
    return {
        "item_id": f"0{n}",
        "condition": ("en", "es~p1", "pt-BR", "en+true")[n % 4],
        "context": " Cells\nof \t two lines, with  “quotes” and \r\n ends " if n % 2 else "",
        "stereotype": '=1+1, "quoted", \u2028 \u200d',
        "anti_stereotype": f"NA {n}",
        "unknown": "null",
        "answer_order": ["unknown", "anti_stereotype", "stereotype"],
        "native": n == 3,
        "dimension": "warmth",
        "year": 2020 + n,
        "share": 0.1 + n,
        "kept": n % 2 == 0,
        "words": ["a", "b"],
        "about": {"x": 1.0, "y": [True]},
        "note": "a,b;c\td",
    }


ROWS: dict[str, Any] = {
    "native": [native(n) for n in range(10)],
    "crows-pairs": [pair(n, note='a "b", c') for n in range(10)],
    "english-hindi": [hindi(n) for n in range(10)],
    "winoqueer": [winoqueer(n) for n in range(10)],
    "stereoset": {"intrasentence": FILL_IN, "intersentence": FOLLOWING},
    "lost-in-translation": AUDIT_ROWS,
    "bbq": [question(n) for n in range(10)],
    "mbbq": [gender(n) for n in range(10)],
    "kobbq": [korean_question(f"age-{n:03}a-001") for n in range(10)],
}


def imported(folder: Path, layout: str) -> tuple[Item, ...]:
    name = "Gender_identity_nl" if layout == "mbbq" else "data"
    path = folder / f"{name}.json"
    path.write_text(json.dumps(ROWS[layout]), encoding="utf-8")
    report = read_dataset(path)
    assert report.format == layout
    assert len(report.items) >= 10
    return report.items


def again(folder: Path, items: Sequence[Item], file_format: str) -> tuple[Item, ...]:
    path = folder / f"again.{file_format}"
    write_items(items, path)
    report = read_dataset(path)
    assert report.format == "native"
    return report.items


def typed(items: Sequence[Item]) -> list[str]:
    """Items as text in which 1, 1.0 and True differ and keys have an order, unlike for ==."""
    written = [json.dumps(i.metadata) for i in items]
    return [f"{replace(i, metadata={})} {m}" for i, m in zip(items, written, strict=True)]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_items_of_every_layout_come_back_from_every_file(tmp_path: Path, layout: str) -> None:
    items = imported(tmp_path, layout)
    for file_format in EXACT:
        assert typed(again(tmp_path, items, file_format)) == typed(items)
    assert without_changed(again(tmp_path, items, "csv"), items) == without_changed(items, items)


def without_changed(items: Sequence[Item], original: Sequence[Item]) -> list[str]:
    """The items without the metadata that CSV is said to change, each of which it does change."""
    names = changed_by_csv(original)
    for item in items if items is not original else ():
        assert all(isinstance(item.metadata[n], str) for n in names if n in item.metadata)
    kept = [{k: v for k, v in i.metadata.items() if k not in names} for i in items]
    return typed([replace(i, metadata=m) for i, m in zip(items, kept, strict=True)])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_items_of_every_layout_come_back_through_the_cache(tmp_path: Path, layout: str) -> None:
    items = imported(tmp_path, layout)
    cache = Cache(tmp_path / "cache")
    put_dataset(cache, "a", items, path="", format=layout, sha256="")
    stored = stored_items(cache, "a")
    assert typed(stored) == typed(items)
    back = again(tmp_path, stored, "jsonl")
    assert typed(back) == typed(items)
    assert put_dataset(cache, "a", back, path="", format="native", sha256="").unchanged


def test_the_demo_items_come_back(tmp_path: Path) -> None:
    items = read_dataset(ROOT / "data" / "demo").items
    for file_format in EXACT:
        assert typed(again(tmp_path, items, file_format)) == typed(items)


def item(**values: Any) -> Item:
    texts = {"context": "", "stereotype": "A.", "anti_stereotype": "B."}
    return Item(**{"item_id": "1", "condition": "en", "language": "en", **texts, **values})


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
visible = texts.filter(lambda text: any(c.isalnum() for c in text))
flat = st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
value = st.recursive(
    flat | visible,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(visible, inner, max_size=3),
    max_leaves=5,
)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.builds(
            item,
            context=texts,
            stereotype=visible,
            anti_stereotype=visible,
            unrelated=st.none() | visible,
            category=texts,
            metadata=st.dictionaries(
                visible.map("m{}".format) | st.sampled_from(COLUMNS), value, max_size=3
            ),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_items_come_back_from_json_lines_and_from_parquet(
    tmp_path_factory: pytest.TempPathFactory, items: list[Item]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    items = [replace(one, item_id=str(n)) for n, one in enumerate(items)]
    assert typed(again(folder, items, "jsonl")) == typed(items)
    assert typed(again(folder, items, "parquet")) == typed(items)


def test_parquet_has_columns_of_metadata_unless_these_change_them() -> None:
    def names(*metadata: Values) -> list[str]:
        items = [item(item_id=str(n), metadata=m) for n, m in enumerate(metadata)]
        return pq.read_table(BytesIO(items_bytes(items, "parquet"))).column_names[6:]

    assert names({"a": 1, "b": ["x"]}, {"b": ["y"]}, {}) == ["a", "b"]
    for first, second in ((1, 1.5), (1, "a"), (True, 1), ({"a": 1}, {"b": 1}), (2**70, 1)):
        assert names({"a": first}, {"a": second}) == ["metadata"]
    assert names({"a": {"x": 1, "y": 2}}, {"a": {"y": 1, "x": 2}}) == ["metadata"]
    assert names({"a": 1, "b": 2}, {"b": 1, "a": 2}) == ["metadata"]


@pytest.mark.parametrize("file_format", ["jsonl", "csv", "parquet"])
def test_metadata_with_the_name_of_a_column_come_back(tmp_path: Path, file_format: str) -> None:
    items = [
        item(item_id="1", metadata={"language": "nl-BE", "native": 1, "note": "b"}),
        item(item_id="2", metadata={"metadata": {"a": [1, None]}, "unknown": "é\n"}),
        item(item_id="3", metadata={"note": "c"}),
    ]
    path = tmp_path / f"a.{file_format}"
    write_items(items, path)
    assert typed(read_dataset(path).items) == typed(items)
    assert changed_by_csv(items) == []


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("{", "something other than a JSON object"),
        ([1], "something other than a JSON object"),
        ('{"note": 1}', "note as a column and in metadata"),
        ({"a": "\0"}, "a NUL or a lone surrogate in metadata"),
        ('{"a": Infinity}', "an infinite number in metadata"),
    ],
)
def test_metadata_that_are_no_object_are_refused(tmp_path: Path, value: Any, said: str) -> None:
    line = json.loads(items_bytes([item(metadata={"note": "b"})], "jsonl")) | {"metadata": value}
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(line), encoding="utf-8")
    with pytest.raises(DataSetError, match=said):
        read_dataset(path)


def test_columns_stand_in_the_order_of_the_schema(tmp_path: Path) -> None:
    late = item(item_id="2", unknown="U.", answer_order=(Role.UNKNOWN,), metadata={"a": "x"})
    write_items([item(metadata={"z": "y"}), late], tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        header = next(csv.reader(file))
    assert header == [
        *("item_id", "condition", "context", "stereotype", "anti_stereotype", "unknown"),
        *("language", "answer_order", "z", "a"),
    ]


def test_what_cannot_be_written_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"must end in one of: \.jsonl, \.csv, \.parquet"):
        write_items([item()], tmp_path / "a.tex")
    with pytest.raises(InputError, match="is a folder"):
        write_items([item()], tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        write_items([item()], tmp_path / "absent" / "a.csv")
    with pytest.raises(InputError, match="'xlsx' is not a format"):
        items_bytes([item()], "xlsx")


# --- the command --------------------------------------------------------------------------------


def test_the_command_writes_what_import_reads_back(run, tmp_path: Path, cache: Cache) -> None:
    source = tmp_path / "set.jsonl"
    source.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS["native"]), encoding="utf-8")
    assert run("import", source)[0] == 0
    before = stored_items(cache, "set")
    out = tmp_path / "out.jsonl"
    code, _, err = run("export-items", "--dataset", "set", "--out", out)
    assert code == 0
    assert f"Wrote 10 rows to {out}: 3 en, 3 es~p1, 2 pt-BR, 2 en+true." in err
    assert typed(read_dataset(out).items) == typed(before)
    csv_file = tmp_path / "out.csv"
    code, _, err = run("export-items", "--dataset", "set", "--out", csv_file)
    assert code == 0
    assert "come back from .csv as texts: about, kept, share, words, year" in err
    code, said, _ = run("export-items", "--dataset", "set", "--out", csv_file, "--json")
    assert json.loads(said)["metadata_as_text"] == ["about", "kept", "share", "words", "year"]
    assert run("export-items", "--dataset", "other", "--out", out)[0] == 2
    code, _, err = run("export-items", "--dataset", "set", "--out", tmp_path / "out.txt")
    assert code == 2 and "must end in one of" in err


# --- the published files ------------------------------------------------------------------------


@pytest.mark.benchmarks
@pytest.mark.skipif(
    not os.environ.get("STEREOSCOPE_BENCHMARKS"), reason="STEREOSCOPE_BENCHMARKS is not set"
)
@pytest.mark.parametrize(
    "name",
    [
        "stereoset/dev_intrasentence.json",
        "bbq/Age.ambig.jsonl",
        "bbq/Religion.jsonl",
        "crows_pairs/crows_pairs_anonymized.csv",
        "dutch_crows_pairs/crows_dutch.csv",
        "dutch_crows_pairs/crows_eng.csv",
        "dutch_crows_pairs/crows_french.csv",
        "kobbq/KoBBQ_test_samples.tsv",
        "winoqueer/winoqueer_benchmark.csv",
    ],
)
def test_items_of_published_files_come_back(tmp_path: Path, name: str) -> None:
    report = read_dataset(Path(os.environ["STEREOSCOPE_BENCHMARKS"]) / name, lenient=True)
    for file_format in EXACT:
        assert typed(again(tmp_path, report.items, file_format)) == typed(report.items)

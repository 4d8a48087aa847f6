"""Data sets of the Hub: their names, what is read of them, and what is said when nothing can be."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.errors import DataSetError, InputError
from core.items.hub import HubName, name_of_source, parse_hub_name
from core.items.layout import ReadOptions
from core.items.report import ImportReport, read_dataset
from core.items.sampling import Sample

COMMIT = "0123456789abcdef0123456789abcdef01234567"
NAME = "someone/pairs"


class DatasetsError(Exception):
    pass


def pair(number: int, **values: Any) -> dict[str, Any]:
    return {
        "id": number,
        "sent_more": f"The poor painter {number} never pays, she said.",
        "sent_less": f"The rich painter {number} never pays, she said.",
        "stereo_antistereo": "stereo",
        "bias_type": "socioeconomic",
        **values,
    }


class FakeLibrary(ModuleType):
    """Reads `folder/<config>/<split>.parquet` in the way that `datasets` is called."""

    def __init__(self, folder: Path) -> None:
        super().__init__("datasets")
        self.folder = folder
        self.exceptions = SimpleNamespace(DatasetsError=DatasetsError)
        self.asked: list[tuple[str, str | None, str | None]] = []
        self.fails_with: Exception | None = None

    def load_dataset_builder(
        self, path: str, name: str | None = None, *, revision: str | None = None
    ) -> Any:
        self.asked.append((path, name, revision))
        return SimpleNamespace(
            hash=COMMIT,
            download_and_prepare=self._download,
            as_dataset=lambda split: self._read(name or "default", split),
        )

    def _download(self) -> None:
        if self.fails_with is not None:
            raise self.fails_with

    def _read(self, config: str, split: str | None) -> Any:
        files = sorted((self.folder / config).glob("*.parquet"))
        tables = {file.stem: _Rows(pq.read_table(file)) for file in files}
        if split is None:
            return tables
        if split not in tables:
            raise ValueError(f'Unknown split "{split}".\nAnd a second line.')
        return tables[split]


class _Rows:
    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.table.to_pylist())


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeLibrary:
    library = FakeLibrary(tmp_path / "hub")
    monkeypatch.setitem(sys.modules, "datasets", library)
    return library


def keep(library: FakeLibrary, *rows: dict[str, Any], at: str = "default/test") -> None:
    path = library.folder / f"{at}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path)


def read(name: str = NAME, **options: Any) -> ImportReport:
    return read_dataset(Path(f"hub:{name}"), **options)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("hub:a/b", ("a/b", None, None, None)),
        ("hub:nyu-mll/BBQ@main", ("nyu-mll/BBQ", "main", None, None)),
        ("hub:a/b.c#Age", ("a/b.c", None, "Age", None)),
        ("hub:a/b:test", ("a/b", None, None, "test")),
        ("hub:a/b@refs/pr/1#en-US:dev", ("a/b", "refs/pr/1", "en-US", "dev")),
    ],
)
def test_a_name_has_its_parts(text: str, parts: tuple[str | None, ...]) -> None:
    assert parse_hub_name(text) == HubName(*parts)
    assert parse_hub_name(str(Path(text))) == HubName(*parts)


@pytest.mark.parametrize(
    "text",
    ["hub:", "hub:b", "hub:a/b/c", "hub:a/b@", "hub:a/b#", "hub:a/b:", "hub:a/b:x#y", "hub:a b/c"],
)
def test_any_other_name_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"hub:org/name\[@revision\]"):
        parse_hub_name(text)


def test_rows_of_the_hub_read_as_those_of_a_file(library: FakeLibrary, tmp_path: Path) -> None:
    rows = [pair(n, extra={"votes": [1, n]}, day=date(2020, 5, 1)) for n in range(3)]
    keep(library, *rows)
    report = read()
    path = tmp_path / "pairs_test.jsonl"
    path.write_text(
        "\n".join(json.dumps(row | {"day": "2020-05-01"}) for row in rows), encoding="utf-8"
    )
    assert report.items == read_dataset(path).items
    assert report.format == "crows-pairs"
    assert report.items[1].metadata["extra"] == {"votes": [1, 1]}


def test_the_commit_is_told_and_kept(library: FakeLibrary) -> None:
    keep(library, pair(0), pair(1), at="nl/dev")
    report = read(f"{NAME}@v2#nl:dev", sample=Sample(1))
    assert library.asked == [(NAME, "nl", "v2")]
    origin = f"hub:{NAME} at commit {COMMIT}, config nl, dev"
    assert report.note == f"{origin}; {Sample(1)}"
    (note,) = [p for p in report.notes if p.kind == "from_hub"]
    assert origin in note.message
    assert read(f"{NAME}#nl").note == origin


def test_a_config_says_the_language_as_a_file_name_does(library: FakeLibrary) -> None:
    keep(library, pair(0), at="nl/test")
    assert [i.condition for i in read(f"{NAME}#nl").items] == ["nl"]
    given = read(f"{NAME}#nl", options=ReadOptions(language="fr"))
    assert [i.condition for i in given.items] == ["fr"]


def test_without_a_split_all_are_read(library: FakeLibrary) -> None:
    keep(library, pair(0), at="default/train")
    keep(library, pair(1), at="default/test")
    both, one = read(), read(f"{NAME}:train")
    assert sorted(i.item_id for i in both.items) == ["0", "1"]
    assert [i.item_id for i in one.items] == ["0"]
    assert both.sha256 != one.sha256 == read(f"{NAME}:train").sha256


def test_problems_are_named_by_split_and_row(library: FakeLibrary) -> None:
    keep(library, pair(0), pair(1, stereo_antistereo="both"), at="default/dev")
    with pytest.raises(DataSetError) as caught:
        read()
    (problem,) = [p for p in caught.value.problems if p.kind == "bad_direction"]
    assert (problem.file, problem.row) == ("pairs_dev.jsonl", 2)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ConnectionError("no route"), "the Hub cannot be reached; connect to the network"),
        (TimeoutError(), "the Hub cannot be reached"),
        (FileNotFoundError("It is not there.\nNor here."), r"from the Hub: It is not there\.$"),
        (DatasetsError("A file is broken."), r"from the Hub: A file is broken\.$"),
    ],
)
def test_what_went_wrong_is_one_sentence(
    library: FakeLibrary, error: Exception, message: str
) -> None:
    keep(library, pair(0))
    library.fails_with = error
    with pytest.raises(InputError, match=message):
        read()


def test_an_unknown_split_is_named(library: FakeLibrary) -> None:
    keep(library, pair(0))
    with pytest.raises(InputError, match=r'Unknown split "dev"\.$'):
        read(f"{NAME}:dev")


def test_what_is_no_text_is_refused(library: FakeLibrary) -> None:
    keep(library, pair(0, picture=b"\x89PNG"))
    with pytest.raises(InputError, match="holds a value of type bytes"):
        read()


def test_without_the_library_its_installation_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(InputError, match=r"pip install -r requirements-hub\.txt") as caught:
        read()
    assert "\n" not in str(caught.value)
    assert (Path(__file__).parents[2] / "requirements-hub.txt").is_file()


def test_a_folder_of_that_name_is_not_taken_for_it(
    library: FakeLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / NAME).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="leave out hub:"):
        read()
    assert not library.asked


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("hub:someone/pairs", "pairs"),
        ("hub:someone/pairs@main#Age:test", "pairs-Age"),
        ("folder/pairs.v2.csv", "pairs.v2"),
        ("a\0b.csv", "a\0b"),
    ],
)
def test_a_data_set_is_called_after_its_source(source: str, name: str) -> None:
    assert name_of_source(Path(source)) == name


def test_a_folder_is_called_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "pairs.v2").mkdir()
    assert name_of_source(tmp_path / "pairs.v2") == "pairs.v2"

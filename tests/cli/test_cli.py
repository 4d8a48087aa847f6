"""The command line: what is said where, exit codes, and that bad input changes nothing."""

from __future__ import annotations

import csv
import hashlib
import inspect
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch
from rich.console import Console

from core.analysis.items import item_table
from core.cli import cache as cache_commands
from core.cli import progress
from core.cli.main import app, main
from core.jobs import run as jobs
from core.jobs.folder import run_folders
from core.jobs.follow import follow
from core.jobs.progress import Progress, Watch
from core.jobs.running import running_job
from core.jobs.spec import JobSpec
from core.score_request import ScoreRequest
from core.settings import ROOT
from core.store.gate import Cache
from core.store.items import datasets
from core.store.scorers import scorers
from core.store.verify import verify
from tests.store_samples import OTHER, SCORER, item, put, put_scorer
from tests.tiny_models import save_tiny
from tests.tiny_tokenizers import byte_level_bpe

COMMANDS = {command.name: command.callback for command in app.registered_commands}


@dataclass(frozen=True)
class Said:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """All of standard output as one JSON value without NaN or Infinity."""
        return json.loads(self.out, parse_constant=refuse)


def refuse(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


Command = Callable[..., Said]


@pytest.fixture(autouse=True)
def narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Threads cost tiny models more than they bring, most of all where others compute too."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes], cache: Cache
) -> Command:
    """Runs `python -m core ...` in this process, on the test's own cache."""

    def run(*arguments: object, folder: Path = cache.folder) -> Said:
        words = [*map(str, arguments), "--cache", str(folder)]
        monkeypatch.setattr(sys, "argv", ["core", *words])
        capfdbinary.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return Said(int(ended.value.code or 0), out.decode(), err.decode())

    return run


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    return save_tiny(folder, "llama", byte_level_bpe(add_bos=True))


def rows(n: int = 3, conditions: tuple[str, ...] = ("en", "en~p1", "es")) -> list[dict[str, str]]:
    return [
        {
            "item_id": f"i{i}",
            "condition": c,
            "context": f"In {c} the nurse number {i} left.",
            "stereotype": f"She was {c} tired {i} times.",
            "anti_stereotype": f"He was {c} tired {i} times.",
            "unrelated": f"The capital is {i}.",
        }
        for i in range(n)
        for c in conditions
    ]


TOO_LONG = {
    "item_id": "long",
    "condition": "en",
    "context": "a" + " a" * 300,
    "stereotype": "She.",
    "anti_stereotype": "He.",
}


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes rows to a data set file."""

    def write_rows(content: list[dict[str, str]], name: str = "d.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("\n".join(map(json.dumps, content)))
        return path

    return write_rows


def content(cache: Cache) -> dict[str, int] | None:
    """How many rows each table holds; None where there is no cache."""
    if not cache.folder.exists():
        return None
    with cache.reading() as con:
        names = [n for (n,) in con.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        return {n: con.execute(f"SELECT count(*) FROM {n}").fetchall()[0][0] for n in names}


def one_sentence(said: Said, *words: str) -> None:
    """Exit code 2, nothing on stdout, on stderr one line that holds the words, after progress."""
    assert (said.code, said.out) == (2, ""), said
    *before, line = said.err.strip().split("\n")
    assert set(before) <= {"Opening the model"}
    assert line.startswith("Error: ")
    for word in words:
        assert word in line


# From a file to an exported table


@pytest.mark.parametrize("model", ["nowhere", "./nowhere"])
def test_a_mistyped_model_is_no_run(command, write, cache, model) -> None:
    command("import", write(rows()))
    said = command("score", "--model", model, "--dataset", "d")
    assert said.code == 2
    assert f'There is no model "{model}"' in said.err
    assert run_folders(cache) == []


def test_inside_make_the_next_line_is_one_of_make(
    command, write, model, cache, monkeypatch
) -> None:
    command("import", write(rows()))
    monkeypatch.setenv("MAKELEVEL", "1")
    said = command("score", "--model", model, "--dataset", "d").err
    assert f"Next: `STEREOSCOPE_CACHE={cache.folder} make app` shows" in said


def test_import_score_and_export_say_what_they_did(
    command, write, model, tmp_path, cache, monkeypatch
) -> None:
    monkeypatch.delenv("MAKELEVEL", raising=False)
    imported = command("import", write(rows()))
    assert (imported.code, imported.out) == (0, "")
    assert "d: stored 9 rows (conditions: en, en~p1, es; collapsed rows: 0" in imported.err
    first = command("score", "--model", model, "--dataset", "d")
    assert (first.code, first.out) == (0, "")
    assert "tiny on d: done; computed 27 of 27 missing texts" in first.err
    assert "d asks for 27 texts, of which 27 are distinct: a text is computed once" in first.err
    last = first.err.strip().split("\n")[-1]
    assert last.startswith(f"Next: `STEREOSCOPE_CACHE={cache.folder} streamlit run app.py` shows")
    assert f"`python -m core audit --dataset d --cache {cache.folder}` says which gaps" in last
    written = command("export", "--dataset", "d", "--out", tmp_path / "d.csv")
    assert (written.code, written.out) == (0, "")
    assert f"Wrote 9 rows to {tmp_path / 'd.csv'}: 9 scored." in written.err
    assert verify(cache) == []


def test_with_json_stdout_is_one_object(command, write, model, tmp_path) -> None:
    path = write(rows())
    imported = command("import", path, "--json")
    assert (imported.code, imported.err) == (0, "")
    assert imported.json == {
        "dataset": "d",
        "stored": 9,
        "collapsed": 0,
        "unchanged": False,
        "n_scores_gone": 0,
        "conditions": {"en": 3, "en~p1": 3, "es": 3},
        "format": "native",
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "note": "",
        "left_out": 0,
        "problems": [],
    }
    assert command("import", path, "--json").json["unchanged"]
    score = ("score", "--model", model, "--dataset", "d", "--json")
    first = command(*score).json
    assert (first["computed"], first["missing"], first["failures"]) == (27, 27, [])
    assert (first["requested"], first["distinct"]) == (27, 27)
    again = command(*score)
    assert (again.code, again.json["computed"]) == (0, 0)
    assert '"computed": 0' in again.out
    status = command("status", "--json").json
    assert [d["dataset"] for d in status["datasets"]] == ["d"]
    assert [s["scorer_id"] for s in status["scorers"]] == [first["scorer_id"]]
    assert [(c["condition"], c["n_scored"]) for c in status["coverage"]] == [
        ("en", 3),
        ("en~p1", 3),
        ("es", 3),
    ]
    sql = command("sql", "SELECT count(*) AS n FROM token_score", "--json")
    assert sql.json == {"rows": [{"n": 27}], "n": 1}
    export = command("export", "--dataset", "d", "--out", tmp_path / "o.csv", "--json").json
    assert export["rows"] == 9
    assert export["states"] == {"scored": 9}


def test_an_export_is_the_item_table_at_full_precision(
    command, write, model, tmp_path, cache
) -> None:
    command("import", write([*rows(), TOO_LONG]))
    command("score", "--model", model, "--dataset", "d")
    table = item_table(cache, scorers(cache)["scorer_id"].iloc[0], "d").drop(columns="row_order")
    for ending in ("csv", "jsonl", "parquet"):
        said = command("export", "--dataset", "d", "--out", tmp_path / f"o.{ending}")
        assert said.code == 0
    text = (tmp_path / "o.csv").read_text()
    by_csv = list(csv.DictReader(io.StringIO(text, newline="")))
    by_json = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    by_parquet = pq.read_table(tmp_path / "o.parquet").to_pylist()
    assert len(table) == len(by_csv) == len(by_json) == len(by_parquet) == 10
    assert list(table.columns) == list(by_csv[0]) == list(by_json[0]) == list(by_parquet[0])
    for n, row in enumerate(table.to_dict("records")):
        for name in ("item_id", "condition", "context", "stereotype", "state", "reason"):
            assert row[name] == by_csv[n][name] == by_json[n][name] == by_parquet[n][name]
        for name in ("l_stereotype", "sum_anti", "ss", "ss_en", "change", "fluency", "n_anti"):
            if pd.isna(row[name]):
                assert by_csv[n][name] == ""
                assert by_json[n][name] is None
                assert by_parquet[n][name] is None
            else:
                assert row[name] == float(by_csv[n][name]) == by_json[n][name]
                assert row[name] == by_parquet[n][name]


def test_an_export_of_chosen_conditions(command, write, model, tmp_path) -> None:
    command("import", write(rows()))
    command("score", "--model", model, "--dataset", "d")
    out = tmp_path / "o.jsonl"
    command("export", "--dataset", "d", "--out", out, "--condition", "es", "--condition", "en")
    found = [json.loads(line)["condition"] for line in out.read_text().splitlines()]
    assert found == ["en"] * 3 + ["es"] * 3


def test_items_that_cannot_be_scored_are_named_and_the_rest_is_stored(
    command, write, model, cache
) -> None:
    command("import", write([*rows(), TOO_LONG]))
    said = command("score", "--model", model, "--dataset", "d")
    assert said.code == 3
    for word in ("long", "too_long", "stereotype", "128"):
        assert word in said.out
    said = command("score", "--model", model, "--dataset", "d", "--json")
    assert said.code == 3
    assert [(f["item_id"], f["role"], f["reason"]) for f in said.json["failures"]] == [
        ("long", "stereotype", "too_long"),
        ("long", "anti_stereotype", "too_long"),
    ]
    with cache.reading() as con:
        assert con.execute("SELECT count(*) FROM token_score").fetchall() == [(27,)]
    assert "en 3/4" in command("status").out


def test_status_tells_the_variants_of_a_masked_model_apart(command, cache) -> None:
    put(cache, [item()])
    put_scorer(cache, replace(SCORER, method="pll:original"))
    assert "Variant" not in command("status").out
    put_scorer(cache, replace(SCORER, method="pll:within_word_l2r"))
    said = command("status").out
    assert "Variant" in said
    assert said.count("within_word_l2r") == 1


def test_a_folder_is_a_data_set_of_its_own_name(command, write, tmp_path, cache) -> None:
    (tmp_path / "set.v2").mkdir()
    write(rows(conditions=("en",)), "set.v2/en.jsonl")
    write(rows(conditions=("es",)), "set.v2/es.jsonl")
    assert command("import", tmp_path / "set.v2").code == 0
    assert datasets(cache)["dataset"].tolist() == ["set.v2"]


def test_the_current_folder_has_a_name_too(command, write, tmp_path, cache, monkeypatch) -> None:
    (tmp_path / "here").mkdir()
    write(rows(), "here/en.jsonl")
    monkeypatch.chdir(tmp_path / "here")
    assert command("import", ".").code == 0
    assert datasets(cache)["dataset"].tolist() == ["here"]


def test_replacing_a_data_set_takes_the_word_for_it(command, write, cache) -> None:
    command("import", write(rows(3)))
    before = content(cache)
    one_sentence(command("import", write(rows(2))), "--replace", "'d'")
    assert content(cache) == before
    assert command("import", write(rows(2)), "--replace").code == 0
    assert datasets(cache)["n_items"].tolist() == [2]


# What cannot be done


def test_a_file_that_is_not_there_or_not_readable(command, write, cache, monkeypatch) -> None:
    one_sentence(command("import", "/nowhere/d.csv"), "/nowhere/d.csv does not exist")
    path = write(rows())

    def forbidden(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", forbidden)
    one_sentence(command("import", path), "cannot be read: Permission denied")
    assert not cache.folder.exists()


def test_wrong_columns_are_named_with_what_was_meant(command, write, cache) -> None:
    content = [{"stereotyp" if k == "stereotype" else k: v for k, v in r.items()} for r in rows()]
    said = command("import", write(content))
    assert (said.code, said.out) == (2, "")
    assert "stereotype (is it 'stereotyp'?)" in said.err.split("\n")[0]
    assert not cache.folder.exists()


def refused_rows() -> list[dict[str, str]]:
    bad = rows(30, ("en",))
    for row in bad[:25]:
        row["stereotype"] = ""
    return bad


def test_a_refused_data_set_lists_its_problems_by_row(command, write, cache) -> None:
    said = command("import", write(refused_rows()))
    assert (said.code, said.out) == (2, "")
    *problems, last = said.err.rstrip().split("\n")
    assert last.startswith("Error: 25 problems in")
    assert "row 3: Item 'i2' in 'en' has no stereotype.; and 22 more" in last
    assert last.endswith(" --lenient leaves out what has an error and takes the rest.")
    assert problems == [
        "  error: missing role, 25 in all; 3 of them:",
        *(f"    d.jsonl row {n + 1}: Item 'i{n}' in 'en' has no stereotype." for n in (3, 4, 5)),
        "  --json gives all of them",
    ]
    assert not cache.folder.exists()


def test_with_json_a_refused_data_set_gives_all_its_problems(command, write) -> None:
    said = command("import", write(refused_rows()), "--json")
    assert said.code == 2
    assert [p["row"] for p in said.json["problems"]] == list(range(1, 26))
    assert said.json["error"] in said.err


def test_a_name_of_nothing_is_refused(command, write, cache) -> None:
    one_sentence(command("import", write(rows()), "--dataset", ""), "1 to 100 characters")
    assert not cache.folder.exists()


def test_an_unknown_layout_names_those_there_are(command, write) -> None:
    one_sentence(command("import", write(rows()), "--format", "bbc"), "'bbc'", "native")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--model", "{tmp}/none", "--dataset", "d"), ["/none", "name a folder that exists"]),
        (("--model", "demmo", "--dataset", "d"), ['Did you mean "demo"?']),
        (("--model", "{model}", "--dataset", "dd"), ["'dd'", "it has d."]),
        (("--model", "{model}", "--dataset", "d", "--dtype", "f8"), ['dtype is "f8"', "bfloat16"]),
        (("--model", "{model}", "--dataset", "d", "--device", "gpu"), ['"gpu"', "cuda"]),
    ],
)
def test_what_cannot_be_scored_stores_nothing(
    command, write, model, cache, tmp_path, arguments, words
) -> None:
    command("import", write(rows()))
    before = content(cache)
    filled = [word.format(tmp=tmp_path, model=model) for word in arguments]
    one_sentence(command("score", *filled), *words)
    said = command("score", *filled, "--json")
    assert (said.code, said.out) == (2, "")
    assert content(cache) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--out", "{tmp}/none/o.csv"), ["/none does not exist; create it first"]),
        (("--out", "{tmp}/o.xlsx"), ["o.xlsx", ".csv, .parquet, .jsonl"]),
        (("--out", "{tmp}"), ["is a folder"]),
        (
            ("--out", "{tmp}/o.csv", "--condition", "fr", "--scorer", SCORER.scorer_id),
            ["no condition fr", "en, en~p1, es"],
        ),
        (("--out", "{tmp}/o.csv", "--scorer", "x"), ["'x'", "--scorer one of", SCORER.scorer_id]),
        (("--out", "{tmp}/o.csv", "--scorer", "tiny"), ["More than one", OTHER.scorer_id]),
    ],
)
def test_what_cannot_be_exported_writes_nothing(
    command, write, cache, tmp_path, arguments, words
) -> None:
    command("import", write(rows()))
    put_scorer(cache, SCORER)
    put_scorer(cache, OTHER)
    before = sorted(tmp_path.rglob("*"))
    filled = [word.format(tmp=tmp_path) for word in arguments]
    one_sentence(command("export", "--dataset", "d", *filled), *words)
    assert sorted(tmp_path.rglob("*")) == before
    one_sentence(command("export", "--dataset", "e", "--out", tmp_path / "o.csv"), "'e'", "has d.")


def test_an_export_before_any_score_has_the_rows_and_says_so(
    command, write, cache, tmp_path
) -> None:
    command("import", write(rows()))
    for name in ("a.csv", "b.csv"):  # without a scorer, then with two of other data sets
        said = command("export", "--dataset", "d", "--out", tmp_path / name)
        assert said.code == 0
        assert "No scorer has scores of d" in said.err and "python -m core score" in said.err
        written = pd.read_csv(tmp_path / name)
        assert len(written) == 9 and set(written["state"]) == {"missing"}
        assert written["ss"].isna().all()
        put_scorer(cache, SCORER)
        put_scorer(cache, OTHER)


def test_an_export_of_several_scorers_asks_for_one(command, write, model, tmp_path) -> None:
    command("import", write(rows()))
    command("score", "--model", model, "--dataset", "d")
    command("score", "--model", model, "--dataset", "d", "--exact")
    said = command("export", "--dataset", "d", "--out", tmp_path / "o.csv")
    one_sentence(said, "d has several scorers; give --scorer one of: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("status",),
        ("status", "--verify"),
        ("sql", "FROM item"),
        ("export", "--dataset", "d", "--out", "o.csv"),
        ("score", "--model", "demo", "--dataset", "d"),
    ],
)
def test_without_a_cache_the_way_to_one_is_named(command, cache, arguments) -> None:
    one_sentence(command(*arguments), str(cache.folder), "python -m core demo")
    assert not cache.folder.exists()


def test_a_cache_of_nothing_has_a_status_and_no_tables(command, cache) -> None:
    with cache.writing():
        pass
    said = command("status")
    assert (said.code, said.err) == (0, "")
    assert "It holds no data set; run `python -m core demo`" in said.out
    assert command("status", "--json").json["datasets"] == []
    one_sentence(command("export", "--dataset", "d", "--out", "o.csv"), "none yet")
    assert command("sql", "FROM item", "--json").json == {"rows": [], "n": 0}


# Caches that cannot be used

EVERY_COMMAND = [
    ("status",),
    ("sql", "FROM item"),
    ("import", "{file}"),
    ("export", "--dataset", "d", "--out", "{file}.csv"),
    ("score", "--model", "x", "--dataset", "d"),
    ("demo",),
]
every_command = pytest.mark.parametrize("arguments", EVERY_COMMAND, ids=lambda a: a[0])


def with_file(arguments: tuple[str, ...], path: Path) -> list[str]:
    return [word.format(file=path) for word in arguments]


@every_command
def test_a_cache_that_is_a_file(command, write, arguments) -> None:
    path = write(rows())
    said = command(*with_file(arguments, path), folder=path)
    one_sentence(said, f"{path} is a file; --cache takes a folder")
    one_sentence(command("repair", folder=path), "is a file")


@every_command
def test_a_folder_in_the_file_s_place(command, write, cache, arguments) -> None:
    cache.file.mkdir(parents=True)
    one_sentence(command(*with_file(arguments, write(rows()))), "is a folder where")
    one_sentence(command("repair"), "is a folder where")
    assert list(cache.file.iterdir()) == []


@every_command
def test_garbage_is_left_as_it_is_and_names_repair(command, write, cache, arguments) -> None:
    garbage = b"this is no database" * 1000
    cache.folder.mkdir()
    cache.file.write_bytes(garbage)
    one_sentence(command(*with_file(arguments, write(rows()))), "`python -m core repair`")
    assert cache.file.read_bytes() == garbage


@every_command
def test_a_newer_cache_is_not_touched(command, write, cache, arguments) -> None:
    with cache.writing() as con:
        con.execute("INSERT INTO migration VALUES (99, NULL)")
    said = command(*with_file(arguments, write(rows())))
    one_sentence(said, "newer version of Stereoscope", "upgrade")
    assert "repair" not in said.err


def test_repair_sets_garbage_aside_and_says_where(command, cache) -> None:
    cache.folder.mkdir()
    cache.file.write_bytes(b"garbage" * 1000)
    said = command("repair")
    (kept,) = cache.folder.glob("*.broken-*")
    assert (said.code, said.err) == (0, "")
    assert str(kept) in said.out
    assert kept.read_bytes() == b"garbage" * 1000
    assert command("status").code == 0
    cache.file.write_bytes(b"garbage again")
    moved = command("repair", "--json").json["moved_to"]
    assert Path(moved).read_bytes() == b"garbage again"


def test_repair_of_a_newer_cache_has_to_be_insisted_on(command, cache) -> None:
    with cache.writing() as con:
        con.execute("INSERT INTO migration VALUES (99, NULL)")
    before = cache.file.read_bytes()
    one_sentence(command("repair"), "is healthy; upgrade", "`python -m core repair --newer`")
    assert cache.file.read_bytes() == before
    said = command("repair", "--newer")
    (kept,) = cache.folder.glob("*.newer-*")
    assert (said.code, said.err) == (0, "")
    assert str(kept) in said.out
    assert kept.read_bytes() == before


def test_repair_of_a_healthy_cache_does_nothing(command, write, cache) -> None:
    command("import", write(rows()))
    before = content(cache)
    said = command("repair")
    assert (said.code, said.out) == (0, "The cache is in order; nothing was changed.\n")
    assert command("repair", "--json").json["moved_to"] is None
    assert content(cache) == before


def test_repair_of_nothing_says_so(command, cache) -> None:
    one_sentence(command("repair"), "nothing to repair")
    assert not cache.folder.exists()


def test_verify_finds_what_was_planted_and_repair_mends_it(command, write, model, cache) -> None:
    command("import", write(rows()))
    command("score", "--model", model, "--dataset", "d")
    said = command("status", "--verify")
    assert (said.code, "consistent" in said.out) == (0, True)
    assert command("status", "--verify", "--json").json["findings"] == []
    with cache.writing() as con:
        con.execute("UPDATE item_score SET l_anti = l_anti + 1 WHERE item_id = 'i1'")
    said = command("status", "--verify")
    assert said.code == 3
    assert "Finding:" in said.out
    assert "python -m core repair" in said.out
    assert "consistent" not in said.out
    said = command("status", "--verify", "--json")
    assert (said.code, len(said.json["findings"])) == (3, 1)
    assert command("status").code == 0
    assert "put right" in command("repair").out
    assert command("status", "--verify").code == 0


# sql


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("DELETE FROM item", "DELETE"),
        ("CREATE TABLE t (a INTEGER)", "CREATE"),
        ("INSERT INTO migration VALUES (2, NULL)", "INSERT"),
        ("FROM read_csv('{file}')", "refuses"),
        ("FROM '{file}'", "refuses"),
        ("COPY item TO '{file}'", "COPY"),
        ("ATTACH '{file}'", "ATTACH"),
        ("INSTALL httpfs", "LOAD"),
        ("SET enable_external_access = true", "SET"),
        ("SELECT 1; SELECT 2", "2 statements"),
        ("", "0 statements"),
        ("not a query", "refuses"),
    ],
)
def test_a_query_can_only_read_the_cache(command, write, cache, statement, word) -> None:
    path = write(rows())
    command("import", path)
    before, text = content(cache), path.read_text()
    one_sentence(command("sql", statement.format(file=path)), word)
    assert content(cache) == before
    assert path.read_text() == text


def test_query_results_in_every_format(command, write) -> None:
    command("import", write(rows(1)))
    query = "SELECT condition, 1 / 3::DOUBLE AS x, [0.5] AS l FROM item WHERE condition > 'en'"
    assert command("sql", query, "--format", "csv").out == (
        f'"condition","x","l"\n"en~p1",{1 / 3!r},"[0.5]"\n"es",{1 / 3!r},"[0.5]"\n'
    )
    lines = command("sql", query, "--format", "jsonl").out.splitlines()
    assert json.loads(lines[1]) == {"condition": "es", "x": 1 / 3, "l": [0.5]}
    assert command("sql", query, "--json").json["rows"] == [json.loads(line) for line in lines]
    shown = command("sql", query).out
    assert "0.333333" in shown
    assert "en~p1" in shown


def test_query_results_as_parquet(command, write, capfdbinary, monkeypatch, cache) -> None:
    command("import", write(rows(1)))
    monkeypatch.setattr(
        sys, "argv", ["core", "sql", "FROM item", "--format=parquet", f"--cache={cache.folder}"]
    )
    with pytest.raises(SystemExit):
        main()
    sys.stdout.flush()
    table = pq.read_table(io.BytesIO(capfdbinary.readouterr().out))
    assert table.column("condition").to_pylist() == ["en", "en~p1", "es"]


def test_undefined_and_odd_values_are_json(command, cache) -> None:
    with cache.writing():
        pass
    query = (
        "SELECT 'nan'::DOUBLE AS a, 'inf'::FLOAT AS b, ['-inf'::DOUBLE] AS c, NULL AS d, "
        "sum(2::BIGINT) AS e, 1 AS f, 2 AS f, INTERVAL 1 DAY AS g, uuid() AS h, "
        "9007199254740993::BIGINT AS i"
    )
    (row,) = command("sql", query, "--json").json["rows"]
    assert (row["a"], row["b"], row["c"], row["d"], row["e"]) == (None, None, [None], None, 2)
    assert (row["f"], row["f_2"], row["i"]) == (1, 2, 9007199254740993)
    assert command("sql", query).code == 0


def test_every_table_can_be_looked_at(command, write, model, cache) -> None:
    command("import", write([*rows(), TOO_LONG]))
    command("score", "--model", model, "--dataset", "d")
    for name in content(cache) or {}:
        for options in ((), ("--json",), ("--format", "csv"), ("--format", "jsonl")):
            said = command("sql", f"FROM {name}", *options)
            assert (said.code, said.err) == (0, ""), name


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (200, None),
        (201, "showing 200 of 201;"),
        (10_000, "showing 200 of 10000;"),
        (10_001, "showing 200 of more than 10000;"),
    ],
)
def test_the_screen_shows_the_first_rows_and_says_so(command, cache, monkeypatch, n, said) -> None:
    put(cache, [item()])
    statement = f"SELECT range AS row_number FROM range({n})"
    everything = command("sql", statement)
    assert (len(everything.out.split()), everything.err) == (n + 2, "")  # a head and a line
    monkeypatch.setattr(cache_commands, "out", Console(force_terminal=True))
    shown = command("sql", statement)
    assert shown.out.split()[-1] == "199"
    assert shown.err.startswith(said) if said else shown.err == ""
    assert command("sql", statement, "--json").json["n"] == n
    assert len(command("sql", statement, "--format", "csv").out.split()) == n + 1


def test_a_query_is_stopped_after_the_seconds_asked_for(command, cache) -> None:
    put(cache, [item()])
    endless = "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range = -1"
    one_sentence(command("sql", endless, "--seconds", "0.2"), "more than 0.2 s and was stopped")
    one_sentence(command("sql", endless, "--seconds", "0"), "more than 0 seconds")


@pytest.mark.parametrize("options", [("--format", "xls"), ("--format", "csv", "--json")])
def test_formats_that_make_no_sense(command, write, options) -> None:
    command("import", write(rows()))
    one_sentence(command("sql", "FROM item", *options), "format")


# The screen


def test_wide_results_are_not_cut(command, write) -> None:
    content = rows(1, ("en",))
    content[0]["context"] = "word " * 100 + "end"
    content[0]["source"] = "x" * 200
    command("import", write(content))
    shown = command("sql", "FROM item").out
    assert "…" not in shown
    assert content[0]["context"] in shown
    assert f"source: {'x' * 200}" in shown
    narrow = command("sql", "SELECT context, 1 AS n FROM item").out
    assert max(map(len, narrow.splitlines())) <= 80
    assert narrow.split().count("word") == 100


def test_status_is_readable_on_80_columns(command, cache) -> None:
    name = "a data set with a name that is rather long"
    put(cache, [item(str(i), c) for i in range(3) for c in ("en", "es")], name)
    model = "organisation/a-model-with-a-very-long-name-70B-instruct"
    put_scorer(cache, type(SCORER)(**{**SCORER.__dict__, "model": model}))
    said = command("status")
    assert max(map(len, said.out.splitlines()[1:])) <= 80
    assert "…" not in said.out
    for word in (SCORER.scorer_id, "float32", "batched", "Collapsed", "(none)", "en 0/3, es 0/3"):
        assert word in said.out


def test_texts_are_neither_markup_nor_terminal_codes(command, write, tmp_path) -> None:
    content = rows(1, ("en",))
    content[0]["context"] = "[bold]left[/bold] [/] \x1b[31mred\x07"
    path = write(content, "[red]d.jsonl")
    said = command("import", path)
    assert "[red]d: stored 1 row (" in said.err
    shown = command("sql", "SELECT context FROM item").out
    assert r"[bold]left[/bold] [/] \x1b[31mred\x07" in shown
    assert command("status").code == 0
    one_sentence(command("import", tmp_path / "[no]"), "[no] does not exist")


# Stopping


def interrupted_after(n_reports: int, times: int = 1) -> Callable[[], Any]:
    """A progress bar that presses Ctrl-C at the n-th report of progress in scoring."""

    @contextmanager
    def progress_bar() -> Iterator[Watch]:
        seen = 0

        def watch(progress: Progress) -> None:
            nonlocal seen
            seen += progress.done_texts > 0
            if progress.done_texts and n_reports <= seen < n_reports + times:
                signal.raise_signal(signal.SIGINT)

        yield watch

    return progress_bar


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_keeps_what_was_computed(command, write, model, cache, monkeypatch, times) -> None:
    monkeypatch.setattr(jobs, "COMMIT_SECONDS", 0)
    handler = signal.getsignal(signal.SIGINT)
    command("import", write(rows(100, ("en",))))
    monkeypatch.setattr(progress, "progress_bar", interrupted_after(2, times))
    said = command("score", "--model", model, "--dataset", "d", *(["--json"] * (times == 1)))
    assert said.code == 130
    assert "Traceback" not in said.err
    assert "Stopping after this batch; press Ctrl-C again to end at once." in said.err
    assert signal.getsignal(signal.SIGINT) is handler
    monkeypatch.undo()
    with cache.reading() as con:
        ((held,),) = con.execute("SELECT count(*) FROM token_score").fetchall()
    if times == 1:
        assert said.json["stopped"]
        assert said.json["computed"] == held
    assert verify(cache) == []
    rest = jobs.score_dataset(cache, jobs.ScoreRequest(model=str(model), dataset="d"))
    assert 0 < held < held + rest.computed == 300


# The program as a whole


def test_every_command_takes_a_cache_and_json() -> None:
    assert len(COMMANDS) == 23
    for name, callback in COMMANDS.items():
        assert callback is not None
        parameters = inspect.signature(callback).parameters
        assert {"cache", "as_json"} <= parameters.keys(), name


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_help_explains_every_option(name, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["core", *([name] if name else []), "--help"])
    with pytest.raises(SystemExit) as ended:
        main()
    text = capsys.readouterr().out
    assert ended.value.code == 0
    assert max(map(len, text.splitlines())) <= 80
    if name is None:
        assert all(f"\n  {command} " in text for command in COMMANDS)
        assert "..." not in text.split("Commands:")[1]
    else:
        assert "--cache FOLDER" in text
        assert "--json " in text
    if name == "score":
        assert "org/name[@revision]" in text


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nope"], "No such command 'nope'"),
        (["score", "--model", "demo"], "Missing option '--dataset'"),
        (["status", "--nope"], "No such option"),
        (["import"], "Missing argument"),
    ],
)
def test_wrong_usage_ends_with_code_2_and_a_sentence(arguments, word, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["core", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert said.err.strip().split("\n")[-1].startswith("Error: ")
    assert word in said.err


def test_only_scoring_waits_for_torch(command, write, cache, tmp_path) -> None:
    command("import", write(rows()))
    put_scorer(cache, SCORER)
    code = """
import sys
from core.cli.main import main
for line in sys.stdin:
    sys.argv = ["core", *line.split()]
    try:
        main()
    except SystemExit as ended:
        print(ended.code, *sys.argv[1:2], file=sys.stderr)
print("torch" in sys.modules, file=sys.stderr)
"""
    where = f"--cache {cache.folder}"
    lines = [
        "--help",
        f"status --verify {where}",
        f"sql SHOW {where}",
        f"export --dataset d --out {tmp_path / 'o.csv'} {where}",
        f"score --model demo --dataset unknown {where}",
    ]
    ended = subprocess.run(
        [sys.executable, "-c", code],
        input="\n".join(lines).encode(),
        capture_output=True,
        cwd=ROOT,
        env=os.environ,
        check=True,
    )
    said = ended.stderr.decode().splitlines()
    assert "0 --help" in said
    assert "0 status" in said
    assert "0 export" in said
    assert "2 score" in said
    assert said[-1] == "False"


def test_the_program_runs_as_a_module(cache) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "core", "status", "--cache", str(cache.folder)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("Error: There is no cache yet in ")


# Jobs


def test_a_dry_run_says_what_it_would_take_and_leaves_nothing(command, write, model, cache) -> None:
    command("import", write(rows()))
    before = content(cache)
    score = ("score", "--model", model, "--dataset", "d")
    said = command(*score, "--dry-run")
    assert (said.code, said.err) == (0, "")
    assert "Missing: 27 texts" in said.out
    assert "Time: unknown: no earlier run" in said.out
    found = command(*score, "--dry-run", "--json").json
    assert (found["texts"], found["memory"]["fits"], found["seconds"]) == (27, True, None)
    assert content(cache) == before
    assert not (cache.folder / "runs").exists()
    first = command(*score, "--json").json
    assert first["scorer_id"] == found["scorer"]["scorer_id"]
    assert "nothing is missing" in command(*score, "--dry-run").out
    one_sentence(command("score", "--model", "x", "--dataset", "d", "--dry-run"), '"x"')


def test_quantisation_is_chosen_estimated_and_recorded(command, write, model, cache) -> None:
    command("import", write(rows(1)))
    score = ("score", "--model", model, "--dataset", "d", "--quantization", "nf4")
    said = command(*score, "--dry-run")
    assert "tiny in nf4 double compute float32 in float32 on cpu" in said.out
    found = command(*score, "--dry-run", "--json").json
    done = command(*score, "--json").json
    assert done["scorer_id"] == found["scorer"]["scorer_id"]
    assert done["computed"] == found["texts"] > 0
    assert command(*score, "--no-double-quant", "--json").json["scorer_id"] != done["scorer_id"]
    (known, _) = scorers(cache)["quantization"]
    assert known == found["scorer"]["quantization"]
    assert command("status", "--json").json["scorers"][0]["quantization"] == known
    one_sentence(command(*score[:-1], "int5"), "none of none, int8, nf4")
    one_sentence(command(*score[:-2], "--no-double-quant"), "belong to quantization nf4")


def test_a_job_in_the_terminal_leaves_a_run_folder(command, write, model, cache) -> None:
    command("import", write([*rows(), TOO_LONG]))
    first = command("score", "--model", model, "--dataset", "d", "--json")
    assert first.code == 3
    command("score", "--model", model.parent / "none", "--dataset", "d")
    command("score", "--model", model, "--dataset", "unknown")
    command("score", "--model", model, "--dataset", "d", "--variant", "odd")
    of_masked = ("--variant", "within_word_l2r")
    command("score", "--model", model, "--dataset", "d", *of_masked)
    failed, finished = follow(cache)
    assert (finished.state, finished.progress.computed) == ("finished", first.json["computed"])
    assert finished.progress.failed == len(first.json["failures"])
    assert finished.progress.checks == "passed"
    assert failed.state == "failed"
    assert "is for masked ones; leave the variant out" in failed.error


def test_status_names_the_jobs_that_run_or_ended_early(command, write, cache) -> None:
    command("import", write(rows()))
    assert command("status", "--json").json["jobs"] == []
    spec = JobSpec(request=ScoreRequest(model="some/model", dataset="d"))
    with running_job(cache, spec) as job:
        job.report(Progress("scoring", 5, 10, 50, 100))
        said = command("status").out
        assert f"Job {job.run_id}: running, some/model on d, 5 of 10 texts" in said
        (listed,) = command("status", "--json").json["jobs"]
        assert (listed["state"], listed["model"], listed["done_texts"]) == (
            "running",
            "some/model",
            5,
        )
        job.end("failed", "No room.")
    assert f"Job {job.run_id}: failed, some/model on d: No room." in command("status").out


def test_a_run_of_another_job_is_refused(command, write, model, cache) -> None:
    command("import", write(rows()))
    score = ("score", "--model", model, "--dataset", "d", "--run")
    one_sentence(command(*score, "20261129-204512-3f9a"), "There is no run")
    with running_job(cache, JobSpec()) as job:
        one_sentence(command(*score, job.run_id), "is another job's")


def test_the_demo_leaves_a_data_set_of_yours_alone(command, write, cache) -> None:
    assert command("import", write(rows()), "--dataset", "demo").code == 0
    said = command("demo")
    assert said.code == 2
    assert "a data set of yours called 'demo'" in said.err
    assert datasets(cache)["n_rows"].tolist() == [len(rows())]


def test_an_argument_that_is_no_text_is_refused(command) -> None:
    for arguments in (["sql", "select \udcff"], ["export", "--scorer", "\udcff"]):
        said = command(*arguments)
        assert said.code == 2
        assert "not valid Unicode" in said.err


def test_a_terminal_without_unicode_shows_escapes(cache) -> None:
    import_and_ask = [sys.executable, "-m", "core", "status", "--cache", str(cache.folder)]
    put(cache, [item("1")], "émoji 🤖")
    done = subprocess.run(
        import_and_ask,
        cwd=ROOT,
        env=os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "moji" in done.stdout + done.stderr


def test_output_that_finds_no_space_is_one_sentence(cache) -> None:
    put(cache, [item("1")])
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "core", "status", "--json", "--cache", str(cache.folder)],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "no space is left" in done.stderr

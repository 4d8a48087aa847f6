"""Making a positive control from the Shift lab: choose, estimate, start, and what goes wrong."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.jobs.control import put_arms, shipped_arms
from core.jobs.folder import create_run, release
from core.jobs.launch import launch
from core.jobs.spec import CONTROL, JobSpec
from core.store.gate import Cache
from core.store.items import put_dataset, stored_items
from core.types import Item
from pages.shared.audit import control_form
from tests.audit_pages import made, opened, words
from tests.jobs.test_launch import ended, wait
from tests.scored import demo_items, fill_scored


@pytest.fixture
def scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    """Six items in English and Hindi under one tiny model."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    here = [i for i in demo_items() if not i.native and i.condition in ("en", "hi")]
    names = {item.item_id for item in here[:6]}
    fill_scored(tmp_path / "cache", [i for i in here if i.item_id in names])
    return Cache(tmp_path / "cache")


def page(monkeypatch: pytest.MonkeyPatch, cache: Cache) -> AppTest:
    return opened(monkeypatch, "shift_lab", cache.folder, dataset="demo")


def click(app: AppTest, label: str) -> AppTest:
    next(b for b in app.button if b.label == label).click().run()
    assert not app.exception
    return app


def metric(app: AppTest, label: str) -> str:
    return next(m.value for m in app.metric if m.label == label)


def choose(app: AppTest, kind: str, label: str, value: object) -> AppTest:
    next(w for w in getattr(app, kind) if w.label == label).set_value(value).run()
    assert not app.exception
    return app


def test_from_the_button_to_the_table(monkeypatch, scored):
    app = page(monkeypatch, scored)
    assert "no positive control" in words(app)
    click(app, "Estimate")
    assert metric(app, "Items with a sentence in front") == "18"
    texts = int(metric(app, "Missing texts"))
    started: list[JobSpec] = []

    def start(cache: Cache, spec: JobSpec) -> str:
        started.append(spec)
        return launch(cache, spec)

    monkeypatch.setattr(control_form, "launch", start)
    click(app, "Start")
    (spec,) = started
    assert (spec.command, spec.request.dataset, len(spec.arms)) == (CONTROL, "demo", 3)
    assert "positive control of 1 model on demo" in words(app)
    run_id = next((scored.folder / "runs").glob("2*")).name
    view = wait(scored, run_id, ended)
    assert (view.state, view.progress.computed) == ("finished", texts)
    app = page(monkeypatch, scored)
    assert "A sentence in front that calls stereotypes true (en+true against en)" in words(app)
    assert "no positive control" not in words(app)


def test_own_sentences_are_asked_for_and_none_may_be_empty(monkeypatch, scored):
    app = page(monkeypatch, scored)
    choose(app, "multiselect", "Languages", ["hi"])
    assert "The sentence of hi+neutral is empty" in words(app)
    assert next(b for b in app.button if b.label == "Estimate").disabled
    for what, text in zip(control_form.ARMS.values(), ("क ख", "ग घ", "च छ"), strict=True):
        choose(app, "text_input", what, text)
    started: list[JobSpec] = []
    monkeypatch.setattr(control_form, "launch", lambda cache, spec: started.append(spec))
    click(click(app, "Estimate"), "Start")
    assert started[0].arms == ("hi+neutral=क ख", "hi+true=ग घ", "hi+false=च छ")


def test_another_choice_wants_another_estimate(monkeypatch, scored):
    app = click(page(monkeypatch, scored), "Estimate")
    assert "Start" in [b.label for b in app.button]
    choose(app, "multiselect", "Languages", [])
    assert "It takes a model, a language and a sentence" in words(app)
    assert "Start" not in [b.label for b in app.button]


def test_an_estimate_is_of_the_cache_as_it_was(monkeypatch, scored):
    app = click(page(monkeypatch, scored), "Estimate")
    assert int(metric(app, "Missing texts")) > 0
    put_arms(scored, "demo", shipped_arms(scored, "demo"))
    app.run()
    assert not [m for m in app.metric if m.label == "Missing texts"]
    assert "Start" not in [b.label for b in app.button]


def test_what_is_there_already_is_said_and_nothing_new_is_no_job(monkeypatch, scored):
    put_arms(scored, "demo", {"en": {"true": "Quite so."}})
    app = click(page(monkeypatch, scored), "Estimate")
    assert "en+true are there with other sentences" in words(app)
    fill_scored(scored.folder, stored_items(scored, "demo"))
    put_arms(scored, "demo", shipped_arms(scored, "demo"))
    fill_scored(scored.folder, stored_items(scored, "demo"))
    app = click(page(monkeypatch, scored), "Estimate")
    assert "there is nothing to do" in words(app)
    assert next(b for b in app.button if b.label == "Start").disabled


def test_weights_that_are_gone_are_one_sentence(monkeypatch, scored):
    shutil.rmtree(scored.folder / "tiny")
    app = click(page(monkeypatch, scored), "Estimate")
    assert "no longer in" in app.error[0].value


def test_a_data_set_without_contexts_is_one_sentence(monkeypatch, scored):
    bare = [Item(**{**vars(i), "context": ""}) for i in stored_items(scored, "demo")]
    put_dataset(scored, "demo", bare, path="", format="native", sha256="", replace=True)
    fill_scored(scored.folder, bare)
    app = click(page(monkeypatch, scored), "Estimate")
    assert "has a context" in app.error[0].value


def test_scores_from_elsewhere_have_no_weights_here(monkeypatch, tmp_path):
    app = opened(monkeypatch, "shift_lab", made(tmp_path, "en", "en~p1", "hi"))
    assert control_form.NOBODY in words(app)


def test_a_control_that_died_can_be_resumed_from_here(monkeypatch, scored):
    spec = JobSpec(
        command=CONTROL, request=control_form.control_spec("demo", [], {}).request, scorers=("s",)
    )
    _, lock = create_run(scored, spec)
    release(lock)
    app = page(monkeypatch, scored)
    assert "Resume" in [b.label for b in app.button]
    assert "died" in words(app)


def test_the_sentences_are_blurred_where_that_was_asked_for(monkeypatch, scored):
    app = page(monkeypatch, scored)
    assert "blur(" not in "".join(str(h.proto) for h in app.get("html"))
    app.session_state["blur"] = True
    app.run()
    assert "blur(" in "".join(str(h.proto) for h in app.get("html"))

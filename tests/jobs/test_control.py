"""The positive control as a job: its sentences become versions, scored as each model did before."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from core.analysis.audit.audit import audit_tables
from core.analysis.audit.request import AuditRequest
from core.errors import InputError, ModelError
from core.items.control import arms_as_texts, arms_from_texts, read_arms, with_control
from core.jobs.control import (
    chosen_requests,
    control_spec,
    estimate_control,
    known_requests,
    put_arms,
    shipped_arms,
)
from core.jobs.folder import create_run, find_run, release
from core.jobs.follow import can_resume, follow, view_job
from core.jobs.launch import launch, request_stop, resume
from core.jobs.progress import Progress
from core.jobs.run_control import score_control
from core.jobs.running import running_job
from core.jobs.spec import JobSpec, spec_from_json, spec_to_json
from core.store.gate import Cache
from core.store.items import datasets, put_dataset, stored_items
from core.store.scorers import put_scorer
from tests.conftest import Run
from tests.jobs.test_launch import ended, n_scores, process_of, scoring, wait
from tests.scored import demo_items, fill_scored
from tests.store_samples import SCORER, item, put

EN = {"en": read_arms()["en"]}
MADE = ["en+neutral", "en+true", "en+false"]


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture
def scored(tmp_path: Path) -> tuple[Cache, str]:
    """Eight items in English and Spanish under one tiny model, and its scorer."""
    here = [i for i in demo_items() if not i.native and i.condition in ("en", "es")]
    names = {item.item_id for item in here[:8]}
    items = [i for i in here if i.item_id in names]
    result = fill_scored(tmp_path / "cache", items)
    return Cache(tmp_path / "cache"), result.scorer_id


def conditions(cache: Cache) -> list[str]:
    return list(dict.fromkeys(i.condition for i in stored_items(cache, "demo")))


# Sentences


def test_sentences_are_written_and_read_back_in_any_script():
    arms = {"fa": {"true": "کلیشه‌ها درست‌اند = بله."}, "en": {"true": "Yes.", "neutral": "a=b"}}
    assert arms_from_texts(arms_as_texts(arms)) == arms
    spec = control_spec("d", ["s1"], arms)
    assert spec_from_json(spec_to_json(spec)) == spec
    assert spec.arguments()[:3] == ["positive-control", "--dataset=d", "--scorer=s1"]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["en+true= "], "The sentence of en\\+true is empty"),
        (["en=They are."], "not a condition, an arm and a sentence"),
        (["They are"], "not a condition, an arm and a sentence"),
        (["en+true=A.", "EN+True=B."], "en\\+true has two sentences"),
    ],
)
def test_a_sentence_that_cannot_be_used_is_one_sentence(texts, said):
    with pytest.raises(InputError, match=said):
        arms_from_texts(texts)


def test_a_sentence_of_two_lines_is_refused():
    with pytest.raises(InputError, match="line break"):
        JobSpec(command="positive-control", arms=("en+true=a\nb",)).arguments()


def test_a_spec_whose_lists_are_none_is_no_spec():
    values = spec_to_json(JobSpec())
    assert spec_from_json({k: v for k, v in values.items() if k != "arms"}) == JobSpec()
    for broken in (3, [1]):
        with pytest.raises(ValueError, match="not a job"):
            spec_from_json(values | {"arms": broken})


def test_anew_replaces_versions_of_these_names_alone():
    items = [item("a"), item("a", "en+true", context="Old."), item("a", "en+mine", context="My.")]
    found = with_control(items, {"en": {"true": "New."}}, anew=True)
    assert [(i.condition, i.context.split(" ")[0]) for i in found[1:]] == [
        ("en+mine", "My."), ("en+true", "New."),
    ]  # fmt: skip
    assert with_control(found, {"en": {"true": "New."}}, anew=True) == found


def test_items_without_contexts_have_nothing_to_put_a_sentence_in_front_of():
    with pytest.raises(InputError, match="has a context"):
        with_control([item("a", context=""), item("b", context="")], EN)


# Which models


def test_a_scorer_is_asked_for_as_in_its_latest_run(scored):
    cache, scorer_id = scored
    (request,) = known_requests(cache, "demo").values()
    assert (request.model, request.dataset) == (str(cache.folder / "tiny"), "demo")
    assert chosen_requests(cache, "demo") == chosen_requests(cache, "demo", [scorer_id])
    assert request.device == "cpu"
    assert list(known_requests(cache, "another")) == [scorer_id]


def test_weights_that_are_gone_or_were_never_here_are_one_sentence(scored):
    cache, scorer_id = scored
    put_scorer(cache, SCORER)
    with pytest.raises(InputError, match="not computed in this cache"):
        chosen_requests(cache, "demo", [SCORER.scorer_id])
    shutil.rmtree(cache.folder / "tiny")
    with pytest.raises(InputError, match="no longer in"):
        chosen_requests(cache, "demo", [scorer_id])


def test_without_any_computed_score_it_says_what_to_run(cache):
    put(cache, [item("a")])
    with pytest.raises(InputError, match="No model has computed"):
        chosen_requests(cache, "d")


def test_other_weights_in_the_same_folder_are_another_model(scored):
    cache, _ = scored
    (request,) = known_requests(cache, "demo").values()
    put_arms(cache, "demo", EN)
    before = n_scores(cache)
    with pytest.raises(ModelError, match="another scorer here"):
        score_control(
            cache, {"0" * 16: request}, run_id="r", watch=lambda _: None, stop=lambda: False
        )
    assert n_scores(cache) == before


# The versions, and what they take


def test_an_estimate_counts_what_the_job_then_computes(scored):
    cache, scorer_id = scored
    found = estimate_control(cache, "demo", [scorer_id], EN)
    assert (found.new, found.changed, found.n_versions) == (tuple(MADE), (), 24)
    put_arms(cache, "demo", EN)
    requests = chosen_requests(cache, "demo")
    told = []
    (result,) = score_control(cache, requests, run_id="r1", watch=told.append, stop=lambda: False)
    assert result.computed == found.texts[scorer_id] > 0
    assert told[-1].part == "", "one model is all of the job"
    again = estimate_control(cache, "demo", [scorer_id], EN)
    assert (again.new, again.changed, again.texts) == ((), (), {scorer_id: 0})
    other = estimate_control(cache, "demo", [scorer_id], {"en": {"true": "Indeed."}})
    assert other.changed == ("en+true",)
    control = audit_tables(cache, AuditRequest(dataset="demo"), ["control"])["control"].rows
    assert set(control["condition"]) == set(MADE)
    assert (control["n"] == 8).all()


def test_the_data_set_says_of_its_origin_what_it_did(scored):
    cache, _ = scored
    before = datasets(cache).iloc[0]
    put_arms(cache, "demo", EN)
    after = datasets(cache).iloc[0]
    same = ["path", "format", "sha256", "note"]
    assert after[same].tolist() == before[same].tolist()
    assert conditions(cache) == ["en", "es", *MADE]


def test_only_languages_that_are_there_get_the_shipped_sentences(cache):
    put(cache, [item("a"), item("a", "hi")])
    assert list(shipped_arms(cache, "d")) == ["en"]
    put_dataset(cache, "x", [item("a", "hi")], path="", format="native", sha256="")
    with pytest.raises(InputError, match="give your own"):
        shipped_arms(cache, "x")


def test_of_two_models_one_that_fails_does_not_keep_the_other(scored):
    cache, scorer_id = scored
    put_arms(cache, "demo", EN)
    (request,) = known_requests(cache, "demo").values()
    parts = []
    with pytest.raises(ModelError, match="another scorer here"):
        score_control(
            cache,
            {"0" * 16: request, scorer_id: request},
            run_id="r2",
            watch=lambda p: parts.append(p.part),
            stop=lambda: False,
        )
    assert dict.fromkeys(parts) == dict.fromkeys(["model 1 of 2", "model 2 of 2"])
    assert not sum(estimate_control(cache, "demo", [scorer_id], EN).texts.values())


# The job


def test_a_killed_job_goes_on_and_a_stopped_one_too(scored):
    cache, scorer_id = scored
    items = stored_items(cache, "demo")
    many = [
        type(i)(**{**vars(i), "item_id": f"{i.item_id}-{k}", "context": f"{k} {i.context}"})
        for k in range(60)
        for i in items
    ]
    put_dataset(cache, "demo", many, path="", format="native", sha256="", replace=True)
    spec = control_spec("demo", [scorer_id], EN)
    missing = estimate_control(cache, "demo", [scorer_id], EN).texts[scorer_id]
    before = n_scores(cache)
    first = launch(cache, spec)
    view = wait(cache, first, scoring)
    assert conditions(cache) == ["en", "es", *MADE]
    process = process_of(first)
    process.suspend()
    process.kill()
    view = wait(cache, first, ended)
    assert (view.state, view.command) == ("died", "positive-control")
    second = resume(cache, first)
    request_stop(cache, second)
    assert wait(cache, second, ended).state == "stopped"
    third = resume(cache, second)
    assert wait(cache, third, ended).state == "finished"
    assert n_scores(cache) == before + missing


def test_a_job_whose_weights_have_gone_ends_with_that_sentence(scored):
    cache, scorer_id = scored
    spec = control_spec("demo", [scorer_id], EN)
    shutil.rmtree(cache.folder / "tiny")
    run_id = launch(cache, spec)
    wait(cache, run_id, ended)
    view = view_job(find_run(cache, run_id))
    assert view.state == "failed"
    assert "no longer in" in view.error
    assert conditions(cache) == ["en", "es"], "nothing was changed"


def test_the_command_estimates_and_scores(scored, run: Run):
    cache, _ = scored
    line = ["positive-control", "--dataset", "demo"]
    code, _, err = run(*line, "--dry-run")
    assert code == 0
    assert "New: en+neutral, en+true, en+false, es+neutral, es+true, es+false" in err
    assert conditions(cache) == ["en", "es"]
    code, out, _ = run(*line, "--arm", "en+true=They are true.", "--json")
    assert (code, json.loads(out)["conditions"]) == (0, ["en+true"])
    assert conditions(cache) == ["en", "es", "en+true"]
    for wrong in (["--arm", "en+true="], ["--scorer", "nobody"], ["--arm", "sw+true=Kweli."]):
        assert run(*line, *wrong)[0] == 2
    assert len(follow(cache)) == 1, "what cannot be done is no run"


def test_the_command_names_what_could_not_be_scored_and_notes_unlike_lengths(scored, run: Run):
    line = ["positive-control", "--dataset", "demo", "--arm", "en+neutral=Trains run."]
    line += ["--arm", f"en+true={'They are true. ' * 400}"]
    code, out, _ = run(*line, "--json")
    found = json.loads(out)
    assert code == 3
    assert {(f["condition"], f["reason"]) for f in found["failures"]} == {("en+true", "too_long")}
    (note,) = found["notes"]
    assert "en+true has 5999 characters and the neutral one 11" in note
    code, _, err = run(*line)
    assert code == 3
    assert f"Note: {note}" in " ".join(err.split())
    assert json.loads(run(*line, "--dry-run", "--json")[1])["notes"] == [note]


def test_another_job_of_the_same_model_does_not_do_a_control_s_work(scored):
    cache, scorer_id = scored
    spec = control_spec("demo", [scorer_id], EN)
    died, lock = create_run(cache, spec)
    release(lock)
    request = known_requests(cache, "demo")[scorer_id]
    for later, waits in ((JobSpec(request=request), True), (spec, False)):
        with running_job(cache, later) as job:
            job.report(Progress("scoring", scorer_id=scorer_id))
        views = follow(cache)
        first = next(view for view in views if view.run_id == died.run_id)
        assert can_resume(first, views) is waits
        assert first.work == "positive control of 1 model"

"""The scoring job: what it computes, what it leaves behind when it is killed or stopped."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import PreTrainedTokenizerFast

from core.errors import CanaryFailed, InputError, ModelError
from core.items.texts import item_texts
from core.jobs import run
from core.jobs.run import ScoreRequest, score_dataset
from core.scoring import causal_canaries
from core.store.gate import Cache
from core.store.items import put_dataset
from core.store.query import query
from core.store.runs import runs
from core.store.scorers import scorers
from core.store.scores import item_scores, missing_texts, unscored
from core.store.verify import verify
from core.types import Item
from tests.tiny_models import save_tiny
from tests.tiny_tokenizers import byte_level_bpe

# A server that has imported torch once and forks a fresh child for each job.
children = multiprocessing.get_context("forkserver")
children.set_forkserver_preload(["core.jobs.run"])

pytestmark = pytest.mark.usefixtures("one_thread")


def make_items(n: int) -> list[Item]:
    return [
        Item(
            item_id=f"item-{i}",
            condition="en",
            language="en",
            context=f"The nurse number {i} finished the night shift.",
            stereotype=f"She was tired {i} times.",
            anti_stereotype=f"He was tired {i} times.",
            unrelated=f"The capital is {i}.",
        )
        for i in range(n)
    ]


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    save_tiny(folder, "llama", byte_level_bpe(add_bos=True))
    return folder


def fill(cache: Cache, n: int) -> int:
    """Import n items; returns how many texts they have."""
    items = make_items(n)
    put_dataset(cache, "demo", items, path="", format="native", sha256="")
    return len({t.text_id for item in items for t in item_texts(item).values()})


def request(folder: Path, **options) -> ScoreRequest:
    return ScoreRequest(model=str(folder), dataset="demo", **options)


def test_a_second_run_computes_nothing(cache, model_folder):
    n_texts = fill(cache, 5)
    first = score_dataset(cache, request(model_folder))
    assert (first.missing, first.computed, first.failed, first.stopped) == (
        n_texts,
        n_texts,
        0,
        False,
    )
    second = score_dataset(cache, request(model_folder))
    assert (second.missing, second.computed) == (0, 0)
    assert second.scorer_id == first.scorer_id
    assert set(item_scores(cache, first.scorer_id, "demo")["state"]) == {"scored"}
    assert verify(cache) == []


def test_new_items_are_computed_and_old_ones_are_not(cache, model_folder):
    fill(cache, 3)
    score_dataset(cache, request(model_folder))
    put_dataset(cache, "demo", make_items(4), path="", format="native", sha256="", replace=True)
    assert score_dataset(cache, request(model_folder)).computed == 3


def test_exact_is_a_scorer_of_its_own(cache, model_folder):
    fill(cache, 3)
    batched = score_dataset(cache, request(model_folder))
    exact = score_dataset(cache, request(model_folder, exact=True))
    assert exact.computed == batched.computed
    assert exact.scorer_id != batched.scorer_id
    assert exact.batching == "exact"


def test_dtypes_never_share_a_row(cache, model_folder):
    fill(cache, 3)
    score_dataset(cache, request(model_folder))
    other = score_dataset(cache, request(model_folder, dtype="bfloat16"))
    assert other.computed == other.missing > 0
    assert sorted(scorers(cache)["dtype"]) == ["bfloat16", "float32"]


def test_the_run_is_recorded_with_its_versions(cache, model_folder):
    fill(cache, 2)
    result = score_dataset(cache, request(model_folder))
    (row,) = runs(cache).itertuples()
    assert (row.status, row.computed, row.scorer_id) == (
        "finished",
        result.computed,
        result.scorer_id,
    )
    assert "torch" in row.versions


def test_items_that_cannot_be_scored_are_named_and_the_rest_goes_on(cache, model_folder):
    items = make_items(3)
    long = Item(
        item_id="long", condition="en", context="a " * 300, stereotype="She.", anti_stereotype="He."
    )
    put_dataset(cache, "demo", [*items, long], path="", format="native", sha256="")
    result = score_dataset(cache, request(model_folder))
    assert result.failed == 2
    failures = unscored(cache, result.scorer_id, "demo")
    assert set(failures["item_id"]) == {"long"}
    assert set(failures["reason"]) == {"too_long"}
    states = item_scores(cache, result.scorer_id, "demo").set_index("item_id")["state"]
    assert states["long"] == "unscored"
    assert (states.drop("long") == "scored").all()
    assert score_dataset(cache, request(model_folder)).computed == 0


def test_a_text_with_a_token_that_the_model_does_not_know_stays_alone(cache, tmp_path):
    tokenizer = byte_level_bpe()
    save_tiny(tmp_path / "small", "llama", tokenizer)
    wider = PreTrainedTokenizerFast.from_pretrained(tmp_path / "small")
    wider.add_special_tokens({"additional_special_tokens": ["<|late|>"]})
    wider.save_pretrained(tmp_path / "small")
    odd = replace(make_items(3)[2], stereotype="She wrote <|late|> twice.")
    put_dataset(cache, "demo", [*make_items(2), odd], path="", format="native", sha256="")
    result = score_dataset(cache, request(tmp_path / "small"))
    assert (result.failed, result.computed) == (1, 8)
    assert unscored(cache, result.scorer_id, "demo")["reason"].tolist() == ["no_embedding"]


def test_an_unknown_data_set_is_refused_before_the_model_is_opened(cache):
    fill(cache, 1)
    with pytest.raises(InputError, match="demo"):
        score_dataset(cache, ScoreRequest(model="no/such-model", dataset="dmeo"))


def test_an_unknown_model_leaves_no_trace(cache, tmp_path):
    fill(cache, 1)
    with pytest.raises(ModelError):
        score_dataset(cache, request(tmp_path / "nothing-here"))
    assert scorers(cache).empty


def test_weights_that_changed_under_the_same_name_are_another_scorer(cache, tmp_path):
    fill(cache, 2)
    for seed in (0, 1):
        save_tiny(tmp_path / "model", "llama", byte_level_bpe(), seed=seed)
        score_dataset(cache, request(tmp_path / "model"))
    assert len(scorers(cache)) == 2


def test_scores_that_no_longer_come_out_refuse_the_model(cache, model_folder):
    fill(cache, 2)
    score_dataset(cache, request(model_folder))
    with cache.writing() as con:
        con.execute("UPDATE token_score SET logprobs = list_transform(logprobs, lambda x: x - 1)")
    fill_more = make_items(3)
    put_dataset(cache, "demo", fill_more, path="", format="native", sha256="", replace=True)
    with pytest.raises(CanaryFailed, match="no longer gives"):
        score_dataset(cache, request(model_folder))


def test_a_model_whose_batches_disagree_is_scored_one_at_a_time(cache, model_folder, monkeypatch):
    fill(cache, 2)
    for check in ("packing_agrees", "padding_agrees"):
        monkeypatch.setattr(causal_canaries, check, lambda language_model: False)
    result = score_dataset(cache, request(model_folder))
    assert result.batching == "exact"
    assert "one at a time" in result.notes[0]


def test_a_stopped_job_keeps_what_it_computed(cache, model_folder, monkeypatch):
    monkeypatch.setattr(run, "COMMIT_SECONDS", 0)
    n_texts = fill(cache, 300)
    seen = []
    result = score_dataset(
        cache, request(model_folder), watch=seen.append, stop=lambda: len(seen) > 6
    )
    assert result.stopped
    assert 0 < result.computed < n_texts
    assert runs(cache)["status"].tolist() == ["stopped"]
    rest = score_dataset(cache, request(model_folder))
    assert result.computed + rest.computed == n_texts
    assert verify(cache) == []


def test_a_stop_that_comes_after_the_last_text_stops_nothing(cache, model_folder):
    n_texts = fill(cache, 2)
    seen = []
    result = score_dataset(
        cache,
        request(model_folder),
        watch=seen.append,
        stop=lambda: seen[-1].done_texts == n_texts,
    )
    assert not result.stopped
    assert runs(cache)["status"].tolist() == ["finished"]


def test_progress_ends_where_it_said_it_would(cache, model_folder):
    n_texts = fill(cache, 20)
    seen = []
    score_dataset(cache, request(model_folder), watch=seen.append)
    assert seen[0].phase == "opening the model"
    assert (seen[-1].done_texts, seen[-1].total_texts) == (n_texts, n_texts)
    assert seen[-1].done_characters == seen[-1].total_characters > 0


# Processes that die, and processes that share


def work(folder: Path, model_folder: Path) -> None:
    """One job in a child process, committing after every batch."""
    torch.set_num_threads(1)
    run.COMMIT_SECONDS = 0
    score_dataset(Cache(folder), request(model_folder))


def count(cache: Cache) -> int:
    return query(cache, "SELECT count(*) AS n FROM token_score").column("n")[0].as_py()


def test_killed_at_random_moments_nothing_is_lost_or_doubled(cache, model_folder):
    n_texts = fill(cache, 1500)
    rng = random.Random(20260928)
    held = 0
    for _ in range(10):
        child = children.Process(target=work, args=(cache.folder, model_folder))
        child.start()
        began = count(cache)
        while child.is_alive() and count(cache) == began:
            time.sleep(0.01)  # let it commit once, so that the kill falls into its work
        time.sleep(rng.uniform(0, 0.2))
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        assert count(cache) >= held
        held = count(cache)
        assert verify(cache) == []
    assert 0 < held < n_texts, "every kill fell into the work"
    scorer_id = scorers(cache)["scorer_id"][0]
    assert len(missing_texts(cache, scorer_id, "demo")) == n_texts - held
    result = score_dataset(cache, request(model_folder))
    assert result.computed == n_texts - held
    assert count(cache) == n_texts
    assert verify(cache) == []


def test_two_processes_fill_one_cache(cache, model_folder, tmp_path):
    n_texts = fill(cache, 100)
    other = save_tiny(tmp_path / "other", "llama", byte_level_bpe(add_bos=True), seed=1)
    pair = [
        children.Process(target=work, args=(cache.folder, folder))
        for folder in (model_folder, other)
    ]
    for child in pair:
        child.start()
    for child in pair:
        child.join()
        assert child.exitcode == 0
    assert count(cache) == 2 * n_texts
    assert runs(cache)["computed"].tolist() == [n_texts, n_texts]
    assert verify(cache) == []


def test_a_second_job_on_the_same_scorer_is_refused_and_names_the_first(cache, model_folder):
    fill(cache, 20)

    def second(progress):
        if progress.phase == "scoring":
            with pytest.raises(InputError, match="Run first-one is filling the same scorer"):
                score_dataset(cache, request(model_folder), run_id="second")

    first = score_dataset(cache, request(model_folder), run_id="first-one", watch=second)
    assert first.computed == first.missing
    assert runs(cache)["run_id"].tolist() == ["first-one"]
    assert score_dataset(cache, request(model_folder)).missing == 0


# What a run remembers


def test_progress_counts_what_is_stored(cache, model_folder, monkeypatch):
    monkeypatch.setattr(run, "COMMIT_SECONDS", 0)
    n_texts = fill(cache, 100)
    seen = []
    result = score_dataset(cache, request(model_folder), watch=seen.append)
    last = seen[-1]
    assert (last.computed, last.failed, last.scorer_id) == (n_texts, 0, result.scorer_id)
    assert all(p.computed <= p.done_texts for p in seen)
    assert [p.computed for p in seen] == sorted(p.computed for p in seen)


def test_self_checks_are_remembered(cache, model_folder, monkeypatch):
    fill(cache, 2)
    score_dataset(cache, request(model_folder), run_id="passed")
    for check in ("packing_agrees", "padding_agrees"):
        monkeypatch.setattr(causal_canaries, check, lambda language_model: False)
    score_dataset(cache, request(model_folder), run_id="slow")

    def refuse(language_model):
        raise CanaryFailed("It looks ahead.")

    monkeypatch.setattr(run, "check_model", refuse)
    with pytest.raises(CanaryFailed):
        score_dataset(cache, request(model_folder), run_id="refused")
    table = runs(cache).set_index("run_id")
    assert table.loc["passed", "checks"] == "passed"
    assert table.loc["slow", "checks"].startswith("slow path: Batched scores differ")
    assert table.loc["refused", "checks"] == "refused: It looks ahead."
    assert table.loc["refused", "status"] == "failed"


def test_a_job_that_breaks_has_failed(cache, model_folder, monkeypatch):
    fill(cache, 2)

    def broken(*arguments):
        raise RuntimeError("no more")

    monkeypatch.setattr(run, "put_scores", broken)
    with pytest.raises(RuntimeError):
        score_dataset(cache, request(model_folder))
    assert runs(cache)["status"].tolist() == ["failed"]

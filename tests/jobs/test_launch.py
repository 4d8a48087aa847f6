"""Jobs in processes of their own: they outlive whoever started them, stop, die and go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from core.errors import InputError, StereoscopeError
from core.jobs.folder import find_run
from core.jobs.follow import JobView, follow, log_tail, view_job
from core.jobs.launch import estimate_apart, launch, request_stop, resume
from core.jobs.run import ScoreRequest, score_dataset
from core.jobs.spec import JobSpec, spec_to_json
from core.settings import ROOT
from core.store.gate import Cache
from core.store.query import query
from core.store.runs import runs
from core.store.verify import verify
from tests.jobs.test_jobs import fill
from tests.tiny_models import save_tiny
from tests.tiny_tokenizers import byte_level_bpe

N_ITEMS = 2000


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """Tiny models lose more than they gain by a second thread, most of all on a busy machine."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    return save_tiny(folder, "llama", byte_level_bpe(add_bos=True))


def spec(model: Path, **options) -> JobSpec:
    """One text at a time, so that there is time to do something to the job."""
    request = ScoreRequest(model=str(model), dataset="demo", exact=True, **options)
    return JobSpec(request=request)


def wait(cache: Cache, run_id: str, until: Callable[[JobView], bool]) -> JobView:
    for _ in range(12_000):
        view = view_job(find_run(cache, run_id))
        if until(view):
            return view
        assert view.alive, (view, log_tail(cache, run_id))
        time.sleep(0.05)
    raise TimeoutError(view)


def ended(view: JobView) -> bool:
    return not view.alive


def scoring(view: JobView) -> bool:
    return view.progress.computed > 0


def process_of(run_id: str) -> psutil.Process:
    """The process of a launched job, found as a person would: by its command line.

    `suspend` and `resume` give a test time to do something to a job, however fast it is.
    """
    (found,) = [p for p in psutil.process_iter(["cmdline"]) if run_id in (p.info["cmdline"] or ())]
    return found


def n_scores(cache: Cache) -> int:
    return query(cache, "SELECT count(*) AS n FROM token_score").column("n")[0].as_py()


def test_a_job_outlives_its_launcher_stops_and_goes_on(cache, model):
    n_texts = fill(cache, N_ITEMS)
    code = f"""
import os, signal
from pathlib import Path
from core.jobs.launch import launch
from core.jobs.spec import spec_from_json
from core.store.gate import Cache
spec = spec_from_json({spec_to_json(spec(model))!r})
print(launch(Cache(Path({str(cache.folder)!r})), spec), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    launcher = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert launcher.returncode == -signal.SIGKILL, launcher.stderr
    run_id = launcher.stdout.strip()
    view = wait(cache, run_id, scoring)
    process = process_of(run_id)
    process.suspend()
    assert os.getsid(process.pid) == process.pid, "a session of its own"
    with pytest.raises(InputError, match="has not ended"):
        resume(cache, run_id)

    # A second job of the same scorer is refused and names this one.
    twin = launch(cache, spec(model))
    refused = wait(cache, twin, ended)
    assert refused.state == "failed"
    assert run_id in refused.error

    request_stop(cache, run_id)
    assert view_job(find_run(cache, run_id)).state == "stopping"
    process.resume()
    stopped = wait(cache, run_id, ended)
    assert stopped.state == "stopped"
    assert 0 < stopped.progress.computed == n_scores(cache) < n_texts
    assert verify(cache) == []

    rest = wait(cache, resume(cache, run_id), ended)
    assert rest.state == "finished"
    assert stopped.progress.computed + rest.progress.computed == n_texts == n_scores(cache)
    assert rest.spec is not None
    assert rest.spec.resumes == run_id
    assert runs(cache).set_index("run_id")["status"].to_dict() == {
        run_id: "stopped",
        rest.run_id: "finished",
    }
    said = f"computed {rest.progress.computed:,} of"
    for _ in range(200):  # the last words come after the last line of progress
        if said in log_tail(cache, rest.run_id):
            break
        time.sleep(0.05)
    assert said in log_tail(cache, rest.run_id)
    assert view.started <= rest.started
    assert verify(cache) == []


def test_a_killed_job_has_died_and_can_go_on(cache, model):
    n_texts = fill(cache, N_ITEMS)
    run_id = launch(cache, spec(model))
    wait(cache, run_id, scoring)
    process = process_of(run_id)
    process.kill()
    died = wait(cache, run_id, ended)
    assert died.state == "died"
    for _ in range(100):  # reaped by the thread that waits for it
        if not psutil.pid_exists(process.pid):
            break
        time.sleep(0.05)
    assert not psutil.pid_exists(process.pid), "no zombie"
    held = n_scores(cache)
    assert 0 < held < n_texts
    rest = wait(cache, resume(cache, run_id), ended)
    assert (rest.state, rest.progress.computed) == ("finished", n_texts - held)
    assert verify(cache) == []


def test_a_job_that_cannot_run_says_why(cache, tmp_path, model):
    fill(cache, 2)
    (tmp_path / "nothing").mkdir()
    failed = wait(cache, launch(cache, spec(tmp_path / "nothing")), ended)
    assert failed.state == "failed"
    assert failed.error.endswith("holds no config.json, so it is not a model folder.")
    assert failed.error in log_tail(cache, failed.run_id).replace("\n", " ")
    assert [view.run_id for view in follow(cache)] == [failed.run_id]


def test_an_estimate_says_what_the_job_then_finds(cache, model):
    n_texts = fill(cache, 30)
    request = spec(model).request
    before = estimate_apart(cache, request)
    assert (before["texts"], before["seconds"], before["memory"]["fits"]) == (n_texts, None, True)
    assert "unknown" in before["speed_from"]
    assert not (cache.folder / "runs").exists()
    result = score_dataset(cache, request)
    assert before["scorer"]["scorer_id"] == result.scorer_id
    assert before["scorer"]["batching"] == "exact"


def test_an_estimate_that_is_refused_or_hangs_is_a_sentence(cache, model):
    fill(cache, 1)
    wrong = ScoreRequest(model=str(model), dataset="dmeo")
    with pytest.raises(InputError, match="dmeo"):
        estimate_apart(cache, wrong)
    with pytest.raises(StereoscopeError, match="longer than 0 seconds"):
        estimate_apart(cache, spec(model).request, timeout=0.01)

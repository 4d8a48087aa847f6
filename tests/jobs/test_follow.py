"""Run folders from outside: every state, whatever is in the folder."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.errors import (
    CacheError,
    DataSetMissing,
    HubUnreachable,
    InputError,
    ModelGated,
    ModelNotFound,
    NotNow,
    WrongModelKind,
)
from core.heads_request import HeadsRequest
from core.jobs.folder import RunFolder, create_run, release, take_over_run
from core.jobs.follow import (
    can_resume,
    follow,
    log_tail,
    recorded_speed,
    unfinished,
    view_job,
    with_jobs,
)
from core.jobs.launch import dismiss, launch, request_stop, resume
from core.jobs.progress import Progress
from core.jobs.running import running_job
from core.jobs.spec import JobSpec, anywhere, spec_from_json, spec_to_json
from core.score_request import ScoreRequest
from core.settings import ROOT

SPEC = JobSpec(request=ScoreRequest(model="some/model", dataset="d", exact=True))
NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


def line(at: float, texts: int, ended: str = "", **fields) -> dict:
    """A line of progress, `at` seconds after noon; a text has ten characters, there are 1,000."""
    return {
        "time": (NOON + timedelta(seconds=at)).isoformat(),
        "seconds": at,
        "phase": "scoring",
        "done_texts": texts,
        "total_texts": 1000,
        "done_characters": 10 * texts,
        "total_characters": 10_000,
        "computed": texts,
        "failed": 0,
        "scorer_id": "s1",
        "checks": "passed",
        "ended": ended,
        "error": "",
    } | fields


@pytest.fixture
def make(cache):
    """A run folder as a job would leave it; the lock is held until the test ends or lets go."""
    held = []

    def run(*lines: dict, alive: bool = False, spec: JobSpec = SPEC) -> RunFolder:
        folder, lock = create_run(cache, spec)
        folder.progress.write_text("".join(json.dumps(each) + "\n" for each in lines))
        if alive:
            held.append(lock)
        else:
            release(lock)
        return folder

    yield run
    for lock in held:
        release(lock)


@pytest.mark.parametrize(
    ("lines", "alive", "stop", "state"),
    [
        ((), True, False, "starting"),
        ((line(1, 0, phase="opening the model"),), True, False, "running"),
        ((line(1, 0), line(2, 5)), True, True, "stopping"),
        ((line(1, 0), line(2, 5, "stopped")), False, True, "stopped"),
        ((line(1, 0), line(2, 1000, "finished")), False, False, "finished"),
        ((line(1, 0), line(2, 1000, "finished")), True, False, "finished"),  # not yet let go
        ((line(1, 0), line(2, 5, "failed", error="No room.")), False, False, "failed"),
        ((line(1, 0), line(2, 5)), False, False, "died"),
        ((line(1, 0), line(2, 5)), False, True, "died"),
        ((), False, False, "died"),
    ],
)
def test_states(make, lines, alive, stop, state):
    folder = make(*lines, alive=alive)
    if stop:
        folder.stop.touch()
    view = view_job(folder)
    assert view.state == state
    assert view.alive == (state in ("starting", "running", "stopping"))
    assert (view.model, view.dataset, view.spec) == ("some/model", "d", SPEC)
    assert view.error == ("No room." if state == "failed" else "")
    assert (view.ended is None) == (view.alive or not lines)


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: folder.progress.open("a").write('{"time": "2026-11-29T12:00:03'),
        lambda folder: folder.progress.open("ab").write(b"\xff\xfe\n[1]\nnull\n{}\n"),
        lambda folder: folder.progress.open("a").write(json.dumps(line(3, "many")) + "\n"),
        lambda folder: folder.spec.unlink(),
        lambda folder: folder.spec.write_text('{"command": "score", "requ'),
        lambda folder: folder.spec.write_text('{"command": "score", "request": {"model": 3}}'),
        lambda folder: [path.unlink() for path in folder.path.iterdir()],
        lambda folder: folder.lock.unlink(),
    ],
)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_damaged_folder_has_a_state_too(cache, make, damage):
    folder = make(line(1, 0), line(2, 5))
    damage(folder)
    (view,) = follow(cache)
    assert view.state == "died"
    if folder.progress.exists():
        assert view.progress.done_texts == 5
    if view.spec is None:
        with pytest.raises(InputError, match="does not tell"):
            resume(cache, folder.run_id)


def test_a_torn_last_line_of_a_living_job_is_not_counted(make):
    folder = make(line(1, 0), line(2, 5), alive=True)
    with folder.progress.open("a") as file:
        file.write('{"time": "2026-11-29T12:0')
    assert (view_job(folder).state, view_job(folder).progress.done_texts) == ("running", 5)


def test_only_runs_are_followed_the_latest_first(cache, make):
    assert follow(cache) == []
    names = [make().run_id for _ in range(3)]
    for odd in ("notes", "20269999-999999-aaaa", ".20261129-204512-3f9a"):
        (cache.folder / "runs" / odd).mkdir()
    (cache.folder / "runs" / "score-1.lock").touch()
    assert [view.run_id for view in follow(cache)] == names[::-1]
    assert len(follow(cache, latest=2)) == 2


# What may be resumed


def resumable(cache) -> list[str]:
    """The runs that are offered for resuming, the oldest first."""
    views = follow(cache)
    return [view.run_id for view in views[::-1] if can_resume(view, views)]


@pytest.mark.parametrize("state", ["stopped", "failed", ""])
def test_a_run_is_no_longer_offered_when_a_later_one_has_done_its_work(cache, make, state):
    early = make(line(0, 0), line(2, 5, state))
    assert resumable(cache) == [early.run_id]
    make(line(0, 0), line(9, 1000, "finished"))
    assert resumable(cache) == []


@pytest.mark.parametrize(
    ("later", "request_"),
    [
        (line(9, 1000, "finished", scorer_id="s2"), SPEC.request),
        (line(9, 1000, "finished"), replace(SPEC.request, dataset="e")),
    ],
)
def test_other_work_takes_nothing_up(cache, make, later, request_):
    early = make(line(0, 0), line(2, 5, "stopped"))
    make(line(0, 0), later, spec=JobSpec(request=request_))
    assert early.run_id in resumable(cache)


@pytest.mark.parametrize("state", ["stopped", "failed", ""])
def test_of_runs_of_the_same_work_only_the_latest_is_offered(cache, make, state):
    make(line(0, 0), line(2, 5, "stopped"))
    late = make(line(0, 0), line(9, 900, state))
    assert resumable(cache) == [late.run_id]
    dismiss(cache, late.run_id)
    assert resumable(cache) == []


@pytest.mark.parametrize(
    ("error", "offered"),
    [
        (ModelNotFound("There is no such model."), False),
        (WrongModelKind("It is a classifier."), False),
        (DataSetMissing("There is no such data set."), False),
        (HubUnreachable("No network."), True),
        (ModelGated("Accept the terms."), True),
        (NotNow("Another job fills it."), True),
        (InputError("There is no such device."), False),
    ],
)
def test_what_does_not_exist_is_not_tried_again(cache, error, offered):
    with pytest.raises(type(error)), running_job(cache, SPEC):
        raise error
    (view,) = views = follow(cache)
    assert unfinished(view, views)
    assert can_resume(view, views) is offered


def test_an_earlier_finished_run_does_not_count(cache, make):
    make(line(0, 0), line(9, 1000, "finished"))
    late = make(line(0, 0), line(2, 5, "stopped"))
    assert resumable(cache) == [late.run_id]


def test_a_run_that_ended_before_its_scorer_was_known_goes_by_what_was_asked(cache, make):
    opening = line(0, 0, "failed", phase="opening the model", scorer_id="", error="No room.")
    early = make(opening)
    make(line(9, 1000, "finished"), spec=JobSpec(request=replace(SPEC.request, dtype="float16")))
    assert resumable(cache) == [early.run_id]
    make(line(9, 1000, "finished"))
    assert resumable(cache) == []


def test_who_is_told_of_missing_scores_is_told_of_the_job_that_computes_them(cache, make):
    notes = ["3 of 9 are scored. Run `python -m core score --model m` to score the rest.", "Other."]
    make(line(1, 10, "stopped"))
    assert with_jobs(notes, follow(cache), "d") == notes
    make(line(1, 172), alive=True)
    assert with_jobs(notes, follow(cache), "another") == notes
    heads = JobSpec(command="axes", request=HeadsRequest(model="m", axes="d"))
    make(line(1, 172), alive=True, spec=heads)  # axes may have a data set's name
    told = "3 of 9 are scored. A job is computing this: 172 of 1,000 texts."
    assert with_jobs(notes, follow(cache), "d") == [told, "Other."]


def test_a_dismissed_run_is_not_offered_and_nothing_of_it_is_gone(cache, make):
    folder = make(line(0, 0), line(2, 5, "stopped"))
    before = folder.progress.read_bytes()
    dismiss(cache, folder.run_id)
    assert resumable(cache) == []
    assert folder.progress.read_bytes() == before
    assert [view.run_id for view in follow(cache)] == [folder.run_id]


def test_a_living_run_cannot_be_dismissed(cache, make):
    folder = make(line(0, 0), alive=True)
    with pytest.raises(InputError, match="has not ended"):
        dismiss(cache, folder.run_id)


# How fast


def test_rate_and_time_left_are_those_of_the_last_half_minute(make):
    lines = [line(0, 0), *(line(10 + 5 * i, 100 + 10 * i) for i in range(20))]
    folder = make(*lines, alive=True)
    view = view_job(folder)
    assert view.rate == pytest.approx(2.0)  # 10 texts every 5 seconds, not the first ones
    assert view.seconds_left == pytest.approx((10_000 - 2_900) / 20)
    assert view.fraction == pytest.approx(0.29)


@pytest.mark.parametrize("lines", [(), (line(0, 0),), (line(0, 0), line(3, 0))])
def test_without_progress_there_is_no_rate(make, lines):
    view = view_job(make(*lines, alive=True))
    assert (view.rate, view.seconds_left) == (None, None)


def test_another_phase_does_not_count(make):
    view = view_job(make(line(90, 0, phase="opening the model"), line(0, 0), line(2, 10)))
    assert view.rate is None  # it is over
    view = view_job(make(line(90, 0, phase="opening"), line(0, 0), line(2, 10), alive=True))
    assert view.rate == pytest.approx(5.0)


def test_the_speed_of_a_scorer_is_that_of_its_latest_run(cache, make):
    make(line(0, 0), line(10, 100, "finished"))
    assert recorded_speed(cache, "s2") is None
    speed = recorded_speed(cache, "s1")
    assert speed is not None
    assert speed.characters_per_second == pytest.approx(100.0)
    make(line(0, 0), line(0.5, 500, "stopped"))  # too short to tell
    assert recorded_speed(cache, "s1") == speed
    make(line(0, 0), line(5, 100), line(60, 100, "finished", phase="projecting"))
    later = recorded_speed(cache, "s1")
    assert later is not None
    assert later.characters_per_second == pytest.approx(200.0)


def test_a_long_history_is_read_from_its_end(make):
    folder = make(*(line(i / 2, i) for i in range(5000)), alive=True)
    assert folder.progress.stat().st_size > 1_000_000
    view = view_job(folder)
    assert view.progress.done_texts == 4999
    assert view.rate == pytest.approx(2.0)


# A job's own side


def test_a_job_writes_what_others_read(cache):
    with running_job(cache, SPEC) as job:
        folder = job.folder
        assert view_job(folder).state == "starting"
        job.report(Progress("opening the model"))
        assert view_job(folder).state == "running"
        assert not job.stop_asked()
        request_stop(cache, job.run_id)
        assert job.stop_asked()
        assert view_job(folder).state == "stopping"
        with pytest.raises(InputError, match="has not ended"):
            resume(cache, job.run_id)
        job.end("stopped")
    assert view_job(folder).state == "stopped"
    assert len(folder.progress.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("error", "state", "said"),
    [
        (InputError("No such thing."), "failed", "No such thing."),
        (RuntimeError("boom\nbang"), "failed", "The program failed: RuntimeError: boom"),
        (KeyboardInterrupt(), "stopped", ""),
    ],
)
def test_an_exception_is_how_a_job_ended(cache, error, state, said):
    with pytest.raises(type(error)), running_job(cache, SPEC) as job:
        raise error
    view = view_job(job.folder)
    assert (view.state, view.error) == (state, said)


def test_reports_are_written_about_twice_a_second(cache, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("core.jobs.running.time.monotonic", lambda: now[0])
    with running_job(cache, SPEC) as job:
        job.report(Progress("opening the model"))
        for i in range(100):
            now[0] += 0.05
            job.report(Progress("scoring", done_texts=i, total_texts=100))
    lines = [json.loads(text) for text in job.folder.progress.read_text().splitlines()]
    assert 10 <= len(lines) <= 14
    assert lines[-1]["ended"] == "finished"
    assert lines[-1]["done_texts"] == 99, "the last line knows the last report"


def test_stopping_what_has_ended_changes_nothing(cache, make):
    folder = make(line(1, 5, "finished"))
    request_stop(cache, folder.run_id)
    assert not folder.stop.exists()


@pytest.mark.parametrize("run_id", ["20261129-204512-3f9a", "", "..", "../..", "x" * 300])
def test_a_run_that_is_not_there_is_named(cache, run_id):
    for ask in (request_stop, resume, log_tail, take_over_run, dismiss):
        with pytest.raises(InputError, match="There is no run"):
            ask(cache, run_id)


def test_a_prepared_folder_is_taken_over_once(cache, make):
    waiting = make(spec=SPEC)
    waiting.progress.unlink()
    with (
        running_job(cache, SPEC, waiting.run_id),
        pytest.raises(InputError, match="another job"),
    ):
        take_over_run(cache, waiting.run_id)
    with pytest.raises(InputError, match="is over"):
        take_over_run(cache, waiting.run_id)


def test_a_look_at_the_lock_does_not_turn_its_job_away(cache, make):
    waiting = make(spec=SPEC)
    waiting.progress.unlink()
    looking = os.open(waiting.lock, os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)
    code = f"import os, time; time.sleep(0.1); os.close({looking})"
    child = subprocess.Popen([sys.executable, "-c", code], pass_fds=[looking])
    os.close(looking)
    folder, lock = take_over_run(cache, waiting.run_id)
    release(lock)
    assert child.wait() == 0
    assert folder.run_id == waiting.run_id


def test_a_cache_that_cannot_be_written_starts_nothing(tmp_path):
    from core.store.gate import Cache

    (tmp_path / "file").touch()
    with pytest.raises(CacheError, match="is a file"):
        launch(Cache(tmp_path / "file"), SPEC)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "runs").touch()
    with pytest.raises(CacheError, match="cannot be written to"):
        launch(Cache(tmp_path / "cache"), SPEC)


def test_log_tail_gives_the_last_lines_as_a_terminal_shows_them(cache, make):
    folder = make()
    assert log_tail(cache, folder.run_id) == ""
    folder.log.write_bytes(b"one\n" * 100 + "10%\r50%\r100%\nÉlan \xff\n".encode("latin-1"))
    assert log_tail(cache, folder.run_id, 3).splitlines() == ["one", "100%", "�lan �"]


# What is asked for


def test_arguments_are_words_that_cannot_be_taken_for_options():
    request = ScoreRequest(model="--help", dataset="it's; rm -rf /", dtype="bfloat16", exact=True)
    words = JobSpec(request=request).arguments()
    assert words == [
        "score",
        "--model=--help",
        "--dataset=it's; rm -rf /",
        "--dtype=bfloat16",
        "--exact",
    ]
    assert JobSpec(command="demo").arguments() == ["demo"]
    assert JobSpec(command="demo").command_line() == "python -m core demo"


@pytest.mark.parametrize(
    "spec",
    [
        JobSpec(command="repair"),
        JobSpec(request=ScoreRequest(model="", dataset="d")),
        JobSpec(request=ScoreRequest(model="a\0b", dataset="d")),
        JobSpec(request=ScoreRequest(model="demo", dataset=" ")),
    ],
)
def test_what_is_not_offered_is_not_started(cache, spec):
    with pytest.raises(InputError):
        launch(cache, spec)
    assert not cache.folder.exists()


def test_a_spec_survives_its_file_and_later_versions():
    assert spec_from_json(spec_to_json(SPEC)) == SPEC
    later = spec_to_json(SPEC) | {"priority": 3}
    assert spec_from_json(later) == SPEC
    for broken in ({}, {"request": None}, {"request": {"model": "m"}}, []):
        with pytest.raises(ValueError, match="not a job"):
            spec_from_json(broken)


def test_a_folder_means_the_same_from_everywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny").mkdir()
    (tmp_path / "demo").mkdir()
    for model, whole in (
        ("tiny", str(tmp_path / "tiny")),
        ("demo", "demo"),
        ("org/name", "org/name"),
        ("", ""),
    ):
        assert anywhere(ScoreRequest(model=model, dataset="d")).model == whole


def test_following_imports_no_torch():
    code = """
import sys
import core.jobs.follow, core.jobs.launch, core.jobs.running
sys.exit(bool({"torch", "transformers"} & set(sys.modules)))
"""
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0

"""Jobs as seen from outside: from their folders alone, so that every page rerun can afford it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, Literal

from core.heads_request import AtlasRequest, ProjectionsRequest
from core.jobs.folder import RunFolder, find_run, is_held, read_spec, run_folders
from core.jobs.progress import OF_TEXTS, Progress
from core.jobs.spec import AXES, CONTROL, JobSpec
from core.score_request import ScoreRequest, known_fields
from core.store.gate import Cache
from core.store.score_line import REST
from core.words import counted, duration_words

State = Literal["starting", "running", "stopping", "stopped", "finished", "failed", "died"]
ALIVE = ("starting", "running", "stopping")
ENDED = ("stopped", "finished", "failed")

RATE_SECONDS = 30.0  # the rate is that of the last half minute
TAIL_BYTES = 32_768  # of progress.jsonl: more than half a minute of lines
HEAD_BYTES = 4096  # of progress.jsonl: more than the phases before the first text
LOG_BYTES = 65_536
SPEED_RUNS = 200  # how many of the latest runs are searched for an earlier one of a scorer


@dataclass(frozen=True, kw_only=True)
class JobView:
    """A job at this moment."""

    run_id: str
    state: State
    spec: JobSpec | None  # None where the folder does not tell
    progress: Progress
    seconds: float  # spent in the progress's phase
    rate: float | None  # texts per second lately
    seconds_left: float | None
    error: str  # of a failed job: one sentence
    hopeless: bool  # it failed because what was asked for does not exist
    started: datetime  # UTC
    ended: datetime | None  # UTC; of a died job: its last sign of life
    dismissed: bool  # nobody wants it resumed

    @property
    def alive(self) -> bool:
        return self.state in ALIVE

    @property
    def command(self) -> str:
        return self.spec.command if self.spec else ""

    @property
    def model(self) -> str:
        return self.spec.request.model if self.spec else ""

    @property
    def work(self) -> str:
        """What is computed: scores of a model, what its heads hold, where concepts fall, ..."""
        if self.command == AXES:
            return f"heads of {self.model}"
        if self.spec and isinstance(self.spec.request, ProjectionsRequest):
            return _projected(self.spec.request)
        if self.spec is None or self.command != CONTROL:
            return self.model
        return f"positive control of {counted(len(self.spec.scorers), 'model')}"

    @property
    def dataset(self) -> str:
        return self.spec.request.dataset if self.spec else ""

    @property
    def fraction(self) -> float:
        """How much of the work is done, in characters, from 0 to 1."""
        if self.progress.total_characters:
            return min(1.0, self.progress.done_characters / self.progress.total_characters)
        return 1.0 if self.state == "finished" else 0.0


@dataclass(frozen=True)
class Speed:
    """How fast a run was."""

    run_id: str
    characters_per_second: float
    opening_seconds: float | None  # to open and check the model, before the first text


@dataclass(frozen=True)
class _Line:
    """One line of progress.jsonl."""

    time: datetime
    seconds: float
    progress: Progress
    ended: str
    error: str
    hopeless: bool


def follow(cache: Cache, *, latest: int | None = None) -> list[JobView]:
    """The jobs of a cache, the latest first.

    Parameters
    ----------
    latest
        At most this many.
    """
    return [view_job(folder) for folder in islice(run_folders(cache), latest)]


def can_resume(view: JobView, views: Sequence[JobView]) -> bool:
    """Whether a run is `unfinished` and to go on with it is of use."""
    return unfinished(view, views) and not view.hopeless


def unfinished(view: JobView, views: Sequence[JobView]) -> bool:
    """Whether a run left something to do, and is the latest of its work.

    Parameters
    ----------
    views
        Of `follow`: the latest first.
    """
    if view.state not in ("stopped", "failed", "died") or view.spec is None or view.dismissed:
        return False
    later = takewhile(lambda other: other.run_id != view.run_id, views)
    return not any(_took_up(other, view) for other in later)


def _took_up(later: JobView, view: JobView) -> bool:
    """Whether a later run resumes another one, or is of the same work, however far it came."""
    if later.spec is None or view.spec is None:
        return False
    if later.spec.resumes == view.run_id:
        return True
    if later.dataset != view.dataset:
        return False
    if CONTROL in (later.command, view.command):
        mine, other = view.spec, later.spec
        return (mine.scorers, mine.arms) == (other.scorers, other.arms)
    scorers = {later.progress.scorer_id, view.progress.scorer_id}
    if "" in scorers:  # it ended before the model was open
        return later.spec.request == view.spec.request
    return len(scorers) == 1


def with_jobs(notes: Sequence[str], views: Sequence[JobView], dataset: str) -> list[str]:
    """Notes that name the line to run say instead how far a job is that computes it."""
    line = REST.partition("`")[0] + "`"
    found = computing(views, dataset)
    return [note[: note.index(line)] + found if found and line in note else note for note in notes]


def computing(views: Sequence[JobView], dataset: str) -> str:
    """That a job computes scores of a data set, and how far it is; empty where none does."""
    for view in views:
        about_scores = view.spec is not None and isinstance(view.spec.request, ScoreRequest)
        if view.alive and about_scores and view.dataset == dataset:
            p = view.progress
            far = (
                f"{p.done_texts:,} of {counted(p.total_texts, 'text')}"
                if p.total_texts
                else p.phase
            )
            return f"A job is computing this: {far}."
    return ""


def count_runs(cache: Cache) -> int:
    """How many runs there are."""
    return len(run_folders(cache))


def view_job(folder: RunFolder) -> JobView:
    """One job; whatever is missing in its folder, there is a state."""
    held = is_held(folder)  # before the lines: a job that has let go has written them all
    lines = _read_lines(folder.progress)
    last = lines[-1] if lines else None
    rate, characters_rate = _rates(lines)
    state = _state(folder, held, last)
    left = None
    if last and characters_rate and state in ALIVE:
        left = (last.progress.total_characters - last.progress.done_characters) / characters_rate
    return JobView(
        run_id=folder.run_id,
        state=state,
        spec=read_spec(folder),
        progress=last.progress if last else Progress("starting"),
        seconds=last.seconds if last else 0.0,
        rate=rate if state in ALIVE else None,
        seconds_left=left,
        error=last.error if last else "",
        hopeless=last.hopeless if last else False,
        started=folder.started,
        ended=last.time if last and state not in ALIVE else None,
        dismissed=folder.dismissed.exists(),
    )


def log_tail(cache: Cache, run_id: str, n_lines: int = 40) -> str:
    """The last lines that a job without a terminal wrote; empty where it wrote none.

    Raises
    ------
    InputError
        When there is no such run.
    """
    text = _tail(find_run(cache, run_id).log, LOG_BYTES).decode("utf-8", "replace")
    # A progress bar draws over its line again and again; only its last picture counts.
    lines = [line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n")]
    return "\n".join(lines[-n_lines - 1 :]).strip("\n")


def recorded_speed(cache: Cache, scorer_id: str) -> Speed | None:
    """The speed of the latest run that has scored under this scorer for a second or more."""
    for folder in islice(run_folders(cache), SPEED_RUNS):
        line = _last_computing(_read_lines(folder.progress))
        if line is None or line.progress.scorer_id != scorer_id:
            continue
        if line.seconds >= 1.0 and line.progress.done_characters:
            opening = _opening_seconds(folder.progress)
            return Speed(folder.run_id, line.progress.done_characters / line.seconds, opening)
    return None


def _last_computing(lines: Sequence[_Line]) -> _Line | None:
    """The last line in which texts were computed: what comes after takes other time."""
    known = (line for line in reversed(lines) if line.progress.phase in OF_TEXTS)
    return next(known, None)


def opening_words(seconds: float | None) -> str:
    """What an estimate of time counts beside the texts: 12 s of it to open and check the model."""
    if seconds is None:
        return "besides opening and checking the model"
    return f"{duration_words(seconds)} of it to open and check the model"


def _projected(request: ProjectionsRequest) -> str:
    made = f"atlas of {request.of}: " if isinstance(request, AtlasRequest) else ""
    return f"{made}projections of {request.concepts}"


def _state(folder: RunFolder, held: bool, last: _Line | None) -> State:
    if last and last.ended in ENDED:
        return last.ended  # type: ignore[return-value]
    if not held:
        return "died"
    if folder.stop.exists():
        return "stopping"
    return "running" if last else "starting"


def _rates(lines: Sequence[_Line]) -> tuple[float | None, float | None]:
    """Texts and characters per second lately, by the job's own clock."""
    if not lines:
        return None, None
    last = lines[-1]
    recent = [
        line
        for line in lines
        if line.progress.phase == last.progress.phase
        and last.seconds - line.seconds <= RATE_SECONDS
    ]
    seconds = last.seconds - recent[0].seconds
    texts = last.progress.done_texts - recent[0].progress.done_texts
    characters = last.progress.done_characters - recent[0].progress.done_characters
    if seconds <= 0 or texts <= 0:
        return None, None
    return texts / seconds, characters / seconds


def _opening_seconds(path: Path) -> float | None:
    """From a run's first line to its first one of scoring; None where they do not tell."""
    try:
        with path.open("rb") as file:
            lines = _lines_in(file.read(HEAD_BYTES))
    except OSError:
        return None
    scoring = next((line for line in lines if line.progress.phase in OF_TEXTS), None)
    if scoring is None or scoring is lines[0]:
        return None
    return max(0.0, (scoring.time - lines[0].time).total_seconds())


def _read_lines(path: Path) -> list[_Line]:
    """The last lines that can be read."""
    return _lines_in(_tail(path, TAIL_BYTES))


def _lines_in(content: bytes) -> list[_Line]:
    """The lines that can be read; a torn one is left out."""
    lines = (_parsed(text) for text in content.splitlines())
    return [line for line in lines if line is not None]


def _parsed(text: bytes) -> _Line | None:
    try:
        values: dict[str, Any] = json.loads(text)
        return _Line(
            time=datetime.fromisoformat(values["time"]),
            seconds=float(values["seconds"]),
            progress=Progress(**known_fields(Progress, values)),
            ended=str(values["ended"]),
            error=str(values["error"]),
            hopeless=bool(values.get("hopeless", False)),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _tail(path: Path, n_bytes: int) -> bytes:
    """The end of a file, from the beginning of a line; empty where there is none."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - n_bytes))
            content = file.read()
    except OSError:
        return b""
    return content if size <= n_bytes else content.partition(b"\n")[2]

"""Progress on standard error: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from core.cli import progress, terminal
from core.cli.progress import progress_bar
from core.jobs.progress import Progress


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """What is written to a file while reports come in at given seconds."""
    at = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: at[0])

    def run(*reports: tuple[float, Progress]) -> list[str]:
        file = io.StringIO()
        monkeypatch.setattr(terminal.log, "_file", file)
        with progress_bar() as watch:
            for seconds, report in reports:
                at[0] = seconds
                watch(report)
        return file.getvalue().splitlines()

    return run


def scored(n: int, of: int = 100) -> Progress:
    """So many texts, of ten characters each, are done."""
    return Progress("scoring", n, of, 10 * n, 10 * of)


def test_a_file_gets_a_line_for_each_phase(lines) -> None:
    assert lines(
        (0, Progress("opening the model")),
        (1, Progress("opening the model")),
        (5, Progress("checking the model")),
        (9, scored(0)),
    ) == ["Opening the model", "Checking the model", "Scoring: 0 of 100 texts"]


def test_a_file_gets_a_line_at_every_tenth_with_rate_and_time_left(lines) -> None:
    every = [(2.5 * n, scored(n)) for n in range(101)]
    found = lines(*((at + 100, report) for at, report in every))
    assert len(found) == 11
    assert found[0] == "Scoring: 0 of 100 texts"
    assert found[1] == "Scoring: 10 of 100 texts, 0.4/s, about 3 min 45 s left"
    assert found[-1] == "Scoring: 100 of 100 texts, 0.4/s"


def test_a_slow_job_gives_a_sign_of_life_every_half_minute(lines) -> None:
    found = lines(*((10.0 * n, scored(n, 1000)) for n in range(10)))
    assert [line.split(" of ")[0] for line in found] == [f"Scoring: {n}" for n in (0, 3, 6, 9)]


def test_a_short_job_says_few_lines(lines) -> None:
    found = lines(*((0.1 * n, scored(n)) for n in range(101)))
    assert 2 <= len(found) <= 6


def test_the_bar_is_drawn_on_a_terminal_and_leaves_no_line(monkeypatch) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=80, color_system=None)
    monkeypatch.setattr(progress, "log", console)
    with progress_bar() as watch:
        watch(Progress("opening the model"))
        watch(Progress("scoring", 0, 20, 0, 200))
        watch(scored(10, 20))
        console.file.flush()
    drawn = screen.getvalue()
    assert "10 of 20 texts, " in drawn
    assert drawn.endswith("\x1b[1A\x1b[2K")  # up one line, clear it

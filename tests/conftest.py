"""Fixtures that several test files ask for, and what counts as a failure where all must run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.cli.main import main
from core.settings import ROOT
from core.store.gate import Cache

Run = Callable[..., tuple[int, str, str]]
MUST_RUN = ("demo", "browser", "benchmarks")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """With CI set, skipping a test that needs the demo model, Chromium or data is a failure."""
    report = yield
    if (
        report.skipped
        and os.environ.get("CI")
        and any(item.get_closest_marker(m) for m in MUST_RUN)
    ):
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Keep `__main__`: AppTest leaves its script there, which a child process would run again."""
    main = sys.modules["__main__"]
    try:
        return (yield)
    finally:
        sys.modules["__main__"] = main


@pytest.fixture
def cache(tmp_path) -> Cache:
    """A cache that does not exist yet."""
    return Cache(tmp_path / "cache")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary, cache: Cache) -> Run:
    """`python -m core ...` on the cache: exit code, standard output and error."""
    monkeypatch.setenv("COLUMNS", "80")

    def command(*arguments: object) -> tuple[int, str, str]:
        words = ["core", *map(str, arguments), "--cache", str(cache.folder)]
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as ended:
            main()
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return int(ended.value.code or 0), out.decode(), err.decode()

    return command


@pytest.fixture(scope="session")
def models_folder() -> Path:
    """Where the demo model is converted once for all tests."""
    return ROOT / "cache" / "models"


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny llama, for tests that only read it."""
    from tests.tiny_models import save_tiny  # torch takes seconds, and not every test needs it
    from tests.tiny_tokenizers import byte_level_bpe

    folder = tmp_path_factory.mktemp("models") / "llama"
    return save_tiny(folder, "llama", byte_level_bpe(add_bos=True))


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Tiny models lose more than they gain by a second thread, most of all on a busy machine."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)

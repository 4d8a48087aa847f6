"""Fixtures that several test files ask for, and what counts as a failure where all must run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.settings import ROOT
from core.store.gate import Cache

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


@pytest.fixture
def cache(tmp_path) -> Cache:
    """A cache that does not exist yet."""
    return Cache(tmp_path / "cache")


@pytest.fixture(scope="session")
def models_folder() -> Path:
    """Where the demo model is converted once for all tests."""
    return ROOT / "cache" / "models"

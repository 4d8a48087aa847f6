"""Badges of what speaks against a flag: only where it is known, with its numbers."""

from __future__ import annotations

import numpy as np
import pytest

from core.analysis.heads.question import HeadsQuestion
from pages.shared.heads import warnings
from pages.shared.heads.warnings import remember_check, warning_badges

QUESTION = HeadsQuestion(reader_id="r", axes="a", concepts="c", reference="p")
LONG = {"length_r": -0.64, "length_qvalue": 0.0004}


@pytest.fixture(autouse=True)
def tab(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("STEREOSCOPE_CACHE", str(tmp_path))
    monkeypatch.setattr(warnings.st, "session_state", {})


def test_a_shown_correlation_with_length_is_a_badge_and_another_is_none() -> None:
    badge = warning_badges(QUESTION, "x", LONG)
    assert badge.startswith(":orange-badge[:material/warning: follows the phrases")
    assert "0\\.64" in badge and "0\\.0004" in badge
    assert warning_badges(QUESTION, "x", LONG | {"length_qvalue": 0.3}) == ""
    assert warning_badges(QUESTION, "x", {"length_r": np.nan, "length_qvalue": np.nan}) == ""
    assert warning_badges(QUESTION, "x", {}) == ""


def test_random_directions_are_told_once_they_are_checked_and_only_where_they_reach_it() -> None:
    found = {"n_directions": 200, "share": 0.34, "pvalue": 0.25}
    assert remember_check(QUESTION, "x", found)
    assert not remember_check(QUESTION, "x", found)  # the page need not run again
    assert "34 \\% of random directions are flagged" in warning_badges(QUESTION, "x", {})
    assert warning_badges(QUESTION, "y", {}) == ""
    remember_check(QUESTION, "x", found | {"pvalue": 0.01})
    assert warning_badges(QUESTION, "x", {}) == ""
    remember_check(QUESTION, "x", found | {"n_directions": 0, "pvalue": np.nan})
    assert warning_badges(QUESTION, "x", {}) == ""

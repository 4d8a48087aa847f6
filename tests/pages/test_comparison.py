"""The Items page with a second scorer: the summary of both over the whole data set."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from benchmarks.make_cache import DATASET, fill
from core.analysis.comparison import compare_scorers, comparison_sentence
from core.settings import ROOT
from core.store.gate import Cache
from core.store.generations import bump
from core.store.scorers import scorers


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    """A cache of two scorers, which the app shows."""
    monkeypatch.setenv("STEREOSCOPE_CACHE", str(tmp_path))
    fill(Cache(tmp_path), 2, 20)
    return Cache(tmp_path)


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
    for key, value in {"dataset": DATASET, **query}.items():
        app.query_params[key] = value
    return app.switch_page("pages/items.py").run()


def summaries(app: AppTest) -> list[pd.DataFrame]:
    assert not app.exception
    return [frame.value for frame in app.dataframe if "ss_b" in frame.value]


def test_the_summary_is_that_of_the_command_whatever_is_filtered(two: Cache) -> None:
    a, b = scorers(two)["scorer_id"]
    app = opened(scorer=a, compare=b, conditions="sw")
    expected = compare_scorers(two, a, b, DATASET)
    (shown,) = summaries(app)
    pd.testing.assert_frame_equal(shown, expected.summary[shown.columns])
    assert any(comparison_sentence(expected) in caption.value for caption in app.caption)


def test_new_scores_of_the_second_scorer_are_seen(two: Cache) -> None:
    a, b = scorers(two)["scorer_id"]
    app = opened(scorer=a, compare=b)
    before = summaries(app)[0]["ss_b"]
    with two.writing() as con:
        con.execute("UPDATE item_score SET l_anti = l_anti - 1 WHERE scorer_id = ?", [b])
        bump(con, [b], [DATASET])
    assert (summaries(app.run())[0]["ss_b"] > before).all()


def test_without_a_second_scorer_nothing_is_compared(two: Cache) -> None:
    assert summaries(opened()) == []

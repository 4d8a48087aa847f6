"""What the cache holds is told as of one moment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from core.analysis.overview import overview
from core.store.contents import contents
from core.store.gate import Cache
from core.store.items import coverage, datasets
from core.store.scorers import put_scorer, scorers
from core.store.scores import missing_texts, put_scores
from tests.store_samples import SCORER, filled, score_all


def test_contents_are_what_the_single_tables_say(cache: Cache) -> None:
    filled(cache)
    held = contents(cache)
    pd.testing.assert_frame_equal(held.datasets, datasets(cache))
    pd.testing.assert_frame_equal(held.scorers, scorers(cache))
    pd.testing.assert_frame_equal(held.coverage, coverage(cache))


@pytest.mark.parametrize("look", [contents, overview])
def test_a_scorer_that_arrives_meanwhile_is_in_every_table_or_in_none(
    cache: Cache, monkeypatch: pytest.MonkeyPatch, look: Any
) -> None:
    filled(cache)
    reading = Cache.reading
    n_openings = 0

    def arrive() -> None:
        scorer = replace(SCORER, fingerprint=f"f{n_openings}")
        put_scorer(cache, scorer)
        with monkeypatch.context() as undisturbed:
            undisturbed.setattr(Cache, "reading", reading)
            texts = missing_texts(cache, scorer.scorer_id, "d")
        put_scores(cache, scorer.scorer_id, score_all(texts))

    @contextmanager
    def disturbed(self: Cache) -> Iterator[Any]:
        nonlocal n_openings
        with reading(self) as con:
            yield con
        if self.connection is not None:
            return  # read from what is open already
        n_openings += 1
        arrive()

    monkeypatch.setattr(Cache, "reading", disturbed)
    held = look(cache)
    assert n_openings == 1
    assert set(held.coverage.scorer_id) - {""} <= set(held.scorers.scorer_id)

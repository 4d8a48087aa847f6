"""What the cache holds at one moment."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from core.store.fetch import frame
from core.store.gate import Cache
from core.store.items import COVERAGE, DATASETS
from core.store.scorers import SCORERS


@dataclass(frozen=True)
class Contents:
    """Tables that belong together: every scorer of the coverage is among the scorers."""

    datasets: pd.DataFrame  # as `datasets` gives them
    scorers: pd.DataFrame  # as `scorers`
    coverage: pd.DataFrame  # as `coverage`


def contents(cache: Cache) -> Contents:
    """Data sets, scorers and coverage from one opening, so that nothing changes in between."""
    with cache.reading() as con:
        return Contents(frame(con, DATASETS), frame(con, SCORERS), frame(con, COVERAGE))

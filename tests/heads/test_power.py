"""Power with the numbers of phrases of a question: known limits, and what is undefined."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from core.analysis.heads.power import SHIFTS, SPREADS, power_table
from core.analysis.heads.stored import compute_axes
from core.axes.concepts import Concept, ConceptSet
from core.store.axes import put_concepts
from core.store.gate import Cache
from tests.planted_cache import CONCEPTS, N_CONCEPTS
from tests.planted_heads import planted_heads
from tests.planted_labels import fill_labelled


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    cache = Cache(tmp_path_factory.mktemp("power"))
    return cache, fill_labelled(cache, planted_heads())


def test_power_is_that_of_as_many_phrases(planted):
    rows = power_table(compute_axes(*planted))
    assert len(rows) == len(SHIFTS) * len(SPREADS) and (rows["reason"] == "").all()
    assert (rows[["n_concepts", "n_reference"]] == N_CONCEPTS).all(axis=None)
    power = rows.set_index(["shift", "spread"])["power"]
    # Two rows of numbers, one moved by i places: D = i / 40, whose p scipy gives.
    row = np.arange(N_CONCEPTS)
    exact = [stats.ks_2samp(row, row + i - 0.5, method="exact").pvalue for i in range(1, 41)]
    size = max(p for p in exact if p < 0.05)
    assert power[0.0, 1.0] == pytest.approx(size, abs=4 * np.sqrt(size / 2_000))
    assert power[0.0, 1.0] < power[0.2, 1.0] < power[0.5, 1.0] < power[0.8, 1.0]
    assert power[0.0, 2.0] > power[0.0, 1.0] < power[0.0, 0.5]
    assert rows["error"].between(0, 0.0112).all()  # sqrt(.25 / 2,000)


def test_power_of_nothing_to_hold_against_is_undefined(planted):
    cache, question = planted
    rows = power_table(compute_axes(cache, replace(question, reference="")))
    assert rows["power"].isna().all()
    assert set(rows["reason"]) == {"no reference phrases were chosen"}
    put_concepts(cache, ConceptSet("one", (Concept(f"{CONCEPTS} 1"),)))
    rows = power_table(compute_axes(cache, replace(question, concepts="one")))
    assert rows["power"].isna().all() and set(rows["reason"]) == {"too few phrases"}

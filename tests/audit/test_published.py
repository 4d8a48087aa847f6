"""The published cells of "Lost in Translation" (arXiv 2610.20479): reliable ones, and the drops."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.audit.cells import judged
from core.analysis.audit.main import language_drops
from core.items.conditions import normalise_condition

pytestmark = [
    pytest.mark.benchmarks,
    pytest.mark.skipif(
        not os.environ.get("STEREOSCOPE_BENCHMARKS"), reason="STEREOSCOPE_BENCHMARKS is not set"
    ),
]

DROPS = {  # drop, interval, cells that drop reliably: soft, binary
    "es": (0.0066, 0.0025, 0.0108, 0, 1),
    "fr": (0.0166, 0.0123, 0.0208, 1, 2),
    "zh": (0.0193, 0.0116, 0.0271, 3, 8),
    "ar": (0.0196, 0.0121, 0.0270, 5, 6),
    "ko": (0.0255, 0.0164, 0.0346, 5, 7),
    "sw": (0.0289, 0.0166, 0.0412, 6, 9),
    "hi": (0.0299, 0.0216, 0.0383, 8, 6),
}


@pytest.fixture(scope="module")
def published() -> pd.DataFrame:
    folder = Path(os.environ["STEREOSCOPE_BENCHMARKS"]) / "multilingual_audit"
    table = pd.read_csv(folder / "cell_tests.csv").rename(
        columns={
            "language": "condition",
            "mean_d": "mean_change",
            "p_perm": "pvalue",
            "mean_d_bin": "mean_change_binary",
            "p_perm_bin": "pvalue_binary",
        }
    )
    return table.assign(condition=table["condition"].map(normalise_condition))


def test_the_reliable_cells_are_the_published_ones(published: pd.DataFrame) -> None:
    found = judged(published)
    # The file has ten digits, and a p-value of rank r is multiplied by 70 / r.
    np.testing.assert_allclose(found["qvalue"], published["q_bh"], rtol=0, atol=4e-9)
    np.testing.assert_allclose(found["qvalue_binary"], published["q_bh_bin"], rtol=0, atol=4e-9)
    assert (found["n_tests"] == 70).all()
    assert (found["reliable"].sum(), found["reliable_binary"].sum()) == (28, 39)
    assert found["reliable_rise"].sum() == found["reliable_rise_binary"].sum() == 0


@pytest.mark.parametrize("language", DROPS)
def test_the_drops_are_the_published_ones(published: pd.DataFrame, language: str) -> None:
    row = language_drops(judged(published)).set_index("condition").loc[language]
    drop, low, high, soft, binary = DROPS[language]
    assert (round(row["drop"], 4), row["n_models"]) == (drop, 10)
    assert (round(row["drop_low"], 4), round(row["drop_high"], 4)) == (low, high)
    assert (row["n_reliable"], row["n_reliable_binary"]) == (soft, binary)

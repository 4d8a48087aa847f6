"""False discovery rate against scipy and statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy import stats

from core.stats.multiple import benjamini_hochberg

NAN = float("nan")
pvalues = st.lists(st.floats(0, 1), min_size=1, max_size=60)


@given(pvalues)
def test_adjusted_pvalues_equal_scipys(p: list[float]) -> None:
    assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p), abs=1e-12)


def test_adjusted_pvalues_equal_those_of_statsmodels() -> None:
    from statsmodels.stats.multitest import multipletests

    p = np.random.default_rng(0).beta(0.4, 2, 70)
    _, expected, _, _ = multipletests(p, method="fdr_bh")
    assert benjamini_hochberg(p) == pytest.approx(expected, abs=1e-14)


def test_adjusted_pvalues_equal_hand_values() -> None:
    # m = 4: .01*4/1, .02*4/2, .04*4/3, .9*4/4
    assert benjamini_hochberg([0.9, 0.04, 0.01, 0.02]) == pytest.approx([0.9, 0.16 / 3, 0.04, 0.04])


def test_a_missing_pvalue_leaves_the_others_adjusted_by_their_number() -> None:
    # m = 2: .01*2/1, .04*2/2
    assert benjamini_hochberg([0.01, NAN, 0.04]).tolist() == pytest.approx(
        [0.02, NAN, 0.04], nan_ok=True
    )


@given(pvalues, st.data())
def test_a_missing_pvalue_is_no_test(p: list[float], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(p)))
    found = benjamini_hochberg([*p[:at], NAN, *p[at:]])
    assert np.isnan(found[at])
    assert np.delete(found, at).tolist() == benjamini_hochberg(p).tolist()


@given(npst.arrays(np.float64, (3, 4), elements=st.floats(0, 1)))
def test_the_shape_does_not_matter(p: np.ndarray) -> None:
    found = benjamini_hochberg(p)
    assert found.shape == (3, 4)
    assert found.ravel().tolist() == benjamini_hochberg(p.ravel()).tolist()


@pytest.mark.parametrize("p", [[], [NAN], [NAN, NAN]])
def test_no_test_gives_no_result(p: list[float]) -> None:
    found = benjamini_hochberg(p)
    assert found.shape == (len(p),)
    assert np.isnan(found).all()


@pytest.mark.parametrize("p", [-0.1, 1.1, float("inf")])
def test_what_is_no_probability_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        benjamini_hochberg([0.5, p])

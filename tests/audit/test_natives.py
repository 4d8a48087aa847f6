"""Natives: scored like translations, and never compared with them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.analysis.audit.natives import natives
from core.analysis.audit.request import AuditRequest
from tests.made_panels import made_panel

NAN = float("nan")
D = AuditRequest(dataset="made", n_resamples=2000, n_bootstrap=2000)


def drawn(n_models: int, n_items: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.1, 0.9, (n_models, n_items))


@pytest.mark.parametrize("kind", ["mean", "summed", "per_code_point", "binary", "standardised"])
def test_natives_are_scored_like_translations(kind: str) -> None:
    own = drawn(2, 7, 5)
    own[1, 3] = NAN
    twins = made_panel({"en": drawn(2, 7), "hi": own})
    with_natives = made_panel({"en": drawn(2, 7), "hi": own}, natives={"hi": own, "sw": own})
    request = AuditRequest(dataset="made", kind=kind)
    found = natives(with_natives, request).rows
    assert found["condition"].tolist() == ["hi", "sw"] * 2
    expected = np.nanmean(twins.scores(kind)[:, twins.at("hi")], axis=1)
    assert found["score"].tolist() == pytest.approx(np.repeat(expected, 2).tolist())
    hindi = found[found["condition"] == "hi"]
    assert hindi["score_translated"].tolist() == pytest.approx(expected.tolist())
    assert hindi["n"].tolist() == hindi["n_translated"].tolist() == [7, 6]
    swahili = found[found["condition"] == "sw"]
    assert swahili["n_translated"].tolist() == [0, 0]
    assert swahili["score_translated"].isna().all()


def test_natives_that_nobody_scored_and_no_natives() -> None:
    row = natives(made_panel({"en": drawn(1, 3)}, natives={"hi": [[NAN, NAN]]}), D).rows.iloc[0]
    assert (row["n"], math.isnan(row["score"]), row["reason"] != "") == (0, True, True)
    nothing = natives(made_panel({"en": drawn(1, 3)}), D)
    assert nothing.rows.empty
    assert len(nothing.notes) == 1


def test_collapsed_natives_do_not_count() -> None:
    panel = made_panel({"en": drawn(1, 3)}, natives={"hi": [[0.2, 0.6]]})
    panel.versions.loc[panel.versions["item_id"] == "native-hi-0", "collapsed"] = True
    row = natives(panel, D).rows.iloc[0]
    assert (row["n"], row["score"]) == (1, pytest.approx(0.6))

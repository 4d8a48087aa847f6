"""Whatever is missing, no table raises or warns, and each undefined number has its reason."""

from __future__ import annotations

import numpy as np
import pytest

from core.analysis.audit import alike, carry_over, ceiling, choices, quality, surface
from core.analysis.audit.request import AuditRequest
from core.stats.scores import KINDS
from core.store.gate import Cache
from tests.store_samples import item, put
from tests.thin_panels import MOST_ITEMS, thin_panel

NUMBERS = {
    carry_over.association: ("r", "r_low", "slope", "intercept_at_half", "r_within"),
    carry_over.intercept: ("intercept_at_half", "intercept_at_half_low"),
    choices.same_choice: ("same_choice", "same_choice_expected", "kappa"),
    choices.fates: ("share_kept", "share_kept_below"),
    choices.distance: ("distance", "distance_original"),
    ceiling.attenuation: ("r_ratio", "r_corrected"),
    quality.quality: ("drop", "drop_low"),
    alike.agreement: ("r_scores", "r_changes", "r_residuals"),
    surface.surface: ("r2", "r_residuals", "drop", "drop_equal_low"),
}


@pytest.fixture(scope="module")
def texts(tmp_path_factory) -> Cache:
    """A cache that has the texts of the items, and no scores."""
    cache = Cache(tmp_path_factory.mktemp("texts"))
    put(cache, [item(f"i{n}", c) for c in ("en", "es", "hi") for n in range(MOST_ITEMS)], "made")
    return cache


@pytest.mark.parametrize("seed", range(30))
def test_every_undefined_number_has_its_reason(texts, seed):
    panel = thin_panel(seed)
    request = AuditRequest(dataset="made", n_bootstrap=20, kind=KINDS[seed % len(KINDS)])
    for table, numbers in NUMBERS.items():
        also = (texts,) if table is surface.surface else ()
        rows = table(panel, request, *also).rows
        rows = rows[rows["kind"] != "similarity"] if table is quality.quality else rows
        undefined = rows[list(numbers)].isna().any(axis=1)
        assert (rows.loc[undefined, "reason"] != "").all(), rows[undefined].to_dict("records")


def test_panels_are_as_thin_as_they_should_be():
    panels = [thin_panel(seed) for seed in range(30)]
    assert {len(p.models) for p in panels} == {1, 2, 3}
    assert any(not p.languages for p in panels)
    assert any(p.languages and not p.rewordings() for p in panels)
    assert any(np.isnan(p.scores("mean")[:, p.english]).all() for p in panels)

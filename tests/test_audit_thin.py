"""Whatever is missing, no table raises or warns, and each undefined number has its reason."""

from __future__ import annotations

import numpy as np
import pytest

from core.analysis.audit import alike, carry_over, ceiling, choices, quality, surface
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import KINDS, AuditRequest
from core.store.gate import Cache
from tests.made_panels import made_panel
from tests.store_samples import item, put

CONDITIONS = ("es", "sw", "en~a", "en~b", "es~a", "sw~b", "en+x", "es+x")
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


def thin_panel(rng: np.random.Generator) -> Panel:
    """Few models and items, constant and missing scores, conditions and metadata at random."""
    n_items = int(rng.integers(1, 9))
    shape = int(rng.integers(1, 4)), n_items
    scores = {}
    for condition in ("en", *(c for c in CONDITIONS if rng.random() < 0.6)):
        ss = rng.choice([0.2, 0.45, 0.5, 0.55, 0.8], shape)
        ss = ss if rng.random() < 0.5 else rng.uniform(0.1, 0.9, shape)
        ss = ss if rng.random() < 0.7 else np.full(shape, 0.5)
        ss[rng.random(shape) < rng.choice([0, 0.3, 0.9, 1])] = np.nan
        scores[condition] = ss
    panel = made_panel(
        scores,
        judgments={c: rng.choice(["preserved", "lost", "", "odd"], n_items) for c in scores},
        fields={"source": rng.choice(["bbq", "stereoset", ""], n_items).tolist()},
    )
    for metadata in panel.versions["metadata"]:
        if rng.random() < 0.5:
            metadata |= {"similarity": rng.random(), "unchanged": rng.choice([0.0, 0.5])}
            metadata |= {"blank_survived": bool(rng.random() < 0.5)}
    return panel


@pytest.fixture(scope="module")
def texts(tmp_path_factory) -> Cache:
    """A cache that has the texts of nine items, and no scores."""
    cache = Cache(tmp_path_factory.mktemp("texts"))
    put(cache, [item(f"i{n}", c) for c in ("en", "es", "sw") for n in range(9)], "made")
    return cache


@pytest.mark.parametrize("seed", range(30))
def test_every_undefined_number_has_its_reason(texts, seed):
    panel = thin_panel(np.random.default_rng(seed))
    request = AuditRequest(dataset="made", n_bootstrap=20, kind=KINDS[seed % len(KINDS)])
    for table, numbers in NUMBERS.items():
        also = (texts,) if table is surface.surface else ()
        rows = table(panel, request, *also).rows
        rows = rows[rows["kind"] != "similarity"] if table is quality.quality else rows
        undefined = rows[list(numbers)].isna().any(axis=1)
        assert (rows.loc[undefined, "reason"] != "").all(), rows[undefined].to_dict("records")


def test_panels_are_as_thin_as_they_should_be():
    panels = [thin_panel(np.random.default_rng(seed)) for seed in range(30)]
    assert {len(p.models) for p in panels} == {1, 2, 3}
    assert any(not p.languages for p in panels)
    assert any(p.languages and not p.rewordings() for p in panels)
    assert any(np.isnan(p.scores("mean")[:, p.english]).all() for p in panels)

"""Whatever is missing, no table raises or warns, and each undefined number has its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.analysis.audit import injection, power
from core.analysis.audit.audit import TABLES, Audit, audit
from core.analysis.audit.control import NO_CONTROL
from core.analysis.audit.names import NO_REWORDING, NO_TRANSLATION, ONLY_PAIRS
from core.analysis.audit.natives import NONE
from core.analysis.audit.quality import NO_METADATA
from core.analysis.audit.request import AuditRequest, AuditTable
from core.items.metadata import BLANK_SURVIVED, JUDGMENT, SIMILARITY
from core.stats.scores import KINDS
from core.store.gate import Cache
from tests.store_samples import put
from tests.thin_caches import DATASET, thin_caches
from tests.thin_panels import MOST_ITEMS, tables_of, texts_of, thin_panel

REQUEST = AuditRequest(dataset=DATASET, n_resamples=100, n_bootstrap=20)
CACHES = (
    *("one model", "one language", "one of each", "no rewording", "no translation"),
    *("only English", "rewordings of a translation alone", "a prefix alone", "no English twin"),
    *("one item", "two items", "no change", "no preference", "no score but in English"),
    *("other items in each model", "only sentence pairs"),
)
PAIRS = "only sentence pairs"

# Where a table has several kinds of rows: the column that tells them apart, and what a kind is not
# about, so that it stays empty there.
NOT_ABOUT = {
    "quality": (
        "kind",
        {
            "judgment": "similarity drop_rows_unfiltered reduction reduction_low reduction_high",
            "filter": "similarity",
            "similarity": "n_languages n_rows drop_rows drop_rows_low drop_rows_high "
            "drop_rows_unfiltered reduction reduction_low reduction_high n_undefined n_bootstrap",
        },
    ),
    "groups": (
        "kind",
        {
            "ols": "n_groups n_labelings exact",
            "kruskal_wallis": "estimate error low high n_labelings exact",
            "label_permutation": "estimate error low high",
        },
    ),
    "floor_vs_gap": ("unit", {"model": "floor_of_mean", "language": "floor"}),
    "control": ("unit", {"model": "sd_models", "all models": "sd"}),
    "fragility": (
        "check",
        {
            "leave_out": "kind items corrected estimator main item_ids qvalue",
            "fewest_items": "value kind items corrected estimator main qvalue",
            "specification": "value n_items share_items item_ids flips",
            "item": "kind items corrected estimator main n_items share_items item_ids flips "
            "n_resamples",
        },
    ),
    "injection": (
        "check",
        {
            "injection": "rejection_rate rejection_error rejection_any rejection_any_error",
            "size": "delta shift detection detection_error flags_among_rest exaggeration "
            "n_detected",
        },
    ),
    "wording_variance": (
        "unit",
        {
            "rewordings": "outside pvalue_prediction qvalue_prediction pvalue_exchange "
            "qvalue_exchange",
        },
    ),
    # q is over the errors and languages, without the rows over all languages.
    "pipeline_errors": ("condition", {"all": "moved_qvalue moved_qvalue_binary"}),
    # Natives stand beside translations only where there are some: `n_translated` counts them.
    "natives": ("n_translated", {"0": "score_translated score_translated_binary"}),
}


@pytest.fixture(autouse=True)
def few_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power, "POWER_WORLDS", 20)
    monkeypatch.setattr(power, "POWER_DRAWS", 99)
    monkeypatch.setattr(injection, "N_SIZE_WORLDS", 3)
    monkeypatch.setitem(injection.injection.__kwdefaults__, "n_runs", 2)


@pytest.fixture(scope="module")
def caches(tmp_path_factory) -> dict[str, Cache]:
    return thin_caches(tmp_path_factory.mktemp("thin"))


def without_reason(name: str, rows: pd.DataFrame) -> list[str]:
    """Columns with a number missing in a row that says nothing of it."""
    column, not_about = NOT_ABOUT.get(name, ("reason", {}))
    found = []
    for row in rows[rows["reason"] == ""].to_dict("records"):
        exempt = not_about.get(str(row[column]), "").split()
        found += [key for key, value in row.items() if key not in exempt and missing(value)]
    return sorted(set(found))


def undefined_without_reason(tables: Mapping[str, AuditTable]) -> dict[str, list[str]]:
    """By table."""
    found = {n: without_reason(n, t.rows) for n, t in tables.items()}
    return {name: columns for name, columns in found.items() if columns}


def missing(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value))


def check(found: Audit) -> None:
    """Every table is there; what is empty says why, and what is undefined too."""
    assert list(found.tables) == list(TABLES)
    whys = {NO_TRANSLATION, ONLY_PAIRS.format(DATASET), NO_REWORDING, NO_CONTROL, NONE}
    whys |= {NO_METADATA.format(name) for name in (JUDGMENT, SIMILARITY, BLANK_SURVIVED)}
    for name, table in found.tables.items():
        if table.rows.empty:
            assert whys & set(table.notes), f"{name} is empty and does not say why: {table.notes}"
        assert len(set(table.notes)) == len(table.notes), name
    assert undefined_without_reason(found.tables) == {}


def test_the_caches_are_those_of_the_list(caches: dict[str, Cache]) -> None:
    assert tuple(caches) == CACHES


@pytest.mark.parametrize("kind", ["mean", "standardised"])
@pytest.mark.parametrize("lacks", CACHES)
def test_every_table_of_a_thin_cache_says_what_it_lacks(
    caches: dict[str, Cache], lacks: str, kind
) -> None:
    check(audit(caches[lacks], replace(REQUEST, kind=kind)))


def test_every_table_of_sentence_pairs_points_to_where_pairs_are_compared(
    caches: dict[str, Cache],
) -> None:
    found = audit(caches[PAIRS], REQUEST)
    assert found.only_pairs
    pointer = ONLY_PAIRS.format(DATASET)
    silent = {name for name, table in found.tables.items() if pointer not in table.notes}
    assert not silent


@pytest.fixture(scope="module")
def texts(tmp_path_factory) -> Cache:
    """A cache that has the texts of the items, and no scores."""
    cache = Cache(tmp_path_factory.mktemp("texts"))
    put(cache, texts_of(MOST_ITEMS), "made")
    return cache


@pytest.mark.parametrize("seed", range(20))
def test_every_undefined_number_has_its_reason(texts: Cache, seed: int) -> None:
    request = replace(REQUEST, dataset="made", kind=KINDS[seed % len(KINDS)])
    assert undefined_without_reason(tables_of(thin_panel(seed), request, texts)) == {}


def test_panels_are_as_thin_as_they_should_be() -> None:
    panels = [thin_panel(seed) for seed in range(30)]
    assert {len(p.models) for p in panels} == {1, 2, 3}
    assert any(not p.languages for p in panels)
    assert any(p.languages and not p.rewordings() for p in panels)
    assert any(np.isnan(p.scores("mean")[:, p.english]).all() for p in panels)

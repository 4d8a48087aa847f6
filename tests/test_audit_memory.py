"""What an audit remembers between questions, and that its tables agree with each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.simulated_audit import DATASET, fill_audit
from core.analysis.audit import audit as module
from core.analysis.audit.audit import TABLES, audit_tables
from core.analysis.audit.request import AuditRequest, ScoreKind
from core.store.gate import Cache

FEW = AuditRequest(dataset=DATASET, n_resamples=300, n_bootstrap=200)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    folder: Path = tmp_path_factory.mktemp("audit")
    fill_audit(Cache(folder), n_items=12)
    return Cache(folder)


def test_the_scores_are_read_once_for_all_options(cache: Cache, monkeypatch) -> None:
    audit_tables(cache, FEW, ["score_map"])
    monkeypatch.setattr(module, "load_panel", lambda *_: pytest.fail("read again"))
    for options in ({"kind": "binary"}, {"margin": 0.5}, {"seed": 3}, {"n_bootstrap": 100}):
        audit_tables(cache, replace(FEW, **options), ["score_map", "equivalence"])


def test_only_the_tables_that_use_the_margin_know_of_it(cache: Cache) -> None:
    """A table that came to use it would be remembered wrongly: it must be named beside them."""
    panel = module.audit_panel(cache, FEW)
    names = [name for name, step in module._STEPS.items() if not step.reads_cache]
    wide = replace(FEW, margin=0.5)
    for name in names:
        step = module._STEPS[name]
        if name in module._OF_THE_MARGIN or name not in TABLES:
            continue
        assert not set(step.needs) & set(module._OF_THE_MARGIN), name
        earlier = [module._table(cache, module._state(cache, FEW), FEW, n) for n in step.needs]
        one, other = (step.function(panel, request, *earlier) for request in (FEW, wide))
        pd.testing.assert_frame_equal(one.rows, other.rows)
        assert one.notes == other.notes, name


def test_another_margin_is_another_verdict(cache: Cache) -> None:
    names = ["verdicts", "equivalence"]
    narrow, wide = (audit_tables(cache, replace(FEW, margin=m), names) for m in (0.001, 0.9))
    assert narrow["verdicts"].rows["margin"].eq(0.001).all()
    assert wide["verdicts"].rows["margin"].eq(0.9).all()
    assert narrow["equivalence"].notes != wide["equivalence"].notes
    assert wide["verdicts"].rows["verdict"].isin(["equivalent", "real but small"]).all()


@pytest.mark.parametrize("kind", ["mean", "summed", "per_code_point", "binary"])
def test_the_main_table_has_the_interval_of_the_verdict(cache: Cache, kind: ScoreKind) -> None:
    found = audit_tables(cache, replace(FEW, kind=kind), ["main", "verdicts"])
    main, verdicts = (found[name].rows.set_index("condition") for name in ("main", "verdicts"))
    main = main.loc[verdicts.index]
    for name, other in (
        ("drop_items", "drop"),
        ("drop_items_low", "drop_low"),
        ("drop_items_high", "drop_high"),
    ):
        np.testing.assert_allclose(main[name], verdicts[other], rtol=0, atol=1e-12)

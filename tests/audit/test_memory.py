"""What an audit remembers between questions, and that its tables agree with each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.simulated_audit import DATASET, fill_audit
from core.analysis.audit import audit as module
from core.analysis.audit.audit import audit, audit_panel, audit_tables
from core.analysis.audit.lab import open_lab
from core.analysis.audit.lab_shift import Shift, inject
from core.analysis.audit.names import POOLED, REWORDING
from core.analysis.audit.request import AuditRequest
from core.stats.scores import KINDS, ScoreKind
from core.store.audit import item_versions
from core.store.gate import Cache
from core.store.generations import bump
from core.store.slices import Slice, put_slice

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


def test_a_cache_that_nobody_writes_to_is_opened_once(cache: Cache, monkeypatch) -> None:
    before = audit(cache, FEW, ["item_flow"])
    monkeypatch.setattr(Cache, "reading", lambda *_: pytest.fail("opened again"))
    after = audit(cache, FEW, ["item_flow"])
    pd.testing.assert_frame_equal(before.tables["item_flow"].rows, after.tables["item_flow"].rows)


def test_a_slice_that_is_defined_anew_is_another_question(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    fill_audit(cache, n_items=12)
    few = replace(FEW, slice="few")
    items = item_versions(cache, DATASET)["item_id"].unique()
    for n in (1, 3):
        put_slice(cache, Slice("few", DATASET, "", tuple(items[:n])), replace=True)
        assert len(audit_panel(cache, few).items) == n


def test_a_shift_is_put_in_again_only_where_something_is_different(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    fill_audit(cache, n_items=12)
    lab, shift = open_lab(cache, FEW), Shift(delta=0.3)
    found = inject(lab, shift, 0.02)
    assert inject(open_lab(cache, FEW), Shift(delta=0.3), 0.02) is found
    others = ((Shift(delta=0.35), 0.02), (Shift(delta=0.3, share=0.5), 0.02), (shift, 0.5))
    for other, margin in others:
        assert not inject(lab, other, margin).rows.equals(found.rows)
    shown, item = found.shown, str(found.items["item_id"].iloc[0])
    with cache.writing() as con:
        con.execute(
            "UPDATE item_score SET l_stereotype = l_stereotype - 1 "
            "WHERE scorer_id = ? AND condition = ? AND item_id = ?",
            [shown["scorer_id"], shown["condition"], item],
        )
        bump(con, [shown["scorer_id"]], [DATASET])
    changed = inject(open_lab(cache, FEW), shift, 0.02).items
    differs = changed["after"] != found.items["after"]
    assert changed.loc[differs, "item_id"].tolist() == [item]


def test_only_the_tables_that_use_the_margin_know_of_it(cache: Cache) -> None:
    """A table that came to use it would be remembered wrongly: it must be named beside them."""
    panel = module.audit_panel(cache, FEW)
    wide = replace(FEW, margin=0.5)
    for name, step in (module._STEPS | module._BETWEEN).items():
        if name in module._OF_THE_MARGIN or step.reads_cache:
            continue
        assert not set(step.needs) & set(module._OF_THE_MARGIN), name
        earlier = [module._table(cache, module.state_of(cache, FEW), FEW, n) for n in step.needs]
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


@pytest.mark.parametrize("kind", KINDS)
def test_every_table_shows_the_same_numbers_of_a_language(cache: Cache, kind: ScoreKind) -> None:
    """Not almost the same: a reader sets the tables side by side."""
    names = ["main", "item_tests", "score_panel", "verdicts"]
    found = {n: t.rows for n, t in audit_tables(cache, replace(FEW, kind=kind), names).items()}
    tests = found["item_tests"]
    tests = tests[(tests["group_kind"] == "all") & (tests["condition"] != POOLED)]
    tests = tests.set_index("condition").rename(columns={"n": "n_t", "n_drop": "n"})
    main = found["main"][found["main"]["condition"] != REWORDING].set_index("condition")
    own = {name: f"drop_items{name[4:]}" for name in ("drop", "drop_low", "drop_high")}
    main = main.drop(columns=[*own, "n"]).rename(columns={v: k for k, v in own.items()})
    others = {
        "main": main.rename(columns={"n_items": "n"}),
        "score_panel": found["score_panel"].query("kind == @kind").set_index("condition"),
        "verdicts": found["verdicts"].set_index("condition"),
    }
    numbers = ["drop", "drop_low", "drop_high", "n", "t", "t_low", "t_high", "qvalue"]
    also = {"main": [], "score_panel": ["t90_low", "t90_high", "n_t", "pvalue"]}
    also["verdicts"] = also["score_panel"]
    assert tests[numbers].notna().all().all()
    for name, rows in others.items():
        columns = numbers + also[name]
        assert rows.index.tolist() == tests.index.tolist()
        assert rows[columns].to_numpy(float).tolist() == tests[columns].to_numpy(float).tolist()


def test_a_standardised_drop_over_models_is_that_over_items(cache: Cache) -> None:
    """Where every model has scored all items, no matter how each is standardised."""
    main = audit_tables(cache, replace(FEW, kind="standardised"), ["main"])["main"].rows
    main = main[main["condition"] != REWORDING]
    np.testing.assert_allclose(main["drop"], main["drop_items"], rtol=1e-9)

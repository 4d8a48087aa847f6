"""The audit as a whole: which tables there are, what is remembered, and what thin data give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from core.analysis.audit import audit as module
from core.analysis.audit.audit import TABLES, audit, audit_panel, audit_tables
from core.analysis.audit.names import NOTHING_CHANGES
from core.analysis.audit.request import AuditRequest
from core.errors import InputError
from core.items.texts import item_texts
from core.store.gate import Cache
from core.store.generations import bump
from core.store.scorers import put_scorer
from core.store.scores import put_scores
from core.store.slices import Slice, put_slice
from core.types import Item, Role, Scorer
from tests.analysis.test_comparison import COLLAPSED, A, B, put_preferences
from tests.analysis.test_items import scored
from tests.store_samples import OTHER, SCORER, item, put

FEW = AuditRequest(dataset="d", n_resamples=200, n_bootstrap=50)
CONDITIONS = ("en", "en~p1", "en~p2", "hi", "es")


def small(cache: Cache, n: int = 5, conditions: tuple[str, ...] = CONDITIONS) -> list[Item]:
    """Two models on n items, scored around a preference that carries over."""
    rng = np.random.default_rng(n)
    rows = [
        item(str(i), c, source=("bbq", "written")[i % 2], category="age", dimension="warmth")
        for c in conditions
        for i in range(n)
    ]
    put(cache, rows, replace=True)
    for scorer in (SCORER, OTHER):
        leaning = rng.normal(0.3, 0.5, n)
        put_preferences(
            cache,
            scorer,
            [(one, float(leaning[int(one.item_id)] + rng.normal(0, 0.2))) for one in rows],
        )
    return rows


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    """A small audit that lacks nothing, to be read alone; the slice `one` holds one item."""
    cache = Cache(tmp_path_factory.mktemp("audit") / "cache")
    small(cache, 8)
    put_slice(cache, Slice("one", "d", "", ("3",)))
    return cache


# Names


def test_the_tables_have_their_names_in_order() -> None:
    assert (
        *("item_flow", "main", "cells", "score_map", "floors", "floor_vs_gap", "item_tests"),
        *("css_clci", "association", "same_choice", "fates", "agreement", "distance"),
        *("intercept", "quality", "surface", "groups", "bbq_unknown", "fluency_icat", "natives"),
        *("score_panel", "injection", "power", "control", "pipeline_errors", "equivalence"),
        *("wording_variance", "attenuation", "shrunk", "crossed", "fragility", "verdicts"),
    ) == TABLES


def test_an_unknown_table_is_one_sentence(whole: Cache) -> None:
    with pytest.raises(InputError, match="has no table nope; choose from: item_flow, main"):
        audit_tables(whole, FEW, ["cells", "nope"])


def test_only_what_was_asked_for_is_computed(whole: Cache, monkeypatch) -> None:

    def refuse(*_: object) -> None:
        raise AssertionError("computed without need")

    needed = {"main", *module._STEPS["main"].needs}
    for name in set(module._STEPS) - needed:
        monkeypatch.setitem(module._STEPS, name, module._Step(refuse))
    assert list(audit_tables(whole, FEW, ["main"])) == ["main"]


MADE_ELSEWHERE = ("main", "shrunk")  # their q are those of item_tests and cells


def test_every_q_stands_beside_the_number_of_its_tests(whole: Cache) -> None:
    for name, table in audit_tables(whole, FEW, TABLES).items():
        rows = table.rows
        for column in rows.columns[rows.columns.str.contains("qvalue")]:
            if name not in MADE_ELSEWHERE:
                counted = rows[column.replace("qvalue", "n_tests")]
                assert (counted[rows[column].notna()] >= 1).all(), (name, column)
    floors = audit_tables(whole, FEW, ["floors"])["floors"].rows
    assert (floors["n_tests"] == 2 * 2).all(), "two models, two rewordings"


# What is remembered


def test_the_same_question_is_computed_once(whole: Cache, monkeypatch) -> None:
    first = audit_tables(whole, FEW, ["cells", "score_map"])
    monkeypatch.setattr(module, "load_panel", lambda *_: pytest.fail("read again"))
    again = audit_tables(Cache(whole.folder), replace(FEW), ["score_map", "cells"])
    for name, table in first.items():
        pd.testing.assert_frame_equal(table.rows, again[name].rows)


def test_a_table_handed_out_can_be_changed_without_harm(whole: Cache) -> None:
    first = audit_tables(whole, FEW, ["score_map"])["score_map"].rows
    expected = first.copy()
    first["score"] = 7.0
    pd.testing.assert_frame_equal(
        audit_tables(whole, FEW, ["score_map"])["score_map"].rows, expected
    )


def test_another_option_is_another_question(whole: Cache) -> None:
    def pvalues(request: AuditRequest) -> list[float]:
        return audit_tables(whole, request, ["cells"])["cells"].rows["pvalue"].tolist()

    few = replace(FEW, n_resamples=100)  # 2^8 is more: the signs are drawn
    assert pvalues(few) != pvalues(replace(few, seed=1))
    assert pvalues(few) != pvalues(replace(few, scorers=(B, A)))
    assert len(pvalues(replace(few, conditions=("hi",)))) == 2


def put_numbers(cache: Cache, scorer: Scorer, items: list[Item], preferences: np.ndarray) -> None:
    """Item scores as another program hands them over: means alone."""
    columns = {
        "item_id": pa.array([one.item_id for one in items]),
        "condition": pa.array([one.condition for one in items]),
        "l_stereotype": pa.array(preferences - 2.0),
        "l_anti": pa.array(np.full(len(items), -2.0)),
    }
    put_scorer(cache, scorer)
    with cache.writing() as con:
        con.register("rows", pa.table(columns))
        con.execute(
            "INSERT INTO item_score BY NAME SELECT ? AS scorer_id, 'd' AS dataset, *, "
            "[]::VARCHAR[] AS flags FROM rows",
            [scorer.scorer_id],
        )
        bump(con, [scorer.scorer_id], ["d"])


def test_one_item_of_60_000_rows_that_changes_is_noticed(cache: Cache) -> None:
    """Whoever remembers by the content of large tables looks at a sample of them."""
    n_items, n_models = 3_000, 10
    items = [item(f"{i:04d}", c) for c in ("en", "hi") for i in range(n_items)]
    put(cache, items)
    rng = np.random.default_rng(0)
    models = [replace(SCORER, fingerprint=str(m)) for m in range(n_models)]
    for model in models:
        put_numbers(cache, model, items, rng.normal(0.2, 1, len(items)))

    def scores() -> pd.Series:
        rows = audit_tables(cache, FEW, ["score_map"])["score_map"].rows
        assert rows["n"].sum() == 60_000
        return rows.set_index(["scorer_id", "condition"])["score"]

    before = scores()
    pd.testing.assert_series_equal(scores(), before)
    changed, place = models[7].scorer_id, items[4_321]
    with cache.writing() as con:
        con.execute(
            "UPDATE item_score SET l_stereotype = l_stereotype + 3 "
            "WHERE scorer_id = ? AND item_id = ? AND condition = ?",
            [changed, place.item_id, place.condition],
        )
        bump(con, [changed], ["d"])
    after = scores()
    differs = before[before != after]
    assert differs.index.tolist() == [(changed, "hi")]
    assert abs(before - after).max() < 1 / n_items


def test_scores_that_arrive_are_noticed(cache: Cache) -> None:
    rows = small(cache, 5, ("en", "hi"))
    new = [item("new"), item("new", "hi")]
    assert len(audit_panel(cache, FEW).items) == 5
    put(cache, [*rows, *new], replace=True)
    assert np.isfinite(audit_panel(cache, FEW).scores("mean")[:, 0]).sum() == 10
    texts = item_texts(new[0])
    both = [scored(texts[role].text_id, -1.0) for role in (Role.STEREOTYPE, Role.ANTI_STEREOTYPE)]
    put_scores(cache, A, both)
    assert np.isfinite(audit_panel(cache, FEW).scores("mean")[:, 0]).sum() == 11


def test_a_slice_of_the_same_name_with_other_items_is_another_question(cache: Cache) -> None:
    small(cache, 5, ("en", "hi"))
    request = replace(FEW, slice="s")
    put_slice(cache, Slice("s", "d", "", ("1", "2")))
    assert audit_panel(cache, request).item_ids == ["1", "2"]
    put_slice(cache, Slice("s", "d", "", ("3",)), replace=True)
    assert audit_panel(cache, request).item_ids == ["3"]


def test_two_caches_have_nothing_in_common(whole: Cache, cache: Cache) -> None:
    small(cache, 4, ("en",))
    assert [len(audit_panel(c, FEW).items) for c in (whole, cache, whole)] == [8, 4, 8]


# Provenance


def test_an_audit_says_what_its_numbers_are_of(cache: Cache) -> None:
    small(cache, 5, ("en", "hi"))
    found = audit(cache, replace(FEW, conditions=("hi",), seed=7), ["score_map"])
    assert list(found.tables) == ["score_map"]
    assert not found.simulated
    said = found.provenance
    assert [s["scorer_id"] for s in said["scorers"]] == [A, B]  # type: ignore[attr-defined]
    assert all(s["generation"] > 0 for s in said["scorers"])  # type: ignore[attr-defined]
    assert (said["conditions"], said["n_items"], said["seed"]) == (["en", "hi"], 5, 7)


def test_simulated_scores_are_known_by_scorer_or_by_data_set(cache: Cache) -> None:
    rows = small(cache, 5, ("en", "hi"))
    made_up = replace(SCORER, method="simulated", fingerprint="s")
    put_preferences(cache, made_up, [(one, 0.1) for one in rows])
    assert audit(cache, FEW, ["score_map"]).simulated
    assert not audit(cache, replace(FEW, scorers=(A,)), ["score_map"]).simulated
    with cache.writing() as con:
        con.execute("UPDATE dataset SET note = 'not simulated: of real models'")
        bump(con, [""], ["d"])
    assert not audit(cache, replace(FEW, scorers=(A,)), ["score_map"]).simulated
    with cache.writing() as con:
        con.execute("UPDATE dataset SET format = 'simulated'")
        bump(con, [""], ["d"])
    assert audit(cache, replace(FEW, scorers=(A,)), ["score_map"]).simulated


# Thin data: every table says what cannot be said, and gives the rest


def all_tables(cache: Cache, request: AuditRequest = FEW) -> dict[str, pd.DataFrame]:
    found = audit(cache, request)
    assert list(found.tables) == list(TABLES)
    for name, table in found.tables.items():
        if table.rows.empty:
            assert table.notes, f"{name} is empty and does not say why"
        else:
            assert any(c == "n" or c.startswith("n_") for c in table.rows), name
    return {name: table.rows for name, table in found.tables.items()}


def test_a_small_audit_has_every_table(whole: Cache) -> None:
    tables = all_tables(whole)
    assert tables["main"]["condition"].tolist() == ["es", "hi", "rewording"]
    assert len(tables["cells"]) == 4


@pytest.mark.parametrize(
    "part",
    [
        pytest.param({"slice": "one"}, id="one item"),
        pytest.param(
            {"scorers": (A,), "conditions": ("en~p1", "hi"), "kind": "binary", "reference": "hi"},
            id="one of each",
        ),
        pytest.param({"conditions": ("hi", "es")}, id="no rewording"),
        pytest.param({"conditions": ("en~p1", "en~p2")}, id="no translation"),
        pytest.param({"conditions": ("en",)}, id="nothing but English"),
        pytest.param({"kind": "standardised"}, id="standardised"),
    ],
)
def test_every_table_is_there_whatever_is_missing(whole: Cache, part: dict) -> None:
    all_tables(whole, replace(FEW, **part))


def test_pairs_of_one_model_in_english(cache: Cache) -> None:
    rows = [item(str(i), context="") for i in range(4)]
    put(cache, rows)
    put_preferences(cache, SCORER, [(one, 0.1 * i) for i, one in enumerate(rows)])
    tables = all_tables(cache)
    assert tables["score_map"]["n"].tolist() == [4]


def test_scores_that_never_vary(cache: Cache) -> None:
    rows = [item(str(i), c) for c in CONDITIONS for i in range(6)]
    put(cache, rows)
    for scorer in (SCORER, OTHER):
        put_preferences(cache, scorer, [(one, 0.0) for one in rows])
    cells = all_tables(cache)["cells"]
    assert cells[["pvalue", "qvalue", "reliable"]].isna().all(axis=None)
    assert (cells["reason"] == NOTHING_CHANGES).all()


def test_changes_that_are_all_zero(cache: Cache) -> None:
    rows = [item(str(i), c) for c in CONDITIONS for i in range(6)]
    put(cache, rows)
    for scorer in (SCORER, OTHER):
        put_preferences(cache, scorer, [(one, 0.1 * int(one.item_id)) for one in rows])
    cells = all_tables(cache)["cells"]
    assert cells[["pvalue", "qvalue", "reliable"]].isna().all(axis=None)
    assert (cells["reason"] == NOTHING_CHANGES).all()


def test_items_that_models_and_languages_lack(cache: Cache) -> None:
    """Each model lacks one item, Hindi another, French all; one collapsed, one is native."""
    rows = [item(str(i), c) for c in CONDITIONS for i in range(6)]
    french = [item(str(i), "fr") for i in range(6)]
    put(cache, [*rows, *french, COLLAPSED, item("n", "hi", native=True)])
    rng = np.random.default_rng(0)
    for scorer, left_out in ((SCORER, "0"), (OTHER, "1")):
        put_preferences(
            cache,
            scorer,
            [
                (one, None if one.item_id == left_out else float(rng.normal(0.2, 1)))
                for one in rows
                if (one.item_id, one.condition) != ("2", "hi")
            ],
        )
    cells = all_tables(cache)["cells"].set_index("condition")
    assert cells.loc["hi", "n"].tolist() == [4, 4]
    assert cells.loc["fr", "pvalue"].isna().all()
    assert (cells.loc["fr", "reason"] != "").all()

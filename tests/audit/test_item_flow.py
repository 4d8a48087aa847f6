"""What became of every item, against a table counted by hand."""

from __future__ import annotations

import pandas as pd

from core.analysis.audit.item_flow import item_flow
from core.analysis.audit.loading import load_panel
from core.analysis.audit.names import ALL_MODELS
from core.analysis.audit.request import AuditRequest, AuditTable
from core.store.gate import Cache
from tests.analysis.test_comparison import A, B, put_preferences
from tests.store_samples import OTHER, SCORER, item, put

D = AuditRequest(dataset="d")
COUNTS = ["n", "n_collapsed", "n_not_scored", "n_used", "n_compared"]


def flow_of(cache: Cache, request: AuditRequest = D) -> AuditTable:
    table = item_flow(load_panel(cache, request), request)
    rows = table.rows
    assert (rows["n"] == rows["n_collapsed"] + rows["n_not_scored"] + rows["n_used"]).all()
    return table


def by_condition(table: AuditTable) -> pd.DataFrame:
    return table.rows.set_index("condition")


def test_imported_is_collapsed_or_not_scored_or_used(cache: Cache) -> None:
    same = {"stereotype": "Same.", "anti_stereotype": "same"}
    rows = [
        *[(item(str(i)), 0.5) for i in range(5)],
        (item("0", "hi", **same), "missing"),
        (item("1", "hi"), None),
        (item("2", "hi"), "missing"),
        (item("3", "hi"), 0.2),
        (item("4", "hi"), 0.2),
        (item("5", "hi"), 0.2),  # without English: used, compared with nothing
    ]
    put(cache, [one for one, _ in rows])
    put_preferences(cache, SCORER, rows)
    table = flow_of(cache)
    assert table.rows["condition"].tolist() == ["en", "hi"]
    assert by_condition(table).loc["en", COUNTS].tolist() == [5, 0, 0, 5, 0]
    assert by_condition(table).loc["hi", COUNTS].tolist() == [6, 1, 2, 3, 2]
    assert by_condition(table).loc["hi", "why"] == "too_long 1, not scored yet 1"
    assert table.rows["model"].tolist() == [ALL_MODELS] * 2
    assert table.notes == ()


def test_models_have_rows_of_their_own_only_where_they_differ(cache: Cache) -> None:
    rows = [item("1"), item("2"), item("1", "hi"), item("2", "hi")]
    put(cache, rows)
    put_preferences(cache, SCORER, [(one, 0.5) for one in rows])
    put_preferences(cache, OTHER, [(one, 0.5) for one in rows[:3]])
    table = flow_of(cache).rows
    assert table["condition"].tolist() == ["en", "hi", "hi"]
    assert table["scorer_id"].tolist() == ["", A, B]
    assert table["n_models"].tolist() == [2, 1, 1]
    assert table["n_used"].tolist() == [2, 2, 1]
    assert table["why"].tolist() == ["", "", "not scored yet 1"]


def test_natives_are_counted_in_rows_of_their_own(cache: Cache) -> None:
    rows = [
        (item("1"), 0.5),
        (item("1", "hi"), 0.5),
        (item("n", "hi", native=True), 0.1),
        (item("m", "sw", native=True), "missing"),
    ]
    put(cache, [one for one, _ in rows])
    put_preferences(cache, SCORER, [(one, p) for one, p in rows if one.condition != "sw"])
    table = flow_of(cache).rows
    assert table[["condition", "native"]].to_numpy().tolist() == [
        ["en", False],
        ["hi", False],
        ["hi", True],
        ["sw", True],
    ]
    assert table["n_used"].tolist() == [1, 1, 1, 0]
    assert table["n_compared"].tolist() == [0, 1, 0, 0]


def test_translated_contexts_that_became_the_same_are_counted_and_noted(cache: Cache) -> None:
    """One sentence for many different questions is a known fault of machine translation."""
    rows = [item(str(i), context=f"Question {i}") for i in range(5)]
    rows += [item(str(i), "hi", context="Sorry.") for i in range(3)]
    rows += [item(str(i), "hi", context=f"Sawal {i}") for i in range(3, 5)]
    # One passage with two questions, in both languages: nothing that translation did.
    rows += [item(f"p{i}", c, context=f"Passage {c}") for c in ("en", "hi") for i in range(2)]
    put(cache, rows)
    put_preferences(cache, SCORER, [(one, 0.5) for one in rows])
    table = flow_of(cache)
    assert by_condition(table)["n_repeated_context"].to_dict() == {"en": 0, "hi": 3}
    (note,) = table.notes
    assert "hi 3" in note

"""A selection's rows against pandas queries written out by hand, and against the command line."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.analysis.filtering import matching, selected_table, unknown_values
from core.analysis.items import item_table
from core.cli.main import main
from core.errors import InputError
from core.export.tables import table_bytes
from core.selection import SORTS, Selection, active_filters, link_query
from core.store.gate import Cache
from core.store.scorers import scorers
from core.store.slices import Slice, get_slice, put_slice, slice_names
from tests.scored import demo_items, fill_scored
from tests.stored_slices import forget_slice


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Cache:
    folder = tmp_path_factory.mktemp("scored")
    fill_scored(folder, [i for i in demo_items() if i.condition in ("en", "en~p1", "es", "hi")])
    return Cache(folder)


@pytest.fixture(scope="module")
def everything(cache) -> Selection:
    return Selection(dataset="demo", scorer=scorers(cache)["scorer_id"].iloc[0])


@pytest.fixture(scope="module")
def table(cache, everything):
    return item_table(cache, everything.scorer, "demo")


def rows(cache, table, selection):
    return table.iloc[matching(cache, table, selection).positions]


def test_no_filter_leaves_every_row_in_its_order(cache, table, everything):
    assert matching(cache, table, everything).positions.tolist() == list(range(len(table)))


@pytest.mark.parametrize(
    ("fields", "query"),
    [
        ({"conditions": ("es", "hi")}, "condition in ('es', 'hi')"),
        ({"categories": ("age",)}, "category == 'age'"),
        ({"sources": ("demo-question",), "dimensions": ("ability",)},
         "source == 'demo-question' and dimension == 'ability'"),
        ({"states": ("collapsed",)}, "state == 'collapsed'"),
        ({"ss_min": 0.5}, "ss >= 0.5"),
        ({"ss_min": 0.4, "ss_max": 0.5}, "ss >= 0.4 and ss <= 0.5"),
        ({"change_min": 0.0}, "change >= 0"),
        ({"change_max": -0.01, "conditions": ("hi",)}, "change <= -0.01 and condition == 'hi'"),
    ],
)  # fmt: skip
def test_filters_leave_what_a_query_leaves(cache, table, everything, fields, query):
    found = rows(cache, table, replace(everything, **fields))
    expected = table.query(query)
    assert len(expected) > 0
    assert found.index.tolist() == expected.index.tolist()


def test_words_are_found_in_any_text_whatever_their_case(cache, table, everything):
    found = rows(cache, table, replace(everything, text="MOUNTAIN village"))
    assert found["item_id"].unique().tolist() == ["region-village-news"]
    assert len(rows(cache, table, replace(everything, text="नर्स"))) == 1
    assert rows(cache, table, replace(everything, text="(village|opera)")).empty


def test_regular_expressions_are_read_as_such(cache, table, everything):
    pattern = r"(mountain village|goes to the opera)\b"
    found = rows(cache, table, replace(everything, text=pattern, regex=True))
    assert set(found["item_id"]) == {"region-village-news", "class-opera-friday"}


def test_a_regular_expression_that_cannot_be_read_says_why(cache, table, everything):
    with pytest.raises(InputError, match="regular expression cannot be read"):
        rows(cache, table, replace(everything, text="(unclosed", regex=True))


def test_no_regular_expression_runs_away(cache, table, everything):
    """Exponential in a backtracking engine; linear here."""
    rows(cache, table, replace(everything, text="(a+)+(a+)+(a+)+$" * 20, regex=True))


def test_each_filter_says_what_would_remain_without_it(cache, table, everything):
    selection = replace(everything, conditions=("es",), categories=("age",), text="nothing such")
    matches = matching(cache, table, selection)
    assert len(matches.positions) == 0
    assert set(matches.without) == set(active_filters(selection))
    both = table.query("condition == 'es' and category == 'age'")
    assert matches.without["text"] == len(both)
    assert matches.without["conditions"] == 0


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize(
    "sort", [s for s in SORTS if s not in ("order", "abs_change", "abs_difference", "difference")]
)
def test_sorting_puts_undefined_last_and_keeps_ties_in_order(
    cache, table, everything, sort, descending
):
    found = rows(cache, table, replace(everything, sort=sort, descending=descending))
    expected = table.sort_values(sort, ascending=not descending, kind="stable")
    assert found.index.tolist() == expected.index.tolist()
    assert len(found) == len(table)


def test_the_largest_changes_come_first(cache, table, everything):
    found = rows(cache, table, replace(everything, sort="abs_change", descending=True))
    sizes = found["change"].abs().dropna().to_numpy()
    assert (np.diff(sizes) <= 0).all()
    assert sizes[0] == table["change"].abs().max()


def test_values_that_no_row_has_are_named(cache, table, everything):
    selection = replace(everything, conditions=("xx", "es"), categories=("nope",))
    assert unknown_values(table, selection) == {"conditions": ["xx"], "categories": ["nope"]}
    with pytest.raises(InputError, match="no condition xx; it has en, en~p1, es, hi"):
        selected_table(cache, selection)


def test_the_selected_table_is_the_shown_rows_with_texts(cache, table, everything):
    selection = replace(everything, conditions=("hi",), sort="ss", descending=True)
    selected = selected_table(cache, selection)
    shown = rows(cache, table, selection)
    assert selected["item_id"].tolist() == shown["item_id"].tolist()
    assert selected["context"].notna().all()
    assert "row_order" not in selected


def test_slices_of_items_and_of_filters(cache, table, everything):
    put_slice(cache, Slice("two", "demo", "", ("class-opera-friday", "region-village-news")))
    narrowed = replace(everything, conditions=("es",), ss_min=0.5)
    put_slice(cache, Slice("high in Spanish", "demo", link_query(narrowed)))
    assert slice_names(cache, "demo") == ["high in Spanish", "two"]
    two = rows(cache, table, replace(everything, slice="two"))
    assert set(two["item_id"]) == {"class-opera-friday", "region-village-news"}
    high = rows(cache, table, replace(everything, slice="high in Spanish"))
    assert high.index.tolist() == table.query("condition == 'es' and ss >= 0.5").index.tolist()
    forget_slice(cache, "demo", "two")
    with pytest.raises(InputError, match="no slice 'two'"):
        get_slice(cache, "demo", "two")


@pytest.mark.parametrize(
    "other", [Slice("again", "demo", "", ("b",)), Slice("again", "demo", "v=1&conditions=es")]
)
def test_a_slice_is_replaced_only_when_that_is_said(cache, other):
    mine = Slice("again", "demo", "", ("a", "b"))
    put_slice(cache, mine, replace=True)
    with pytest.raises(InputError, match="demo has a slice 'again' of other items; choose another"):
        put_slice(cache, other)
    assert get_slice(cache, "demo", "again") == mine
    put_slice(cache, Slice("again", "demo", "", ("b", "a")))  # the same items are no others
    put_slice(cache, other, replace=True)
    assert get_slice(cache, "demo", "again") == other
    forget_slice(cache, "demo", "again")


def test_a_slice_without_name_content_or_data_set_is_refused(cache):
    for bad in (Slice("", "demo", "", ("a",)), Slice("empty", "demo", "")):
        with pytest.raises(InputError):
            put_slice(cache, bad)
    with pytest.raises(InputError, match="no data set"):
        put_slice(cache, Slice("x", "nowhere", "", ("a",)))


def test_the_command_line_exports_the_rows_of_a_link(
    cache, everything, tmp_path: Path, monkeypatch
):

    selection = replace(everything, conditions=("es",), sort="abs_change", descending=True)
    out = tmp_path / "rows.jsonl"
    link = f"http://127.0.0.1:8501/items?{link_query(selection)}"
    arguments = ["core", "export", "--selection", link, "--out", str(out)]
    monkeypatch.setattr(sys, "argv", [*arguments, "--cache", str(cache.folder)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert out.read_bytes() == table_bytes(selected_table(cache, selection), "jsonl")

"""Tables as a reader meets them: names, numbers, and columns that say something."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.shared.tables import condition_name, pvalue, short_models, with_names, written

NUMBER = st.column_config.NumberColumn
COLUMNS = {
    "name": "Name",
    "n": "n",
    "drop": NUMBER("Drop", format="%+.3f"),
    "floor": NUMBER("Floor", format="%.4f"),
    "pvalue": pvalue("p"),
    "share": NUMBER("Share", format="percent"),
    "needed": NUMBER("Needed", format="%d"),
}
FRAME = pd.DataFrame(
    {
        "name": ["a-b", ""],
        "n": [12345, 7],
        "drop": [-0.0075, 0.0001],
        "floor": [0.0042, math.nan],
        "pvalue": [0.00001, 0.1025],
        "share": [0.125, 1.0],
        "needed": [3100.0, math.inf],
    }
)


def test_numbers_have_a_true_minus_thousands_apart_and_no_sign_at_zero() -> None:
    styled, _ = written(FRAME, COLUMNS)
    _, first, second = styled.to_string(delimiter="|").strip().split("\n")
    assert first.split("|")[1:] == [
        *("a-b", "12,345", "\u22120.007", "0.0042", "< 0.0001", "12.5 %", "3,100"),
    ]
    assert second.split("|")[1:] == ["", "7", "0.000", "–", "0.1025", "100.0 %", "∞"]


def test_the_values_stay_and_the_browser_formats_none_of_them() -> None:
    styled, config = written(FRAME, COLUMNS)
    pd.testing.assert_frame_equal(styled.data, FRAME)
    kinds = [column["type_config"] for column in config.values() if isinstance(column, dict)]
    assert len(kinds) == 5
    assert all(kind["format"] is None for kind in kinds)
    assert COLUMNS["drop"]["type_config"]["format"] == "%+.3f"  # of others too, so never changed


def test_conditions_and_models_have_their_names() -> None:
    named = {"hi": "Hindi", "pooled": "all languages", "en~p1": "en~p1", "hi+true": "hi+true"}
    assert {code: condition_name(code) for code in named} == named
    rows = pd.DataFrame(
        {"condition": ["es"], "against": ["en"], "model": ["org/a, float32, none"], "n": [3]}
    )
    shown = with_names(rows, short_models(rows))
    assert shown.to_dict("records") == [
        {"condition": "Spanish", "against": "English", "model": "a", "n": 3}
    ]


def test_models_of_several_settings_stay_apart_beside_the_mean_of_all() -> None:
    two = ["a, float32, none", "a, int8, none"]
    short = {"a, float32, none": "a, float32", "a, int8, none": "a, int8"}
    assert short_models(pd.DataFrame({"model": [*two, "all models", ""]})) == short
    groups = pd.DataFrame({"group_kind": ["model", "model", "source"], "group": [*two, "bbq, b"]})
    assert short_models(groups) == short
    shown = with_names(groups, short)
    assert shown["group"].tolist() == ["a, float32", "a, int8", "bbq, b"]


def test_a_reason_column_is_there_where_something_has_a_reason() -> None:
    def page() -> None:
        import pandas as pd

        from core.analysis.audit.request import AuditTable
        from pages.shared.tables import show_table

        for at, reasons in enumerate((["", ""], ["", "One item."])):
            rows = pd.DataFrame({"n": [1, 2], "reason": reasons})
            show_table(AuditTable(rows), {"n": "n", "reason": "Why not"}, f"t{at}")

    app = AppTest.from_function(page).run()
    assert not app.exception
    assert [list(frame.value) for frame in app.dataframe] == [["n"], ["n", "reason"]]


def test_a_table_shown_before_is_replayed_and_another_is_not() -> None:
    def page() -> None:
        import pandas as pd

        from pages.shared.tables import show_frame

        for value in (1, 2, 1):
            show_frame(pd.DataFrame({"n": [value]}), {"n": "n"}, "content")

    app = AppTest.from_function(page).run()
    for _ in range(2):
        assert [frame.value["n"].tolist() for frame in app.dataframe] == [[1], [2], [1]]
        app.run()

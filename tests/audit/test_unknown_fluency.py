"""Unknown chosen, fluency and ICAT by model and condition, against hand values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.analysis.audit.loading import load_panel
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.analysis.audit.unknown_fluency import (
    NO_TARGET,
    NO_UNKNOWN,
    NO_UNRELATED,
    bbq_unknown,
    fluency_icat,
)
from core.store.gate import Cache
from core.types import Item, Role
from tests.analysis.test_items import MINUS, PLUS, UNKNOWN, UNRELATED, put_means, sigmoid
from tests.store_samples import item, put

D = AuditRequest(dataset="d")
Row = tuple[Item, dict[Role, float | None]]


def panel_of(cache: Cache, rows: list[Row]) -> Panel:
    put(cache, [one for one, _ in rows])
    put_means(cache, rows)
    return load_panel(cache, D)


def question(item_id: str, condition: str, plus: float, minus: float, unknown: float | None) -> Row:
    one = item(item_id, condition, unknown=f"Nobody knows {item_id} {condition}", source="bbq-age")
    return one, {PLUS: plus, MINUS: minus, UNKNOWN: unknown}


def sentence(item_id: str, condition: str, plus: float, minus: float, u: float, **more) -> Row:
    one = item(item_id, condition, unrelated=f"Granite {item_id} {condition}", **more)
    return one, {PLUS: plus, MINUS: minus, UNRELATED: u}


def by_condition(table: AuditTable) -> pd.DataFrame:
    return table.rows.set_index("condition")


# Unknown chosen


def test_unknown_is_chosen_where_it_beats_both_answers(cache: Cache) -> None:
    panel = panel_of(
        cache,
        [
            question("1", "en", -2, -3, -1),
            question("2", "en", -2, -1, -1.5),
            question("3", "en", -2, -3, -1),
            question("1", "hi", -2, -3, -2.5),
            question("2", "hi", -2, -1, None),
            question("4", "hi", -2, -3, -1),  # no English
        ],
    )
    found = by_condition(bbq_unknown(panel, D))
    columns = ["share", "n", "share_english", "n_english"]
    assert found.loc["en", columns].tolist() == pytest.approx([2 / 3, 3, 2 / 3, 3])
    assert found.loc["hi", columns].tolist() == [0, 1, 1, 1]
    assert found["reason"].tolist() == ["", ""]


def test_without_questions_the_share_is_undefined_with_a_reason(cache: Cache) -> None:
    table = bbq_unknown(panel_of(cache, [sentence("1", "en", -1, -2, -3)]), D)
    assert np.isnan(table.rows["share"]).all()
    assert table.rows["n"].tolist() == [0]
    assert table.rows["reason"].tolist() == [NO_UNKNOWN]
    assert len(table.notes) == 1


# Fluency and ICAT


def test_fluency_and_icat_are_their_definitions(cache: Cache) -> None:
    numbers = [(-1.0, -2.0, -4.0), (-2.5, -1.5, -2.0), (-3.0, -3.0, -1.0)]
    rows = [sentence(str(i), "en", *three) for i, three in enumerate(numbers)]
    (row,) = fluency_icat(panel_of(cache, rows), D).rows.to_dict("records")
    fluent = [sigmoid(max(p, a) - u) for p, a, u in numbers]
    ss = [sigmoid(p - a) for p, a, _ in numbers]
    of_plus, of_minus = (np.mean([sigmoid(x[i] - x[2]) for x in numbers]) for i in (0, 1))
    near = {"rel": 1e-6}
    assert row["n"] == 3
    assert row["fluency"] == pytest.approx(np.mean(fluent), **near)
    assert row["fluency_stereotype"] == pytest.approx(of_plus, **near)
    assert row["fluency_single"] == pytest.approx((of_plus + of_minus) / 2, **near)
    assert row["ss"] == pytest.approx(np.mean(ss), **near)
    on_means = np.mean(fluent) * min(np.mean(ss), 1 - np.mean(ss)) / 0.5
    of_items = np.mean([f * min(s, 1 - s) / 0.5 for f, s in zip(fluent, ss, strict=True)])
    assert row["icat"] == pytest.approx(on_means, **near)
    assert row["icat_items"] == pytest.approx(of_items, **near)
    assert row["icat"] != pytest.approx(row["icat_items"], rel=1e-2)


def test_questions_and_items_without_an_unrelated_continuation_are_left_out(cache: Cache) -> None:
    panel = panel_of(
        cache,
        [
            sentence("1", "en", -1, -2, -3),
            sentence("2", "en", -3, -1, -1, source="BBQ"),
            question("3", "en", -3, -2, -1),
            question("1", "hi", -3, -2, -1),
        ],
    )
    table = fluency_icat(panel, D)
    found = by_condition(table)
    assert found["n"].to_dict() == {"en": 1, "hi": 0}
    assert found.loc["en", "fluency"] == pytest.approx(sigmoid(2))
    assert found.loc["hi", ["fluency", "fluency_single", "icat", "ss"]].isna().all()
    assert found.loc["hi", "reason"] == f"{NO_UNRELATED} {NO_TARGET}"


def test_the_official_metric_takes_the_target_terms_of_the_english_items(cache: Cache) -> None:
    terms = {"1": "nurse", "2": "nurse", "3": "nurse", "4": "Somali"}
    poles = {"1": (-1, -2), "2": (-1, -2), "3": (-1, -2), "4": (-2, -1)}
    rows = [sentence(i, "en", *poles[i], -9, metadata={"target": t}) for i, t in terms.items()]
    rows += [sentence(i, "hi", *poles[i], -1.5) for i in ("1", "4")]
    rows += [sentence("5", "en", -1, -2, -9)]
    found = by_condition(fluency_icat(panel_of(cache, rows), D))
    columns = [
        "stereoset_lms",
        "stereoset_ss",
        "stereoset_icat",
        "stereoset_n",
        "stereoset_n_terms",
    ]
    assert found.loc["en", columns].tolist() == [1, 0.5, 1, 4, 2]
    assert found.loc["hi", columns].tolist() == [0.5, 0.5, 0.5, 2, 2]
    assert found["reason"].tolist() == ["", ""]


def test_without_target_terms_the_official_metric_is_undefined(cache: Cache) -> None:
    table = fluency_icat(panel_of(cache, [sentence("1", "en", -1, -2, -3)]), D)
    (row,) = table.rows.to_dict("records")
    assert np.isnan([row["stereoset_lms"], row["stereoset_ss"], row["stereoset_icat"]]).all()
    assert (row["stereoset_n"], row["n"], row["reason"]) == (0, 1, NO_TARGET)
    assert table.notes == (NO_TARGET,)

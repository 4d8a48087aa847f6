"""The Noise floor page as Streamlit runs it: numbers of the audit, and what cannot be said."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

from benchmarks.simulated import put_scores, simulated_scorer
from core.analysis.audit.audit import audit, audit_panel
from core.analysis.audit.distributions import distributions
from core.analysis.audit.floor_sentences import (
    floor_sentence,
    gap_sentence,
    rewording_sentence,
)
from core.analysis.audit.floors import floors_by_model
from core.analysis.audit.names import LANGUAGE
from core.analysis.audit.request import AuditRequest
from core.selection import from_query, to_query
from core.store.gate import Cache
from core.store.items import put_dataset
from core.types import Item
from pages.shared.audit.wording import WHY_WORDING
from tests.audit_pages import opened, spoken, words

DATASET = "made"
REWORDINGS = ("en~p1", "en~p2", "en~p3")
ALL = ("en", *REWORDINGS, "en~llm", "es", "es~a", "hi")


def fill(
    folder: Path, conditions: Sequence[str] = ALL, models: int = 2, n: int = 24, tokens: bool = True
) -> Path:
    """Items in these conditions, Hindi lower than the rest; half of them in en~llm."""
    items = [
        Item(
            item_id=f"i{i}",
            condition=condition,
            language=condition.split("~")[0],
            context=f"Context {i} in {condition}.",
            stereotype=f"One {i} {condition}.",
            anti_stereotype=f"Other {i} {condition}.",
            source="odd" if i % 2 else "even",
        )
        for condition in conditions
        for i in range(n // 2 if condition == "en~llm" else n)
    ]
    cache = Cache(folder)
    put_dataset(cache, DATASET, items, path="", format="native", sha256="")
    rng = np.random.default_rng(7)
    leaning = rng.normal(0.2, 0.5, n)
    for number in range(1, models + 1):
        shift = np.array([1.5 if item.condition == "hi" else 0.0 for item in items])
        u = np.array([leaning[int(item.item_id[1:])] for item in items]) - shift
        l_anti = rng.normal(-3, 0.3, len(items))
        l_stereotype = l_anti + u + rng.normal(0, 0.3, len(items))
        columns = {
            "item_id": pa.array([item.item_id for item in items]),
            "condition": pa.array([item.condition for item in items]),
            "flags": pa.array([[]] * len(items), pa.list_(pa.string())),
            "l_stereotype": pa.array(l_stereotype),
            "l_anti": pa.array(l_anti),
        }
        if tokens:  # scores from elsewhere may have nothing but means
            for name, mean in (("stereotype", l_stereotype), ("anti", l_anti)):
                columns[f"sum_{name}"] = pa.array(6 * mean)
                columns[f"n_{name}"] = pa.array(np.full(len(items), 6, np.int32))
        put_scores(cache, simulated_scorer(number), DATASET, pa.table(columns))
    return folder


@pytest.fixture(scope="module")
def full(tmp_path_factory) -> Path:
    return fill(tmp_path_factory.mktemp("full"))


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch):
    return partial(opened, monkeypatch, "noise_floor")


def address(app: AppTest) -> dict[str, list[str]]:
    """The parameters of the address, each as a list."""
    values = {key: app.query_params[key] for key in app.query_params}
    return {key: value if isinstance(value, list) else [value] for key, value in values.items()}


def table(app: AppTest, *columns: str) -> pd.DataFrame:
    """The first table that has these columns."""
    return next(f.value for f in app.dataframe if set(columns) <= set(f.value))


def figures(app: AppTest) -> int:
    return len(app.get("plotly_chart"))


def expected(folder: Path, **options):
    request = AuditRequest(dataset=DATASET, **options)
    names = ("floors", "floor_vs_gap", "item_tests", "wording_variance", "verdicts")
    return audit(Cache(folder), request, names), audit_panel(Cache(folder), request), request


def check(shown: pd.DataFrame, rows: pd.DataFrame) -> None:
    held = [c for c in shown if c in rows]
    pd.testing.assert_frame_equal(
        shown[held].reset_index(drop=True),
        spoken(rows)[held].reset_index(drop=True),
        check_dtype=False,
        check_column_type=False,
    )


def test_every_number_is_that_of_the_audit(show, full):
    app = show(full)
    found, panel, request = expected(full)
    tables = {name: t.rows for name, t in found.tables.items()}
    by_model = floors_by_model(panel, request)
    check(table(app, "floor", "expected_noise"), by_model.rows)
    check(table(app, "full_coverage", "subset"), tables["floors"])
    tests = tables["item_tests"]
    check(table(app, "t_low"), tests[tests["group_kind"] == "rewording"])
    check(table(app, "difference_low"), tables["floor_vs_gap"])
    wording = tables["wording_variance"]
    check(table(app, "tau"), wording[wording["unit"] == "rewordings"])
    check(
        table(app, "pvalue_exchange"),
        wording[(wording["unit"] == LANGUAGE) & (wording["scorer_id"] == "")],
    )
    check(table(app, "q05"), distributions(panel, request).table.rows)
    said = words(app)
    assert "SIMULATED" in said
    assert floor_sentence(by_model.rows) in said
    assert rewording_sentence(tests[tests["group_kind"] == "rewording"]) in said
    for row in tables["floor_vs_gap"].to_dict("records"):
        if row["unit"] == LANGUAGE:
            assert gap_sentence(row, "") in said
    for sentence in tables["verdicts"]["sentence"]:
        assert sentence in said
    assert WHY_WORDING in said
    assert "above the floor" in said
    assert "Hindi: no rewordings of their own" in said
    assert figures(app) == 5  # English, Spanish, gaps, wordings, item changes
    assert "is fair." in said  # and what comes before says that nothing shows it
    assert "Showing 2 of 6 rows" in said


def test_one_model_can_be_looked_at_and_is_kept_in_the_address(show, full):
    app = show(full)
    chooser = next(s for s in app.selectbox if s.label.startswith("Whose"))
    scorer_id = simulated_scorer(2).scorer_id
    chooser.set_value(scorer_id).run()
    assert not app.exception
    found, panel, request = expected(full)
    check(table(app, "q05"), distributions(panel, request, scorer_id).table.rows)
    wording = found.tables["wording_variance"].rows
    mine = wording[(wording["unit"] == LANGUAGE) & (wording["scorer_id"] == scorer_id)]
    check(table(app, "pvalue_prediction"), mine)
    assert "of simulated-02" in words(app)
    query = address(app)
    assert query["scorer"] == [scorer_id]
    again = show(full, **{key: values[-1] for key, values in query.items()})
    assert address(again) == query
    check(table(again, "q05"), table(app, "q05"))
    selection, problems = from_query(query)
    assert problems == []
    assert to_query(selection) == query


def test_items_and_kind_of_score_narrow_every_table(show, full):
    app = show(full, sources="odd", kind="binary")
    found, panel, request = expected(full, sources=("odd",), kind="binary")
    check(table(app, "difference_low"), found.tables["floor_vs_gap"].rows)
    check(table(app, "q05"), distributions(panel, request).table.rows)
    assert table(app, "q05")["n_items"].max() == 12


def test_one_model(show, tmp_path):
    app = show(fill(tmp_path, models=1))
    assert not any(s.label.startswith("Whose") for s in app.selectbox)
    said = words(app)
    assert "moves the mean score of the model" in said
    assert "One model: no spread over models." in said
    assert len(table(app, "tau")) == 2  # English and Spanish, not once more as a mean
    assert figures(app) == 5


def test_one_language(show, tmp_path):
    app = show(fill(tmp_path, ("en", *REWORDINGS, "hi")))
    said = words(app)
    assert "Hindi: gap" in said
    assert "1 of 1 language: Hindi" in said
    assert len(table(app, "difference_low")) == 3


def test_one_rewording_says_that_three_are_needed(show, tmp_path):
    app = show(fill(tmp_path, ("en", "en~p1", "es", "hi")))
    said = words(app)
    assert "cannot be predicted. Wording variance needs 3 rewordings, not 1." in said
    assert "No rewording can be tested against others. There is no other rewording" in said
    assert figures(app) == 3  # no prediction interval to draw


def test_no_rewording_leaves_gaps_and_says_why_there_is_no_floor(show, tmp_path):
    app = show(fill(tmp_path, ("en", "es", "hi")))
    said = words(app)
    assert "no rewording" in said
    assert "what rewording does is not known" in said
    assert figures(app) == 2
    assert table(app, "difference_low")["floor"].isna().all()


def test_no_language_leaves_the_floor(show, tmp_path):
    app = show(fill(tmp_path, ("en", *REWORDINGS)))
    said = words(app)
    assert "no translation" in said
    assert table(app, "floor", "expected_noise")["floor"].notna().all()
    assert figures(app) == 2


def test_nothing_but_english(show, tmp_path):
    app = show(fill(tmp_path, ("en",)))
    assert "neither a rewording nor a translation" in words(app)
    assert figures(app) == 0


def test_no_english_twin_is_one_sentence_with_a_way_out(show, tmp_path):
    app = show(fill(tmp_path, ("es", "hi")))
    assert len(app.error) == 1
    assert "has an English version" in app.error[0].value
    assert figures(app) == 0


def test_scores_without_token_lists(show, tmp_path):
    folder = fill(tmp_path, tokens=False)
    assert figures(show(folder)) == 5
    summed = show(folder, kind="summed")
    assert "No item has a score" in words(summed) or "not known" in words(summed)


def test_an_item(show, tmp_path):
    app = show(fill(tmp_path, n=2, models=1))
    assert not app.error


def test_an_empty_cache_says_what_to_run(show, tmp_path):
    line = f"python -m core demo --cache {tmp_path}"
    assert [block.value for block in show(tmp_path).code] == [line]


def test_a_link_to_what_is_not_there_shows_all_models(show, full):
    app = show(full, scorer="gone", dataset="gone")
    assert next(s for s in app.selectbox if s.label.startswith("Whose")).value == ""
    assert address(app)["dataset"] == [DATASET]

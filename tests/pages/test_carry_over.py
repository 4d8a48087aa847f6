"""The Carry-over page as Streamlit runs it: its numbers are those of the audit, its link its state.

Scores are simulated ones, which have no token lists, as imported ones have none.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from benchmarks.simulated_audit import DATASET, fill_audit
from core.analysis.audit.audit import Audit, audit
from core.analysis.audit.kept import CAUTION, kept
from core.analysis.audit.request import AuditRequest
from core.selection import parse_link
from core.store.gate import Cache
from core.store.scorers import scorers
from core.store.slices import Slice, get_slice, put_slice
from pages.shared.audit.carry_over import Taken, what_was_done
from tests.audit_pages import address, made, opened, words
from tests.stored_slices import forget_slice

NAMES = ["association", "attenuation", "same_choice", "fates", "agreement", "quality", "distance"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    folder: Path = tmp_path_factory.mktemp("audit")
    fill_audit(Cache(folder), n_items=24)
    return Cache(folder)


@pytest.fixture(scope="module")
def expected(cache: Cache) -> Audit:
    return audit(cache, AuditRequest(dataset=DATASET), NAMES)


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch):
    return partial(opened, monkeypatch, "carry_over")


def tables(app: AppTest, column: str) -> list[pd.DataFrame]:
    return [frame.value for frame in app.dataframe if column in frame.value]


def test_the_page_shows_the_numbers_of_the_audit(show, cache: Cache, expected: Audit) -> None:
    app = show(cache.folder)
    said = words(app)
    rows = {name: table.rows for name, table in expected.tables.items()}
    assert all(s in said for s in kept(rows["association"], rows["attenuation"]).rows["sentence"])
    assert CAUTION in said
    assert "SIMULATED" in said
    whole = rows["association"][rows["association"]["group_kind"] == "all"]
    assert tables(app, "slope_within")[0]["slope"].tolist() == whole["slope"].tolist()
    assert f"Showing {len(whole)} of {len(rows['association'])} rows" in said
    for name, column in (
        *(("fates", "n_above"), ("agreement", "r_residuals"), ("attenuation", "r_ratio")),
        *(("same_choice", "kappa"), ("distance", "distance_original")),
    ):
        table, shown = rows[name], tables(app, column)[0]
        if name in ("same_choice", "distance"):
            table = table[table["group_kind"] == "all"]
        assert shown[column].tolist() == pytest.approx(table[column].tolist(), nan_ok=True), name
    filters = rows["quality"][rows["quality"]["kind"] == "filter"]
    filters = filters[filters["condition"].isin(["ar", "all languages"])]
    (shown,) = tables(app, "reduction")
    assert shown["reduction"].tolist() == pytest.approx(filters["reduction"].tolist(), nan_ok=True)


def test_choices_change_the_scatter_and_the_link(show, cache: Cache, expected: Audit) -> None:
    app = show(cache.folder)
    app.selectbox(key="field-against").select("hi").run()
    app.selectbox(key="field-points").select("mean").run()
    said = words(app)
    assert "English and Hindi, data set simulated-audit: each point is one item, mean" in said
    assert "line of the single scores, not of their means" in said
    app.selectbox(key="field-quality").select("judged preserved").run()
    assert not app.exception
    assert "Only versions with judged preserved" in words(app)
    held = address(app)
    assert (held["against"], held["points"], held["quality"]) == ("hi", "mean", "judged preserved")
    # A language's own filter, that another version lacks, is dropped.
    app.selectbox(key="field-against").select("en~p1").run()
    assert not app.exception
    assert address(app)["quality"] == ""


def test_one_model_for_one_rewording_has_the_line_of_all(show, cache: Cache) -> None:
    scorer = scorers(cache)["scorer_id"].iloc[0]
    app = show(cache.folder, dataset=DATASET, against="en~p1", points=scorer)
    assert "no line of these points alone" in words(app)
    app = show(cache.folder, dataset=DATASET, against="hi", points=scorer)
    assert "no line of these points alone" not in words(app)


@pytest.mark.parametrize("kind", ["binary", "standardised"])
def test_other_kinds_of_score_are_shown(show, cache: Cache, kind: str) -> None:
    app = show(cache.folder, dataset=DATASET, kind=kind)
    assert ("lie on top of each other" in words(app)) == (kind == "binary")


def test_a_link_gives_the_same_page(show, cache: Cache) -> None:
    first = show(cache.folder, against="sw", points="mean")
    (link,) = [code.value for code in first.code if "v=1" in code.value]
    selection, problems = parse_link(link)
    assert problems == []
    query = {key: v if isinstance(v, str) else v[-1] for key, v in address(first).items()}
    again = show(cache.folder, **query)
    assert words(again) == words(first)
    assert address(again) == query
    assert (selection.against, selection.points) == ("sw", "mean")
    assert urlencode({"against": "sw"}) in link


def test_items_drawn_around_are_listed_and_saved(show, cache: Cache) -> None:
    app = show(cache.folder, dataset=DATASET, against="hi")
    app.session_state["carry-over-taken"] = Taken(DATASET, "hi", ("item-0001", "item-0002", "gone"))
    app.run()
    (listed,) = [t for t in tables(app, "before") if len(t) <= 3]
    assert set(listed["item_id"]) == {"item-0001", "item-0002"}
    assert "1 of the 3 items taken have no score here" in words(app)
    app.text_input(key="carry-over-slice").set_value("few").run()
    next(button for button in app.button if button.label == "Save as slice").click().run()
    assert not app.exception
    assert "Saved “few”: 3 items; every page finds it" in words(app)
    assert get_slice(cache, DATASET, "few").item_ids == ("item-0001", "item-0002", "gone")
    sliced = show(cache.folder, dataset=DATASET, against="hi", slice="few", points="mean")
    assert "2 points of 2 items" in words(sliced)
    assert "3 items with both scores are needed" in words(sliced)
    forget_slice(cache, DATASET, "few")


def test_a_slice_is_replaced_by_items_drawn_around_only_when_asked(show, cache: Cache) -> None:
    put_slice(cache, Slice("kept", DATASET, "", ("item-0003",)))
    app = show(cache.folder, dataset=DATASET, against="hi")
    app.session_state["carry-over-taken"] = Taken(DATASET, "hi", ("item-0001",))
    app.run()
    app.text_input(key="carry-over-slice").set_value("kept").run()
    app.button(key="carry-over-slice-save").click().run()
    assert "of other items; choose another name" in app.error[0].value.replace("\\", "")
    assert get_slice(cache, DATASET, "kept").item_ids == ("item-0003",)
    app.checkbox(key="carry-over-slice-replace-kept").check().run()
    app.button(key="carry-over-slice-save").click().run()
    assert get_slice(cache, DATASET, "kept").item_ids == ("item-0001",)
    assert "Saved “kept”: 1 item; every page" in words(app)
    forget_slice(cache, DATASET, "kept")


def test_a_selection_is_read_by_item_and_never_by_place() -> None:
    line = {"curve_number": 0, "point_index": 3}
    points = [{"customdata": [item, "s1", 0.5], "point_index": 9} for item in ("b", "a", "b")]
    assert what_was_done([line], drawn=True) == ("nothing", [])
    assert what_was_done([line, *points], drawn=True) == ("taken", ["b", "a"])
    assert what_was_done(points[:2], drawn=False) == ("opened", [("a", "s1")])
    assert what_was_done([], drawn=False) == ("nothing", [])


def test_one_model_says_why_models_cannot_agree(show, cache: Cache) -> None:
    one = scorers(cache)["scorer_id"].iloc[0]
    app = show(cache.folder, dataset=DATASET, models=one)
    said = words(app)
    assert "Only one model is scored; agreement needs two." in said
    assert "1 model)" in said
    assert app.selectbox(key="field-points").disabled


@pytest.mark.parametrize(
    ("conditions", "say"),
    [
        (("en", "hi", "en~p1"), "mere rewording keeps"),
        (("en", "hi", "es"), "what mere rewording keeps is not known"),
        (("en", "en~p1"), "The data set has no translation"),
        (("en",), "nothing to carry over"),
        (("hi", "es"), "has an English version"),
    ],
)
def test_what_is_missing_is_said(show, tmp_path: Path, conditions, say: str) -> None:
    assert say in words(show(made(tmp_path, *conditions)))


def test_an_empty_cache_says_what_to_do(show, tmp_path: Path) -> None:
    assert "nothing in the cache yet" in words(show(tmp_path))

"""The Languages page as Streamlit runs it: its numbers are those of the audit, its link its state.

Scores are simulated ones, which have no token lists, as imported ones have none.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from benchmarks.simulated_audit import DATASET, fill_audit
from core.analysis.audit.audit import Audit, audit
from core.analysis.audit.request import AuditRequest
from core.selection import parse_link
from core.store.gate import Cache
from core.store.scorers import scorers
from pages.shared.absent import WORDS
from tests.analysis.test_comparison import put_preferences
from tests.audit_pages import address, made, opened, words
from tests.store_samples import SCORER, item

NAMES = [
    *("main", "verdicts", "cells", "item_tests", "score_panel", "fragility", "css_clci"),
    *("crossed", "item_flow"),
]


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
    return partial(opened, monkeypatch, "languages")


def table_with(app: AppTest, column: str) -> pd.DataFrame:
    (found,) = [frame.value for frame in app.dataframe if column in frame.value]
    return found


def test_the_page_shows_the_numbers_of_the_audit(show, cache: Cache, expected: Audit) -> None:
    app = show(cache.folder)
    main = expected.tables["main"].rows
    shown = table_with(app, "over_models")
    for column in ("score", "drop", "drop_items", "n_items", "n_reliable", "slope", "qvalue"):
        pd.testing.assert_series_equal(shown[column], main[column])
    assert shown["language"].tolist()[-1] == "rewording"
    verdicts = expected.tables["verdicts"].rows
    assert shown["reads"].tolist()[:-1] == verdicts["reads"].tolist()
    said = words(app)
    assert all(sentence in said for sentence in verdicts["sentence"])
    assert "SIMULATED" in said
    assert "It must be fixed before looking" in said
    kinds = table_with(app, "finds")
    panel = expected.tables["score_panel"].rows
    assert kinds["qvalue"].tolist() == pytest.approx(panel["qvalue"].tolist(), nan_ok=True)
    tests = expected.tables["item_tests"].rows
    by_source = table_with(app, "n_left_out")
    sources = tests[tests["group_kind"] == "source"]
    assert by_source["t"].tolist() == pytest.approx(sources["t"].tolist(), nan_ok=True)
    assert f"Showing {len(sources)} of {len(tests)} rows" in said


def test_choices_change_what_is_shown_and_the_link(show, cache: Cache, expected: Audit) -> None:
    app = show(cache.folder)
    app.selectbox(key="field-split").select("dimension").run()
    tests = expected.tables["item_tests"].rows
    wanted = tests[tests["group_kind"] == "dimension"]
    assert table_with(app, "n_left_out")["group"].tolist() == wanted["group"].tolist()
    app.radio(key="field-cells").set_value("score").run()
    assert "Mean score per model and language" in words(app)
    assert (address(app)["split"], address(app)["cells"]) == ("dimension", "score")


def test_a_wide_margin_makes_languages_equivalent(show, cache: Cache) -> None:
    app = show(cache.folder)
    app.number_input(key="field-margin").set_value(0.5).run()
    reads = table_with(app, "over_models")["reads"].dropna()
    wide = AuditRequest(dataset=DATASET, margin=0.5)
    verdicts = audit(cache, wide, ["verdicts"]).tables["verdicts"].rows
    assert reads.tolist() == verdicts["reads"].tolist()
    assert verdicts["verdict"].isin(["equivalent", "real but small"]).all()


def test_what_verdicts_hang_on_is_shown_for_the_language_of_the_link(
    show, cache: Cache, expected: Audit
) -> None:
    app = show(cache.folder, against="sw")
    rows = expected.tables["fragility"].rows
    fewest = rows[rows["check"] == "fewest_items"]
    assert table_with(app, "item_ids")["n_items"].tolist() == fewest["n_items"].tolist()
    left_out = rows[(rows["check"] == "leave_out") & (rows["condition"] == "sw")]
    assert table_with(app, "flips")["pvalue"].tolist() == pytest.approx(
        left_out["pvalue"].tolist(), nan_ok=True
    )
    assert "ways to test Swahili" in words(app)


def test_an_item_that_flips_a_verdict_opens_on_items(show, cache: Cache, expected: Audit) -> None:
    rows = expected.tables["fragility"].rows
    found = rows[(rows["check"] == "fewest_items") & rows["n_items"].notna()].iloc[0]
    app = show(cache.folder, against=found["condition"])
    app.button(key="open-fragile").click().run()
    assert not app.exception
    assert app.title[0].value == "Items"
    selection, problems = parse_link(urlencode(address(app)))
    assert problems == []
    assert (selection.item, selection.condition) == (
        json.loads(found["item_ids"])[0],
        found["condition"],
    )


def test_consistency_has_the_reference_of_the_link(show, cache: Cache) -> None:
    app = show(cache.folder, reference="hi")
    request = AuditRequest(dataset=DATASET, reference="hi")
    rows = audit(cache, request, ["css_clci"]).tables["css_clci"].rows
    shown = rows[(rows["reference"] == "hi") | (rows["quantity"] == "rank_stability")]
    assert table_with(app, "quantity")["value"].tolist() == pytest.approx(
        shown["value"].tolist(), nan_ok=True
    )
    assert f"Showing {len(shown)} of {len(rows)} rows" in words(app)


def test_a_link_restores_the_page(show, cache: Cache) -> None:
    one, two = scorers(cache)["scorer_id"][:2]
    state = {"dataset": DATASET, "kind": "summed", "margin": "0.05", "split": "judgment"}
    state |= {"cells": "score", "against": "hi", "sources": "bbq", "seed": "7"}
    first = show(cache.folder, **state, models=one)
    query = address(first)
    assert {key: query[key] for key in state} == state
    again = show(cache.folder, **query)
    for a, b in zip(first.dataframe, again.dataframe, strict=True):
        pd.testing.assert_frame_equal(a.value, b.value)
    assert words(first) == words(again)
    assert words(first) != words(show(cache.folder, **(query | {"models": two})))


def test_one_model_has_no_spread(show, cache: Cache) -> None:
    app = show(cache.folder, models=scorers(cache)["scorer_id"].iloc[0])
    shown = table_with(app, "over_models")
    assert (shown["over_models"][:-1] == "one model: no spread").all()
    assert "One model: no spread over models." in words(app)


def test_settings_of_one_checkpoint_are_one_model(show, tmp_path: Path) -> None:
    folder = made(tmp_path, "en", "en~p1", "hi")
    rows = [item(str(i), c) for c in ("en", "hi") for i in range(6)]
    exact = replace(SCORER, dtype="float64")
    put_preferences(Cache(folder), exact, [(one, 0.1) for one in rows])
    app = show(folder)
    assert app.multiselect(key="field-models").placeholder == "all 2"
    assert words(app).count("2 scorers of one model: only tiny, float32") == 1
    both = show(folder, models=[exact.scorer_id, SCORER.scorer_id])
    assert "are one model in several settings" in words(both)


def test_one_language_is_enough(show, tmp_path: Path) -> None:
    app = show(made(tmp_path, "en", "en~p1", "en~p2", "hi"), against="hi")
    assert table_with(app, "over_models")["language"].tolist() == ["Hindi", "rewording"]


def test_without_rewordings_every_verdict_is_undefined(show, tmp_path: Path) -> None:
    app = show(made(tmp_path, "en", "hi", "es"), against="hi")
    shown = table_with(app, "over_models")
    assert shown["reads"].dropna().tolist() == ["undefined", "undefined"]
    assert shown["drop_items"].notna().sum() == 2
    assert "there is no noise band" in words(app)


def test_without_translations_there_is_one_sentence(show, tmp_path: Path) -> None:
    app = show(made(tmp_path, "en", "en~p1"))
    assert [block.value for block in app.info] == [
        "The data set has no translation, so there is no gap to judge."
    ]
    assert "split" in app.query_params


def test_items_without_english_twins_are_one_sentence(show, tmp_path: Path) -> None:
    app = show(made(tmp_path, "hi", "es"))
    assert [block.value for block in app.info] == [
        "No item has an English version here, so there is no gap to judge."
    ]
    assert not app.error and not [b for b in app.button if b.label == "Take all item filters off"]
    assert not [frame for frame in app.dataframe if "drop" in frame.value]


def test_reliable_cells_stand_beside_what_is_left_of_them(show, tmp_path: Path) -> None:
    fill_audit(Cache(tmp_path), n_items=120)
    app = show(tmp_path)
    rows = audit(Cache(tmp_path), AuditRequest(dataset=DATASET), ["shrunk"]).tables["shrunk"].rows
    reliable = rows[rows["reliable"].fillna(False) | rows["reliable_rise"].fillna(False)]
    shown = table_with(app, "language_drop")
    assert len(shown) == len(reliable) > 0
    for column in ("drop", "shrunk", "qvalue", "n"):
        assert shown[column].tolist() == reliable[column].tolist()


def test_both_samples_and_the_way_of_the_items_are_shown(show, cache, expected) -> None:
    app = show(cache.folder)
    crossed = expected.tables["crossed"].rows
    assert table_with(app, "over_both")["drop_pooled"].tolist() == crossed["drop_pooled"].tolist()
    flow = expected.tables["item_flow"].rows
    assert table_with(app, "n_collapsed")["n_used"].tolist() == flow["n_used"].tolist()


def test_an_empty_cache_says_what_to_run(show, tmp_path: Path) -> None:
    line = f"python -m core demo --cache {tmp_path}"
    assert [block.value for block in show(tmp_path).code] == [line]


def test_a_margin_of_nothing_is_mended(show, tmp_path: Path) -> None:
    app = show(made(tmp_path, "en", "en~p1", "hi"), margin="0", split="x", cells="y")
    assert not app.error
    assert app.number_input(key="field-margin").value == 0.02


def test_standardised_scores_have_no_margin(show, cache: Cache) -> None:
    app = show(cache.folder, kind="standardised")
    assert "On this scale there is no margin of equivalence" in words(app)


@pytest.mark.parametrize(
    ("page", "name"),
    [
        *(("carry_over", name) for name in ("against", "points", "quality")),
        *(("languages", name) for name in ("against", "split", "cells", "reference")),
        *(("noise_floor", "scorer"), ("shift_lab", "errors")),
    ],
)
def test_what_a_page_does_not_have_is_named(monkeypatch, tmp_path: Path, page, name) -> None:
    folder = made(tmp_path, "en", "en~p1", "hi")
    app = opened(monkeypatch, page, folder, **{name: "nonesuch"})
    (said,) = [w.value for w in app.warning if "The link asks for the" in w.value]
    assert f"{WORDS[name]} nonesuch, which this page does not have" in said


def test_what_a_link_asks_for_in_vain_is_named(show, tmp_path: Path) -> None:
    folder = made(tmp_path, "en", "en~p1", "hi")
    link = {"dataset": "gone", "models": "nobody", "sources": "bbq", "slice": "lost", "margin": "x"}
    app = show(folder, **link)
    said = app.warning[0].value.replace("\\", "")
    for sentence in (
        "No scores of gone are in this cache; d is shown instead.",
        "d has no scores under nobody.",
        "d has no slice lost.",
        "margin in the link is 'x', not a number",
    ):
        assert sentence in said
    assert "no source" not in said
    assert address(app)["dataset"] == "d"

"""The Shift lab as Streamlit runs it: shifts, runs, switches, and data that lack something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from benchmarks.simulated_audit import DATASET, fill_audit
from core.analysis.audit.audit import audit
from core.analysis.audit.injection import NO_PAIR
from core.analysis.audit.lab import open_lab
from core.analysis.audit.lab_shift import ALL_PAIRS, Shift, inject
from core.analysis.audit.pipeline_errors import LABELS
from core.analysis.audit.request import AuditRequest
from core.selection import parse_link
from core.store.gate import Cache
from core.store.items import put_dataset
from core.types import Item
from pages.shared.audit.pipeline_switches import conclusions
from tests import audit_pages
from tests.audit_pages import spoken, words
from tests.scored import demo_items, fill_scored

DELTA = "Shift δ of the log-odds of the reworded items (nats)"


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    """Ten models on 40 simulated items."""
    cache = Cache(tmp_path_factory.mktemp("simulated"))
    fill_audit(cache, n_items=40)
    return cache


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cache]:
    """One tiny model: a data set with all demo versions, one without rewordings, one of Hindi."""
    folder = tmp_path_factory.mktemp("tiny")
    items = [i for i in demo_items() if not i.native and i.condition in ("en", "en~p1", "es")][:60]
    fill_scored(folder, items)
    fill_scored(folder, [i for i in items if i.condition == "en"], "english")
    fill_scored(folder, [_only("hi", i) for i in items if i.condition == "en"], "hindi")
    yield Cache(folder)


def _only(condition: str, item: Item) -> Item:
    return Item(**{**vars(item), "condition": condition, "language": condition})


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch):
    """Open the page on a cache, with parts of an address."""

    def run(cache: Cache, **query: str) -> AppTest:
        return audit_pages.opened(monkeypatch, "shift_lab", cache.folder, **query)

    return run


def sound(app: AppTest) -> AppTest:
    assert not app.exception
    return app


def widget(app: AppTest, kind: str, label: str) -> Any:
    return next(w for w in getattr(app, kind) if w.label == label)


def metrics(app: AppTest) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for metric in app.metric:
        found.setdefault(metric.label, []).append(metric.value)
    return found


def table(app: AppTest, column: str) -> pd.DataFrame:
    return next(frame.value for frame in app.dataframe if column in frame.value)


def test_the_page_says_what_the_tables_say_and_a_slider_moves_the_verdict(simulated, opened):
    app = opened(simulated)
    assert "SIMULATED" in words(app)
    request = AuditRequest(dataset=DATASET)
    lab = open_lab(simulated, request)
    still = inject(lab, Shift(), 0.02)
    assert still.sentence in words(app)
    assert "undecided" in words(app).split("Nothing is put in yet.** As it is:")[1].split("]")[0]
    widget(app, "slider", DELTA).set_value(0.8).run()
    moved = inject(lab, Shift(delta=0.8), 0.02)
    assert moved.shown["verdict"] == "shift"
    assert moved.sentence in words(sound(app))
    assert "shift" in words(app).split("→ after")[1].split("]")[0]
    assert metrics(app)["p"] == [f"{moved.shown['pvalue']:.4f}"]
    assert metrics(app)["q over 30 pairs"] == [f"{moved.shown['qvalue']:.4f}"]
    shown = table(app, "put_in")
    pd.testing.assert_frame_equal(shown, spoken(moved.rows)[shown.columns], check_dtype=False)
    tables = audit(simulated, request, ["power", "pipeline_errors"]).tables
    shown = table(app, "power_002")
    pd.testing.assert_frame_equal(
        shown, spoken(tables["power"].rows)[shown.columns], check_dtype=False
    )
    right = tables["pipeline_errors"].rows.iloc[0]
    assert metrics(app)["English mean"] == [f"{right['english']:.3f}"]
    # The link brings everything back.
    link = next(code.value for code in app.code if "delta=0.8" in code.value)
    selection, problems = parse_link(link)
    assert (selection.delta, problems) == (0.8, [])
    again = opened(simulated, delta="0.8", shifted=selection.shifted)
    assert moved.sentence in words(again)


def test_share_subgroup_and_all_pairs_are_put_in(simulated, opened):
    app = opened(simulated, delta="0.5", share="0.5", subgroup="gender", shifted=ALL_PAIRS)
    lab = open_lab(simulated, AuditRequest(dataset=DATASET))
    expected = inject(lab, Shift(ALL_PAIRS, 0.5, 0.5, "gender"), 0.02)
    assert expected.sentence in words(app)
    assert widget(app, "slider", "Share of its items").value == 0.5
    widget(app, "selectbox", "Subgroup").set_value("").run()
    everybody = inject(lab, Shift(ALL_PAIRS, 0.5, 0.5), 0.02)
    assert everybody.sentence in words(sound(app))


def test_switches_show_which_conclusions_change(simulated, opened):
    app = opened(simulated)
    rows = audit(simulated, AuditRequest(dataset=DATASET), ["pipeline_errors"])
    rows = rows.tables["pipeline_errors"].rows
    widget(app, "toggle", "Labels of StereoSet swapped").set_value(True).run()
    wrong = rows[(rows["pipeline"] == LABELS) & (rows["condition"] == "all")].iloc[0]
    assert metrics(sound(app))["English mean"][1] == f"{wrong['english']:.3f}"
    assert all(re.sub(r"\\(.)", r"\1", line) in words(app) for line in conclusions(rows, LABELS))
    link = next(code.value for code in app.code if "errors=" in code.value)
    assert parse_link(link)[0].errors == (LABELS,)
    again = opened(simulated, errors=LABELS)
    assert metrics(again)["English mean"][1] == f"{wrong['english']:.3f}"
    widget(app, "toggle", "First token not scored").set_value(True).run()
    assert "First token not scored: The scores have no token lists" in words(sound(app))


def test_runs_go_on_in_steps_stop_and_keep_what_they_have(simulated, opened, monkeypatch):
    monkeypatch.setattr("pages.shared.audit.shift_lab.SECONDS_AT_A_TIME", 0.0001)
    app = opened(simulated, delta="-0.3")
    widget(app, "button", "Run 200").click().run()
    first = table(sound(app), "detection")
    assert (first["delta"] <= 0).all()
    assert f"{first['n_runs'].max()} of 200 runs of each size" in words(app)
    widget(app, "button", "Stop").click().run()
    kept = table(sound(app), "detection")["n_runs"].max()
    assert kept < 200
    assert widget(app, "button", "Go on")
    widget(app, "slider", DELTA).set_value(-0.4).run()
    assert table(sound(app), "detection")["n_runs"].max() == kept, "the curve is of all sizes"
    widget(app, "number_input", "Margin of equivalence").set_value(0.05).run()
    assert table(sound(app), "detection")["n_runs"].max() == kept, "no run has a margin"
    monkeypatch.setattr("pages.shared.audit.shift_lab.SECONDS_AT_A_TIME", 60)
    widget(app, "button", "Go on").click().run()
    assert (table(sound(app), "detection")["n_runs"] == 200).all()


def test_a_delta_too_far_and_a_subgroup_of_nobody_are_explained(simulated, opened):
    app = opened(simulated, delta="4", subgroup="nobody")
    assert "The link asks for a delta of 4." in words(app)
    assert "so 1 is used" in words(app)
    assert "No item of the category 'nobody'" in words(app)
    assert metrics(app)["Items that get it"][0].startswith("0 of ")
    widget(app, "button", "Run 200").click().run()
    assert "has no scored item" in sound(app).error[0].value


@pytest.mark.parametrize(
    ("name", "value", "used"),
    [("delta", "0.123", 0.1), ("share", "0.01", 0.05), ("share", "0", 0.05)],
)
def test_a_value_between_two_steps_is_said_and_is_that_of_the_slider(
    simulated, opened, name: str, value: str, used: float
) -> None:
    app = opened(simulated, **{"delta": "0.2", name: value})
    (said,) = [w.value for w in app.warning if "The link asks for" in w.value]
    assert f"a {name} of {value}. The slider" in said
    assert f"so {used:g} is used" in said
    assert app.slider(key=f"field-{name}").value == used
    assert float(audit_pages.address(app)[name]) == used


@pytest.mark.parametrize("page", ["shift_lab", "noise_floor", "languages", "carry_over"])
def test_a_margin_of_zero_is_said_and_left_out(simulated, monkeypatch, page: str) -> None:
    app = audit_pages.opened(monkeypatch, page, simulated.folder, margin="0")
    assert "margin in the link is '0', not between 0.001 and 1; it was left out." in words(app)
    assert audit_pages.address(app)["margin"] == "0.02"
    assert not app.error


def test_one_model_has_no_control_and_is_told_how_to_get_it(tiny, opened):
    app = opened(tiny, dataset="demo")
    assert "no positive control" in words(app)
    assert any("core positive-control --dataset demo" in code.value for code in app.code)
    assert "undecided" in words(app)
    widget(app, "toggle", "First token not scored").set_value(True).run()
    assert len(metrics(sound(app))["English mean"]) <= 2


def test_without_rewording_and_translation_the_rest_of_the_page_stands(tiny, opened):
    app = opened(tiny, dataset="english")
    assert NO_PAIR in words(app)
    assert not [s for s in app.slider if s.label == DELTA]
    assert metrics(app)["English mean"]
    assert "There is no translation" in words(app)


def test_without_english_it_is_one_sentence(tiny, opened):
    app = opened(tiny, dataset="hindi")
    assert "has an English version" in app.error[0].value
    assert not app.slider


def test_an_empty_cache_and_items_without_scores_say_what_to_run(tmp_path: Path, opened):
    cache = Cache(tmp_path)
    assert [code.value for code in opened(cache).code] == [
        f"python -m core demo --cache {tmp_path}"
    ]
    put_dataset(cache, "mine", demo_items()[:3], path="", format="native", sha256="")
    assert "core score" in opened(cache).code[0].value

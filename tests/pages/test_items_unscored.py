"""Data sets without scores: the Items page opens them, and the Data sets page shows what it found.

No scores are no reason to say that a data set is not there.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.settings import ROOT
from core.store.gate import Cache
from core.store.items import put_dataset
from core.store.scorers import scorers
from tests.pages.test_pairs import opened, texts, words
from tests.score_files import N, items
from tests.scored_pairs import fill_pairs
from tests.store_samples import item


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scored pairs, and a data set that nobody has scored."""
    folder = tmp_path_factory.mktemp("unscored")
    fill_pairs(folder)
    put_dataset(Cache(folder), "new", items(), path="x", format="stereoset", sha256="0")
    return folder


def test_a_link_opens_a_data_set_without_scores(monkeypatch, folder: Path) -> None:
    app = opened(monkeypatch, folder, dataset="new", item="i3")
    assert not app.warning or all("as the link" not in w.value for w in app.warning)
    (table,) = [frame.value for frame in app.dataframe if "state" in frame.value]
    assert set(table["state"]) == {"missing"} and len(table) == N
    assert any("She baked 3 cakes." in text for text in texts(app))
    assert "no model has scored them yet" in words(app)
    assert any("--dataset new" in code.value for code in app.code)


def test_a_scorer_of_other_data_is_said_to_have_no_scores_here(monkeypatch, folder: Path) -> None:
    known = scorers(Cache(folder)).iloc[0]
    app = opened(monkeypatch, folder, dataset="new", scorer=known["scorer_id"])
    told = " ".join(w.value.replace("\\", "") for w in app.warning)
    assert f"({known['scorer_id']}) has no scores of new" in told and known["model"] in told


def test_without_a_wish_the_first_scored_data_set_is_shown(monkeypatch, folder: Path) -> None:
    app = opened(monkeypatch, folder)
    assert app.selectbox[0].value == "pairs"
    assert set(app.selectbox[0].options) == {"pairs", "new"}


def test_nothing_scored_at_all_still_opens_what_is_asked_for(monkeypatch, tmp_path: Path) -> None:
    put_dataset(Cache(tmp_path), "new", items(), path="x", format="native", sha256="0")
    assert not opened(monkeypatch, tmp_path).dataframe
    app = opened(monkeypatch, tmp_path, dataset="new")
    assert any("She baked 0 cakes." in text for text in texts(app))


def test_what_was_found_is_shown_with_its_texts(monkeypatch, tmp_path: Path) -> None:
    damaged = item("bad", context="The\x08 nurse left the ward.")
    put_dataset(Cache(tmp_path), "new", [damaged], path="x", format="native", sha256="0")
    monkeypatch.setenv("STEREOSCOPE_CACHE", str(tmp_path))
    monkeypatch.setattr("pages.shared.data_sets.stored.show_open_tab", only("What was found"))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
    app = app.switch_page("pages/data_sets.py").run()
    assert not app.exception
    assert any("nurse left the ward" in block.body for block in app.get("html"))
    (button,) = [b for b in app.button if b.label == "Open on Items"]
    assert not button.disabled


def only(title: str):
    """Tabs of which one is open, whatever the browser says."""
    return lambda parts, key: parts[title]()

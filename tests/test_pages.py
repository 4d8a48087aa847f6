"""Every page as Streamlit runs it: with scores, without, with one item, with a broken cache."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.analysis.items import item_table
from core.settings import ROOT
from core.store.gate import Cache
from core.store.items import put_dataset
from tests.scored import demo_items, fill_scored

PAGES = ("pages/home.py", "pages/items.py")


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    fill_scored(folder, demo_items())
    return folder


@pytest.fixture(scope="module")
def one_item(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("one")
    fill_scored(folder, demo_items()[:1])
    return folder


@pytest.fixture
def show(monkeypatch):
    """Run a page of the app on a cache folder."""

    def run(page: str, folder: Path) -> AppTest:
        monkeypatch.setenv("STEREOSCOPE_CACHE", str(folder))
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run()
        return app.switch_page(page).run()

    return run


def words(app: AppTest) -> str:
    """Everything a page says in markdown, captions and messages."""
    kinds = (app.markdown, app.caption, app.info, app.warning, app.error, app.title, app.subheader)
    return "\n".join(str(element.value) for kind in kinds for element in kind)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("kind", ["demo", "one_item"])
def test_pages_show_scores_under_a_content_warning(show, page, kind, request):
    app = show(page, request.getfixturevalue(kind))
    assert not app.exception
    assert not app.error
    assert "Content warning" in words(app)
    assert len(app.dataframe) >= 1


@pytest.mark.parametrize("page", PAGES)
def test_an_empty_cache_says_what_to_run(show, page, tmp_path):
    app = show(page, tmp_path)
    assert not app.exception
    assert [block.value for block in app.code] == ["python -m core demo"]
    assert not (tmp_path / "stereoscope.duckdb").exists()


@pytest.mark.parametrize("page", PAGES)
def test_a_broken_cache_is_one_sentence_and_stays_as_it_is(show, page, tmp_path):
    file = tmp_path / "stereoscope.duckdb"
    file.write_bytes(b"not a database" * 1000)
    app = show(page, tmp_path)
    assert not app.exception
    assert "repair" in app.error[0].value
    assert file.read_bytes() == b"not a database" * 1000


def test_imported_items_without_scores_say_how_to_score_them(show, tmp_path):
    put_dataset(Cache(tmp_path), "mine", demo_items()[:3], path="", format="native", sha256="")
    for page in PAGES:
        app = show(page, tmp_path)
        assert not app.exception
        assert [block.value for block in app.code] == [
            "python -m core score --model demo --dataset mine"
        ]


def test_home_counts_what_the_cache_holds(show, demo):
    app = show("pages/home.py", demo)
    grid = app.dataframe[1].value
    assert grid.loc["en"].tolist() == ["42 / 42"]
    assert grid.index[0] == "en"
    assert set(grid.index) >= {"es", "fr", "zh", "ko", "ar", "hi", "sw", "nl", "en~p3", "nl~p1"}


def test_filters_leave_exactly_the_rows_that_fit(show, demo):
    app = show("pages/items.py", demo)
    whole = app.dataframe[0].value
    app.multiselect[0].set_value(["sw", "hi"]).run()
    app.multiselect[1].set_value(["age"]).run()
    rows = app.dataframe[0].value
    expected = whole[whole["condition"].isin(["sw", "hi"]) & (whole["category"] == "age")]
    assert rows["item_id"].tolist() == expected["item_id"].tolist()
    assert f"Showing {len(expected)} of {len(whole)} rows" in words(app)


def test_text_search_takes_the_words_as_they_are(show, demo):
    app = show("pages/items.py", demo)
    app.text_input[0].set_value("mountain village").run()
    assert app.dataframe[0].value["item_id"].unique().tolist() == ["region-village-news"]
    app.text_input[0].set_value("[unclosed (").run()
    assert not app.exception
    assert "Showing 0 of" in words(app)
    assert "No row passes" in words(app)


def test_the_page_shows_the_table_that_analysis_computes(show, demo):
    app = show("pages/items.py", demo)
    rows = app.dataframe[0].value
    scorer_id = app.selectbox[1].value
    expected = item_table(Cache(demo), scorer_id, "demo")
    assert rows["ss"].to_numpy() == pytest.approx(expected["ss"].to_numpy(), nan_ok=True)
    assert rows["item_id"].tolist() == expected["item_id"].tolist()


def test_a_change_stands_beside_the_rewording_noise(show, demo):
    app = show("pages/items.py", demo)
    assert "n = 126 changes" in words(app)
    assert "(3 rewordings)" in words(app)


def test_without_rewordings_the_noise_is_called_unknown(show, one_item):
    assert "no yardstick" in words(show("pages/items.py", one_item))


def test_no_page_imports_torch(demo):
    """A page must answer in milliseconds on a laptop without a GPU."""
    code = f"""
import os, sys
os.environ["STEREOSCOPE_CACHE"] = {str(demo)!r}
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=30).run()
for page in {PAGES!r}:
    app = app.switch_page(page).run()
    assert not app.exception and len(app.dataframe), page
heavy = {{"torch", "transformers", "umap", "bitsandbytes"}} & set(sys.modules)
sys.exit(f"imported {{heavy}}" if heavy else 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

"""Every page as Streamlit runs it: with scores, without, with one item, with a broken cache."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from benchmarks.make_cache import DATASET, fill
from core.analysis.items import item_table
from core.settings import ROOT
from core.store.gate import Cache
from core.store.generations import bump, content_number
from core.store.items import put_dataset
from core.store.scorers import scorers
from core.store.slices import Slice, get_slice, put_slice
from tests.heads_pages import stepped
from tests.scored import demo_items, fill_scored

AUDIT_PAGES = tuple(
    f"pages/{name}.py" for name in ("languages", "noise_floor", "shift_lab", "carry_over")
)
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


@pytest.mark.parametrize("page", [*PAGES, *AUDIT_PAGES])
def test_an_empty_cache_says_what_to_run(show, page, tmp_path):
    app = show(page, tmp_path)
    assert not app.exception
    assert [block.value for block in app.code] == [f"python -m core demo --cache {tmp_path}"]
    assert not (tmp_path / "stereoscope.duckdb").exists()


@pytest.mark.parametrize("page", [*PAGES, *AUDIT_PAGES])
def test_a_broken_cache_is_one_sentence_and_stays_as_it_is(show, page, tmp_path):
    file = tmp_path / "stereoscope.duckdb"
    file.write_bytes(b"not a database" * 1000)
    app = show(page, tmp_path)
    assert not app.exception
    assert "repair" in app.error[0].value
    assert file.read_bytes() == b"not a database" * 1000


def test_imported_items_without_scores_say_how_to_score_them(show, tmp_path):
    put_dataset(Cache(tmp_path), "mine", demo_items()[:3], path="", format="native", sha256="")
    for page in (*PAGES, *AUDIT_PAGES):
        app = show(page, tmp_path)
        assert not app.exception
        assert [block.value for block in app.code] == [
            f"python -m core score --model demo --dataset mine --cache {tmp_path}"
        ]


def test_home_counts_what_the_cache_holds(show, demo):
    app = show("pages/home.py", demo)
    grid = app.dataframe[1].value
    assert grid.loc["en"].tolist() == ["42 / 42"]
    assert grid.index[0] == "en"
    assert set(grid.index) >= {"es", "fr", "zh", "ko", "ar", "hi", "sw", "nl", "en~p3", "nl~p1"}


def rows(app: AppTest):
    """The table of the Items page: its page of the rows that pass."""
    return next(frame.value for frame in app.dataframe if "ss" in frame.value)


def widget(app: AppTest, kind: str, label: str):
    return next(w for w in getattr(app, kind) if w.label == label)


def test_filters_leave_exactly_the_rows_that_fit(show, demo):
    app = show("pages/items.py", demo)
    widget(app, "multiselect", "Condition").set_value(["sw", "hi"]).run()
    widget(app, "multiselect", "Category").set_value(["age"]).run()
    scorer_id = widget(app, "selectbox", "Scorer").value
    whole = item_table(Cache(demo), scorer_id, "demo")
    expected = whole[whole["condition"].isin(["sw", "hi"]) & (whole["category"] == "age")]
    assert rows(app)["item_id"].tolist() == expected["item_id"].tolist()
    assert f"of {len(expected)} rows that pass (570 in all)" in words(app)


def test_text_search_takes_the_words_as_they_are(show, demo):
    app = show("pages/items.py", demo)
    search = widget(app, "text_input", "Text or item contains")
    search.set_value("mountain village").run()
    assert rows(app)["item_id"].unique().tolist() == ["region-village-news"]
    widget(app, "text_input", "Text or item contains").set_value("[unclosed (").run()
    assert not app.exception
    assert "No row passes all filters" in words(app)


def test_a_regular_expression_that_cannot_be_read_says_so_and_can_be_cleared(show, demo):
    app = show("pages/items.py", demo)
    widget(app, "toggle", "Text is a regular expression").set_value(True).run()
    widget(app, "text_input", "Text or item contains").set_value("(unclosed").run()
    assert "cannot be read" in app.error[0].value
    widget(app, "button", "Clear the text filter").click().run()
    assert not app.error
    assert "(570 in all)" in words(app)


def test_when_nothing_is_left_the_filter_that_took_it_can_be_taken_off(show, demo):
    app = show("pages/items.py", demo)
    widget(app, "multiselect", "Condition").set_value(["sw"]).run()
    widget(app, "text_input", "Text or item contains").set_value("no such words").run()
    labels = [b.label for b in app.button]
    assert "Without Text: 44 of 570 rows" in labels
    assert "Without Condition: 0 of 570 rows" in labels
    widget(app, "button", "Without Text: 44 of 570 rows").click().run()
    assert "of 44 rows that pass" in words(app)


def test_the_largest_changes_come_first_when_asked(show, demo):
    app = show("pages/items.py", demo)
    widget(app, "selectbox", "Sort by").set_value("abs_change").run()
    widget(app, "toggle", "Largest first").set_value(True).run()
    sizes = rows(app)["change"].abs()
    assert sizes.is_monotonic_decreasing
    assert sizes.notna().all()


def test_stepping_goes_through_the_rows_and_turns_the_pages(show, demo):
    app = show("pages/items.py", demo)
    first = rows(app)["item_id"].tolist()
    assert app.query_params["item"] == first[0]
    stepped(app, 1)
    assert app.query_params["item"] == first[1]
    widget(app, "button", "Next rows").click().run()
    assert "Showing 101" in words(app)
    assert rows(app)["item_id"].tolist() != first


def open_link(monkeypatch, folder: Path, **query) -> AppTest:
    monkeypatch.setenv("STEREOSCOPE_CACHE", str(folder))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
    for key, value in query.items():
        app.query_params[key] = value
    return app.switch_page("pages/items.py").run()


def test_a_link_opens_its_item_under_its_filters(monkeypatch, demo):
    app = open_link(
        monkeypatch, demo, v="1", conditions="ar", item="religion-muslim-hosts", condition="ar"
    )
    assert not app.exception
    assert rows(app)["condition"].unique().tolist() == ["ar"]
    assert app.query_params["item"] == "religion-muslim-hosts"
    assert not app.warning[1:]


def test_a_link_to_an_item_turns_to_the_rows_around_it(monkeypatch, demo):
    app = open_link(monkeypatch, demo, item="religion-muslim-hosts", condition="ar")
    shown = rows(app)
    here = (shown["item_id"] == "religion-muslim-hosts") & (shown["condition"] == "ar")
    assert here.sum() == 1
    widget(app, "button", "Previous rows").click().run()
    assert not (rows(app)["condition"] == "ar").all()
    assert app.query_params["item"] == "religion-muslim-hosts"


def test_an_item_that_the_filters_hide_stays_open(monkeypatch, demo):
    app = open_link(monkeypatch, demo, item="gender-bank-head", condition="en")
    widget(app, "multiselect", "Category").set_value(["age"]).run()
    assert app.query_params["item"] == "gender-bank-head"
    assert "The filters hide the open item" in words(app)
    stepped(app, 1)
    assert app.query_params["item"] == rows(app)["item_id"].iloc[0]


def test_a_filter_on_conditions_turns_the_open_item_to_one_that_passes(monkeypatch, demo):
    app = open_link(monkeypatch, demo, item="gender-ballet-chess", condition="en")
    widget(app, "multiselect", "Condition").set_value(["sw"]).run()
    assert app.query_params["item"] == "gender-ballet-chess"
    assert app.query_params["condition"] == "sw"


def test_the_address_holds_every_field_and_the_content_number(show, demo):
    app = show("pages/items.py", demo)
    scorer_id = widget(app, "selectbox", "Scorer").value
    assert app.query_params["v"] == "1"
    assert app.query_params["sort"] == "order"
    assert app.query_params["content"] == content_number(Cache(demo), scorer_id, "demo")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"item": "no-such-item"}, "The item no-such-item is not in demo"),
        ({"dataset": "elsewhere"}, "no data set elsewhere; demo is shown instead"),
        ({"scorer": "0123456789abcdef"}, "no scorer 0123456789abcdef"),
        ({"conditions": ["xx", "es"]}, "Condition xx is not in this data set"),
        ({"slice": "gone"}, "The slice gone is not in this cache"),
        ({"ss_min": "high"}, "ss_min in the link is 'high', not a number"),
        ({"v": "7"}, "version '7'"),
        ({"text": "x" * 100_000}, "more than the 16384"),
        ({"page": "999999"}, None),
    ],
)
def test_a_link_that_does_not_fit_names_what_differs(monkeypatch, demo, query, sentence):
    app = open_link(monkeypatch, demo, **query)
    assert not app.exception
    assert len(rows(app)) > 0
    told = "\n".join(w.value.replace("\\", "") for w in app.warning[1:])
    assert sentence in told if sentence else not told


def test_a_link_from_other_scores_says_so(monkeypatch, demo):
    scorer_id = scorers(Cache(demo))["scorer_id"].iloc[0]
    app = open_link(
        monkeypatch, demo, dataset="demo", scorer=scorer_id, content="12-0000000000000000"
    )
    told = app.warning[1].value.replace("\\", "")
    assert "other scores of demo under this scorer (12 scored rows there, 554 here)" in told


def test_a_slice_of_the_shown_items_is_saved_and_chosen(show, one_item):
    app = show("pages/items.py", one_item)
    widget(app, "text_input", "Name").set_value("mine").run()
    widget(app, "button", "Save").click().run()
    assert not app.exception
    assert widget(app, "selectbox", "Slice").value == "mine"
    assert app.query_params["slice"] == "mine"
    told = app.toast[0].value.replace("\\", "")
    assert told == "Saved “mine”: 1 item; every page finds it under Items, Slice."
    assert widget(app, "text_input", "Name").value == ""


def test_a_slice_of_other_items_is_replaced_only_when_asked(show, one_item):
    put_slice(Cache(one_item), Slice("taken", "demo", "", ("another",)), replace=True)
    app = show("pages/items.py", one_item)
    widget(app, "text_input", "Name").set_value("taken").run()
    widget(app, "button", "Save").click().run()
    assert "has a slice 'taken' of other items" in app.error[0].value.replace("\\", "")
    assert get_slice(Cache(one_item), "demo", "taken").item_ids == ("another",)
    assert widget(app, "text_input", "Name").value == "taken"
    app.checkbox(key="slice-name-replace-taken").check().run()
    widget(app, "button", "Save").click().run()
    assert get_slice(Cache(one_item), "demo", "taken").item_ids != ("another",)
    assert app.toast[0].value.startswith("Saved “taken”")


def test_texts_are_blurred_when_asked(show, demo):
    app = show("pages/items.py", demo)
    assert not any("blur" in block.body for block in app.get("html"))
    widget(app, "toggle", "Blur texts until the pointer is on them").set_value(True).run()
    assert any("blur" in block.body for block in app.get("html"))


def test_where_the_numbers_come_from_is_on_the_page(show, demo):
    app = show("pages/items.py", demo)
    known = app.dataframe[-1].value.set_index("what")["value"]
    assert "torch" in known["versions"]
    assert known["scorer_id"] == widget(app, "selectbox", "Scorer").value
    assert known["content"].startswith("554-")


def test_one_row_that_changes_in_a_large_table_is_seen(monkeypatch, tmp_path):
    """Streamlit hashes only a sample of a large frame; the pages key by generation instead."""
    fill(Cache(tmp_path), 1, 5000)
    app = open_link(monkeypatch, tmp_path, dataset=DATASET, conditions="nl", item="item-004999",
                    condition="nl", text="item-004999")  # fmt: skip
    before = rows(app)["ss"].iloc[0]
    scorer_id = widget(app, "selectbox", "Scorer").value
    with Cache(tmp_path).writing() as con:
        con.execute(
            "UPDATE item_score SET l_stereotype = l_stereotype + 1 "
            "WHERE item_id = 'item-004999' AND condition = 'nl'"
        )
        bump(con, [scorer_id], [DATASET])
    app.run()
    assert rows(app)["ss"].iloc[0] > before


def test_a_change_stands_beside_the_rewording_noise(show, demo):
    app = show("pages/items.py", demo)
    assert "n = 126 changes" in words(app)
    assert "(n = 3 rewordings)" in words(app)


def test_without_rewordings_the_noise_is_called_unknown(show, one_item):
    assert "no yardstick" in words(show("pages/items.py", one_item))


def test_no_page_imports_torch(demo):
    """A page must answer in milliseconds on a laptop without a GPU."""
    code = f"""
import os, sys
os.environ["STEREOSCOPE_CACHE"] = {str(demo)!r}
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=30).run()
for page in {(*PAGES, *AUDIT_PAGES)!r}:
    app = app.switch_page(page).run()
    assert not app.exception and len(app.dataframe), page
heavy = {{"torch", "transformers", "umap", "bitsandbytes"}} & set(sys.modules)
sys.exit(f"imported {{heavy}}" if heavy else 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

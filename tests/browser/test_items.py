"""The Items page in Chromium: links, keys, filters, downloads, another cache."""

from __future__ import annotations

import io
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

from core.analysis.filtering import selected_table
from core.selection import Selection, link_query, parse_link
from core.store.gate import Cache
from core.store.scorers import scorers
from tests.browser.conftest import App, bring_into_view
from tests.scored import demo_items, fill_scored


@pytest.fixture(scope="session")
def scorer_id(scored_cache: Path) -> str:
    return str(scorers(Cache(scored_cache))["scorer_id"].iloc[0])


@pytest.fixture(scope="session")
def other_app(tmp_path_factory, scored_cache: Path):
    """The app on a cache in which fewer items are scored, by the same model."""
    folder = tmp_path_factory.mktemp("other")
    (folder / "tiny").symlink_to(scored_cache / "tiny")
    fill_scored(folder, [item for item in demo_items() if item.condition in ("en", "ar")])
    server = App(folder, folder / "log").wait()
    yield server
    server.stop()


def open_items(page: Page, app: App, selection: Selection) -> None:
    page.goto(f"{app.url}/items?{link_query(selection)}")
    expect(page.get_by_role("heading", name="Items", exact=True)).to_be_visible()
    expect(page.get_by_text("rows that pass")).to_be_visible(timeout=20_000)
    page.wait_for_url(re.compile("content=[0-9]"))  # the last thing that a run does
    # Keys are heard as soon as there are buttons that do the same.
    expect(page.get_by_role("button", name="Next item")).to_be_visible()


def address(page: Page) -> Selection:
    selection, problems = parse_link(page.url)
    assert problems == []
    return selection


def download(page: Page, label: str) -> tuple[str, bytes]:
    with page.expect_download() as pending:
        page.get_by_role("button", name=label, exact=True).click()
    return pending.value.suggested_filename, Path(pending.value.path()).read_bytes()


def test_a_link_to_an_arabic_item_shows_it_from_right_to_left(app: App, page: Page, scorer_id):
    selection = Selection(
        dataset="demo", scorer=scorer_id, item="religion-muslim-hosts", condition="ar"
    )
    open_items(page, app, selection)
    expect(page.get_by_role("heading", name="religion-muslim-hosts")).to_be_visible()
    text = page.locator("p[lang=ar]").first
    expect(text).to_contain_text("مسلمة")
    assert text.evaluate("node => getComputedStyle(node).direction") == "rtl"
    assert page.locator("p[lang=en]").first.evaluate(
        "node => getComputedStyle(node).direction"
    ) == "ltr"  # fmt: skip
    assert address(page).item == "religion-muslim-hosts"


def test_keys_step_through_the_filtered_items(app: App, page: Page, scorer_id):
    selection = Selection(dataset="demo", scorer=scorer_id, conditions=("hi",))
    open_items(page, app, selection)
    items = [item.item_id for item in demo_items() if item.condition == "hi"]
    expect(page.get_by_role("heading", name=items[0])).to_be_visible()
    page.get_by_role("heading", name="Items", exact=True).click()
    for expected in (items[1], items[2]):
        page.keyboard.press("j")
        expect(page.get_by_role("heading", name=expected)).to_be_visible()
    page.keyboard.press("k")
    expect(page.get_by_role("heading", name=items[1])).to_be_visible()
    expect(page.get_by_text("Row 2 of 44")).to_be_visible()


def test_keys_pressed_while_the_page_runs_all_count(app: App, page: Page, scorer_id):
    open_items(page, app, Selection(dataset="demo", scorer=scorer_id, conditions=("hi",)))
    items = [item.item_id for item in demo_items() if item.condition == "hi"]
    page.get_by_text("Blur texts until").click()  # what is ticked does not keep the keys
    for _ in range(5):
        page.keyboard.press("j")
    expect(page.get_by_role("heading", name=items[5])).to_be_visible()
    expect(page.get_by_text("Row 6 of 44")).to_be_visible()


def test_the_largest_changes_are_downloaded_as_they_are_shown(
    app: App, page: Page, scored_cache: Path, scorer_id
):
    selection = Selection(
        dataset="demo",
        scorer=scorer_id,
        conditions=("hi", "sw"),
        change_min=0.0,
        sort="abs_change",
        descending=True,
    )
    open_items(page, app, selection)
    expected = selected_table(Cache(scored_cache), address(page))
    name, content = download(page, "CSV")
    assert name.endswith(f"-{len(expected)}-rows.csv")
    table = pd.read_csv(io.BytesIO(content), keep_default_na=False, na_values=[""])
    assert table["item_id"].tolist() == expected["item_id"].tolist()
    for column in ("ss", "change", "l_stereotype", "l_anti", "n_anti"):
        assert table[column].tolist() == expected[column].tolist(), column
    for column in ("condition", "context", "stereotype", "anti_stereotype", "category"):
        assert table[column].tolist() == expected[column].tolist(), column
    _, content = download(page, "Parquet")
    parquet = pd.read_parquet(io.BytesIO(content))
    assert parquet["ss"].tolist() == expected["ss"].tolist()
    name, content = download(page, "LaTeX")
    assert name.endswith(".tex")
    assert content.decode().count(r"\\") == len(expected) + 1
    assert r"\toprule" in content.decode()


def test_a_click_on_a_row_opens_its_item(app: App, page: Page, scorer_id):
    open_items(page, app, Selection(dataset="demo", scorer=scorer_id, conditions=("zh",)))
    items = [item.item_id for item in demo_items() if item.condition == "zh"]
    canvas = page.get_by_test_id("stDataFrame").first.locator("canvas").first
    opened = page.get_by_role("heading", name=items[2])
    for _ in range(5):  # a table that is still being drawn does not take the first click
        bring_into_view(canvas)
        box = canvas.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + 18, box["y"] + 35 * 3 + 18)  # the box of the third row
        page.wait_for_timeout(3000)
        if opened.is_visible():
            break
    expect(page.get_by_role("heading", name=items[2])).to_be_visible()
    assert address(page).item == items[2]


def test_a_copied_link_shows_the_same_to_somebody_else(
    app: App, page: Page, browser: Browser, scorer_id
):
    open_items(page, app, Selection(dataset="demo", scorer=scorer_id, conditions=("es",)))
    page.get_by_label("Text or item contains").fill("vill")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("text=vill"))
    passing = page.get_by_text(re.compile(r"of 1 row that passes \(570 in all\)"))
    expect(passing).to_be_visible()
    shown = passing.inner_text()
    page.get_by_role("button", name="Link").click()
    link = page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").inner_text().strip()
    assert parse_qs(urlsplit(link).query)["text"] == ["vill"]
    fresh = browser.new_context().new_page()
    fresh.goto(link)
    expect(fresh.get_by_text(shown)).to_be_visible(timeout=20_000)
    assert parse_link(fresh.url)[0] == parse_link(link)[0]
    assert not fresh.get_by_text("Not everything is as the link says").is_visible()
    fresh.context.close()


def test_on_another_cache_a_banner_names_what_differs(
    app: App, other_app: App, page: Page, scorer_id
):
    selection = Selection(dataset="demo", scorer=scorer_id, conditions=("es", "ar"))
    open_items(page, app, selection)
    page.wait_for_url(re.compile("content=554"))
    page.goto(page.url.replace(app.url, other_app.url))
    banner = page.get_by_text("Not everything is as the link says").locator("..")
    expect(banner).to_be_visible(timeout=20_000)
    expect(page.get_by_text("Condition es is not in this data set")).to_be_visible()
    expect(page.get_by_text(re.compile("554 scored rows there, 85 here"))).to_be_visible()


def test_an_address_that_no_page_has_leads_home(app: App, page: Page):
    page.goto(f"{app.url}/nowhere?v=1&dataset=demo")
    expect(page.get_by_text("Page not found")).to_be_visible()
    expect(page.get_by_role("heading", name="Stereoscope")).to_be_visible()

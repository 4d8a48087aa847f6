"""The app in Chromium: it starts, shows what it should, and hands out what it shows."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
from playwright.sync_api import Page, expect

from core.analysis.items import item_table
from core.store.gate import Cache
from core.store.scorers import scorers
from tests.browser.conftest import App


def test_home_links_to_items(app: App, page: Page):
    page.goto(app.url)
    expect(page.get_by_role("heading", name="Stereoscope")).to_be_visible()
    page.get_by_role("link", name="Items").click()
    expect(page.get_by_role("heading", name="Items", exact=True)).to_be_visible()
    expect(page.get_by_text("Content warning")).to_be_visible()


def choose(page: Page, label: str, option: str) -> None:
    """Choose an option of a filter, and close its list again."""
    page.get_by_label(label).click()
    page.get_by_role("option", name=option, exact=True).click()
    page.keyboard.press("Escape")


def test_arabic_text_runs_from_right_to_left(app: App, page: Page):
    page.goto(f"{app.url}/items")
    choose(page, "Condition", "ar")
    expect(page.get_by_text("Showing 44 of 570 rows")).to_be_visible()
    text = page.locator("p[lang=ar]").first
    expect(text).to_be_visible()
    assert text.evaluate("node => getComputedStyle(node).direction") == "rtl"
    english = page.locator("p[lang=en]").first
    assert english.evaluate("node => getComputedStyle(node).direction") == "ltr"


def test_the_download_holds_exactly_the_filtered_rows(app: App, page: Page, scored_cache: Path):
    page.goto(f"{app.url}/items")
    choose(page, "Condition", "hi")
    expect(page.get_by_text("Showing 44 of 570 rows")).to_be_visible()
    with page.expect_download() as pending:
        page.get_by_role("button", name="CSV", exact=True).click()
    assert "44-rows" in pending.value.suggested_filename
    downloaded = pd.read_csv(
        io.BytesIO(Path(pending.value.path()).read_bytes()), keep_default_na=False, na_values=[""]
    )
    cache = Cache(scored_cache)
    table = item_table(cache, scorers(cache)["scorer_id"].iloc[0], "demo")
    expected = table[table["condition"] == "hi"].reset_index(drop=True)
    assert downloaded["item_id"].tolist() == expected["item_id"].tolist()
    for column in ("ss", "change", "l_stereotype", "l_anti"):
        pd.testing.assert_series_equal(downloaded[column], expected[column], check_exact=True)
    assert downloaded["stereotype"].tolist() == expected["stereotype"].tolist()


def test_the_log_stays_quiet_when_torch_is_imported_too(
    scored_cache: Path, tmp_path: Path, page: Page
):
    """A watcher that walks every module makes torch.classes answer with tracebacks."""
    server = App(scored_cache, tmp_path / "log", before="import torch").wait()
    try:
        page.goto(server.url)
        expect(page.get_by_role("heading", name="Stereoscope")).to_be_visible(timeout=60_000)
        page.wait_for_timeout(1000)  # the watcher would start after the first run
    finally:
        server.stop()
    log = server.log.read_text()
    assert "torch.classes" not in log
    assert "__path__._path" not in log
    assert "Traceback" not in log

"""The Languages page in Chromium: its link, its downloads, the way to an item."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Browser, Page, expect

from core.analysis.audit.audit import audit_tables
from core.analysis.audit.request import AuditRequest
from core.selection import Selection, link_query, parse_link
from core.store.gate import Cache
from tests.browser.conftest import App

WANTED = Selection(dataset="demo", kind="summed", margin=0.05, split="dimension", cells="score")
REQUEST = AuditRequest(dataset="demo", kind="summed", margin=0.05)


def open_page(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.get_by_text("Where these numbers come from")).to_be_visible(timeout=60_000)
    expect(page.get_by_test_id("stPlotlyChart")).to_have_count(4)


def verdict_lines(page: Page) -> list[str]:
    return page.get_by_role("listitem").filter(has_text="This does not show").all_inner_texts()


def test_a_copied_link_shows_the_same_to_somebody_else(app: App, page: Page, browser: Browser):
    open_page(page, f"{app.url}/languages?{link_query(WANTED)}")
    page.get_by_text("Mean changes").click()
    page.wait_for_url(re.compile("cells=change"))
    page.get_by_role("button", name="Link", exact=True).click()
    link = page.get_by_test_id("stCode").first.inner_text().strip()
    expected = verdict_lines(page)
    assert len(expected) == 8
    other = browser.new_page()
    try:
        open_page(other, link)
        assert verdict_lines(other) == expected
        assert parse_link(other.url) == parse_link(link)
        assert replace(parse_link(link)[0], content="") == replace(WANTED, cells="change")
    finally:
        other.close()


def test_downloads_are_what_the_screen_shows(app: App, page: Page, scored_cache: Path):
    open_page(page, f"{app.url}/languages?{link_query(WANTED)}")
    buttons = page.get_by_role("button", name="CSV", exact=True)
    expect(buttons).to_have_count(3)  # they need not appear in the page's order
    with page.expect_download() as pending:
        # By key, because charts that are still growing move the buttons under a pointer.
        buttons.first.press("Enter")
    assert pending.value.suggested_filename == "languages-demo-summed.csv"
    rows = pd.read_csv(io.BytesIO(Path(pending.value.path()).read_bytes()))
    tables = audit_tables(Cache(scored_cache), REQUEST, ["main", "verdicts"])
    main, verdicts = tables["main"].rows, tables["verdicts"].rows
    assert rows["condition"].tolist() == main["condition"].tolist()
    for column in ("score", "drop", "drop_items", "drop_items_low", "slope", "t"):
        np.testing.assert_allclose(rows[column], main[column], rtol=1e-12, err_msg=column)
    assert rows["reads"].dropna().tolist() == verdicts["reads"].tolist()
    for line, row in zip(verdict_lines(page), verdicts.itertuples(), strict=True):
        assert row.reads in line
        assert row.sentence in line


def test_an_item_that_a_verdict_hangs_on_opens(app: App, page: Page):
    open_page(page, f"{app.url}/languages?{link_query(WANTED)}")
    page.get_by_text("What do the verdicts hang on?").click()
    expect(page.get_by_text("ways to test")).to_be_visible(timeout=60_000)
    page.wait_for_url(re.compile("against=[a-z]"))
    page.get_by_role("button", name="Open on Items").click()
    expect(page.get_by_role("heading", name="Items", exact=True)).to_be_visible()
    page.wait_for_url(re.compile("item=[a-z]"))
    selection, _ = parse_link(page.url)
    expect(page.get_by_role("heading", name=selection.item)).to_be_visible()

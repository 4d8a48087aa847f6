"""The page Data sets in a real browser: a file is uploaded, looked at, imported and seen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core.store.gate import Cache
from core.store.items import datasets, stored_items
from tests.browser.conftest import App
from tests.items.test_read import row, write_jsonl

EVIL = "<img src=x onerror=\"document.title='run'\">"
ARABIC = {"context": "غادرت الممرضة الغرفة.", "stereotype": "ركضت هي", "anti_stereotype": "ركض هو"}


@pytest.fixture
def server(cache: Cache, tmp_path: Path):
    app = App(cache.folder, tmp_path / "log").wait()
    yield app
    app.stop()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Three good items, one of them in Arabic too, and a row without a stereotype."""
    rows = [row(f"i{n}", context=f"Room {n} was empty. {EVIL}") for n in range(3)]
    return write_jsonl(
        tmp_path / "rooms.jsonl", [*rows, row("i0", "ar", **ARABIC), row("bad", stereotype="")]
    )


def test_a_file_is_uploaded_imported_and_seen(
    server: App, page: Page, file: Path, cache: Cache, tmp_path: Path
) -> None:
    page.goto(f"{server.url}/data_sets")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_text("missing_role (1)")).to_be_visible()
    expect(page.get_by_text("or choose to leave these rows out")).to_be_visible()
    expect(page.get_by_role("button", name="Import", exact=True)).to_have_count(0)
    assert not cache.exists()

    page.get_by_test_id("stRadioGroup").get_by_text("Leave these rows out").click()
    expect(page.get_by_text("Read a few items with their labels")).to_be_visible()
    arabic = page.locator("p[lang=ar]").first
    expect(arabic).to_have_text(ARABIC["context"])
    assert arabic.evaluate("node => getComputedStyle(node).direction") == "rtl"
    expect(page.locator("p[lang=en]").first).to_contain_text("<img src=x")
    with page.expect_download() as download:
        page.get_by_test_id("stDownloadButton").first.get_by_role("button").click()
    assert b"missing_role" in Path(download.value.path()).read_bytes()

    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text(re.compile("rooms: stored 4 rows"))).to_be_visible()
    expect(page.get_by_role("tab", name="What became of the rows")).to_be_visible()
    assert datasets(cache)["dataset"].tolist() == ["rooms"]
    assert [item.item_id for item in stored_items(cache, "rooms")] == ["i0", "i1", "i2", "i0"]
    assert page.title() != "run", "texts are never run"
    assert list((cache.folder / "uploads").iterdir()) == []

    page.get_by_role("tab", name="What was found").click()
    expect(page.get_by_text("Looked for in 4 rows")).to_be_visible()
    page.get_by_role("tab", name="Pipeline checks").click()
    expect(page.get_by_text("Role derivation")).to_be_visible()
    page.get_by_role("tab", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Items as JSONL").click()
    again = tmp_path / "again.jsonl"
    download.value.save_as(again)
    assert again.read_text("utf-8").count("\n") == 4
    page.reload()
    expect(page.get_by_role("tab", name="What was found")).to_be_visible()

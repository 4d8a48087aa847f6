"""The app in Chromium: it starts, shows what it should, and hands out what it shows."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import App


def test_home_links_to_items(app: App, page: Page):
    page.goto(app.url)
    expect(page.get_by_role("heading", name="Stereoscope")).to_be_visible()
    page.get_by_role("link", name="Items").click()
    expect(page.get_by_role("heading", name="Items", exact=True)).to_be_visible()
    expect(page.get_by_text("Content warning")).to_be_visible()


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

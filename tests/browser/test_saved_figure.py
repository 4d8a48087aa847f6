"""A saved figure in Chromium: it opens from a disk and asks nobody for anything."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

from tests.export.test_figures import example


def test_it_opens_from_a_disk_without_a_request(page: Page, tmp_path: Path):
    file = tmp_path / "figure.html"
    file.write_bytes(example())
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector(".main-svg")
    page.hover(".js-plotly-plot")
    buttons = page.locator(".modebar-btn").evaluate_all(
        "all => all.map(b => b.dataset.title || b.getAttribute('rel') || b.className)"
    )
    page.wait_for_timeout(200)  # for a request that should not come
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert any("Download" in button for button in buttons)
    assert not any(word in button for button in buttons for word in ("loud", "logo", "Produced"))

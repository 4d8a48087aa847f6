"""The Noise floor page in Chromium: charts are drawn, and what is downloaded is what is shown."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pandas as pd
from playwright.sync_api import Page, expect

from core.analysis.audit.audit import audit_panel
from core.analysis.audit.floors import floors_by_model
from core.analysis.audit.request import AuditRequest
from core.selection import Selection, link_query, parse_link
from core.store.gate import Cache
from tests.browser.conftest import App


def test_charts_are_drawn_and_downloads_are_what_is_shown(app: App, page: Page, scored_cache: Path):
    page.set_viewport_size({"width": 390, "height": 4000})
    page.goto(f"{app.url}/noise_floor?{link_query(Selection(dataset='demo', kind='binary'))}")
    expect(page.get_by_role("heading", name="How single items change")).to_be_visible(
        timeout=60_000
    )
    expect(page.locator(".js-plotly-plot:visible")).to_have_count(4, timeout=60_000)
    page.wait_for_url(re.compile("kind=binary"))
    assert parse_link(page.url)[1] == []
    for chart in page.locator(".js-plotly-plot:visible").all():
        box = chart.bounding_box()
        assert box is not None
        assert box["width"] <= 390
    # Expanders hold tables too; the first table in sight is that of the models.
    with page.expect_download() as pending:
        page.get_by_role("button", name="CSV", exact=True).first.click()
    shown = pd.read_csv(io.BytesIO(Path(pending.value.path()).read_bytes()))
    request = AuditRequest(dataset="demo", kind="binary")
    expected = floors_by_model(audit_panel(Cache(scored_cache), request), request).rows
    for column in ("floor", "expected_noise", "n_rewordings", "n_items"):
        assert shown[column].tolist() == expected[column].tolist()

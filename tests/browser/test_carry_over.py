"""The Carry-over page in Chromium: what is drawn around becomes a slice, a click opens an item."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pandas as pd
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from benchmarks.simulated_audit import DATASET, fill_audit
from core.analysis.audit.audit import audit_panel
from core.analysis.audit.points import MEAN, points
from core.analysis.audit.request import AuditRequest
from core.selection import Selection, link_query, parse_link
from core.store.gate import Cache
from core.store.slices import get_slice
from tests.browser.conftest import App, bring_into_view
from tests.stored_slices import forget_slice

NAME = "corner"
DOT = ".scatterlayer .trace .points path"


WANTED = Selection(dataset=DATASET, against="hi", points=MEAN)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory) -> Cache:
    """Simulated scores, which lie apart; those of a tiny model are all about 0.5."""
    cache = Cache(tmp_path_factory.mktemp("carry-over"))
    fill_audit(cache, n_items=24)
    return cache


@pytest.fixture(scope="module")
def drawn_app(drawn: Cache) -> Iterator[App]:
    server = App(drawn.folder, drawn.folder / "log").wait()
    yield server
    server.stop()


@pytest.fixture
def shown(drawn: Cache) -> Iterator[pd.DataFrame]:
    """The points of Hindi; afterwards the slice is gone."""
    request = AuditRequest(dataset=DATASET)
    yield points(audit_panel(drawn, request), request, "hi", of=MEAN).rows
    forget_slice(drawn, DATASET, NAME)


def open_page(page: Page, app: App) -> None:
    page.goto(f"{app.url}/carry_over?{link_query(WANTED)}")
    expect(page.get_by_text("Where these numbers come from")).to_be_visible(timeout=60_000)


def scatter(page: Page, *, drag: str) -> Locator:
    """The chart when it is drawn, and dragging does what was asked for."""
    chart = page.get_by_test_id("stPlotlyChart").nth(1)
    expect(chart.locator(DOT).first).to_be_visible()
    ready = "drag => document.querySelectorAll('.js-plotly-plot')[1]._fullLayout.dragmode === drag"
    page.wait_for_function(ready, arg=drag)
    bring_into_view(chart)
    return chart


def centres(chart: Locator) -> list[tuple[float, float]]:
    boxes = [dot.bounding_box() for dot in chart.locator(DOT).all()]
    return [(b["x"] + b["width"] / 2, b["y"] + b["height"] / 2) for b in boxes if b]


def draw_around(page: Page, left: float, top: float, right: float, bottom: float) -> None:
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((right, top), (right, bottom), (left, bottom), (left, top)):
        page.mouse.move(x, y, steps=8)
    page.mouse.up()


def test_what_is_drawn_around_is_saved_as_a_slice_and_found_on_items(
    drawn_app: App, page: Page, drawn: Cache, shown: pd.DataFrame
):
    open_page(page, drawn_app)
    page.get_by_text("Draw around items", exact=True).click()
    chart = scatter(page, drag="lasso")
    places = centres(chart)
    assert len(places) == len(shown)
    middle = sorted(x for x, _ in places)[len(places) // 2]
    chosen = shown[[x < middle - 0.5 for x, _ in places]]
    (left, right), (top, bottom) = ((min(v), max(v)) for v in zip(*places, strict=True))
    assert right > middle
    draw_around(page, left - 8, top - 8, middle - 0.5, bottom + 8)
    expect(page.get_by_text(re.compile(f"^{len(chosen)} items .*largest change"))).to_be_visible()
    page.get_by_label("Name of the slice").fill(NAME)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Save as slice").click()
    expect(page.get_by_text(f"Saved “{NAME}”: {len(chosen)} items")).to_be_visible()
    assert set(get_slice(drawn, DATASET, NAME).item_ids) == set(chosen["item_id"])
    page.get_by_role("button", name="Show them on Items").click()
    expect(page.get_by_role("heading", name="Items", exact=True)).to_be_visible()
    page.wait_for_url(re.compile(f"slice={NAME}"))
    expect(page.get_by_text("rows that pass")).to_be_visible()
    assert parse_link(page.url)[0].slice == NAME
    # The other pages of the audit know it too.
    page.get_by_role("link", name="Carry-over").click()
    expect(page.get_by_text("Items (1 filter set)")).to_be_visible()
    page.wait_for_url(re.compile(f"carry_over.*slice={NAME}"))
    expect(page.get_by_text(f"{len(chosen)} points of {len(chosen)} items")).to_be_visible()


def test_a_click_on_a_point_opens_its_item_in_that_language(
    drawn_app: App, page: Page, shown: pd.DataFrame
):
    open_page(page, drawn_app)
    places = centres(scatter(page, drag="pan"))
    gaps = [min(abs(x - a) + abs(y - b) for a, b in places if (a, b) != (x, y)) for x, y in places]
    lonely = gaps.index(max(gaps))
    page.mouse.move(*places[lonely])
    page.wait_for_timeout(300)
    page.mouse.click(*places[lonely])
    item = shown["item_id"].iloc[lonely]
    expect(page.get_by_role("heading", name=item)).to_be_visible()
    page.wait_for_url(re.compile(f"items.*item={item}&condition=hi"))


def test_a_link_shows_the_same_version_points_and_filter(
    drawn_app: App, page: Page, browser: Browser
):
    open_page(page, drawn_app)
    box = page.get_by_test_id("stSelectbox").filter(has_text="Versions that count").locator("input")
    box.click()
    box.fill("judged")
    expect(page.get_by_role("option")).to_have_count(1)
    box.press("Enter")
    page.wait_for_url(re.compile("quality=judged"))
    caption = page.get_by_text("Only versions with judged preserved")
    expect(caption).to_be_visible()
    said = caption.inner_text()
    page.get_by_role("button", name="Link").click()
    link = page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").inner_text().strip()
    fresh = browser.new_context().new_page()
    fresh.goto(link)
    expect(fresh.get_by_text(said)).to_be_visible(timeout=60_000)
    assert parse_link(fresh.url)[0] == parse_link(link)[0]
    assert parse_link(link)[0].quality == "judged preserved"
    fresh.context.close()

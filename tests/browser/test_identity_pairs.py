"""Identity pairs in Chromium: cells and dots open pairs; keys, links, files, a narrow screen."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from core.analysis.identities.confounds import confounded_pairs
from core.analysis.identities.panel import identity_panels
from core.analysis.identities.rows import IdentityRequest
from core.analysis.identities.tables import ALL_PAIRS, identity_table
from core.selection import Selection, link_query, parse_link
from core.store.gate import Cache
from pages.shared.identities.views import VIEWS
from tests.browser.conftest import App, bring_into_view
from tests.browser.test_carry_over import centres
from tests.identity_caches import fill, mixed
from tests.store_samples import OTHER, SCORER


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[App, Cache]]:
    """The app on three identities under two models."""
    cache = Cache(tmp_path_factory.mktemp("identities"))
    fill(cache, "mixed", mixed("mixed", "en"), (SCORER, OTHER))
    server = App(cache.folder, cache.folder / "log").wait()
    yield server, cache
    server.stop()


def open_page(page: Page, app: App, **asked: object) -> None:
    query = link_query(Selection(dataset="mixed", **asked))  # type: ignore[arg-type]
    page.goto(f"{app.url}/identity_pairs?{query}")
    arrived(page)


def arrived(page: Page) -> None:
    """Wait for the foot of the page, and for the address that the run writes last."""
    expect(page.get_by_text("Where these numbers come from")).to_be_visible(timeout=60_000)
    page.wait_for_url(re.compile("content=2_"))


def look_at(page: Page, view: str) -> None:
    page.get_by_role("radio", name=VIEWS[view], exact=True).click()
    page.wait_for_url(re.compile(f"identity_view={view}"))


def chart(page: Page, name: str) -> Locator:
    """A figure whose points are there and have come to rest."""
    found = page.locator(f".st-key-figure-{name}")
    expect(found.locator(".points path").first).to_be_attached()
    bring_into_view(found)
    return found


def customdata(chart: Locator, kind: str) -> list[list[str]]:
    """What the points of the figure's trace of that name carry."""
    code = "(node, name) => node.querySelector('.js-plotly-plot').data.filter(t => t.name && "
    code += "t.name.startsWith(name) && t.customdata).flatMap(t => t.customdata)"
    return chart.evaluate(code, kind)  # type: ignore[no-any-return]


def opened_item(page: Page, number: int, of: int, *, before: str = "") -> str:
    """The open item, when it is another one than before and the row of that number."""
    page.wait_for_url(re.compile(f"item=(?!{before}&)[A-Z]"))  # the last thing that a run does
    item = parse_link(page.url)[0].item
    expect(page.get_by_role("heading", name=item)).to_be_visible()
    expect(page.get_by_text(f"Row {number} of {of}", exact=True)).to_be_visible()
    return item


def test_a_cell_opens_its_model_and_identity_keys_step_and_the_link_restores_all(
    pairs: tuple[App, Cache], page: Page, browser: Browser
) -> None:
    app, _ = pairs
    open_page(page, app)
    figure = chart(page, "identity-map")
    cells = customdata(figure, "cells")
    at = next(i for i, cell in enumerate(cells) if cell[:2] == ["tiny, bfloat16", "Lesbian"])
    page.mouse.click(*centres(figure)[at])
    page.wait_for_url(re.compile(f"scorer={OTHER.scorer_id}.*identity=Lesbian"))
    look_at(page, "pairs")
    expect(page.get_by_text("12 pairs of 36")).to_be_visible()
    first = opened_item(page, 1, 12)
    page.get_by_role("heading", name="Identity pairs").click()
    page.keyboard.press("j")
    second = opened_item(page, 2, 12, before=first)
    page.keyboard.press("k")
    assert opened_item(page, 1, 12, before=second) == first
    page.get_by_text("Only the 4 confounded").click()
    clean = opened_item(page, 1, 4, before=first)
    page.keyboard.press("j")
    item = opened_item(page, 2, 4, before=clean)
    page.get_by_role("button", name="Link", exact=True).click()
    link = page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").inner_text().strip()
    wanted, problems = parse_link(link)
    assert problems == []
    fresh = browser.new_context().new_page()
    fresh.goto(link)
    arrived(fresh)
    assert opened_item(fresh, 2, 4) == item
    assert parse_link(fresh.url)[0] == wanted
    assert (wanted.scorer, wanted.identity) == (OTHER.scorer_id, "Lesbian")
    assert (wanted.identity_view, wanted.only_confounded) == ("pairs", True)
    expect(fresh.get_by_test_id("stAlert").filter(has_text="link")).to_have_count(0)
    fresh.context.close()


def test_a_dot_of_a_predicate_opens_its_pairs_and_the_file_holds_the_dots(
    pairs: tuple[App, Cache], page: Page
) -> None:
    app, cache = pairs
    open_page(page, app, identity_view="harmfulness", identity="Gay")
    figure = chart(page, "identity-harm")
    page.get_by_role("button", name="Save").last.click()
    with page.expect_download() as pending:
        page.get_by_test_id("stPopoverBody").get_by_role("button", name="Numbers as CSV").click()
    page.keyboard.press("Escape")
    file = pd.read_csv(io.BytesIO(Path(pending.value.path()).read_bytes()))
    panels = identity_panels(cache, "mixed")
    request = IdentityRequest(confounded=frozenset(confounded_pairs(cache, "mixed")))
    rows = identity_table(panels, "predicates", request).rows
    rows = rows[(rows["model"] == "tiny, float32") & (rows["pairs"] == ALL_PAIRS)]
    assert pending.value.suggested_filename == f"identity-harm-{len(rows)}-rows.csv"
    assert file["predicate"].tolist() == rows["predicate"].tolist()
    for column in ("harmfulness", "mean_difference", "n"):
        np.testing.assert_allclose(file[column], rows[column], rtol=1e-12)
    dots = customdata(figure, "predicates")
    assert [dot[0] for dot in dots] == rows["predicate"].tolist()
    figure = chart(page, "identity-harm")
    page.mouse.click(*centres(figure)[2])
    page.wait_for_url(re.compile("predicate=be.2.*identity_view=pairs"))
    expect(page.get_by_text("6 pairs of 36")).to_be_visible()
    selection, _ = parse_link(page.url)
    assert (selection.predicate, selection.identity) == ("be 2", "")


def beyond(page: Page) -> list[str]:
    """What reaches beyond the screen to the left or right: the page itself, or controls.

    Charts and tables take a moment to find their width.
    """
    code = """node => {
        const wide = Math.max(node.scrollWidth, document.documentElement.scrollWidth);
        const controls = [...node.querySelectorAll('button, label, input, canvas, svg.main-svg')];
        const out = controls.map(one => [one, one.getBoundingClientRect()]).filter(
            ([_, box]) => box.width > 1 && (box.left < 0 || box.right > innerWidth));
        return [...(wide > innerWidth ? [`${wide} px`] : []), ...out.map(([one]) => one.outerHTML)];
    }"""
    found: list[str] = []
    for _ in range(20):
        found = page.get_by_test_id("stMain").evaluate(code)
        if not found:
            break
        page.wait_for_timeout(250)
    return found


def test_nothing_is_wider_than_a_narrow_screen_and_controls_work_there(
    pairs: tuple[App, Cache], page: Page
) -> None:
    app, _ = pairs
    page.set_viewport_size({"width": 390, "height": 844})
    open_page(page, app)
    assert beyond(page) == []
    for view in list(VIEWS)[1:]:  # the last is that of single pairs
        look_at(page, view)
        assert beyond(page) == [], view
    box = page.get_by_test_id("stSelectbox").filter(has_text="Model").locator("input")
    bring_into_view(box, "center")
    box.click()
    page.get_by_role("option", name="tiny, bfloat16").click()
    page.wait_for_url(re.compile(f"scorer={OTHER.scorer_id}"))
    first = opened_item(page, 1, 36)
    page.get_by_role("button", name="Next item").click()
    opened_item(page, 2, 36, before=first)
    assert beyond(page) == []

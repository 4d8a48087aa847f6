"""The pages about heads in Chromium: a link shows the same, files hold what is drawn, keys step."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from safetensors import safe_open

from core.analysis.heads.axis_view import axis_view
from core.analysis.heads.chosen import choose, parse_choice
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import compute_and_store
from core.selection import Selection, link_query, parse_link
from core.store.gate import Cache
from core.types import HeadReader
from tests.browser.conftest import App, bring_into_view
from tests.browser.test_head_map import GRID, drag
from tests.heads_pages import MODEL, SECOND, planted
from tests.planted_cache import AXES, CONCEPTS, REFERENCE, STEREOTYPED, made_axes
from tests.planted_heads import planted_heads

IDS = [axis.axis_id for axis in made_axes(len(MODEL.axes))]
SHAPE = MODEL.base.shape[:2]


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> tuple[Cache, HeadReader]:
    cache = Cache(tmp_path_factory.mktemp("heads"))
    reader = planted(cache, other=planted_heads(seed=4))
    for reference in (REFERENCE, SECOND):
        compute_and_store(cache, question(reader, reference=reference))
    return cache, reader


@pytest.fixture(scope="module")
def heads_app(held: tuple[Cache, HeadReader], tmp_path_factory) -> Iterator[App]:
    server = App(held[0].folder, tmp_path_factory.mktemp("log") / "log").wait()
    yield server
    server.stop()


def question(reader: HeadReader, **fields) -> HeadsQuestion:
    names = {"axes": AXES, "concepts": CONCEPTS, "reference": REFERENCE, "k": 3}
    return HeadsQuestion(reader_id=reader.reader_id, **(names | fields))


def open_page(page: Page, app: App, name: str, reader: HeadReader, **fields) -> None:
    names = {"axes": AXES, "concepts": CONCEPTS, "reference_set": REFERENCE, "heads": "k3"}
    wanted = Selection(reader=reader.reader_id, **(names | fields))
    page.goto(f"{app.url}/{name}?{link_query(wanted)}")
    expect(page.get_by_text("Where these numbers come from")).to_be_visible(timeout=60_000)
    # Texts come before anything that waits for its scripts, which the first charts keep busy; until
    # all of them are there, what stands on the page is drawn anew.
    expect(page.get_by_role("button", name="Next axis").first).to_be_visible(timeout=60_000)
    page.wait_for_load_state("networkidle")


def linked(page: Page) -> str:
    """The address under *Link*."""
    page.get_by_role("button", name="Link", exact=True).click()
    return page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").inner_text().strip()


def state_of(page: Page) -> Selection:
    return parse_link(page.url)[0]


def press(page: Page, key: str, reached: Callable[[str], bool]) -> None:
    """Press a key once, and wait for the axis to which it leads."""
    page.keyboard.press(key)
    page.wait_for_url(lambda url: reached(parse_link(url)[0].axis))


def test_a_link_restores_heads_axis_and_models(
    heads_app: App, page: Page, browser: Browser, held
) -> None:
    open_page(page, heads_app, "head_map", held[1], axis=IDS[4])
    grid = page.locator(GRID).first
    expect(grid.locator("canvas").first).to_be_visible(timeout=60_000)
    bring_into_view(grid)
    drag(page, grid, (1, 1), (2, 4), SHAPE)
    page.mouse.up()
    page.wait_for_url(re.compile("heads=rect%3A1%2C1%2C2%2C4"))
    sentences = page.get_by_text("Over 8 heads (layers 1 to 2, heads 1 to 4)")
    expect(sentences).to_have_count(2)  # one for either set of phrases
    box = page.get_by_test_id("stSelectbox").filter(has_text="Beside").locator("input")
    box.click()
    page.get_by_role("option").nth(1).click()
    page.wait_for_url(re.compile("reader_compare=[0-9a-f]"))
    expect(page.get_by_text("side by side", exact=True)).to_be_visible()
    link, shown = linked(page), sentences.first.inner_text()
    said = shown[shown.index("Over 8 heads") :]  # behind the badge
    fresh = browser.new_context().new_page()
    fresh.goto(link)
    expect(fresh.get_by_text(said)).to_be_visible(timeout=60_000)
    expect(fresh.locator(GRID).first).to_be_visible()
    again = parse_link(fresh.url)[0]
    assert again == parse_link(link)[0]
    assert (again.axis, again.heads) == (IDS[4], "rect:1,1,2,4")
    assert (again.reader, again.reader_compare) == (
        held[1].reader_id,
        state_of(page).reader_compare,
    )
    fresh.context.close()


def test_keys_go_from_axis_to_axis(heads_app: App, page: Page, held) -> None:
    open_page(page, heads_app, "axes", held[1])
    names = [f"word{2 * i} – word{2 * i + 1}" for i in range(len(IDS))]
    first = state_of(page).axis
    assert IDS.index(first) in STEREOTYPED  # the list begins with the most different
    page.get_by_role("heading", name="Axes", exact=True).click()
    press(page, "j", lambda axis: axis != first)
    second = state_of(page).axis
    expect(page.get_by_text("Axis 2 of 8")).to_be_visible()
    expect(page.get_by_text(f"{names[IDS.index(second)]}: groups").first).to_be_visible()
    press(page, "k", lambda axis: axis == first)
    page.get_by_role("link", name="Head map").click()
    grid = page.locator(GRID).first
    expect(grid.locator("canvas").first).to_be_visible(timeout=60_000)
    page.wait_for_url(lambda url: parse_link(url)[0].axis == first)  # what is open stays open
    press(page, "j", lambda axis: axis == second)


@pytest.mark.parametrize("name", ["axes", "head_map", "atlas"])
def test_keys_pressed_while_a_page_runs_all_count(heads_app: App, page: Page, held, name) -> None:
    open_page(page, heads_app, name, held[1])
    for _ in range(5):
        page.keyboard.press("j")
    expect(page.get_by_text("Axis 6 of 8")).to_be_visible()
    for key in "kjkk":
        page.keyboard.press(key)
        page.wait_for_timeout(150)  # into the runs that the keys before have asked for
    expect(page.get_by_text("Axis 4 of 8")).to_be_visible()
    for _ in range(9):  # also when it is the last one already
        page.get_by_role("button", name="Next axis").first.dispatch_event("click")
    page.keyboard.press("k")  # the last is the last, so that this goes back from there
    expect(page.get_by_text("Axis 7 of 8")).to_be_visible()


def test_a_key_pressed_as_soon_as_there_is_a_button_counts(
    heads_app: App, page: Page, held
) -> None:
    names = {"axes": AXES, "concepts": CONCEPTS, "reference_set": REFERENCE}
    page.goto(f"{heads_app.url}/axes?{link_query(Selection(reader=held[1].reader_id, **names))}")
    expect(page.get_by_role("button", name="Next axis")).to_be_visible(timeout=60_000)
    press(page, "j", lambda axis: axis != "")
    expect(page.get_by_text("Axis 2 of 8")).to_be_visible()


def test_a_held_key_goes_on(heads_app: App, page: Page, held) -> None:
    open_page(page, heads_app, "axes", held[1])
    page.keyboard.down("j")
    page.keyboard.down("j")  # the keyboard repeats it
    page.keyboard.up("j")
    expect(page.get_by_text("Axis 3 of 8")).to_be_visible()


def test_files_hold_what_is_drawn(heads_app: App, page: Page, held, tmp_path: Path) -> None:
    cache, reader = held
    open_page(page, heads_app, "axes", reader, axis=IDS[1])
    chart = page.get_by_test_id("stPlotlyChart").first
    expect(chart.locator(".scatterlayer .trace").first).to_be_visible()
    drawn = page.evaluate(
        "() => document.querySelector('.js-plotly-plot')._fullData.map(t => [...t.x])"
    )
    page.get_by_role("button", name="Save").first.click()
    with page.expect_download() as waited:
        page.get_by_role("button", name="Numbers as CSV").click()
    waited.value.save_as(tmp_path / "values.csv")
    rows = list(csv.DictReader((tmp_path / "values.csv").read_text("utf-8").splitlines()))
    written = {
        kind: sorted(float(row["value"]) for row in rows if row["kind"] == kind)
        for kind in ("reference", "concept")
    }
    assert [sorted(values) for values in drawn] == [
        pytest.approx(written["reference"]),
        pytest.approx(written["concept"]),
    ]
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Take along").click()
    with page.expect_download() as waited:
        page.get_by_role("button", name="Directions").click()
    assert waited.value.suggested_filename.endswith(".safetensors")
    waited.value.save_as(tmp_path / "a.safetensors")
    view = axis_view(cache, question(reader), IDS[1])
    found = choose(view, parse_choice("k3", *view.shape), seed=1)
    with safe_open(tmp_path / "a.safetensors", "numpy") as file:
        heads, n_heads = file.get_tensor("heads"), SHAPE[1]
        assert file.metadata()["axis_id"] == IDS[1]
    assert [layer * n_heads + head for layer, head in heads.tolist()] == found.heads.tolist()


def test_a_click_opens_an_axis_in_the_list_and_on_the_atlas(
    heads_app: App, page: Page, held
) -> None:
    open_page(page, heads_app, "axes", held[1])
    first = state_of(page).axis
    table = page.get_by_test_id("stDataFrame").nth(1)  # after the values
    bring_into_view(table)
    box = table.bounding_box()
    assert box
    page.mouse.click(box["x"] + 17, box["y"] + 35 * 4 + 17)  # the mark of the fourth row
    page.wait_for_url(lambda url: parse_link(url)[0].axis != first)
    expect(page.get_by_text("Axis 4 of 8")).to_be_visible()
    page.get_by_role("link", name="Atlas").click()
    points = page.locator(".scatterlayer .trace .points path")
    expect(points.first).to_be_visible(timeout=60_000)
    fourth = state_of(page).axis
    bring_into_view(points.first)
    for place in range(len(IDS)):
        box = points.nth(place).bounding_box()
        assert box
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_timeout(300)
        if page.locator(".hoverlayer .hovertext").count():
            page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            break
    page.wait_for_url(lambda url: parse_link(url)[0].axis != fourth)


def test_a_narrow_screen_holds_everything(heads_app: App, browser: Browser, held) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
    for name in ("head_map", "axes", "atlas"):
        open_page(page, heads_app, name, held[1], axis=IDS[1])
        page.wait_for_timeout(1000)  # charts take the width that they find
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0
    page.close()

"""The head map in Chromium: what is dragged is previewed, and what is released is Python's."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Iterator
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from benchmarks.drag import serving
from core.analysis.heads.axis_view import AxisView
from core.analysis.heads.chosen import Chosen, HeadChoice, choose, parse_choice
from pages.shared.head_map.component import script
from pages.shared.head_map.data import head_map_data
from tests.browser.conftest import bring_into_view
from tests.head_views import made_view

GRID = ".panel.grid"
# Where cells lie: core numbers of grid.js.
LEFT, TOP, BELOW = 38, 4, 32


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving() as found:
        yield found


def open_map(page: Page, address: str, query: str = "") -> Locator:
    page.goto(f"{address}/?{query}")
    grid = page.locator(GRID).first
    expect(grid.locator("canvas").first).to_be_visible(timeout=60_000)
    expect(page.locator(".said")).to_be_attached()
    return grid


def centre_of(grid: Locator, layer: int, head: int, shape=(32, 32)) -> tuple[float, float]:
    """Where the middle of a cell is on the page."""
    box = grid.bounding_box()
    assert box
    width, height = box["width"] - LEFT - 4, box["height"] - TOP - BELOW
    x = box["x"] + LEFT + (head + 0.5) * width / shape[1]
    return x, box["y"] + TOP + (layer + 0.5) * height / shape[0]


def drag(page: Page, grid: Locator, first, last, shape=(32, 32)) -> None:
    page.mouse.move(*centre_of(grid, *first, shape))
    page.mouse.down()
    page.mouse.move(*centre_of(grid, *last, shape), steps=6)


def tile(page: Page, place: int) -> str:
    return page.locator(".tile").nth(place).locator(".value").first.inner_text()


def asks(page: Page, choice: str) -> None:
    """Wait until the address carries the choice, and what is shown is no preview."""
    expect(page).to_have_url(re.compile(re.escape(f"choice={quote(choice, safe='')}")))
    expect(page.locator(".state")).to_have_text("computed")


def truth(choice: str, shape=(32, 32), n=25, axis=0, seed=0) -> Chosen:
    return choose(
        made_view(*shape, n, n, axis=axis, seed=seed), parse_choice(choice, *shape), seed=42
    )


def shows(page: Page, found: Chosen) -> None:
    """The tiles say what Python computed."""
    expect(page.locator(".tile .value").first).to_have_text(f"{len(found.heads):,}")
    assert tile(page, 1) == f"D = {found.statistic:.3f}"
    assert abs(float(tile(page, 2)) - found.accuracy) <= 0.0051  # of two digits


PREVIEWS = """
async ([code, data, choices]) => {
  const parts = "\\nexport { modelsOf, parseChoice, choiceText, previewOf };";
  const url = URL.createObjectURL(new Blob([code + parts], { type: "text/javascript" }));
  const map = await import(url);
  const model = map.modelsOf(data)[0];
  const labels = data.concepts.map(concept => concept.label);
  return choices.map(text => {
    const choice = map.parseChoice(text);
    const found = map.previewOf(choice, model, labels);
    const { ks, positions } = found;
    return {
      text: map.choiceText(choice), n: found.heads.length, skipped: found.skipped,
      values: [...found.values].map(v => Number.isFinite(v) ? v : null),
      ks: [ks.statistic, ks.nConcepts, ks.nReference].map(v => Number.isFinite(v) ? v : null),
      positions: [positions.accuracy, positions.majority, positions.centre, positions.nLabelled]
        .map(v => Number.isFinite(v) ? v : null),
      reasons: [ks.reason, positions.reason],
    };
  });
}
"""


def previews(page: Page, view: AxisView, choices: list[str]) -> list[dict]:
    """What JavaScript finds, from the very message that Python sends."""
    data = head_map_data(view, None, choice=HeadChoice(), model="made")
    page.goto("about:blank")
    return page.evaluate(PREVIEWS, [script(), json.loads(json.dumps(data)), choices])


def same(found: float | None, expected: float) -> bool:
    """Equal to 1e-6, or both undefined."""
    if found is None or math.isnan(expected):
        return found is None and math.isnan(expected)
    return abs(found - expected) <= 1e-6


def check_previews(page: Page, view: AxisView, choices: list[str]) -> None:
    labelled_first = sorted(range(len(view.concepts)), key=lambda i: view.labels[i] is None)
    columns = [*labelled_first, *range(len(view.concepts), view.z.shape[1])]
    for text, found in zip(choices, previews(page, view, choices), strict=True):
        expected = choose(view, parse_choice(text, *view.shape), seed=1)
        assert found["text"] == text
        assert (found["n"], found["skipped"]) == (len(expected.heads), expected.n_skipped), text
        for value, known in zip(found["values"], expected.values[columns], strict=True):
            assert same(value, known), text
        statistic, n_concepts, n_reference = found["ks"]
        assert same(statistic, expected.statistic), text
        accuracy, majority, centre, n_labelled = found["positions"]
        assert same(accuracy, expected.accuracy), text
        assert same(centre, expected.centre), text
        if accuracy is not None:
            assert same(majority, expected.majority)
            assert (n_concepts, n_reference) == (expected.n_concepts, expected.n_reference)
            assert n_labelled == expected.n_labelled
        assert [bool(r) for r in found["reasons"]] == [
            bool(expected.reason),
            bool(expected.position_reason),
        ]


def random_choices(n: int, n_layers: int, n_heads: int) -> list[str]:
    """Rectangles, single heads and numbers of heads, drawn by a seed."""
    rng = np.random.default_rng(5)
    found = ["all", "k1", f"k{n_layers * n_heads}"]
    while len(found) < n:
        layers, heads = (
            np.sort(rng.integers(n_layers, size=2)),
            np.sort(rng.integers(n_heads, size=2)),
        )
        box = HeadChoice(box=(int(layers[0]), int(heads[0]), int(layers[1]), int(heads[1])))
        k = HeadChoice(k=int(rng.integers(1, n_layers * n_heads)))
        found.append(str(box if len(found) % 3 else k))
    return found


def test_the_preview_is_what_python_finds_on_fifty_selections(page: Page):
    check_previews(page, made_view(32, 32, 100, 100, n_dead=40), random_choices(50, 32, 32))


def test_so_it_is_with_ties_unknown_phrases_and_dead_heads(page: Page):
    view = made_view(6, 5, 20, 18, n_dead=4)
    z = view.z.copy()
    z[:, 20:26] = z[:, :6]  # reference phrases that are concepts too
    z[:, [3, 30]] = np.nan
    view = dataclasses.replace(view, z=z)
    dead = int(np.flatnonzero(~np.isfinite(z).any(axis=1))[0])
    choices = [*random_choices(25, 6, 5), f"head:{dead // 5},{dead % 5}"]
    check_previews(page, view, choices)


@pytest.mark.parametrize(
    "view",
    [
        made_view(6, 5, 20, 0),
        made_view(6, 5, 1, 12),
        made_view(6, 5, 20, 18, dimension=""),
    ],
    ids=["no reference", "one concept", "no labels"],
)
def test_what_is_undefined_is_so_in_both(page: Page, view: AxisView):
    check_previews(page, view, random_choices(12, 6, 5))


def test_a_rectangle_is_previewed_while_dragged_and_computed_when_released(
    page: Page, address: str
):
    grid = open_map(page, address)
    asks_default = page.locator(".state")
    expect(asks_default).to_have_text("computed")
    drag(page, grid, (8, 4), (19, 21))
    expect(page.locator(".state")).to_have_text("preview")
    expect(page.locator(".tile .note").nth(1)).to_contain_text("p when released")
    found = truth("rect:8,4,19,21")
    shows(page, found)  # the preview already
    page.mouse.up()
    asks(page, "rect:8,4,19,21")
    shows(page, found)
    p = "p < 0.001" if found.pvalue < 0.001 else f"p = {found.pvalue:.3f}"
    expect(page.locator(".tile .note").nth(1)).to_contain_text(p)
    said = page.locator(".said")
    expect(said).to_contain_text("layers 8 to 19, heads 4 to 21")
    expect(said).to_contain_text("25 concepts against 25 reference phrases")
    expect(said).to_contain_text(f"of {found.n_labelled} labelled concepts")


def test_a_link_restores_axis_and_selection(page: Page, address: str):
    open_map(page, address, "axis=2&choice=rect:3,3,9,12")
    expect(page.locator(".positive")).to_have_text("hard-working")
    expect(page.locator(".state")).to_have_text("computed")
    shows(page, truth("rect:3,3,9,12", axis=2))


def test_the_handle_takes_the_top_heads_also_by_keyboard(page: Page, address: str):
    open_map(page, address)
    slider = page.locator(".slider")
    expect(slider).to_have_attribute("aria-valuetext", "128 heads")
    slider.focus()
    page.keyboard.press("Home")
    asks(page, "k1")
    expect(slider).to_have_attribute("aria-valuetext", "1 head")
    exact = page.locator(".exact")
    exact.fill("37")
    exact.press("Enter")
    asks(page, "k37")
    shows(page, truth("k37"))
    exact.fill("99999")  # more than there are
    exact.press("Enter")
    asks(page, "k1024")
    expect(exact).to_have_value("1024")  # what is used, not what was typed
    for typed, used in (("-4", "1"), ("0", "1"), ("", "1")):
        exact.fill(typed)
        exact.press("Enter")
        expect(exact).to_have_value(used)
    asks(page, "k1")
    page.get_by_role("button", name="All heads").click()
    asks(page, "all")
    expect(slider).to_have_class("slider unused")


def test_the_handle_rests_where_a_rectangle_is_chosen(page: Page, address: str):
    open_map(page, address, "choice=rect:3,3,9,12")
    slider = page.locator(".slider")
    expect(slider).to_have_class("slider unused")
    expect(slider).to_have_value("0")
    expect(slider).to_have_attribute("aria-valuetext", "not in use")


def test_the_handle_previews_while_it_is_dragged(page: Page, address: str):
    open_map(page, address)
    box = page.locator(".slider").bounding_box()
    assert box
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.7, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.4, y, steps=4)
    expect(page.locator(".state")).to_have_text("preview")
    k = int(page.locator(".exact").input_value())
    shows(page, truth(f"k{k}"))
    page.mouse.up()
    asks(page, f"k{k}")


def test_the_keyboard_draws_a_rectangle_and_takes_it(page: Page, address: str):
    grid = open_map(page, address)
    grid.focus()
    for key in ("Control+ArrowDown", *["Control+ArrowDown"] * 5, *["Alt+ArrowRight"] * 3):
        page.keyboard.press(key)
    expect(page.locator(".said")).to_contain_text("Layer 5, head 3 alone: R = ")
    for key in (*["Shift+ArrowDown"] * 2, *["Shift+ArrowRight"] * 4):
        page.keyboard.press(key)
    expect(page.locator(".state")).to_have_text("preview")
    expect(page.locator(".said")).to_have_text("layers 5 to 7, heads 3 to 7")
    page.keyboard.press("Enter")
    asks(page, "rect:5,3,7,7")
    shows(page, truth("rect:5,3,7,7"))
    page.keyboard.press("Shift+ArrowUp")
    expect(page.locator(".state")).to_have_text("preview")
    page.keyboard.press("Escape")
    asks(page, "rect:5,3,7,7")


def test_arrows_step_from_axis_to_axis_and_quick_ones_add_up(page: Page, address: str):
    grid = open_map(page, address)
    grid.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".positive")).to_have_text("bright")
    page.keyboard.press("ArrowLeft")  # the focus has stayed
    expect(page.locator(".positive")).to_have_text("hard-working")
    expect(page.locator(".state")).to_have_text("computed")
    shows(page, truth("k128", axis=2))
    page.get_by_role("button", name="Previous axis").click()
    expect(page.locator(".positive")).to_have_text("honest")


def test_a_head_pointed_at_shows_its_own_strip_and_a_click_takes_it(page: Page, address: str):
    grid = open_map(page, address)
    single = page.locator(".panel.single canvas")
    before = single.evaluate("canvas => canvas.toDataURL()")
    page.mouse.move(*centre_of(grid, 15, 7))
    page.wait_for_function(
        "([canvas, before]) => canvas.toDataURL() !== before",
        arg=[single.element_handle(), before],
    )
    expect(page.locator(".tile .value").first).to_have_text("128")  # the selection stays
    page.mouse.down()
    page.mouse.up()
    asks(page, "head:15,7")
    shows(page, truth("head:15,7"))


def test_a_finger_drags_a_rectangle_on_a_narrow_screen(browser: Browser, address: str):
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    grid = open_map(page, address, "layers=30&heads=9")
    bring_into_view(grid)
    finger = context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        where = [{"x": x, "y": y} for x, y in points]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": where})

    (x0, y0), (x1, y1) = (centre_of(grid, *cell, (30, 9)) for cell in ((4, 1), (14, 6)))
    touch("touchStart", (x0, y0))
    for i in range(1, 9):
        touch("touchMove", (x0 + (x1 - x0) * i / 8, y0 + (y1 - y0) * i / 8))
    expect(page.locator(".state")).to_have_text("preview")
    touch("touchEnd")
    asks(page, "rect:4,1,14,6")
    shows(page, truth("rect:4,1,14,6", (30, 9)))
    overflow = "map => map.scrollWidth - map.clientWidth"
    assert page.locator(".head-map").evaluate(overflow) <= 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


def test_two_models_stand_beside_each_other_with_the_same_rectangle(page: Page, address: str):
    open_map(page, address, "mode=side by side&choice=rect:2,2,12,12")
    expect(page.locator(GRID)).to_have_count(2)
    drag(page, page.locator(GRID).nth(1), (8, 4), (10, 9), (32, 32))
    page.mouse.up()
    expect(page.locator(".state")).to_have_text("computed")
    values = page.locator(".tile").nth(1).locator(".value")
    first, second = (truth(choice_of(page), seed=seed) for seed in (0, 7))
    expect(values).to_have_text([f"D = {found.statistic:.3f}" for found in (first, second)])


def choice_of(page: Page) -> str:
    """The choice in the address, once a drag has put it there."""
    page.wait_for_function("!location.search.includes('2%2C2%2C12%2C12')")
    return page.evaluate("new URLSearchParams(location.search).get('choice')")


def test_a_model_without_such_heads_says_so(page: Page, address: str):
    open_map(page, address, "mode=side by side&layers2=24&heads2=8&choice=rect:2,2,12,12")
    note = page.locator(".tile").first.locator(".note").nth(1)
    expect(note).to_have_text("the rectangle lies outside this model's 24 layers of 8 heads")
    expect(page.locator(".panel.strip").nth(1)).to_have_attribute(
        "aria-label", re.compile("second-model-360M: the rectangle lies outside")
    )


def test_the_difference_of_two_models_is_one_grid_with_its_own_scale(page: Page, address: str):
    open_map(page, address, "mode=difference")
    expect(page.locator(GRID)).to_have_count(1)
    expect(page.locator(".panel.strip")).to_have_count(2)
    expect(page.locator(".panel.bar")).to_have_attribute(
        "aria-label", "R of first-model-135M less R of second-model-360M"
    )


def test_a_second_model_comes_and_goes_without_a_new_page(page: Page, address: str):
    open_map(page, address, "layers2=24&heads2=8")
    page.get_by_text("side by side", exact=True).click()
    expect(page.locator(GRID)).to_have_count(2)
    page.mouse.move(*centre_of(page.locator(GRID).nth(1), 23, 7, (24, 8)))
    page.get_by_text("one", exact=True).click()
    expect(page.locator(GRID)).to_have_count(1)
    expect(page.locator(".panel.strip")).to_have_count(1)
    shows(page, truth("k128"))


def test_without_an_answer_it_stays_a_preview(page: Page, address: str):
    open_map(page, address, "answer=0")
    expect(page.locator(".state")).to_have_text("preview")
    shows(page, truth("k128"))
    expect(page.locator(".tile .note").nth(1)).to_contain_text("p when released")


def test_of_many_concepts_it_says_how_many_are_drawn(page: Page, address: str):
    open_map(page, address, "layers=4&heads=4&concepts=900&reference=50&choice=all")
    expect(page.locator(".drawn")).to_contain_text("Showing 200 of 900 concepts")
    expect(page.locator(".tile .note").nth(1)).to_contain_text("900 concepts against 50")


def test_what_is_undefined_says_why(page: Page, address: str):
    open_map(page, address, "reference=0&labels=0")
    expect(page.locator(".tile .value").nth(1)).to_have_text("undefined")
    expect(page.locator(".tile .note").nth(1)).to_contain_text("no reference")
    expect(page.locator(".tile .value").nth(2)).to_have_text("undefined")
    expect(page.locator(".tile .note").nth(2)).to_contain_text("fewer than two labelled")


def test_pointing_at_a_concept_shows_its_whole_name_as_text(page: Page, address: str):
    open_map(page, address, "untrusted=1&concepts=4&reference=9&layers=4&heads=4&choice=all")
    strip = page.locator(".panel.strip")
    expect(strip).to_have_attribute("aria-label", re.compile("<img src=x onerror"))
    box = strip.bounding_box()
    assert box
    tip = page.locator(".tip")
    seen = set()
    for x in range(10, int(box["width"]), 40):
        for y in range(30, int(box["height"]) - 50, 18):
            page.mouse.move(box["x"] + x, box["y"] + y)
            if tip.is_visible():
                seen.add(tip.locator("bdi").inner_text())
    assert "<img src=x onerror=alert(1)>" in seen
    assert any(name.startswith("very very very very very very very very") for name in seen)
    assert page.locator(".head-map img").count() == 0

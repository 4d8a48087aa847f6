"""What the head map saves: a picture that is not blank, a drawing of shapes, both with words."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from benchmarks.drag import serving
from core.analysis.heads.chosen import choose, parse_choice
from tests.browser.test_head_map import asks, drag, open_map
from tests.head_views import made_view

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving() as found:
        yield found


def saved(page: Page, kind: str) -> tuple[str, bytes]:
    """The name and the content of a file that was saved."""
    with page.expect_download() as waiting:
        page.locator(f"[data-file={kind}]").click()
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


def words_of(svg: ET.Element) -> str:
    return " ".join("".join(text.itertext()) for text in svg.iter(f"{SVG}text"))


def drawing(page: Page) -> ET.Element:
    return ET.fromstring(saved(page, "svg")[1])


def shown(page: Page, address: str, query: str = "") -> None:
    open_map(page, address, query)
    expect(page.locator(".state")).to_have_text("computed")


def test_the_picture_is_as_large_as_print_needs_and_not_blank(page: Page, address: str):
    shown(page, address, "choice=rect:3,3,9,12")
    name, content = saved(page, "png")
    assert name == "head-map-cold-warm-first-model-135M-rect-3-3-9-12.png"
    with Image.open(io.BytesIO(content)) as image:
        pixels = np.asarray(image.convert("RGB")) @ np.array([1 << 16, 1 << 8, 1])
    assert pixels.shape[1] > 3 * 1000
    assert len(np.unique(pixels)) > 200
    # Everywhere: words above and below, the grid on the left, the strip on the right.
    height, width = pixels.shape
    for part in (
        pixels[: height // 12],
        pixels[-height // 12 :],
        pixels[height // 3 : height // 2, : width // 3],
        pixels[height // 6 : height // 2, width // 2 :],
    ):
        assert len(np.unique(part)) > 3


def test_the_drawing_is_made_of_shapes_and_words(page: Page, address: str):
    shown(page, address, "choice=rect:3,3,9,12")
    svg = drawing(page)
    assert not list(svg.iter(f"{SVG}image"))
    assert len(list(svg.iter(f"{SVG}rect"))) > 32 * 32
    words = words_of(svg)
    found = choose(made_view(32, 32, 25, 25), parse_choice("rect:3,3,9,12", 32, 32), seed=42)
    for part in (
        *("cold ↔ warm: first-model-135M", "Selection: layers 3 to 9, heads 3 to 12", "warm"),
        *(f"{len(found.heads)} of 1,024 heads", "Positions as labelled", "chance level 0.050"),
        *("Separability R", "Made numbers."),
        *("templates: simple, N = 30", "mean z over heads", "software developers"),
    ):
        assert part in words, part
    assert "preview" not in words
    about = svg.find(f"{SVG}desc")
    assert about is not None
    assert f"{len(found.heads)} of 1,024 heads" in (about.text or "")


def test_every_concept_stands_where_its_value_is(page: Page, address: str):
    shown(page, address, "choice=all&concepts=12")
    view = made_view(32, 32, 12, 25)
    found = choose(view, parse_choice("all", 32, 32), seed=42)
    svg = drawing(page)
    names = {"".join(t.itertext()): t for t in svg.iter(f"{SVG}text")}
    places, values = [], []
    for concept, value, label in zip(view.concepts, found.values, view.labels, strict=False):
        sign = {1: "+ ", -1: "− ", None: ""}[label]
        name = names[f"{sign}\u2068{concept.text}\u2069"]
        side = 1 if name.get("text-anchor") == "start" else -1
        places.append(float(name.get("x", "nan")) - 10 * side)
        values.append(value)
    slope, start = np.polyfit(values, places, 1)
    assert slope > 0  # the positive pole is on the right
    np.testing.assert_allclose(places, start + slope * np.array(values), atol=0.02)


def test_a_picture_without_its_caption_keeps_it_for_screen_readers(page: Page, address: str):
    shown(page, address, "choice=rect:3,3,9,12")
    with_caption = drawing(page)
    page.locator(".captioned").uncheck()
    svg = drawing(page)
    words = words_of(svg)
    assert "Selection: layers 3 to 9" in words and "software developers" in words
    assert "Kolmogorov" not in words and "Made from" not in words
    about, same = svg.find(f"{SVG}desc"), with_caption.find(f"{SVG}desc")
    assert about is not None and same is not None and about.text == same.text
    assert float(svg.get("height", "0")) < float(with_caption.get("height", "0"))


def test_a_caption_says_each_thing_once_and_nothing_of_what_is_empty(page: Page, address: str):
    shown(page, address, "choice=k128&concepts=60")
    words = words_of(drawing(page))
    assert "Made numbers." in words  # Python's sentence has the test
    assert "Kolmogorov" not in words and "Positions as labelled" in words
    assert "heads_at" not in words and ": ;" not in words
    n = int(re.search(r"(\d+) of \d+ concepts without a word, for space", words)[1])  # type: ignore[index]
    names = [t for t in drawing(page).iter(f"{SVG}text") if "\u2068" in "".join(t.itertext())]
    assert len(names) == 60 - n + 2  # and those of both poles


def test_no_two_intervals_of_a_lane_lie_on_one_line(page: Page, address: str):
    shown(page, address, "choice=rect:3,3,9,12&concepts=12")
    lines = []
    for path in drawing(page).iter(f"{SVG}path"):
        if path.get("opacity") != "0.6":
            continue
        for part in re.findall(r"M([-\d. ]+)", path.get("d", "")):
            x0, y0, x1, y1 = map(float, part.split())
            if y0 == y1:
                lines.append((y0, x0, x1))
    assert len(lines) == 12
    for i, (y, low, high) in enumerate(lines):
        for other_y, other_low, other_high in lines[:i]:
            assert y != other_y or high < other_low or low > other_high


def test_a_preview_says_so_in_the_file(page: Page, address: str):
    open_map(page, address, "answer=0")
    expect(page.locator(".state")).to_have_text("preview")
    assert "(preview, computed in the browser)" in words_of(drawing(page))


def test_names_are_text_in_the_file_whatever_is_in_them(page: Page, address: str, tmp_path: Path):
    shown(page, address, "untrusted=1&concepts=5&reference=9&layers=4&heads=4&choice=all")
    file = tmp_path / "map.svg"
    file.write_bytes(saved(page, "svg")[1])
    words = words_of(ET.fromstring(file.read_bytes()))
    assert "<img src=x onerror=alert" in words
    assert "a & b \ufffd \"c\" 'd'" in words
    assert "العاملون" in words
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.localName") == "svg"
    assert page.evaluate("document.querySelectorAll('parsererror, img, script').length") == 0


def test_both_models_are_in_the_file(page: Page, address: str):
    shown(page, address, "mode=side by side")
    svg = drawing(page)
    words = words_of(svg)
    assert len(list(svg.iter(f"{SVG}rect"))) > 2 * 32 * 32
    assert words.count("second-model-360M") >= 3  # title, grid, strip
    assert len(re.findall(r"Positions as labelled: ", words)) == 2


@pytest.mark.parametrize(("scheme", "paper"), [("light", "#ffffff"), ("dark", "#171614")])
def test_it_is_drawn_in_the_colours_of_the_theme(
    browser: Browser, address: str, scheme: str, paper: str
):
    page = browser.new_page(viewport={"width": 1280, "height": 1000}, color_scheme=scheme)  # type: ignore[arg-type]
    shown(page, address)
    first = next(drawing(page).iter(f"{SVG}rect"))
    assert first.get("fill") == paper
    page.close()


def test_dragging_and_saving_ask_nobody_for_anything(page: Page, address: str):
    asked: list[str] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda _: asked.append("socket")))
    shown(page, address)
    assert asked  # the page itself was asked for
    page.on("request", lambda request: asked.append(request.url))
    asked.clear()
    drag(page, page.locator(".panel.grid"), (3, 3), (5, 8))
    expect(page.locator(".state")).to_have_text("preview")
    assert asked == []
    page.mouse.up()
    asks(page, "rect:3,3,5,8")
    assert "socket" in asked  # now Python was
    asked.clear()
    for kind in ("png", "svg"):
        saved(page, kind)
    assert [url for url in asked if not url.startswith(("blob:", "data:"))] == []

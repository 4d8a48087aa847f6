"""The Shift lab in a real browser: the slider moves the verdict, a switch the English mean."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks.simulated_audit import fill_audit
from core.store.gate import Cache
from tests.browser.conftest import App

# Two runs at a time, so that there is time to press Stop; and a page that takes a moment before it
# comes to its slider, so that a key can be pressed in between.
SLOW = """
import time
import pages.shared.audit.shift_lab as lab
lab.SECONDS_AT_A_TIME = 1e-4
choose_shift = lab.choose_shift
def choose_slowly(*arguments):
    time.sleep(0.1)
    return choose_shift(*arguments)
lab.choose_shift = choose_slowly
"""
LONG = 120_000  # milliseconds: the first look computes every table


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("lab")
    fill_audit(Cache(folder), n_items=120)
    server = App(folder, tmp_path_factory.mktemp("log") / "log", SLOW).wait()
    yield server
    server.stop()


def opened(page: Page, lab: App, query: str = "") -> Page:
    page.goto(f"{lab.url}/shift_lab{query}")
    expect(page.get_by_text("Where these numbers come from")).to_be_visible(timeout=LONG)
    return page


def after(page: Page) -> Locator:
    """The badge with the verdict after the shift; of the pair as it is where none is put in."""
    badges = page.locator(".stMarkdownBadge")
    verdict = page.get_by_text(re.compile("before|As it is:")).filter(has=badges)
    return verdict.first.locator(".stMarkdownBadge").last


def metric(page: Page, label: str) -> Locator:
    return page.get_by_test_id("stMetric").filter(has_text=label)


def test_the_slider_moves_the_verdict_and_the_address(page: Page, lab: App) -> None:
    opened(page, lab)
    expect(page.get_by_text("Nothing is put in yet.")).to_be_visible()
    expect(after(page)).to_contain_text("undecided")
    slider = page.get_by_role("slider", name=re.compile("log-odds"))
    slider.focus()
    for _ in range(14):
        address = page.url
        slider.press("ArrowRight")
        page.wait_for_url(lambda url, address=address: url != address)
    expect(after(page)).to_contain_text("shift")
    expect(page.get_by_text("A shift is found.", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("delta=0.7"))
    handle, track = slider.bounding_box(), page.get_by_test_id("stSlider").first.bounding_box()
    assert handle
    assert track
    page.mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2)
    page.mouse.down()
    page.mouse.move(track["x"] + track["width"] / 2, handle["y"] + 5, steps=8)
    page.mouse.up()
    expect(after(page)).to_contain_text("undecided")


def test_keys_pressed_while_the_page_runs_all_count(page: Page, lab: App) -> None:
    opened(page, lab, "?delta=-0.3")
    slider = page.get_by_role("slider", name=re.compile("log-odds"))
    slider.focus()
    for pause in (60, 210, 240, 270) * 3:  # milliseconds; Streamlit sends a value after 200
        slider.press("ArrowRight")
        page.wait_for_timeout(pause)
    expect(page).to_have_url(re.compile("delta=0.3"))
    expect(slider).to_have_value("0.3")


def test_a_switch_lowers_the_english_mean_and_takes_the_reliable_drops(
    page: Page, lab: App
) -> None:
    opened(page, lab)
    right = metric(page, "English mean").first.inner_text()
    page.get_by_text("Labels of StereoSet swapped").click()
    expect(metric(page, "English mean")).to_have_count(2)
    wrong = metric(page, "English mean").nth(1).inner_text()
    values = [float(re.findall(r"\d\.\d{3}", text)[0]) for text in (right, wrong)]
    assert values[1] < 0.5 < values[0]
    expect(metric(page, "Reliable drops").nth(1)).to_contain_text("drops0 of 80")
    expect(page).to_have_url(re.compile("errors=stereoset_labels_inverted"))


def test_runs_can_be_stopped_and_go_on(page: Page, lab: App) -> None:
    opened(page, lab)
    # The toolbar of a running page has a Stop of its own.
    stop = page.get_by_test_id("stButton").get_by_role("button", name="Stop")
    page.get_by_role("button", name="Run 200").click()
    expect(page.get_by_text(re.compile(r"^[1-9]\d* of 200 runs$"))).to_be_visible()
    stop.click()
    stopped = page.get_by_text(re.compile(r"^\d+ of 200 runs, stopped$"))
    expect(stopped).to_be_visible()
    kept = stopped.inner_text()
    expect(page.get_by_text(re.compile(r"runs of each size"))).to_contain_text(kept.split(" r")[0])
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_text(re.compile(r"^\d+ of 200 runs$"))).to_be_visible()
    stop.click()
    expect(stopped).to_be_visible()
    assert int(stopped.inner_text().split()[0]) > int(kept.split()[0])

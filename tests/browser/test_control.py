"""The positive control in Chromium: started on the Shift lab, stopped, resumed, and read there."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core.jobs.control import estimate_control, shipped_arms
from core.jobs.follow import follow
from core.store.gate import Cache
from core.types import Item
from tests.browser.conftest import App
from tests.browser.test_runs import SLOW, suspended
from tests.jobs.test_launch import n_scores
from tests.scored import demo_items, fill_scored

COPIES = 50  # of eight items: enough texts for a job to be stopped in the middle


def many(items: list[Item]) -> list[Item]:
    return [
        Item(**{**vars(i), "item_id": f"{i.item_id}-{k}", "context": f"{k} {i.context}"})
        for k in range(COPIES)
        for i in items
    ]


def test_started_stopped_and_resumed_from_the_page(
    tmp_path: Path, page: Page, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # of the job: its model is tiny
    items = [i for i in demo_items() if not i.native and i.condition == "en"][:8]
    cache = Cache(tmp_path / "cache")
    scorer_id = fill_scored(cache.folder, many(items)).scorer_id
    before = n_scores(cache)
    found = estimate_control(cache, "demo", [scorer_id], shipped_arms(cache, "demo"))
    badge = page.get_by_test_id("stMain").locator(".stMarkdownBadge").filter(has_text="ing")
    server = App(cache.folder, tmp_path / "log").wait()
    try:
        page.goto(f"{server.url}/shift_lab")
        page.get_by_role("button", name="Estimate").click(timeout=SLOW)
        expect(page.get_by_text("Items with a sentence in front")).to_be_visible(timeout=SLOW)
        page.get_by_role("button", name="Start", exact=True).click()
        expect(page.get_by_text("positive control of 1 model on demo")).to_be_visible(timeout=SLOW)
        process = suspended(cache, before)
        expect(badge.first).to_contain_text("running", timeout=SLOW)
        page.get_by_test_id("stButton").get_by_role("button", name="Stop").click()
        expect(badge.first).to_contain_text("stopping", timeout=SLOW)
        process.resume()
        page.get_by_role("button", name="Resume").click(timeout=SLOW)
        whole = page.get_by_text(f"n = {len(items) * COPIES} items").first
        expect(whole).to_be_visible(timeout=2 * SLOW)
    finally:
        server.process.kill()
        server.process.wait()
    assert follow(cache)[0].state == "finished"
    assert n_scores(cache) == before + found.texts[scorer_id]

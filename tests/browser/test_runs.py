"""A job in the real app: started by clicks, it outlives page and server, stops, resumes, dies."""

from __future__ import annotations

import re
import time
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Page, expect

from core.jobs.follow import follow
from core.store.gate import Cache
from core.store.verify import verify
from tests.browser.conftest import App
from tests.jobs.test_jobs import fill
from tests.jobs.test_launch import n_scores, process_of
from tests.tiny_models import save_tiny
from tests.tiny_tokenizers import byte_level_bpe

N_ITEMS = 6000
SLOW = 60_000  # milliseconds: a job imports torch before it computes


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save_tiny(tmp_path / "tiny", "llama", byte_level_bpe(add_bos=True))


def start_by_hand(page: Page, model: Path) -> None:
    """Fill in the form, look at the estimate, start."""
    page.get_by_role("combobox", name="Model", exact=True).fill(str(model))
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Estimate").click()
    expect(page.get_by_text("Memory needed")).to_be_visible(timeout=SLOW)
    page.get_by_role("button", name="Start", exact=True).click()


def suspended(cache: Cache, n_held: int) -> psutil.Process:
    """The latest job's process, halted once the cache holds more than `n_held` scores."""
    for _ in range(12_000):
        if n_scores(cache) > n_held:
            process = process_of(follow(cache)[0].run_id)
            process.suspend()
            return process
        time.sleep(0.05)
    raise TimeoutError(follow(cache))


def test_a_job_started_by_clicks_goes_on_whatever_happens(
    cache: Cache, model: Path, tmp_path: Path, page: Page, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # of the job: its model is tiny
    n_texts = fill(cache, N_ITEMS)
    badge = page.locator(".stMarkdownBadge").first
    server = App(cache.folder, tmp_path / "log").wait()
    try:
        page.goto(f"{server.url}/runs")
        start_by_hand(page, model)
        expect(badge).to_contain_text("running", timeout=SLOW)
        process = suspended(cache, 0)
        page.reload()
        expect(page.get_by_text(re.compile(rf" of {n_texts:,} texts"))).to_be_visible(timeout=SLOW)
    finally:
        server.process.kill()
        server.process.wait()
    process.resume()
    process = suspended(cache, n_scores(cache))
    (job,) = follow(cache)
    assert job.alive, "the job goes on without the server"

    server = App(cache.folder, tmp_path / "log").wait()
    try:
        page.goto(f"{server.url}/runs")
        expect(badge).to_contain_text("running", timeout=SLOW)
        page.get_by_test_id("stButton").get_by_role("button", name="Stop").click()
        expect(badge).to_contain_text("stopping", timeout=SLOW)
        process.resume()
        expect(badge).to_contain_text("stopped", timeout=SLOW)
        held = n_scores(cache)
        assert 0 < held < n_texts

        page.get_by_role("button", name="Resume").click()
        suspended(cache, held).kill()
        expect(badge).to_contain_text("died", timeout=SLOW)
        expect(page.get_by_text("It ended without a word")).to_be_visible()
        kept = n_scores(cache)

        page.get_by_role("button", name="Resume").click()
        expect(page.get_by_text("Nothing is computing.")).to_be_visible(timeout=3 * SLOW)
    finally:
        server.stop()
    last, died, stopped = follow(cache)
    assert (last.state, died.state, stopped.state) == ("finished", "died", "stopped")
    assert stopped.progress.computed == held
    assert kept + last.progress.computed == n_texts == n_scores(cache)
    assert verify(cache) == []
    assert "Traceback" not in server.log.read_text()

"""Jobs about heads come and go, and what is open on the page stays open."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core.heads_request import HeadsRequest
from core.jobs.folder import create_run, release
from core.jobs.own_axis import OWN_AXES
from core.jobs.spec import AXES, JobSpec
from core.store.axes import add_axis
from core.store.gate import Cache
from core.types import HeadReader
from tests.browser.conftest import App
from tests.browser.test_heads_pages import open_page
from tests.heads_pages import planted
from tests.jobs.test_follow import line
from tests.planted_cache import made_axes

TABLE = "A table of ratings by people"


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> tuple[Cache, HeadReader]:
    cache = Cache(tmp_path_factory.mktemp("heads"))
    return cache, planted(cache)


@pytest.fixture(scope="module")
def heads_app(held: tuple[Cache, HeadReader], tmp_path_factory) -> Iterator[App]:
    server = App(held[0].folder, tmp_path_factory.mktemp("log") / "log").wait()
    yield server
    server.stop()


def test_expanders_stay_open_when_a_job_begins_and_ends(
    page: Page, heads_app: App, held: tuple[Cache, HeadReader], tmp_path: Path
) -> None:
    cache, reader = held
    open_page(page, heads_app, "axes", reader)
    page.get_by_text("People's ratings", exact=True).click()
    expect(page.get_by_text(TABLE)).to_be_visible()
    request = HeadsRequest(model="demo", axes=OWN_AXES)
    folder, lock = create_run(cache, JobSpec(command=AXES, request=request))
    folder.progress.write_text(json.dumps(line(1, 20)) + "\n")
    page.get_by_role("button", name="Next axis").first.click()  # the page runs again
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    expect(page.get_by_text(TABLE)).to_be_visible()
    add_axis(cache, OWN_AXES, made_axes(1)[0])
    with folder.progress.open("a") as file:
        file.write(json.dumps(line(2, 1000, "finished")) + "\n")
    release(lock)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    expect(page.get_by_text(TABLE)).to_be_visible()

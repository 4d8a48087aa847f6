"""The app in a real browser: a server on a free port, and a page of headless Chromium."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from core.settings import ROOT
from tests.scored import demo_items, fill_scored

CHROMIUM = Path("/usr/bin/chromium")
expect.set_options(timeout=30_000)  # a loaded machine is slow, and waiting costs nothing else
# Chromium would otherwise look for its maker's servers at every start.
OFFLINE = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if not CHROMIUM.exists():
                item.add_marker(pytest.mark.skip(reason=f"{CHROMIUM} is not installed"))


class App:
    """A running server of the app."""

    def __init__(self, cache: Path, log: Path, before: str = "") -> None:
        """Start the server; `before` is Python code that its process runs first."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.log = log
        self.url = f"http://127.0.0.1:{self.port}"
        arguments = ["run", "app.py", "--server.port", str(self.port)]
        code = f"{before}\nfrom streamlit.web.cli import main\nmain({arguments!r})"
        with log.open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-c", code],
                cwd=ROOT,
                env=os.environ | {"STEREOSCOPE_CACHE": str(cache)},
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def wait(self) -> App:
        for _ in range(300):
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1):
                    return self
            except OSError:
                assert self.process.poll() is None, self.log.read_text()
                time.sleep(0.1)
        raise TimeoutError(self.log.read_text())

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=10)


def bring_into_view(element: Locator, block: str = "nearest") -> None:
    """Scroll to an element at once, also to one that is drawn anew meanwhile.

    What opens a list should stand in the middle (`center`): a list closes when the page scrolls.
    """
    element.evaluate("(it, block) => it.scrollIntoView({block, behavior: 'instant'})", block)
    element.page.wait_for_timeout(500)  # what is drawn on scrolling


@pytest.fixture(scope="session")
def scored_cache(tmp_path_factory) -> Path:
    """The demo items, scored by a tiny model."""
    folder = tmp_path_factory.mktemp("scored")
    fill_scored(folder, demo_items())
    return folder


@pytest.fixture(scope="session")
def app(scored_cache, tmp_path_factory) -> Iterator[App]:
    server = App(scored_cache, tmp_path_factory.mktemp("app") / "log").wait()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OFFLINE)
        yield browser
        browser.close()


@pytest.fixture
def page(browser) -> Iterator[Page]:
    """A fresh browser window of 1280 x 1000; console errors fail the test."""
    window = browser.new_page(viewport={"width": 1280, "height": 1000})
    errors: list[str] = []
    window.on("pageerror", lambda error: errors.append(str(error)))
    yield window
    window.close()
    assert not errors

"""Sentence pairs in Chromium: marked words, the switch of the rule, the file of the rows shown."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from core.analysis.filtering import selected_table
from core.selection import Selection, link_query, parse_link
from core.store.gate import Cache
from tests.browser.conftest import App
from tests.browser.test_items import download
from tests.scored_pairs import SHARED_PIECE, fill_pairs


@pytest.fixture(scope="module")
def pairs(tmp_path_factory) -> Iterator[tuple[App, Cache, str]]:
    """The app on a cache of pairs, and the masked scorer."""
    folder: Path = tmp_path_factory.mktemp("pairs")
    masked, _ = fill_pairs(folder)
    server = App(folder, folder / "log").wait()
    yield server, Cache(folder), masked
    server.stop()


def same(found: str, value: object) -> bool:
    """Whether a cell of a CSV file holds a value."""
    if isinstance(value, str):
        return found == value
    if isinstance(value, list | tuple | np.ndarray):
        return json.loads(found) == list(value)
    if pd.isna(value):
        return found == ""
    if isinstance(value, bool | np.bool_):
        return found == str(value).lower()
    return float(found) == value


def test_the_switch_marks_other_words_and_the_file_holds_the_rows_shown(pairs, page: Page):
    app, cache, masked = pairs
    selection = Selection(
        dataset="pairs", scorer=masked, item=SHARED_PIECE, condition="en",
        sort="abs_difference", descending=True,
    )  # fmt: skip
    page.goto(f"{app.url}/items?{link_query(selection)}")
    first = page.locator("p[lang=en]").first
    expect(first.locator("u")).to_have_text("transgender")
    expect(first.locator("mark").last).to_have_text("grandfather called.")
    shaded, dotted = first.locator("mark").first, first.locator("u")
    assert dotted.evaluate("node => getComputedStyle(node).textDecorationStyle") == "dotted"
    assert shaded.evaluate("node => getComputedStyle(node).textDecorationLine") == "none"
    page.get_by_text("shared tokens", exact=True).last.click()
    expect(first.locator("u")).to_have_text("trans")
    expect(page.get_by_text("(token rule); by the word rule")).to_be_visible()
    page.wait_for_url(re.compile("unit=token"))
    wanted, problems = parse_link(page.url)
    assert problems == []
    expected = selected_table(cache, wanted)
    _, content = download(page, "CSV")
    table = pd.read_csv(io.BytesIO(content), keep_default_na=False, dtype=str)
    assert table.columns.tolist() == expected.columns.tolist()
    assert len(table) == len(expected) == 8
    for name in expected:
        for found, value in zip(table[name], expected[name], strict=True):
            assert same(found, value), (name, found, value)

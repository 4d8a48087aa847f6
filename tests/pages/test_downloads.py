"""What the audit's pages hand out: simulated scores say so in a column, and no item texts."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from benchmarks.simulated_audit import fill_audit
from core.store.gate import Cache
from core.store.items import stored_items
from tests.audit_pages import made, opened

PAGES = ("languages", "noise_floor", "shift_lab", "carry_over")
MARK = "SIMULATED"


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten models on 20 simulated items."""
    folder = tmp_path_factory.mktemp("simulated")
    fill_audit(Cache(folder), n_items=20)
    return folder


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], bytes]]:
    """The content of every table that a page offers, by file name."""
    offered: dict[str, Callable[[], bytes]] = {}

    def button(label: str, content: Callable[[], bytes], name: str, *_: Any, **__: Any) -> bool:
        del label
        if Path(name).suffix in (".csv", ".parquet", ".tex"):
            offered[name] = content
        return False

    monkeypatch.setattr(st, "download_button", button)
    return offered


def first_column(name: str, content: bytes) -> pd.Series:
    if name.endswith(".parquet"):
        return pd.read_parquet(io.BytesIO(content)).iloc[:, 0]
    return pd.read_csv(io.BytesIO(content)).iloc[:, 0]


@pytest.mark.parametrize("page", PAGES)
def test_every_table_of_simulated_scores_is_stamped(monkeypatch, simulated, files, page):
    opened(monkeypatch, page, simulated)
    endings = {Path(name).suffix for name in files}
    assert endings == {".csv", ".parquet", ".tex"}
    for name, content in files.items():
        if name.endswith(".tex"):
            first = content().decode().split("\\midrule\n")[1].splitlines()[0]
            assert first.startswith(f"{MARK} &") or first == "\\bottomrule", name
        else:
            column = first_column(name, content())
            assert column.name == MARK.lower(), name
            assert (column == MARK).all(), name


def test_scores_of_a_model_have_no_such_column(monkeypatch, tmp_path, files):
    opened(monkeypatch, "noise_floor", made(tmp_path, "en", "en~p1", "en~p2", "hi"))
    assert files
    for content in files.values():
        assert MARK.lower() not in content().decode("latin-1").lower()


def everything(app: AppTest) -> str:
    """All that a page sends to the browser: texts, tables and figures."""
    return "".join(str(getattr(node, "proto", "")) for node in app.main)


def test_texts_of_items_are_on_the_items_page_alone(monkeypatch, tmp_path, files):
    """So that blurring and redaction have nothing to do on the audit's pages: they show ids."""
    folder = made(tmp_path, "en", "en~p1", "en~p2", "hi")
    texts = {text for i in stored_items(Cache(folder), "d") for text in i.continuations().values()}
    texts |= {i.context for i in stored_items(Cache(folder), "d")}
    on_items = everything(opened(monkeypatch, "items", folder, dataset="d"))
    assert any(text in on_items for text in texts)
    files.clear()
    for page in PAGES:
        shown = everything(opened(monkeypatch, page, folder))
        assert not [text for text in texts if text in shown], page
    for name, content in files.items():
        if not name.endswith(".parquet"):
            assert not [text for text in texts if text in content().decode()], name
        else:
            table = pd.read_parquet(io.BytesIO(content()))
            assert not [text for text in texts if text in table.to_csv()], name

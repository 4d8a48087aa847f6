"""What the tests of the audit's pages share: opening one, small caches, and reading it."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.languages import language_name
from core.settings import ROOT
from core.store.gate import Cache
from tests.audit.test_audit import small


def opened(
    monkeypatch: pytest.MonkeyPatch, page: str, folder: Path, /, **query: str | list[str]
) -> AppTest:
    """A page of the app on a cache, by an address with these parameters."""
    monkeypatch.setenv("STEREOSCOPE_CACHE", str(folder))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    for key, value in query.items():
        app.query_params[key] = value
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


def made(folder: Path, *conditions: str) -> Path:
    """A cache of two models and six items in these conditions."""
    small(Cache(folder / "cache"), 6, conditions)
    return folder / "cache"


def address(app: AppTest) -> dict[str, str]:
    """The last value of every parameter."""
    held = {key: app.query_params[key] for key in app.query_params}
    return {key: v if isinstance(v, str) else v[-1] for key, v in held.items()}


def spoken(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of a table as a page shows them, where no label is another's beginning."""
    named = {"es": "Spanish", "hi": "Hindi", "en": "English", "pooled": "all languages"}
    named |= {c: language_name(c) for c in ("ar", "fr", "ko", "nl", "sw", "zh")}
    for column in {"condition", "original", "against"} & set(rows):
        rows = rows.assign(**{column: rows[column].replace(named)})
    if "languages_outside" in rows:
        names = rows["languages_outside"].str.split(", ")
        rows = rows.assign(
            languages_outside=[", ".join(named.get(c, c) for c in codes) for codes in names]
        )
    if "model" in rows:
        rows = rows.assign(model=rows["model"].str.split(", ").str[0])
    return rows


def words(app: AppTest) -> str:
    """Everything a page says, without the signs that keep names from being read as Markdown."""
    kinds = (app.title, app.header, app.subheader, app.markdown, app.caption)
    messages = (app.info, app.warning, app.error, app.success)
    said = "\n".join(str(element.value) for kind in (*kinds, *messages) for element in kind)
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", said)

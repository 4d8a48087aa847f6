"""The pages of an audit on caches with next to nothing in them: no number is left as a nan."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.analysis.audit.pipeline_errors import FIRST, LABELS, ORDER
from tests.audit_pages import opened, words
from tests.thin_caches import thin_caches

PAGES = ("noise_floor", "languages", "carry_over", "shift_lab")
NAN = re.compile(r"\bnan\b", re.IGNORECASE)


@pytest.fixture(scope="module")
def caches(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {
        name: cache.folder for name, cache in thin_caches(tmp_path_factory.mktemp("thin")).items()
    }


def nans(app: AppTest) -> list[str]:
    """Everything that the page says with a nan in it."""
    said = [*words(app).split("\n"), *(f"{m.label}: {m.value} {m.delta}" for m in app.metric)]
    said += [e.label for e in app.expander]
    return [line for line in said if NAN.search(line)]


@pytest.mark.parametrize("page", PAGES)
def test_no_page_says_nan(caches: dict[str, Path], monkeypatch, page: str) -> None:
    # Delta and errors are of the Shift lab, where they make it say more; other pages ignore them.
    more = {"delta": "0.5", "errors": [LABELS, ORDER, FIRST]} if page == "shift_lab" else {}
    found = {
        name: nans(opened(monkeypatch, page, folder, dataset="d", **more))
        for name, folder in caches.items()
    }
    assert {name: said for name, said in found.items() if said} == {}


@pytest.mark.parametrize("kind", ["binary", "standardised"])
def test_the_shift_lab_says_no_nan_of_other_scores(caches, monkeypatch, kind: str) -> None:
    few = ("one model", "one item", "no change", "no translation")
    found = {name: nans(opened(monkeypatch, "shift_lab", caches[name], kind=kind)) for name in few}
    assert {name: said for name, said in found.items() if said} == {}

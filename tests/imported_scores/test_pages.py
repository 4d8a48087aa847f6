"""Imported scores on the pages: marked, without soft numbers that their scale does not give."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.imported_scores.layout import Scale
from tests.audit_pages import opened, words
from tests.imported_scores.test_audit import fill
from tests.score_files import N

PAGES = ("home", "items", "languages", "noise_floor", "shift_lab", "carry_over", "runs")
SCALES = {"means": Scale.MEAN, "sums": Scale.SUM, "order": Scale.ORDER}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("pages")
    return folder / "cache", fill(folder, SCALES)


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with nothing but an order."""
    folder = tmp_path_factory.mktemp("orders")
    fill(folder, {"order": Scale.ORDER})
    return folder / "cache"


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_with_nothing_but_an_order(monkeypatch, orders: Path, page: str) -> None:
    app = opened(monkeypatch, page, orders)
    assert not app.error


def test_home_says_which_scorers_are_imported(monkeypatch, filled) -> None:
    app = opened(monkeypatch, "home", filled[0])
    shown = next(frame.value for frame in app.dataframe if "variant" in frame.value)
    assert shown.set_index("model")["variant"].to_dict() == {
        "means": "imported",
        "sums": "imported (sums)",
        "order": "imported (order only)",
    }
    grid = next(frame.value for frame in app.dataframe if frame.value.index.name == "Condition")
    assert set(grid.to_numpy().ravel()) == {f"{N} / {N}"}
    assert all(", imported," in str(column) for column in grid.columns)


def test_languages_shows_the_means_and_where_they_are_from(monkeypatch, filled) -> None:
    app = opened(monkeypatch, "languages", filled[0], dataset="d")
    said = words(app)
    assert "means, imported are imported from scores.csv" in said
    assert "order, imported (order only) is left out" in said
    facts = [f.value for f in app.dataframe if list(f.value.columns) == ["what", "value"]]
    assert any(f["value"].str.contains("scores_sha256").any() for f in facts)


def test_a_chosen_order_shows_choices_and_says_why_nothing_else(monkeypatch, filled) -> None:
    folder, ids = filled
    app = opened(monkeypatch, "languages", folder, dataset="d", models=ids["order"], kind="binary")
    said = words(app)
    assert "numbers of an unknown scale, so only choices are there" in said
    app = opened(monkeypatch, "languages", folder, dataset="d", models=ids["order"])
    assert "undefined" in words(app)


@pytest.mark.parametrize("name", SCALES)
def test_the_item_card_has_no_tokens_and_says_so(monkeypatch, filled, name: str) -> None:
    folder, ids = filled
    app = opened(monkeypatch, "items", folder, dataset="d", scorer=ids[name], item="i1")
    said = words(app)
    assert "The scores were imported without their tokens, so there are no bars to show." in said
    no_mean = "were imported without a mean per token, so SS is undefined"
    assert (no_mean in said) == (name != "means")


def test_the_items_page_names_the_file(monkeypatch, filled) -> None:
    folder, ids = filled
    app = opened(monkeypatch, "items", folder, dataset="d", scorer=ids["sums"])
    shown = "\n".join(f.value.to_string() for f in app.dataframe) + words(app)
    assert "scores_sha256" in shown and "scores.csv" in shown

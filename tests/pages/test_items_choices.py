"""The Items page on scores from elsewhere that say which pole is preferred, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.analysis.filtering import selected_table
from core.analysis.items import item_table
from core.imported_scores.finding import find_scores
from core.imported_scores.layout import Scale, ScoreOptions
from core.imported_scores.reading import read_score_file
from core.selection import Selection
from core.store.gate import Cache
from core.store.imported_scores import ScoreSource, put_imported
from core.store.items import put_dataset
from core.types import Item
from tests.pages.test_pairs import metrics, opened, words
from tests.score_files import N, items, number, own_table, pairs, results, write_csv

ROLES = {"stereotype": "stereotype", "anti_stereotype": "anti", "unrelated": "unrelated"}


def fill(folder: Path, given: list[Item], scales: dict[str, Scale]) -> dict[str, str]:
    """A data set `d` with imported scores under a model for each scale; ids by name."""
    cache = Cache(folder / "cache")
    put_dataset(cache, "d", given, path="x", format="stereoset", sha256="0")
    path = write_csv(folder / "scores.csv", own_table(given))
    columns = {role: role for role in ROLES}
    ids = {}
    for name, scale in scales.items():
        file = read_score_file(path, options=ScoreOptions(columns=columns, scale=scale))
        found = find_scores(file, given, model=name)
        facts = {"path": str(path), "format": file.layout.name, "sha256": file.sha256}
        source = ScoreSource(**facts, scale=file.scale)
        (done,) = put_imported(cache, "d", source, found.by_model)
        ids[name] = done.scorer_id
    return ids


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("choices")
    scales = {"means": Scale.MEAN, "sums": Scale.SUM, "order": Scale.ORDER}
    return folder / "cache", fill(folder, [*items(), *items("es")], scales)


@pytest.mark.parametrize("name", ["sums", "order"])
def test_the_preferred_pole_is_in_the_table_and_on_the_card(monkeypatch, filled, name) -> None:
    folder, ids = filled
    app = opened(monkeypatch, folder, dataset="d", scorer=ids[name], item="i1")
    shown = next(frame.value for frame in app.dataframe if "binary" in frame.value)
    english = shown[shown["condition"] == "en"].set_index("item_id")["binary"]
    # Every third English item prefers the anti-stereotype.
    assert english.to_dict() == {
        f"i{n}": "stereotype" if n % 3 else "anti-stereotype" for n in range(N)
    }
    assert metrics(app)["Preferred"] in ("stereotype", "anti-stereotype")
    assert "None" not in words(app)


def test_with_means_there_is_ss_and_no_such_column(monkeypatch, filled) -> None:
    folder, ids = filled
    app = opened(monkeypatch, folder, dataset="d", scorer=ids["means"], item="i1")
    assert not [frame for frame in app.dataframe if "binary" in frame.value]
    assert "Preferred" not in metrics(app)
    assert "nats per token" in words(app)
    assert "None" not in words(app)  # such scores may come without token counts


def test_the_rows_that_leave_hold_the_numbers_of_the_file(filled) -> None:
    folder, ids = filled
    rows = selected_table(Cache(folder), Selection(dataset="d", scorer=ids["order"]))
    for row in rows[rows["condition"] == "en"].to_dict("records"):
        n = int(row["item_id"][1:])
        for role, ending in ROLES.items():
            assert row[f"order_{ending}"] == pytest.approx(number(n, role), abs=1e-6)
    means = item_table(Cache(folder), ids["means"], "d")
    assert not [column for column in means if column.startswith("order_")]


@pytest.fixture(scope="module")
def with_pairs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """English and Dutch pairs, with one program's results for the Dutch ones."""
    folder = tmp_path_factory.mktemp("pairs")
    cache, dutch = Cache(folder), pairs("nl")
    put_dataset(cache, "p", [*pairs(), *dutch], path="x", format="native", sha256="0")
    file = read_score_file(
        write_csv(folder / "r.csv", results(dutch)), options=ScoreOptions(condition="nl")
    )
    found = find_scores(file, dutch, model="m")
    facts = {"path": "r.csv", "format": file.layout.name, "sha256": file.sha256}
    source = ScoreSource(**facts, scale=file.scale)
    (done,) = put_imported(cache, "p", source, found.by_model)
    return folder, done.scorer_id


def test_pairs_from_elsewhere_have_one_rule(monkeypatch, with_pairs) -> None:
    folder, scorer_id = with_pairs
    app = opened(monkeypatch, folder, dataset="p", scorer=scorer_id, item="0", condition="nl")
    shown = next(frame.value for frame in app.dataframe if "difference" in frame.value)
    assert "preferred" in shown and "preferred_other_rule" not in shown
    assert not [c for c in app.segmented_control if c.key.startswith("rule-")]
    assert f"en: not scored ({N} pairs)." in words(app)
    assert "in no pair" not in words(app)
    (about,) = [line for line in words(app).splitlines() if line.startswith("- nl:")]
    assert f"{N} pairs" in about and "elsewhere" in about


def test_a_scored_version_is_not_called_unscored(monkeypatch, with_pairs) -> None:
    folder, scorer_id = with_pairs
    app = opened(monkeypatch, folder, dataset="p", scorer=scorer_id, item="0", condition="nl")
    of_english = "This condition is not scored under this model yet."
    assert words(app).count(of_english) == 1  # under English alone
    assert "without their tokens" in words(app)

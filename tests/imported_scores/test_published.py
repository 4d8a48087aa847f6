"""Published scores give the published numbers: StereoSet's GPT-2, and Dutch-CrowS-Pairs."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from core.analysis.audit.audit import audit
from core.analysis.audit.request import AuditRequest
from core.analysis.pairs import pair_summary, pair_table
from core.imported_scores.finding import FoundScores, find_scores
from core.imported_scores.reading import ScoreFile, read_score_file
from core.items.report import read_dataset
from core.store.gate import Cache
from core.store.imported_scores import ScoreSource, put_imported
from core.store.items import put_dataset
from core.types import Item, Severity

BENCHMARKS = os.environ.get("STEREOSCOPE_BENCHMARKS", "")
pytestmark = [
    pytest.mark.benchmarks,
    pytest.mark.skipif(not BENCHMARKS, reason="STEREOSCOPE_BENCHMARKS names no folder"),
]
STEREOSET = Path(BENCHMARKS) / "stereoset"
DUTCH = Path(BENCHMARKS) / "dutch_crows_pairs"


def put(
    cache: Cache, name: str, items: tuple[Item, ...], file: ScoreFile, found: FoundScores
) -> str:
    """Id of the scorer of the only model."""
    put_dataset(cache, name, items, path="", format="", sha256="")
    source = ScoreSource(
        path=str(file.path), format=file.layout.name, sha256=file.sha256, scale=file.scale
    )
    (done,) = put_imported(cache, name, source, found.by_model)
    return done.scorer_id


@pytest.fixture(scope="module")
def stereoset(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    cache = Cache(tmp_path_factory.mktemp("stereoset"))
    items = read_dataset(STEREOSET / "dev_intrasentence.json").items
    file = read_score_file(STEREOSET / "item_scores_gpt2.csv")
    found = find_scores(file, items, model="gpt2")
    assert found.problems == ()
    assert len(found.by_model["gpt2"]) == len(items) == 2106
    put(cache, "stereoset", items, file, found)
    return cache


def published() -> dict[str, tuple[float, float, float]]:
    """LMS, SS and ICAT in percent of the intrasentence task, by bias type and overall."""
    lines = [
        line.split(":")
        for line in (STEREOSET / "published_gpt2.txt").read_text().splitlines()
        if line.strip()
    ]
    numbers: dict[str, list[float]] = {}
    group = ""
    for name, *rest in lines[2:]:  # behind the file's name and the name of the task
        if name.strip() == "intersentence":
            break
        if rest:
            numbers[group].append(float(rest[0]))
        else:
            group = name.strip()
            numbers[group] = []
    return {name: (lms, ss, icat) for name, (_, lms, ss, icat) in numbers.items()}


@pytest.mark.parametrize("group", ["gender", "profession", "race", "religion", "overall"])
def test_gpt2_has_its_published_numbers(stereoset: Cache, group: str) -> None:
    categories = () if group == "overall" else (group,)
    request = AuditRequest(dataset="stereoset", categories=categories)
    rows = audit(stereoset, request, ["fluency_icat"]).tables["fluency_icat"].rows
    (row,) = rows.to_dict("records")
    found = tuple(100 * row[f"stereoset_{name}"] for name in ("lms", "ss", "icat"))
    assert found == pytest.approx(published()[group], abs=1e-9)


def test_micro_averages_would_be_other_numbers(stereoset: Cache) -> None:
    request = AuditRequest(dataset="stereoset")
    rows = audit(stereoset, request, ["score_map"]).tables["score_map"].rows
    assert round(100 * rows["score_binary"].iloc[0], 3) == 61.966
    assert rows["score"].isna().all() and rows["n_binary"].tolist() == [2106]


@pytest.mark.parametrize(
    ("results", "separator", "data", "n_more", "ties"),
    [
        ("results_bert.csv", ";", "crows_eng.csv", 899, 2),
        ("results_robbert.csv", ",", "crows_dutch.csv", 802, 0),
    ],
)
def test_pair_results_give_the_shares_of_their_own_column(
    tmp_path: Path, results: str, separator: str, data: str, n_more: int, ties: int
) -> None:
    items = read_dataset(DUTCH / data).items
    file = read_score_file(DUTCH / results)
    found = find_scores(file, items, model="m")
    kinds = {p.kind for p in found.problems}
    assert kinds <= {"encoding_guessed", "separator"}  # so every `score` agrees with its numbers
    assert all(p.severity is Severity.NOTE for p in found.problems)
    assert len(found.by_model["m"]) == 1463
    cache = Cache(tmp_path / "cache")
    scorer_id = put(cache, "pairs", items, file, found)
    table = pair_table(cache, scorer_id, "pairs")
    row = pair_summary(table, table, ties="against").iloc[0]
    assert (row["n"], row["n_more"], row["n_ties"]) == (1463, n_more, ties)
    assert row["share"] == n_more / 1463
    raw = pd.read_csv(DUTCH / results, sep=separator, encoding="latin-1")
    assert raw["score"].sum() == n_more

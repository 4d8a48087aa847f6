"""`python -m core atlas`: points are placed once, stored, and read the next time."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.heads.atlas import (
    UmapParameters,
    atlas_request,
    principal_components,
    stored_umap,
)
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import stored_axis_table
from core.jobs.follow import follow
from core.jobs.spec import ATLAS, JobSpec, spec_from_json, spec_to_json
from core.store.gate import Cache
from tests.conftest import Run
from tests.planted_cache import AXES, CONCEPTS, REFERENCE, fill_planted
from tests.planted_heads import planted_heads

WORDS = ("atlas", "--axes", AXES, "--concepts", CONCEPTS, "--k", 3)


@pytest.fixture
def question(cache: Cache) -> HeadsQuestion:
    reader_id = fill_planted(cache, planted_heads()).reader_id
    return HeadsQuestion(reader_id=reader_id, axes=AXES, concepts=CONCEPTS, reference="", k=3)


def test_points_are_placed_once_and_stored(
    run: Run, cache: Cache, question: HeadsQuestion, tmp_path: Path
) -> None:
    code, out, err = run(*WORDS, "--of", "concepts", "--neighbors", 5, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["points"], found["left_out"], found["n_duplicates"]) == ("concepts", [], 0)
    stored = stored_axis_table(cache, question)
    assert stored is not None
    placed = stored_umap(cache, stored, "concepts", UmapParameters(n_neighbors=5))
    assert placed is not None
    file = tmp_path / "points.parquet"
    code, out, _ = run(*WORDS, "--of", "concepts", "--neighbors", 5, "--out", file)
    assert (code, "Placed 40 of 40 concepts." in out) == (0, True)
    table = pd.read_parquet(file)
    assert table["name"].tolist() == list(stored.held.concepts)
    np.testing.assert_array_equal(table[["umap_1", "umap_2"]], placed.points)
    components = principal_components(stored, "concepts").points
    np.testing.assert_array_equal(table[["component_1", "component_2"]], components)
    (view,) = follow(cache)  # the second time nothing was computed
    assert (view.state, view.work) == ("finished", "atlas of concepts: projections of groups")


def test_a_job_can_be_started_again_from_its_file(question: HeadsQuestion) -> None:
    spec = JobSpec(command=ATLAS, request=atlas_request(question, "axes"))
    assert spec_from_json(json.loads(json.dumps(spec_to_json(spec)))) == spec
    assert spec.arguments() == [
        *("atlas", f"--reader={question.reader_id}", f"--axes={AXES}", f"--concepts={CONCEPTS}"),
        *("--family=simple", "--pooling=mean", "--templates=30", "--k=3", "--seed=20260928"),
        *("--of=axes", "--neighbors=15", "--min-dist=0.1"),
    ]


def test_what_cannot_be_placed_is_said_and_makes_no_run(
    run: Run, cache: Cache, question: HeadsQuestion
) -> None:
    code, _, err = run(*WORDS, "--of", "heads")
    assert (code, "--of is 'heads'; write axes or concepts." in err) == (2, True)
    code, _, err = run(*WORDS, "--reference", REFERENCE, "--reference", CONCEPTS)
    assert (code, "give --reference once" in err) == (2, True)
    code, _, err = run(*WORDS, "--seed", -1)
    assert (code, "--seed is -1; write 0 or a larger" in err) == (2, True)
    code, _, err = run(*WORDS, "--min-dist", 3)
    assert (code, "from 0 to 1, not 3" in err) == (2, True)
    assert follow(cache) == []

"""Jobs about heads that a page starts: in processes of their own, and what they leave stored."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from core.analysis.heads.atlas import atlas_request, stored_umap
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import request_of, stored_axis_table, usual_questions
from core.axes.user_axes import axis_of_words
from core.jobs.folder import find_run
from core.jobs.follow import JobView, log_tail, view_job
from core.jobs.launch import launch
from core.jobs.own_axis import OWN_AXES, own_axis_spec
from core.jobs.spec import ATLAS, STEREOTYPES, JobSpec
from core.store.axes import get_axes
from core.store.gate import Cache
from core.store.head_readers import readers
from tests.conftest import Run
from tests.planted_cache import AXES, CONCEPTS, REFERENCE, fill_planted
from tests.planted_heads import planted_heads

pytestmark = pytest.mark.usefixtures("one_thread")


def ended(cache: Cache, run_id: str) -> JobView:
    """The job when it is over."""
    for _ in range(12_000):
        view = view_job(find_run(cache, run_id))
        if not view.alive:
            assert view.state == "finished", log_tail(cache, run_id)
            return view
        time.sleep(0.05)
    raise TimeoutError(run_id)


@pytest.fixture
def question(cache: Cache) -> HeadsQuestion:
    reader_id = fill_planted(cache, planted_heads()).reader_id
    return HeadsQuestion(
        reader_id=reader_id, axes=AXES, concepts=CONCEPTS, reference=REFERENCE, k=3
    )


def test_projections_are_computed_and_stored(cache: Cache, question: HeadsQuestion) -> None:
    view = ended(cache, launch(cache, JobSpec(command=STEREOTYPES, request=request_of(question))))
    assert (view.progress.phase, view.fraction) == ("projecting", 1.0)
    found = stored_axis_table(cache, question)
    assert found is not None
    assert found.created_at is not None


def test_points_are_placed_and_stored(cache: Cache, question: HeadsQuestion) -> None:
    request = atlas_request(question, "concepts")
    ended(cache, launch(cache, JobSpec(command=ATLAS, request=request)))
    stored = stored_axis_table(cache, question)
    assert stored is not None
    placed = stored_umap(cache, stored, "concepts")
    assert placed is not None
    assert len(placed.points) == 40


def test_an_axis_of_ones_own_is_read_and_projected(
    run: Run, cache: Cache, llama: Path, tmp_path: Path
) -> None:
    (tmp_path / "own.csv").write_text("negative,positive\ncold,warm\n")
    (tmp_path / "jobs.csv").write_text("text\nbakers\nmillers\nsmiths\n")
    (tmp_path / "things.csv").write_text("text\nstones\nrivers\n")
    words = [f"--model={llama}", f"--axes={tmp_path / 'own.csv'}"]
    files = [f"--concepts={tmp_path / 'jobs.csv'}", f"--reference={tmp_path / 'things.csv'}"]
    assert run("axes", *words, *files)[0] == 0
    (reader_id,) = readers(cache)["reader_id"]
    axis, _ = axis_of_words({"negative": "stingy|mean", "positive": "generous"})
    spec = own_axis_spec(
        cache, axis, reader_id=reader_id, concepts=["jobs"], reference=["things"], family="simple"
    )
    view = ended(cache, launch(cache, spec))
    assert view.progress.scorer_id == reader_id
    assert get_axes(cache, OWN_AXES) == (axis,)
    (asked,) = usual_questions(cache, reader_id, OWN_AXES, ["jobs"], ["things"], ["simple"])
    found = stored_axis_table(cache, asked)
    assert found is not None
    assert found.table["axis_id"].tolist() == [axis.axis_id]

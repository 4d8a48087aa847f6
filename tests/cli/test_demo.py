"""`python -m core demo` in a cache that has sets of a person's own under its names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.axes.axis import Axis, user_pole
from core.axes.named import axes_named, concepts_named
from core.cli import demo
from core.store.axes import get_axes, put_axes, put_concepts
from core.store.gate import Cache
from core.store.items import datasets
from core.store.runs import runs
from tests.conftest import Run
from tests.tiny_models import save_tiny
from tests.tiny_tokenizers import byte_level_bpe


def test_axes_and_groups_of_ones_own_are_not_read_for_the_demos(run: Run, cache: Cache) -> None:
    own = Axis(user_pole(("cold",)), user_pole(("warm",)), source="mine")
    put_axes(cache, "demo", (own,))
    code, _, err = run("demo")
    assert (code, "another set called 'demo' than the demo's; run" in err) == (2, True)
    assert get_axes(cache, "demo") == (own,)
    put_axes(cache, "demo", axes_named("demo").axes, replace=True)
    groups = concepts_named("groups25").phrases
    put_concepts(cache, replace(groups, concepts=groups.concepts[1:]))
    code, _, err = run("demo")
    assert (code, "another set called 'groups25' than the demo's; run" in err) == (2, True)
    assert datasets(cache).empty


@pytest.mark.usefixtures("one_thread")
def test_one_job_scores_the_items_and_reads_the_heads(
    run: Run, cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a tiny model in the place of the demo's, and four axes of its twenty-four."""
    folder = tmp_path / "model"
    save_tiny(folder, "llama", byte_level_bpe(), max_position_embeddings=512)
    monkeypatch.setattr(demo, "DEMO_MODEL", str(folder))
    monkeypatch.setattr(demo, "DEMO_REQUEST", replace(demo.DEMO_REQUEST, model=str(folder)))
    monkeypatch.setattr("core.axes.named.DEMO_AXES_OF_FACET", 1)
    code, _, err = run("demo")
    assert code == 0, err
    assert len(get_axes(cache, "demo")) == 4
    scores, heads = sorted(runs(cache).to_dict("records"), key=lambda row: str(row["started_at"]))
    assert (scores["command"], heads["command"]) == ("score", "axes")
    assert heads["run_id"] == f"{scores['run_id']}-heads"
    assert (scores["status"], heads["status"]) == ("finished", "finished")
    code, _, err = run("demo")
    assert code == 0
    assert "read 0 sentences for 0 missing axes and 0 phrases" in " ".join(err.split())

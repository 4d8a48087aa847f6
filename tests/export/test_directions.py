"""A file of directions puts phrases where the app puts them, and its snippet runs as it is."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

from core.analysis.heads.arrays import phrase_outputs
from core.analysis.heads.axis_view import axis_view
from core.analysis.heads.chosen import Chosen, choose, parse_choice
from core.analysis.heads.question import HeadsQuestion
from core.axes.axis import Axis, Pole
from core.axes.concepts import Concept, ConceptSet
from core.export.directions import directions_bytes, snippet
from core.heads_request import HeadsRequest
from core.jobs.heads import read_heads
from core.store.axes import get_axes, put_axes, put_concepts
from core.store.gate import Cache
from tests.planted_cache import AXES, CONCEPTS, REFERENCE, fill_planted
from tests.planted_heads import planted_heads
from tests.tiny_models import save_tiny
from tests.tiny_tokenizers import byte_level_bpe


def written(
    cache: Cache, question: HeadsQuestion, axis: Axis, heads: str, file: Path
) -> tuple[Chosen, dict[str, np.ndarray], dict[str, str]]:
    view = axis_view(cache, question, axis.axis_id)
    found = choose(view, parse_choice(heads, *view.shape), seed=1)
    file.write_bytes(directions_bytes(cache, question, axis, found))
    with safe_open(file, "numpy") as held:
        arrays = {key: held.get_tensor(key) for key in held.keys()}  # noqa: SIM118
        return found, arrays, held.metadata()


@pytest.mark.parametrize("heads", ["k5", "rect:0,1,2,3", "head:2,4", "all"])
def test_directions_put_every_phrase_where_the_app_does(
    cache: Cache, tmp_path: Path, heads: str
) -> None:
    reader = fill_planted(cache, planted_heads())
    question = HeadsQuestion(
        reader_id=reader.reader_id, axes=AXES, concepts=CONCEPTS, reference=REFERENCE, k=None
    )
    axis = get_axes(cache, AXES)[1]
    found, arrays, facts = written(cache, question, axis, heads, tmp_path / "a.safetensors")
    texts = [f"{CONCEPTS} {i}" for i in range(40)]
    x = phrase_outputs(cache, question, texts)
    theta = arrays["direction"]
    pi = (x * theta).sum(axis=-1) / (theta**2).sum(axis=-1)
    z = (pi - arrays["mean"]) / arrays["sd"]
    layers, places = arrays["heads"].T
    np.testing.assert_allclose(z[:, layers, places].mean(axis=1), found.values[:40], atol=1e-5)
    assert (layers * 6 + places).tolist() == found.heads.tolist()
    assert facts["negative"] == "word2"
    assert facts["positive"] == "word3"
    assert facts["reader_id"] == reader.reader_id


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_snippet_runs_and_prints_the_stored_value(
    cache: Cache, tmp_path: Path, dtype: str
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    save_tiny(folder, "llama", byte_level_bpe(add_bos=True), max_position_embeddings=256)
    poles = [Pole(f"{w}.a.01", n, (w,), f"of {w} kind") for n, w in enumerate(("bad", "good"))]
    axis = Axis(*poles, source="made")
    put_axes(cache, "made", [axis])
    for name, texts in (("groups", ("men", "women", "nurses")), ("phrases", ("church", "tree"))):
        put_concepts(cache, ConceptSet(name, tuple(map(Concept, texts))))
    asked = HeadsRequest(
        model=str(folder), axes="made", concepts=("groups",), reference=("phrases",), dtype=dtype
    )
    reader_id = read_heads(cache, asked).reader_id
    question = HeadsQuestion(
        reader_id=reader_id, axes="made", concepts="groups", reference="phrases", k=None
    )
    file = tmp_path / "bad-good.safetensors"
    found, _, _ = written(cache, question, axis, "all", file)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(snippet(cache, str(file), "nurses"), {})
    said, _, value = printed.getvalue().strip().rpartition(" ")
    assert said == "bad - good"
    assert float(value) == pytest.approx(found.values[2], abs=1e-4)
    (folder / "config.json").write_text((folder / "config.json").read_text() + "\n")
    with pytest.raises(SystemExit, match=r"The directions are of .* open that model"):
        exec(snippet(cache, str(file), "nurses"), {})

"""Arrays of heads: done once they are vouched for, found by what they were computed from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.errors import CacheError, InputError
from core.store.gate import Cache
from core.store.generations import generation
from core.store.head_readers import get_reader, put_reader, readers
from core.store.heads import (
    AXIS,
    CONCEPT,
    GENERATION,
    POLE,
    Source,
    get_arrays,
    get_outputs,
    missing,
    put_arrays,
    write_arrays,
)
from core.store.tensors import TENSORS, write_tensors
from core.types import HeadReader

L, H, D, P = 2, 3, 4, 2
SOURCE = Source("r0", "simple")
READER = HeadReader(
    model="tiny",
    fingerprint="f0",
    dtype="float32",
    device="cpu",
    attention="sdpa",
    bos="in",
    heads_version=1,
    n_layers=L,
    n_heads=H,
    head_dim=D,
)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def put_unit(cache: Cache, path: str, poles: dict[str, str], axes: dict[str, str]) -> dict:
    rng = np.random.default_rng(len(path))
    arrays = {
        "sums": rng.standard_normal((len(poles), P, 2, L, H, D)).astype(np.float32),
        "squares": rng.random((len(poles), P, 2, L, H)),
        "n": np.full((len(poles), 2), 15),
        "separability": rng.random((len(axes), P, 3, L, H)).astype(np.float32),
        "chance": rng.random((len(axes), P, 8, L, H)).astype(np.float32),
    }
    put_arrays(cache, SOURCE, write_tensors(cache, path, arrays), {POLE: poles, AXIS: axes})
    return arrays


def test_arrays_are_found_across_files_in_the_order_asked_for(cache: Cache) -> None:
    first = put_unit(cache, "a.safetensors", {"bad": "1", "good": "2"}, {"bad~good": "3"})
    second = put_unit(cache, "bb.safetensors", {"cold": "4", "warm": "5"}, {"cold~warm": "6"})
    found = get_arrays(cache, SOURCE, POLE, {"warm": "5", "bad": "1", "cold": "4"})
    for name in ("sums", "squares", "n"):
        expected = [second[name][1], first[name][0], second[name][0]]
        np.testing.assert_array_equal(found[name], expected)
    grids = get_arrays(cache, SOURCE, AXIS, {"cold~warm": "6", "bad~good": "3"})
    np.testing.assert_array_equal(grids["chance"], [second["chance"][0], first["chance"][0]])


def test_what_was_computed_from_other_sentences_is_missing(cache: Cache) -> None:
    put_unit(cache, "a.safetensors", {"bad": "1", "good": "2"}, {"bad~good": "3"})
    wanted = {"good": "2", "bad": "changed", "new": "9"}
    assert missing(cache, SOURCE, POLE, wanted) == ["bad", "new"]
    assert missing(cache, Source("r1", "simple"), POLE, {"good": "2"}) == ["good"]
    assert missing(cache, Source("r0", "listing"), POLE, {"good": "2"}) == ["good"]
    with pytest.raises(InputError, match="not read for 2 of 3, such as bad; run"):
        get_arrays(cache, SOURCE, POLE, wanted)


def test_a_pole_that_two_files_hold_stays_in_its_first_place(cache: Cache) -> None:
    first = put_unit(cache, "a.safetensors", {"bad": "1", "good": "2"}, {"bad~good": "3"})
    put_unit(cache, "bb.safetensors", {"bad": "1", "kind": "7"}, {"bad~kind": "8"})
    found = get_arrays(cache, SOURCE, POLE, {"bad": "1"})
    np.testing.assert_array_equal(found["sums"][0], first["sums"][0])


def test_other_rows_never_replace_a_file(cache: Cache) -> None:
    """Where names meet all the same, what is held stays in its place."""
    outputs = np.ones((P, L, H, 1, D), dtype=np.float32)
    source = Source("r0")
    put_reader(cache, READER)
    write_arrays(cache, source, "c", {"outputs": outputs}, {CONCEPT: {"men": "1"}})
    write_arrays(cache, source, "c", {"outputs": outputs}, {CONCEPT: {"men": "1"}})
    write_arrays(cache, source, "c", {"outputs": 2 * outputs}, {CONCEPT: {"Men": "1"}})
    assert (get_outputs(cache, source, {"men": "1"}, 0) == 1).all()
    assert (get_outputs(cache, source, {"Men": "1"}, 0) == 2).all()
    with cache.writing() as con:
        con.execute("UPDATE head_array SET row = 1 WHERE key = 'men'")
    with pytest.raises(CacheError, match="holds other arrays; `python -m core prune` forgets"):
        write_arrays(cache, source, "c", {"outputs": outputs}, {CONCEPT: {"men": "1"}})


def test_a_file_without_its_row_is_not_done(cache: Cache) -> None:
    put_unit(cache, "a.safetensors", {"bad": "1", "good": "2"}, {"bad~good": "3"})
    arrays = {name: np.zeros((1, 2)) for name in ("sums", "squares", "n")}
    written = write_tensors(cache, "b.safetensors", arrays)
    assert missing(cache, SOURCE, POLE, {"cold": "4"}) == ["cold"]
    put_arrays(cache, SOURCE, written, {POLE: {"cold": "4"}})
    assert missing(cache, SOURCE, POLE, {"cold": "4"}) == []


def test_outputs_for_concepts_come_from_several_files(cache: Cache) -> None:
    rng = np.random.default_rng(0)
    source = Source("r0")
    parts = {}
    for path, names in (("c.safetensors", ["men", "women"]), ("d.safetensors", ["nurses"])):
        outputs = rng.standard_normal((P, L, H, len(names), D)).astype(np.float32)
        written = write_tensors(cache, path, {"outputs": outputs})
        put_arrays(cache, source, written, {CONCEPT: {n: f"id-{n}" for n in names}})
        parts |= {name: outputs[:, :, :, i] for i, name in enumerate(names)}
    wanted = {name: f"id-{name}" for name in ("nurses", "men")}
    for pooling in range(P):
        found = get_outputs(cache, source, wanted, pooling)
        assert found.shape == (L, H, 2, D)
        np.testing.assert_array_equal(found[:, :, 0], parts["nurses"][pooling])
        np.testing.assert_array_equal(found[:, :, 1], parts["men"][pooling])


def test_a_lost_file_is_an_error_and_not_zeros(cache: Cache) -> None:
    put_unit(cache, "a.safetensors", {"bad": "1", "good": "2"}, {"bad~good": "3"})
    (cache.folder / TENSORS / "a.safetensors").unlink()
    with pytest.raises(CacheError, match="missing or damaged"):
        get_arrays(cache, SOURCE, POLE, {"bad": "1"})


def test_every_stored_unit_raises_the_generation(cache: Cache) -> None:
    put_unit(cache, "a.safetensors", {"bad": "1", "good": "2"}, {"bad~good": "3"})
    before = generation(cache, SOURCE.reader_id, GENERATION)
    put_unit(cache, "bb.safetensors", {"cold": "4", "warm": "5"}, {"cold~warm": "6"})
    assert 0 < before < generation(cache, SOURCE.reader_id, GENERATION)


def test_a_reader_is_stored_once_and_its_name_is_not_its_identity(cache: Cache) -> None:
    put_reader(cache, READER)
    put_reader(cache, replace(READER, model="renamed"))
    put_reader(cache, replace(READER, bos="out"))
    assert readers(cache)["model"].tolist() == ["tiny", "tiny"]
    assert get_reader(cache, READER.reader_id) == READER
    with pytest.raises(InputError, match=r"no heads read as nothing; it has .* \(tiny\)"):
        get_reader(cache, "nothing")


def test_a_reader_keeps_the_id_it_had_before_it_could_tell_more() -> None:
    assert READER.reader_id == "254472f1cbd845dc"
    assert replace(READER, batching="exact").reader_id != READER.reader_id

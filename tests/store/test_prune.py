"""Arrays are counted, and forgotten before their files are deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import CacheNotWritable
from core.store.gate import Cache
from core.store.generations import generation
from core.store.heads import CONCEPT, GENERATION, POLE, Source, missing, put_unread
from core.store.prune import array_sizes, files_of, forget
from core.store.tensors import TENSORS, broken_tensors, tensors, unclaimed_files
from core.store.unread import Unread, get_unread
from tests.planted_cache import FAMILY, fill_planted
from tests.planted_heads import planted_heads


@pytest.fixture
def filled(cache: Cache) -> tuple[Cache, str]:
    return cache, fill_planted(cache, planted_heads(n_axes=7)).reader_id


def test_sizes_are_those_of_the_files(filled) -> None:
    cache, reader_id = filled
    sizes = array_sizes(cache)
    columns = ["family", "n_poles", "n_axes", "n_concepts", "n_files"]
    assert sizes[columns].values.tolist() == [["", 0, 0, 80, 2], [FAMILY, 14, 7, 0, 1]]
    assert set(sizes["model"]) == {"planted"}
    on_disk = sum(file.stat().st_size for file in (cache.folder / TENSORS / reader_id).iterdir())
    assert sizes["n_bytes"].sum() == on_disk


def test_what_is_forgotten_is_missing_and_gone(filled) -> None:
    cache, reader_id = filled
    before = generation(cache, reader_id, GENERATION)
    with cache.reading() as con:
        (pole, content) = con.execute(
            "SELECT key, content_id FROM head_array WHERE kind = 'pole' LIMIT 1"
        ).fetchone()
    source = Source(reader_id, FAMILY)
    assert missing(cache, source, POLE, {pole: content}) == []
    forget(cache, files_of(cache, reader_id, FAMILY))
    assert missing(cache, source, POLE, {pole: content}) == [pole]
    assert generation(cache, reader_id, GENERATION) > before
    assert len(files_of(cache, reader_id)) == len(tensors(cache)) == 2
    assert unclaimed_files(cache) == []
    assert broken_tensors(cache) == {}


def test_what_could_not_be_read_goes_with_what_was_read_beside_it(filled) -> None:
    cache, reader_id = filled
    with cache.reading() as con:
        (pole, content) = con.execute(
            "SELECT key, content_id FROM head_array WHERE kind = 'pole' LIMIT 1"
        ).fetchone()
    why = {"reason": "too_long", "detail": "Too long."}
    of_pole = Unread(family=FAMILY, kind=POLE, of=pole, content_id=content, template=3, **why)
    of_concept = Unread(family="", kind=CONCEPT, of="kings", content_id="1", template=0, **why)
    put_unread(cache, reader_id, [of_pole, of_concept])
    put_unread(cache, reader_id, [of_pole])

    def held() -> tuple[list[Unread], list[Unread]]:
        return (
            get_unread(cache, reader_id, FAMILY, POLE, {pole: content}),
            get_unread(cache, reader_id, "", CONCEPT, {"kings": "1"}),
        )

    assert held() == ([of_pole], [of_concept])
    forget(cache, files_of(cache, reader_id, FAMILY))
    assert held() == ([], [of_concept])
    forget(cache, files_of(cache, reader_id))
    assert held() == ([], [])


def test_a_file_that_is_lost_can_be_forgotten(filled) -> None:
    cache, reader_id = filled
    (path,) = files_of(cache, reader_id, FAMILY)
    (cache.folder / TENSORS / path).unlink()
    forget(cache, broken_tensors(cache))
    assert files_of(cache, reader_id, FAMILY) == []


def test_a_file_that_cannot_be_deleted_is_said(filled, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, reader_id = filled

    def refused(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refused)
        with pytest.raises(CacheNotWritable, match=r"cannot be deleted \(Permission denied\)"):
            forget(cache, files_of(cache, reader_id, FAMILY))
    assert files_of(cache, reader_id, FAMILY) == []
    assert len(unclaimed_files(cache)) == 1

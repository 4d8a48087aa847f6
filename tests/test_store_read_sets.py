"""Which sets were read is counted by set, family and reader."""

from __future__ import annotations

import pytest

from core.axes.concepts import Concept, ConceptSet
from core.store.axes import put_axes, put_concepts
from core.store.gate import Cache
from core.store.read_sets import read_sets
from tests.planted_cache import AXES, CONCEPTS, N_CONCEPTS, REFERENCE, fill_planted, made_axes
from tests.planted_heads import planted_heads


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Cache:
    return Cache(tmp_path_factory.mktemp("sets"))


def test_sets_are_counted_with_what_was_read_of_them(cache: Cache) -> None:
    reader = fill_planted(cache, planted_heads())
    put_axes(cache, "half", (*made_axes(2), *made_axes(12)[8:]))
    put_concepts(cache, ConceptSet("unread", (Concept("a"), Concept("b"))))
    rows = read_sets(cache, reader.reader_id)
    found = {(r.kind, r.name, r.family): (r.n_read, r.n) for r in rows.itertuples()}
    assert found == {
        ("axis", AXES, "simple"): (8, 8),
        ("axis", "half", "simple"): (2, 6),
        ("concept", CONCEPTS, ""): (N_CONCEPTS, N_CONCEPTS),
        ("concept", REFERENCE, ""): (N_CONCEPTS, N_CONCEPTS),
    }
    assert read_sets(cache, "nobody").empty

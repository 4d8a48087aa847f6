"""Which sets were read is counted by set, family and reader."""

from __future__ import annotations

from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import compute_and_store
from core.axes.axis import Axis
from core.axes.concepts import Concept, ConceptSet
from core.store.axes import put_axes, put_concepts
from core.store.gate import Cache
from core.store.read_sets import axes_read, held_against, read_sets
from tests.planted_cache import AXES, CONCEPTS, N_CONCEPTS, REFERENCE, fill_planted, made_axes
from tests.planted_heads import planted_heads


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


def test_an_axis_is_read_with_both_of_its_poles(cache: Cache) -> None:
    reader_id = fill_planted(cache, planted_heads()).reader_id
    made = made_axes(12)
    mixed = Axis(made[0].negative, made[11].positive, source="made")
    put_axes(cache, "half", (*made[:2], *made[8:], mixed))
    assert axes_read(cache, reader_id, "simple", "half") == {a.axis_id for a in made[:2]}
    assert axes_read(cache, reader_id, "listing", "half") == set()
    assert axes_read(cache, "nobody", "simple", "half") == set()


def test_what_results_hold_against_what_is_listed_once(cache: Cache) -> None:
    reader = fill_planted(cache, planted_heads())
    assert held_against(cache, reader.reader_id) == []
    for k, reference in ((3, REFERENCE), (None, REFERENCE), (None, "")):
        question = HeadsQuestion(
            reader_id=reader.reader_id, axes=AXES, concepts=CONCEPTS, reference=reference, k=k
        )
        compute_and_store(cache, question)
    assert held_against(cache, reader.reader_id) == [(CONCEPTS, REFERENCE)]
    assert held_against(cache, "nobody") == []

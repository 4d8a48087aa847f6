"""Where numbers about heads come from: sets, settings and runs, and a number for what they hold."""

from __future__ import annotations

from dataclasses import replace

from core.analysis.heads.provenance import heads_content, heads_provenance
from core.analysis.heads.question import HeadsQuestion
from core.axes.concepts import Concept, ConceptSet
from core.store.axes import put_axes, put_concepts
from core.store.gate import Cache
from core.store.runs import start_run
from tests.planted_cache import AXES, CONCEPTS, REFERENCE, fill_planted, made_axes
from tests.planted_heads import planted_heads


def test_a_number_stands_for_what_sets_hold_and_not_for_their_names(cache: Cache) -> None:
    reader = fill_planted(cache, planted_heads())
    question = HeadsQuestion(
        reader_id=reader.reader_id, axes=AXES, concepts=CONCEPTS, reference=REFERENCE
    )
    before = heads_content(cache, question)
    assert before.startswith("8-40-40-")
    put_axes(cache, "the same", made_axes(8))
    assert heads_content(cache, replace(question, axes="the same")) == before
    assert heads_content(cache, replace(question, reference="")).startswith("8-40-0-")
    put_concepts(cache, ConceptSet(CONCEPTS, (Concept("a"), Concept("b"))), replace=True)
    assert heads_content(cache, question).startswith("8-2-40-")
    put_axes(cache, AXES, made_axes(9)[1:], replace=True)
    assert heads_content(cache, question).rpartition("-")[2] != before.rpartition("-")[2]


def test_provenance_names_reader_sets_settings_and_runs(cache: Cache) -> None:
    reader = fill_planted(cache, planted_heads())
    question = HeadsQuestion(
        reader_id=reader.reader_id, axes=AXES, concepts=CONCEPTS, reference="", k=None
    )
    known = heads_provenance(cache, question)
    assert "runs" not in known
    assert known["axes"] == f"{AXES} (n = 8)"
    assert known["reference phrases"] == "none"
    assert known["k of the table"] == "all"
    assert known["fingerprint"] == reader.fingerprint
    start_run(
        cache, "r1", command="axes", scorer_id=reader.reader_id, dataset=AXES,
        versions={"numpy": "2"}, spec={"model": "/models/one"},
    )  # fmt: skip
    known = heads_provenance(cache, question)
    assert (known["runs"], known["opened from"]) == ("r1", "/models/one")
    assert known["versions"] == "numpy 2"

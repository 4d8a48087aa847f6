"""Where phrases fall on axes, computed once and kept: what pages show without waiting.

A result is found by a hash of all that can change it: the reader, the poles' words and definitions,
the templates, the phrases, and every setting of the question. So a set that was replaced, or
templates that were rewritten, have no result until they are computed again; nothing is ever shown
for something else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

import pandas as pd

from core.analysis.heads.arrays import axes_of, phrases_of
from core.analysis.heads.axis_table import axis_rows, axis_tests, ranked
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.values import HeadsValues, Tell, heads_values, untold
from core.axes.axis import Axis
from core.axes.content import content_hash
from core.axes.templates import built_in_templates
from core.heads_request import ProjectionsRequest
from core.stats.probes.projection import TOP_HEADS
from core.store.axes import set_size
from core.store.axis_results import (
    AxisRows,
    ResultFacts,
    get_axis_rows,
    is_answered,
    put_axis_rows,
)
from core.store.gate import Cache
from core.store.head_readers import get_reader

RESULTS_VERSION = 1  # raised when the same question gets other numbers
AT_ONCE = 1_500_000  # axes x phrases x heads that are computed while somebody waits


Sets = tuple[tuple[Axis, ...], tuple[str, ...], tuple[str, ...]]  # axes, concepts, reference


@dataclass(frozen=True, eq=False)
class StoredAxes:
    """The values and the table of one question."""

    question: HeadsQuestion
    result_id: str  # a hash of all that can change it
    held: HeadsValues
    table: pd.DataFrame  # as `axis_rows` gives it
    created_at: datetime | None  # UTC; None where it was computed just now and is not stored


def stored_axis_table(cache: Cache, question: HeadsQuestion) -> StoredAxes | None:
    """What is stored of a question; None where nothing is, or it is of other axes or phrases.

    Raises
    ------
    InputError
        There is no such set of axes or phrases.
    """
    with cache.kept_open() as opened:
        return _stored(opened, question, sets_of(opened, question))


def compute_axes(cache: Cache, question: HeadsQuestion) -> StoredAxes:
    """Compute a question without storing it; errors as `heads_values`."""
    held = heads_values(cache, question)
    return StoredAxes(question, _id_of(question, held), held, axis_rows(held, question), None)


def compute_and_store(cache: Cache, question: HeadsQuestion, *, tell: Tell = untold) -> StoredAxes:
    """Compute a question and store it in one transaction.

    Parameters
    ----------
    tell
        As of `heads_values`.

    Raises
    ------
    InputError, CacheError
        As `heads_values`.
    CacheNotWritable
    """
    held = heads_values(cache, question, tell=tell)
    tests = axis_tests(held, question.seed)
    rows = AxisRows(
        axis_ids=tuple(axis.axis_id for axis in held.axes),
        values=held.values,
        heads=held.heads,
        n_skipped=held.n_skipped,
        tests=tests,
    )
    result_id = _id_of(question, held)
    created_at = put_axis_rows(cache, result_id, facts_of(question), rows)
    return StoredAxes(question, result_id, held, ranked(held, tests), created_at)


def axes_at_hand(cache: Cache, question: HeadsQuestion) -> StoredAxes | None:
    """What can be shown at once: what is stored, else what is computed in about a second.

    None where it would take too long: that is a job's to compute. Errors as `heads_values`.
    """
    with cache.kept_open() as opened:
        if is_answered(opened, facts_of(question)):
            found = _stored(opened, question, sets_of(opened, question))
            if found is not None:
                return found
        reader = get_reader(opened, question.reader_id)
        n_axes = set_size(opened, "axis", question.axes)
        phrases = (question.concepts, question.reference)
        n_phrases = sum(set_size(opened, "concept", name) for name in phrases)
        is_small = n_axes * n_phrases * reader.n_layers * reader.n_heads <= AT_ONCE
        if not is_small:
            phrases_of(opened, question)  # a job would fail where these cannot be compared
            return None
    return compute_axes(cache, question)


def request_of(question: HeadsQuestion) -> ProjectionsRequest:
    """The request of a job that computes and stores a question."""
    return ProjectionsRequest(
        reader=question.reader_id,
        axes=question.axes,
        concepts=question.concepts,
        reference=(question.reference,) if question.reference else (),
        family=question.family,
        pooling=question.pooling,
        templates=question.n_templates,
        k=question.k or 0,
        seed=question.seed,
    )


def usual_questions(
    cache: Cache,
    reader_id: str,
    axes: str,
    concepts: Sequence[str],
    reference: Sequence[str],
    families: Sequence[str],
) -> list[HeadsQuestion]:
    """What is asked of heads that were just read: all sets of concepts against all of phrases."""
    k = usual_k(cache, reader_id)
    return [
        HeadsQuestion(reader_id=reader_id, axes=axes, concepts=c, reference=r, family=family, k=k)
        for family in families
        for c in concepts
        for r in (reference or [""])
    ]


def usual_k(cache: Cache, reader_id: str) -> int | None:
    """How many heads are taken where nobody says: 128, or all (None) where there are no more.

    Raises
    ------
    InputError
        There is no such reader.
    """
    reader = get_reader(cache, reader_id)
    return TOP_HEADS if reader.n_layers * reader.n_heads > TOP_HEADS else None


def sets_of(cache: Cache, question: HeadsQuestion) -> Sets:
    """The axes that were read, concepts and phrases of a question; InputError without a set."""
    concepts, reference = phrases_of(cache, question)
    return axes_of(cache, question), tuple(c.text for c in concepts), reference


def result_hash(
    question: HeadsQuestion,
    axes: Sequence[Axis],
    concepts: Sequence[str],
    reference: Sequence[str],
) -> str:
    """A hash of a question and of what its sets and templates hold: 32 hexadecimal digits."""
    poles = [
        json.dumps([pole.key, pole.lemmas, pole.definition])
        for axis in axes
        for pole in (axis.negative, axis.positive)
    ]
    parts = [
        str(RESULTS_VERSION),
        json.dumps(asdict(question), sort_keys=True),
        json.dumps(built_in_templates()[question.family]),
        *(content_hash(texts) for texts in (poles, concepts, reference)),
    ]
    return content_hash(parts)


def facts_of(question: HeadsQuestion) -> ResultFacts:
    """A question in the cache's own names."""
    return ResultFacts(
        reader_id=question.reader_id,
        family=question.family,
        axis_set=question.axes,
        concept_set=question.concepts,
        reference_set=question.reference,
        pooling=question.pooling,
        n_templates=question.n_templates,
        k=question.k,
        seed=question.seed,
    )


def _stored(cache: Cache, question: HeadsQuestion, sets: Sets) -> StoredAxes | None:
    axes, concepts, reference = sets
    result_id = result_hash(question, axes, concepts, reference)
    found = get_axis_rows(cache, result_id)
    if found is None:
        return None
    rows, created_at = found
    held = HeadsValues(
        axes=axes,
        concepts=concepts,
        reference=reference,
        values=rows.values,
        heads=rows.heads,
        n_skipped=rows.n_skipped,
        top_separability=rows.tests["separability"].to_numpy(),
        top_chance=rows.tests["separability_chance"].to_numpy(),
        held_out=rows.tests["separability_held_out"].to_numpy(),
        held_out_chance=rows.tests["held_out_chance"].to_numpy(),
        n_sentences=rows.tests[["n_negative", "n_positive"]].to_numpy(),
    )
    return StoredAxes(question, result_id, held, ranked(held, rows.tests), created_at)


def _id_of(question: HeadsQuestion, held: HeadsValues) -> str:
    return result_hash(question, held.axes, held.concepts, held.reference)

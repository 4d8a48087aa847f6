"""Per-sentence results of CrowS-Pairs and of Dutch-CrowS-Pairs, as its scripts write them.

::

    id or a first column without a name, sent_more, sent_less, sent_more_score, sent_less_score,
    score, stereo_antistereo, bias_type

`sent_more` is the stereotypical sentence in both directions. The scores are log-probabilities
summed over the tokens that both sentences share, by that script's own alignment, rounded to three
decimals; `score` is 1 where the stereotypical sentence has the higher one, else 0, also on a tie.

Traps: the first column may be the number of a row, and no id, so pairs are found by their two
sentences (white space does not count, published files differ in it). One published file has cells
separated by semicolons, another bytes in two encodings: core/files reads both.
"""

from __future__ import annotations

import math

from core.files.tables import Record, Table
from core.imported_scores.layout import Finds, Scale, ScoreLayout, ScoreOptions, ScoreRow
from core.imported_scores.numbers import number_in, sentence
from core.items.rows import column_errors
from core.types import Problem, Role

SENTENCES = ("sent_more", "sent_less")
SCORES = ("sent_more_score", "sent_less_score")
CHOICE = "score"
_ROLES = (Role.STEREOTYPE, Role.ANTI_STEREOTYPE)


def are_pair_results(table: Table) -> bool:
    """Whether a table's columns are sentences of pairs and their scores."""
    return {*SENTENCES, *SCORES} <= set(table.columns)


def read_pair_results(table: Table, options: ScoreOptions) -> tuple[list[ScoreRow], list[Problem]]:
    """One row per pair; a `score` that its two numbers do not give is noted."""
    problems = list(column_errors(table, (*SENTENCES, *SCORES)))
    if problems:
        return [], problems
    rows = []
    for record in table.records:
        sentences = tuple(record.values.get(name) for name in SENTENCES)
        if not all(isinstance(sentence, str) for sentence in sentences):
            message = "The row has no text in sent_more or sent_less."
            problems.append(record.place.error("not_text", message))
            continue
        try:
            more, less = (number_in(record.values.get(name)) for name in SCORES)
            problems += _disagreement(record, more, less)
        except ValueError as error:
            problems.append(record.place.error("not_a_number", sentence(error)))
            continue
        rows.append(
            ScoreRow(
                place=record.place,
                values=dict(zip(map(str, _ROLES), (more, less), strict=True)),
                condition=options.condition,
                shown="the pair",
                sentences=(str(sentences[0]), str(sentences[1])),
            )
        )
    return rows, problems


def _disagreement(record: Record, more: float, less: float) -> list[Problem]:
    """A note where the choice that the file names is not the one that its numbers make."""
    named = number_in(record.values.get(CHOICE))
    if math.isnan(named) or math.isnan(more) or math.isnan(less) or named == (more > less):
        return []
    message = (
        f"score is {named:g}, but sent_more_score is {more:g} and sent_less_score {less:g}; "
        "the two numbers are taken."
    )
    return [record.place.note("choice_disagrees", message)]


LAYOUT = ScoreLayout(
    "crows-results",
    "per-sentence results of (Dutch-)CrowS-Pairs",
    are_pair_results,
    read_pair_results,
    Finds.PAIR,
    Scale.PAIRS,
)

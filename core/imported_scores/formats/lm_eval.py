"""Sample logs of lm-evaluation-harness (`--log_samples`): one document per line, JSON Lines.

::

    doc_id, doc, target, arguments, resps, filtered_resps, ...

`arguments` holds a request for every continuation: [[context, continuation], ...], or by name
{"gen_args_0": {"arg_0": context, "arg_1": continuation}, ...}. `filtered_resps` holds one answer
[log-likelihood, is_greedy] for each, as numbers or as text, `resps` a list of them for each.

Traps: a log-likelihood is a sum over the continuation, and the log says neither how many tokens
that were nor which role a continuation has: items are found by their texts alone. Tasks that score
a whole text (perplexity) have one text per request, tasks that generate have settings in the place
of the continuation; both have no score of a continuation. Tasks with mutual information ask for
every continuation again without its context; these requests are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.files.places import shown
from core.files.tables import Record, Table
from core.imported_scores.layout import WHOLE, Finds, Scale, ScoreLayout, ScoreOptions, ScoreRow
from core.imported_scores.numbers import number_in, sentence
from core.items.texts import make_text
from core.items.values import is_valid
from core.types import Problem

_ANSWERS = ("filtered_resps", "resps")


def is_sample_log(table: Table) -> bool:
    """Whether a table's columns are those of a sample log."""
    return "arguments" in table.columns and bool(set(_ANSWERS) & set(table.columns))


def read_samples(table: Table, options: ScoreOptions) -> tuple[list[ScoreRow], list[Problem]]:
    """One row per request; every problem of every document is reported."""
    rows: list[ScoreRow] = []
    problems: list[Problem] = []
    for record in table.records:
        try:
            rows += _of_document(record, options)
        except ValueError as error:
            problems.append(record.place.error("bad_sample", sentence(error)))
    return rows, problems


def _of_document(record: Record, options: ScoreOptions) -> Iterator[ScoreRow]:
    requests = _requests(record.values.get("arguments"))
    answers = _answers(record.values, len(requests))
    texts = [make_text(context, continuation) for context, continuation in requests]
    with_context = {text.continuation for text in texts if text.context}
    for text, answer in zip(texts, answers, strict=True):
        if not text.context and text.continuation in with_context:
            continue
        yield ScoreRow(
            place=record.place,
            values={WHOLE: answer},
            condition=options.condition,
            key=text.text_id,
            shown=f"the continuation {shown(text.continuation)}",
        )


def _requests(arguments: Any) -> list[tuple[str, str]]:
    if isinstance(arguments, dict):
        arguments = [list(a.values()) if isinstance(a, dict) else a for a in arguments.values()]
    if not isinstance(arguments, list) or not arguments:
        raise ValueError("The row has no arguments, which hold contexts and continuations")
    return [_request(request) for request in arguments]


def _request(request: Any) -> tuple[str, str]:
    if isinstance(request, str) or (isinstance(request, list) and len(request) == 1):
        raise ValueError(
            "The row scores a whole text and no continuation, as tasks of perplexity do; "
            "run a task of multiple choice"
        )
    match request:
        case [str() as context, str() as continuation] if is_valid(context + continuation):
            return context, continuation
        case [str(), str()]:
            raise ValueError("The row has a NUL or a lone surrogate in its arguments")
        case [str(), dict()]:
            raise ValueError("The row is of a task that generates text, so it has no score")
    raise ValueError(f"The row has {shown(request)} where context and continuation belong")


def _answers(values: dict[str, Any], n: int) -> list[float]:
    """The log-likelihood of every request."""
    for name in _ANSWERS:
        found = values.get(name)
        if isinstance(found, list) and len(found) == n:
            return [_log_likelihood(answer) for answer in found]
    raise ValueError(
        f"The row has not one answer for each of its {n} requests, in {' or '.join(_ANSWERS)}"
    )


def _log_likelihood(answer: Any) -> float:
    """Of [log-likelihood, is_greedy], or of a list with that as its one element."""
    while isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    if not isinstance(answer, list) or len(answer) != 2:
        raise ValueError(f"The row has {shown(answer)} where log-likelihood and is_greedy belong")
    return number_in(answer[0])


LAYOUT = ScoreLayout(
    "lm-eval",
    "lm-evaluation-harness sample log",
    is_sample_log,
    read_samples,
    Finds.TEXT,
    Scale.SUM,
    suffixes=(".jsonl",),
)

"""What the commands share that ask where concepts fall on axes: their options and questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from core.analysis.heads.question import HALVES, POOLINGS, HeadsQuestion
from core.analysis.heads.reader import find_reader
from core.analysis.heads.stored import StoredAxes, compute_and_store, stored_axis_table
from core.axes.templates import FAMILIES
from core.errors import InputError
from core.jobs.progress import PROJECTING, Progress, Stop, Watch
from core.store.gate import Cache

AxesOption = Annotated[str, typer.Option(metavar="AXES", help="A set of axes of the cache.")]
ConceptsOption = Annotated[str, typer.Option(metavar="CONCEPTS", help="A set of concepts.")]
ReaderOption = Annotated[
    str | None,
    typer.Option(metavar="READER", help="A model name, or an id of `prune` (default: the one)."),
]
FamilyOption = Annotated[
    str, typer.Option(metavar="FAMILY", help=f"Of templates: {' or '.join(FAMILIES)}.")
]
PoolingOption = Annotated[
    str, typer.Option(metavar="POOLING", help=f"Of tokens: {' or '.join(POOLINGS)}.")
]
TemplatesOption = Annotated[
    int, typer.Option(metavar="N", help=f"{' or '.join(map(str, HALVES))} of them.")
]
HeadsOption = Annotated[
    int | None, typer.Option(metavar="K", help="Heads of highest R; 0 for all.")
]
SeedOption = Annotated[int, typer.Option(metavar="SEED", help="Of resampled phrases.")]


def asked_questions(
    store: Cache,
    *,
    reader: str | None,
    axes: str,
    concepts: str,
    references: Sequence[str],
    family: str,
    pooling: str,
    templates: int,
    k: int | None,
    seed: int,
) -> list[HeadsQuestion]:
    """A question for each set of reference phrases, or one without any.

    Raises
    ------
    InputError
        A value is none of those that can be asked for, or the model's heads were not read.
    """
    if pooling not in POOLINGS:
        raise InputError(f"--pooling is {pooling!r}; write {' or '.join(POOLINGS)}.")
    if family not in FAMILIES:
        raise InputError(f"--family is {family!r}; write {' or '.join(FAMILIES)}.")
    check_seed(seed)
    reader_id = find_reader(store, reader)
    return [
        HeadsQuestion(
            reader_id=reader_id,
            axes=axes,
            concepts=concepts,
            reference=phrases,
            family=family,
            pooling=pooling,
            n_templates=templates,
            k=k or None,
            seed=seed,
        )
        for phrases in references or [""]
    ]


def check_seed(seed: int) -> None:
    """Refuse, with an InputError, what no generator of random numbers takes."""
    if seed < 0:
        raise InputError(f"--seed is {seed}; write 0 or a larger whole number.")


def keep_results(
    store: Cache,
    questions: Sequence[HeadsQuestion],
    watch: Watch,
    stop: Stop,
    refused: Callable[[InputError], None] | None = None,
) -> list[StoredAxes]:
    """Compute and store what is not stored yet of some questions, until told to stop.

    Parameters
    ----------
    refused
        Is told why a question cannot be answered, and the next one follows; None: the error is
        raised.

    Returns
    -------
    list of StoredAxes
        Of the questions in their order; fewer where it was stopped or some were refused.
    """
    found: list[StoredAxes] = []
    for number, question in enumerate(questions):

        def tell(done: int, n_axes: int, number: int = number) -> None:
            total = n_axes * len(questions)
            done += n_axes * number
            watch(Progress(PROJECTING, done_characters=done, total_characters=total))

        if stop():
            break
        try:
            stored = stored_axis_table(store, question)
            found.append(stored or compute_and_store(store, question, tell=tell))
        except InputError as error:
            if refused is None:
                raise
            refused(error)
    return found

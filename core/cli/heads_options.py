"""What the commands share that ask where concepts fall on axes: their options and questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, TypeVar

import typer

from core.analysis.heads.arrays import check_question
from core.analysis.heads.question import HALVES, HeadsQuestion
from core.analysis.heads.reader import find_reader
from core.analysis.heads.stored import StoredAxes, compute_and_store, stored_axis_table
from core.axes.concepts import GROUPS
from core.axes.named import AXES, REFERENCES, stored_reference
from core.axes.templates import FAMILIES
from core.cli.terminal import say
from core.errors import HeadsNotRead, InputError
from core.jobs.heads_line import SetsToRead, reading_line
from core.jobs.progress import PROJECTING, Progress, Stop, Watch
from core.store.axes import set_names, set_size
from core.store.gate import Cache
from core.store.read_sets import axes_read
from core.types import POOLINGS
from core.words import counted

Word = TypeVar("Word", bound=str)

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
    """A question for each set of reference phrases, or one without any; it can be computed.

    Reference phrases go by their names in the cache, or by the words that `axes` takes.

    Raises
    ------
    InputError
        A value is none of those that can be asked for, or the model's heads were not read.
    """
    known_pooling = one_of("pooling", pooling, POOLINGS)
    one_of("family", family, FAMILIES)
    check_seed(seed)
    reader_id = find_reader(store, reader)
    held = set_names(store)
    named = {
        name if name in held["concept"] else stored_reference(name, concepts): name
        for name in references
    }
    questions = [
        HeadsQuestion(
            reader_id=reader_id,
            axes=axes,
            concepts=concepts,
            reference=phrases,
            family=family,
            pooling=known_pooling,
            n_templates=templates,
            k=k or None,
            seed=seed,
        )
        for phrases in named or [""]
    ]
    for question in questions:
        _check(store, question, held, named.get(question.reference, ""))
    return questions


def one_of(option: str, value: str, known: Sequence[Word]) -> Word:
    """The word that an option's value is; InputError where it is none of those that are known."""
    for word in known:
        if value == word:
            return word
    raise InputError(f"--{option} is {value!r}; write {' or '.join(known)}.")


def say_unread(store: Cache, question: HeadsQuestion) -> None:
    """How many axes of the set were read where it is not all of them, and what reads the rest."""
    n = set_size(store, "axis", question.axes)
    n_read = len(axes_read(store, question.reader_id, question.family, question.axes))
    if n_read < n:
        say(
            f"{n_read:,} of {counted(n, 'axis', 'axes')} of {question.axes} were read, and only "
            f"these are tested; `{_line(store, question, question.reference)}` reads the rest."
        )


def _check(
    store: Cache, question: HeadsQuestion, held: Mapping[str, Sequence[str]], reference: str
) -> None:
    """Refuse what cannot be computed, with the whole line that reads what is missing.

    Parameters
    ----------
    held
        The names of sets in the cache.
    reference
        The phrases as a person has called them.
    """
    line = _line(store, question, reference)
    for name, there, can_be_made in (  # by the program itself
        (question.axes, held["axis"], question.axes in AXES),
        (question.concepts, held["concept"], question.concepts in GROUPS),
        (question.reference, held["concept"], reference in REFERENCES),
    ):
        if can_be_made and name not in there:
            raise HeadsNotRead(f"The cache has no {name!r} yet; run `{line}` first.")
    try:
        check_question(store, question)
    except HeadsNotRead as error:
        raise HeadsNotRead(f"{error.finding}; run `{line}` first.", error.finding) from error


def _line(store: Cache, question: HeadsQuestion, reference: str) -> str:
    sets = SetsToRead(
        axes=question.axes,
        concepts=(question.concepts,),
        reference=(reference,) if reference else (),
        family=question.family,
    )
    return reading_line(store, question.reader_id, sets)


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

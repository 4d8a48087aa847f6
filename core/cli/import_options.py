"""The options of `import`: what a person says about a data set that its files do not."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from core.errors import InputError
from core.files.reading import SUFFIXES
from core.items.layout import Layout
from core.items.layouts import LAYOUTS
from core.items.sampling import Sample

SAMPLE_SEED = Sample(1).seed


class Contexts(StrEnum):
    """Which questions are read."""

    AMBIGUOUS = "ambiguous"
    ALL = "all"


class Form(StrEnum):
    """How a sentence with a blank is read."""

    FILL_IN = "fill_in"
    SENTENCE = "sentence"


def takers(option: str) -> str:
    """The layouts to which an option means something, for its help."""
    return ", ".join(layout.name for layout in LAYOUTS if option in layout.options)


def _titled(layout: Layout) -> str:
    return f"{layout.name} ({layout.title})"


PathsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH...",
        help=f"A {', '.join(SUFFIXES)} file, or a folder of such files; several are one data set.",
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help=f"Layout of the rows: {', '.join(map(_titled, LAYOUTS))} (default: columns and first "
        "rows tell).",
    ),
]
LanguageOption = Annotated[
    str | None,
    typer.Option(
        metavar="CODE",
        help="Language of rows that do not name theirs (default: from the file's name, else en); "
        f"for {takers('language')}.",
    ),
]
ContextsOption = Annotated[
    Contexts,
    typer.Option(
        help="Read the ambiguous questions only, or all of them; means something to questions that "
        "come with both kinds of context."
    ),
]
FormOption = Annotated[
    Form,
    typer.Option(
        help="Read a sentence with a blank as context and filled sentence, or as the filled "
        "sentence alone."
    ),
]
LabelsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Role corrections by base id, in JSON: {base: {role: field}}, or null to leave an "
        f"item out; for {takers('labels')}.",
    ),
]
PredicatesOption = Annotated[
    Path | None,
    typer.Option(
        "--predicates",
        metavar="FILE",
        help="What people say about the predicates of pairs of identities: how harmful they are, "
        "and whether they are used as stereotypes (data/README.md).",
    ),
]
EncodingOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Encoding of the bytes that are not UTF-8, such as mac-roman or cp1252 (default: "
        "what makes words of them).",
    ),
]
LenientOption = Annotated[
    bool,
    typer.Option(
        "--lenient",
        help="Leave out the rows that have an error, name them and end with exit code 3, instead "
        "of refusing the whole data set.",
    ),
]
SampleOption = Annotated[
    int | None,
    typer.Option(
        "--sample", metavar="N", min=1, help="Keep a sample of N items per category (default: all)."
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        metavar="SEED",
        help=f"Of the sample, set anew for each category (default: {SAMPLE_SEED}).",
    ),
]
NameOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Name to store it under (default: the file's name; needed for several paths).",
    ),
]
ReplaceOption = Annotated[
    bool,
    typer.Option(
        "--replace",
        help="Put these items in the place of those that the cache has under that name; imported "
        "scores of items that change are lost, no others.",
    ),
]


def sample_of(n: int | None, seed: int | None) -> Sample | None:
    """The sample that is asked for.

    Raises
    ------
    InputError
        A seed without a sample.
    """
    if n is None:
        if seed is not None:
            raise InputError("--seed is of a sample; say how large it is with --sample.")
        return None
    return Sample(n) if seed is None else Sample(n, seed)

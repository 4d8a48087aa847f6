"""What an audit can be asked on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from core.analysis.audit.audit import TABLES
from core.stats.scores import KINDS

ScorersOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="A scorer: id, beginning of it, model name or label; may be repeated (default: all "
        "that have scores).",
    ),
]
ConditionsOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CONDITION",
        help="A language, or a rewording of one; may be repeated (default: all). English and its "
        "rewordings are always there.",
    ),
]
KindOption = Annotated[str, typer.Option(metavar="KIND", help=f"Which score: {', '.join(KINDS)}.")]
SliceOption = Annotated[
    str, typer.Option("--slice", metavar="NAME", help="Only the items of a named slice.")
]
SourcesOption = Annotated[
    list[str] | None, typer.Option(metavar="SOURCE", help="Only this source; may be repeated.")
]
CategoriesOption = Annotated[
    list[str] | None, typer.Option(metavar="CATEGORY", help="Only this category; may be repeated.")
]
DimensionsOption = Annotated[
    list[str] | None,
    typer.Option(metavar="DIMENSION", help="Only this dimension; may be repeated."),
]
MarginOption = Annotated[
    float,
    typer.Option(help="Of equivalence, in the unit of the score; fix it before looking."),
]
CompleteOption = Annotated[
    bool,
    typer.Option(
        "--complete-cases",
        help="Take rewording noise only from items that have all the rewordings.",
    ),
]
ReferenceOption = Annotated[
    str, typer.Option(metavar="CONDITION", help="What CSS and CLCI are relative to.")
]
ModelGroupsOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=GROUP",
        help="Group of a scorer's model, to compare groups; may be repeated.",
    ),
]
SeedOption = Annotated[int, typer.Option(min=0, help="Of all random draws.")]
TablesOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TABLE",
        help=f"Only this table; may be repeated. There are: {', '.join(TABLES)}.",
    ),
]
FileOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="PATH",
        help="Write to a .json file, to a folder (one CSV file per table), or one --table to a "
        ".csv, .parquet, .jsonl or .tex file.",
    ),
]

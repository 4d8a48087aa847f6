"""The command `probe`: what axes are worth, by labels, other settings, other models and people."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from core.analysis.heads.beyond import BY
from core.analysis.heads.positions import usual_centre
from core.analysis.heads.probe import OF_MODELS, TABLES, Probe, cut_notes, probe_tables
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.reader import find_reader
from core.cli import heads_options as options
from core.cli.heads_options import asked_questions, one_of, say_unread
from core.cli.probe_tables import print_probe
from core.cli.terminal import CacheOption, JsonOption, open_cache, out, print_json, say
from core.errors import InputError
from core.export.tables import check_path, json_rows, write_table
from core.people.ratings import read_ratings
from core.stats.probes.positions import CENTRES, Centre

SHOWN = ("positions", "labels", "floor", "random")  # what is printed where no table is named
SHOWN_TOO = (*OF_MODELS, "people", "raters")  # where other readers or ratings are there

ReferenceOption = Annotated[
    str, typer.Option(metavar="PHRASES", help="Reference phrases (default: none).")
]
CentreOption = Annotated[
    str,
    typer.Option(
        metavar="CENTRE",
        help=f"What divides the sides: {', '.join(CENTRES)} (default: joint, of groups and "
        "reference phrases; without these, groups).",
    ),
]
CompareOption = Annotated[
    list[str] | None,
    typer.Option(metavar="READER", help="Another model's reader; may be repeated."),
]
RatingsOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="What people say (data/README.md has the columns)."),
]
ByOption = Annotated[
    str, typer.Option(metavar="BY", help=f"The dictionary has a pole by: {' or '.join(BY)}.")
]
TablesOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TABLE", help=f"Only this table; may be repeated. There are: {', '.join(TABLES)}."
    ),
]
FileOption = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FILE", help="Write the one --table: .csv, .parquet, .jsonl or .tex."
    ),
]


def probe(
    axes: options.AxesOption,
    concepts: options.ConceptsOption,
    reference: ReferenceOption = "",
    reader: options.ReaderOption = None,
    compare: CompareOption = None,
    ratings: RatingsOption = None,
    centre: CentreOption = "",
    by: ByOption = BY[0],
    family: options.FamilyOption = HeadsQuestion.family,
    pooling: options.PoolingOption = HeadsQuestion.pooling,
    templates: options.TemplatesOption = HeadsQuestion.n_templates,
    k: options.HeadsOption = HeadsQuestion.k,
    seed: options.SeedOption = HeadsQuestion.seed,
    table: TablesOption = None,
    file: FileOption = None,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check axes against labels, settings, models and people.

    Without --table and --json it prints what matters most; the other tables only when named.
    """
    names = tuple(table or ())
    if file is not None:
        _check_file(file, names)
    store = open_cache(cache)
    (question,) = asked_questions(
        store,
        reader=reader,
        axes=axes,
        concepts=concepts,
        references=[reference],
        family=family,
        pooling=pooling,
        templates=templates,
        k=k,
        seed=seed,
    )
    say_unread(store, question)
    asked = Probe(
        cache=store,
        question=question,
        centre=_centre(centre) if centre else usual_centre(question),
        compare=tuple(find_reader(store, name) for name in compare or ()),
        ratings=None if ratings is None else read_ratings(ratings),
        by=one_of("by", by, BY),
    )
    _give(asked, names, file, as_json=as_json)


def _give(asked: Probe, names: tuple[str, ...], file: Path | None, *, as_json: bool) -> None:
    """Into a file where one is named, and on the terminal as JSON or as tables."""
    if not names and not as_json:
        names = (*SHOWN, *(name for name in SHOWN_TOO if not asked.lacks(name)))
    tables = probe_tables(asked, names)
    notes = (*asked.notes, *cut_notes(tables))
    if file is not None:
        write_table(tables[names[0]], file)
    if as_json:
        facts = {"centre": asked.centre, "compare": asked.compare, "by": asked.by}
        rows = {name: json_rows(found) for name, found in tables.items()}
        print_json({"question": asdict(asked.question), **facts, "tables": rows, "notes": notes})
    elif file is None:
        print_probe(tables)
        for note in notes:
            say(f"Note: {note}", to=out)
    if file is not None:
        for note in cut_notes(tables):
            say(f"Note: {note}")
        say(f"Wrote {file}.")


def _check_file(file: Path, names: tuple[str, ...]) -> None:
    """Refused before anything is computed."""
    check_path(file)
    if len(names) != 1:
        raise InputError(f"{file} holds one table; choose one with --table, or take --json.")


def _centre(name: str) -> Centre:
    for centre in CENTRES:
        if name == centre:
            return centre
    raise InputError(f"--centre is {name!r}; choose from: {', '.join(CENTRES)}.")

"""The commands that bring data sets in and tables out: import and export."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from core.analysis.filtering import selected_table
from core.analysis.overview import find_scorer
from core.cli.import_options import (
    Contexts,
    ContextsOption,
    EncodingOption,
    Form,
    FormatOption,
    FormOption,
    LabelsOption,
    LanguageOption,
    LenientOption,
    NameOption,
    PathsArgument,
    PredicatesOption,
    ReplaceOption,
    SampleOption,
    SeedOption,
    sample_of,
)
from core.cli.next_step import say_after_import
from core.cli.terminal import (
    CacheOption,
    JsonOption,
    open_cache,
    print_json,
    print_problems,
    refusal_of_file,
    say,
)
from core.errors import InputError
from core.export.tables import check_path, write_table
from core.items.hub import name_of_source
from core.items.import_notes import import_note, left_out_rows
from core.items.label_file import read_labels
from core.items.layout import ReadOptions
from core.items.predicate_join import rated
from core.items.report import ImportReport, read_dataset
from core.selection import Selection, parse_link
from core.store.audit import scored_with
from core.store.items import PutResult, put_dataset, require_dataset
from core.store.score_line import score_line
from core.types import Severity
from core.words import counted

ROWS_LEFT_OUT = 3
NO_SCORES = "No scorer has scores of {}, so the rows have none; `{}` computes some."

DatasetOption = Annotated[
    str, typer.Option(metavar="NAME", help="An imported data set; `status` lists them.")
]
ScorerOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="A scorer's id, the beginning of it, model name or label (default: the only one that "
        "has scores of the data set).",
    ),
]


def import_data_set(
    paths: PathsArgument,
    data_format: FormatOption = None,
    language: LanguageOption = None,
    contexts: ContextsOption = Contexts.AMBIGUOUS,
    form: FormOption = Form.FILL_IN,
    labels: LabelsOption = None,
    predicates: PredicatesOption = None,
    encoding: EncodingOption = None,
    lenient: LenientOption = False,
    sample: SampleOption = None,
    seed: SeedOption = None,
    dataset: NameOption = None,
    replace: ReplaceOption = False,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read a data set and store its items.

    Every problem is reported by row; with an error in it nothing is stored, unless --lenient leaves
    the rows out. Equal texts are scored only once, so importing again loses nothing.
    """
    options = ReadOptions(
        language=language,
        contexts=contexts.value,
        form=form.value,
        labels={} if labels is None else read_labels(labels),
    )
    drawn = sample_of(sample, seed)
    path, *more = paths
    if more and dataset is None:
        raise InputError("Several paths are one data set; name it with --dataset.")
    with refusal_of_file(as_json, lenient=lenient):
        report = read_dataset(
            path,
            data_format,
            options=options,
            encoding=encoding,
            lenient=lenient,
            sample=drawn,
            more=more,
        )
        if predicates is not None:
            report = rated(report, predicates)
    name = name_of_source(path) if dataset is None else dataset
    store = open_cache(cache)
    stored = put_dataset(
        store,
        name,
        report.items,
        path=", ".join(map(str, paths)),
        format=report.format,
        sha256=report.sha256,
        note=import_note(report),
        replace=replace,
    )
    summary = report_summary(name, report, stored)
    if as_json:
        print_json(summary)
    else:
        print_problems([*report.left_out, *report.notes])
        say(_sentence(summary))
        say_after_import(store, name, report.items)
    if summary["left_out"]:
        raise typer.Exit(ROWS_LEFT_OUT)


def export(
    out: Annotated[
        Path,
        typer.Option(metavar="FILE", help="File to write: .csv, .parquet, .jsonl or .tex."),
    ],
    dataset: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="An imported data set; `status` lists them."),
    ] = None,
    scorer: ScorerOption = None,
    condition: Annotated[
        list[str] | None,
        typer.Option(metavar="CONDITION", help="Only this condition; may be given several times."),
    ] = None,
    selection: Annotated[
        str | None,
        typer.Option(metavar="LINK", help="A link of the app, or its query: exactly those rows."),
    ] = None,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write item scores to a file.

    One row per item and condition with its texts, log-probabilities and scores, as on the Items
    page. Items without a score are rows too; the column `state` says why. They are all there is
    where no scorer has scores of the data set.
    """
    check_path(out)
    store = open_cache(cache)
    wanted = _wanted(selection)
    wanted = replace(wanted, dataset=dataset or wanted.dataset)
    if not wanted.dataset:
        raise InputError("Name the data set with --dataset, or give a link with --selection.")
    require_dataset(store, wanted.dataset)
    name = scorer or wanted.scorer or None
    bare = name is None and not scored_with(store, wanted.dataset)
    if not bare:
        wanted = replace(wanted, scorer=find_scorer(store, name, dataset=wanted.dataset))
    if condition:
        wanted = replace(wanted, conditions=tuple(condition))
    table = selected_table(store, wanted)
    write_table(table, out)
    states = Counter(table["state"])
    if as_json:
        columns = list(table.columns)
        print_json({"file": str(out), "rows": len(table), "states": states, "columns": columns})
    else:
        counts = ", ".join(f"{n:,} {state}" for state, n in states.items())
        say(f"Wrote {counted(len(table), 'row')} to {out}: {counts}.")
    if bare:
        say(NO_SCORES.format(wanted.dataset, score_line(store, wanted.dataset)))


def _wanted(link: str | None) -> Selection:
    """The selection of a link; one that cannot be read whole is refused, not half obeyed."""
    if link is None:
        return Selection()
    wanted, problems = parse_link(link)
    if problems:
        raise InputError(" ".join(problems))
    return wanted


def report_summary(name: str, report: ImportReport, stored: PutResult) -> dict[str, Any]:
    """An import as plain values: counts per condition, problems by kind and by row."""
    return {
        "dataset": name,
        **asdict(stored),
        "conditions": {c: count.imported for c, count in report.counts.items()},
        "format": report.format,
        "sha256": report.sha256,
        "note": import_note(report),
        "left_out": left_out_rows(report).total(),
        "problems": [asdict(p) for p in report.problems],
    }


def _sentence(summary: dict[str, Any]) -> str:
    if summary["unchanged"]:
        return f"{summary['dataset']}: already in the cache with the same content."
    left_out = f"; left out: {counted(n, 'row')}" if (n := summary["left_out"]) else ""
    if n := summary["n_scores_gone"]:
        left_out += f"; imported scores lost with items that changed: {n:,}"
    n_notes = sum(p["severity"] == Severity.NOTE for p in summary["problems"])
    return (
        f"{summary['dataset']}: stored {counted(summary['stored'], 'row')} "
        f"(conditions: {', '.join(summary['conditions'])}; collapsed rows: {summary['collapsed']}; "
        f"notes: {n_notes}{left_out})."
    )

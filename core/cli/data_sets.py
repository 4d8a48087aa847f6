"""The commands that bring data sets in and tables out: import and export."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from core.analysis.items import item_table
from core.analysis.overview import find_scorer
from core.cli.terminal import (
    CacheOption,
    JsonOption,
    log,
    open_cache,
    print_json,
    print_problems,
)
from core.errors import InputError
from core.export.tables import write_table
from core.items.report import ImportReport, read_dataset
from core.store.items import PutResult, put_dataset, require_dataset


def import_data_set(
    path: Annotated[Path, typer.Argument(help="A data set file, or a folder of files.")],
    data_format: Annotated[str, typer.Option("--format", help="How the file is laid out.")] = (
        "native"
    ),
    dataset: Annotated[
        str | None, typer.Option(help="Name for the data set (default: the file's name).")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a data set of that name.")
    ] = False,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read a data set, report every problem by row, and store its items."""
    report = read_dataset(path, data_format)
    name = dataset or path.stem
    stored = put_dataset(
        open_cache(cache),
        name,
        report.items,
        path=str(path),
        format=data_format,
        sha256=report.sha256,
        replace=replace,
    )
    summary = report_summary(name, report, stored)
    if as_json:
        print_json(summary)
        return
    print_problems(report.problems)
    log.print(_sentence(summary))


def export(
    dataset: Annotated[str, typer.Option(help="Name of an imported data set.")],
    out: Annotated[Path, typer.Option(help="File to write: .csv, .parquet or .jsonl.")],
    scorer: Annotated[
        str | None, typer.Option(help="Model name or scorer id (default: the only one).")
    ] = None,
    condition: Annotated[
        list[str] | None, typer.Option(help="Only this condition; may be given several times.")
    ] = None,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the table of the Items page to a file."""
    store = open_cache(cache)
    require_dataset(store, dataset)
    table = item_table(store, find_scorer(store, scorer), dataset)
    if condition:
        unknown = sorted(set(condition) - set(table["condition"]))
        if unknown:
            known = ", ".join(table["condition"].unique())
            raise InputError(f"{dataset} has no condition {', '.join(unknown)}; it has {known}.")
        table = table[table["condition"].isin(condition)]
    write_table(table, out)
    if as_json:
        print_json({"file": str(out), "rows": len(table), "columns": list(table.columns)})
    else:
        log.print(f"Wrote {len(table)} rows to {out}.")


def report_summary(name: str, report: ImportReport, stored: PutResult) -> dict[str, Any]:
    """An import as plain values: counts per condition, problems by kind and by row."""
    return {
        "dataset": name,
        **asdict(stored),
        "conditions": dict(Counter(item.condition for item in report.items)),
        "problems": [asdict(p) for p in report.problems],
    }


def _sentence(summary: dict[str, Any]) -> str:
    if summary["unchanged"]:
        return f"{summary['dataset']}: already in the cache with the same content."
    return (
        f"{summary['dataset']}: stored {summary['stored']} rows in "
        f"{len(summary['conditions'])} conditions, {summary['collapsed']} of them collapsed; "
        f"{len(summary['problems'])} notes."
    )

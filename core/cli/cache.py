"""The commands about the cache itself: status, sql and repair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated

import pandas as pd
import pyarrow as pa
import typer

from core.analysis.overview import Overview, overview
from core.cli.jobs import job_json, jobs_now, print_jobs
from core.cli.terminal import (
    CacheOption,
    JsonOption,
    open_cache,
    out,
    print_json,
    print_rows,
    print_table,
    say,
    write_bytes,
)
from core.errors import InputError
from core.export.tables import check_format, json_rows, table_bytes
from core.store.gate import Cache
from core.store.query import SECONDS, query
from core.store.repair import repair as repair_cache
from core.store.score_line import score_line
from core.store.sizes import sizes_words
from core.store.tensors import broken_tensors
from core.store.verify import verify as verify_cache
from core.words import method_words, precision_words, size_words

FINDINGS = 3
ON_SCREEN = "table"
SHOWN_ROWS = 200
COUNTED_ROWS = 10_000  # more are not fetched only to say how many there are

_DATASETS = {
    "dataset": "Data set",
    "n_items": "Items",
    "n_conditions": "Conditions",
    "n_rows": "Rows",
    "n_collapsed": "Collapsed",
    "note": "Note",
}
_HEADS = {
    "reader_id": "Reader",
    "model": "Model",
    "precision": "Precision",
    "device": "Device",
    "axes": "Axes",
    "concepts": "Concepts and phrases",
    "n_bytes": "Size",
}
_SCORERS = {
    "scorer_id": "Scorer",
    "model": "Model",
    "precision": "Precision",
    "variant": "Variant",
    "device": "Device",
    "batching": "Batching",
}


def status(
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Also check every stored score; exit code 3 on a finding."),
    ] = False,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what the cache holds, and what runs or ended early."""
    store = open_cache(cache)
    held = overview(store)
    jobs = jobs_now(store)
    findings = verify_cache(store) if verify else []
    broken = broken_tensors(store) if verify else {}
    if as_json:
        result = {
            "cache": str(store.folder),
            "bytes": sum(held.sizes.values()),
            "sizes": held.sizes,
            "datasets": json_rows(held.datasets),
            "scorers": json_rows(held.scorers),
            "coverage": json_rows(held.coverage),
            "heads": json_rows(held.heads),
            "jobs": [job_json(view) for view in jobs],
        }
        checked = {"findings": findings, "broken_arrays": broken}
        print_json(result | (checked if verify else {}))
    else:
        _print_overview(store, held)
        print_jobs(jobs)
        _print_findings(findings, broken)
        if verify and not findings and not broken:
            say("Verified: every stored score and every array is consistent.", to=out)
    if findings or broken:
        raise typer.Exit(FINDINGS)


def _print_findings(findings: Sequence[str], broken: Mapping[str, str]) -> None:
    """What is wrong with scores and with files of arrays, and the commands that put it right."""
    for finding in findings:
        say(f"Finding: {finding}", style="red", to=out)
    if findings:
        say("`python -m core repair` puts this right.", to=out)
    for path, wrong in broken.items():
        say(f"Finding: the file of arrays {path} {wrong}.", style="red", to=out)
    if broken:
        say("`python -m core prune --broken` forgets them; they are read again.", to=out)


def sql(
    statement: Annotated[
        str, typer.Argument(metavar="QUERY", help="One query, such as 'FROM scorer'.")
    ],
    file_format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="table (six digits), or at full precision csv, parquet or jsonl.",
        ),
    ] = ON_SCREEN,
    seconds: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="Stop the query when it runs for longer."),
    ] = SECONDS,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a query over the cache's tables.

    It can only read, and reaches nothing outside the cache. `SHOW TABLES` lists the tables. Nobody
    can write to the cache while the query runs.
    """
    check_format(file_format, [ON_SCREEN])
    if as_json and file_format != ON_SCREEN:
        raise InputError("--json and --format exclude each other; give one of them.")
    if file_format == "parquet" and out.is_terminal:
        raise InputError("Parquet is not for a terminal; write it to a file with `> FILE`.")
    store = open_cache(cache)
    if out.is_terminal and file_format == ON_SCREEN and not as_json:
        _show(query(store, statement, max_rows=COUNTED_ROWS + 1, seconds=seconds))
        return
    rows = query(store, statement, seconds=seconds)
    if as_json:
        print_json({"rows": json_rows(rows), "n": rows.num_rows})
    elif file_format == ON_SCREEN:
        print_rows(rows)
    else:
        write_bytes(table_bytes(rows, file_format))


def repair(
    newer: Annotated[
        bool,
        typer.Option(
            "--newer", help="Set even a healthy file aside that a newer version has written."
        ),
    ] = False,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Mend a cache that is broken or inconsistent.

    A file that cannot be opened is set aside under another name, never deleted. Nobody else gets at
    the cache meanwhile.
    """
    result = repair_cache(open_cache(cache), newer=newer)
    if as_json:
        print_json(asdict(result))
    else:
        say(result.message, to=out)


def _show(rows: pa.Table) -> None:
    """The first rows on the screen, and how many there are."""
    print_rows(rows.slice(0, SHOWN_ROWS))
    if rows.num_rows > SHOWN_ROWS:
        n = f"more than {COUNTED_ROWS}" if rows.num_rows > COUNTED_ROWS else rows.num_rows
        say(f"showing {SHOWN_ROWS} of {n}; a file (`> FILE`) or --json gets all of them")


def _print_overview(store: Cache, held: Overview) -> None:
    say(f"{store.folder}: {sizes_words(held.sizes)}", to=out)
    _print_scores(store, held)
    if not held.heads.empty:
        sizes = [size_words(n) for n in held.heads["n_bytes"]]
        table = held.heads.assign(n_bytes=sizes)[[*_HEADS]].rename(columns=_HEADS)
        print_table(table, "Heads that were read")


def _print_scores(store: Cache, held: Overview) -> None:
    """Data sets, scorers and how far they are, or what to do where there is none."""
    if held.datasets.empty:
        say("It holds no data set; run `python -m core demo` or import one.", to=out)
        return
    print_table(held.datasets[[*_DATASETS]].rename(columns=_DATASETS), "Data sets")
    if held.scorers.empty:
        line = score_line(store, held.datasets["dataset"].iloc[0])
        say(f"Nothing is scored yet; run `{line}`.", to=out)
        return
    print_table(_scorer_rows(held.scorers), "Scorers")
    print_table(_progress(held.coverage), "Scored items of those that can be scored")


def _scorer_rows(scorers: pd.DataFrame) -> pd.DataFrame:
    """One row per scorer; variants of masked models have a column where there is one."""
    rows = scorers.to_dict("records")
    known = scorers.assign(
        precision=[precision_words(row["dtype"], row["quantization"]) for row in rows],
        variant=[method_words(row["method"]) for row in rows],
    )
    columns = [name for name in _SCORERS if name != "variant" or known["variant"].any()]
    return known[columns].rename(columns=_SCORERS)


def _progress(coverage: pd.DataFrame) -> pd.DataFrame:
    """One row per data set and scorer; only conditions that are not complete are named."""
    can = coverage["n_items"] - coverage["n_collapsed"]
    part = coverage["n_scored"].astype(str) + "/" + can.astype(str)
    named = (coverage["condition"] + " " + part).where(coverage["n_scored"] < can, "")
    pairs = coverage.assign(can=can, named=named).groupby(
        ["dataset", "scorer_id", "model"], sort=False
    )
    rows = [
        {
            "Data set": dataset,
            "Model": model or "(none)",
            "Scorer": scorer_id,
            "Scored": f"{rows['n_scored'].sum()}/{rows['can'].sum()}",
            "Incomplete": ", ".join(name for name in rows["named"] if name),
        }
        for (dataset, scorer_id, model), rows in pairs
    ]
    return pd.DataFrame(rows)

"""The commands about the cache itself: status, sql and repair."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from core.analysis.overview import overview
from core.cli.terminal import (
    CacheOption,
    JsonOption,
    log,
    open_cache,
    out,
    print_json,
    print_table,
    records,
)
from core.export.tables import table_bytes
from core.store.query import query
from core.store.repair import repair as repair_cache
from core.store.verify import verify as verify_cache

FINDINGS = 3


def status(
    verify: Annotated[
        bool, typer.Option("--verify", help="Also check every stored score for consistency.")
    ] = False,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what the cache holds."""
    store = open_cache(cache)
    held = overview(store)
    findings = verify_cache(store) if verify else []
    if as_json:
        result = {
            "cache": str(store.folder),
            "bytes": held.size_bytes,
            "datasets": records(held.datasets),
            "scorers": records(held.scorers),
            "coverage": records(held.coverage),
        }
        print_json(result | ({"findings": findings} if verify else {}))
    else:
        log.print(f"{store.folder}: {held.size_bytes / 1e6:.1f} MB")
        print_table(held.datasets, "Data sets")
        print_table(held.scorers, "Scorers")
        print_table(held.coverage, "Items by scorer, data set and condition")
        for finding in findings:
            log.print(f"[bold red]Finding:[/] {finding}")
        if verify and not findings:
            log.print("Verified: every stored score is consistent.")
    if findings:
        raise typer.Exit(FINDINGS)


def sql(
    statement: Annotated[str, typer.Argument(help="One query over the cache's tables.")],
    file_format: Annotated[
        str, typer.Option("--format", help="table, csv, jsonl or parquet.")
    ] = "table",
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a read-only query; it can neither change anything nor reach other files."""
    frame = query(open_cache(cache), statement).to_pandas()
    if as_json:
        print_json({"rows": records(frame), "n": len(frame)})
    elif file_format == "table":
        print_table(frame)
    else:
        out.file.flush()
        typer.echo(table_bytes(frame, file_format), nl=False)


def repair(cache: CacheOption = None, as_json: JsonOption = False) -> None:
    """Mend a cache that cannot be opened or is inconsistent; nothing is ever deleted."""
    result = repair_cache(open_cache(cache))
    if as_json:
        print_json(asdict(result))
    else:
        log.print(result.message)

"""The command line: which commands there are, and how errors become exit codes.

Exit code 0 only when everything asked for was done; 2 for a usage or input error, with one
sentence on stderr; 3 when some items failed (they are named, the rest is stored); 130 when
stopped by Ctrl-C (what was computed is stored).
"""

from __future__ import annotations

import sys
from typing import NoReturn

import typer
from rich.markup import escape

from core.cli import cache, data_sets, scoring
from core.cli.terminal import log, print_problems
from core.errors import DataSetError, StereoscopeError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Audit language models for stereotypes: items, scores and the cache that holds them.",
)
app.command("demo")(scoring.demo)
app.command("import")(data_sets.import_data_set)
app.command("score")(scoring.score)
app.command("export")(data_sets.export)
app.command("status")(cache.status)
app.command("sql")(cache.sql)
app.command("repair")(cache.repair)


def main() -> NoReturn:
    """Run the command line and leave with its exit code."""
    try:
        app()
    except StereoscopeError as error:
        log.print(f"[bold red]Error:[/] {escape(str(error))}", soft_wrap=True, highlight=False)
        if isinstance(error, DataSetError):
            print_problems(error.problems)
        sys.exit(2)
    sys.exit(0)

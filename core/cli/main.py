"""The command line: which commands there are, and how errors become exit codes.

Exit code 0 only when everything asked for was done; 2 for a usage or input error, with one
sentence on stderr; 3 when some items failed (they are named, the rest is stored); 130 when
stopped by Ctrl-C (what was computed is stored).
"""

from __future__ import annotations

import sys
from typing import NoReturn

import typer

from core.cli import cache, data_sets, scoring
from core.cli.terminal import print_error, print_problems
from core.errors import DataSetError, StereoscopeError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # else [@revision] in a help text is taken for markup and left out
    help="Audit language models for stereotypes: items, scores and the cache that holds them.",
    epilog="Exit codes: 0 all done, 2 wrong usage or input, 3 some items failed, 130 stopped.",
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
        print_error(error)
        if isinstance(error, DataSetError):
            print_problems(error.problems)
        sys.exit(2)
    sys.exit(0)

"""The command line: which commands there are, and how errors become exit codes.

Exit code 0 only when everything asked for was done; 2 for a usage or input error, with one
sentence on stderr; 3 when some items failed or were left out (they are named, the rest is stored)
or a check is red; 130 when stopped by Ctrl-C (what was computed is stored).
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import typer

from core.cli import (
    atlas,
    audit,
    axes,
    build_pairs,
    cache,
    check,
    comparison,
    control,
    data_sets,
    demo,
    export_items,
    identity_pairs,
    import_scores,
    pairs,
    positive_control,
    probe,
    prune,
    sample,
    scoring,
    stereotypes,
)
from core.cli.terminal import print_error, print_refusal
from core.errors import DataSetError, InputError, StereoscopeError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # else [@revision] in a help text is taken for markup and left out
    help="Audit language models for stereotypes: items, scores and the cache that holds them.",
    epilog="Exit codes: 0 all done, 2 wrong usage or input, 3 some failed or are red, 130 stopped.",
)
app.command("demo")(demo.demo)
app.command("import")(data_sets.import_data_set)
app.command("import-scores")(import_scores.import_scores)
app.command("build-pairs")(build_pairs.build_pairs)
app.command("check")(check.check)
app.command("score")(scoring.score)
app.command("export")(data_sets.export)
app.command("export-items")(export_items.export_items)
app.command("compare")(comparison.compare)
app.command("pairs")(pairs.pairs)
app.command("identity-pairs")(identity_pairs.identity_pairs)
app.command("status")(cache.status)
app.command("audit")(audit.audit_data_set)
app.command("control")(control.control)
app.command("positive-control")(positive_control.positive_control)
app.command("axes")(axes.axes)
app.command("stereotypes")(stereotypes.stereotypes)
app.command("atlas")(atlas.atlas)
app.command("probe")(probe.probe)
app.command("sample")(sample.sample)
app.command("prune")(prune.prune)
app.command("sql")(cache.sql)
app.command("repair")(cache.repair)


def main() -> NoReturn:
    """Run the command line and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without Unicode shows escapes instead
            stream.reconfigure(errors="backslashreplace")
    try:
        _check_arguments(sys.argv[1:])
        app()
    except DataSetError as error:
        print_refusal(error)
        sys.exit(2)
    except StereoscopeError as error:
        print_error(error)
        sys.exit(2)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 the rest has no place either
        print_error(InputError("The output cannot be written: no space is left where it goes."))
        sys.exit(2)
    sys.exit(0)


def _check_arguments(arguments: Sequence[str]) -> None:
    """Refuse bytes that are no text: neither the database nor a message could hold them."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"The argument {argument!r} is not valid Unicode; write it in UTF-8."
            ) from error

"""The command `prune`: what arrays take on the disk, and how to be rid of them."""

from __future__ import annotations

from typing import Annotated

import typer

from core.cli.terminal import CacheOption, JsonOption, open_cache, out, print_json, print_table, say
from core.errors import InputError
from core.export.tables import json_rows
from core.jobs.follow import follow
from core.jobs.spec import ATLAS, AXES, STEREOTYPES
from core.store.gate import Cache
from core.store.head_readers import get_reader
from core.store.prune import array_sizes, delete, files_of, forget
from core.store.tensors import broken_tensors, unclaimed_files
from core.words import size_words


def prune(
    reader: Annotated[
        str,
        typer.Option(metavar="READER", help="Forget all that was read of a model's heads."),
    ] = "",
    family: Annotated[
        str, typer.Option(metavar="FAMILY", help="With --reader: only this family of templates.")
    ] = "",
    broken: Annotated[
        bool, typer.Option("--broken", help="Forget files that are missing or damaged.")
    ] = False,
    unclaimed: Annotated[
        bool, typer.Option("--unclaimed", help="Delete files that a killed job left unfinished.")
    ] = False,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what arrays of heads take, and forget some.

    What is forgotten counts as never read: the command axes computes it again. Stored results that
    rest on it go too.
    """
    store = open_cache(cache)
    if family and not reader:
        raise InputError("--family belongs to a model's heads; name them with --reader.")
    wanted: dict[str, str] = {}
    if reader:
        get_reader(store, reader)
        wanted |= dict.fromkeys(files_of(store, reader, family or None), "no longer wanted")
    if broken:
        wanted |= broken_tensors(store)
    if wanted or unclaimed:
        _check_idle(store)
    if wanted:
        forget(store, wanted)
    left = unclaimed_files(store) if unclaimed else []
    delete(left)
    _say(store, wanted, [str(file) for file in left], as_json=as_json)


def _check_idle(store: Cache) -> None:
    """Jobs write files of heads before they vouch for them, or compute on those that are there."""
    for view in follow(store):
        if view.alive and view.command in (AXES, "demo", STEREOTYPES, ATLAS):
            raise InputError(
                f"Run {view.run_id} reads heads; wait until it ends, or stop it first."
            )


def _say(store: Cache, forgotten: dict[str, str], deleted: list[str], *, as_json: bool) -> None:
    sizes = array_sizes(store)
    if as_json:
        print_json({"forgotten": forgotten, "deleted": deleted, "held": json_rows(sizes)})
        return
    for path, reason in forgotten.items():
        say(f"Forgotten: {path} ({reason})", to=out)
    for path in deleted:
        say(f"Deleted: {path}", to=out)
    if sizes.empty:
        say("The cache holds no arrays.", to=out)
        return
    rows = sizes.assign(n_bytes=[size_words(n) for n in sizes["n_bytes"]])
    print_table(rows, "Arrays of heads")

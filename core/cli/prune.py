"""The command `prune`: what arrays take on the disk, and how to be rid of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Annotated

import typer

from core.analysis.heads.reader import find_reader
from core.axes.axis import plain_name
from core.cli.terminal import CacheOption, JsonOption, open_cache, out, print_json, print_table, say
from core.errors import InputError
from core.export.tables import json_rows
from core.jobs.folder import FILL_READER, one_at_a_time
from core.jobs.follow import follow
from core.jobs.own_axis import OWN_AXES, remove_own_axis
from core.jobs.spec import ATLAS, AXES, STEREOTYPES
from core.store.gate import Cache
from core.store.head_readers import readers
from core.store.prune import array_sizes, delete, files_of, forget
from core.store.tensors import broken_tensors, unclaimed_files
from core.words import size_words

_COLUMNS = {
    "reader_id": "Reader",
    "model": "Model",
    "family": "Family",
    "n_poles": "Poles",
    "n_axes": "Axes",
    "n_concepts": "Concepts",
    "n_files": "Files",
    "n_bytes": "Size",
}

ReaderOption = Annotated[
    str,
    typer.Option(
        metavar="READER", help="Forget what was read of a model's heads (its name or an id)."
    ),
]
FamilyOption = Annotated[
    str, typer.Option(metavar="FAMILY", help="With --reader: only this family of templates.")
]
BrokenOption = Annotated[
    bool, typer.Option("--broken", help="Forget files that are missing or damaged.")
]
UnclaimedOption = Annotated[
    bool, typer.Option("--unclaimed", help="Delete files that a killed job left unfinished.")
]
OwnAxisOption = Annotated[
    str,
    typer.Option(
        metavar="AXIS",
        help=f"Take an axis out of the set {OWN_AXES} ('stingy|mean~generous', or its "
        "beginning); what was read for it stays.",
    ),
]


def prune(
    reader: ReaderOption = "",
    family: FamilyOption = "",
    broken: BrokenOption = False,
    unclaimed: UnclaimedOption = False,
    own_axis: OwnAxisOption = "",
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what arrays of heads take, and forget some.

    What is forgotten counts as never read: the command axes computes it again. Stored results that
    rest on it go too.
    """
    store = open_cache(cache)
    if own_axis:
        axis = remove_own_axis(store, own_axis)
        say(f"{plain_name(axis.axis_id)} is out of {OWN_AXES}.")
    if family and not reader:
        raise InputError("--family belongs to a model's heads; name them with --reader.")
    reader_id = find_reader(store, reader) if reader else ""
    forgotten: dict[str, str] = {}
    deleted: list[str] = []
    if reader or broken or unclaimed:
        affected = _all_readers(store) if broken or unclaimed else {reader_id}
        with _alone_with(store, affected):
            forgotten = _forget(store, reader_id, family, broken=broken)
            if unclaimed:
                deleted = _delete_unclaimed(store, affected)
    _say(store, forgotten, deleted, as_json=as_json)


def _forget(store: Cache, reader_id: str, family: str, *, broken: bool) -> dict[str, str]:
    """Forget a reader's files where one is named, and broken ones; each file with the reason."""
    wanted: dict[str, str] = {}
    if reader_id:
        wanted |= dict.fromkeys(files_of(store, reader_id, family or None), "no longer wanted")
    if broken:
        wanted |= broken_tensors(store)
    if wanted:
        forget(store, wanted)
    return wanted


def _delete_unclaimed(store: Cache, reader_ids: set[str]) -> list[str]:
    """Delete the files of these readers that no stored array is in; their paths."""
    files = [file for file in unclaimed_files(store) if file.parent.name in reader_ids]
    delete(files)
    return [str(file) for file in files]


def _all_readers(store: Cache) -> set[str]:
    """The ids of all readers; also of those that a killed job left no more than a file of."""
    left = {file.parent.name for file in unclaimed_files(store)}
    return left | set(readers(store)["reader_id"])


@contextmanager
def _alone_with(store: Cache, reader_ids: set[str]) -> Iterator[None]:
    """Keep jobs from reading heads for these readers while files of theirs are looked at and go."""
    with ExitStack() as stack:
        for reader_id in sorted(reader_ids):
            stack.enter_context(one_at_a_time(store, FILL_READER, reader_id, "prune"))
        _check_idle(store)
        yield


def _check_idle(store: Cache) -> None:
    """Jobs compute on files that are there, and on others' heads before they know the reader."""
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
    print_table(rows[[*_COLUMNS]].rename(columns=_COLUMNS), "Arrays of heads")

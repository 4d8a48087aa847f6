"""Data sets of the Hugging Face Hub, read by the library `datasets` where it is installed.

::

    hub:org/name[@revision][#config][:split]      hub:nyu-mll/BBQ@main#Age:test

The rows of each split become a file of JSON Lines, so that every layout reads them as it reads a
file; without a split all are read, as the files of a folder are. Which commit they come from is
told and kept with the data set.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.files.places import Place, printable
from core.files.reading import DataFile, read_files
from core.items.values import plain
from core.types import Problem

REQUIREMENTS = "requirements-hub.txt"
_HUB = "hub:"
_NAME = re.compile(
    r"hub:(?P<name>[\w.-]+/[\w.-]+)(?:@(?P<revision>[^@#:]+))?(?:#(?P<config>[^@#:]+))?"
    r"(?::(?P<split>\w[\w.-]*))?"
)
_PATTERN = "hub:org/name[@revision][#config][:split]"


@dataclass(frozen=True)
class HubName:
    """What to read of the Hub; None where it is for the Hub to say."""

    name: str
    revision: str | None
    config: str | None
    split: str | None


def read_source(path: Path) -> tuple[list[DataFile], list[Problem], str]:
    """The files of a path or of a name on the Hub, notes on them, and where the Hub has them.

    Raises
    ------
    InputError
        Nothing is there, it cannot be read, `datasets` is not installed, or there is no network.
    """
    if str(path).startswith(_HUB):
        return _read_hub(parse_hub_name(str(path)))
    return *read_files(path), ""


def parse_hub_name(text: str) -> HubName:
    """The parts of a name on the Hub.

    Raises
    ------
    InputError
        It is not written as such names are.
    """
    match = _NAME.fullmatch(text)
    if match is None:
        raise InputError(f"{printable(text)!r} is no data set of the Hub; write {_PATTERN}.")
    return HubName(**match.groupdict())


def name_of_source(path: Path) -> str:
    """What to call a data set: a file's name without its ending, a folder's or the Hub's name.

    A config of the Hub is another data set, and is named behind it.
    """
    if match := _NAME.fullmatch(str(path)):
        return "-".join(filter(None, (match["name"].rpartition("/")[2], match["config"])))
    with suppress(OSError, ValueError):  # reading it will say what is wrong
        path = path.resolve()
    return path.name if path.is_dir() else path.stem


def _read_hub(wanted: HubName) -> tuple[list[DataFile], list[Problem], str]:
    if Path(wanted.name).exists():  # the library would read this instead of the Hub
        raise InputError(f"{wanted.name} is here on this machine; leave out {_HUB} to read it.")
    splits, commit = _load(wanted)
    files = [
        DataFile(Path(_file_name(wanted, split)), _json_lines(rows, wanted.name))
        for split, rows in splits.items()
    ]
    config = f", config {wanted.config}" if wanted.config else ""
    names = ", ".join(splits)
    origin = f"{_HUB}{wanted.name} at commit {commit}{config}, {names}"
    note = Place(files[0].path.name).note("from_hub", f"Read from {origin}.") if files else None
    return files, [note] if note else [], origin


def _load(wanted: HubName) -> tuple[Mapping[str, Iterable[dict[str, Any]]], str]:
    """The rows by split, and the commit that they come from."""
    library = _library()
    try:
        builder = library.load_dataset_builder(wanted.name, wanted.config, revision=wanted.revision)
        builder.download_and_prepare()
        loaded = builder.as_dataset(split=wanted.split)
    except (ConnectionError, TimeoutError) as error:
        raise InputError(
            f"{wanted.name} is not on this machine and the Hub cannot be reached; connect to the "
            "network, or give a folder with the files."
        ) from error
    except (OSError, ValueError, RuntimeError, library.exceptions.DatasetsError) as error:
        reason = printable(str(error).strip().partition("\n")[0])
        raise InputError(f"{wanted.name} cannot be read from the Hub: {reason}") from error
    # The library calls by its hash what it keeps of a data set: of the Hub, that of the commit.
    return loaded if wanted.split is None else {wanted.split: loaded}, str(builder.hash)


def _library() -> Any:
    try:
        return importlib.import_module("datasets")
    except ImportError as error:
        raise InputError(
            "The library datasets is not installed, which reads the Hub; install it by `pip "
            f"install -r {REQUIREMENTS}`, or give a folder with the files."
        ) from error


def _file_name(wanted: HubName, split: str) -> str:
    """A name that says of the rows what a file's name would: language or task at its end."""
    parts = (wanted.name.rpartition("/")[2], split, wanted.config)
    return f"{'_'.join(part for part in parts if part)}.jsonl".replace("/", "-")


def _json_lines(rows: Iterable[dict[str, Any]], name: str) -> bytes:
    try:
        return "\n".join(json.dumps(row, default=plain) for row in rows).encode()
    except TypeError as error:
        message = f"{name} holds {error}, which is no row of texts and numbers."
        raise InputError(printable(message)) from error

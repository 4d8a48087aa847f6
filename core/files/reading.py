"""Which files a data set consists of, and their bytes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from core.errors import InputError
from core.files.places import Place, listed, printable
from core.types import Problem

SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")


@dataclass(frozen=True)
class DataFile:
    """One file of a data set, read whole."""

    path: Path
    content: bytes


def file_content(path: Path) -> bytes:
    """The bytes of a file. A device or a pipe is none: its bytes might never end.

    Raises
    ------
    InputError
        Nothing is there, it is no file, or it cannot be read.
    """
    try:
        if path.is_file():
            return path.read_bytes()
        there = path.exists()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(printable(f"{path} cannot be read: {reason}.")) from error
    what = "is no file" if there else "does not exist"
    raise InputError(printable(f"{path} {what}; name a file."))


def read_files(path: Path) -> tuple[list[DataFile], list[Problem]]:
    """The file, or every data file directly in the folder by name, and notes on what was left.

    Raises
    ------
    InputError
        Nothing is there, it cannot be read, or it holds no data file.
    """
    try:
        if path.is_dir():
            paths, notes = _in_folder(path)
        elif path.is_file():
            paths, notes = [path], []
        else:
            what = "is neither a file nor a folder" if path.exists() else "does not exist"
            raise InputError(printable(f"{path} {what}."))
        return [DataFile(file, file.read_bytes()) for file in paths], notes
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(printable(f"{path} cannot be read: {reason}.")) from error


def _in_folder(folder: Path) -> tuple[list[Path], list[Problem]]:
    visible = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    paths = [p for p in visible if p.suffix.lower() in SUFFIXES and p.is_file()]
    others = [printable(p.name) for p in visible if p not in paths]
    if not paths:
        raise InputError(printable(f"{folder} holds no {', '.join(SUFFIXES)} file."))
    if not others:
        return paths, []
    message = f"Not read, because they are no data files: {listed(others)}."
    return paths, [Place(printable(folder.name)).note("file_ignored", message)]


def content_hash(path: Path, files: list[DataFile]) -> str:
    """SHA-256 of one file's bytes; of a folder or several, of the lines `sha256sum` prints."""
    digests = [hashlib.sha256(file.content).hexdigest() for file in files]
    if path.is_file() and len(files) == 1:
        return digests[0]
    lines = [f"{d}  {printable(f.path.name)}\n" for d, f in zip(digests, files, strict=True)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()

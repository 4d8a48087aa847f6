"""The files that somebody wants to import, read once however often the page runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st

from core.errors import DataSetError
from core.files.uploads import on_disk, safe_name
from core.items.detection import Detected, detect
from core.items.hub import name_of_source
from core.items.layout import ReadOptions
from core.items.report import ImportReport, read_dataset
from core.items.sampling import Sample
from core.types import Problem
from pages.shared.data import open_cache

Labels = tuple[tuple[str, tuple[tuple[str, str], ...] | None], ...]


@dataclass(frozen=True)
class Files:
    """Where a data set is: sent by a browser, or at a path of the server."""

    token: str  # another one for other content
    name: str  # what to call the data set
    origin: str  # what is kept of where it came from
    path: Path | None = None
    uploads: tuple[tuple[str, bytes], ...] = field(default=(), repr=False)

    @contextmanager
    def on_disk(self) -> Iterator[Path]:
        """A path that can be read for as long as it is needed."""
        if self.path is not None:
            yield self.path
            return
        with on_disk(self.uploads, open_cache().folder) as path:
            yield path


@dataclass(frozen=True)
class Wish:
    """What a person says about the files."""

    format: str | None = None
    language: str | None = None
    contexts: str = ReadOptions.contexts
    form: str = ReadOptions.form
    labels: Labels = ()
    encoding: str | None = None
    lenient: bool = False
    sample: Sample | None = None

    @property
    def options(self) -> ReadOptions:
        labels: Mapping[str, Mapping[str, str] | None] = {
            base: None if roles is None else dict(roles) for base, roles in self.labels
        }
        return ReadOptions(self.language, self.contexts, self.form, labels)


@dataclass(frozen=True)
class Reading:
    """What came of reading the files: a report, or the sentence and problems of a refusal."""

    report: ImportReport | None
    refusal: str = ""
    problems: tuple[Problem, ...] = ()


def uploaded(files: list[tuple[str, bytes]]) -> Files:
    """Files that a browser has sent."""
    named = tuple((safe_name(name), content) for name, content in files)
    digest = hashlib.sha256()
    for name, content in named:
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    names = [name for name, _ in named]
    return Files(digest.hexdigest(), Path(names[0]).stem, ", ".join(names), uploads=named)


def at_path(text: str) -> Files:
    """A file or folder of the server, as it is now."""
    path = Path(text.strip().strip("'\"")).expanduser()
    try:
        of = sorted(path.iterdir()) if path.is_dir() else [path]
        stats = [(p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in of if p.is_file()]
    except (OSError, ValueError):  # reading it will say what is wrong
        stats = []
    return Files(f"{path} {stats}", name_of_source(path), str(path), path=path)


def look_at(files: Files, encoding: str | None) -> Detected:
    """The layouts that the files show; InputError or DataSetError where they cannot be read."""
    return _detected(files.token, encoding, _files=files)


def read(files: Files, wish: Wish) -> Reading:
    """The items of the files, or why they are refused; InputError for a wish that means nothing."""
    return _read(files.token, wish, _files=files)


@st.cache_resource(max_entries=4, show_spinner="Looking at the file …")
def _detected(token: str, encoding: str | None, _files: Files) -> Detected:
    with _files.on_disk() as path:
        try:
            return detect(path, encoding)
        except DataSetError as error:
            raise DataSetError(_without_folder(error, path), error.problems) from error


@st.cache_resource(max_entries=2, show_spinner="Reading the items …")
def _read(token: str, wish: Wish, _files: Files) -> Reading:
    with _files.on_disk() as path:
        try:
            report = read_dataset(
                path,
                wish.format,
                options=wish.options,
                encoding=wish.encoding,
                lenient=wish.lenient,
                sample=wish.sample,
            )
        except DataSetError as error:
            return Reading(None, _without_folder(error, path), error.problems)
    return Reading(report, problems=report.problems)


def _without_folder(error: DataSetError, path: Path) -> str:
    """Its sentence without where an upload lies for the moment."""
    folder = path if path.is_dir() else path.parent
    return str(error).replace(f" in {folder}:", ":").replace(f"{folder}/", "")

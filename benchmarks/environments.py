"""A Python environment of its own for each peer, because their dependencies differ from ours."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "cache" / "benchmarks"
TORCH = "torch==2.13.0"  # first and alone: a later line would fetch its GPU build


def peer_python(name: str, packages: list[str]) -> Path:
    """The interpreter of a peer's environment, made when there is none with these packages yet."""
    folder = FOLDER / name
    python = folder / "bin" / "python"
    done = folder / "installed"
    wanted = "\n".join(packages)
    if not done.exists() or done.read_text() != wanted:
        print(f"installing {', '.join(packages)} into {folder} ...", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        for line in ([TORCH], packages):
            subprocess.run([python, "-m", "pip", "install", "--quiet", *line], check=True)
        done.write_text(wanted)
    return python

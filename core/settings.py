"""Where things are, and the numbers that are fixed for the whole program."""

from __future__ import annotations

import os
from pathlib import Path

VERSION = "0.1.0"  # of the program; pyproject.toml reads it from here
ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "data"
DEMO_DATA = DATA / "demo"
DEMO_DATASET = "demo"
DEFAULT_SEED = 20260928
REFERENCE_CONDITION = "en"


def cache_folder() -> Path:
    """The folder named by STEREOSCOPE_CACHE, else `cache/` in the project."""
    return Path(os.environ.get("STEREOSCOPE_CACHE") or ROOT / "cache")

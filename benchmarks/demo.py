"""The demo model as it is measured: float32, two threads."""

from __future__ import annotations

from pathlib import Path

import torch

from core.models.demo import demo_model_folder
from core.models.language_model import LanguageModel
from core.models.opening import open_model
from core.models.precision import Precision
from core.settings import cache_folder

THREADS = 2


def open_demo() -> LanguageModel:
    """The demo model."""
    torch.set_num_threads(THREADS)
    return open_model(
        "demo",
        models_folder=cache_folder() / "models",
        precision=Precision(dtype="float32"),
        device="cpu",
    )


def demo_folder() -> Path:
    """The folder that it is opened from."""
    return demo_model_folder(cache_folder() / "models")

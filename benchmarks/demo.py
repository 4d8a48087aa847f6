"""The demo model as it is measured: float32, two threads."""

from __future__ import annotations

from pathlib import Path

import torch

from core.models.demo import demo_model_folder
from core.models.language_model import LanguageModel
from core.models.opening import open_model
from core.settings import cache_folder

THREADS = 2


def opened() -> LanguageModel:
    """The demo model."""
    torch.set_num_threads(THREADS)
    models = cache_folder() / "models"
    return open_model("demo", models_folder=models, dtype="float32", device="cpu")


def opened_from() -> Path:
    """The folder that it was opened from."""
    return demo_model_folder(cache_folder() / "models")

"""Caches filled in seconds: real items, a tiny random model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from core.items.report import read_dataset
from core.jobs.run import ScoreRequest, ScoreResult, score_dataset
from core.settings import DEMO_DATA
from core.store.gate import Cache
from core.store.items import put_dataset
from core.types import Item
from tests.tiny_models import save_tiny
from tests.tiny_tokenizers import byte_level_bpe


def fill_scored(folder: Path, items: Sequence[Item], dataset: str = "demo") -> ScoreResult:
    """A cache in `folder` with these items, scored by a tiny model that is kept beside it."""
    cache = Cache(folder)
    put_dataset(cache, dataset, items, path="", format="native", sha256="")
    model = folder / "tiny"
    if not model.exists():
        save_tiny(model, "llama", byte_level_bpe(add_bos=True), max_position_embeddings=1024)
    return score_dataset(cache, ScoreRequest(model=str(model), dataset=dataset))


def demo_items() -> tuple[Item, ...]:
    """The shipped demo items."""
    return read_dataset(DEMO_DATA).items

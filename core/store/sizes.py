"""How much room a cache takes, by what takes it."""

from __future__ import annotations

from pathlib import Path

from core.store.gate import Cache
from core.store.tensors import TENSORS
from core.words import size_words

FOLDERS = {"models": "models", "arrays": TENSORS}  # what they hold: their names in the cache


def cache_sizes(cache: Cache) -> dict[str, int]:
    """Bytes of the scores, of the models and of the arrays, where there are any."""
    sizes = {"scores": cache.file.stat().st_size}
    for what, name in FOLDERS.items():
        if size := _bytes_in(cache.folder / name):
            sizes[what] = size
    return sizes


def sizes_words(sizes: dict[str, int]) -> str:
    """Sizes in words: 4.2 MB of scores and results, 517 MB of models, 90 MB of arrays of heads."""
    named = {"scores": "scores and results", "arrays": "arrays of heads"}
    return ", ".join(f"{size_words(n)} of {named.get(what, what)}" for what, n in sizes.items())


def _bytes_in(folder: Path) -> int:
    """The bytes of all files below a folder; 0 where there is none."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size if path.is_file() else 0
        except OSError:  # it has just been moved or removed
            continue
    return total

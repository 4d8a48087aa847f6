"""Slices that a test is done with; the program itself forgets none."""

from __future__ import annotations

from core.store.gate import Cache


def forget_slice(cache: Cache, dataset: str, name: str) -> None:
    with cache.writing() as con:
        con.execute("DELETE FROM slice WHERE dataset = ? AND name = ?", [dataset, name])

"""Items, scorers and scores for the tests of the store."""

from __future__ import annotations

import subprocess
import sys
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from core.settings import ROOT
from core.store.gate import Cache
from core.store.items import PutResult, put_dataset
from core.store.scorers import put_scorer
from core.types import Flag, Item, Scorer, Text, TokenScore

SCORER = Scorer(
    model="tiny",
    fingerprint="f0",
    dtype="float32",
    device="cpu",
    attention="sdpa",
    method="causal",
    bos="none",
    batching="batched",
    scoring_version=1,
)
OTHER = replace(SCORER, dtype="bfloat16", fingerprint="f1")  # another model


def item(item_id: str = "1", condition: str = "en", **fields: object) -> Item:
    """An item whose texts are its own."""
    texts = {
        "context": "The nurse left.",
        "stereotype": f"She was tired of {item_id} in {condition}.",
        "anti_stereotype": f"He was tired of {item_id} in {condition}.",
    }
    return Item(item_id=item_id, condition=condition, **{**texts, **fields})  # type: ignore[arg-type]


def put(cache: Cache, items: Sequence[Item], name: str = "d", replace: bool = False) -> PutResult:
    return put_dataset(cache, name, items, path="x.csv", format="csv", sha256="0", replace=replace)


def score(text: Text | str, n: int = 3, flags: tuple[Flag, ...] = ()) -> TokenScore:
    """A score that depends on the text alone."""
    text_id = text if isinstance(text, str) else text.text_id
    rng = np.random.default_rng(zlib.crc32(text_id.encode()))
    position = np.arange(n, dtype=np.int32)
    return TokenScore(
        text_id=text_id,
        token_ids=rng.integers(0, 1000, n, dtype=np.int32),
        logprobs=-rng.exponential(2, n).astype(np.float32),
        starts=3 * position,
        ends=3 * position + 2,
        words=position,
        flags=flags,
    )


def score_all(texts: Iterable[Text]) -> list[TokenScore]:
    return [score(text) for text in texts]


def filled(cache: Cache, n_items: int = 3) -> Cache:
    """The cache with a data set `d` and a scorer, nothing scored yet."""
    put(cache, [item(str(i)) for i in range(n_items)])
    put_scorer(cache, SCORER)
    return cache


def python(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Another process that runs `code` with the project importable; `sys.argv[1:]` as given."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(ROOT),
    )

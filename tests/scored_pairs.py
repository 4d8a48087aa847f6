"""A cache of sentence pairs, scored by a tiny masked and a tiny causal model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from core.jobs.run import ScoreRequest, score_dataset
from core.store.gate import Cache
from core.store.items import put_dataset
from core.types import Item
from tests.pair_samples import pair
from tests.tiny_models import save_tiny
from tests.tiny_tokenizers import byte_level_bpe, word_piece

SHARED_PIECE = "transgender-grandfather"
NOTHING_BEHIND = "last-word"
TOO_LONG = "long"
ARABIC = "arabic"
COLLAPSED = "same"
PAIRS = (
    pair(
        SHARED_PIECE,
        ("The transgender grandfather called.", "The cisgender grandfather called."),
        category="gender-identity",
        language="en",
        metadata={"stereo_antistereo": "stereo"},
    ),
    pair(
        "tired",
        ("He said that she was tired.", "He said that he was tired."),
        category="gender",
        metadata={"stereo_antistereo": "antistereo"},
    ),
    pair("nurse", ("The nurse stood outside.", "The doctor stood outside."), category="profession"),
    pair(
        NOTHING_BEHIND,
        ("The person outside was a nurse", "The person outside was a doctor"),
        category="profession",
    ),
    pair(
        "mostly",
        ("The nurse finished the night shift.", "The doctor said hello."),
        category="profession",
    ),
    pair(
        TOO_LONG,
        ("He was tired. " * 12 + "He called.", "She was tired."),
        category="gender",
    ),
    pair(
        ARABIC,
        ("أنهت الممرضة نوبتها الليلية.", "أنهى الممرض نوبته الليلية."),
        category="gender",
        condition="ar",
        language="ar",
    ),
    pair(COLLAPSED, ("She was here.", "she was here"), category="gender"),
)


def fill_pairs(folder: Path, items: Sequence[Item] = PAIRS) -> tuple[str, str]:
    """A cache in `folder` with the data set `pairs`; the ids of the masked and causal scorer."""
    cache = Cache(folder)
    put_dataset(cache, "pairs", items, path="", format="native", sha256="")
    length = {"max_position_embeddings": 48}
    masked = save_tiny(folder / "masked", "bert", word_piece(), **length)
    causal = save_tiny(folder / "causal", "gpt2", byte_level_bpe(add_bos=True), **length)
    results = [
        score_dataset(cache, ScoreRequest(model=str(m), dataset="pairs")) for m in (masked, causal)
    ]
    return results[0].scorer_id, results[1].scorer_id

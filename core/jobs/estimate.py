"""What a scoring job would take, before it starts; no weights are read (needs torch).

What is missing is counted, not guessed: the scorer's identity is known from config, tokenizer and
the hash of the weights. The time, with that of opening and checking the model, comes from an
earlier run of the same scorer on this machine, and is unknown without one.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from core.items.texts import join
from core.jobs.follow import recorded_speed
from core.jobs.run import checked_variant, plan_for, scorer_of
from core.models.batches import first_budget
from core.models.fingerprint import weight_files
from core.models.memory import MemoryEstimate, estimate_memory
from core.score_request import ScoreRequest
from core.scoring.encoding import Encoded, encode, encode_masked
from core.settings import DEFAULT_SEED
from core.store.gate import Cache
from core.store.items import require_dataset
from core.store.scores import missing_texts
from core.types import Scorer, Text

SAMPLE = 500  # texts whose tokens are counted; with more, the rest is inferred from characters

# A stored score: five lists of four-byte numbers (ids, log-probabilities, two ends of a span, word)
# and about this much for ids, sum and item scores. The file's compression is left out.
BYTES_PER_TOKEN = 5 * 4
BYTES_PER_TEXT = 100


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a scoring job would take."""

    scorer: Scorer
    dataset: str
    texts: int  # without a score under this scorer
    characters: int
    tokens: int  # in the texts; what they share counts each time, though it is computed once
    tokens_counted: bool  # else inferred from a sample of the texts
    memory: MemoryEstimate
    download_bytes: int  # weights that are not on this machine yet
    seconds: float | None  # opening included, where that is known; None: nobody knows
    opening_seconds: float | None  # of these, to open and check the model; None: not known
    speed_from: str  # the run whose speed was taken, or why the time is unknown
    disk_bytes: int  # at most, for the scores
    disk_free_bytes: int


def estimate(cache: Cache, request: ScoreRequest) -> Estimate:
    """Find out what scoring would take.

    Raises
    ------
    InputError, ModelError, CacheError
        As the job itself would, as far as can be told without the weights.
    """
    require_dataset(cache, request.dataset)
    plan = plan_for(cache, request, download=False)
    model = plan.described()
    exact = request.exact or model.depends_on_batch
    scorer = scorer_of(model, checked_variant(request.variant, model), exact=exact)
    texts = missing_texts(cache, scorer.scorer_id, request.dataset)
    characters = sum(_length(text) for text in texts)
    # Drawn, not every n-th: roles and conditions follow each other in a fixed order.
    sample = random.Random(DEFAULT_SEED).sample(texts, min(len(texts), SAMPLE))
    masked = model.kind == "masked"
    encode_one = encode_masked if masked else encode
    encoded = [encode_one(model.tokenizer, text, model.window) for text in sample]
    read, scored, longest = _tokens(encoded, masked=masked)
    share = characters / max(1, sum(_length(text) for text in sample))
    seconds, opening, source = _seconds(cache, scorer.scorer_id, characters)
    return Estimate(
        scorer=scorer,
        dataset=request.dataset,
        texts=len(texts),
        characters=characters,
        tokens=round(read * share),
        tokens_counted=len(sample) == len(texts),
        memory=estimate_memory(
            plan.size(),
            plan.placement(),
            batch_tokens=max(longest, 0 if exact else _certain_budget(model.device)),
            vocab_size=model.model.config.get_text_config().vocab_size,
            itemsize=plan.dtype.itemsize,
        ),
        download_bytes=0 if weight_files(plan.source.folder) else plan.file_bytes(),
        seconds=seconds,
        opening_seconds=opening,
        speed_from=source,
        disk_bytes=round(scored * share) * BYTES_PER_TOKEN + len(texts) * BYTES_PER_TEXT,
        disk_free_bytes=shutil.disk_usage(cache.folder).free,
    )


def _certain_budget(device: str) -> int:
    """Tokens that a batch will hold: a GPU's budget shrinks to what fits, a CPU's stays."""
    return first_budget(device).tokens if device == "cpu" else 0


def _tokens(encoded: Sequence[object], *, masked: bool) -> tuple[int, int, int]:
    """Tokens to read, tokens to score, and those of the longest text.

    A masked model reads a text once for every token of it that is scored.
    """
    ready = [e for e in encoded if isinstance(e, Encoded)]
    return (
        sum(len(e.ids) * (len(e.spans) if masked else 1) for e in ready),
        sum(len(e.spans) for e in ready),
        max((len(e.ids) for e in ready), default=0),
    )


def _seconds(
    cache: Cache, scorer_id: str, characters: int
) -> tuple[float | None, float | None, str]:
    """Seconds in all, those until the first text, and from where they are known."""
    if not characters:
        return 0.0, None, "nothing is missing"
    speed = recorded_speed(cache, scorer_id)
    if speed is None:
        return None, None, "unknown: no earlier run of this scorer tells its speed here"
    scoring = characters / speed.characters_per_second
    return scoring + (speed.opening_seconds or 0.0), speed.opening_seconds, speed.run_id


def _length(text: Text) -> int:
    return len(join(text.context, text.continuation))

"""Self-checks of an opened causal model; one that fails refuses the model, or slows it down.

A model can load without an error and still be wrong: attention that looks ahead, padding that
leaks into short texts, weights that are not those that filled the cache last month.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.errors import CanaryFailed
from core.items.texts import make_text
from core.models.language_model import LanguageModel
from core.scoring.causal import causal_logprobs, score_texts
from core.scoring.encoding import Encoded, encode
from core.types import Text, TokenScore

PROBES = (
    make_text("The train was late.", "Nobody complained."),
    make_text("The train was late, so the two friends waited in the café.", "They ordered tea."),
    make_text(
        "Two friends waited.", "They ordered tea, and after that a very large piece of cake."
    ),
)


def tolerance(dtype: str) -> float:
    """Largest difference per token, in nats, that rounding explains in this dtype."""
    return 1e-4 if dtype == "float32" else 0.05


def check_causal(language_model: LanguageModel) -> None:
    """Refuse a model without numbers, or whose earlier predictions move when later tokens change.

    Raises
    ------
    CanaryFailed
        When a log-probability is not finite, or depends on what follows its token.
    """
    probe = max(_probes(language_model), key=lambda e: len(e.ids))
    half = len(probe.ids) // 2
    kept, rest = probe.ids[:half], probe.ids[half:]
    whole = replace(probe, ids=kept + rest, first=1)
    turned = replace(probe, ids=kept + rest[::-1], first=1)
    before, after = causal_logprobs(language_model, [whole, turned])
    if not all(np.isfinite(logprobs).all() for logprobs in (before, after)):
        raise CanaryFailed(
            f"{language_model.label} gives values that are not numbers in {language_model.dtype}; "
            "open it in float32 if it was not, or download its weights again."
        )
    difference = _largest_difference(before[: half - 1], after[: half - 1])
    if difference > tolerance(language_model.dtype):
        raise CanaryFailed(
            f"{language_model.label} looks at tokens that come later, so its scores are not those "
            "of a causal model; open a model with a causal language-model head."
        )


def batching_agrees(language_model: LanguageModel) -> bool:
    """Whether texts in one padded batch score as they do one at a time."""
    probes = _probes(language_model)
    together = causal_logprobs(language_model, probes)
    alone = [causal_logprobs(language_model, [e])[0] for e in probes]
    return all(
        _largest_difference(a, b) <= tolerance(language_model.dtype)
        for a, b in zip(together, alone, strict=True)
    )


def check_known_scores(
    language_model: LanguageModel, known: Sequence[tuple[Text, TokenScore]]
) -> None:
    """Rescore texts that the cache already holds for this scorer; they must come out the same.

    Raises
    ------
    CanaryFailed
        When a token or its log-probability differs beyond rounding.
    """
    fresh = {
        outcome.text_id: outcome
        for batch in score_texts(language_model, [text for text, _ in known], exact=True)
        for outcome in batch
    }
    for text, stored in known:
        score = fresh[text.text_id]
        same = (
            isinstance(score, TokenScore)
            and np.array_equal(score.token_ids, stored.token_ids)
            and _largest_difference(score.logprobs, stored.logprobs)
            <= tolerance(language_model.dtype)
        )
        if not same:
            raise CanaryFailed(
                f"{language_model.label} no longer gives the scores that the cache holds for it "
                f"(text {text.text_id}); use another cache folder, or restore the software that "
                "filled this one."
            )


def _probes(language_model: LanguageModel) -> list[Encoded]:
    """The probe texts that this model can read."""
    encoded = [encode(language_model.tokenizer, t, language_model.window) for t in PROBES]
    ready = [e for e in encoded if isinstance(e, Encoded)]
    if not ready:
        raise CanaryFailed(
            f"{language_model.label} cannot read even a short English text: {encoded[0]}"
        )
    return ready


def _largest_difference(a: np.ndarray, b: np.ndarray) -> float:
    """Largest absolute difference; infinite where a value is not a number."""
    if len(a) == 0:
        return 0.0
    difference = np.abs(a.astype(np.float64) - b.astype(np.float64))
    return float(np.nan_to_num(difference, nan=np.inf).max())

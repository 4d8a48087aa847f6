"""What self-checks ask a model, and when two answers count as the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.errors import CanaryFailed
from core.items.texts import make_text
from core.models.language_model import LanguageModel
from core.scoring.encoding import Encoded, encode_for
from core.scoring.logprobs import Scored
from core.types import FloatArray, Unscored

PROBES = (
    make_text("The train was late.", "Nobody complained."),
    make_text("The train was late, so the two friends waited in the café.", "They ordered tea."),
    make_text(
        "Two friends waited.", "They ordered tea, and after that a very large piece of cake."
    ),
)
IN_FLOAT32 = 1e-4  # nats, of the token that differs most
IN_LOWER_PRECISION = 0.05  # nats, of the mean token


def probe_texts(language_model: LanguageModel) -> list[Encoded]:
    """The probe texts that this model can read.

    Raises
    ------
    CanaryFailed
        When there is none.
    """
    encoded = [encode_for(language_model, text) for text in PROBES]
    ready = [e for e in encoded if isinstance(e, Encoded)]
    refused = [e.detail for e in encoded if isinstance(e, Unscored)]
    if not ready:
        raise CanaryFailed(
            f"{language_model.label} cannot read even a short English text: {refused[0]} Use the "
            "tokenizer and config.json that were published with its weights."
        )
    return ready


def check_finite(language_model: LanguageModel, *answers: FloatArray) -> None:
    """Refuse a model that answers with what is no number.

    Raises
    ------
    CanaryFailed
    """
    if not all(np.isfinite(logprobs).all() for logprobs in answers):
        raise CanaryFailed(
            f"{language_model.label} gives values that are not numbers in {language_model.dtype}; "
            "open it in float32 if it was not, or download its weights again."
        )


def same_but_for_rounding(language_model: LanguageModel, a: FloatArray, b: FloatArray) -> bool:
    """Whether two runs of one model gave the same log-probabilities, as far as its precision goes.

    In float32 no token may differ by more than 1e-4 nats. In lower precision single tokens do
    differ (a logit of 16 in bfloat16 is rounded to an eighth), so there the mean may be 0.05.
    """
    if len(a) == 0:
        return True
    difference = np.abs(a.astype(np.float64) - b.astype(np.float64))
    if language_model.dtype == "float32" and language_model.quantization == "none":
        return bool(difference.max() <= IN_FLOAT32)  # false for what is not a number
    return bool(difference.mean() <= IN_LOWER_PRECISION)


def agree(language_model: LanguageModel, some: Sequence[Scored], others: Sequence[Scored]) -> bool:
    """Whether two layouts gave each text the same log-probabilities; their order may differ."""
    expected = {tuple(e.ids): logprobs for e, logprobs in others}
    return all(
        a is not None
        and (b := expected[tuple(e.ids)]) is not None
        and same_but_for_rounding(language_model, a, b)
        for e, a in some
    )

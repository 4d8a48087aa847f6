"""Self-checks of an opened model; one that fails refuses the model, or slows it down.

A model can load without an error and still be wrong: attention that looks ahead, padding that
leaks into short texts, weights that are not those that filled the cache last month.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.errors import CanaryFailed
from core.models.language_model import LanguageModel
from core.scoring.causal_canaries import causal_layout, check_causal
from core.scoring.logprobs import Layout
from core.scoring.masked import Variant
from core.scoring.masked_canaries import check_masked, masked_layout
from core.scoring.probes import same_but_for_rounding
from core.scoring.texts import score_texts
from core.types import Text, TokenScore

ALONE = "Its numbers depend on what else is in a batch, so texts are scored one at a time."


def check_model(language_model: LanguageModel) -> None:
    """Refuse a model that does not look where a model of its kind has to look.

    Raises
    ------
    CanaryFailed
    """
    if language_model.kind == "masked":
        check_masked(language_model)
    else:
        check_causal(language_model)


def choose_layout(language_model: LanguageModel) -> tuple[Layout, tuple[str, ...]]:
    """The fastest layout in which probe texts score as they do one at a time.

    Returns
    -------
    Layout and notes
        The notes say why it is not a faster one.
    """
    if language_model.depends_on_batch:
        return Layout.SINGLE, (ALONE,)
    if language_model.kind == "masked":
        return masked_layout(language_model)
    return causal_layout(language_model)


def check_known_scores(
    language_model: LanguageModel,
    known: Sequence[tuple[Text, TokenScore]],
    variant: Variant = "original",
) -> None:
    """Rescore texts that the cache already holds for this scorer; they must come out the same.

    Raises
    ------
    CanaryFailed
        When a token or its log-probability differs beyond rounding.
    """
    texts = [text for text, _ in known]
    batches = score_texts(language_model, texts, layout=Layout.SINGLE, variant=variant)
    fresh = {outcome.text_id: outcome for batch in batches for outcome in batch}
    for text, stored in known:
        score = fresh[text.text_id]
        same = (
            isinstance(score, TokenScore)
            and np.array_equal(score.token_ids, stored.token_ids)
            and same_but_for_rounding(language_model, score.logprobs, stored.logprobs)
        )
        if not same:
            raise CanaryFailed(
                f"{language_model.label} no longer gives the scores that the cache holds for it "
                f"(text {text.text_id}); use another cache folder, or restore the software that "
                "filled this one."
            )

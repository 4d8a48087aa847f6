"""Our side of a comparison: texts scored, how long that takes, and what it computes."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from benchmarks.counting import Work, counting
from core.models.batches import TokenBudget
from core.models.language_model import LanguageModel
from core.scoring.encoding import Encoded, encode
from core.scoring.logprobs import Layout
from core.scoring.texts import score_texts
from core.types import Text, TokenScore

Scores = dict[str, TokenScore]


def our_scores(
    language_model: LanguageModel,
    texts: Sequence[Text],
    *,
    exact: bool = False,
    budget: int | None = None,
) -> Scores:
    """Our scores by text id; a text without one ends the program.

    Parameters
    ----------
    exact
        One text at a time.
    budget
        Most tokens in a batch; None: what the device usually holds.
    """
    layout = Layout.SINGLE if exact else Layout.PACKED
    own = TokenBudget(budget) if budget else None
    outcomes = [o for b in score_texts(language_model, texts, layout=layout, budget=own) for o in b]
    scores = {o.text_id: o for o in outcomes if isinstance(o, TokenScore)}
    if left := [o for o in outcomes if o.text_id not in scores]:
        sys.exit(f"not scored: {left[0]}")
    return scores


def timed(
    language_model: LanguageModel, texts: Sequence[Text], *, budget: int | None = None
) -> float:
    """Seconds of scoring the texts."""
    start = time.perf_counter()
    our_scores(language_model, texts, budget=budget)
    return time.perf_counter() - start


def work_of(
    language_model: LanguageModel, texts: Sequence[Text], *, budget: int | None = None
) -> Work:
    """What scoring the texts computes."""
    with counting(language_model.model) as work:
        our_scores(language_model, texts, budget=budget)
    return work


def plain_tokens(language_model: LanguageModel, texts: Sequence[Text]) -> int:
    """Tokens that are computed when each text is computed for itself."""
    encoded = [encode(language_model.tokenizer, t, language_model.window) for t in texts]
    return sum(len(e.ids) for e in encoded if isinstance(e, Encoded))

"""Self-checks of an opened causal model; one that fails refuses the model, or slows it down.

A model can load without an error and still be wrong: attention that looks ahead, padding that
leaks into short texts, weights that are not those that filled the cache last month.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.errors import CanaryFailed
from core.items.texts import make_text
from core.models.batches import first_budget
from core.models.language_model import LanguageModel
from core.models.parts import can_branch, smallest_sliding_window
from core.scoring.causal import causal_vectors, longest_row
from core.scoring.encoding import Encoded, encode
from core.scoring.logprobs import Layout, padded_logprobs
from core.scoring.texts import score_texts
from core.types import FloatArray, Text, TokenScore

PROBES = (
    make_text("The train was late.", "Nobody complained."),
    make_text("The train was late, so the two friends waited in the café.", "They ordered tea."),
    make_text(
        "Two friends waited.", "They ordered tea, and after that a very large piece of cake."
    ),
)
ALONE = "Its numbers depend on what else is in a batch, so texts are scored one at a time."
IN_FLOAT32 = 1e-4  # nats, of the token that differs most
IN_LOWER_PRECISION = 0.05  # nats, of the mean token
LONG = 320  # tokens of a packed probe: beyond the 256 of gpt_neo's local layers
LONGEST = 1100  # tokens of any probe: more would take minutes for a large model on a CPU
END = 8  # of a long probe, the last tokens, which differ


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


def check_causal(language_model: LanguageModel) -> None:
    """Refuse a model without numbers, or whose earlier predictions move when later tokens change.

    Raises
    ------
    CanaryFailed
        When a log-probability is not finite, or depends on what follows its token.
    """
    ids = max((e.ids for e in _probes(language_model)), key=len)
    half = len(ids) // 2
    turned = [*ids[:half], *reversed(ids[half:])]
    before, after = padded_logprobs(language_model, [_scored_from(1, ids), _scored_from(1, turned)])
    if not all(np.isfinite(logprobs).all() for logprobs in (before, after)):
        raise CanaryFailed(
            f"{language_model.label} gives values that are not numbers in {language_model.dtype}; "
            "open it in float32 if it was not, or download its weights again."
        )
    if not same_but_for_rounding(language_model, before[: half - 1], after[: half - 1]):
        raise CanaryFailed(
            f"{language_model.label} looks at tokens that come later, so its scores are not those "
            "of a causal model; open a model with a causal language-model head."
        )


def choose_layout(language_model: LanguageModel) -> tuple[Layout, tuple[str, ...]]:
    """The fastest layout in which probe texts score as they do one at a time.

    Returns
    -------
    Layout and notes
        The notes say why it is not a faster one.
    """
    if language_model.depends_on_batch:
        return Layout.SINGLE, (ALONE,)
    if not can_branch(language_model):
        note = "The model's attention takes no shared beginnings, so every text is computed whole."
    elif packing_agrees(language_model):
        return Layout.PACKED, ()
    else:
        note = "Packed scores differ from single ones, so every text is computed whole."
    if padding_agrees(language_model):
        return Layout.PADDED, (note,)
    note = "Batched scores differ from single ones, so texts are scored one at a time."
    return Layout.SINGLE, (note,)


def padding_agrees(language_model: LanguageModel) -> bool:
    """Whether texts in one padded batch score as they do one at a time."""
    probes = _probes(language_model)
    return _as_alone(language_model, probes, padded_logprobs(language_model, probes))


def packing_agrees(language_model: LanguageModel) -> bool:
    """Whether packed texts score as they do one at a time, long ones too."""
    probes = [*_probes(language_model), *_long_probes(language_model)]
    budget = first_budget(language_model.device)
    try:
        batches = list(causal_vectors(language_model, probes, Layout.PACKED, budget))
    except Exception:  # a family that takes no mask of this shape raises whatever it likes
        return False
    pairs = [pair for batch in batches for pair in batch]
    return _as_alone(language_model, [e for e, _ in pairs], [vector for _, vector in pairs])


def _as_alone(
    language_model: LanguageModel, probes: Sequence[Encoded], vectors: Sequence[FloatArray | None]
) -> bool:
    alone = [padded_logprobs(language_model, [e])[0] for e in probes]
    return all(
        a is not None and same_but_for_rounding(language_model, a, b)
        for a, b in zip(vectors, alone, strict=True)
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
        for batch in score_texts(language_model, [text for text, _ in known], layout=Layout.SINGLE)
        for outcome in batch
    }
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


def _long_probes(language_model: LanguageModel) -> list[Encoded]:
    """Pairs of texts that differ at their end, behind a long common beginning.

    One pair is packed, and finds a layer that looks back less far than the config says. One is just
    longer than the sliding window that the config names, and must not be packed.
    """
    longest = min(language_model.window or LONG, longest_row(language_model), LONG)
    lengths = [longest]
    sliding = smallest_sliding_window(language_model.model.config)
    if sliding is not None and sliding + END <= min(language_model.window or LONGEST, LONGEST):
        lengths.append(sliding + END)
    ids = max((e.ids for e in _probes(language_model)), key=len)
    probes = []
    for n in lengths:
        long = (ids * (n // len(ids) + 1))[:n]
        turned = [*long[:-END], *reversed(long[-END:])]
        probes += [_scored_from(max(1, n - END), each) for each in (long, turned)]
    return probes


def _scored_from(first: int, ids: list[int]) -> Encoded:
    """A probe that is no text; where its tokens stand does not matter."""
    n = len(ids) - first
    return Encoded("", ids, first, [(0, 0)] * n, [0] * n, [0] * n, ())


def _probes(language_model: LanguageModel) -> list[Encoded]:
    """The probe texts that this model can read."""
    encoded = [encode(language_model.tokenizer, t, language_model.window) for t in PROBES]
    ready = [e for e in encoded if isinstance(e, Encoded)]
    if not ready:
        raise CanaryFailed(
            f"{language_model.label} cannot read even a short English text: {encoded[0]}"
        )
    return ready

"""Self-checks of a causal model: it looks back only, and batches do not move its scores."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import CanaryFailed
from core.models.batches import first_budget
from core.models.language_model import LanguageModel
from core.models.packing import longest_row
from core.models.parts import can_branch, smallest_sliding_window
from core.scoring.causal import score_causal
from core.scoring.encoding import Encoded
from core.scoring.logprobs import Layout, padded_logprobs
from core.scoring.probes import agree, check_finite, probe_texts, same_but_for_rounding

LONGEST_PROBE = 1100  # tokens of any: more would take minutes for a large model on a CPU
PROBE_END = 8  # the last tokens of a long probe, which differ


def check_causal(language_model: LanguageModel) -> None:
    """Refuse a model without numbers, or whose earlier predictions move when later tokens change.

    Raises
    ------
    CanaryFailed
        When a log-probability is not finite, or depends on what follows its token.
    """
    ids = max((e.ids for e in probe_texts(language_model)), key=len)
    half = len(ids) // 2
    turned = [*ids[:half], *reversed(ids[half:])]
    before, after = padded_logprobs(language_model, [_scored_from(1, ids), _scored_from(1, turned)])
    check_finite(language_model, before, after)
    if not same_but_for_rounding(language_model, before[: half - 1], after[: half - 1]):
        raise CanaryFailed(
            f"{language_model.label} looks at tokens that come later, so its scores are not those "
            "of a causal model; open a model with a causal language-model head."
        )


def causal_layout(language_model: LanguageModel) -> tuple[Layout, tuple[str, ...]]:
    """The fastest layout in which probe texts score as they do one at a time.

    Returns
    -------
    Layout and notes
        The notes say why it is not a faster one.
    """
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
    probes = probe_texts(language_model)
    return _as_alone(language_model, probes, Layout.PADDED)


def packing_agrees(language_model: LanguageModel) -> bool:
    """Whether packed texts score as they do one at a time, long ones too."""
    probes = [*probe_texts(language_model), *_long_probes(language_model)]
    try:
        return _as_alone(language_model, probes, Layout.PACKED)
    except Exception:  # a family that takes no mask of this shape raises whatever it likes
        return False


def _as_alone(language_model: LanguageModel, probes: Sequence[Encoded], layout: Layout) -> bool:
    together, alone = (
        [
            scored
            for batch in score_causal(
                language_model, probes, each, first_budget(language_model.device)
            )
            for scored in batch
        ]
        for each in (layout, Layout.SINGLE)
    )
    return agree(language_model, together, alone)


def _long_probes(language_model: LanguageModel) -> list[Encoded]:
    """Pairs of texts that differ at their end, behind a long common beginning.

    One pair fills a row of the longest kind, and finds a layer that looks back less far than the
    config says. One is just longer than the sliding window that the config names, and must not be
    packed.
    """
    window = language_model.window or LONGEST_PROBE
    lengths = [max(2, min(window, longest_row(language_model) - PROBE_END))]  # both in one row
    sliding = smallest_sliding_window(language_model.model.config)
    if sliding is not None and sliding + PROBE_END <= min(window, LONGEST_PROBE):
        lengths.append(sliding + PROBE_END)
    ids = max((e.ids for e in probe_texts(language_model)), key=len)
    probes = []
    for n in lengths:
        long = (ids * (n // len(ids) + 1))[:n]
        turned = [*long[:-PROBE_END], *reversed(long[-PROBE_END:])]
        probes += [_scored_from(max(1, n - PROBE_END), each) for each in (long, turned)]
    return probes


def _scored_from(first: int, ids: list[int]) -> Encoded:
    """A probe that is no text; where its tokens stand does not matter."""
    n_scored = len(ids) - first
    return Encoded(
        text_id="",
        ids=ids,
        first=first,
        spans=[(0, 0)] * n_scored,
        words=[0] * n_scored,
        tokenizer_words=[(0, 0)] * n_scored,
        flags=(),
    )

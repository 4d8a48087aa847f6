"""Self-checks of a causal model: it looks back only, and batches do not move its scores."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import CanaryFailed
from core.models.batches import first_budget
from core.models.language_model import LanguageModel
from core.models.parts import can_branch, smallest_sliding_window
from core.scoring.causal import causal_vectors, longest_row
from core.scoring.encoding import Encoded
from core.scoring.logprobs import Layout, padded_logprobs
from core.scoring.probes import check_finite, probe_texts, same_but_for_rounding
from core.types import FloatArray

LONG = 320  # tokens of a packed probe: beyond the 256 of gpt_neo's local layers
LONGEST = 1100  # tokens of any probe: more would take minutes for a large model on a CPU
END = 8  # of a long probe, the last tokens, which differ


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
    return _as_alone(language_model, probes, padded_logprobs(language_model, probes))


def packing_agrees(language_model: LanguageModel) -> bool:
    """Whether packed texts score as they do one at a time, long ones too."""
    probes = [*probe_texts(language_model), *_long_probes(language_model)]
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
    ids = max((e.ids for e in probe_texts(language_model)), key=len)
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

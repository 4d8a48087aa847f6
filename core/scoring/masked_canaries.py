"""Self-checks of a masked model: it has a mask, looks both ways, and batches do not move it."""

from __future__ import annotations

import numpy as np

from core.errors import CanaryFailed
from core.models.batches import first_budget
from core.models.language_model import LanguageModel
from core.scoring.logprobs import Layout
from core.scoring.masked import masked_logprobs, masked_vectors
from core.scoring.probes import check_finite, probe_texts, same_but_for_rounding
from core.types import FloatArray


def check_masked(language_model: LanguageModel) -> None:
    """Refuse a model that cannot be asked for a masked token.

    Raises
    ------
    CanaryFailed
        When its tokenizer has no mask token, a log-probability is not finite, or what follows a
        masked token does not matter for it.
    """
    mask_id = language_model.tokenizer.mask_token_id
    if mask_id is None:
        raise CanaryFailed(
            f"The tokenizer of {language_model.label} has no mask token, so the model cannot be "
            "asked for a masked one; use the tokenizer files that its authors published."
        )
    probe = max(probe_texts(language_model), key=lambda e: len(e.spans))
    at = probe.first + 1
    turned = [*probe.ids[: at + 1], *reversed(probe.ids[at + 1 :])]
    before, after = (
        masked_logprobs(
            language_model,
            [((*ids[:at], mask_id, *ids[at + 1 :]), at)],
            [range(mask_id + 1)],
            Layout.SINGLE,
        )[0]
        for ids in (probe.ids, turned)
    )
    check_finite(language_model, before, after)
    if np.array_equal(before, after):
        raise CanaryFailed(
            f"{language_model.label} does not look at what follows a masked token, so its scores "
            "are not those of a masked model; open a model with a masked language-model head."
        )


def masked_layout(language_model: LanguageModel) -> tuple[Layout, tuple[str, ...]]:
    """The fastest layout in which probe texts score as they do copy by copy, and why it is it."""
    alone = _answers(language_model, Layout.SINGLE)
    if _agree(language_model, _answers(language_model, Layout.PACKED), alone):
        return Layout.PACKED, ()
    if _agree(language_model, _answers(language_model, Layout.PADDED), alone):
        return Layout.PADDED, ("The vocabulary is projected on everywhere: the head is unknown.",)
    note = "Batched scores differ from single ones, so masked copies are scored one at a time."
    return Layout.SINGLE, (note,)


def _answers(language_model: LanguageModel, layout: Layout) -> dict[str, FloatArray | None]:
    """The scores of the probe texts; none where the layout cannot be computed."""
    budget = first_budget(language_model.device)
    probes = probe_texts(language_model)
    try:
        batches = list(masked_vectors(language_model, probes, "original", layout, budget))
    except LookupError:
        return {}
    return {e.text_id: vector for batch in batches for e, vector in batch}


def _agree(
    language_model: LanguageModel,
    together: dict[str, FloatArray | None],
    alone: dict[str, FloatArray | None],
) -> bool:
    return all(
        a is not None and b is not None and same_but_for_rounding(language_model, a, b)
        for a, b in ((together.get(text_id), vector) for text_id, vector in alone.items())
    )

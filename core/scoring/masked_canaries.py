"""Self-checks of a masked model: it has a mask, looks both ways, and batches do not move it."""

from __future__ import annotations

import numpy as np

from core.errors import CanaryFailed
from core.models.batches import first_budget
from core.models.language_model import LanguageModel
from core.models.parts import masked_head, n_embeddings
from core.scoring.logprobs import Layout, Scored
from core.scoring.masked import masked_logprobs, score_masked
from core.scoring.probes import agree, check_finite, probe_texts


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
    probe = max(probe_texts(language_model), key=lambda e: e.n_scored)
    at = probe.first + 1
    turned = [*probe.ids[: at + 1], *reversed(probe.ids[at + 1 :])]
    before, after = (
        masked_logprobs(
            language_model,
            [((*ids[:at], mask_id, *ids[at + 1 :]), at)],
            [range(n_embeddings(language_model.model))],
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
    alone = _scored(language_model, Layout.SINGLE)
    if not masked_head(language_model.model):
        note = "The model's head is of an unknown kind, so logits are computed everywhere."
    elif agree(language_model, _scored(language_model, Layout.PACKED), alone):
        return Layout.PACKED, ()
    else:
        note = "Logits of single positions differ from all, so they are computed everywhere."
    if agree(language_model, _scored(language_model, Layout.PADDED), alone):
        return Layout.PADDED, (note,)
    note = "Batched scores differ from single ones, so masked copies are scored one at a time."
    return Layout.SINGLE, (note,)


def _scored(language_model: LanguageModel, layout: Layout) -> list[Scored]:
    budget = first_budget(language_model.device)
    probes = probe_texts(language_model)
    batches = score_masked(language_model, probes, "original", layout, budget)
    return [scored for batch in batches for scored in batch]

"""The two parts of a language model: the body, which reads, and the head, which names tokens.

Called apart, the head needs to work only where a prediction is wanted, and vocabularies are large.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers import PreTrainedConfig

from core.models.config import uses_alibi
from core.models.language_model import LanguageModel

# Where families keep how far back some of their layers look.
SLIDING_NAMES = ("sliding_window", "attention_chunk_size", "window_size")

# The modules that a masked model sends its hidden states through, one after the other.
MASKED_HEADS = (
    ("vocab_transform", "activation", "vocab_layer_norm", "vocab_projector"),  # distilbert
    ("generator_predictions", "generator_lm_head"),  # electra
    ("head", "decoder"),  # modernbert
    ("cls",),  # bert
    ("lm_head",),  # roberta, xlm-roberta, camembert
    ("predictions",),  # albert
)


def can_branch(language_model: LanguageModel) -> bool:
    """Whether the body takes positions and a mask of our own, so that texts may share tokens.

    ALiBi counts distances along the row instead of taking positions. A masked model looks both
    ways, so that the same beginning is not the same to it in two texts.
    """
    model = language_model.model
    return (
        language_model.kind == "causal"
        and language_model.attention in ("sdpa", "eager")
        and getattr(model, "base_model", model) is not model
        and model.get_output_embeddings() is not None
        and not uses_alibi(model.config.get_text_config())
        and not _layers_differ(model.config)
    )


def _layers_differ(config: PreTrainedConfig) -> bool:
    """Whether how far layers look back is set for each of them, so that no number says it."""
    try:
        smallest_sliding_window(config)
    except RuntimeError:
        return True
    return False


def smallest_sliding_window(config: PreTrainedConfig) -> int | None:
    """How far back the most short-sighted layer looks; None where all look back to the start."""
    text = config.get_text_config()
    limits = (getattr(text, name, None) for name in SLIDING_NAMES)
    return min((limit for limit in limits if isinstance(limit, int) and limit > 0), default=None)


def position_switch(config: PreTrainedConfig) -> int | None:
    """Most tokens of a text that is read with the positions for short ones; None where all are.

    LongRoPE has two sets of positions, and the longest text of a batch decides for all of it.
    """
    text = config.get_text_config()
    rope = getattr(text, "rope_parameters", None) or {}
    if rope.get("rope_type") != "longrope":
        return None
    own = getattr(text, "original_max_position_embeddings", None)
    return int(rope.get("original_max_position_embeddings", own) or 1)


def hidden_states(
    language_model: LanguageModel, ids: torch.Tensor, positions: torch.Tensor, visible: torch.Tensor
) -> torch.Tensor:
    """What the body makes of rows in which each token sees some others.

    Parameters
    ----------
    ids, positions
        Shape (B, T)
    visible
        Whether a token sees another one. Shape (B, T, T)

    Returns
    -------
    torch.Tensor
        Shape (B, T, hidden)
    """
    mask = visible[:, None]  # (B, 1, T, T)
    if language_model.attention == "eager":  # adds its mask, where sdpa selects by it
        dtype = getattr(torch, language_model.dtype)
        mask = torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(
            ~mask, torch.finfo(dtype).min
        )
    body = language_model.model.base_model
    hidden: torch.Tensor = body(
        input_ids=ids, position_ids=positions, attention_mask=mask, use_cache=False
    ).last_hidden_state
    return hidden


def plain_hidden_states(
    language_model: LanguageModel, ids: torch.Tensor, real: torch.Tensor
) -> torch.Tensor:
    """What the body makes of whole texts under each other.

    Parameters
    ----------
    ids, real
        Token ids, and 1 where they are no padding. Shape (B, T)

    Returns
    -------
    torch.Tensor
        Shape (B, T, hidden)
    """
    model = language_model.model
    uncached = {"use_cache": False} if language_model.kind == "causal" else {}
    hidden: torch.Tensor = getattr(model, "base_model", model)(
        input_ids=ids, attention_mask=real, **uncached
    )[0]
    return hidden


def head_logits(model: Any, hidden: torch.Tensor) -> torch.Tensor:
    """Logits of hidden states, as the model's own forward computes them. Shape (n, V)

    What families do behind the projection is known for these three settings; a self-check finds
    the model for which this is not all.
    """
    config = model.config.get_text_config()
    logits: torch.Tensor = model.get_output_embeddings()(hidden)
    if scale := getattr(config, "logit_scale", None):  # cohere
        logits = logits * scale
    if scaling := getattr(config, "logits_scaling", None):  # granite
        logits = logits / scaling
    if cap := getattr(config, "final_logit_softcapping", None):  # gemma
        logits = (logits / cap).tanh() * cap
    return logits


def masked_head(model: Any) -> tuple[str, ...]:
    """Names of the modules of a masked model's head, in their order; none for an unknown head."""
    known = (names for names in MASKED_HEADS if all(hasattr(model, name) for name in names))
    return next(known, ())


def masked_head_logits(model: Any, hidden: torch.Tensor) -> torch.Tensor:
    """Logits of hidden states, by the modules that `masked_head` names. Shape (n, V)"""
    for name in masked_head(model):
        hidden = getattr(model, name)(hidden)
    return hidden


def n_embeddings(model: Any) -> int:
    """How many token ids the model knows: the size of its vocabulary, whatever the tokenizer's."""
    return int(model.get_input_embeddings().weight.shape[0])

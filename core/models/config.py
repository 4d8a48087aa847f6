"""What a model's config says before any weight is loaded: its kind of head and its window.

Names of folders and hub models play no part, and neither does a tokenizer's mask token: a causal
model may have one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from transformers import CONFIG_MAPPING, AutoConfig, PreTrainedConfig
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_PRETRAINING_MAPPING_NAMES,
)

from core.errors import ModelError, WrongModelKind
from core.models.language_model import Kind

if TYPE_CHECKING:  # for annotations alone: importing it would bring the reader of GGUF files along
    from core.models.sources import Source

# Where families keep the longest text they can read.
WINDOW_NAMES = (
    "max_position_embeddings",
    "n_positions",
    "n_ctx",
    "max_sequence_length",
    "max_seq_len",
    "seq_length",
)
ALIBI_TYPES = ("bloom",)  # no positions, and no setting that says so


def read_config(source: Source, *, trust_remote_code: bool = False) -> PreTrainedConfig:
    """The model's config.

    Raises
    ------
    ModelError
        When it is unreadable, of an unknown type, has settings that are not allowed, or needs code
        of its own.
    """
    with explaining_config(source):
        raw = json.loads((source.folder / "config.json").read_text())
        needs_code = "auto_map" in raw and raw.get("model_type") not in CONFIG_MAPPING
        if needs_code and not trust_remote_code:
            raise ModelError(
                f"{source.label} runs Python code of its own: read it, then allow it with "
                "trust_remote_code."
            )
        config: PreTrainedConfig = AutoConfig.from_pretrained(
            source.folder, trust_remote_code=trust_remote_code, local_files_only=True
        )
    return config


@contextmanager
def explaining_config(source: Source) -> Iterator[None]:
    """Turn whatever the config's settings make transformers raise into one sentence.

    Raises
    ------
    ModelError
        In place of any other error.
    """
    try:
        yield
    except ModelError:
        raise
    except Exception as error:  # lookups, validation and each family's own code raise all kinds
        raise ModelError(
            f"The config of {source.label} cannot be used: {_reason(error)}; correct its "
            "config.json, download it again, or install what it asks for."
        ) from error


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"the installed transformers knows no {error}"
    lines = [line.strip() for line in str(error).strip().splitlines()]
    if len(lines) > 1 and lines[0].endswith(":"):  # validators name themselves first
        return f"{lines[0]} {lines[1]}".rstrip(".")
    return first_line(error)


def check_kind(config: PreTrainedConfig, kind: Kind | None, label: str) -> Kind:
    """The kind of a checkpoint's head; refuse one that cannot compute what is asked.

    Parameters
    ----------
    kind
        What is asked; None for whatever a language model's head computes.

    Raises
    ------
    WrongModelKind
        When the checkpoint's head is of another kind, or there is none.
    """
    found = checkpoint_kind(config)
    if found is not None and kind in (None, found):
        return found
    named = (config.architectures or [config.model_type])[0]
    if found is not None:
        raise WrongModelKind(
            f"{label} is a {found} language model ({named}) and cannot be scored as a {kind} one; "
            f"ask for {found} scoring, or name a {kind} model."
        )
    holds = "an encoder-decoder" if config.is_encoder_decoder else "no language-model head"
    wanted = kind or "causal or masked"
    raise WrongModelKind(
        f"{label} has {holds} ({named}), so it gives no {wanted} log-probabilities; name a "
        f"{wanted} language model."
    )


def checkpoint_kind(config: PreTrainedConfig) -> Kind | None:
    """Which language-model head a checkpoint was saved with; None for any other."""
    if config.is_encoder_decoder:
        return None
    if not config.architectures:
        return _kind_of_type(config)
    name = config.architectures[0]
    if name in _class_names(MODEL_FOR_MASKED_LM_MAPPING_NAMES):
        return "masked"
    if name in _class_names(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES):
        return "causal"
    # BertForPreTraining and its like: a masked head and one more that is not needed here.
    if name == MODEL_FOR_PRETRAINING_MAPPING_NAMES.get(config.model_type):
        return "masked" if config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES else None
    own_code = getattr(config, "auto_map", None) or {}
    if name in str(own_code.get("AutoModelForCausalLM", "")):
        return "causal"
    return "masked" if name in str(own_code.get("AutoModelForMaskedLM", "")) else None


def _kind_of_type(config: PreTrainedConfig) -> Kind | None:
    """For a config that names no class: what the family is usually trained for."""
    if config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        return "causal" if getattr(config, "is_decoder", False) else "masked"
    return "causal" if config.model_type in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES else None


def _class_names(mapping: Mapping[str, Any]) -> set[str]:
    names: set[str] = set()
    for value in mapping.values():
        names.update([value] if isinstance(value, str) else value)
    return names


def read_window(config: PreTrainedConfig, model: Any) -> int | None:
    """Most tokens in one text, special ones included; None where there is no limit.

    The config decides, because a tokenizer's own limit may be missing or 1e30. Families that
    count positions from the padding id on (RoBERTa) can use that many fewer.
    """
    text = config.get_text_config()
    if uses_alibi(text):
        return None
    limits = (getattr(text, name, None) for name in WINDOW_NAMES)
    limit = next((limit for limit in limits if isinstance(limit, int) and limit > 0), None)
    return None if limit is None else limit - _skipped_positions(model)


def attention_name(config: PreTrainedConfig) -> str:
    """How a model's attention is computed: part of a scorer's identity.

    Block-sparse attention (BigBird) is switched off by the first short text that such a model
    reads, and stays off; it is opened without, so that no score depends on what was read before.
    """
    name = str(config._attn_implementation)
    return f"{name}, full" if is_block_sparse(config) else name


def is_block_sparse(config: PreTrainedConfig) -> bool:
    """Whether long texts would be read with block-sparse attention."""
    return getattr(config, "attention_type", None) == "block_sparse"


def uses_alibi(config: PreTrainedConfig) -> bool:
    """Whether attention fades with the distance along the row, in place of positions."""
    if config.model_type in ALIBI_TYPES:
        return True
    attention = getattr(config, "attn_config", None)
    nested = (
        attention.get("alibi") if isinstance(attention, dict) else getattr(attention, "alibi", None)
    )
    return bool(getattr(config, "alibi", False) if nested is None else nested)


def _skipped_positions(model: Any) -> int:
    for name, module in model.named_modules():
        padding = getattr(module, "padding_idx", None)
        is_positions = name.endswith("position_embeddings")
        if is_positions and padding is not None:
            return int(padding) + 1
    return 0


def first_line(error: BaseException) -> str:
    """What an error of a library says, on one line and without its trailing full stop."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")

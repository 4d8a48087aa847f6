"""An opened language model, with everything about it that can move a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from transformers import PreTrainedTokenizerBase

Kind = Literal["causal", "masked"]


@dataclass(frozen=True, kw_only=True, eq=False)
class LanguageModel:
    """A model, its tokenizer and what was really loaded (never what was only asked for)."""

    model: Any  # torch module with a language-model head, in eval mode, without gradients
    # A fast one: it knows character spans. Asking it to truncate or pad changes it for all threads.
    tokenizer: PreTrainedTokenizerBase
    label: str  # the name people use
    fingerprint: str  # "hub:org/name@commit", "folder:sha256", "demo:sha256:converter-n"
    kind: Kind
    dtype: str  # of the parameters that are not quantised: "float32", "bfloat16", "float16"
    device: str  # kind of device: "cpu", "cuda", "mps"
    attention: str  # "sdpa", "eager", ...
    quantization: str = "none"  # in full: core/models/quantization.py
    depends_on_batch: bool = False  # then a text must be alone in its batch
    window: int | None = None  # most tokens in one text, special ones included; None: no limit

"""Where in a model the outputs of its attention heads can be read.

After attention, every family lays the outputs of a layer's heads side by side and sends them
through one linear projection back into the residual stream. What goes into that projection is what
the heads say (StereoDisco, arXiv 2607.27824), and what each of them adds to the stream is

    x_h @ W_h^T    with W_h the columns of W that belong to head h, and the sum over h plus the bias
                   the projection's output

Families name the projection differently, but it always lies in an attention module, is as wide as
its heads and bears one of a few names. What bears no such name is never guessed: in most models the
projection that makes the queries has the same shape.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from core.errors import InputError, ModelError

# How families call the projection, within a module whose name says attention.
OUTPUT_NAMES = ("o_proj", "out_proj", "c_proj", "dense", "out_lin", "wo", "o")
ATTENTION_NAMES = ("attn", "attention")
# How attention modules call the number of their heads.
COUNT_NAMES = ("num_attention_heads", "num_heads", "n_heads", "n_head")
# Attention to other texts, attention without heads of the usual kind, and what is no attention.
OTHER_NAMES = ("cross", "encoder_attn", "linear_attn", "mlp", "ffn", "feed_forward", "expert")

MOST_LISTED = 8  # candidates in an error

NUMBER = re.compile(r"(?<![^.])\d+(?![^.])")  # a part of a module's name that is a number


@dataclass(frozen=True, eq=False)
class HeadPlaces:
    """The projections behind a model's heads, one per layer."""

    names: tuple[str, ...]  # of the modules within the model
    modules: tuple[Any, ...]
    n_heads: int  # of queries: where several share keys and values, each still has its own output
    head_dim: int
    named: str = ""  # as asked for, where they are not those that are found without a name

    @property
    def n_layers(self) -> int:
        return len(self.modules)

    def weight(self, layer: int) -> torch.Tensor:
        """What each head's output is multiplied by. Shape (hidden, H, D)"""
        module = self.modules[layer]
        weight = module.weight.T if hasattr(module, "nx") else module.weight  # GPT-2's Conv1D
        shaped: torch.Tensor = weight.reshape(-1, self.n_heads, self.head_dim)
        return shaped

    def bias(self, layer: int) -> torch.Tensor | None:
        """What is added behind all heads. Shape (hidden,)"""
        bias: torch.Tensor | None = self.modules[layer].bias
        return bias


def find_heads(model: Any, *, named: str | None = None) -> HeadPlaces:
    """Find the output projection of the attention in every layer.

    Parameters
    ----------
    model
        A model of transformers.
    named
        The projections' name with {} in place of the layer's number, for an architecture in which
        they are not found: "model.layers.{}.self_attn.o_proj".

    Raises
    ------
    ModelError
        When the model has no attention heads, or their outputs are not found; it lists the modules
        that could be named.
    InputError
        When what `named` names is not there or has another shape.
    """
    heads = _Heads.of(model)
    groups = {k: group for k, group in _linear_modules(model).items() if heads.could_feed(k, group)}
    fitting = [pattern for pattern, group in groups.items() if heads.found_in(pattern, group)]
    found = fitting[0] if len(fitting) == 1 else None
    if named is None:
        if found is None:
            raise ModelError(
                f"The projections of the {heads.n_heads} heads in each of the {heads.n_layers} "
                f"layers of {type(model).__name__} were not found; {_advice(heads, groups)}."
            )
        named = found
    elif named not in groups:
        raise InputError(
            f"{named!r} names no projections that the heads of {type(model).__name__} could feed; "
            f"{_advice(heads, groups)}."
        )
    group = groups[named]
    layers = sorted(group)
    widths = {_widths(module)[0] for module in group.values()}
    names = tuple(named.format(layer) for layer in layers)
    declared = {count for name in names for count in _declared_heads(model, name)}
    if len(widths) > 1 or declared - {heads.n_heads}:
        raise ModelError(
            f"The heads of {type(model).__name__} are not all of one kind, or not equally many and "
            "wide in all layers, so there is no (layers, heads) to show; choose another model."
        )
    modules = tuple(group[layer] for layer in layers)
    head_dim = widths.pop() // heads.n_heads
    asked = "" if named == found else _layers_of(named, layers, heads.n_layers)
    return HeadPlaces(names, modules, heads.n_heads, head_dim, asked)


@dataclass(frozen=True)
class _Heads:
    """What a config says about a model's heads."""

    n_layers: int
    n_heads: int
    head_dim: int
    hidden: int

    @classmethod
    def of(cls, model: Any) -> _Heads:
        config = model.config.get_text_config()
        n_layers, n_heads, hidden = (
            count if isinstance(count := getattr(config, name, None), int) else 0
            for name in ("num_hidden_layers", "num_attention_heads", "hidden_size")
        )
        if not (n_layers and n_heads and hidden):
            raise ModelError(
                f"{type(model).__name__} has no attention heads of the usual kind, the same number "
                "in every layer, so there are no head outputs to read; choose a transformer."
            )
        # Where queries and keys have a width of their own, the outputs are as wide as the values.
        own = getattr(config, "v_head_dim", None) or getattr(config, "head_dim", None)
        return cls(n_layers, n_heads, own or hidden // n_heads, hidden)

    def could_feed(self, pattern: str, group: Mapping[int, Any]) -> bool:
        """Whether neither names nor widths speak against modules being output projections."""
        return not _is_named(pattern, OTHER_NAMES) and all(
            out == self.hidden
            and width % self.n_heads == 0
            and (width == self.n_heads * self.head_dim or _is_named(pattern, ATTENTION_NAMES))
            for width, out in map(_widths, group.values())
        )

    def found_in(self, pattern: str, group: Mapping[int, Any]) -> bool:
        """Whether modules that could be are the output projections of all layers."""
        return (
            pattern.lower().rpartition(".")[2] in OUTPUT_NAMES
            and _is_named(pattern, ATTENTION_NAMES)
            and sorted(group) == list(range(self.n_layers))
            and all(_widths(m)[0] == self.n_heads * self.head_dim for m in group.values())
        )


def _layers_of(named: str, layers: Sequence[int], n_layers: int) -> str:
    """What a name stands for: the layers too, where they are not all."""
    if layers == list(range(n_layers)):
        return named
    return f"{named} in layers {', '.join(map(str, layers))} of {n_layers}"


def _is_named(pattern: str, names: Sequence[str]) -> bool:
    """Whether a module lies in one that bears one of the names."""
    return any(name in part for part in pattern.lower().split(".")[:-1] for name in names)


def _declared_heads(model: Any, name: str) -> set[int]:
    """How many heads the attention modules round a projection say that they have."""
    parts = name.split(".")
    depth = next((i for i, part in enumerate(parts) if _is_named(f"{part}.", ATTENTION_NAMES)), 0)
    if depth == 0:
        return set()
    modules = model.get_submodule(".".join(parts[: depth + 1])).modules()
    counts = [getattr(module, name, None) for module in modules for name in COUNT_NAMES]
    return {count for count in counts if isinstance(count, int)}


def _linear_modules(model: Any) -> dict[str, dict[int, Any]]:
    """Linear modules whose names hold one number, by their name without it and by the number."""
    groups: dict[str, dict[int, Any]] = {}
    for name, module in model.named_modules():
        numbers = NUMBER.findall(name)
        if _widths(module) != (0, 0) and len(numbers) == 1:
            groups.setdefault(NUMBER.sub("{}", name), {})[int(numbers[0])] = module
    return groups


def _widths(module: Any) -> tuple[int, int]:
    """How many numbers go in and come out; (0, 0) for what is not linear."""
    if hasattr(module, "nx") and hasattr(module, "nf"):  # GPT-2's Conv1D
        return module.nx, module.nf
    return getattr(module, "in_features", 0), getattr(module, "out_features", 0)


def _advice(heads: _Heads, groups: Mapping[str, Mapping[int, Any]]) -> str:
    """What could be named, attention first."""
    if not groups:
        return "choose another model, since none of its modules could be one of them"
    ordered = sorted(groups, key=lambda pattern: not _is_named(pattern, ATTENTION_NAMES))
    listed = [
        f"{p} (in {len(groups[p])} of {heads.n_layers} layers)" for p in ordered[:MOST_LISTED]
    ]
    left = len(ordered) - MOST_LISTED
    return (
        "name the modules that the heads' outputs go into, with {} for the layer's number: "
        f"{', '.join(listed)}{f' and {left} more' if left > 0 else ''}"
    )

"""One forward pass, of which only the heads' outputs are kept, pooled as they come.

Hooks stand in front of the projections for as long as the pass takes and not longer: whoever takes
the results may use the model in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch

from core.errors import ModelError
from core.heads.places import HeadPlaces
from core.models.language_model import LanguageModel
from core.types import FloatArray


class Tokens(NamedTuple):
    """A text as the model reads it, of which ids[start:end] count."""

    ids: list[int]
    start: int
    end: int


@torch.inference_mode()
def head_outputs(
    language_model: LanguageModel, places: HeadPlaces, batch: Sequence[Tokens]
) -> FloatArray:
    """Mean over the tokens that count, and the last of them, in float32.

    Texts are filled up on the right, and padding never counts. The model's body alone is run.

    Returns
    -------
    array, shape (B, P, L, H, D)
        With mean and last for P.

    Raises
    ------
    ModelError
        When a projection was not used once for each token.
    RuntimeError
        Whatever the model raises, running out of memory included.
    """
    model, device = language_model.model, language_model.device
    longest = max(len(tokens.ids) for tokens in batch)
    position = torch.arange(longest, device=device)
    lengths, starts, ends = (
        torch.tensor(numbers, device=device)[:, None]
        for numbers in zip(*((len(t.ids), t.start, t.end) for t in batch), strict=True)
    )  # (B, 1)
    padded = [t.ids + [0] * (longest - len(t.ids)) for t in batch]
    counted = (starts <= position) & (position < ends)  # (B, T)
    with _pooling(places, counted, ends[:, 0] - 1) as pooled:
        getattr(model, "base_model", model)(
            input_ids=torch.tensor(padded, device=device),
            attention_mask=(position < lengths).long(),
            **({"use_cache": False} if language_model.kind == "causal" else {}),
        )
    if unused := [
        name for name, found in zip(places.names, pooled, strict=True) if len(found) != 1
    ]:
        raise ModelError(
            f"{language_model.label} does not send its heads' outputs through {unused[0]} once for "
            "each text; name another module."
        )
    outputs = torch.stack([found[0].to(device) for found in pooled], dim=2)  # (B, P, L, H * D)
    array: FloatArray = outputs.cpu().numpy()
    return array.reshape(*array.shape[:-1], places.n_heads, places.head_dim)


@contextmanager
def _pooling(
    places: HeadPlaces, counted: torch.Tensor, last: torch.Tensor
) -> Iterator[list[list[torch.Tensor]]]:
    """Pool what goes into each projection while the block runs.

    Parameters
    ----------
    counted
        Shape (B, T)
    last
        The last token that counts. Shape (B,)

    Yields
    ------
    list of list of Tensor
        For each layer what was pooled in each call. Shape (B, P, H * D)
    """
    pooled: list[list[torch.Tensor]] = [[] for _ in places.modules]

    def pool_into(found: list[torch.Tensor]) -> Any:
        def hook(module: Any, inputs: tuple[torch.Tensor, ...]) -> None:
            found.append(_pool(inputs[0], counted.to(inputs[0].device), last.to(inputs[0].device)))

        return hook

    hooks = []
    try:
        for module, found in zip(places.modules, pooled, strict=True):
            hooks.append(module.register_forward_pre_hook(pool_into(found)))
        yield pooled
    finally:
        for hook in hooks:
            hook.remove()


def _pool(x: torch.Tensor, counted: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
    """Mean and last of one layer's outputs, (B, T, H * D) to (B, P, H * D), in float32.

    What does not count is put to zero and not only weighted with it, since it may be no number.
    """
    x = x.reshape(*counted.shape, -1)  # some families lay all texts' tokens in one row
    taken = x[torch.arange(len(x), device=x.device), last].float()
    total = x.float().masked_fill(~counted[..., None], 0.0).sum(dim=1)
    return torch.stack([total / counted.sum(dim=1, keepdim=True), taken], dim=1)

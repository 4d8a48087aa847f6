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
from core.models.packing import Row, packed_hidden_states, padded_hidden_states
from core.types import FloatArray


class Tokens(NamedTuple):
    """A text as the model reads it, of which ids[start:end] count."""

    ids: list[int]
    start: int
    end: int


class _Counted(NamedTuple):
    """Which tokens of a row count for each of its texts; K is the most texts of a row."""

    among: torch.Tensor  # (B, K, T), false for texts that a row does not have
    last: torch.Tensor  # (B, K)


@torch.inference_mode()
def head_outputs(
    language_model: LanguageModel,
    places: HeadPlaces,
    texts: Sequence[Tokens],
    rows: Sequence[Row],
) -> list[FloatArray]:
    """Mean over the tokens that count, and the last of them, in float32.

    Rows are filled up on the right, and padding never counts. The model's body alone is run.

    Parameters
    ----------
    rows
        Rows of several texts are for models whose texts may share tokens.

    Returns
    -------
    list of array, each of shape (texts of the row, P, L, H, D)
        With mean and last for P.

    Raises
    ------
    ModelError
        When a projection was not used once for each token.
    RuntimeError
        Whatever the model raises, running out of memory included.
    """
    device = language_model.device
    branching = any(len(row.paths) > 1 for row in rows)
    states = packed_hidden_states if branching else padded_hidden_states
    with _pooling(places, _counted(texts, rows)) as pooled:
        states(language_model, rows)
    if unused := [
        name for name, found in zip(places.names, pooled, strict=True) if len(found) != 1
    ]:
        raise ModelError(
            f"{language_model.label} does not send its heads' outputs through {unused[0]} once for "
            "each text; name another module."
        )
    outputs = torch.stack([found[0].to(device) for found in pooled], dim=3)  # (B, K, P, L, H * D)
    array: FloatArray = outputs.cpu().numpy()
    array = array.reshape(*array.shape[:-1], places.n_heads, places.head_dim)
    return [array[b, : len(row.paths)] for b, row in enumerate(rows)]


def _counted(texts: Sequence[Tokens], rows: Sequence[Row]) -> _Counted:
    shape = (len(rows), max(len(row.paths) for row in rows), max(map(len, rows)))
    among, last = torch.zeros(shape, dtype=torch.bool), torch.zeros(shape[:2], dtype=torch.long)
    for b, row in enumerate(rows):
        for k, (i, path) in enumerate(row.paths.items()):
            nodes = path[texts[i].start : texts[i].end]
            among[b, k, nodes] = True
            last[b, k] = nodes[-1]
    return _Counted(among, last)


@contextmanager
def _pooling(places: HeadPlaces, counted: _Counted) -> Iterator[list[list[torch.Tensor]]]:
    """Pool what goes into each projection while the block runs.

    Yields
    ------
    list of list of Tensor
        For each layer what was pooled in each call. Shape (B, K, P, H * D)
    """
    pooled: list[list[torch.Tensor]] = [[] for _ in places.modules]

    def pool_into(found: list[torch.Tensor]) -> Any:
        def hook(module: Any, inputs: tuple[torch.Tensor, ...]) -> None:
            found.append(_pool(inputs[0], _Counted(*(c.to(inputs[0].device) for c in counted))))

        return hook

    hooks = []
    try:
        for module, found in zip(places.modules, pooled, strict=True):
            hooks.append(module.register_forward_pre_hook(pool_into(found)))
        yield pooled
    finally:
        for hook in hooks:
            hook.remove()


def _pool(x: torch.Tensor, counted: _Counted) -> torch.Tensor:
    """Mean and last of one layer's outputs, (B, T, H * D) to (B, K, P, H * D), in float32.

    What does not count is put to zero and not only weighted with it, since it may be no number.
    """
    n_rows, _, longest = counted.among.shape
    x = x.reshape(n_rows, longest, -1).float()  # some families lay all tokens in one row
    last = x[torch.arange(n_rows, device=x.device)[:, None], counted.last]
    x = x.masked_fill(~counted.among.any(dim=1)[..., None], 0.0)
    n = counted.among.sum(dim=2, keepdim=True).clamp(min=1)
    return torch.stack([counted.among.float() @ x / n, last], dim=2)

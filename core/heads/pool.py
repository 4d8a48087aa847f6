"""Texts -> what every attention head puts out, as a mean over tokens and at the last token.

tokens      <s>  The  quick  fox  </s>  -  -         - is padding
bos "in"     x    x     x     x    x                 mean over all that the tokenizer makes
                                   x                 last
bos "out"         x     x     x                      mean without what the tokenizer adds
                              x                      last

The model reads the same tokens either way. "out" leaves out all that the tokenizer adds around a
text by itself: a BOS, a trailing EOS, and for masked models [CLS] and [SEP].

Outputs are pooled while the model runs, on its device and in float32, so that what is kept of a
text does not depend on its length. The vocabulary is never projected to. Where a causal model
allows it, what texts begin with in common is read once (core/models/packing.py): the sentences of
one template differ from its adjective on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from core.heads.forward import Tokens, head_outputs
from core.heads.places import HeadPlaces
from core.models.batches import TokenBudget, first_budget, run_halving, token_budget_batches
from core.models.language_model import LanguageModel
from core.models.packing import Row, alone, longest_row, pack
from core.models.parts import n_embeddings, position_switch
from core.types import POOLINGS, FloatArray, IntArray, Reason

Bos = Literal["in", "out"]

POOLED_BYTES = 256_000_000  # of one batch's outputs: they outgrow its tokens on a GPU


@dataclass(frozen=True, eq=False)
class PooledOutputs:
    """Every head's output for some texts; each array owns its memory."""

    mean: FloatArray  # (B, L, H, D)
    last: FloatArray  # (B, L, H, D)


@dataclass(frozen=True)
class Unpooled:
    """Why a text has no head outputs."""

    reason: Reason
    detail: str  # one sentence for a person


def pooled_outputs(
    language_model: LanguageModel,
    texts: Sequence[str],
    *,
    places: HeadPlaces,
    bos: Bos = "in",
    share: bool = False,
    budget: TokenBudget | None = None,
) -> Iterator[tuple[IntArray, PooledOutputs | Unpooled]]:
    """Head outputs of texts, batch by batch.

    A text that is longer than the model's window is not computed, and never cut.

    Parameters
    ----------
    texts
        Read as the tokenizer makes them by itself. Their order changes nothing.
    places
        Where the heads are.
    bos
        Whether the special tokens that the tokenizer adds count, as drawn above.
    share
        Read common beginnings once. Only for a model whose self-check found that this moves
        nothing; one whose attention takes no shared beginnings reads whole texts all the same.
    budget
        Most tokens in a batch; left out, what the device usually holds. It is halved where memory
        runs out.

    Yields
    ------
    indices, outcome
        Which texts, and either their outputs in that order or why they have none; every text has
        one outcome over the whole iteration.

    Raises
    ------
    ModelError
        When the model does not use what was taken for its heads' projections.
    """
    budget = budget or first_budget(language_model.device)
    if language_model.depends_on_batch:
        budget = TokenBudget(1)
    encoded = [_encode(language_model, text, bos) for text in texts]
    for i, tokens in enumerate(encoded):
        if isinstance(tokens, Unpooled):
            yield np.array([i], dtype=np.int32), tokens
    at = [i for i, tokens in enumerate(encoded) if isinstance(tokens, Tokens)]
    ready = [tokens for tokens in encoded if isinstance(tokens, Tokens)]
    size = len(POOLINGS) * places.n_layers * places.n_heads * places.head_dim * 4
    for rows in _rows(language_model, ready, budget, share=share):
        for batch in _batches(rows, budget, most_texts=max(1, POOLED_BYTES // size)):
            outputs = _read(language_model, places, ready, batch, budget)
            yield from _outcomes({at[i]: output for i, output in outputs.items()})


def _encode(language_model: LanguageModel, text: str, bos: Bos) -> Tokens | Unpooled:
    encoded = language_model.tokenizer(text, return_special_tokens_mask=True, verbose=False)
    ids, added = encoded["input_ids"], encoded["special_tokens_mask"]
    start = next((i for i, special in enumerate(added) if not special), len(ids))
    end = next((i for i in range(len(ids), start, -1) if not added[i - 1]), start)
    if bos == "in":
        start, end = 0, len(ids)
    if start == end:
        return Unpooled(Reason.NO_SCORED_TOKEN, "The tokenizer makes no token of the text.")
    if max(ids) >= n_embeddings(language_model.model):
        unknown = language_model.tokenizer.convert_ids_to_tokens(max(ids))
        detail = f"The model has no embedding for {unknown!r}, which the text holds."
        return Unpooled(Reason.NO_EMBEDDING, detail)
    window = language_model.window
    if window is not None and len(ids) > window:
        detail = f"{len(ids)} tokens are more than the model's window of {window}."
        return Unpooled(Reason.TOO_LONG, detail)
    return Tokens(ids, start, end)


def _rows(
    language_model: LanguageModel, ready: Sequence[Tokens], budget: TokenBudget, *, share: bool
) -> Iterator[list[Row]]:
    """Texts as rows: those that share beginnings, then those read whole.

    Put into an order of their own first, so that the same texts always share a batch.
    """
    longest = min(longest_row(language_model), budget.tokens) if share else 0
    switch = position_switch(language_model.model.config) or 0
    ordered = sorted(range(len(ready)), key=lambda i: ready[i].ids)
    short = [i for i in ordered if len(ready[i].ids) <= longest]
    packed = pack([ready[i].ids for i in short], longest)
    yield [replace(row, paths={short[k]: path for k, path in row.paths.items()}) for row in packed]
    whole = [alone(i, ready[i].ids) for i in ordered if len(ready[i].ids) > longest]
    yield [row for row in whole if len(row) > switch]  # the longest text of a batch decides on the
    yield [row for row in whole if len(row) <= switch]  # positions of all


def _batches(rows: Sequence[Row], budget: TokenBudget, *, most_texts: int) -> Iterator[list[Row]]:
    """Rows within the token budget whose outputs are not too large to be held together."""
    for indices in token_budget_batches([len(row) for row in rows], budget):
        batch: list[Row] = []
        n_texts = 0
        for row in (rows[i] for i in indices):
            if batch and n_texts + len(row.paths) > most_texts:
                yield batch
                batch, n_texts = [], 0
            batch.append(row)
            n_texts += len(row.paths)
        yield batch


def _read(
    language_model: LanguageModel,
    places: HeadPlaces,
    ready: Sequence[Tokens],
    rows: Sequence[Row],
    budget: TokenBudget,
) -> dict[int, FloatArray | None]:
    """Each text's outputs (P, L, H, D); None where it does not fit into memory even alone.

    Texts of a row that does not fit are read one at a time. So are those without finite numbers:
    where one branch has none, attention weights of zero spoil the others of its row too.
    """
    found: dict[int, FloatArray | None] = {}
    results = run_halving(
        lambda part: head_outputs(language_model, places, ready, part), rows, budget
    )
    for row, outputs in zip(rows, results, strict=True):
        shared = len(row.paths) > 1
        for k, i in enumerate(row.paths):
            if shared and (outputs is None or not np.isfinite(outputs[k]).all()):
                found |= _read(language_model, places, ready, [alone(i, ready[i].ids)], budget)
            else:
                found[i] = None if outputs is None else outputs[k]
    return found


def _outcomes(
    outputs: Mapping[int, FloatArray | None],
) -> Iterator[tuple[IntArray, PooledOutputs | Unpooled]]:
    """What a batch came to: those texts that have no outputs, then the others."""
    good = {}
    for i, output in outputs.items():
        if output is None:
            detail = "The text alone does not fit into memory."
            yield np.array([i], dtype=np.int32), Unpooled(Reason.OUT_OF_MEMORY, detail)
        elif not np.isfinite(output).all():
            detail = "The model gave a head output that is not a finite number."
            yield np.array([i], dtype=np.int32), Unpooled(Reason.NOT_FINITE, detail)
        else:
            good[i] = output
    if good:
        mean, last = (np.stack([output[p] for output in good.values()]) for p in range(2))
        yield np.array(list(good), dtype=np.int32), PooledOutputs(mean, last)

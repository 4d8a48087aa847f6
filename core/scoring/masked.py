"""Texts -> pseudo-log-likelihoods: of every scored token, with itself masked and all others seen.

    original            The nurse fi [MASK] ##ed   night      asked for ##nish in "finished",
    within_word_l2r     The nurse fi [MASK] [MASK] night      fi ##nish ##ed

Salazar et al. 2020 (arXiv 1910.14659); the second masks the later pieces of the same word too,
because a piece gives its word away (Kauf & Ivanova 2023, arXiv 2305.10588). Masking replaces an id,
never a string. Each scored token is one copy of its text; a copy that several texts share, because
they differ only where it is masked, is computed once. Only copies of one length share a batch, so
nothing is ever padded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Literal, get_args

import numpy as np
import torch

from core.models.batches import TokenBudget, run_halving
from core.models.language_model import LanguageModel
from core.models.parts import masked_head_logits
from core.scoring.encoding import Encoded
from core.scoring.logprobs import Layout, Scored, token_logprobs
from core.types import FloatArray

Variant = Literal["original", "within_word_l2r"]
VARIANTS = get_args(Variant)

Copy = tuple[tuple[int, ...], int]  # ids with the mask in place, and the position asked for
COPIED_TOKENS = 2_000_000  # of the copies that are prepared together: bounds memory


def mask_copies(e: Encoded, mask_id: int, variant: Variant) -> list[Copy]:
    """One copy of a text per scored token, in their order."""
    copies = []
    words = e.tokenizer_words
    for k in range(e.n_scored):
        ids = list(e.ids)
        last = e.n_scored if variant == "within_word_l2r" else k + 1
        for j in range(k, last):
            if words[j] == words[k]:
                ids[e.first + j] = mask_id
        copies.append((tuple(ids), e.first + k))
    return copies


class _Answers:
    """What is known of a text's scored tokens so far."""

    def __init__(self, e: Encoded) -> None:
        self.e = e
        self.targets = e.targets
        self.logprobs = np.full(e.n_scored, np.nan, dtype=np.float32)
        self.fits = True
        self._missing = e.n_scored

    def take(self, k: int, logprob: float | None) -> bool:
        """Fill in a token, None where its copy does not fit; returns whether it was the last."""
        if logprob is None:
            self.fits = False
        else:
            self.logprobs[k] = logprob
        self._missing -= 1
        return self._missing == 0


def score_masked(
    language_model: LanguageModel,
    texts: Sequence[Encoded],
    variant: Variant,
    layout: Layout,
    budget: TokenBudget,
) -> Iterator[list[Scored]]:
    """Pseudo-log-likelihoods in nats of the scored tokens of texts, the longest first.

    Yields
    ------
    list of Scored
        The texts that a batch completed; None for a text that does not fit into memory.
    """
    mask_id = language_model.tokenizer.mask_token_id
    for part in _parts(texts):
        asked: dict[Copy, list[tuple[_Answers, int]]] = {}  # the tokens that a copy answers for
        for answers in map(_Answers, part):
            for k, copy in enumerate(mask_copies(answers.e, mask_id, variant)):
                asked.setdefault(copy, []).append((answers, k))

        def run(copies: Sequence[Copy], asked: Any = asked) -> list[FloatArray]:
            targets = [[answers.targets[k] for answers, k in asked[copy]] for copy in copies]
            return masked_logprobs(language_model, copies, targets, layout)

        for batch in _batches(list(asked), layout, budget):
            completed = []
            for copy, values in zip(batch, run_halving(run, batch, budget), strict=True):
                for n, (answers, k) in enumerate(asked[copy]):
                    if answers.take(k, None if values is None else values[n]):
                        completed.append(answers)
            yield [(a.e, a.logprobs if a.fits else None) for a in completed]


def _parts(texts: Sequence[Encoded]) -> Iterator[list[Encoded]]:
    """Texts of falling length, in parts whose copies are few enough to be held together."""
    part: list[Encoded] = []
    held = 0
    for e in sorted(texts, key=lambda e: -len(e.ids)):
        size = len(e.ids) * e.n_scored
        if part and held + size > COPIED_TOKENS:
            yield part
            part, held = [], 0
        part.append(e)
        held += size
    if part:
        yield part


def _batches(copies: Sequence[Copy], layout: Layout, budget: TokenBudget) -> Iterator[list[Copy]]:
    """Copies of one length within the token budget, the longest first."""
    for length, same in groupby(copies, key=lambda copy: len(copy[0])):
        left = list(same)
        while left:
            size = 1 if layout is Layout.SINGLE else max(1, budget.tokens // length)
            yield left[:size]
            left = left[size:]


@torch.inference_mode()
def masked_logprobs(
    language_model: LanguageModel,
    copies: Sequence[Copy],
    targets: Sequence[Sequence[int]],
    layout: Layout,
) -> list[FloatArray]:
    """Log-probabilities in nats of some tokens at the position that each copy asks for.

    Parameters
    ----------
    copies
        Of one length.
    targets
        Token ids of each copy.
    layout
        Packed: the vocabulary is projected on at the positions asked for only; else everywhere, by
        the model's own forward.

    Raises
    ------
    RuntimeError
        Whatever the model raises, running out of memory included.
    """
    model = language_model.model
    ids = torch.tensor([ids for ids, _ in copies], device=language_model.device)  # (B, T)
    rows, at = list(range(len(copies))), [position for _, position in copies]
    if layout is Layout.PACKED:
        hidden = model.base_model(input_ids=ids).last_hidden_state[rows, at]  # (B, hidden)
        logits = masked_head_logits(model, hidden)  # (B, V)
    else:
        logits = model(input_ids=ids).logits[rows, at]  # (B, V)
    owner = [row for row, wanted in enumerate(targets) for _ in wanted]
    flat = torch.tensor([token for wanted in targets for token in wanted], device=logits.device)
    values = token_logprobs(logits, torch.tensor(owner, device=logits.device), flat).cpu().numpy()
    ends = np.cumsum([len(wanted) for wanted in targets])
    return list(np.split(values, ends[:-1]))

"""Packed rows hold what their texts hold, and score as the texts do one at a time."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.items.texts import make_text
from core.models.batches import TokenBudget
from core.models.language_model import LanguageModel
from core.models.packing import Row, alone, longest_row, pack, visible_nodes
from core.scoring import causal
from core.scoring.encoding import Encoded, encode
from core.scoring.logprobs import Layout, packed_logprobs, padded_logprobs
from core.scoring.texts import score_texts
from core.types import Unscored
from tests.bigram import bigram_model
from tests.tiny_models import CAUSAL_FAMILIES, tiny_language_model
from tests.tiny_tokenizers import byte_level_bpe, letters

# Few different tokens, so that texts often begin alike, end each other and are equal.
SEQUENCES = st.lists(st.lists(st.integers(3, 5), min_size=2, max_size=9), min_size=1, max_size=12)


def encoded(ids: list[int], first: int = 1) -> Encoded:
    n_scored = len(ids) - first
    return Encoded(
        str(ids), ids, first, [(0, 0)] * n_scored, [0] * n_scored, [(0, 0)] * n_scored, ()
    )


def tiny(family: str, **config) -> LanguageModel:
    return tiny_language_model(family, byte_level_bpe(), window=128, **config)


def packed_rows(texts: list[Encoded], longest: int = 200) -> list[Row]:
    return pack([e.ids[:-1] for e in texts], longest)


def packed(language_model: LanguageModel, texts: list[Encoded], longest: int = 200):
    rows = packed_rows(texts, longest)
    found = packed_logprobs(language_model, texts, rows)
    vectors = {i: vector for row in found for i, vector in row.items()}
    return [vectors[i] for i in range(len(texts))]


# The rows


@given(SEQUENCES, st.integers(1, 30))
def test_every_text_can_be_read_off_its_row(sequences, longest):
    rows = pack(sequences, longest)
    assert sorted(i for row in rows for i in row.paths) == list(range(len(sequences)))
    for row in rows:
        assert len(row) <= longest or len(row) == max(len(sequences[i]) for i in row.paths)
        sees = visible_nodes([row])[0].numpy()
        for i, path in row.paths.items():
            assert list(np.flatnonzero(sees[path[-1]])) == path  # the last node sees its text
            assert [row.ids[node] for node in path] == sequences[i]
            assert [row.depths[node] for node in path] == list(range(len(sequences[i])))


def test_a_row_of_one_text_is_what_packing_makes_of_it():
    assert pack([[5, 6, 7]], longest=10) == [alone(0, [5, 6, 7])]


@given(SEQUENCES)
def test_a_row_computes_every_beginning_once(sequences):
    """Behind a beginning that they share, so that it pays to put all of them into one row."""
    shared = list(range(6, 40))
    (row,) = pack([[*shared, *ids] for ids in sequences], longest=1000)
    beginnings = {(*shared, *ids)[:n] for ids in sequences for n in range(1, 35 + len(ids))}
    assert len(row) == len(beginnings)


def test_padding_sees_only_itself():
    rows = pack([[0, 1, 2, 3], [5]], longest=4)
    sees = visible_nodes(rows)
    assert sees.shape == (2, 4, 4)
    assert torch.equal(sees[1, 1:], torch.eye(4, dtype=torch.bool)[1:])


def test_strangers_do_not_share_a_row():
    """Each node takes part in the attention of its whole row, which must be worth it."""
    a, b = [0, *range(100, 180)], [0, *range(200, 280)]
    assert len(pack([a, b], longest=1000)) == 2
    assert len(pack([a, [*a[:60], *b[60:]]], longest=1000)) == 1


def test_template_sentences_cost_half_of_what_they_cost_alone():
    """A perfect tree over all 384 needs 0.51 of the tokens; the last token of a text needs none."""
    names = ["Anna", "Bram", "Chen", "Dina", "Emre", "Fatima", "Gita", "Hugo"]
    identities = ["Gay", "Lesbian", "Bisexual", "Straight", "Transgender", "Queer"]
    predicates = [
        *("live in a big city.", "work at the hospital.", "like to cook.", "sing well."),
        *("have many friends.", "come from the north.", "read a lot.", "own a dog."),
    ]
    parts = product(names, identities, predicates)
    sentences = [f"{name} is {group}. {group} people {does}" for name, group, does in parts]
    tokenizer = byte_level_bpe()
    texts = [encode(tokenizer, make_text("", sentence), None) for sentence in sentences]
    plain = sum(len(e.ids) for e in texts)
    computed = sum(map(len, packed_rows(texts, 4096)))
    assert len(texts) == 384
    assert computed <= 0.60 * plain


# The numbers


@pytest.mark.parametrize("family", [f for f in CAUSAL_FAMILIES if f != "bloom"])
def test_every_family_scores_random_trees_as_single_texts(family):
    language_model = tiny(family)

    @settings(max_examples=15, deadline=None)
    @given(SEQUENCES, st.integers(1, 30))
    def holds(sequences, longest):
        texts = [encoded(ids) for ids in sequences]
        alone = [padded_logprobs(language_model, [e])[0] for e in texts]
        for a, b in zip(alone, packed(language_model, texts, longest), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-5)

    holds()


def test_a_text_and_its_own_beginning_do_not_disturb_each_other():
    language_model = tiny("llama")
    texts = [encoded([3, 4, 5, 6, 7, 8]), encoded([3, 4, 5]), encoded([3, 4]), encoded([3, 4, 5])]
    alone = [padded_logprobs(language_model, [e])[0] for e in texts]
    for a, b in zip(alone, packed(language_model, texts), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_what_stands_on_another_branch_changes_nothing():
    language_model = tiny("llama")
    fixed = encoded([3, 4, 5, 6])
    generator = random.Random(0)
    before = packed(language_model, [fixed])[0]
    for _ in range(5):
        others = [encoded([3, 4, *generator.choices(range(300), k=6)]) for _ in range(4)]
        np.testing.assert_allclose(packed(language_model, [fixed, *others])[0], before, atol=1e-6)


def test_a_row_that_is_longer_than_a_layer_looks_back_would_be_wrong():
    """The mask of a packed row replaces the layer's own, so such rows must not be made."""
    language_model = tiny("mistral", sliding_window=8)
    texts = [encoded([3, *range(20, 39)])]
    alone = padded_logprobs(language_model, texts)[0]
    assert np.abs(packed(language_model, texts)[0] - alone).max() > 0.05


# Which path a text takes


def paths(monkeypatch, language_model: LanguageModel, texts) -> dict[str, int]:
    """How many texts are computed packed and padded."""
    taken = {"packed": 0, "padded": 0}

    def count_packed(language_model, texts, rows):
        taken["packed"] += sum(len(row.paths) for row in rows)
        return packed_logprobs(language_model, texts, rows)

    def count_padded(language_model, batch):
        taken["padded"] += len(batch)
        return padded_logprobs(language_model, batch)

    monkeypatch.setattr(causal, "packed_logprobs", count_packed)
    monkeypatch.setattr(causal, "padded_logprobs", count_padded)
    outcomes = [o for batch in score_texts(language_model, texts) for o in batch]
    assert len(outcomes) == len(texts)
    assert not any(isinstance(o, Unscored) for o in outcomes)
    return taken


SHORT = [make_text("ab", word) for word in ("cd", "ce", "fg")]
LONG = [make_text("ab", "x" * 20)]


@pytest.mark.parametrize(
    ("family", "config"),
    [
        ("bloom", {}),
        ("falcon", {"alibi": True}),
    ],
)
def test_families_with_alibi_take_the_plain_path(family, config, monkeypatch):
    taken = paths(monkeypatch, tiny(family, **config), SHORT + LONG)
    assert taken == {"packed": 0, "padded": 4}


@pytest.mark.parametrize("family", ["mistral", "gemma2", "gemma3_text", "phi3", "mixtral"])
def test_texts_beyond_a_sliding_window_take_the_plain_path(family, monkeypatch):
    language_model = tiny(family, sliding_window=12)
    assert paths(monkeypatch, language_model, SHORT + LONG) == {"packed": 3, "padded": 1}
    alone = score_texts(language_model, SHORT + LONG, layout=Layout.SINGLE)
    together = score_texts(language_model, SHORT + LONG)
    expected = {o.text_id: o.logprobs for batch in alone for o in batch}
    for outcome in (o for batch in together for o in batch):
        np.testing.assert_allclose(outcome.logprobs, expected[outcome.text_id], atol=1e-5)


def test_a_row_that_does_not_fit_is_computed_text_by_text():
    language_model = bigram_model(letters())
    body = language_model.model.base_model
    forward = body.forward

    def small_memory(input_ids, **options):
        if input_ids.shape[1] > 8:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(input_ids, **options)

    texts = [make_text("abc", f"{x}{y}") for x in "defgh" for y in "ijkl"]  # one row of 30 nodes
    expected = {o.text_id: o.logprobs for b in score_texts(language_model, texts) for o in b}
    body.forward = small_memory
    budget = TokenBudget(2048)
    outcomes = [o for b in score_texts(language_model, texts, budget=budget) for o in b]
    assert len(outcomes) == len(texts)
    for outcome in outcomes:
        assert np.array_equal(outcome.logprobs, expected[outcome.text_id])


def test_many_rows_that_do_not_fit_do_not_end_packing():
    """Each asks for shorter rows once, however many there are."""
    language_model = bigram_model(letters())
    body = language_model.model.base_model
    forward = body.forward

    def small_memory(input_ids, **options):
        if input_ids.shape[1] > 24:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(input_ids, **options)

    body.forward = small_memory
    budget = TokenBudget(1024)
    texts = [make_text(8 * x, f"{y}{z}") for x in "abcdefghij" for y in "klmnop" for z in "qrstuv"]
    outcomes = [o for batch in score_texts(language_model, texts, budget=budget) for o in batch]
    assert len(outcomes) == len(texts)
    assert not any(isinstance(o, Unscored) for o in outcomes)
    assert budget.tokens >= 12


def test_the_budget_stays_where_memory_put_it():
    language_model = bigram_model(letters())
    body = language_model.model.base_model
    forward = body.forward
    sizes = []

    def small_memory(input_ids, **options):
        sizes.append(input_ids.numel())
        if input_ids.numel() > 150:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(input_ids, **options)

    body.forward = small_memory
    budget = TokenBudget(600)
    texts = [make_text("", f"{x}{y * 8}") for x in "abcdefghijklmnop" for y in "qrstuvw"]
    outcomes = [o for batch in score_texts(language_model, texts, budget=budget) for o in batch]
    assert not any(isinstance(o, Unscored) for o in outcomes)
    assert 50 <= budget.tokens <= 150
    assert sum(size > 150 for size in sizes) <= 4  # of the first batch; the others fit at once


# Families whose numbers would depend on what else is in a batch


def every_layout_agrees(language_model: LanguageModel, texts) -> None:
    alone = score_texts(language_model, texts, layout=Layout.SINGLE)
    expected = {o.text_id: o.logprobs for batch in alone for o in batch}
    for layout in (Layout.PACKED, Layout.PADDED):
        for batch in score_texts(language_model, texts, layout=layout):
            for outcome in batch:
                np.testing.assert_allclose(outcome.logprobs, expected[outcome.text_id], atol=1e-5)


def test_texts_on_both_sides_of_a_change_of_positions_are_kept_apart():
    """LongRoPE reads a whole batch with the positions of its longest text."""
    factors = {"short_factor": [1.0] * 4, "long_factor": [1.0, 1.5, 2.0, 3.0]}
    rope = {"rope_type": "longrope", "rope_theta": 10_000.0, **factors}
    language_model = tiny(
        "phi3",
        original_max_position_embeddings=24,
        rope_parameters=rope | {"original_max_position_embeddings": 24},
    )
    tokenizer = language_model.tokenizer
    texts = [make_text("x" * n, "y" * m) for n in (5, 12, 20, 22) for m in (1, 2, 3, 9, 40)]
    lengths = {len(encode(tokenizer, text, None).ids) for text in texts}
    assert {24, 25} <= lengths
    every_layout_agrees(language_model, texts)


def test_a_branch_without_numbers_takes_no_other_text_with_it():
    language_model = tiny("llama")
    tokenizer = language_model.tokenizer
    (bad,) = tokenizer("q", add_special_tokens=False).input_ids
    language_model.model.get_input_embeddings().weight.data[bad] = np.nan
    fine = [make_text("ab", f"c{x}") for x in "defgh"]
    spoilt = [make_text("ab", f"cq{x}") for x in "de"]
    outcomes = {o.text_id: o for batch in score_texts(language_model, fine + spoilt) for o in batch}
    assert not any(isinstance(outcomes[text.text_id], Unscored) for text in fine)
    assert all(isinstance(outcomes[text.text_id], Unscored) for text in spoilt)


def test_layers_that_each_look_back_their_own_way_take_the_plain_path():
    layers = {"0": {"sliding_window": 8}, "1": {"sliding_window": 12}}
    language_model = tiny("mistral", sliding_window=8, per_layer_config=layers)
    assert longest_row(language_model) == 0

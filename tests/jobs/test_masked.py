"""Masked models through the scoring job: which method, which rows, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from transformers import BertModel

from core.errors import CanaryFailed, InputError, WrongModelKind
from core.jobs.estimate import estimate
from core.jobs.run import ScoreRequest, score_dataset
from core.store.items import put_dataset
from core.store.scorers import scorers
from core.store.scores import item_scores, unscored
from core.types import Item
from tests.tiny_models import save_tiny, tiny_model
from tests.tiny_tokenizers import byte_level_bpe, letters, word_piece

PAIRS = (
    ("The nurse finished.", "The doctor finished."),
    ("He was tired.", "She was tired."),
    ("The grandson called.", "The grandfather called."),
)


@pytest.fixture
def pairs(cache):
    items = [
        Item(item_id=str(i), condition="en", context="", stereotype=more, anti_stereotype=less)
        for i, (more, less) in enumerate(PAIRS)
    ]
    put_dataset(cache, "pairs", items, path="", format="native", sha256="")
    return cache


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return save_tiny(tmp_path_factory.mktemp("models") / "bert", "bert", word_piece())


def request(folder, **options):
    return ScoreRequest(model=str(folder), dataset="pairs", **options)


def test_a_masked_model_is_scored_by_pseudo_log_likelihood(pairs, bert):
    expected = estimate(pairs, request(bert))
    result = score_dataset(pairs, request(bert))
    assert (result.computed, result.failed, result.notes) == (6, 0, ())
    (row,) = scorers(pairs).to_dict("records")
    assert (row["method"], row["bos"], row["batching"]) == (
        "pll:original", "adds [CLS] ... [SEP]", "batched",
    )  # fmt: skip
    assert expected.scorer.scorer_id == result.scorer_id
    n_tokens = [len(word_piece()(s).input_ids) for pair in PAIRS for s in pair]
    assert expected.tokens == sum(n * (n - 2) for n in n_tokens)
    assert score_dataset(pairs, request(bert)).missing == 0


def test_another_variant_is_another_scorer(pairs, bert):
    first = score_dataset(pairs, request(bert))
    second = score_dataset(pairs, request(bert, variant="within_word_l2r"))
    assert first.scorer_id != second.scorer_id
    assert second.computed == 6
    assert set(scorers(pairs)["method"]) == {"pll:original", "pll:within_word_l2r"}


def test_exact_and_batched_scores_agree(pairs, bert):
    batched = score_dataset(pairs, request(bert)).scorer_id
    exact = score_dataset(pairs, request(bert, exact=True)).scorer_id
    assert batched != exact
    columns = ["l_stereotype", "l_anti"]
    a, b = (item_scores(pairs, scorer, "pairs")[columns] for scorer in (batched, exact))
    np.testing.assert_allclose(a, b, atol=1e-5)


def test_a_causal_model_with_a_mask_token_is_scored_causally(pairs, tmp_path):
    """The head decides; neither the tokenizer's mask nor the folder's name does."""
    folder = save_tiny(tmp_path / "bart-bert-opt", "gpt2", byte_level_bpe())
    score_dataset(pairs, request(folder))
    assert set(scorers(pairs)["method"]) == {"causal"}


@pytest.mark.parametrize("variant", ["within_word_l2r", "l2r"])
def test_a_variant_that_means_nothing_is_refused(pairs, tmp_path, variant):
    folder = save_tiny(tmp_path / "gpt2", "gpt2", byte_level_bpe())
    with pytest.raises(InputError, match="variant"):
        score_dataset(pairs, request(folder, variant=variant))
    assert scorers(pairs).empty


def test_a_masked_model_without_a_mask_token_is_refused(pairs, tmp_path):
    folder = save_tiny(tmp_path / "bert", "bert", letters())
    with pytest.raises(CanaryFailed, match="has no mask token"):
        score_dataset(pairs, request(folder))


def test_an_encoder_without_a_head_is_refused(pairs, tmp_path):
    folder = save_tiny(tmp_path / "bert", "bert", word_piece())
    BertModel(tiny_model("bert", len(word_piece())).config).save_pretrained(folder)
    with pytest.raises(WrongModelKind, match="no language-model head"):
        score_dataset(pairs, request(folder))


def test_both_members_leave_when_one_is_too_long(cache, tmp_path):
    folder = save_tiny(tmp_path / "bert", "bert", word_piece(), max_position_embeddings=32)
    items = [
        Item(item_id="long", condition="en", context="", stereotype="He was tired. " * 9,
             anti_stereotype="She was tired."),
        Item(item_id="short", condition="en", context="", stereotype="He was tired.",
             anti_stereotype="She was here."),
    ]  # fmt: skip
    put_dataset(cache, "pairs", items, path="", format="native", sha256="")
    result = score_dataset(cache, request(folder))
    assert result.failed == 1
    failures = unscored(cache, result.scorer_id, "pairs")
    assert failures["reason"].tolist() == ["too_long"]
    table = item_scores(cache, result.scorer_id, "pairs")
    assert table.dropna(subset=["l_stereotype", "l_anti"])["item_id"].tolist() == ["short"]

"""What the benchmarks count, and that their oracles agree with the scoring; nothing is timed."""

from __future__ import annotations

import json

import pytest

from benchmarks import gpu
from benchmarks.counting import Work
from benchmarks.matmul import flops, matmul_share
from benchmarks.ours import our_scores, plain_tokens, work_of
from benchmarks.peer import Peer
from benchmarks.profiling import group_of
from benchmarks.questions import generated_items, question_texts
from core.items.texts import item_texts
from core.models.language_model import LanguageModel
from core.scoring.encoding import encode
from tests.tiny_models import HIDDEN, LAYERS, save_tiny, tiny_model
from tests.tiny_tokenizers import byte_level_bpe


@pytest.fixture
def tiny() -> LanguageModel:
    """A tiny llama with the tokenizer that the GPU benchmark takes."""
    model = tiny_model("llama", len(byte_level_bpe()), max_position_embeddings=512)
    return gpu.language_model_of(model, "float32", "cpu", "none")


def test_operations_of_a_tiny_llama_counted_by_hand():
    model = tiny_model("llama", vocab_size=100)
    attention = 32 * 32 + 16 * 32 + 16 * 32 + 32 * 32  # q, k, v of two heads, o
    mlp = 3 * 64 * 32
    expected = 2 * (LAYERS * (attention + mlp) * 10 + 100 * HIDDEN * 3)
    assert flops(model, tokens=10, projected=3) == expected
    work = Work(batches=1, tokens=10, padded_tokens=12, projected=3)
    assert matmul_share(model, work, seconds=2.0, rate=expected) == 0.5


def test_counted_tokens_are_the_distinct_beginnings_of_the_texts(tiny, monkeypatch):
    monkeypatch.delenv("STEREOSCOPE_BENCHMARKS", raising=False)
    _, texts = question_texts(1)
    encoded = [encode(tiny.tokenizer, text, tiny.window) for text in texts]
    beginnings = {tuple(e.ids[:n]) for e in encoded for n in range(1, len(e.ids))}
    predicting = {tuple(e.ids[:n]) for e in encoded for n in range(e.first, len(e.ids))}
    work = work_of(tiny, texts)
    assert (work.batches, work.tokens, work.projected) == (1, len(beginnings), len(predicting))
    assert plain_tokens(tiny, texts) == sum(len(e.ids) for e in encoded)


def test_generated_texts_are_distinct_and_as_long_at_every_size():
    def texts(n):
        return [t for item in generated_items(n) for t in item_texts(item).values()]

    few, many = texts(3000), texts(30_000)
    assert len({text.text_id for text in many}) == len(many) == 30_000

    def mean_length(texts):
        return sum(len(text.context) + len(text.continuation) for text in texts) / len(texts)

    assert mean_length(few) == pytest.approx(mean_length(many), rel=0.01)


def test_plain_transformers_in_another_process_gives_our_sums(tiny, tmp_path, monkeypatch):
    monkeypatch.delenv("STEREOSCOPE_BENCHMARKS", raising=False)
    _, texts = question_texts(4)
    save_tiny(tmp_path, "llama", tiny.tokenizer, max_position_embeddings=512)
    ours = our_scores(tiny, texts)
    with Peer("one_at_a_time", tmp_path, threads=1) as peer:
        _, sums = peer.score(texts)
    assert sums == pytest.approx([ours[text.text_id].total for text in texts], abs=1e-4)


def test_the_gpu_benchmark_runs_without_a_gpu(capsys):
    assert gpu.main(["--tiny", "--items", "6", "--skip-nf4"]) == 0
    line = json.loads(capsys.readouterr().out.splitlines()[-1])
    (row,) = line["results"]["float32"]
    assert row["tokens_computed"] < row["tokens_plain"]
    assert row["max_difference"] < 1e-4


@pytest.mark.parametrize(
    ("name", "shapes", "group"),
    [
        ("aten::mm", [[100, 576], [576, 1536]], "linear layers"),
        ("aten::mm", [[100, 576], [576, 49152]], "vocabulary projection"),
        ("aten::_log_softmax", [[100, 49152], [], []], "log-softmax"),
        ("aten::_scaled_dot_product_flash_attention_for_cpu", [[1, 9, 7, 64]], "attention"),
        ("aten::silu", [[1, 100, 1536]], "norms, activations, rotary"),
        ("aten::index_select", [[49152, 576], [], [100]], "copies and look-ups"),
    ],
)
def test_operations_are_grouped_by_name_and_shape(name, shapes, group):
    assert group_of(name, shapes, vocabulary=49152) == group

"""What the benchmark of head outputs measures with; its oracle agrees. Nothing is timed."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext

import pytest

from benchmarks import heads
from benchmarks.heads import (
    LARGEST_DIFFERENCE,
    our_means,
    peer_difference,
    probes,
    sentences,
    work_of,
)
from benchmarks.peer import Peer
from tests.tiny_models import HIDDEN, LAYERS, opened, save_tiny
from tests.tiny_tokenizers import byte_level_bpe

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def tiny(tmp_path):
    save_tiny(tmp_path, "llama", byte_level_bpe(), max_position_embeddings=512)
    return opened(tmp_path)


def test_sentences_are_distinct_and_of_about_as_many_words_at_every_size():
    few, many = sentences(60), sentences(10_000)
    assert len(set(many)) == len(many) == 10_000
    assert many[:60] == few
    lengths = [sum(len(text.split()) for text in texts) / len(texts) for texts in (few, many)]
    assert lengths[0] == pytest.approx(lengths[1], abs=1)
    assert 18 <= lengths[0] <= 25


def test_plain_transformers_in_another_process_gives_our_means(tiny, tmp_path):
    texts = sentences(12)
    ours = our_means(tiny, texts)
    assert ours.shape == (12, LAYERS, HIDDEN)
    with Peer("heads_one_at_a_time", tmp_path, threads=1) as peer:
        assert peer_difference(peer, texts, ours) < 1e-5
        assert peer_difference(peer, texts[::-1], ours) > LARGEST_DIFFERENCE


def test_padding_is_no_work_and_a_common_beginning_only_once(tiny):
    texts = sentences(12)
    work = work_of(tiny, texts)
    ids = [tuple(tiny.tokenizer(text).input_ids) for text in texts]
    beginnings = {text[:n] for text in ids for n in range(1, len(text) + 1)}
    assert len(beginnings) <= work.tokens < sum(map(len, ids))
    assert work.tokens < work.padded_tokens
    assert work.projected == 0


def test_probes_are_of_both_families():
    some = probes(75)
    assert len(set(some)) == 75
    assert some[:60] == probes(60)
    assert "List adjectives similar to" in some[30]
    assert "List adjectives similar to" not in some[0] + some[60]


def test_the_line_says_when_a_peer_does_not_agree(tiny, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(heads, "open_demo", lambda: tiny)
    monkeypatch.setattr(heads, "demo_folder", lambda: tmp_path)
    monkeypatch.setattr(heads, "LARGEST_DIFFERENCE", -1.0)
    arguments = ["--sentences", "4", "--rounds", "1", "--peers", "heads_one_at_a_time", "--poles"]
    monkeypatch.setattr(sys, "argv", ["heads", *arguments])
    with pytest.raises(SystemExit) as ended:
        heads.main()
    assert ended.value.code == 1
    line = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (line["problem"], line["met"]) == ("no agreement", False)
    assert "ratios" not in line


@pytest.mark.parametrize(
    ("texts", "target", "met"),
    [
        ("probes", 2.0, {"transformer_lens": True, "nnsight": False}),
        ("made", 1.8, {"transformer_lens": True, "nnsight": True}),
    ],
)
def test_the_line_says_which_targets_are_met(
    tiny, tmp_path, monkeypatch, capsys, texts, target, met
):
    """Twice as fast on probes, which begin alike; nnsight takes 1.9 times as long here."""
    seconds = {"transformer_lens": 2.0, "nnsight": 1.9}
    monkeypatch.setattr(heads, "open_demo", lambda: tiny)
    monkeypatch.setattr(heads, "demo_folder", lambda: tmp_path)
    monkeypatch.setattr(heads, "Peer", lambda name, *rest: nullcontext(Named(name, seconds)))
    monkeypatch.setattr(heads, "peer_difference", lambda *asked: 0.0)
    monkeypatch.setattr(heads, "timed", lambda *asked: 1.0)
    monkeypatch.setattr(heads, "best_rate", lambda *asked: 1e9)
    monkeypatch.setattr(heads, "version", lambda package: "0")
    arguments = ["--sentences", "4", "--rounds", "1", "--texts", texts, "--peers", *seconds]
    monkeypatch.setattr(sys, "argv", ["heads", *arguments, "--poles"])
    with pytest.raises(SystemExit) as ended:
        heads.main()
    line = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (line["target"], line["targets_met"]) == (target, met)
    assert (line["met"], ended.value.code) == (all(met.values()), 0 if all(met.values()) else 1)


class Named:
    """A peer that takes as long as it is told to."""

    def __init__(self, name: str, seconds: dict[str, float]) -> None:
        self.name, self.seconds = name, seconds

    def score(self, texts, batch_size):
        return self.seconds[self.name], None

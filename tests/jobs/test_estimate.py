"""What a job would take, against numbers worked out by hand and against the job itself."""

from __future__ import annotations

import json

import pytest

from core.items.texts import item_texts, join
from core.jobs.estimate import BYTES_PER_TEXT, BYTES_PER_TOKEN, estimate
from core.jobs.folder import create_run, release
from core.jobs.run import ScoreRequest, score_dataset
from core.jobs.spec import JobSpec
from core.models import memory, sources
from core.models.batches import first_budget
from core.scoring.encoding import Encoded, encode
from core.store.items import put_dataset
from tests.jobs.test_follow import line
from tests.jobs.test_jobs import fill, make_items
from tests.tiny_models import CAUSAL_FAMILIES, save_tiny
from tests.tiny_tokenizers import byte_level_bpe

HIDDEN, INTERMEDIATE, LAYERS, KEYS = 32, 64, 2, 16  # two of four heads hold keys and values


def n_weights(vocab: int) -> int:
    """A llama's weights, counted by hand."""
    attention = 2 * HIDDEN * HIDDEN + 2 * HIDDEN * KEYS
    layer = attention + 3 * HIDDEN * INTERMEDIATE + 2 * HIDDEN
    return 2 * vocab * HIDDEN + LAYERS * layer + HIDDEN


@pytest.mark.parametrize(("dtype", "itemsize"), [("float32", 4), ("bfloat16", 2)])
def test_numbers_are_those_worked_out_by_hand(cache, llama, monkeypatch, dtype, itemsize):
    fill(cache, 3)
    monkeypatch.setattr(memory, "free_bytes", lambda device: 10_000_000)
    found = estimate(cache, ScoreRequest(model=str(llama), dataset="demo", dtype=dtype))
    tokenizer = byte_level_bpe(add_bos=True)
    texts = {t.text_id: t for item in make_items(3) for t in item_texts(item).values()}.values()
    encoded = [encode(tokenizer, text, None) for text in texts]
    assert all(isinstance(e, Encoded) for e in encoded)
    assert found.texts == len(texts) == 9
    assert found.characters == sum(len(join(t.context, t.continuation)) for t in texts)
    assert found.tokens == sum(len(e.ids) for e in encoded)
    assert found.tokens_counted
    scored = sum(len(e.ids) - e.first for e in encoded)
    assert found.disk_bytes == scored * BYTES_PER_TOKEN + 9 * BYTES_PER_TEXT
    vocab = len(tokenizer)
    weights = round(1.2 * itemsize * n_weights(vocab))
    assert found.memory.needed_bytes == weights + first_budget("cpu").tokens * vocab * itemsize
    assert found.memory.free_bytes == {"cpu": 10_000_000}
    assert found.memory.fits
    assert (found.scorer.dtype, found.scorer.device, found.download_bytes) == (dtype, "cpu", 0)


def test_a_model_that_does_not_fit_is_said_not_refused(cache, llama, monkeypatch):
    fill(cache, 1)
    monkeypatch.setattr(memory, "free_bytes", lambda device: 1000)
    assert not estimate(cache, ScoreRequest(model=str(llama), dataset="demo")).memory.fits


@pytest.mark.parametrize("family", CAUSAL_FAMILIES)
def test_the_scorer_is_known_without_its_weights(cache, tmp_path, family):
    fill(cache, 1)
    save_tiny(tmp_path / family, family, byte_level_bpe(add_bos=True))
    request = ScoreRequest(model=str(tmp_path / family), dataset="demo")
    found = estimate(cache, request)
    assert found.scorer.scorer_id == score_dataset(cache, request).scorer_id
    assert estimate(cache, request).texts == 0


def test_only_what_is_missing_counts(cache, llama):
    fill(cache, 2)
    request = ScoreRequest(model=str(llama), dataset="demo")
    score_dataset(cache, request)
    nothing = estimate(cache, request)
    assert (nothing.texts, nothing.tokens, nothing.disk_bytes) == (0, 0, 0)
    assert (nothing.seconds, nothing.speed_from) == (0.0, "nothing is missing")
    put_dataset(cache, "demo", make_items(5), path="", format="native", sha256="", replace=True)
    assert estimate(cache, request).texts == 9


def test_time_is_taken_from_an_earlier_run_of_the_scorer(cache, llama):
    fill(cache, 5)
    request = ScoreRequest(model=str(llama), dataset="demo")
    unknown = estimate(cache, request)
    assert unknown.seconds is None
    folder, lock = create_run(cache, JobSpec(request=request))
    last = line(10, 100, "stopped", scorer_id=unknown.scorer.scorer_id)  # 1,000 characters in 10 s
    folder.progress.write_text(json.dumps(last) + "\n")
    release(lock)
    known = estimate(cache, request)
    assert known.seconds == pytest.approx(known.characters / 100)
    assert (known.speed_from, known.opening_seconds) == (folder.run_id, None)
    phases = [
        line(0, 0, phase="opening the model", scorer_id=""),
        line(7, 0, phase="checking the model", scorer_id=""),
        line(12, 0, seconds=0, scorer_id=unknown.scorer.scorer_id),
    ]
    folder.progress.write_text("".join(json.dumps(each) + "\n" for each in [*phases, last]))
    with_opening = estimate(cache, request)
    assert with_opening.opening_seconds == 12
    assert with_opening.seconds == pytest.approx(known.characters / 100 + 12)
    assert (
        estimate(cache, ScoreRequest(model=str(llama), dataset="demo", exact=True)).seconds is None
    )


def test_large_sets_are_sampled(cache, llama, monkeypatch):
    fill(cache, 100)
    request = ScoreRequest(model=str(llama), dataset="demo")
    whole = estimate(cache, request)
    monkeypatch.setattr("core.jobs.estimate.SAMPLE", 50)
    sampled = estimate(cache, request)
    assert not sampled.tokens_counted
    assert sampled.tokens == pytest.approx(whole.tokens, rel=0.02)
    assert sampled.characters == whole.characters


def test_a_hub_model_is_not_downloaded_for_an_estimate(cache, llama, monkeypatch):
    fill(cache, 1)
    asked = []
    described = llama.parent / "described"
    described.mkdir(exist_ok=True)
    for path in llama.iterdir():
        if path.suffix == ".json":
            (described / path.name).write_bytes(path.read_bytes())

    def snapshot_download(name, **options):
        asked.extend(options["allow_patterns"])
        return str(described)

    monkeypatch.setattr(sources, "snapshot_download", snapshot_download)
    found = estimate(cache, ScoreRequest(model="org/name", dataset="demo"))
    assert not any("safetensors" in pattern or ".bin" in pattern for pattern in asked)
    assert found.download_bytes == 4 * n_weights(len(byte_level_bpe(add_bos=True)))

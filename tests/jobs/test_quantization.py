"""Scoring in 8 and 4 bits: a scorer of its own each, foretold by the estimate, never mixed."""

from __future__ import annotations

import json
import platform
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pytest

from core.analysis.card import scorer_name
from core.analysis.overview import scorer_labels
from core.analysis.provenance import provenance
from core.errors import CanaryFailed
from core.items.texts import item_texts
from core.jobs.estimate import estimate
from core.jobs.run import score_dataset
from core.jobs.spec import JobSpec, spec_from_json, spec_to_json
from core.score_request import ScoreRequest
from core.store.runs import runs
from core.store.scorers import scorers
from core.store.scores import token_scores
from core.store.verify import verify
from core.types import Scorer
from core.words import precision_words
from tests.jobs.test_jobs import fill, make_items
from tests.tiny_models import save_tiny
from tests.tiny_tokenizers import byte_level_bpe

CHOICES = (
    {},
    {"quantization": "int8"},
    {"quantization": "nf4"},
    {"quantization": "nf4", "no_double_quant": True},
    {"quantization": "nf4", "compute_dtype": "bfloat16"},
)


pytestmark = pytest.mark.usefixtures("one_thread")


def test_every_precision_is_a_scorer_of_its_own(cache, llama):
    n_texts = fill(cache, 3)
    results = []
    for choice in CHOICES:
        request = ScoreRequest(model=str(llama), dataset="demo", **choice)
        foretold = estimate(cache, request)
        assert foretold.texts == n_texts  # none of them has another precision's scores
        result = score_dataset(cache, request)
        assert (result.missing, result.computed, result.failed) == (n_texts, n_texts, 0)
        assert result.scorer_id == foretold.scorer.scorer_id
        assert score_dataset(cache, request).missing == 0
        results.append(result)
    ids = [result.scorer_id for result in results]
    assert len(set(ids)) == len(CHOICES)
    assert verify(cache) == []

    text_ids = sorted({t.text_id for item in make_items(3) for t in item_texts(item).values()})
    by_scorer = [token_scores(cache, scorer_id, text_ids) for scorer_id in ids]
    means = np.array([[scores[t].mean for t in text_ids] for scores in by_scorer])  # (5, N)
    assert np.isfinite(means).all()
    for a in range(len(CHOICES)):
        for b in range(a):
            assert np.abs(means[a] - means[b]).max() > 1e-6

    known = scorers(cache)
    assert len(set(scorer_labels(known).values())) == len(CHOICES)
    assert len({scorer_name(cache, s).partition(", ")[0] for s in ids}) >= len(CHOICES)
    quantized = known.set_index("scorer_id").loc[ids[2]]
    assert quantized["quantization"].startswith("nf4 double compute float32 (bitsandbytes 4-bit")
    assert provenance(cache, ids[2], "demo")["quantization"] == quantized["quantization"]


def test_an_int8_model_scores_one_text_at_a_time_and_says_so(cache, llama):
    fill(cache, 1)
    result = score_dataset(
        cache, ScoreRequest(model=str(llama), dataset="demo", quantization="int8")
    )
    assert result.batching == "exact"
    assert "one at a time" in result.notes[0]
    nf4 = score_dataset(cache, ScoreRequest(model=str(llama), dataset="demo", quantization="nf4"))
    assert (nf4.batching, nf4.notes) == ("batched", ())


def test_versions_name_bitsandbytes_where_it_took_part(cache, llama):
    fill(cache, 1)
    for name in ("none", "nf4"):
        request = ScoreRequest(model=str(llama), dataset="demo", quantization=name)
        score_dataset(cache, request, run_id=name)
    versions = {row.run_id: json.loads(row.versions) for row in runs(cache).itertuples()}
    python = versions["nf4"].pop("python")
    assert python == versions["none"].pop("python") == platform.python_version()
    usual = {"torch", "transformers", "tokenizers", "numpy", "duckdb"}
    for name, packages in (("none", usual), ("nf4", usual | {"bitsandbytes", "accelerate"})):
        assert versions[name] == {package: version(package) for package in packages}


def test_a_refusal_counts_as_a_run_of_that_quantisation(cache, tmp_path):
    fill(cache, 1)
    save_tiny(tmp_path / "falcon", "falcon", byte_level_bpe())
    request = ScoreRequest(model=str(tmp_path / "falcon"), dataset="demo", quantization="nf4")
    with pytest.raises(CanaryFailed, match="No layer of falcon"):
        score_dataset(cache, request)
    (row,) = runs(cache).itertuples()
    assert row.checks.startswith("refused: No layer of falcon")
    assert "bitsandbytes" in json.loads(row.versions)


def test_a_job_passes_its_choice_on_and_reads_older_specs():
    request = ScoreRequest(
        model="m", dataset="d", quantization="nf4", compute_dtype="bfloat16", no_double_quant=True
    )
    spec = JobSpec(request=request)
    assert spec.arguments()[3:] == [
        "--quantization=nf4",
        "--compute-dtype=bfloat16",
        "--no-double-quant",
    ]
    assert spec_from_json(spec_to_json(spec)) == spec
    older = spec_to_json(JobSpec(request=ScoreRequest(model="m", dataset="d", dtype="bfloat16")))
    for name in ("quantization", "compute_dtype", "no_double_quant"):
        del older["request"][name]
    assert spec_from_json(older).request == ScoreRequest(model="m", dataset="d", dtype="bfloat16")


def test_a_precision_in_words_leaves_out_the_details():
    assert precision_words("float32", "none") == "float32"
    assert precision_words("float16", "int8 threshold 6 (a, b; kept c)") == (
        "int8 threshold 6 in float16"
    )
    assert precision_words("float16", "gptq") == "gptq in float16"


def test_what_is_not_quantised_keeps_its_scorer():
    """The id is frozen: were it to change, every score that a cache holds would be lost."""
    scorer = Scorer(
        model="a name that plays no part",
        fingerprint="folder:0123",
        dtype="float32",
        device="cpu",
        attention="sdpa",
        method="causal",
        bos="none",
        batching="batched",
        scoring_version=1,
    )
    assert scorer.scorer_id == "df8264d4a1b6ac76"
    assert replace(scorer, quantization="none").scorer_id == scorer.scorer_id
    assert replace(scorer, quantization="gptq").scorer_id != scorer.scorer_id

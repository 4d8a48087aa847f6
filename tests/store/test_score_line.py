"""The line that scores what is missing can be run as it is printed."""

from __future__ import annotations

from dataclasses import asdict

from core import settings
from core.score_request import ScoreRequest
from core.store.gate import Cache
from core.store.runs import start_run
from core.store.score_line import score_line, shell_line
from core.store.scorers import put_scorer
from tests.store_samples import SCORER, item, put


def test_without_a_scorer_it_names_the_demo_model(cache: Cache, monkeypatch) -> None:
    line = f"python -m core score --model demo --dataset 'my set' --cache {cache.folder}"
    assert score_line(cache, "my set") == line
    monkeypatch.setenv("STEREOSCOPE_CACHE", str(cache.folder))  # of this shell alone
    assert score_line(cache, "my set") == line
    usual = Cache(settings.ROOT / "cache")
    assert shell_line(usual, "score", "--dataset", "d") == "python -m core score --dataset d"


def test_under_a_scorer_it_has_the_settings_of_its_run(cache: Cache) -> None:
    folder = f" --cache {cache.folder}"
    put(cache, [item()])
    put_scorer(cache, SCORER)
    of_model = f"python -m core score --model {SCORER.model} --dataset d{folder}"
    assert score_line(cache, "d", SCORER.scorer_id) == of_model
    request = ScoreRequest(model="/models/m", dataset="another", dtype="float64", exact=True)
    start_run(cache, "r", command="score", scorer_id=SCORER.scorer_id, spec=asdict(request))
    line = "python -m core score --model /models/m --dataset d --dtype float64 --exact" + folder
    assert score_line(cache, "d", SCORER.scorer_id) == line

"""`python -m core stereotypes`: the table of axes, and what cannot be asked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.heads import stored
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.reader import find_reader
from core.analysis.heads.stored import compute_axes
from core.analysis.heads.values import HeadsValues, heads_values
from core.cli.stereotypes import _row
from core.cli.terminal import out, print_table
from core.errors import InputError
from core.jobs.folder import create_run, release
from core.jobs.follow import follow
from core.jobs.spec import STEREOTYPES, JobSpec, spec_from_json, spec_to_json
from core.store.axes import get_concepts, put_concepts
from core.store.gate import Cache
from core.store.head_readers import get_reader, put_reader
from tests.conftest import Run
from tests.planted_cache import AXES, CONCEPTS, REFERENCE, STEREOTYPED, fill_planted, made_axes
from tests.planted_heads import planted_heads

WORDS = ("stereotypes", "--axes", AXES, "--concepts", CONCEPTS, "--reference", REFERENCE)


@pytest.fixture
def reader_id(cache: Cache) -> str:
    return fill_planted(cache, planted_heads()).reader_id


def test_the_table_is_that_of_the_analysis(
    run: Run, cache: Cache, reader_id: str, tmp_path: Path
) -> None:
    file = tmp_path / "axes.parquet"
    code, out, err = run(*WORDS, "--k", 3, "--json", "--out", file)
    assert code == 0, err
    question = HeadsQuestion(
        reader_id=reader_id, axes=AXES, concepts=CONCEPTS, reference=REFERENCE, k=3
    )
    expected = compute_axes(cache, question).table
    found = pd.read_parquet(file)
    pd.testing.assert_series_equal(found["qvalue"], expected["qvalue"])
    rows = json.loads(out)["axes"]
    assert [row["axis_id"] for row in rows] == expected["axis_id"].tolist()
    about = {"model": "planted", "family": "simple", "pooling": "mean", "n_templates": 30, "k": 3}
    about |= {"reader_id": reader_id, "axes": AXES, "concepts": CONCEPTS, "reference": REFERENCE}
    assert all(row.items() >= about.items() for row in rows)
    assert (found[[*about]] == pd.Series(about)).all(axis=None)
    flagged = {row["axis_id"] for row in rows if row["qvalue"] < 0.05}
    axes = made_axes(8)
    assert flagged == {axes[i].axis_id for i in STEREOTYPED}


def test_the_screen_says_n_p_and_what_chance_would_flag(run: Run, reader_id: str) -> None:
    code, out, _ = run(*WORDS, "--k", 0)
    said = " ".join(out.split())
    assert code == 0
    heads = next(line for line in out.splitlines() if "Axis" in line)
    assert heads.split() == ["Axis", "R", "KS", "q", "Further", "Tests", "say"]
    assert "best heads by half of the templates in the other half (by chance 0.036)" in said
    assert "40 of groups against 40 of phrases: the 8 of 8 axes that differ most" in said
    assert "of 8 axes (" in said
    assert "by chance 0.4). A flag says" in said


def test_words_of_an_axis_are_whole_on_eighty_columns_and_differences_have_intervals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(out, "_width", 80)
    row = {
        "negative": "unintelligent, stupid", "positive": "intelligent", "rejection_rate": 0.12,
        "separability_held_out": 0.2, "statistic": 0.2, "qvalue": 0.5, "pvalue": 0.3,
        "pvalue_location": 0.4, "pvalue_spread": 0.024, "n_concepts": 25, "n_reference": 50,
        "stability": "no sign of a difference", "difference": -0.1, "difference_low": -0.35,
        "difference_high": 0.15,
    }  # fmt: skip
    told = _row(row)
    assert told["Tests say"] == "spread differs (0.12)"
    assert told["Further"] == "-0.10±0.25"
    assert _row(row | {"difference_low": np.nan, "difference_high": np.nan})["Further"] == "-0.10"
    with out.capture() as captured:
        print_table(pd.DataFrame([told] * 3), "Axes")
    assert "unintelligent -" in captured.get() and "spread differs" in captured.get()


def test_without_reference_phrases_nothing_is_tested(run: Run, reader_id: str) -> None:
    code, out, _ = run(*WORDS[:5], "--k", 3)
    said = " ".join(out.split())
    assert code == 0
    assert "40 of groups without reference phrases: 8 of 8 axes" in said
    assert "Not tested (–), 8 of 8 axes: no reference phrases were chosen." in said
    assert not any(word in said for word in ("nan", "Flagged", "too few"))


def test_what_is_undefined_on_one_axis_has_its_reason(
    run: Run, reader_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def blind(cache: Cache, question: HeadsQuestion) -> HeadsValues:
        held = heads_values(cache, question)
        values = held.values.copy()
        values[STEREOTYPED[0]] = np.nan
        return replace(held, values=values)

    monkeypatch.setattr(stored, "heads_values", blind)
    code, out, _ = run(*WORDS, "--k", 3)
    said = " ".join(out.split())
    assert code == 0
    assert "of 7 axes (" in said
    assert "Not tested (–), 1 of 8 axes: no head's output varies, or none is finite." in said
    assert "nan" not in said


def test_few_phrases_are_tested_but_not_drawn_anew(run: Run, cache: Cache, reader_id: str) -> None:
    phrases = get_concepts(cache, REFERENCE)
    put_concepts(cache, replace(phrases, name="four", concepts=phrases.concepts[:4]))
    code, out, _ = run(*WORDS[:5], "--reference=four", "--k", 3, "--json")
    rows = json.loads(out)["axes"]
    assert (code, len(rows)) == (0, 8)
    for row in rows:
        assert (row["stability"], row["rejection_rate"]) == ("too few phrases", None)
        assert row["pvalue"] is not None and not row["reason"]
    assert "too few" in run(*WORDS[:5], "--reference=four", "--k", 3)[1]


def test_what_is_large_is_a_job_that_stores_it(
    run: Run, cache: Cache, reader_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "AT_ONCE", 0)
    words = (*WORDS, "--reference", "phrases2", "--k", 3, "--json")
    phrases = get_concepts(cache, REFERENCE)
    put_concepts(cache, replace(phrases, name="phrases2"))
    code, out, err = run(*words)
    assert code == 0, err
    assert "Projecting" in err
    (view,) = follow(cache)
    assert (view.state, view.command) == ("finished", "stereotypes")
    assert (view.work, view.dataset) == ("projections of groups", AXES)
    assert view.fraction == 1.0
    assert view.spec is not None
    assert spec_from_json(json.loads(json.dumps(spec_to_json(view.spec)))) == view.spec
    assert view.spec.arguments() == [
        *("stereotypes", f"--reader={reader_id}", f"--axes={AXES}", f"--concepts={CONCEPTS}"),
        *(f"--reference={REFERENCE}", "--reference=phrases2", "--family=simple"),
        *("--pooling=mean", "--templates=30", "--k=3", "--seed=20260928"),
    ]
    assert run(*words)[1] == out  # what is stored is what was computed
    assert len(follow(cache)) == 1


def test_a_launched_job_of_what_is_not_there_fails_with_its_sentence(
    run: Run, cache: Cache, reader_id: str
) -> None:
    spec = JobSpec(command=STEREOTYPES)
    folder, lock = create_run(cache, spec)
    release(lock)
    code, _, err = run(*WORDS, "--k", 99, "--run", folder.run_id)
    assert (code, "has 24 heads, not 99" in err) == (2, True)
    (view,) = follow(cache)
    assert (view.state, "has 24 heads, not 99" in view.error) == ("failed", True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--family", "plain"), "--family is 'plain'; write simple or listing."),
        (("--pooling", "first"), "--pooling is 'first'; write mean or last."),
        (("--templates", "20"), "Directions come from 15 or 30 templates."),
        (("--k", "99"), "has 24 heads, not 99"),
        (("--seed", "-1"), "--seed is -1; write 0 or a larger whole number."),
        (("--reader", "other"), "No reader is called 'other'; give --reader one of:"),
        (("--out", "axes.doc"), ".doc"),
    ],
)
def test_what_cannot_be_asked(run: Run, reader_id: str, words: tuple[str, ...], said: str) -> None:
    code, _, err = run(*WORDS, *words)
    assert (code, said in " ".join(err.split())) == (2, True), err


def test_a_reader_is_found_by_model_id_or_its_beginning(cache: Cache) -> None:
    with cache.writing():
        pass
    with pytest.raises(InputError, match="No model's heads were read yet"):
        find_reader(cache, None)
    first = fill_planted(cache, planted_heads()).reader_id
    assert {find_reader(cache, name) for name in (None, "planted", first, first[:6])} == {first}
    put_reader(cache, replace(get_reader(cache, first), bos="out"))  # nothing was read for it
    assert {find_reader(cache, name) for name in (None, "planted")} == {first}
    second = fill_planted(cache, planted_heads(), seed=1).reader_id
    assert find_reader(cache, second[:6]) == second
    with pytest.raises(InputError, match=f"heads of several models were read.*{second}"):
        find_reader(cache, None)
    with pytest.raises(InputError, match=f"More than one reader is called 'planted'.*{first}"):
        find_reader(cache, "planted")

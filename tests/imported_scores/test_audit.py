"""Imported scores in an audit: the numbers that their scale gives, and why others are undefined."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.audit import injection, power
from core.analysis.audit.audit import audit
from core.analysis.audit.elsewhere import NO_FLUENCY_ELSEWHERE, NO_MEAN, without_means
from core.analysis.audit.panel import Panel
from core.analysis.audit.pipeline_errors import FIRST, NO_LISTS
from core.analysis.audit.request import AuditRequest
from core.analysis.comparison import compare_scorers
from core.analysis.overview import scorer_labels
from core.errors import InputError
from core.imported_scores.finding import find_scores
from core.imported_scores.layout import Scale, ScoreOptions
from core.imported_scores.reading import read_score_file
from core.stats.scores import KINDS, StereoSetMetric, stereoset_metric
from core.store.gate import Cache
from core.store.imported_scores import ScoreSource, put_imported
from core.store.items import put_dataset
from core.store.scorers import scorers
from core.types import Item
from tests.audit.test_thin import undefined_without_reason
from tests.score_files import N, items, number, own_table, predictions, write_csv
from tests.store_samples import put
from tests.thin_panels import MOST_ITEMS, tables_of, texts_of, thin_panel

QUICK = AuditRequest(dataset="d", n_resamples=100, n_bootstrap=50)
CONDITIONS = ("en", "en~p1", "es")
MAPPED = {role: role for role in ("stereotype", "anti_stereotype", "unrelated")}


@pytest.fixture(autouse=True)
def few_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power, "POWER_WORLDS", 20)
    monkeypatch.setattr(power, "POWER_DRAWS", 99)
    monkeypatch.setattr(injection, "N_SIZE_WORLDS", 3)
    monkeypatch.setitem(injection.injection.__kwdefaults__, "n_runs", 2)


def all_items() -> list[Item]:
    return [item for condition in CONDITIONS for item in items(condition)]


def fill(folder: Path, scales: dict[str, Scale]) -> dict[str, str]:
    """Imported scores of the same items under a model for each scale; ids by name."""
    cache = Cache(folder / "cache")
    put_dataset(cache, "d", all_items(), path="x", format="native", sha256="0")
    path = write_csv(folder / "scores.csv", own_table(all_items()))
    ids = {}
    for name, scale in scales.items():
        file = read_score_file(path, options=ScoreOptions(columns=MAPPED, scale=scale))
        found = find_scores(file, all_items(), model=name)
        source = ScoreSource(
            path=str(path), format=file.layout.name, sha256=file.sha256, scale=file.scale
        )
        (done,) = put_imported(cache, "d", source, found.by_model)
        ids[name] = done.scorer_id
    return ids


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Cache, dict[str, str]]:
    folder = tmp_path_factory.mktemp("imported")
    scales = {"means": Scale.MEAN, "sums": Scale.SUM, "order": Scale.ORDER}
    ids = fill(folder, scales)
    return Cache(folder / "cache"), ids


def asked(ids: dict[str, str], name: str) -> AuditRequest:
    return replace(QUICK, scorers=(ids[name],))


def by_hand(condition: str) -> list[float]:
    """SS of every item: the sigmoid of the difference of two numbers of the file."""
    differences = [
        number(n, "stereotype", condition) - number(n, "anti_stereotype") for n in range(N)
    ]
    return [1 / (1 + np.exp(-d)) for d in differences]


def test_the_drop_of_imported_means_is_that_of_a_hand(filled: tuple[Cache, dict[str, str]]) -> None:
    cache, ids = filled
    row = audit(cache, asked(ids, "means"), ["main"]).tables["main"].rows.iloc[0]
    drop = np.mean(by_hand("en")) - np.mean(by_hand("es"))
    assert row["condition"] == "es"
    assert row["drop"] == pytest.approx(drop, abs=1e-12) and drop > 0.1
    assert row["score"] == pytest.approx(np.mean(by_hand("es")), abs=1e-12)


@pytest.mark.parametrize("name", ["means", "sums", "order"])
def test_choices_are_there_on_every_scale(filled: tuple[Cache, dict[str, str]], name: str) -> None:
    cache, ids = filled
    tables = audit(cache, asked(ids, name), ["score_map", "cells"]).tables
    shares = tables["score_map"].rows.set_index("condition")["score_binary"]
    # Every third English item prefers the anti-stereotype, and in Spanish all do.
    assert shares.to_dict() == {"en": pytest.approx(2 / 3), "es": 0.0, "en~p1": 0.0}
    cell = tables["cells"].rows.set_index("condition").loc["es"]
    assert cell["mean_change_binary"] == pytest.approx(-2 / 3)


@pytest.mark.parametrize("name", ["sums", "order"])
def test_without_means_no_soft_score_is_made_up(
    filled: tuple[Cache, dict[str, str]], name: str
) -> None:
    cache, ids = filled
    found = audit(cache, asked(ids, name), ["main", "score_map", "cells", "fluency_icat"])
    (label,) = {s["model"] for s in found.provenance["scorers"]}  # type: ignore[attr-defined]
    for table_name, columns in {
        "main": ["score", "drop", "drop_low", "fluency"],
        "score_map": ["score"],
        "cells": ["mean_change", "pvalue"],
        "fluency_icat": ["fluency", "ss", "icat"],
    }.items():
        rows = found.tables[table_name].rows
        assert rows[columns].isna().all(axis=None), table_name
        assert rows["reason"].str.contains(NO_MEAN.format(label), regex=False).all(), table_name


def test_the_kinds_that_have_values_are_named_once(filled: tuple[Cache, dict[str, str]]) -> None:
    cache, ids = filled
    for name, kinds in (("order", "binary"), ("sums", "summed, per code point or binary")):
        verdicts = audit(cache, asked(ids, name), ["verdicts"]).tables["verdicts"].rows
        (sentence,) = verdicts["sentence"]
        assert sentence.count(f"Choose {kinds} with --kind / Score.") == 1, sentence
        assert sentence.count("so all but choices is undefined") == 1, sentence


def test_a_model_without_the_language_is_named_with_the_option(tmp_path: Path) -> None:
    ids = fill(tmp_path, {"all": Scale.MEAN})
    cache = Cache(tmp_path / "cache")
    english = [item for item in all_items() if item.condition != "es"]
    path = write_csv(tmp_path / "english.csv", own_table(english))
    file = read_score_file(path, options=ScoreOptions(columns=MAPPED, scale=Scale.MEAN))
    source = ScoreSource(path=str(path), format="x", sha256=file.sha256, scale=file.scale)
    put_imported(cache, "d", source, find_scores(file, all_items(), model="half").by_model)
    said = "half, imported has no score in es; choose the other models with --scorer / Models."
    found = audit(cache, QUICK, ["item_tests", "verdicts", "cells"]).tables
    (sentence,) = found["verdicts"].rows["sentence"]
    assert sentence.count(said) == 1, sentence
    tests = found["item_tests"].rows
    named = tests["reason"].str.contains(said, regex=False)
    assert named.any() and set(tests.loc[named, "condition"]) == {"es"}
    assert not found["cells"].rows["reason"].str.contains(said, regex=False).any()
    alone = audit(cache, asked(ids, "all"), ["verdicts"]).tables["verdicts"].rows
    assert not alone["drop"].isna().any() and said not in alone["sentence"].iloc[0]


def test_a_summed_score_is_that_of_sums_alone(filled: tuple[Cache, dict[str, str]]) -> None:
    cache, ids = filled
    scores = {}
    for name in ids:
        request = replace(asked(ids, name), kind="summed")
        rows = audit(cache, request, ["score_map"]).tables["score_map"].rows
        scores[name] = rows.set_index("condition")["score"]["en"]
    assert scores["sums"] == pytest.approx(np.mean(by_hand("en")))
    assert np.isnan([scores["means"], scores["order"]]).all()


def test_the_official_metric_needs_only_an_order(filled: tuple[Cache, dict[str, str]]) -> None:
    cache, ids = filled
    # By hand: terms 0, 1, 2 have four items each; term 0 holds every third item, whose
    # anti-stereotype wins in English; no unrelated continuation ever wins.
    expected = StereoSetMetric(lms=1.0, ss=2 / 3, icat=2 / 3, n=N, n_terms=3)
    for name in ids:
        rows = audit(cache, asked(ids, name), ["fluency_icat"]).tables["fluency_icat"].rows
        row = rows.set_index("condition").loc["en"]
        for field in ("lms", "ss", "icat", "n", "n_terms"):
            assert row[f"stereoset_{field}"] == pytest.approx(getattr(expected, field)), field


def test_what_an_audit_rests_on_is_said(filled: tuple[Cache, dict[str, str]]) -> None:
    cache, ids = filled
    found = audit(cache, QUICK, ["main"])
    said = " ".join(found.warnings)
    assert "The scores of means, imported are imported from scores.csv" in said
    assert "sums, imported (sums) is left out" in said
    assert "order, imported (order only) is left out" in said
    assert [s["scorer_id"] for s in found.provenance["scorers"]] == [ids["means"]]  # type: ignore[attr-defined]
    (facts,) = found.provenance["scorers"]  # type: ignore[misc]
    assert facts["scores_path"].endswith("scores.csv") and len(facts["scores_sha256"]) == 64
    row = found.tables["main"].rows.iloc[0]
    assert not np.isnan(row["drop"])


def test_only_scores_without_means_are_all_taken(tmp_path: Path) -> None:
    ids = fill(tmp_path, {"one": Scale.ORDER, "two": Scale.SUM})
    found = audit(Cache(tmp_path / "cache"), QUICK, ["score_map"])
    assert set(found.tables["score_map"].rows["scorer_id"]) == set(ids.values())


def test_unfinished_imports_ask_for_a_file(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    put_dataset(cache, "d", all_items(), path="x", format="native", sha256="0")
    path = write_csv(tmp_path / "p.csv", predictions(items()))
    file = read_score_file(path, options=ScoreOptions(condition="en"))
    source = ScoreSource(path=str(path), format="p", sha256=file.sha256, scale=file.scale)
    put_imported(cache, "d", source, find_scores(file, all_items(), model="m").by_model)
    (_, unfinished) = audit(cache, QUICK, ["score_map"]).warnings
    assert f"{N} of {3 * N} versions are scored under m, imported" in unfinished
    assert "Import a file that has the rest" in unfinished and "core score" not in unfinished


def test_tokens_that_are_not_there_are_told(filled: tuple[Cache, dict[str, str]]) -> None:
    cache, ids = filled
    for name in ids:
        rows = audit(cache, asked(ids, name), ["pipeline_errors"]).tables["pipeline_errors"].rows
        assert rows[rows["pipeline"] == FIRST]["reason"].str.contains(NO_LISTS, regex=False).all()


def test_two_scorers_are_compared_by_ss_or_not_at_all(
    filled: tuple[Cache, dict[str, str]],
) -> None:
    cache, ids = filled
    with pytest.raises(InputError, match=r"order only\) were imported without a mean per token"):
        compare_scorers(cache, ids["means"], ids["order"], "d")


def test_labels_say_that_scores_are_imported(filled: tuple[Cache, dict[str, str]]) -> None:
    cache, ids = filled
    labels = scorer_labels(scorers(cache))
    assert labels[ids["means"]] == "means, imported"
    assert labels[ids["sums"]] == "sums, imported (sums)"


def ordered_only(panel: Panel, models: list[int]) -> Panel:
    """The panel with nothing but an order of some models' continuations."""
    numbers = {name: values.copy() for name, values in panel.numbers.items()}
    scored = panel.scored.copy()
    rows = scored["scorer_id"].isin([panel.scorers[m] for m in models])
    for suffix in ("stereotype", "anti", "unrelated", "unknown"):
        numbers[f"order_{suffix}"][models] = numbers[f"l_{suffix}"][models]
        scored.loc[rows, f"order_{suffix}"] = scored.loc[rows, f"l_{suffix}"]
        for unit in ("l", "sum", "n"):
            numbers[f"{unit}_{suffix}"][models] = np.nan
            scored.loc[rows, f"{unit}_{suffix}"] = np.nan
    return replace(panel, numbers=numbers, scored=scored)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    cache = Cache(tmp_path_factory.mktemp("texts"))
    put(cache, texts_of(MOST_ITEMS), "made")
    return cache


@pytest.mark.parametrize("seed", range(12))
def test_every_table_of_orders_alone_says_what_is_undefined(texts: Cache, seed: int) -> None:
    panel = thin_panel(seed)
    models = list(range(len(panel.models)))[: None if seed % 2 else 1]
    request = replace(QUICK, dataset="made", kind=KINDS[seed % len(KINDS)])
    tables = tables_of(ordered_only(panel, models), request, texts)
    assert undefined_without_reason(tables) == {}


def test_an_order_gives_the_binary_tables_of_means(texts: Cache) -> None:
    panel = thin_panel(3)
    request = replace(QUICK, dataset="made", kind="binary")
    names = ["score_map", "cells", "same_choice", "floors", "item_tests"]
    of_means = tables_of(panel, request, texts)
    of_order = tables_of(ordered_only(panel, [*range(len(panel.models))]), request, texts)
    for name in names:
        pd.testing.assert_frame_equal(of_means[name].rows, of_order[name].rows)


def test_the_metric_itself_by_hand() -> None:
    # Term a: 1 of 2 prefers the stereotype, 3 of 4 comparisons beat the unrelated; term b: 1 of 1
    # and 2 of 2. Micro averages would be 2/3 and 5/6.
    found = stereoset_metric([3, 1, 5], [2, 2, 4], [0, 1.5, 0], ["a", "a", "b"])
    assert (found.ss, found.lms) == (0.75, 0.875)
    assert found.icat == pytest.approx(0.875 * 0.25 / 0.5)


def with_counts(folder: Path, scale: Scale, n_counted: int) -> tuple[Cache, str]:
    """Imported scores of which so many rows have token counts; the scorer's id."""
    cache = Cache(folder / "cache")
    put_dataset(cache, "d", all_items(), path="x", format="native", sha256="0")
    rows = [
        row | {f"n_{role}": 4 if n < n_counted else "" for role in MAPPED}
        for n, row in enumerate(own_table(all_items()))
    ]
    path = write_csv(folder / "counted.csv", rows)
    file = read_score_file(path, options=ScoreOptions(columns=MAPPED, scale=scale))
    found = find_scores(file, all_items(), model="counted")
    source = ScoreSource(path=str(path), format="columns", sha256=file.sha256, scale=scale)
    (done,) = put_imported(cache, "d", source, found.by_model)
    return cache, done.scorer_id


@pytest.mark.parametrize(
    ("scale", "n", "said"),
    [
        (Scale.SUM, 3 * N, "sums with token counts, so means per token are there too."),
        (Scale.SUM, N, "sums; 12 of 36 items have token counts, and so means per token too."),
        (Scale.MEAN, 3 * N, "per token with token counts, so sums are there too."),
        (Scale.MEAN, N, "12 of 36 items have token counts, and so sums too."),
    ],
)
def test_token_counts_are_told_with_the_scale(
    tmp_path: Path, scale: Scale, n: int, said: str
) -> None:
    cache, scorer_id = with_counts(tmp_path, scale, n)
    found = audit(cache, replace(QUICK, scorers=(scorer_id,)), ["main"])
    (told,) = [w for w in found.warnings if "imported" in w]
    assert told.endswith(said)
    means = found.tables["main"].rows.iloc[0]["score"]
    assert np.isfinite(means) == (scale is Scale.MEAN or n == 3 * N)
    assert (scorer_id in without_means(cache, "d")) == (scale is Scale.SUM and n < 3 * N)


@pytest.mark.parametrize("kind", ["mean", "binary"])
def test_no_fluency_is_the_scale_s_doing_where_items_have_an_unrelated_one(
    filled: tuple[Cache, dict[str, str]], kind: str
) -> None:
    cache, ids = filled
    request = replace(asked(ids, "sums"), kind=kind)
    tables = audit(cache, request, ["main", "fluency_icat"]).tables
    said = NO_FLUENCY_ELSEWHERE.format("sums, imported (sums)")
    assert said in tables["main"].rows.iloc[0]["reason"]
    assert all(said in reason for reason in tables["fluency_icat"].rows["reason"])
    assert not tables["main"].rows["reason"].str.contains("No item has an unrelated").any()

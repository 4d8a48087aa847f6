"""The item table against values computed by hand, and how a cache's parts are named."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from core.analysis.card import scorer_name
from core.analysis.items import english_rewording_noise, item_table
from core.analysis.overview import find_scorer, overview, scorer_labels
from core.errors import CacheMissing, InputError
from core.items.texts import item_texts
from core.store.gate import Cache
from core.store.scorers import put_scorer, scorers
from core.store.scores import put_scores
from core.types import Flag, Item, Reason, Role, TokenScore, Unscored
from tests.store_samples import OTHER, SCORER, item, put

S = SCORER.scorer_id
PLUS, MINUS, UNRELATED, UNKNOWN = (
    Role.STEREOTYPE,
    Role.ANTI_STEREOTYPE,
    Role.UNRELATED,
    Role.UNKNOWN,
)


def scored(text_id: str, mean: float, n: int = 2, flags: tuple[Flag, ...] = ()) -> TokenScore:
    """A score whose mean is `mean`, of n tokens that differ."""
    spread = np.linspace(-0.5, 0.5, n) if n > 1 else np.zeros(1)
    position = np.arange(n, dtype=np.int32)
    return TokenScore(
        text_id=text_id,
        token_ids=position,
        logprobs=(mean + spread).astype(np.float32),
        starts=position,
        ends=position + 1,
        words=position,
        flags=flags,
    )


def put_means(cache: Cache, means: list[tuple[Item, dict[Role, float | None]]]) -> None:
    """Give each item's texts a mean log-probability; None could not be scored."""
    scores, failed = [], []
    for one, by_role in means:
        for role, mean in by_role.items():
            text_id = item_texts(one)[role].text_id
            if mean is None:
                failed.append(Unscored(text_id, Reason.TOO_LONG, "too long"))
            else:
                scores.append(scored(text_id, mean))
    put_scorer(cache, SCORER)
    put_scores(cache, S, scores, failed)


def fill(cache: Cache, rows: list[tuple[Item, dict[Role, float | None]]]) -> pd.DataFrame:
    """A cache with these items and means; its item table by item id and condition."""
    put(cache, [one for one, _ in rows])
    put_means(cache, rows)
    return item_table(cache, S, "d").set_index(["item_id", "condition"])


def poles(plus: float | None, minus: float | None) -> dict[Role, float | None]:
    return {PLUS: plus, MINUS: minus}


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


# Values


def test_scores_changes_and_choices_equal_hand_values(cache: Cache) -> None:
    table = fill(
        cache,
        [
            (item("1"), poles(-1.0, -2.0)),
            (item("1", "es"), poles(-3.0, -2.5)),
            (item("1", "en~p1"), poles(-2.0, -2.0)),
        ],
    )
    en, es, p1 = (table.loc[("1", c)] for c in ("en", "es", "en~p1"))
    assert en.l_stereotype == -1.0
    assert en.ss == pytest.approx(sigmoid(1.0))
    assert es.ss == pytest.approx(sigmoid(-0.5))
    assert es.ss_en == en.ss_en == en.ss
    assert es.change == pytest.approx(sigmoid(-0.5) - sigmoid(1.0))
    assert (en.binary, es.binary, p1.binary) == (1.0, 0.0, 0.5)
    assert p1.ss == 0.5
    assert p1.change == pytest.approx(0.5 - sigmoid(1.0))


def test_the_mean_is_per_scored_token(cache: Cache) -> None:
    one = item("1")
    put(cache, [one])
    put_scorer(cache, SCORER)
    texts = item_texts(one)
    put_scores(cache, S, [scored(texts[PLUS].text_id, -1, 5), scored(texts[MINUS].text_id, -2, 1)])
    (row,) = item_table(cache, S, "d").itertuples()
    assert (row.l_stereotype, row.l_anti) == (-1.0, -2.0)
    assert (row.sum_stereotype, row.sum_anti) == (-5.0, -2.0)
    assert (row.n_stereotype, row.n_anti) == (5, 1)


def test_fluency_needs_an_unrelated_continuation(cache: Cache) -> None:
    full = item("1", unrelated="Stones fly.")
    question = item("2", unknown="Nobody knows.")
    table = fill(
        cache,
        [
            (full, poles(-3.0, -2.0) | {UNRELATED: -4.0}),
            (question, poles(-1.0, -2.0) | {UNKNOWN: -0.5}),
        ],
    )
    assert table.loc[("1", "en"), "fluency"] == pytest.approx(sigmoid(2.0))
    assert math.isnan(table.loc[("2", "en"), "fluency"])
    assert table.loc[("2", "en"), "l_unknown"] == -0.5


def test_counts_stay_whole_numbers_beside_items_without_scores(cache: Cache) -> None:
    table = fill(cache, [(item("1"), poles(-1.0, -2.0)), (item("2"), {})])
    assert str(table["n_stereotype"].dtype) == "Int64"
    assert table.loc[("1", "en"), "n_stereotype"] == 2
    assert table.loc[("2", "en"), "n_stereotype"] is pd.NA


# What has no change


def test_english_has_a_score_but_no_change(cache: Cache) -> None:
    table = fill(cache, [(item("1"), poles(-1.0, -2.0))])
    assert math.isnan(table.loc[("1", "en"), "change"])
    assert not math.isnan(table.loc[("1", "en"), "ss_en"])


def test_a_native_item_is_never_compared_even_when_its_id_is_taken(cache: Cache) -> None:
    table = fill(
        cache,
        [
            (item("1"), poles(-1.0, -2.0)),
            (item("1", "hi", native=True), poles(-2.0, -1.0)),
            (item("2", "en", native=True), poles(-2.0, -1.0)),
            (item("2", "es"), poles(-1.0, -3.0)),
        ],
    )
    hindi, english, spanish = (table.loc[key] for key in (("1", "hi"), ("2", "en"), ("2", "es")))
    assert hindi.ss == pytest.approx(sigmoid(-1))
    for row in (hindi, english):
        assert math.isnan(row.ss_en)
        assert math.isnan(row.change)
    # A native item is not the English twin of a translation either.
    assert math.isnan(spanish.ss_en)
    assert math.isnan(spanish.change)


def test_a_translation_without_an_english_score_has_no_change(cache: Cache) -> None:
    table = fill(
        cache,
        [
            (item("1"), poles(None, -2.0)),
            (item("1", "es"), poles(-1.0, -2.0)),
            (item("2", "es"), poles(-1.0, -2.0)),
        ],
    )
    assert table["change"].isna().all()
    assert table.loc[("1", "es"), "ss"] == pytest.approx(sigmoid(1.0))


def test_items_without_scores_are_rows_that_say_why(cache: Cache) -> None:
    collapsed = item("c", stereotype="Same.", anti_stereotype="same")
    table = fill(
        cache,
        [
            (item("1"), poles(-1.0, -2.0)),
            (collapsed, {}),
            (item("long"), poles(None, -2.0)),
            (item("half"), {PLUS: -1.0}),
            (item("none"), {}),
        ],
    )
    states = table["state"].droplevel("condition").to_dict()
    assert states == {
        "1": "scored",
        "c": "collapsed",
        "long": "unscored",
        "half": "missing",
        "none": "missing",
    }
    without = table[table["state"] != "scored"]
    assert without[["l_stereotype", "l_anti", "ss", "binary", "fluency"]].isna().all(axis=None)
    assert table.loc[("long", "en"), "reason"] == "too_long"
    assert (table["reason"].drop(("long", "en")) == "").all()


def test_scores_of_another_scorer_do_not_show(cache: Cache) -> None:
    fill(cache, [(item("1"), poles(-1.0, -2.0))])
    put_scorer(cache, OTHER)
    table = item_table(cache, OTHER.scorer_id, "d")
    assert table["state"].tolist() == ["missing"]
    assert table["ss"].isna().all()


# Order


def test_english_comes_first_then_its_rewordings_then_the_languages(cache: Cache) -> None:
    conditions = ["zh", "es~p1", "en~p2", "es", "en", "en~p1", "ar", "en+true"]
    put(cache, [item(i, c) for c in conditions for i in ("b", "a")])
    put_scorer(cache, SCORER)
    table = item_table(cache, S, "d")
    order = ["en", "en~p1", "en~p2", "en+true", "ar", "es", "es~p1", "zh"]
    assert list(dict.fromkeys(table["condition"])) == order
    assert table.groupby("condition", sort=False)["item_id"].agg(list).tolist() == [["b", "a"]] * 8
    assert table.index.tolist() == list(range(len(table)))


# Rewording noise


def test_only_rewordings_of_english_are_its_noise(cache: Cache) -> None:
    table = fill(
        cache,
        [
            (item("1"), poles(-2.0, -2.0)),
            (item("2"), poles(-2.0, -2.0)),
            (item("1", "en~p1"), poles(-1.0, -2.0)),
            (item("2", "en~p1"), poles(-1.0, -2.0)),
            (item("1", "es"), poles(-1.0, -9.0)),
            (item("2", "es"), poles(-1.0, -9.0)),
            (item("1", "es~p1"), poles(-1.0, -9.0)),
            (item("2", "es~p1"), poles(-1.0, -9.0)),
            (item("1", "en+true"), poles(-1.0, -9.0)),
            (item("1", "en~p1+true"), poles(-1.0, -9.0)),
        ],
    )
    noise = english_rewording_noise(table.reset_index())
    assert noise.n_rewordings == 1
    assert noise.n_changes == 2
    assert noise.floor == pytest.approx(sigmoid(1.0) - 0.5)
    assert noise.item_sd == pytest.approx(0.0, abs=1e-12)


def test_full_coverage_counts_usable_english_items_and_no_native_ones(cache: Cache) -> None:
    table = fill(
        cache,
        [
            (item("1"), poles(-2.0, -2.0)),
            (item("2"), poles(-2.0, -2.0)),
            (item("too long"), poles(None, -2.0)),
            (item("native", native=True), poles(-2.0, -2.0)),
            (item("1", "en~p1"), poles(-1.0, -2.0)),
            (item("2", "en~p1"), poles(-2.0, -1.0)),
            (item("too long", "en~p1"), poles(-1.0, -2.0)),
            (item("1", "en~llm"), poles(-1.0, -2.0)),
        ],
    )
    noise = english_rewording_noise(table.reset_index())
    assert noise.n_rewordings == 1
    assert noise.n_changes == 3
    assert noise.floor == pytest.approx(0.0, abs=1e-12)


def test_without_rewordings_the_noise_is_unknown(cache: Cache) -> None:
    table = fill(cache, [(item("1"), poles(-1.0, -2.0))])
    noise = english_rewording_noise(table.reset_index())
    assert math.isnan(noise.floor)
    assert noise.n_changes == 0


# What a cache holds


def test_the_overview_counts_what_is_there(cache: Cache) -> None:
    fill(cache, [(item("1"), poles(-1.0, -2.0)), (item("2"), poles(None, -2.0))])
    held = overview(cache)
    assert held.datasets["dataset"].tolist() == ["d"]
    assert held.scorers["scorer_id"].tolist() == [S]
    (row,) = held.coverage.itertuples()
    assert (row.condition, row.n_items, row.n_scored, row.n_unscored) == ("en", 2, 1, 1)
    assert held.sizes == {"scores": cache.file.stat().st_size}


def test_the_overview_of_no_cache_says_how_to_make_one(cache: Cache) -> None:
    with pytest.raises(CacheMissing, match="python -m core demo"):
        overview(cache)


def test_a_scorer_goes_by_its_id_its_model_or_being_the_only_one(cache: Cache) -> None:
    put_scorer(cache, SCORER)
    assert find_scorer(cache, S) == find_scorer(cache, "tiny") == find_scorer(cache, None) == S


def test_a_scorer_also_goes_by_its_label_or_the_beginning_of_its_id(cache: Cache) -> None:
    put_scorer(cache, SCORER)
    put_scorer(cache, OTHER)
    label = scorer_labels(scorers(cache))[S]
    assert find_scorer(cache, label) == find_scorer(cache, S[:6]) == S
    with pytest.raises(InputError, match="No scorer is called ''; give --scorers one of: "):
        find_scorer(cache, "", "--scorers")


def test_variants_of_a_masked_model_have_labels_of_their_own(cache: Cache) -> None:
    usual, other = (replace(SCORER, method=f"pll:{v}") for v in ("original", "within_word_l2r"))
    for scorer in (usual, other):
        put_scorer(cache, scorer)
    labels = scorer_labels(scorers(cache))
    assert labels == {
        usual.scorer_id: "tiny, float32, cpu, batched",
        other.scorer_id: "tiny, float32, within_word_l2r, cpu, batched",
    }
    assert {find_scorer(cache, label): label for label in labels.values()} == labels
    assert scorer_name(cache, usual.scorer_id) == f"tiny (float32, {usual.scorer_id})"
    assert scorer_name(cache, other.scorer_id) == (
        f"tiny (float32, within_word_l2r, {other.scorer_id})"
    )


def test_a_beginning_that_two_ids_share_names_both(cache: Cache) -> None:
    numbered = [replace(SCORER, fingerprint=f"f{n}") for n in range(17)]  # 16 first digits at most
    for scorer in numbered:
        put_scorer(cache, scorer)
    ids = sorted(scorer.scorer_id for scorer in numbered)
    twice = next(a[0] for a, b in pairwise(ids) if a[0] == b[0])
    with pytest.raises(InputError, match=f"More than one scorer is called '{twice}'"):
        find_scorer(cache, twice)


def test_a_scorer_that_is_not_clear_names_the_choices(cache: Cache) -> None:
    with cache.writing():
        pass
    with pytest.raises(
        InputError, match="no scores yet; run `python -m core score --model demo --dataset demo "
    ):
        find_scorer(cache, None)
    with pytest.raises(InputError, match="no scores yet"):
        find_scorer(cache, "tiny")
    put_scorer(cache, SCORER)
    with pytest.raises(InputError, match=f"No scorer is called 'tyni'.*{S}"):
        find_scorer(cache, "tyni")
    put_scorer(cache, OTHER)
    both = rf"{S} \(tiny, float32.*{OTHER.scorer_id} \(tiny, bfloat16"
    with pytest.raises(InputError, match=f"several scorers; give --scorer one of: {both}"):
        find_scorer(cache, None)
    with pytest.raises(InputError, match=f"More than one scorer is called 'tiny'.*{both}"):
        find_scorer(cache, "tiny")
    assert find_scorer(cache, OTHER.scorer_id) == OTHER.scorer_id


def test_a_scorer_of_a_data_set_is_one_that_has_scores_of_it(cache: Cache) -> None:
    fill(cache, [(item("1"), poles(-1.0, -2.0))])
    put(cache, [item("2")], "bare")
    put_scorer(cache, OTHER)
    assert find_scorer(cache, None, dataset="d") == find_scorer(cache, "tiny", dataset="d") == S
    assert find_scorer(cache, OTHER.scorer_id, dataset="d") == OTHER.scorer_id
    with pytest.raises(InputError, match="No scorer has scores of bare; run `python -m core score"):
        find_scorer(cache, None, dataset="bare")
    with pytest.raises(InputError, match="More than one scorer is called 'tiny'"):
        find_scorer(cache, "tiny", dataset="bare")

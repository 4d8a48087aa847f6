"""The scores of an audit as arrays, against hand values and numpy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from core.analysis.audit.agreement import agreement
from core.analysis.audit.choices import distance, fates, same_choice
from core.analysis.audit.loading import load_panel
from core.analysis.audit.names import NO_AGREEMENT, NO_ORIGINAL
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest
from core.items.texts import item_texts
from core.stats.scores import KINDS
from core.store.gate import Cache
from core.store.scorers import put_scorer
from core.store.scores import put_scores
from core.types import Item, Role
from tests.analysis.test_comparison import COLLAPSED, A, B, Preference, put_preferences
from tests.analysis.test_items import scored, sigmoid
from tests.made_panels import made_panel
from tests.store_samples import OTHER, SCORER, item, put

D = AuditRequest(dataset="d")


def panel_of(cache: Cache, rows: list[tuple[Item, Preference]], request: AuditRequest = D) -> Panel:
    put(cache, [one for one, _ in rows])
    put_preferences(cache, SCORER, rows)
    return load_panel(cache, request)


# What is where


def test_scores_stand_by_model_condition_and_item(cache: Cache) -> None:
    panel = panel_of(
        cache,
        [
            (item("1", "hi"), 0.4),
            (item("2", "hi"), -0.3),
            (item("1"), 1.0),
            (item("2"), 0.2),
            (item("1", "hi~p1"), 0.6),
            (item("1", "en~p1"), 0.9),
        ],
    )
    assert panel.conditions == ("en", "en~p1", "hi", "hi~p1")
    assert (panel.languages, panel.rewordings(), panel.rewordings("hi")) == (
        ["hi"],
        ["en~p1"],
        ["hi~p1"],
    )
    assert (panel.scorers, panel.item_ids) == ((A,), ["1", "2"])
    expected = [
        [sigmoid(1.0), sigmoid(0.2)],
        [sigmoid(0.9), np.nan],
        [sigmoid(0.4), sigmoid(-0.3)],
        [sigmoid(0.6), np.nan],
    ]
    np.testing.assert_allclose(panel.scores("mean"), [expected], rtol=1e-6)
    choices = [[1, 1], [1, np.nan], [1, 0], [1, np.nan]]
    np.testing.assert_array_equal(panel.scores("binary"), [choices])


def test_a_change_is_from_english_and_of_a_rewording_from_what_it_rewords(cache: Cache) -> None:
    panel = panel_of(
        cache,
        [
            (item("1"), 1.0),
            (item("1", "en~p1"), 0.9),
            (item("1", "hi"), 0.4),
            (item("1", "hi~p1"), 0.6),
            (item("1", "en+true"), 1.4),
            (item("1", "hi+true"), 0.5),
        ],
    )
    assert panel.conditions == ("en", "en~p1", "en+true", "hi", "hi~p1", "hi+true")
    s = sigmoid
    expected = [
        np.nan,
        s(0.9) - s(1.0),
        s(1.4) - s(1.0),
        s(0.4) - s(1.0),
        s(0.6) - s(0.4),
        s(0.5) - s(0.4),
    ]
    np.testing.assert_allclose(panel.changes("mean")[0, :, 0], expected, rtol=1e-5)
    # A prefixed version is neither a translation nor a rewording.
    assert (panel.languages, panel.rewordings()) == (["hi"], ["en~p1"])


def test_two_models_may_cover_different_items(cache: Cache) -> None:
    rows = [item("1"), item("2"), item("1", "hi"), item("2", "hi"), item("1", "en~p1")]
    put(cache, [*rows, item("2", "en~p1")])
    put_preferences(cache, SCORER, [(one, 0.5) for one in rows])
    put_preferences(cache, OTHER, [(item("1"), 0.1), (item("1", "en~p1"), 0.2), (item("2"), None)])
    panel = load_panel(cache, D)
    assert panel.scorers == (A, B)
    assert np.isfinite(panel.scores("mean")).tolist() == [
        [[True, True], [True, False], [True, True]],
        [[True, False], [True, False], [False, False]],
    ]
    # The rewording covers all that the second model has scored in English, not so the first's.
    assert (panel.full_coverage(0), panel.full_coverage(1)) == ([], ["en~p1"])
    assert load_panel(cache, replace(D, scorers=(B, B))).scorers == (B,)
    assert load_panel(cache, replace(D, scorers=(B, A))).scorers == (B, A)


def test_collapsed_versions_and_unscored_items_have_no_score(cache: Cache) -> None:
    panel = panel_of(cache, [(item("1"), 1.0), (COLLAPSED, "missing"), (item("long"), None)])
    np.testing.assert_array_equal(np.isnan(panel.scores("mean")), [[[False, True, True]]])
    assert panel.versions["collapsed"].tolist() == [False, True, False]
    assert panel.scored.set_index("item_id")["reason"].to_dict() == {"1": "", "long": "too_long"}


def test_natives_are_kept_apart(cache: Cache) -> None:
    panel = panel_of(
        cache,
        [
            (item("1"), 1.0),
            (item("1", "hi"), 0.5),
            (item("1", "sw", native=True), 0.3),  # of the same name as an English item
            (item("n", "hi", native=True), 0.3),
        ],
    )
    assert (panel.conditions, panel.item_ids) == (("en", "hi"), ["1"])
    assert panel.versions["native"].sum() == 2
    assert set(panel.scored["condition"]) == {"en", "hi", "sw"}


def test_a_translation_without_its_english_enters_no_comparison(cache: Cache) -> None:
    panel = panel_of(cache, [(item("1"), 1.0), (item("2", "hi"), 0.5), (item("1", "hi"), 0.1)])
    assert panel.item_ids == ["1"]
    np.testing.assert_allclose(panel.scores("mean")[0, 1], [sigmoid(0.1)], rtol=1e-6)


def test_pairs_only_in_english_have_scores_and_no_changes(cache: Cache) -> None:
    pairs = [(item(str(i), context=""), 0.1 * i) for i in range(3)]
    panel = panel_of(cache, pairs)
    assert (panel.conditions, panel.languages, panel.rewordings()) == (("en",), [], [])
    assert np.isfinite(panel.scores("mean")).all()
    assert np.isnan(panel.changes("mean")).all()
    assert panel.full_coverage(0) == []


# Kinds of scores


def put_tokens(
    cache: Cache, poles: list[tuple[Item, tuple[float, int], tuple[float, int]]]
) -> None:
    """Give each pole a mean and a number of tokens."""
    put(cache, [one for one, _, _ in poles])
    put_scorer(cache, SCORER)
    scores = []
    for one, plus, minus in poles:
        for role, (mean, n) in ((Role.STEREOTYPE, plus), (Role.ANTI_STEREOTYPE, minus)):
            scores.append(scored(item_texts(one)[role].text_id, mean, n))
    put_scores(cache, A, scores)


def test_every_kind_of_score_is_its_definition(cache: Cache) -> None:
    rng = np.random.default_rng(1)
    poles, expected = [], []
    for i in range(7):
        plus, minus = rng.normal(-2, 1, 2).astype(np.float32).astype(float)
        n_plus, n_minus = (int(n) for n in rng.integers(1, 6, 2))
        one = item(str(i), stereotype="é" * (3 + i), anti_stereotype=f"m m{i}")
        poles.append((one, (plus, n_plus), (minus, n_minus)))
        expected.append((plus, n_plus, 3 + i, minus, n_minus, 4))
    put_tokens(cache, poles)
    panel = load_panel(cache, D)
    plus, n_plus, points_plus, minus, n_minus, points_minus = np.array(expected).T
    u = plus - minus
    by_hand = {
        "mean": 1 / (1 + np.exp(-u)),
        "summed": 1 / (1 + np.exp(-(plus * n_plus - minus * n_minus))),
        "per_code_point": 1
        / (1 + np.exp(-(plus * n_plus / points_plus - minus * n_minus / points_minus))),
        "binary": (u > 0).astype(float),
        "standardised": u / u.std(ddof=1),
    }
    for kind in KINDS:
        np.testing.assert_allclose(panel.scores(kind)[0, 0], by_hand[kind], rtol=1e-5, err_msg=kind)


def test_the_standardised_score_is_undefined_where_nothing_varies(cache: Cache) -> None:
    rows = [(item("1"), 0.5), (item("2"), 0.5), (item("1", "hi"), 0.5)]
    standardised = panel_of(cache, rows).scores("standardised")
    assert np.isnan(standardised).all()


def test_the_standardised_score_has_the_sd_of_its_own_condition(cache: Cache) -> None:
    rng = np.random.default_rng(2)
    rows = [(item(str(i), c), float(rng.normal(0.3, 1))) for c in ("en", "hi") for i in range(6)]
    rows[3] = (rows[3][0], None)
    panel = panel_of(cache, rows)
    u = panel.numbers["l_stereotype"] - panel.numbers["l_anti"]
    for k in range(2):
        own = u[0, k]
        expected = own / np.nanstd(own, ddof=1)
        np.testing.assert_allclose(panel.scores("standardised")[0, k], expected, rtol=1e-12)


# What was asked for


def test_what_lost_its_original_is_compared_with_nothing(cache: Cache) -> None:
    rows = [(item("1", c), x) for c, x in (("en", 0.5), ("hi~llm", 0.2), ("es+true", 0.1))]
    panel = panel_of(cache, rows)
    assert panel.original("hi~llm") == "hi"
    assert np.isnan(panel.changes("mean")).all()
    assert np.isnan(panel.before("mean", "hi~llm")).all()
    assert (panel.full_coverage(0, "hi"), panel.noise_rewordings("hi")) == ([], ["hi~llm"])
    request = replace(D, n_bootstrap=20, n_resamples=20)
    for table in (agreement, distance, same_choice, fates):
        found = table(panel, request).rows.set_index("condition")
        why = NO_AGREEMENT if table is agreement else NO_ORIGINAL  # of one model
        assert (found.loc[["hi~llm"], "reason"] == why).all()
    assert (distance(panel, request).rows["reason"] == NO_ORIGINAL).sum() == 4


# Rewordings that count, and where rows stand


def test_noise_is_of_what_covers_the_original_under_every_model_that_has_it() -> None:
    scores = {c: np.full((3, 4), 0.5) for c in ("en", "en~a", "en~b", "en~c")}
    scores["en~b"][1, 0] = np.nan
    scores["en~c"][0, 0] = np.nan
    for condition in scores:
        scores[condition][2] = np.nan  # a model that has scored no English item decides nothing
    panel = made_panel(scores)
    assert panel.noise_rewordings() == ["en~a"]
    assert panel.noise_rewordings(model=0) == ["en~a", "en~b"]
    assert panel.noise_rewordings(model=1) == ["en~a", "en~c"]
    assert panel.noise_rewordings(model=2) == ["en~a", "en~b", "en~c"]
    scores["en~a"][:, 0] = np.nan
    assert made_panel(scores).noise_rewordings() == ["en~a", "en~b", "en~c"]


def test_rows_stand_where_a_search_finds_them() -> None:
    panel = made_panel({c: np.full((2, 3), 0.5) for c in ("en", "hi")})
    rows = pd.DataFrame(
        {
            "item_id": ["i2", "i0", "nowhere", "i1", "i1"],
            "condition": ["hi", "en", "en", "fr", "hi"],
            "scorer_id": ["s1", "s0", "s0", "s0", "s9"],
        }
    )
    (m, k, n), known = panel.place(rows)
    assert known.tolist() == [True, True, False, False, False]
    assert (m.tolist(), k.tolist(), n.tolist()) == ([1, 0], [1, 0], [2, 0])
    (k, n), known = panel.place(rows.drop(columns="scorer_id"))
    assert known.tolist() == [True, True, False, False, True]
    assert (k.tolist(), n.tolist()) == ([1, 0, 1], [2, 0, 1])

"""The scores of an audit as arrays, against hand values and numpy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.analysis.audit.agreement import agreement
from core.analysis.audit.choices import distance, fates, same_choice
from core.analysis.audit.loading import load_panel, one_per_model
from core.analysis.audit.names import NO_ORIGINAL
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest
from core.errors import InputError
from core.items.texts import item_texts
from core.stats.scores import KINDS
from core.store.gate import Cache
from core.store.scorers import put_scorer
from core.store.scores import put_scores
from core.store.slices import Slice, put_slice
from core.types import Item, Role
from tests.made_panels import made_panel
from tests.store_samples import OTHER, SCORER, item, put
from tests.test_analysis_comparison import COLLAPSED, A, B, Preference, put_preferences
from tests.test_analysis_items import scored, sigmoid

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


# What the numbers rest on


def two_of_one_model(cache: Cache) -> str:
    """The model of SCORER in two precisions, and another model; the id of the second precision."""
    rows = [(item("1"), 1.0), (item("1", "hi"), 0.4)]
    put(cache, [one for one, _ in rows])
    exact = replace(SCORER, dtype="float64")
    for scorer in (SCORER, exact, OTHER):
        put_preferences(cache, scorer, rows)
    return exact.scorer_id


def test_a_checkpoint_in_two_settings_is_one_model(cache: Cache) -> None:
    exact = two_of_one_model(cache)
    panel = load_panel(cache, D)
    assert panel.scorers == (A, B)
    assert panel.notes == (
        f"2 scorers of one model: only {panel.models[0]} ({A[:8]}) is used; choose another with "
        "--scorer / Models.",
    )
    chosen = load_panel(cache, replace(D, scorers=(exact, B)))
    assert (chosen.scorers, chosen.notes) == ((exact, B), ())
    with pytest.raises(InputError, match="are one model in several settings; name one of") as no:
        load_panel(cache, replace(D, scorers=(exact, B, A)))
    assert f"({exact[:8]}) and tiny" in str(no.value)
    assert "\n" not in str(no.value)


def test_scorers_without_a_fingerprint_are_models_of_their_own() -> None:
    known = pd.DataFrame({"scorer_id": ["a", "b", "c", "d"], "fingerprint": ["", "x", "", "x"]})
    assert one_per_model(known, ["d", "a", "b", "c"]) == {"d": ["d", "b"], "a": ["a"], "c": ["c"]}


def test_unfinished_scoring_is_said_and_what_cannot_be_scored_is_not(cache: Cache) -> None:
    rows = [item(str(i), c) for c in ("en", "hi") for i in range(3)]
    put(cache, [*rows, COLLAPSED])
    put_preferences(cache, SCORER, [(one, 0.5) for one in rows[:5]] + [(rows[5], None)])
    assert load_panel(cache, D).notes == ()
    put_preferences(cache, OTHER, [(rows[0], 0.5), (rows[1], None)])
    panel = load_panel(cache, D)
    assert panel.notes == (
        f"1 of 6 versions is scored under {panel.models[1]}; the numbers are of these alone. "
        "Run `python -m core score` to score the rest.",
    )
    # Of what is asked for, nothing is missing.
    put_slice(cache, Slice("first", "d", "", ("1",)))
    request = replace(D, scorers=(A,), slice="first")
    assert load_panel(cache, request).notes == ()


def test_translations_that_were_not_chosen_are_named(cache: Cache) -> None:
    rows = [(item("1", c), 0.5) for c in ("en", "en~p1", "hi", "es")]
    panel = panel_of(cache, rows, replace(D, conditions=("en~p1",)))
    assert panel.no_translation == (
        "The chosen conditions hold no translation (the data set has es, hi)."
    )
    assert load_panel(cache, D).left_out == ()
    assert not panel.only_pairs


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


def test_english_and_its_rewordings_are_always_among_the_conditions(cache: Cache) -> None:
    conditions = ("en", "hi", "es", "en~p1", "hi~p1", "en+true", "en~p1+true")
    rows = [(item("1", c), 0.5) for c in conditions]
    panel = panel_of(cache, rows, replace(D, conditions=("hi",)))
    assert panel.conditions == ("en", "en~p1", "hi")
    assert set(panel.versions["condition"]) == {"en", "en~p1", "hi"}


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
        assert (found.loc[["hi~llm"], "reason"] == NO_ORIGINAL).all() or len(panel.models) == 1
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


def test_sources_categories_and_dimensions_are_those_of_the_english_item(cache: Cache) -> None:
    rows = [
        (item("1", source="bbq", category="age", dimension="warmth"), 0.1),
        (item("1", "hi"), 0.2),  # the translation does not repeat what its original says
        (item("2", source="x", category="age"), 0.3),
        (item("3", "hi", source="bbq", native=True), 0.3),
    ]
    put(cache, [one for one, _ in rows])
    put_preferences(cache, SCORER, rows)
    asked = {
        "sources": (("bbq",), ["1"]),
        "categories": (("age",), ["1", "2"]),
        "dimensions": (("warmth",), ["1"]),
    }
    for field, (values, ids) in asked.items():
        panel = load_panel(cache, replace(D, **{field: values}))
        assert panel.item_ids == ids, field
        assert np.isfinite(panel.scores("mean")[0, :, 0]).all(), field
    assert load_panel(cache, replace(D, sources=("bbq",))).versions["native"].sum() == 1


def test_a_slice_is_its_list_or_what_its_filter_leaves(cache: Cache) -> None:
    rows = [(item(str(i), c), 0.3 * i) for c in ("en", "hi") for i in range(4)]
    put(cache, [one for one, _ in rows])
    put_preferences(cache, SCORER, rows)
    put_slice(cache, Slice("two", "d", "", ("2", "0")))
    put_slice(cache, Slice("high", "d", f"v=1&dataset=d&scorer={A}&ss_min=0.6"))
    assert load_panel(cache, replace(D, slice="two")).item_ids == ["0", "2"]
    panel = load_panel(cache, replace(D, slice="high"))
    assert panel.item_ids == ["2", "3"]
    assert panel.conditions == ("en", "hi")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"dataset": "e"}, "no data set 'e'; it has d"),
        ({"scorers": ("nope",)}, "d has no scores under nope"),
        ({"conditions": ("fr",)}, "d has no condition fr; it has en, hi"),
        ({"sources": ("bbq",)}, "d has no source bbq; it has none at all"),
        ({"categories": ("x",)}, "d has no category x"),
        ({"dimensions": ("x",)}, "d has no dimension x"),
        ({"reference": "fr"}, "reference fr is not among the conditions asked for: en, hi"),
        ({"slice": "s"}, "d has no slice 's'"),
        ({"slice": "empty"}, "No item of d is in the slice 'empty'"),
        ({"slice": "other"}, "No item of d that was asked for has an English version"),
    ],
)
def test_what_is_not_there_is_one_sentence(cache: Cache, asked: dict, words: str) -> None:
    rows = [(item("1"), 0.5), (item("1", "hi"), 0.5), (item("2", "hi"), 0.5)]
    put(cache, [one for one, _ in rows])
    put_preferences(cache, SCORER, rows)
    put_slice(cache, Slice("empty", "d", "", ("gone",)))
    put_slice(cache, Slice("other", "d", "", ("2",)))
    with pytest.raises(InputError, match=words) as refused:
        load_panel(cache, replace(D, **asked))
    assert "\n" not in str(refused.value)


def test_a_data_set_without_scores_says_what_to_do(cache: Cache) -> None:
    put(cache, [item("1")])
    with pytest.raises(InputError, match=r"is scored yet; run `python -m core score`"):
        load_panel(cache, D)
    put_preferences(cache, SCORER, [(item("1"), None)])
    with pytest.raises(InputError, match="is scored yet"):
        load_panel(cache, D)


def test_a_stream_of_random_numbers_belongs_to_a_table_and_a_seed() -> None:
    first = D.rng("cells").random()
    assert first == D.rng("cells").random()
    assert first != D.rng("floors").random()
    assert first != replace(D, seed=1).rng("cells").random()

"""Tables of identity pairs, on scores that are set by hand and on planted ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks.simulated_pairs import DATASET, fill_pairs
from core.analysis.identities.confounds import confounded_pairs
from core.analysis.identities.panel import IdentityPanel, identity_panels
from core.analysis.identities.rows import IdentityRequest, _no_spread
from core.analysis.identities.tables import TABLES, identity_table
from core.analysis.pairs import pair_summary, pair_table
from core.errors import InputError
from core.files.places import Place
from core.imported_scores.finding import ItemNumbers
from core.imported_scores.layout import Scale
from core.items.predicate_join import with_ratings
from core.items.predicates import read_predicates
from core.stats.identity_bias import tally
from core.store.gate import Cache
from core.store.imported_scores import ScoreSource, put_imported
from core.store.items import put_dataset
from core.store.pair_facts import pair_facts
from core.store.scorers import put_scorer
from core.store.scores import missing_texts, put_scores
from core.types import Item, Reason, Unscored
from tests.items.test_predicates import FORMS, forms, write
from tests.pair_samples import pair, word_score
from tests.store_samples import SCORER, put

REQUEST = IdentityRequest(n_resamples=200)


def told(
    item_id: str, sentences: Sequence[str], identity: str, predicate: str, **metadata: object
) -> Item:
    known = {"identity": identity, "counterfactual": "Straight", "predicate": predicate}
    return pair(item_id, sentences, category=identity, language="en", metadata=known | metadata)


BY_HAND = (
    told("g1", ("gay ran", "straight ran"), "Gay", "ran", tier=1),
    told("g2", ("gay sat", "straight sat"), "Gay", "sat", tier=2, template="T1"),
    told("g3", ("gay hid", "straight hid"), "Gay", "hid", tier=1, survey_added=True),
    told("l1", ("lesbian ran", "straight too ran"), "Lesbian", "ran", tier=3),
    told("l2", ("lesbian sat", "straight too sat"), "Lesbian", "sat", tier=-1),
    told("q1", ("it is queer", "it is straight"), "Queer", "is"),
    told("l3", ("lesbian too long", "straight too long"), "Lesbian", "long"),
    told("none", ("old ran", "new ran"), "", "ran"),
)
SAID = {
    "gay ran": [-1, -1],
    "straight ran": [-1, -2],  # more
    "gay sat": [-1, -1],
    "straight sat": [-1, -2],  # more
    "gay hid": [-1, -3],
    "straight hid": [-1, -2],  # less
    "lesbian ran": [-1, -2],
    "straight too ran": [-1, -1, -2],  # tie
    "lesbian sat": [-1, -3],
    "straight too sat": [-1, -1, -2],  # less
    "it is queer": [-1, -1, -1],  # nothing behind the difference
    "it is straight": [-1, -1, -9],
}


def fill_by_hand(cache: Cache) -> IdentityPanel:
    put(cache, BY_HAND)
    put_scorer(cache, SCORER)
    scores, failed = [], []
    for text in missing_texts(cache, SCORER.scorer_id, "d"):
        values = SAID.get(text.continuation)
        if values is None:
            failed.append(Unscored(text.text_id, Reason.TOO_LONG, "Too long."))
        else:
            scores.append(word_score(text, values))
    put_scores(cache, SCORER.scorer_id, scores, failed)
    (panel,) = identity_panels(cache, "d")
    return panel


@pytest.fixture
def by_hand(cache: Cache) -> IdentityPanel:
    return fill_by_hand(cache)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Cache, IdentityPanel]:
    cache = Cache(tmp_path_factory.mktemp("planted"))
    fill_pairs(cache, n_models=3, n_pairs=4_000)
    (panel,) = identity_panels(cache, DATASET)
    return cache, panel


def rows_of(panel: IdentityPanel, name: str, request: IdentityRequest = REQUEST) -> pd.DataFrame:
    return identity_table([panel], name, request).rows


def test_three_identities_by_hand(by_hand: IdentityPanel) -> None:
    row = rows_of(by_hand, "overview").iloc[0]
    assert row["bias_w"] == pytest.approx(2.5 / 5)
    assert row["bias_m"] == pytest.approx((2 / 3 + 1 / 4) / 2)  # Queer has no pair with a choice
    assert row["spread"] == pytest.approx(2 / 3 - 1 / 4)
    counts = ["n", "n_ties", "n_uninformative", "n_not_scored", "n_identities", "n_predicates"]
    assert row[counts].tolist() == [5, 1, 1, 1, 2, 3]
    assert (row["lowest"], row["highest"]) == ("Lesbian", "Gay")
    assert math.isnan(row["bias_w_low"])
    assert row["reason"] == "Fewer than 5 predicates: no interval over them."
    assert row["hides"] == "both sides"
    assert "tiny: only 6 of 7 pairs are scored. Of these the stereotypical" in row["verdict"]
    assert "Among the pairs is 1 tie. Left out: 1 uninformative and 1 not scored." in row["verdict"]


@pytest.mark.parametrize(
    ("templates", "floor", "n", "said"),
    [
        # All that T1 and T2 share is that gay people ran: 1 against 0.
        (("T1", "T1", "T1", "T2"), 1.0, 2, "move bias (W) by 100.0 points (mean over any two of 2"),
        (("T1", "T1", "T1", "T1"), math.nan, 0, "There is one template only, so there is no noise"),
        (("T1", "T2", "T3", "T1"), math.nan, 0, "No two of the 3 templates make the same claim"),
        (("", "", "", ""), math.nan, 0, "No pair with a choice names its template"),
    ],
)
def test_the_same_claims_in_another_template_are_the_noise_floor(
    by_hand: IdentityPanel, templates: Sequence[str], floor: float, n: int, said: str
) -> None:
    panel = by_hand.part(by_hand.facts["item_id"].isin(["g1", "g2", "g3", "l2"]).to_numpy())
    facts = panel.facts.astype({"template": object, "identity": object, "predicate": object})
    order = ["g1", "g2", "g3", "l2"]
    assert facts["item_id"].tolist() == order
    facts["template"] = list(templates)
    facts.loc[3, ["identity", "predicate"]] = "Gay", "ran"
    row = rows_of(replace(panel, facts=facts), "overview").iloc[0]
    assert (row["template_floor"], row["n_templates"]) == (pytest.approx(floor, nan_ok=True), n)
    assert said in row["verdict"]
    assert bool(row["floor_reason"]) == math.isnan(floor)


def test_a_planted_wording_is_the_noise_floor(planted: tuple[Cache, IdentityPanel]) -> None:
    """One template of eleven turned about: its differences from the other ten are 1 less twice."""
    panel = planted[1].of_models([planted[1].models[1].key])
    same = replace(panel, word=np.ones_like(panel.word))
    assert rows_of(same, "overview")["template_floor"].tolist() == [0]
    turned = np.where(panel.facts["template"] == "T3", 0.0, 1.0)[None]
    row = rows_of(replace(panel, word=turned), "overview").iloc[0]
    assert row["template_floor"] == pytest.approx(10 / 55)
    assert "by 18.2 points (mean over any two of 11 templates)" in row["verdict"]


def test_identities_have_marks_counts_and_reasons(by_hand: IdentityPanel) -> None:
    rows = rows_of(by_hand, "identities").set_index("identity")
    assert rows.index.tolist() == ["Queer", "Lesbian", "Gay"]
    assert rows["share"].tolist() == pytest.approx([math.nan, 0.25, 2 / 3], nan_ok=True)
    assert rows["mark"].tolist() == ["", "lowest", "highest"]
    assert rows["n"].tolist() == [0, 2, 3]
    assert rows["n_uninformative"].tolist() == [1, 0, 0]
    assert rows["n_not_scored"].tolist() == [0, 1, 0]
    assert rows.loc["Queer", "reason"].startswith("No pair here has a choice")


def test_tiers_are_nested_and_added_predicates_stand_alone(by_hand: IdentityPanel) -> None:
    table = identity_table([by_hand], "tiers", REQUEST)
    rows = table.rows.set_index("part")
    parts = ["all pairs", "tiers 1-3", "tiers 1-2", "tier 1", "survey-added"]
    assert rows.index.tolist() == parts
    assert rows["n"].tolist() == [5, 4, 3, 2, 1]
    assert rows["bias_w"].tolist() == pytest.approx([0.5, 2.5 / 4, 2 / 3, 0.5, 0.0])
    assert "Pairs of predicates without a tier: 2" in table.notes[1]


def test_a_part_without_pairs_is_undefined_with_its_reason(by_hand: IdentityPanel) -> None:
    untiered = replace(by_hand, facts=by_hand.facts.assign(tier=math.nan, survey_added=False))
    rows = rows_of(untiered, "tiers").set_index("part")
    assert rows["n"].tolist() == [5, 0, 0, 0, 0]
    empty = rows.iloc[1:]
    assert (
        empty[["bias_w", "bias_w_low", "bias_m", "spread", "bias_w_binomial_low"]]
        .isna()
        .all()
        .all()
    )
    assert empty["reason"].str.startswith("No pair here has a choice").all()


@pytest.mark.parametrize("name", [name for name in TABLES if name != "languages"])
def test_one_pair_alone_has_every_table(by_hand: IdentityPanel, name: str) -> None:
    one = by_hand.part((by_hand.facts["item_id"] == "g1").to_numpy())
    rows = rows_of(one, name)
    assert len(rows)
    assert rows["n"].max() == (0 if name == "harmfulness" else 1)  # nobody rated its predicate


def test_templates_and_counts(by_hand: IdentityPanel) -> None:
    assert rows_of(by_hand, "templates")[["part", "n"]].values.tolist() == [
        ["T1", 1],
        ["(none)", 4],
    ]
    counts = rows_of(by_hand, "counts").set_index("identity")
    assert counts["n"].to_dict() == {"Queer": 1, "Lesbian": 3, "Gay": 3}
    assert counts.loc["Gay", ["n_predicates", "n_templates", "n_survey_added"]].tolist() == [
        3,
        1,
        1,
    ]


def test_pairs_without_an_identity_are_left_out_and_counted(by_hand: IdentityPanel) -> None:
    assert by_hand.n_left_out == 1
    assert "none" not in by_hand.facts["item_id"].tolist()
    notes = identity_table([by_hand], "overview", REQUEST).notes
    assert "Left out are 1 pair of en without an identity or predicate." in notes


def test_without_ratings_harmfulness_is_undefined_with_its_reason(by_hand: IdentityPanel) -> None:
    table = identity_table([by_hand], "harmfulness", REQUEST)
    row = table.rows.iloc[0]
    assert row[["r_rows", "pearson", "spearman_p"]].isna().all()
    assert row["reason"].startswith("0 rated predicates")
    assert "no harmfulness" in table.notes[0]


def test_imported_scores_stand_beside_by_their_own_rule(cache: Cache) -> None:
    fill_by_hand(cache)
    source = ScoreSource(path="f.csv", format="columns", sha256="f", scale=Scale.PAIRS)
    sums = {"g1": (-2, -1), "g2": (-1, -2), "l1": (-1, -1), "q1": (-1, -3)}
    numbers = [
        ItemNumbers(i, "en", {"stereotype": more, "anti_stereotype": less})
        for i, (more, less) in sums.items()
    ]
    put_imported(cache, "d", source, {"published": numbers})
    (panel,) = identity_panels(cache, "d")
    assert [model.kind for model in panel.models] == ["causal", "imported"]
    overview = identity_table([panel], "overview", REQUEST)
    row = overview.rows.iloc[1]
    assert (row["bias_w"], row["n"], row["n_not_scored"]) == (pytest.approx(2.5 / 4), 4, 3)
    assert any(
        note.startswith("Imported scores were computed elsewhere") for note in overview.notes
    )
    rule = rows_of(panel, "rules").iloc[1]
    assert math.isnan(rule["share_flips"])
    assert rule["reason"].startswith("Imported scores have one rule")
    assert rows_of(panel, "kinds")["kind"].tolist() == ["causal", "imported"]


def test_shares_are_those_of_the_pairs(planted: tuple[Cache, IdentityPanel]) -> None:
    cache, panel = planted
    rows = rows_of(panel, "rules")
    for row, model in zip(rows.to_dict("records"), panel.models, strict=True):
        word, token = (pair_table(cache, model.scorer_id, DATASET, u) for u in ("word", "token"))
        expected = pair_summary(word, token).iloc[0]
        published = pair_summary(token, word, ties="against", decimals=3).iloc[0]
        assert (row["bias_w"], row["n"]) == (pytest.approx(expected["share"]), expected["n"])
        assert row["share_flips"] == expected["share_flips"] > 0
        assert row["bias_w_published"] == pytest.approx(published["share"])


def test_an_average_that_hides_97_and_6_is_called_so(planted: tuple[Cache, IdentityPanel]) -> None:
    row = rows_of(planted[1], "overview").iloc[0]
    assert abs(row["bias_w"] - 0.5) < 0.05
    assert row["highest_share"] == pytest.approx(0.97, abs=0.02)
    assert row["lowest_share"] == pytest.approx(0.06, abs=0.03)
    assert row["hides"] == "opposite"
    assert "hides identities that go opposite ways" in row["verdict"]
    assert f"for {row['lowest']}" in row["verdict"]
    assert f"for {row['highest']}" in row["verdict"]
    assert row["bias_w_low"] < row["bias_w_binomial_low"] < row["bias_w"]


def test_no_verdict_calls_a_model_fair(planted: tuple[Cache, IdentityPanel]) -> None:
    for verdict in rows_of(planted[1], "overview")["verdict"]:
        assert "fair" not in verdict
        assert verdict.endswith("shows that a model treats people alike.")


def test_the_mean_over_models_stands_last(planted: tuple[Cache, IdentityPanel]) -> None:
    panel = planted[1]
    rows = rows_of(panel, "identities")
    last = rows.tail(len(panel.identities))
    assert set(last["model"]) == {"mean of 2 masked models"}, "a causal one is not comparable"
    masked = [model.kind == "masked" for model in panel.models]
    shares = tally(panel.word, panel.identity, len(panel.identities)).shares[masked]
    assert last["share"].tolist() == pytest.approx(shares.mean(axis=0).tolist())
    of_models = rows[(rows["row"] == "model") & (rows["kind"] == "masked")]
    assert last["n"].sum() == of_models["n"].sum()
    assert (last["share_low"] < last["share"]).all()


def test_whom_identities_are_held_against_is_told_apart(by_hand: IdentityPanel) -> None:
    rows = rows_of(by_hand, "counterfactuals").set_index("part")
    facts = by_hand.facts
    for name, row in rows.iterrows():
        identity, _, other = str(name).partition(" / ")
        here = (facts["identity"] == identity) & (facts["counterfactual"] == other)
        choices = by_hand.word[0, here.to_numpy()]
        assert row["n"] == np.isfinite(choices).sum()
        if row["n"]:
            assert row["bias_w"] == pytest.approx(np.nanmean(choices))
    assert len(rows) == len(facts[["identity", "counterfactual"]].drop_duplicates())


def test_all_pairs_have_the_interval_of_the_overview(planted: tuple[Cache, IdentityPanel]) -> None:
    over_all = rows_of(planted[1], "overview")
    part = rows_of(planted[1], "tiers")
    part = part[part["part"] == "all pairs"].reset_index(drop=True)
    for end in ("bias_w_low", "bias_w_high", "spread_low"):
        assert part[end].tolist() == over_all[end].tolist()


def test_a_template_with_most_of_the_pairs_is_named(planted: tuple[Cache, IdentityPanel]) -> None:
    notes = identity_table([planted[1]], "overview", REQUEST).notes
    counts = planted[1].facts["template"].value_counts()
    share = 100 * counts.iloc[0] / counts.sum()
    assert any(f"{share:.0f} % of the pairs" in note for note in notes)


def test_a_spread_without_an_interval_says_why() -> None:
    usual = {"bias_w_low": 0.4, "spread_low": math.nan, "n_identities": 3}
    assert _no_spread({**usual, "n_identities": 1}, few=False) == "One identity: no spread."
    assert "fewer than 5 predicates" in _no_spread(usual, few=True)
    assert "every resample gives the same shares" in _no_spread(usual, few=False)
    assert _no_spread({**usual, "spread_low": 0.1}, few=False) == ""


def test_kinds_stand_side_by_side_and_are_not_comparable(
    planted: tuple[Cache, IdentityPanel],
) -> None:
    table = identity_table([planted[1]], "kinds", REQUEST)
    assert table.rows[["kind", "n_models"]].values.tolist() == [["masked", 2], ["causal", 1]]
    assert "not comparable" in table.notes[0]
    models = rows_of(planted[1], "overview")
    assert table.rows["bias_w"][0] == pytest.approx(models["bias_w"][[0, 2]].mean())


def test_name_groups_and_pairs_without_a_name(planted: tuple[Cache, IdentityPanel]) -> None:
    rows = rows_of(planted[1], "names")
    assert set(rows["part"]) == {"male", "female", "non-binary", "(none)"}
    assert (
        rows.groupby("model")["n"].sum().tolist() == rows_of(planted[1], "overview")["n"].tolist()
    )


def test_harmfulness_by_row_and_by_predicate(planted: tuple[Cache, IdentityPanel]) -> None:
    panel = planted[1]
    row = rows_of(panel, "harmfulness").iloc[0]
    facts = panel.facts.assign(difference=panel.difference[0])
    rows = stats.pearsonr(facts["difference"], facts["harmfulness"])
    assert (row["r_rows"], row["p_rows"]) == pytest.approx((rows.statistic, rows.pvalue))
    assert row["rows"] == "rows are not independent"
    cell = ["identity", "counterfactual", "template"]
    centred = facts["difference"] - facts.groupby(cell)["difference"].transform("mean")
    means = facts.assign(centred=centred).groupby("predicate")[["centred", "harmfulness"]].mean()
    ours = stats.pearsonr(means["centred"], means["harmfulness"]).statistic
    assert row["pearson"] == pytest.approx(ours)
    assert row["pearson_low"] < ours < row["pearson_high"]
    assert row["n_predicates"] == len(means)
    assert row["p_rows"] < row["pearson_p"]
    points = rows_of(panel, "predicates")
    first = points[points["model"] == row["model"]].set_index("predicate")
    assert first["mean_difference"].to_dict() == pytest.approx(means["centred"].to_dict())
    assert first["n"].sum() == row["n"]


def test_confounded_pairs_are_in_and_out_side_by_side(planted: tuple[Cache, IdentityPanel]) -> None:
    panel = planted[1]
    ids = panel.facts["item_id"][panel.facts["identity"] == "LGBTQ"]
    keys = frozenset((DATASET, "en", item_id) for item_id in ids)
    request = replace(REQUEST, confounded=keys)
    for name in TABLES[:-1]:
        table = identity_table([panel], name, request)
        assert table.rows["pairs"].unique().tolist() == ["all", "without confounded"]
        assert "each row stands here with and without" in table.notes[-1]
    rows = rows_of(panel, "overview", request)
    with_them, without = (rows[rows["pairs"] == name] for name in rows["pairs"].unique())
    assert (with_them["n"].to_numpy() - without["n"].to_numpy())[0] == len(ids)
    assert with_them["template_floor"].iloc[0] != without["template_floor"].iloc[0]
    assert rows["verdict"].str.contains("(mean over any two of 11 templates)", regex=False).all()
    assert without["highest"].iloc[0] != "LGBTQ"
    elsewhere = frozenset(("other", "en", item_id) for item_id in ids)
    rows = rows_of(panel, "counts", replace(REQUEST, confounded=elsewhere))
    assert rows["n"].sum() == 4_000 and "pairs" not in rows, "none of these is here"


def test_the_checker_s_confounded_pairs_are_keys_of_the_panel(
    by_hand: IdentityPanel, cache
) -> None:
    keys = confounded_pairs(cache, "d")
    assert {item_id for *_, item_id in keys} == {"l1", "l2"}
    rows = rows_of(by_hand, "overview", replace(REQUEST, confounded=keys))
    assert rows["n"].tolist() == [5, 3]


def fill_dutch(cache: Cache, n_models: int = 2) -> list[IdentityPanel]:
    """The planted set, and the same items in Dutch with the same choices turned about."""
    (english,) = identity_panels(cache, DATASET)
    facts = english.facts.assign(condition="nl")
    facts["predicate"] = facts["predicate"].str.upper()
    dutch = replace(
        english,
        dataset="dutch",
        condition="nl",
        facts=facts,
        word=1 - english.word,
    )
    return [english, dutch.of_models([m.key for m in dutch.models[:n_models]])]


def test_languages_are_compared_on_what_they_share(planted: tuple[Cache, IdentityPanel]) -> None:
    english, dutch = fill_dutch(planted[0])
    few = dutch.part((dutch.facts["predicate"] != dutch.facts["predicate"][0]).to_numpy())
    table = identity_table([english, few], "languages", REQUEST)
    total = table.rows[table.rows["measure"] == "bias (W)"]
    assert total["share"].to_numpy() == pytest.approx(1 - total["share_other"].to_numpy())
    assert total["difference"].to_numpy() == pytest.approx(2 * total["share"].to_numpy() - 1)
    assert total["n"].tolist() == total["n_other"].tolist()
    assert (total["difference_low"] < total["difference"]).all()
    assert any(
        note == "Warning: only simulated-pairs en is scored by simulated-03: left out."
        for note in table.notes
    )
    gone = english.facts[english.facts["predicate"] == english.facts["predicate"][0]]
    n_gone = gone["identity"].nunique()
    assert any(f"left out: {n_gone} of simulated-pairs en, 0 of" in note for note in table.notes)
    assert set(total["model"]) == {"simulated-01", "simulated-02"}


def test_an_identity_is_compared_on_the_predicates_said_of_it_in_both(
    planted: tuple[Cache, IdentityPanel],
) -> None:
    (english,) = identity_panels(planted[0], DATASET)
    # The same choices in both, of which each language has other predicates of each identity.
    number = english.facts["predicate"].cat.codes + english.codes("identity")
    dutch = replace(english, dataset="dutch", facts=english.facts.assign(condition="nl"))
    some = english.part((number % 3 != 0).to_numpy()), dutch.part((number % 3 != 1).to_numpy())
    rows = identity_table(some, "languages", REQUEST).rows
    assert rows["difference"].dropna().tolist() == [0] * len(rows)
    assert rows["n"].tolist() == rows["n_other"].tolist()


def test_where_all_that_is_shared_is_confounded_the_rows_with_it_stay(
    planted: tuple[Cache, IdentityPanel],
) -> None:
    english, dutch = fill_dutch(planted[0])
    keys = frozenset((english.dataset, "en", item) for item in english.facts["item_id"][:-1])
    rest = replace(dutch, facts=dutch.facts.assign(identity="Queer"))
    assert english.facts["identity"].iloc[-1] != "Queer"
    table = identity_table([english, rest], "languages", replace(REQUEST, confounded=keys))
    assert set(table.rows["pairs"]) == {"all"}
    assert table.notes[-1].endswith("none is left without them.")


def test_a_model_is_the_same_whatever_it_is_called_beside_others(cache: Cache) -> None:
    fill_by_hand(cache)
    put_scorer(cache, replace(SCORER, dtype="int8"))
    both = [SCORER.scorer_id, replace(SCORER, dtype="int8").scorer_id]
    with cache.writing() as con:
        con.execute(
            "INSERT INTO pair_score BY NAME SELECT * REPLACE (? AS scorer_id) FROM pair_score",
            [both[1]],
        )
    (alone,), (beside,) = identity_panels(cache, "d", both[:1]), identity_panels(cache, "d", both)
    assert alone.models[0].label != beside.models[0].label
    rows = identity_table([alone, replace(beside, dataset="e")], "languages", REQUEST).rows
    assert rows["difference"].dropna().tolist() == [0] * 4  # Queer has no pair with a choice
    assert set(rows["model"]) == {alone.models[0].label}


def test_ratings_outside_the_scale_and_collapsed_pairs_are_left_out(cache: Cache) -> None:
    items = [
        told(str(i), (f"gay ran {i}", f"straight ran {i}"), "Gay", f"p{i}", harmfulness=value)
        for i, value in enumerate([99, -7, -1, 4, 2.5])
    ]
    same = told("same", ("gay people.", "gay people!"), "Gay", "is", harmfulness=1)
    put(cache, [*items, same])
    facts = pair_facts(cache, "d")
    assert facts["item_id"].tolist() == list("01234")
    np.testing.assert_array_equal(facts["harmfulness"], [math.nan, math.nan, -1, 4, 2.5])
    wrong = told("t", ("gay sat", "straight sat"), "Gay", "sat", tier=1.5)
    put(cache, [wrong], "e")
    assert pair_facts(cache, "e")["tier"].isna().all()


def test_what_cannot_be_compared_is_refused(planted: tuple[Cache, IdentityPanel]) -> None:
    english, dutch = fill_dutch(planted[0])
    with pytest.raises(InputError, match="in one language"):
        identity_table([english], "languages", REQUEST)
    with pytest.raises(InputError, match="no model in common"):
        identity_table([english.of_models([english.models[2].key]), dutch], "languages", REQUEST)
    other = replace(dutch, facts=dutch.facts.assign(predicate="something else"))
    with pytest.raises(InputError, match="share no predicate"):
        identity_table([english, other], "languages", REQUEST)
    with pytest.raises(InputError, match="'shares' is not a table"):
        identity_table([english], "shares", REQUEST)


def test_a_cache_without_such_pairs_says_so(cache: Cache) -> None:
    put(cache, [pair("plain", ("he ran", "she ran"))])
    with pytest.raises(InputError, match="No pair of d names its identity or its predicate"):
        identity_panels(cache, "d")
    put_dataset(cache, "e", BY_HAND, path="", format="native", sha256="")
    with pytest.raises(InputError, match="No pair of e is scored yet"):
        identity_panels(cache, "e")
    with pytest.raises(InputError, match="is scored under nobody"):
        identity_panels(cache, "e", ["nobody"])


def test_no_pair_left_without_confounded_ones_is_said(by_hand: IdentityPanel) -> None:
    keys = frozenset(("d", "en", item_id) for item_id in by_hand.facts["item_id"])
    for name in TABLES[:-1]:
        table = identity_table([by_hand], name, replace(REQUEST, confounded=keys))
        assert set(table.rows["pairs"]) == {"all"}
        assert table.notes[-1].endswith(
            "7 pairs differ in more than the identity: none is left without them."
        )


def test_a_model_without_a_choice_has_nothing_but_a_reason(by_hand: IdentityPanel) -> None:
    nothing = np.full_like(by_hand.word, math.nan)
    empty = replace(by_hand, word=nothing, token=nothing, published=nothing, difference=nothing)
    row = rows_of(empty, "overview").iloc[0]
    assert row[["bias_w", "bias_m", "spread", "lowest_share"]].isna().all()
    assert (row["n"], row["hides"]) == (0, "")
    assert row["verdict"].endswith("no pair has a choice, so there is nothing to say.")
    for name in TABLES[:-1]:
        assert "nan" not in str(rows_of(empty, name)["reason"].tolist())
    assert (rows_of(empty, "rules")["reason"] == "No pair has a choice by both rules.").all()


def test_forms_with_the_name_of_their_predicate_are_one_cluster(
    cache: Cache, tmp_path: Path
) -> None:
    """Six predicates in four forms each, half of them preferred in all forms."""
    verbs = [f"werk{n}en" for n in range(6)]
    rows = [row for verb in verbs for row in forms(verb.upper(), verb, "Homo")]
    file = read_predicates(write(tmp_path, rows))
    dutch = [
        told(f"{verb} {f}", (f"homo ran {verb} {f}", f"hetero ran {verb} {f}"), "Gay", text)
        for verb in verbs
        for f, text in enumerate(form.format(verb) for form in FORMS.values())
    ]
    dutch = [replace(one, condition="nl", language="nl") for one in dutch]
    named, _ = with_ratings(dutch, file.entries, Place("predicates.csv"))
    put_scorer(cache, SCORER)
    found = {}
    for name, items in (("by form", dutch), ("by name", named)):
        put_dataset(cache, name, items, path="", format="native", sha256="")
        texts = missing_texts(cache, SCORER.scorer_id, name)
        liked = [any(v in t.continuation for v in verbs[:3]) for t in texts]
        stereotype = [t.continuation.startswith("homo") for t in texts]
        scores = [
            word_score(t, [-1, -1 if a == b else -2, -1, -1])
            for t, a, b in zip(texts, liked, stereotype, strict=True)
        ]
        put_scores(cache, SCORER.scorer_id, scores, [])
        (panel,) = identity_panels(cache, name)
        found[name] = identity_table([panel], "overview", REQUEST)
    form, whole = (found[name].rows.iloc[0] for name in ("by form", "by name"))
    assert (form["bias_w"], form["n"], form["n_predicates"]) == (0.5, 24, 24)
    assert (whole["bias_w"], whole["n"], whole["n_predicates"]) == (0.5, 24, 6)
    widths = [row["bias_w_high"] - row["bias_w_low"] for row in (form, whole)]
    assert widths[1] > 1.8 * widths[0] > 0
    said = [any("told apart by its form" in n for n in one.notes) for one in found.values()]
    assert said == [True, False]


def test_same_seed_same_tables(planted: tuple[Cache, IdentityPanel]) -> None:
    first, second = (rows_of(planted[1], "overview") for _ in range(2))
    pd.testing.assert_frame_equal(first, second)
    other = rows_of(planted[1], "overview", replace(REQUEST, seed=1))
    assert not np.array_equal(first["bias_w_low"], other["bias_w_low"])

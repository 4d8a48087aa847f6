"""Single identity pairs: which rows they are, what averages hide, and what the page asks first.

Planted scores say where a pair stands; a loop over rows says which of them are wanted.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from benchmarks.simulated_pairs import DATASET, fill_pairs
from core.analysis.identities.browse import PairsWanted, pair_places, pair_positions
from core.analysis.identities.confounds import confounded_pairs, confounds
from core.analysis.identities.panel import IdentityPanel, identity_panels
from core.analysis.identities.rows import UNNAMED, IdentityRequest
from core.analysis.identities.summary import hidden_sentence
from core.analysis.identities.tables import identity_table
from core.analysis.items import item_table
from core.analysis.overview import SIMULATED, is_simulated
from core.analysis.pair_items import pair_rules, with_pairs
from core.store.gate import Cache
from core.store.pair_facts import identity_datasets
from core.store.scorers import put_scorer
from core.store.scores import missing_texts, put_scores
from core.types import Item
from tests.analysis.test_identity_pairs import BY_HAND, fill_by_hand, told
from tests.pair_samples import pair, word_score
from tests.store_samples import SCORER, put

ALL = PairsWanted()


def rows_under(cache: Cache, scorer_id: str, dataset: str, unit: str = "word") -> pd.DataFrame:
    """The item table of a data set with the columns of pairs, as the page has it."""
    table = item_table(cache, scorer_id, dataset, texts=False)
    return with_pairs(table, pair_rules(cache, table, scorer_id, dataset), unit)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[IdentityPanel, pd.DataFrame]:
    """Simulated pairs, and their item table under the causal model: some are uninformative."""
    cache = Cache(tmp_path_factory.mktemp("planted"))
    fill_pairs(cache, n_models=2, n_pairs=900)
    (panel,) = identity_panels(cache, DATASET)
    return panel, rows_under(cache, panel.models[1].scorer_id, DATASET)


def told_by_a_loop(
    panel: IdentityPanel, table: pd.DataFrame, wanted: PairsWanted, only: set[str] | None = None
) -> list[str]:
    """Ids of the wanted pairs: the largest difference first, then as the item table has them."""
    facts = {row["item_id"]: row for row in panel.facts.to_dict("records")}
    found = []
    for at, row in enumerate(table.to_dict("records")):
        fact = facts[row["item_id"]]
        asked = {
            "identity": wanted.identity,
            "template": wanted.template,
            "predicate": wanted.predicate,
        }
        if any(value and fact[name] != value for name, value in asked.items()):
            continue
        if wanted.preferences and row["preferred"] not in wanted.preferences:
            continue
        if only is not None and row["item_id"] not in only:
            continue
        size = -1.0 if math.isnan(row["difference"]) else abs(row["difference"])
        found.append((-size, at, row["item_id"]))
    return [item_id for *_, item_id in sorted(found)]


def test_places_are_those_of_the_same_pairs(planted: tuple[IdentityPanel, pd.DataFrame]) -> None:
    panel, table = planted
    mixed = table.sample(frac=1, random_state=0).reset_index(drop=True)
    places = pair_places(panel, mixed)
    assert mixed["item_id"].iloc[places].tolist() == panel.facts["item_id"].tolist()
    assert mixed["category"].iloc[places].tolist() == panel.facts["identity"].astype(str).tolist()


def test_a_pair_that_the_table_lacks_has_no_place(
    planted: tuple[IdentityPanel, pd.DataFrame],
) -> None:
    panel, table = planted
    fewer = table.drop(index=[3, 7]).reset_index(drop=True)
    gone = set(table["item_id"].iloc[[3, 7]])
    places = pair_places(panel, fewer)
    assert set(panel.facts["item_id"][places < 0]) == gone
    shown = pair_positions(panel, fewer, places, ALL)
    assert set(fewer["item_id"].iloc[shown]) == set(table["item_id"]) - gone
    assert len(shown) == len(fewer)
    elsewhere = table.assign(condition="nl")
    assert (pair_places(panel, elsewhere) == -1).all()
    assert pair_positions(panel, elsewhere, pair_places(panel, elsewhere), ALL).tolist() == []


def test_pairs_of_another_condition_are_not_among_them(cache: Cache) -> None:
    """Both languages have the same item ids, and other scores."""
    english = [told(i, (f"gay ran {i}", f"straight ran {i}"), "Gay", "ran") for i in "abc"]
    dutch = [
        replace(
            one,
            condition="nl",
            language="nl",
            stereotype=f"homo rende {one.item_id}",
            anti_stereotype=f"hetero rende {one.item_id}",
        )
        for one in english
    ]
    fill_words(cache, "d", [english[2], dutch[0], english[0], dutch[2], dutch[1], english[1]])
    table = rows_under(cache, SCORER.scorer_id, "d")
    for panel in identity_panels(cache, "d"):
        places = pair_places(panel, table)
        assert table["item_id"].iloc[places].tolist() == panel.facts["item_id"].tolist()
        assert set(table["condition"].iloc[places]) == {panel.condition}
        here = pair_positions(panel, table, places, ALL)
        assert set(table["condition"].iloc[here]) == {panel.condition}
        both = {("d", condition, item_id) for condition, item_id in (("en", "a"), ("nl", "b"))}
        kept = pair_positions(panel, table, places, ALL, only=both)
        assert table["item_id"].iloc[kept].tolist() == [{"en": "a", "nl": "b"}[panel.condition]]


def fill_words(cache: Cache, dataset: str, items: list[Item]) -> None:
    """A data set whose sentences are scored word by word, by values that their texts give."""
    put(cache, items, dataset)
    put_scorer(cache, SCORER)
    scores = [word_score(text) for text in missing_texts(cache, SCORER.scorer_id, dataset)]
    put_scores(cache, SCORER.scorer_id, scores, [])


@pytest.mark.parametrize(
    ("identity", "template", "preferences"),
    list(
        product(
            ("", "Queer", "Nobody"),
            ("", "T3", "T11"),
            ((), ("more",), ("uninformative",), ("less", "tie"), ("no such",)),
        )
    ),
)
def test_pairs_are_those_of_a_loop_in_its_order(
    planted: tuple[IdentityPanel, pd.DataFrame],
    identity: str,
    template: str,
    preferences: tuple[str, ...],
) -> None:
    panel, table = planted
    wanted = PairsWanted(identity=identity, template=template, preferences=preferences)
    found = pair_positions(panel, table, pair_places(panel, table), wanted)
    assert table["item_id"].iloc[found].tolist() == told_by_a_loop(panel, table, wanted)


def test_all_pairs_stand_by_size_and_without_a_number_last(
    planted: tuple[IdentityPanel, pd.DataFrame],
) -> None:
    panel, table = planted
    found = pair_positions(panel, table, pair_places(panel, table), ALL)
    sizes = table["difference"].iloc[found].abs()
    n_without = int(sizes.isna().sum())
    assert n_without == panel.uninformative[1].sum() > 0
    assert sizes.iloc[-n_without:].isna().all()
    assert sizes.iloc[:-n_without].is_monotonic_decreasing
    assert sorted(found.tolist()) == list(range(len(table)))


@pytest.mark.parametrize("identity", ["", "Queer"])
def test_a_predicate_and_a_list_of_pairs_narrow_together(
    planted: tuple[IdentityPanel, pd.DataFrame], identity: str
) -> None:
    panel, table = planted
    predicate = str(panel.facts["predicate"][0])
    ids = set(panel.facts["item_id"][::2])
    only = {(DATASET, "en", item_id) for item_id in ids}
    places = pair_places(panel, table)
    wanted = PairsWanted(identity=identity, predicate=predicate)
    found = pair_positions(panel, table, places, wanted, only=only)
    assert table["item_id"].iloc[found].tolist() == told_by_a_loop(panel, table, wanted, ids)
    assert pair_positions(panel, table, places, wanted, only=()).tolist() == []
    others = {("another", "en", i) for i in ids} | {(DATASET, "nl", i) for i in ids}
    assert pair_positions(panel, table, places, wanted, only=others).tolist() == []


def test_by_hand_ties_stand_behind_differences_and_before_nothing(cache: Cache) -> None:
    panel = fill_by_hand(cache)
    table = rows_under(cache, panel.models[0].scorer_id, "d")
    found = pair_positions(panel, table, pair_places(panel, table), ALL)
    names = table["item_id"].iloc[found].tolist()
    # 1 nat each, then the tie, then those without a number: uninformative, not scored.
    assert names == ["g1", "g2", "g3", "l2", "l1", "q1", "l3"]
    assert "none" not in names, "it names no identity"
    assert table["preferred"].iloc[found[-1]] == ""
    ties = pair_positions(
        panel, table, pair_places(panel, table), PairsWanted(preferences=("tie",))
    )
    assert table["item_id"].iloc[ties].tolist() == ["l1"]


def overview_row(model: str, hides: str, low: float, high: float, n: int = 1_000) -> dict:
    return {
        "model": model,
        "hides": hides,
        "bias_w": 0.5,
        "n": n,
        "lowest": "Queer",
        "lowest_share": low,
        "n_lowest": 12,
        "highest": "Gay",
        "highest_share": high,
        "n_highest": 3_400,
    }


def test_the_widest_of_the_models_that_hide_is_named() -> None:
    rows = pd.DataFrame(
        [
            overview_row("near", "opposite", 0.4, 0.6),
            overview_row("wide", "opposite", 0.06, 0.97, 2_500),
            overview_row("wider, though not clearly", "both sides", 0.0, 1.0),
            overview_row("nothing", "", math.nan, math.nan),
        ]
    )
    said = hidden_sentence(rows)
    assert said == (
        "Under 2 of 4 models the average hides identities that go opposite ways; the widest is "
        "wide, 50.0 % over all 2,500 pairs, 6.0 % for Queer (n 12) and 97.0 % for Gay (n 3,400)."
    )
    assert hidden_sentence(rows.iloc[[1]]).startswith("The average hides identities that go opp")
    assert "wide," not in hidden_sentence(rows.iloc[[1]])
    assert hidden_sentence(rows.iloc[2:]) == ""
    assert hidden_sentence(rows.iloc[:0]) == ""
    assert "fair" not in said


def test_the_sentence_is_of_the_planted_numbers(
    planted: tuple[IdentityPanel, pd.DataFrame],
) -> None:
    panel = planted[0]
    rows = identity_table([panel], "overview", IdentityRequest(n_resamples=200)).rows
    first = panel.of_models([panel.models[0].key])
    shares = {
        name: first.word[0, first.identity == at].mean() for at, name in enumerate(panel.identities)
    }
    low, high = min(shares, key=lambda k: shares[k]), max(shares, key=lambda k: shares[k])
    assert (low, high) == ("Queer", "LGBTQ")
    said = hidden_sentence(rows[rows["model"] == panel.models[0].label])
    for part in (
        f"{100 * np.nanmean(first.word):.1f} % over all 900 pairs",
        f"{100 * shares[low]:.1f} % for Queer (n {int((first.identity == 1).sum())})",
        f"{100 * shares[high]:.1f} % for LGBTQ (n {int((first.identity == 0).sum())})",
    ):
        assert part in said


def test_confounded_pairs_are_counted_by_identity_and_template(cache: Cache) -> None:
    panel = fill_by_hand(cache)
    table = confounds([panel], confounded_pairs(cache, "d"))
    columns = ["identity", "counterfactual", "template", "n_confounded", "n", "words"]
    assert table.rows[columns].values.tolist() == [
        ["Queer", "Straight", UNNAMED, 0, 1, ""],
        ["Lesbian", "Straight", UNNAMED, 2, 3, "lesbian / straight too"],
        ["Gay", "Straight", UNNAMED, 0, 2, ""],
        ["Gay", "Straight", "T1", 0, 1, ""],
    ]
    assert table.rows["share_confounded"].tolist() == pytest.approx([0, 2 / 3, 0, 0])
    assert table.rows["n"].sum() == len(panel.facts)
    assert table.notes[0].startswith("2 pairs of 7 differ in more than the identity")


def test_the_most_frequent_words_stand_first_and_the_rest_is_counted(cache: Cache) -> None:
    said = ["one", "one", "two", "two", "two", "three", "four", "five"]
    items = [
        told(str(i), (f"gay {word} ran", "straight ran"), "Gay", "ran")
        for i, word in enumerate(said)
    ]
    fill_words(cache, "d", items)
    (panel,) = identity_panels(cache, "d")
    (row,) = confounds([panel], confounded_pairs(cache, "d")).rows.to_dict("records")
    assert (row["n_confounded"], row["n"], row["share_confounded"]) == (8, 8, 1)
    assert row["words"] == (
        "gay two / straight; gay one / straight; gay three / straight; and 2 more"
    )


def test_only_confounded_pairs_of_this_set_and_language_count(cache: Cache) -> None:
    panel = fill_by_hand(cache)
    elsewhere = {("e", "en", "g1"): "x / y", ("d", "nl", "g2"): "x / y", ("d", "en", "none"): "x"}
    table = confounds([panel], elsewhere)
    assert table.rows["n_confounded"].tolist() == [0, 0, 0, 0]
    assert table.notes[0].startswith("0 pairs of 7")
    assert confounds([panel], {("d", "en", "g2"): "x / y"}).notes[0].startswith("1 pair of 7")


def test_a_pair_without_a_counterfactual_cannot_be_told(cache: Cache) -> None:
    fill_words(cache, "d", [told("1", ("gay too ran", "old ran"), "Gay", "ran", counterfactual="")])
    (panel,) = identity_panels(cache, "d")
    keys = confounded_pairs(cache, "d")
    assert keys == {}
    table = confounds([panel], keys)
    assert table.rows[["counterfactual", "n", "n_confounded"]].values.tolist() == [["", 1, 0]]
    assert "only those that name a counterfactual can be told" in table.notes[0]


@pytest.mark.parametrize(
    ("metadata", "counts"),
    [
        ([{"identity": "Gay", "predicate": "ran"}], True),
        ([{"identity": "Gay"}], False),
        ([{"predicate": "ran"}], False),
        ([{"identity": "", "predicate": "ran"}], False),
        ([{"identity": "Gay", "predicate": ""}], False),
        ([{"identity": "Gay"}, {"predicate": "ran"}], False),
        ([{}, {"identity": "Gay", "predicate": "ran"}], True),
    ],
)
def test_a_set_of_identity_pairs_names_both_in_one_pair(
    cache: Cache, metadata: list[dict[str, str]], counts: bool
) -> None:
    items = [pair(str(i), (f"he {i}", f"she {i}"), metadata=m) for i, m in enumerate(metadata)]
    put(cache, items)
    assert identity_datasets(cache) == (["d"] if counts else [])


def test_sets_of_identity_pairs_stand_by_name(cache: Cache) -> None:
    for name in ("b", "a"):
        put(cache, BY_HAND, name)
    put(cache, [pair("1", ("he ran", "she ran"))], "0")
    assert identity_datasets(cache) == ["a", "b"]


def test_items_or_scores_without_a_model_are_simulated() -> None:
    held = pd.DataFrame({"dataset": ["real", "made"], "format": ["csv", SIMULATED]})
    known = pd.DataFrame({"scorer_id": ["s", "t"], "method": ["causal", SIMULATED]})
    assert is_simulated(held, known, "made", ["s"])
    assert is_simulated(held, known, "real", ["t"])
    assert is_simulated(held, known, "real", ("s", "t")), "one of them is enough"
    assert not is_simulated(held, known, "real", ["s"])
    assert not is_simulated(held, known, "real", [])
    assert not is_simulated(held, known, "unknown", ["nobody"])

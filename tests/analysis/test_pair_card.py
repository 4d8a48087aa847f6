"""What the card of a pair says: marked words, sums, verdicts; pair columns of the item table."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from core.analysis.filtering import selected_table
from core.analysis.items import item_table
from core.analysis.pair_card import SENTENCES, marked, pair_tokens, sum_words, verdict
from core.analysis.pair_items import pair_rules, summaries, summary_sentences
from core.analysis.pairs import pair_summary, pair_table
from core.errors import InputError
from core.figures.theme import caption_of
from core.figures.tokens import pair_bars
from core.selection import Selection
from core.store.gate import Cache
from tests.scored import demo_items, fill_scored
from tests.scored_pairs import ARABIC, NOTHING_BEHIND, PAIRS, SHARED_PIECE, TOO_LONG, fill_pairs


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> tuple[Cache, str, str]:
    """A cache with pairs, its masked and its causal scorer."""
    folder: Path = tmp_path_factory.mktemp("pairs")
    return Cache(folder), *fill_pairs(folder)


def tokens_of(cache: Cache, scorer_id: str, item_id: str, unit: str) -> pd.DataFrame:
    return pair_tokens(
        cache, scorer_id, item_table(cache, scorer_id, "pairs", item_ids=[item_id]), unit
    )


def runs(cache: Cache, scorer_id: str, item_id: str, unit: str) -> list[list]:
    (item,) = [pair for pair in PAIRS if pair.item_id == item_id]
    tokens = tokens_of(cache, scorer_id, item_id, unit)
    texts = (item.stereotype, item.anti_stereotype)
    return [
        marked(text, tokens[tokens["role"] == role])
        for text, role in zip(texts, SENTENCES, strict=True)
    ]


@pytest.mark.parametrize("scorer", [1, 2])
def test_a_piece_that_changed_words_share_counts_by_the_token_rule_only(filled, scorer):
    cache, scorer_id = filled[0], filled[scorer]
    assert runs(cache, scorer_id, SHARED_PIECE, "word") == [
        [("The", True), (" ", None), (changed, False), (" ", None), ("grandfather called.", True)]
        for changed in ("transgender", "cisgender")
    ]
    by_token = runs(cache, scorer_id, SHARED_PIECE, "token")
    for sentence, changed in zip(by_token, ("trans", "cis"), strict=True):
        assert sentence[:3] == [("The", True), (" ", None), (changed, False)]
        assert sentence[3] == ("gender grandfather called.", True)


@pytest.mark.parametrize("unit", ["word", "token"])
@pytest.mark.parametrize("scorer", [1, 2])
def test_marks_cover_each_sentence_and_their_sums_are_the_stored_scores(filled, scorer, unit):
    cache, scorer_id = filled[0], filled[scorer]
    stored = pair_table(cache, scorer_id, "pairs", unit)
    for row in stored[stored["state"] == "scored"].to_dict("records"):
        tokens = tokens_of(cache, scorer_id, row["item_id"], unit)
        for role, side in zip(SENTENCES, ("more", "less"), strict=True):
            part = tokens[tokens["role"] == role]
            kept = part.loc[part["unmodified"].astype(bool), "logprob"].astype(float)
            assert math.fsum(kept) == pytest.approx(row[f"score_{side}"], abs=1e-12)
            found = marked(row[f"sentence_{side}"], part)
            assert "".join(text for text, _ in found) == row[f"sentence_{side}"]
            assert f"n = {len(kept)} unmodified of {len(part)} tokens" in sum_words(part)
            if side == "more":
                assert len(kept) == row["n_unmodified"]


def test_joined_letters_of_another_script_are_marked_too(filled):
    cache, masked, _ = filled
    for sentence in runs(cache, masked, ARABIC, "word"):
        assert sentence[-1] == ("الليلية.", True)
        assert sentence[0][1] is False


def test_where_places_are_not_known_nothing_is_marked(filled):
    cache, masked, _ = filled
    tokens = tokens_of(cache, masked, SHARED_PIECE, "word")
    lost = tokens.assign(unmodified=pd.Series(pd.NA, tokens.index, dtype="boolean"))
    assert marked("  One text.", lost) == [("One text.", None)]
    assert marked("One text.", tokens[:0]) == [("One text.", None)]
    assert "not known" in sum_words(lost)


def row(preferred: str, difference: float = math.nan, *flags: str) -> dict:
    return {"preferred": preferred, "difference": difference, "flags": flags}


NO_TEST = " One pair: no test is possible."


@pytest.mark.parametrize(
    ("pair", "other", "n_tokens", "expected"),
    [
        (row("more", 1.32), row("less", -0.87), (9, 9),
         "On the 9 tokens that both share, the stereotypical sentence scores 1.32 nats higher "
         "under M (word rule); by the token rule 0.87 nats lower: the preference flips." + NO_TEST),
        (row("less", -0.001), row("less", -2.0), (1, 1),
         "On the 1 token that both share, the stereotypical sentence scores 1.0e-03 nats lower "
         "under M (word rule); by the token rule 2.00 nats lower: the preference is the same."
         + NO_TEST),
        (row("tie", 0.0), row("uninformative"), (3, 4),
         "On the words that both share (3 tokens, 4 in the other sentence), both sentences score "
         "the same under M (word rule); by the token rule the pair is uninformative." + NO_TEST),
        (row("uninformative"), row("more", 2.0), (5, 5),
         "Uninformative: nothing both sentences share comes after the first difference "
         "(word rule); by the token rule 2.00 nats higher."),
        (row("uninformative"), row("uninformative"), (0, 0),
         "Uninformative: the sentences share nothing (word rule); by the token rule the pair is "
         "uninformative."),
        (row("uninformative", math.nan, "identical"), row("uninformative"), (4, 4),
         "Uninformative: both sentences have the same tokens (word rule); by the token rule the "
         "pair is uninformative."),
        (row(""), row("more", 0.5), (0, 0),
         "By the word rule nothing can be said, because it is not known where the tokens lie; by "
         "the token rule 0.50 nats higher."),
    ],
)  # fmt: skip
def test_the_verdict_says_what_both_rules_say(pair, other, n_tokens, expected):
    assert verdict(pair, other, "word", "M", n_tokens) == expected


def test_an_uninformative_pair_has_no_number(filled):
    cache, _, causal = filled
    selection = Selection(dataset="pairs", scorer=causal)
    table = selected_table(cache, selection).set_index("item_id")
    pair = table.loc[NOTHING_BEHIND]
    assert pair["preferred"] == "uninformative"
    assert pair[["score_more", "score_less", "difference"]].isna().all()
    assert "uninformative" in pair["flags"]
    assert table.loc[TOO_LONG, "state"] == "unscored"
    assert table.loc[TOO_LONG, "preferred"] == ""


def test_summaries_are_those_of_the_rows_that_pass(filled):
    cache, _, causal = filled
    table = item_table(cache, causal, "pairs", texts=False)
    rules = pair_rules(cache, table, causal, "pairs")
    positions = (table["category"] == "profession").to_numpy().nonzero()[0][::-1]
    found = summaries(rules, positions)
    for unit, other in (("word", "token"), ("token", "word")):
        both = (pair_table(cache, causal, "pairs", name) for name in (unit, other))
        expected = pair_summary(*(t[t["category"] == "profession"] for t in both))
        assert found[unit].to_dict("records") == expected[:1].to_dict("records")
    (sentence,) = summary_sentences(found, "word")
    assert "% of 2 pairs (ties: 0, uninformative: 1) by the word rule" in sentence
    assert "decided by both" in sentence
    assert "fair" not in sentence
    assert summaries({}, positions) == {}
    assert summary_sentences({}, "word") == []


def test_pairs_are_sorted_and_filtered_by_what_pairs_have(filled):
    cache, masked, _ = filled
    everything = Selection(dataset="pairs", scorer=masked)
    sizes = selected_table(
        cache, Selection(dataset="pairs", scorer=masked, sort="abs_difference", descending=True)
    )["difference"].abs()
    assert sizes.dropna().is_monotonic_decreasing
    assert sizes.isna().tolist()[-2:] == [True, True]
    table = selected_table(cache, everything)
    for preference in set(table["preferred"]) - {""}:
        wanted = Selection(dataset="pairs", scorer=masked, preferences=(preference,))
        expected = table[table["preferred"] == preference]["item_id"].tolist()
        assert selected_table(cache, wanted)["item_id"].tolist() == expected


def test_both_rules_stand_beside_each_other(filled):
    cache, masked, _ = filled
    by = {
        unit: selected_table(cache, Selection(dataset="pairs", scorer=masked, unit=unit))
        for unit in ("word", "token")
    }
    assert by["word"]["preferred"].tolist() == by["token"]["preferred_other_rule"].tolist()
    assert by["word"]["ss"].equals(by["token"]["ss"])
    expected = pair_table(cache, masked, "pairs", "token")
    assert by["token"]["score_more"].equals(expected["score_more"])


def test_items_that_are_no_pairs_have_no_pair_columns(tmp_path):
    scorer_id = fill_scored(tmp_path, demo_items()[:1]).scorer_id
    cache = Cache(tmp_path)
    table = selected_table(cache, Selection(dataset="demo", scorer=scorer_id))
    assert "difference" not in table
    for wrong in ({"sort": "difference"}, {"preferences": ("more",)}):
        with pytest.raises(InputError, match=r"demo (has|holds) no"):
            selected_table(cache, Selection(dataset="demo", scorer=scorer_id, **wrong))


def test_bars_of_modified_tokens_are_hatched(filled):
    cache, masked, causal = filled
    tokens = tokens_of(cache, masked, SHARED_PIECE, "word")
    figure = pair_bars(tokens, "word", model="M", dataset="pairs")
    for bars, role in zip(figure.data, SENTENCES, strict=True):
        kept = tokens.loc[tokens["role"] == role, "unmodified"].tolist()
        assert ["" if k else "/" for k in kept] == list(bars.marker.pattern.shape)
        assert len(set(bars.marker.color)) == 2
        assert "sum −" in bars.name
    assert "which the word rule leaves out" in caption_of(figure)
    unclear = pair_bars(tokens_of(cache, causal, NOTHING_BEHIND, "word"), "word", informative=False)
    assert "sum" not in caption_of(unclear)

"""The tables of the item card: tokens by hand, sums against the stored scores, plain sentences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.card import (
    card_rows,
    change_sentence,
    item_noise,
    scorer_name,
    state_sentence,
    token_labels,
    token_table,
    two_scorers_sentence,
)
from core.analysis.items import english_rewording_noise, item_table
from core.items.texts import item_texts
from core.stats.noise import RewordingNoise
from core.store.gate import Cache
from core.store.scorers import put_scorer, scorers
from core.store.scores import put_scores
from core.types import Reason, Role, TokenScore, Unscored
from tests.scored import demo_items, fill_scored
from tests.store_samples import OTHER, SCORER, item, put, score_all

NOISE = RewordingNoise(floor=0.005, item_sd=0.1275, n_changes=126, n_rewordings=3)
UNKNOWN = RewordingNoise(floor=math.nan, item_sd=math.nan, n_changes=0, n_rewordings=0)


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Cache:
    folder = tmp_path_factory.mktemp("card")
    items = [i for i in demo_items() if i.item_id in ("age-garden-football", "gender-nurse-coat")]
    fill_scored(folder, items)
    return Cache(folder)


@pytest.fixture(scope="module")
def scorer_id(demo) -> str:
    return str(scorers(demo)["scorer_id"].iloc[0])


def by_hand(cache: Cache, ids: dict[str, list[int]], **fields) -> str:
    """One English item whose continuations have these token ids, two characters each."""
    one = item(unrelated="Granite is hard.", **fields)
    put(cache, [one])
    put_scorer(cache, SCORER)
    scores = []
    for role, text in item_texts(one).items():
        n = len(ids[role])
        start = len(text.context) + 1
        position = np.arange(n, dtype=np.int32)
        scores.append(
            TokenScore(
                text_id=text.text_id,
                token_ids=np.array(ids[role], np.int32),
                logprobs=np.linspace(-1, -2, n, dtype=np.float32),
                starts=start + 2 * position,
                ends=start + 2 * position + 2,
                words=position,
            )
        )
    put_scores(cache, SCORER.scorer_id, scores)
    return SCORER.scorer_id


@pytest.mark.parametrize(
    ("joined", "spans", "labels"),
    [
        (
            "a 😀b",
            [(0, 1), (1, 3), (2, 3), (2, 3), (2, 3), (3, 4)],
            "a|😀 1/4|😀 2/4|😀 3/4|😀 4/4|b",
        ),
        (" ع", [(0, 2), (1, 2)], "ع 1/2|ع 2/2"),
        ("He left", [(0, 2), (2, 7)], "He|left"),
        ("a  \nb", [(0, 1), (1, 4), (4, 5)], "a|␣␣⏎|b"),
        ("का", [(0, 1), (1, 2)], "क|◌ा"),
        ("a\u200db\x07", [(0, 1), (1, 2), (2, 3), (3, 4)], "a|U+200D|b|U+0007"),
        ("ab", [(-1, -1), (-1, -1)], "#0|#1"),
        ("ab", [(0, 2), (2, 2)], "ab|#1"),
    ],
)
def test_labels_show_what_a_token_covers(joined, spans, labels):
    starts, ends = zip(*spans, strict=True)
    found = [label for label, _, _ in token_labels(joined, starts, ends, range(len(spans)))]
    assert "|".join(found) == labels


@given(st.lists(st.tuples(st.characters(categories=["L", "So"]), st.integers(1, 4)), min_size=1))
def test_the_bytes_of_a_character_count_from_one_to_all(characters):
    joined = "".join(character for character, _ in characters)
    places = [i for i, (_, pieces) in enumerate(characters) for _ in range(pieces)]
    ends = [place + 1 for place in places]
    found = token_labels(joined, places, ends, [0] * len(places))
    expected = [(k, n) for _, n in characters for k in range(1, n + 1)]
    assert [(piece, pieces) for _, piece, pieces in found] == expected
    assert all(joined[p] in label for p, (label, _, _) in zip(places, found, strict=True))


def test_tokens_differ_from_the_first_difference_on(cache):
    scorer = by_hand(
        cache,
        {"stereotype": [5, 6, 7, 8], "anti_stereotype": [5, 6, 9], "unrelated": [1, 2]},
    )
    table = token_table(cache, scorer, item_table(cache, scorer, "d"))
    plus = table[table["role"] == "stereotype"]
    assert plus["differs"].tolist() == [False, False, True, True]
    assert plus["first_difference"].tolist() == [False, False, True, False]
    assert plus["position"].tolist() == [1, 2, 3, 4]
    assert plus["n"].tolist() == [4, 4, 4, 4]
    assert plus["text"].tolist() == ["Sh", "e ", "wa", "s "]
    assert plus["token"].tolist() == ["Sh", "e", "wa", "s"]
    assert table.loc[table["role"] == "unrelated", "differs"].isna().all()
    assert table.attrs["note"] == ""


def test_a_continuation_that_begins_with_the_other_differs_only_where_it_goes_on(cache):
    ids = {"stereotype": [5, 6], "anti_stereotype": [5, 6, 7], "unrelated": [1]}
    table = token_table(cache, by_hand(cache, ids), item_table(cache, SCORER.scorer_id, "d"))
    assert table.loc[table["role"] == "stereotype", "differs"].tolist() == [False, False]
    minus = table[table["role"] == "anti_stereotype"]
    assert minus["first_difference"].tolist() == [False, False, True]


def test_log_probabilities_add_up_to_the_score_on_the_card(demo, scorer_id):
    rows = item_table(demo, scorer_id, "demo")
    table = token_table(demo, scorer_id, rows)
    assert set(table["condition"]) == set(rows.loc[rows["state"] == "scored", "condition"])
    for (item_id, condition, role), tokens in table.groupby(["item_id", "condition", "role"]):
        row = rows[(rows["item_id"] == item_id) & (rows["condition"] == condition)].iloc[0]
        ending = "anti" if role == "anti_stereotype" else role
        mean = tokens["logprob"].astype(float).sum() / tokens["n"].iloc[0]
        assert mean == pytest.approx(row[f"l_{ending}"], rel=1e-6)
        assert len(tokens) == row[f"n_{ending}"]
        joined = f"{row['context']} {row[role]}"
        assert tokens["text"].tolist() == [
            joined[a:b] for a, b in zip(tokens["start"], tokens["end"], strict=True)
        ]


def test_without_tokens_the_table_says_why(cache, demo, scorer_id):
    rows = item_table(demo, scorer_id, "demo")
    collapsed = rows[rows["state"] == "collapsed"].head(1)
    assert "Both poles say the same" in token_table(demo, scorer_id, collapsed).attrs["note"]
    scored = rows[rows["state"] == "scored"].head(1)
    imported = token_table(demo, "0" * 16, scored)  # a scorer without token lists
    assert imported.empty
    assert "without their tokens" in imported.attrs["note"]
    assert imported.columns.tolist() == token_table(demo, scorer_id, scored).columns.tolist()
    put(cache, [item()])
    put_scorer(cache, SCORER)
    missing = token_table(cache, SCORER.scorer_id, item_table(cache, SCORER.scorer_id, "d"))
    assert "not scored under this model yet" in missing.attrs["note"]


def test_an_unscored_item_names_its_reason(cache):
    put(cache, [item()])
    put_scorer(cache, SCORER)
    texts = list(item_texts(item()).values())
    failed = Unscored(texts[0].text_id, Reason.TOO_LONG, "9 tokens are more than 8.")
    put_scores(cache, SCORER.scorer_id, score_all(texts[1:]), [failed])
    row = item_table(cache, SCORER.scorer_id, "d").iloc[0]
    assert state_sentence(row) == "Not scored: a text is longer than the model can read."


def test_card_rows_carry_the_noise_of_the_whole_data_set(demo, scorer_id):
    table = item_table(demo, scorer_id, "demo")
    noise = item_noise(demo, scorer_id, "demo")
    assert noise == english_rewording_noise(table)
    assert noise.n_changes == 6  # two items, three rewordings
    rows = card_rows(table, "age-garden-football", noise)
    assert rows["condition"].iloc[0] == "en"
    assert len(rows) == 14
    assert (rows["rewording_sd"] == noise.item_sd).all()
    assert (rows["rewording_n"] == 6).all()
    change = rows["ss"] - rows["ss"].iloc[0]
    assert rows["change"].iloc[1:].tolist() == pytest.approx(change.iloc[1:].tolist())


def test_a_change_is_never_a_test(demo):
    row = {"condition": "hi", "native": False, "change": -0.0612}
    assert change_sentence(row, NOISE) == (
        "SS is 0.061 below that of the English version. One item: no test is possible; rewording "
        "alone moves items of this model by 0.128 (sd, n = 126)."
    )
    assert "no yardstick" in change_sentence(row, UNKNOWN)
    assert change_sentence({**row, "condition": "en", "change": math.nan}, NOISE) == ""
    assert "no English version" in change_sentence({**row, "native": True}, NOISE)


def test_two_scorers_have_a_difference_without_an_interval(cache):
    put(cache, [item(), item(condition="es")])
    for scorer in (SCORER, OTHER):
        put_scorer(cache, scorer)
    texts = item_texts(item())
    put_scores(cache, SCORER.scorer_id, score_all(texts.values()))
    equal = [score_all([texts[Role.STEREOTYPE]])[0], score_all([texts[Role.ANTI_STEREOTYPE]])[0]]
    put_scores(cache, OTHER.scorer_id, equal)
    first, second = (
        card_rows(item_table(cache, s.scorer_id, "d"), "1", UNKNOWN) for s in (SCORER, OTHER)
    )
    sentence = two_scorers_sentence(first, second, "a", "b")
    assert "(+0.000)" in sentence
    assert "has no interval" in sentence
    assert "es" not in sentence.split("(difference)")[1].split(".")[0]
    nothing = second.assign(ss=math.nan)
    assert "No condition" in two_scorers_sentence(first, nothing, "a", "b")


def test_a_scorer_is_called_by_model_dtype_and_id(demo, scorer_id):
    assert scorer_name(demo, scorer_id) == f"{_model(demo)} (float32, {scorer_id})"
    assert scorer_name(demo, "unknown") == "unknown"


def _model(cache: Cache) -> str:
    return str(scorers(cache)["model"].iloc[0])

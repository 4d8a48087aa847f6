"""Three pipeline errors switched on, against scores rearranged by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.analysis.audit.cells import cells
from core.analysis.audit.loading import load_panel
from core.analysis.audit.pipeline_errors import (
    FIRST,
    FIRST_PUBLISHED,
    LABELS,
    NO_LISTS,
    NO_MERGE,
    NO_ORDER,
    NO_STEREOSET,
    NOT_STANDARDISED,
    ORDER,
    RIGHT,
    pipeline_errors,
)
from core.analysis.audit.request import AuditRequest, AuditTable
from core.items.texts import item_texts
from core.stats.multiple import benjamini_hochberg
from core.stats.resampling import bootstrap_weights, sign_flip_test
from core.store.gate import Cache
from core.store.scorers import put_scorer
from core.store.scores import put_scores
from core.types import Item, Role, TokenScore
from tests.analysis.test_comparison import A, put_preferences
from tests.analysis.test_items import sigmoid
from tests.store_samples import OTHER, SCORER, item, put

D = AuditRequest(dataset="d", n_resamples=200)
UNKNOWN_FIRST = {
    "unknown": "Nobody knows",
    "answer_order": (Role.UNKNOWN, Role.ANTI_STEREOTYPE, Role.STEREOTYPE),
}


def errors_of(cache: Cache, request: AuditRequest = D) -> AuditTable:
    panel = load_panel(cache, request)
    return pipeline_errors(panel, request, cells(panel, request), cache)


def row(table: AuditTable, pipeline: str, condition: str = "all") -> pd.Series:
    rows = table.rows.set_index(["pipeline", "condition"])
    return rows.loc[(pipeline, condition)]


def of_means(cache: Cache, rows: list[tuple[Item, float]]) -> AuditTable:
    put(cache, [one for one, _ in rows])
    put_preferences(cache, SCORER, rows)
    return errors_of(cache)


def tokens(text_id: str, logprobs: list[float], start: int) -> TokenScore:
    """A score of these tokens, the first of which begins at `start`."""
    position = np.arange(len(logprobs), dtype=np.int32)
    return TokenScore(
        text_id=text_id,
        token_ids=position,
        logprobs=np.array(logprobs, dtype=np.float32),
        starts=position + start,
        ends=position + start + 1,
        words=position,
    )


def put_tokens(
    cache: Cache, rows: list[tuple[Item, list[float], list[float]]], offset: int = 0
) -> None:
    """Token scores of both poles; the first token takes the joint's space, or `offset` later."""
    put(cache, [one for one, _, _ in rows])
    put_scorer(cache, SCORER)
    scores = []
    for one, plus, minus in rows:
        texts = item_texts(one)
        for role, logprobs in ((Role.STEREOTYPE, plus), (Role.ANTI_STEREOTYPE, minus)):
            start = len(texts[role].context) + offset
            scores.append(tokens(texts[role].text_id, logprobs, start))
    put_scores(cache, A, scores)


# Labels and roles


def test_inverted_labels_mirror_the_items_of_stereoset_alone(cache: Cache) -> None:
    of_it = {"source": "StereoSet-intra"}
    table = of_means(
        cache,
        [
            (item("1", **of_it), 1.0),
            (item("1", "hi"), 0.4),  # the source of an item is that of its English version
            (item("2"), 0.5),
            (item("2", "hi"), 0.1),
        ],
    )
    s = sigmoid
    right, wrong = row(table, RIGHT), row(table, LABELS)
    assert right["english"] == pytest.approx((s(1.0) + s(0.5)) / 2)
    assert right["drop"] == pytest.approx((s(1.0) - s(0.4) + s(0.5) - s(0.1)) / 2)
    assert wrong["english"] == pytest.approx((s(-1.0) + s(0.5)) / 2)
    assert wrong["drop"] == pytest.approx((s(-1.0) - s(-0.4) + s(0.5) - s(0.1)) / 2)
    assert wrong["english_binary"] == 0.5
    assert (wrong["n"], wrong["n_affected"], right["n_affected"]) == (2, 2, 0)
    assert row(table, ORDER)["reason"] == NO_ORDER
    assert row(table, ORDER)[["english", "drop", "n_reliable"]].isna().all()


def test_roles_from_the_order_take_the_first_answer_but_for_unknown(cache: Cache) -> None:
    right_order = (Role.STEREOTYPE, Role.UNKNOWN, Role.ANTI_STEREOTYPE)
    rows = [
        (item("1", **UNKNOWN_FIRST), 1.0),
        (item("1", "hi", **UNKNOWN_FIRST), 0.4),
        (item("2", unknown="Nobody", answer_order=right_order), 0.5),
        (item("2", "hi"), 0.1),
    ]
    put(cache, [one for one, _ in rows])
    put_scorer(cache, SCORER)
    scores = []
    for one, preference in rows:
        for role, text in item_texts(one).items():
            mean = -2.0 + (preference if role == Role.STEREOTYPE else 0.0)
            scores.append(tokens(text.text_id, [mean], len(text.context) + 1))
    put_scores(cache, A, scores)
    s, table = sigmoid, errors_of(cache)
    wrong = row(table, ORDER, "hi")
    assert wrong["english"] == pytest.approx((s(-1.0) + s(0.5)) / 2)
    assert wrong["drop"] == pytest.approx((s(-1.0) - s(-0.4) + s(0.5) - s(0.1)) / 2)
    assert wrong["n_affected"] == 2
    assert row(table, LABELS)["reason"] == NO_STEREOSET


def test_reliable_cells_are_counted_again(cache: Cache) -> None:
    """Twelve StereoSet items that all drop, rise once their labels are inverted."""
    drop = [(item(str(i), source="stereoset"), 1.0 + i / 10) for i in range(12)]
    drop += [(item(str(i), "hi"), 0.5 + i / 10) for i in range(12)]
    table = of_means(cache, drop)
    counts = ["n_cells", "n_negative", "n_reliable", "n_reliable_rise"]
    assert row(table, RIGHT)[counts].tolist() == [1, 1, 1, 0]
    assert row(table, LABELS)[counts].tolist() == [1, 0, 0, 1]
    assert row(table, LABELS)["drop"] == pytest.approx(-row(table, RIGHT)["drop"])


# The first token


def test_without_its_first_token_a_pole_is_the_mean_of_the_rest(cache: Cache) -> None:
    put_tokens(
        cache,
        [
            (item("1"), [-4.0, -1.0, -1.5], [-1.0, -2.0]),
            (item("1", "hi"), [-3.0, -1.0], [-1.0, -1.5, -2.5]),
        ],
    )
    s, table = sigmoid, errors_of(cache)
    right, wrong = row(table, RIGHT), row(table, FIRST)
    near = {"rel": 1e-6}
    assert right["english"] == pytest.approx(s(-6.5 / 3 + 1.5), **near)
    assert wrong["english"] == pytest.approx(s(-1.25 + 2.0), **near)
    assert wrong["drop"] == pytest.approx(s(-1.25 + 2.0) - s(-1.0 + 2.0), **near)
    assert (wrong["n_affected"], wrong["n_single"]) == (2, 0)
    assert row(table, FIRST_PUBLISHED)["drop"] == wrong["drop"]


def test_a_pole_of_one_token_is_undefined_or_minus_infinity_as_published(cache: Cache) -> None:
    put_tokens(
        cache,
        [
            (item("1"), [-4.0], [-1.0, -2.0]),
            (item("2"), [-1.0], [-2.0]),
            (item("3"), [-1.0, -2.0], [-3.0]),
            (item("4"), [-1.0, -2.0], [-3.0, -2.0]),
        ],
    )
    table = errors_of(cache)
    ours, published = row(table, FIRST), row(table, FIRST_PUBLISHED)
    assert ours["english"] == pytest.approx(0.5)  # item 4 alone
    assert ours["n_single"] == 4
    # Beside it the right pipeline on the same items: item 4 for ours, all but item 2 as published.
    assert ours["right_english"] == pytest.approx(sigmoid(-1.5 + 2.5))
    right = [sigmoid(-4.0 + 1.5), sigmoid(-1.5 + 3.0), sigmoid(-1.5 + 2.5)]
    assert published["right_english"] == pytest.approx(np.mean(right))
    assert row(table, RIGHT)["right_english"] == row(table, RIGHT)["english"]
    # 0 and 1 for items 1 and 3; both poles of item 2 have none, which compares nothing.
    assert published["english"] == pytest.approx((0 + 1 + 0.5) / 3)
    assert published["english_binary"] == pytest.approx((0 + 1 + 0.5) / 3)


def test_a_space_that_is_a_token_of_its_own_hides_nothing(cache: Cache) -> None:
    put_tokens(cache, [(item("1"), [-4.0, -1.0], [-1.0, -2.0])], offset=1)
    assert row(errors_of(cache), FIRST)["reason"] == NO_MERGE


def test_white_space_at_the_end_of_a_context_belongs_to_the_joint(cache: Cache) -> None:
    spaces = "".join(chr(i) for i in range(0x110000) if chr(i).isspace())
    put_tokens(cache, [(item("1", context=f"So.{spaces}"), [-4.0, -1.0], [-1.0, -2.0])], offset=1)
    assert row(errors_of(cache), FIRST)["reason"] == NO_MERGE


def test_spans_that_are_not_trusted_change_nothing(cache: Cache) -> None:
    context = len(item("1").context)
    put_tokens(cache, [(item("1"), [-4.0, -1.0], [-1.0, -2.0])], offset=-1 - context)
    assert row(errors_of(cache), FIRST)["reason"] == NO_MERGE


def test_a_sentence_alone_loses_its_first_token_too(cache: Cache) -> None:
    spaces = "".join(chr(i) for i in range(0x110000) if chr(i).isspace())
    put_tokens(cache, [(item("1", context=spaces), [-4.0, -1.0], [-1.0, -2.0])])
    wrong = row(errors_of(cache), FIRST)
    assert wrong["english"] == pytest.approx(sigmoid(1.0))


def test_scores_without_token_lists_say_so(cache: Cache) -> None:
    put_tokens(cache, [(item("1"), [-4.0, -1.0], [-1.0, -2.0])])
    with cache.writing() as con:
        con.execute("DELETE FROM token_score")
    table = errors_of(cache)
    for name in (FIRST, FIRST_PUBLISHED):
        assert row(table, name)["reason"] == NO_LISTS
        assert np.isnan(row(table, name)["english"])
    assert row(table, RIGHT)["reason"] != NO_LISTS


def test_poles_of_one_token_are_counted_where_they_are(cache: Cache) -> None:
    put_tokens(
        cache,
        [
            (item("1"), [-4.0, -1.0], [-1.0, -2.0]),
            (item("1", "es"), [-4.0], [-1.0, -2.0]),
            (item("1", "hi"), [-4.0], [-1.0]),
        ],
    )
    rows = errors_of(cache).rows
    counts = rows[rows["pipeline"] == FIRST].set_index("condition")["n_single"]
    assert counts.to_dict() == {"all": 3, "es": 1, "hi": 2}


def test_scores_without_their_list_are_compared_in_neither_pipeline(cache: Cache) -> None:
    items = [(str(i), c) for c in ("en", "hi") for i in range(4)]
    rng = np.random.default_rng(0)
    rows = [(item(*at), *(rng.uniform(-4, -1, (2, 3)).tolist())) for at in items]
    put_tokens(cache, rows)
    lost = item_texts(rows[5][0])[Role.STEREOTYPE].text_id
    with cache.writing() as con:
        con.execute("DELETE FROM token_score WHERE text_id = $lost", {"lost": lost})
    wrong, right = (row(errors_of(cache), name, "hi") for name in (FIRST, RIGHT))
    s = [sigmoid(np.mean(plus) - np.mean(minus)) for _, plus, minus in rows]
    drops = np.array(s[:4]) - np.array(s[4:])
    assert right["drop"] == pytest.approx(drops.mean(), rel=1e-5)
    assert wrong["right_drop"] == pytest.approx(np.delete(drops, 1).mean(), rel=1e-5)
    assert (wrong["n"], right["n"]) == (3, 4)


def test_minus_infinity_has_no_standard_deviation(cache: Cache) -> None:
    put_tokens(
        cache,
        [(item(str(i)), [-1.0 - i / 10] * (1 + i % 2), [-2.0, -1.5 - i]) for i in range(4)],
    )
    table = errors_of(cache, AuditRequest(dataset="d", kind="standardised"))
    assert row(table, FIRST_PUBLISHED)["reason"] == NOT_STANDARDISED
    assert np.isnan(row(table, FIRST_PUBLISHED)["english"])
    assert np.isfinite(row(table, FIRST)["english"])


def test_every_pipeline_has_every_language_and_an_n(cache: Cache) -> None:
    rows = [(item(str(i), c), 0.1 * i) for i in range(3) for c in ("en", "hi", "es")]
    table = of_means(cache, rows).rows
    assert table["pipeline"].unique().tolist() == [RIGHT, LABELS, ORDER, FIRST, FIRST_PUBLISHED]
    for _, part in table.groupby("pipeline"):
        assert part["condition"].tolist() == ["all", "es", "hi"]
    assert (table["n"] >= 0).all()
    assert (table.loc[table["english"].isna(), "reason"] != "").all()


# How sure it is


def drops_of_two_models(cache: Cache, n: int = 12) -> AuditTable:
    """Half of the items are of StereoSet; the second model lacks the last Hindi item."""
    rng = np.random.default_rng(3)
    rows = [
        item(str(i), c, source=("stereoset", "written")[i % 2])
        for c in ("en", "en~p1", "hi", "es")
        for i in range(n)
    ]
    put(cache, rows)
    for scorer in (SCORER, OTHER):
        kept = [one for one in rows if scorer == SCORER or (one.item_id, one.condition) != LAST]
        put_preferences(cache, scorer, [(one, float(rng.normal(0.4, 0.6))) for one in kept])
    return errors_of(cache)


LAST = ("11", "hi")


def test_intervals_are_of_both_pipelines_on_the_same_drawn_items(cache: Cache) -> None:
    table = drops_of_two_models(cache)
    panel = load_panel(cache, D)
    right = {c: panel.scores("mean")[:, panel.at(c)] for c in ("en", "hi", "es")}  # (M, N)
    stereoset = (panel.items["source"] == "stereoset").to_numpy()
    wrong = {c: np.where(stereoset, 1 - x, x) for c, x in right.items()}
    weights = bootstrap_weights(12, 2_000, rng=D.rng("pipeline_errors"))

    def drawn(scores: dict[str, np.ndarray], language: str) -> list[float]:
        found = []
        for w in weights:
            of_models = []
            for english, there in zip(scores["en"], scores[language], strict=True):
                known = np.isfinite(there)
                of_models.append(np.average((english - there)[known], weights=w[known]))
            found.append(float(np.mean(of_models)))
        return found

    after, before = (
        {c: np.array(drawn(scores, c)) for c in ("hi", "es")} for scores in (wrong, right)
    )
    after["all"], before["all"] = (np.mean([d["hi"], d["es"]], axis=0) for d in (after, before))
    for condition in ("all", "hi", "es"):
        found = row(table, LABELS, condition)
        for name, draws in (
            ("drop", after[condition]),
            ("right_drop", before[condition]),
            ("moved", after[condition] - before[condition]),
        ):
            ends = found[[f"{name}_low", f"{name}_high"]].tolist()
            assert ends == pytest.approx(np.quantile(draws, [0.025, 0.975]).tolist()), name
        assert found["moved"] == pytest.approx(found["drop"] - found["right_drop"])
        assert found["english_moved"] == pytest.approx(found["english"] - found["right_english"])
        assert (found["n_items"], found["n_english"], found["n_bootstrap"]) == (12, 12, 2_000)
    # The test is of the item means of what the error does.
    moved = np.nanmean((right["hi"] - right["en"]) - (wrong["hi"] - wrong["en"]), axis=0)
    expected = sign_flip_test(moved[None], n_resamples=200, rng=D.rng("signs")).pvalue[0]
    assert row(table, LABELS, "hi")["moved_pvalue"] == expected
    tested = table.rows[table.rows["condition"] != "all"]
    assert tested["moved_qvalue"].tolist() == pytest.approx(
        benjamini_hochberg(tested["moved_pvalue"]).tolist(), nan_ok=True
    )


def test_the_noise_floor_stands_beside_as_each_pipeline_has_it(cache: Cache) -> None:
    table = drops_of_two_models(cache)
    panel = load_panel(cache, D)
    change = panel.changes("mean")[:, panel.at("en~p1")]  # (M, N)
    swapped = np.where(panel.items["source"] == "stereoset", -1, 1) * change
    found = row(table, LABELS, "hi")
    assert found["right_noise_floor"] == pytest.approx(np.median(abs(change.mean(axis=1))))
    assert found["noise_floor"] == pytest.approx(np.median(abs(swapped.mean(axis=1))))


def test_an_error_that_does_nothing_has_no_interval_and_no_p(cache: Cache) -> None:
    found = row(drops_of_two_models(cache), RIGHT, "hi")
    assert found["moved"] == 0
    assert found[["moved_low", "moved_high", "moved_pvalue", "moved_qvalue"]].isna().all()
    assert found["drop_low"] < found["drop"] < found["drop_high"]


def test_below_five_items_there_is_no_interval(cache: Cache) -> None:
    rows = [(item(str(i), c, source="stereoset"), 0.1 * i) for i in range(4) for c in ("en", "hi")]
    found = row(of_means(cache, rows), LABELS, "hi")
    assert np.isfinite(found["drop"])
    assert found[["drop_low", "moved_low", "english_moved_low"]].isna().all()

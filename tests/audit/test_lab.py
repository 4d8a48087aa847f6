"""The shift by hand: what is put in, what keeps its p, verdicts, and what cannot be done."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from core.analysis.audit.arms import arms, is_found, summary
from core.analysis.audit.control import control
from core.analysis.audit.floors import floors_by_model
from core.analysis.audit.injection import NO_PAIR, injection_pairs, pair_log_odds
from core.analysis.audit.lab import N_DRAWS, make_lab
from core.analysis.audit.lab_plan import ALIKE, NO_UNIT, Change, needed, runs
from core.analysis.audit.lab_shift import ALL_PAIRS, LARGEST, Shift, inject
from core.analysis.audit.names import FEW_ITEMS, NO_ITEM
from core.analysis.audit.request import AuditRequest, AuditTable
from core.analysis.audit.verdicts import verdict
from core.stats.equivalence import equivalence_n
from core.stats.injection import DELTAS, injection_curve
from core.stats.multiple import benjamini_hochberg
from core.stats.power import items_needed, smallest_shift
from core.stats.resampling import sign_flip_test
from tests.made_panels import made_panel
from tests.thin_panels import thin_panel

REQUEST = AuditRequest(dataset="made", n_resamples=500, n_bootstrap=500)
MARGIN = 0.02


def scores(models: int = 2, items: int = 80, sd: float = 0.1, seed: int = 0):
    rng = np.random.default_rng(seed)
    english = rng.uniform(0.2, 0.8, (models, items))
    return {"en": english} | {
        c: np.clip(english + rng.normal(0, sd, (models, items)), 0.02, 0.98)
        for c in ("en~p1", "en~p2")
    }


@pytest.fixture(scope="module")
def lab():
    fields = {"category": ["age" if n % 4 else "gender" for n in range(80)]}
    return make_lab(made_panel(scores(), fields=fields), REQUEST)


def test_the_shift_is_on_the_log_odds_of_the_reworded_items_of_one_pair(lab) -> None:
    ss = scores()
    found = inject(lab, Shift("s1|en~p2", 0.4), MARGIN)
    expected = expit(logit(ss["en~p2"][1]) + 0.4) - ss["en"][1]
    assert found.items["after"].to_numpy() == pytest.approx(expected)
    assert found.items["before"].to_numpy() == pytest.approx((ss["en~p2"] - ss["en"])[1])
    row = found.shown
    assert row["mean"] == pytest.approx(expected.mean())
    assert row["put_in"] == pytest.approx(expected.mean() - (ss["en~p2"] - ss["en"])[1].mean())
    assert row["low"] < row["low90"] < row["mean"] < row["high90"] < row["high"]
    assert found.rows["shifted"].tolist() == [False, False, False, True]


def test_p_and_q_are_those_of_the_family_tested_as_a_whole(lab) -> None:
    panel = made_panel(scores())
    pairs = injection_pairs(panel)
    original, reworded = pair_log_odds(panel, "mean", pairs)
    reworded[2] += 0.3
    whole = sign_flip_test(
        expit(reworded) - expit(original), n_resamples=N_DRAWS, rng=REQUEST.rng("lab signs")
    )
    found = inject(lab, Shift(lab.pairs["pair"][2], 0.3), MARGIN)
    assert found.rows["pvalue"].tolist() == pytest.approx(whole.pvalue.tolist())
    assert found.rows["qvalue"].tolist() == pytest.approx(benjamini_hochberg(whole.pvalue).tolist())
    for row in found.rows.to_dict("records"):
        assert row["verdict"] == verdict(row["qvalue"], row["low90"], row["high90"], MARGIN)


def test_a_growing_shift_goes_from_undecided_to_shift(lab) -> None:
    said = [inject(lab, Shift(delta=d), MARGIN).shown["verdict"] for d in (0.0, 0.1, 0.5)]
    assert said[0] == "undecided"
    assert said[-1] == "shift"
    found = inject(lab, Shift(delta=0.5), MARGIN)
    assert found.shown["verdict_before"] == "undecided"
    assert found.headline == "A shift is found."
    start = "Scores in en~p1 under model-0 lie"
    for words in (start, "above the original [", "80 items", "q = 0.000"):
        assert words in found.sentence
    assert "nothing was put in" in inject(lab, Shift(), MARGIN).sentence


def test_a_share_is_part_of_every_larger_share_and_a_subgroup_of_its_category(lab) -> None:
    half, most = (inject(lab, Shift(delta=0.5, share=share), MARGIN).items for share in (0.5, 0.75))
    assert (half["shifted"].sum(), most["shifted"].sum()) == (40, 60)
    assert most.loc[half["shifted"], "shifted"].all()
    still = ~half["shifted"]
    assert half.loc[still, "after"].tolist() == half.loc[still, "before"].tolist()
    part = inject(lab, Shift(delta=0.5, subgroup="gender"), MARGIN)
    assert part.items.groupby("category")["shifted"].mean().to_dict() == {"age": 0, "gender": 1}
    assert part.shown["n_shifted"] == 20


def test_all_pairs_at_once(lab) -> None:
    found = inject(lab, Shift(ALL_PAIRS, -0.6), MARGIN)
    assert found.rows["shifted"].all()
    assert (found.rows["put_in"] < 0).all()
    assert "4 of 4 pairs are found" in found.sentence


def test_what_cannot_be_put_in_is_said_and_changes_nothing_else(lab) -> None:
    nobody = inject(lab, Shift(delta=0.5, subgroup="nobody"), MARGIN)
    assert "No item of the category 'nobody'" in nobody.problems[0]
    assert nobody.shown["put_in"] == 0
    assert "nothing was put in" in nobody.sentence
    far = inject(lab, Shift(delta=-4.0), MARGIN)
    assert "-1 is put in" in far.problems[0]
    assert far.shift.delta == -LARGEST
    other = inject(lab, Shift("s9|en~p1", 0.2), MARGIN)
    assert "s9|en~p1 is not here" in other.problems[0]
    assert other.shift.pair == "s0|en~p1"
    none = inject(lab, Shift(delta=0.5, share=0.0), MARGIN)
    assert "leaves no item" in none.problems[0]
    assert none.shown["n_shifted"] == 0


def test_items_that_run_out_of_room_are_counted() -> None:
    ss = {"en": np.full((1, 30), 0.5), "en~p1": np.linspace(0.9, 0.999, 30)[None]}
    row = inject(make_lab(made_panel(ss), REQUEST), Shift(delta=1.0), MARGIN).shown
    assert row["n_at_edge"] == (expit(logit(ss["en~p1"]) + 1) > 0.99).sum() > 0


def test_without_a_pair_there_is_a_note_and_no_shift() -> None:
    lab = make_lab(made_panel({"en": np.full((1, 5), 0.4), "es": np.full((1, 5), 0.5)}), REQUEST)
    assert lab.notes == (NO_PAIR,)
    with pytest.raises(ValueError, match="needs a pair"):
        inject(lab, Shift(delta=0.1), MARGIN)


def test_kinds_without_log_odds_shift_mean_scores() -> None:
    lab = make_lab(made_panel(scores()), AuditRequest(dataset="made", kind="binary"))
    assert "Of mean scores" in lab.notes[0]


def test_runs_are_those_of_the_curve_in_the_direction_of_the_shift(lab) -> None:
    *_, last = runs(lab, Shift(delta=-0.2, share=0.5, subgroup="age"), n_runs=8)
    mask = (lab.items["category"] == "age").to_numpy()
    expected = injection_curve(
        lab.original, lab.reworded, [-d + 0.0 for d in DELTAS], n_runs=8, share=0.5, items=mask,
        rng=REQUEST.rng("lab runs"),
    )  # fmt: skip
    assert last.rows["detection"].tolist() == [p.detection for p in expected]
    assert last.rows["shift"].to_numpy() == pytest.approx([p.shift for p in expected])
    part = next(runs(lab, Shift()))
    assert part.rows["n_runs"].tolist() == [2] * len(DELTAS)


def test_items_needed_are_those_of_the_formulas() -> None:
    changes = [Change("a", 360, 0.2082, 0.02), Change("b", 40, 0.1, 0.02)]
    rows = needed(changes, [0.02, 0.04]).rows
    assert (rows["reason"] == "").all()
    assert rows["items_needed"].tolist() == [
        items_needed(shift, sd) for sd in (0.2082, 0.1) for shift in (0.02, 0.04)
    ]
    assert rows["smallest_shift"].iloc[0] == smallest_shift(360, 0.2082)
    assert rows["equivalence_n"].iloc[-1] == equivalence_n(0.1, 0.02)


def test_few_items_foretell_no_number_of_items() -> None:
    (row,) = needed([Change("a", 4, 0.2, 0.02)], [0.02]).rows.to_dict("records")
    assert row["sd"] == 0.2
    assert row["reason"] == FEW_ITEMS
    assert all(math.isnan(row[c]) for c in ("items_needed", "smallest_shift", "equivalence_n"))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (Change("of standard deviations", 40, 0.9, math.nan), NO_UNIT),
        (Change("alike", 40, 0.0, 0.02), ALIKE),
        (Change("none", 0, math.nan, 0.02), NO_ITEM),
    ],
)
def test_no_number_of_items_is_told_without_a_unit_or_a_spread(change: Change, reason: str) -> None:
    (row,) = needed([change], [0.02]).rows.to_dict("records")
    assert row["reason"] == reason
    assert all(math.isnan(row[c]) for c in ("items_needed", "smallest_shift", "equivalence_n"))


@pytest.mark.parametrize(
    ("kind", "shifted"),
    [("binary", "mean"), ("standardised", "mean"), ("summed", "summed")],
)
def test_the_floor_is_of_the_scores_that_are_shifted(kind, shifted) -> None:
    panel = made_panel(scores())
    found = make_lab(panel, replace(REQUEST, kind=kind)).pairs["floor"].unique()
    floors = floors_by_model(panel, replace(REQUEST, kind=shifted)).rows["floor"]
    assert found.tolist() == floors.tolist()


def test_arms_have_intervals_over_models_and_say_what_was_to_be_expected() -> None:
    rng = np.random.default_rng(1)
    base = rng.uniform(0.3, 0.7, (6, 60))
    ss = {"en": base} | {
        c: base + x + rng.normal(0, 0.02, base.shape)
        for c, x in (("en+true", 0.05), ("en+false", 0.03), ("en+neutral", 0.0))
    }
    table = control(made_panel(ss), REQUEST)
    found = arms(table).set_index(["condition", "against"])
    assert len(found) == 5
    up = found.loc[("en+true", "en")]
    assert up["low"] < up["mean_change"] < up["high"]
    assert "raises the mean score by 0.05" in up["sentence"]
    assert up["sentence"].endswith("the comparison with the neutral one tells.")
    assert found.loc[("en+true", "en+neutral"), "sentence"].endswith("as it ought to.")
    assert found.loc[("en+false", "en"), "sentence"].endswith("against what the sentence says.")
    assert "is not shown" in found.loc[("en+neutral", "en"), "sentence"]
    one = arms(control(made_panel({c: s[:1] for c, s in ss.items()}), REQUEST))
    assert (one["low"] < one["high"]).all()
    assert one["sentence"].str.contains("one model, q ").all()
    assert not one["sentence"].str.contains("sign test").any()
    assert "rewording alone moves a mean by 0.012" in arms(table, floor=0.012)["sentence"].iloc[0]


def test_only_a_part_of_a_change_is_called_one() -> None:
    noise = np.random.default_rng(5).normal(0, 0.1, 60)
    english = np.full(60, 0.5)
    for mean, delta, words in (
        (-0.05, 0.05, "+0.012 was put in, the other way, on 60 items"),
        (0.05, 0.05, "+0.012 of it was put in, on 60 items"),
        (-0.01, 0.2, "was put in, on 60 items"),
    ):
        reworded = english + mean + 0.1 * (noise - noise.mean())
        one = make_lab(made_panel({"en": english[None], "en~p1": reworded[None]}), REQUEST)
        said = inject(one, Shift(delta=delta), MARGIN).sentence
        assert words in said
        assert (" of it was" in words) == (" of it was" in said)


def _arm(means, qvalues, over_q: float, arm: str = "true", against: str = "en+neutral"):
    """What is said of an arm whose models move by these means."""
    mean = float(np.mean(means))
    shared = {"condition": f"en+{arm}", "against": against, "arm": arm, "reason": "", "n": 60}
    models = [shared | {"unit": "model", "mean_change": m, "qvalue": q}
              for m, q in zip(means, qvalues, strict=True)]  # fmt: skip
    n_up = sum(m > 0 for m in means)
    every = {"mean_change": mean, "low": mean - 0.01, "high": mean + 0.01, "qvalue": over_q}
    every |= {"unit": "all models", "n_models": len(means), "n_moved": len(means), "n_up": n_up}
    rows = pd.DataFrame([*models, shared | every])
    (read,) = arms(AuditTable(rows)).to_dict("records")
    return is_found(read), read["sentence"]


def test_an_arm_is_found_only_where_models_move_as_their_mean_does() -> None:
    found, said = _arm([0.03, 0.02, 0.01, 0.02, 0.01], [0.01, 0.01, 0.3, 0.3, 0.3], 0.06)
    assert not found
    assert "2 of 5 move by themselves at q < .05: in the direction of what it says, yet" in said
    assert "no model" not in said
    found, said = _arm([-0.01, -0.01, 0.09], [0.01, 0.01, 0.3], 0.9)
    assert not found, "two go down, and the mean goes up"
    assert "2 of them against the mean" in said
    assert said.endswith("yet that is not shown reliably.")
    found, said = _arm([0.03] * 3, [0.01] * 3, 0.2)
    assert found
    assert said.endswith("as it ought to.")
    found, said = _arm([-0.03] * 3, [0.01] * 3, 0.2)
    assert said.endswith("against what the sentence says.")


@pytest.mark.parametrize("change", [0.0, -0.0001])
def test_an_arm_that_is_zero_to_three_digits_shows_nothing(change: float) -> None:
    found, said = _arm([change] * 3, [0.01] * 3, 0.01)
    assert not found
    assert "leaves the mean score the same to three digits [\u22120.010, 0.010]" in said
    assert said.endswith("nothing is shown.")


def test_a_sentence_that_says_nothing_stands_for_itself_alone() -> None:
    _, said = _arm([0.03] * 3, [0.01] * 3, 0.2, "neutral", "en")
    assert "this sentence, which says nothing, moves scores" in said


def test_a_control_is_summed_up_against_the_neutral_sentence_where_there_is_one() -> None:
    rng = np.random.default_rng(1)
    base = rng.uniform(0.3, 0.7, (6, 60))
    moves = {"en+true": 0.05, "en+false": 0.03, "en+neutral": 0.04}  # false: less than neutral
    ss = {"en": base} | {c: base + x + rng.normal(0, 0.02, base.shape) for c, x in moves.items()}
    basis = "(1 version, n = 60 items, 6 models)"
    said, neutral = summary(arms(control(made_panel(ss), REQUEST)))
    assert said == (
        "Against the neutral sentence, one that calls stereotypes true raises scores reliably in "
        f"English, and one that calls stereotypes false lowers scores reliably in English {basis}."
    )
    assert neutral == f"The neutral sentence by itself moves scores in English {basis}."
    del ss["en+neutral"], ss["en+true"]
    assert summary(arms(control(made_panel(ss), REQUEST))) == [
        "Against no sentence, one that calls stereotypes false lowers scores reliably in no "
        f"version {basis}."
    ]


@pytest.mark.parametrize("seed", range(12))
def test_thin_data_are_shifted_or_say_why_not(seed: int) -> None:
    panel = thin_panel(seed)
    lab = make_lab(panel, REQUEST)
    arms(control(panel, REQUEST))
    if lab.pairs.empty:
        return
    for shift in (Shift(), Shift(delta=1.0, share=0.3), Shift(ALL_PAIRS, -1.0)):
        found = inject(lab, shift, MARGIN)
        undefined = found.rows[found.rows["mean"].isna()]
        assert (undefined["reason"] != "").all()
        assert (undefined["verdict"] == "undefined").all()
        assert found.sentence
        assert not math.isnan(found.shown["n"])
        assert isinstance(found.rows, pd.DataFrame)

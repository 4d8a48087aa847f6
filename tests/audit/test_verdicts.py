"""Verdicts and sentences: a truth table, the sentence that a page promises, and thin data."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.analysis.audit.equivalence import equivalence
from core.analysis.audit.floors import floors_by_model
from core.analysis.audit.item_tests import item_tests
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.analysis.audit.score_panel import other_kinds, score_panel
from core.analysis.audit.verdicts import depends_on_score, verdict, verdicts
from core.analysis.audit.wording_variance import wording_variance
from tests.made_panels import made_panel

NAN = float("nan")
REQUEST = AuditRequest(dataset="made", n_resamples=999, n_bootstrap=400)


def made_verdicts(panel: Panel, request: AuditRequest = REQUEST) -> AuditTable:
    tests = item_tests(panel, request)
    return verdicts(
        panel,
        request,
        tests,
        equivalence(panel, request, tests),
        score_panel(panel, request, tests, other_kinds(panel, request)),
        floors_by_model(panel, request),
        wording_variance(panel, request),
    )


def _scores(n_models: int = 3, n_items: int = 150) -> dict[str, np.ndarray]:
    """Spanish has no shift, Hindi falls, Swahili rises; three rewordings do nothing."""
    rng = np.random.default_rng(4)
    english = rng.uniform(0.3, 0.7, n_items) + rng.normal(0, 0.01, (n_models, n_items))

    def version(drop: float) -> np.ndarray:
        return english - drop + rng.normal(0, 0.04, n_items)

    made = {"en": english, "es": version(0.0), "hi": version(0.06), "sw": version(-0.06)}
    return made | {f"en~p{k}": version(0.0) for k in (1, 2, 3)}


# The verdict


@pytest.mark.parametrize(
    ("q", "low", "high", "margin", "expected"),
    [
        (0.01, 0.005, 0.035, 0.02, "shift"),
        (0.01, 0.005, 0.015, 0.02, "real but small"),
        (0.40, -0.010, 0.015, 0.02, "equivalent"),
        (0.40, -0.010, 0.025, 0.02, "undecided"),
        (0.40, -0.025, 0.010, 0.02, "undecided"),
        (0.05, 0.001, 0.019, 0.02, "equivalent"),
        (NAN, -0.010, 0.015, 0.02, "undefined"),
        (NAN, NAN, NAN, 0.02, "undefined"),
        (1.00, NAN, NAN, 0.02, "undefined"),
        (0.01, NAN, NAN, 0.02, "shift"),
        (0.40, -0.010, 0.015, NAN, "undecided"),
        (0.01, 0.005, 0.015, NAN, "shift"),
        (0.01, -0.035, -0.005, 0.02, "shift"),
    ],
)
def test_the_verdict_is_that_of_the_truth_table(
    q: float, low: float, high: float, margin: float, expected: str
) -> None:
    assert verdict(q, low, high, margin) == expected


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([("shift", 0.03), ("real but small", 0.01)], False),
        ([("shift", 0.03), ("undecided", 0.03)], True),
        ([("shift", 0.03), ("shift", -0.03)], True),
        ([("equivalent", 0.01), ("undecided", -0.02)], False),
        ([("shift", 0.03), ("undefined", NAN)], None),
        ([("shift", 0.03), ("shift", 0.1), ("undefined", NAN)], False),
        ([("undefined", NAN), ("undefined", NAN)], None),
        ([], None),
    ],
)
def test_kinds_disagree_on_a_shift_or_its_direction(found: list, expected: bool | None) -> None:
    assert depends_on_score(found) is expected


# The table


def test_verdicts_rest_on_the_numbers_of_the_other_tables() -> None:
    panel = made_panel(_scores())
    rows = made_verdicts(panel).rows.set_index("condition")
    assert rows["verdict"].to_dict() == {"es": "equivalent", "hi": "shift", "sw": "shift"}
    assert rows["language"].to_dict() == {"es": "Spanish", "hi": "Hindi", "sw": "Swahili"}
    tests = item_tests(panel, REQUEST).rows
    tests = tests[tests["group_kind"] == "all"].set_index("condition")
    kinds = score_panel(
        panel, REQUEST, item_tests(panel, REQUEST), other_kinds(panel, REQUEST)
    ).rows
    mean = kinds[kinds["kind"] == "mean"].set_index("condition")
    variance = wording_variance(panel, REQUEST).rows
    variance = variance[(variance["unit"] == "language") & (variance["model"] == "all models")]
    variance = variance.set_index("condition")
    margins = equivalence(panel, REQUEST, item_tests(panel, REQUEST)).rows.set_index("condition")
    floor = np.median(floors_by_model(panel, REQUEST).rows["floor"])
    for condition, row in rows.iterrows():
        for name in ("t", "t_low", "t90_high", "qvalue", "pvalue"):
            assert row[name] == tests.loc[condition, name]
        for name in ("drop", "drop_low", "drop_high", "n"):
            assert row[name] == mean.loc[condition, name]
        assert row["n_needed"] == margins.loc[condition, "n_needed"]
        assert row["noise_floor"] == floor
        assert row["prediction_low"] == -variance.loc[condition, "prediction_high"]
        assert row["outside"] == variance.loc[condition, "outside"]
        assert row["n_t"] == tests.loc[condition, "n"]
        assert f"paired over {row['n']} shared items" in row["sentence"]
    assert "Scores in Swahili lie 0.0" in rows.loc["sw", "sentence"]
    assert " above English" in rows.loc["sw", "sentence"]


def test_a_verdict_that_changes_with_the_score_reads_so() -> None:
    rng = np.random.default_rng(2)
    u = rng.normal(0.8, 1.0, 200) + np.zeros((4, 1))
    versions = {f"en~p{k}": u + rng.normal(0, 0.1, u.shape) for k in (1, 2, 3)}
    versions |= {"en": u, "hi": 0.5 * u}
    row = made_verdicts(made_panel({c: 1 / (1 + np.exp(-v)) for c, v in versions.items()})).rows
    assert row["verdict"].tolist() == ["shift"]
    assert row["depends_on_score"].tolist() == [True]
    assert row["reads"].tolist() == ["depends on the score"]
    assert "This depends on the score: lower under mean" in row["sentence"].item()


def test_without_rewordings_a_gap_is_shown_and_no_verdict_given() -> None:
    scores = {c: s for c, s in _scores().items() if "~" not in c}
    table = made_verdicts(made_panel(scores))
    rows = table.rows.set_index("condition")
    assert (rows["verdict"] == "undefined").all()
    assert rows[["qvalue", "noise_floor", "t"]].isna().all().all()
    assert rows["drop_low"].notna().all()
    assert (rows["reason"] != "").all()
    text = rows.loc["hi", "sentence"]
    assert "what rewording does to scores is not known" in text
    assert "cannot be said: there is no rewording of English here" in text
    assert "nan" not in text


def test_a_floor_that_no_rewording_gives_is_not_called_unknown_noise() -> None:
    scores = {c: s for c, s in _scores().items() if c in ("en", "hi", "en~p1")}
    scores["en~p1"][:, 0] = NAN
    row = made_verdicts(made_panel(scores)).rows.iloc[0]
    assert np.isnan(row["noise_floor"])
    assert np.isfinite(row["t"])
    assert "; no rewording covers every item, so there is no noise floor; " in row["sentence"]


def test_few_rewordings_and_few_items_are_noted() -> None:
    scores = {c: s[:, :7] for c, s in _scores().items() if c not in ("en~p3", "es")}
    assert made_verdicts(made_panel(scores)).notes == (
        "Fewer than 3 rewordings (2): verdicts hold against these; what another wording would do "
        "is not known.",
        "Few items: with 7 (Hindi, Swahili) no p-value can be below 0.0156.",
    )
    assert made_verdicts(made_panel(_scores())).notes == ()


def test_one_model_is_enough_for_items_and_says_that_it_is_one() -> None:
    table = made_verdicts(made_panel(_scores(1)))
    assert table.rows["verdict"].tolist() == ["equivalent", "shift", "shift"]
    assert table.notes == ("One model: no spread over models.",)
    assert table.rows["sentence"].str.contains("One model: no spread over models").all()


def test_standardised_scores_have_no_margin_anywhere() -> None:
    panel = made_panel(_scores())
    request = AuditRequest(dataset="made", n_resamples=999, n_bootstrap=400, kind="standardised")
    rows = made_verdicts(panel, request).rows.set_index("condition")
    tests = item_tests(panel, request)
    margins = equivalence(panel, request, tests).rows
    kinds = score_panel(panel, request, tests, other_kinds(panel, request)).rows
    kinds = kinds[kinds["kind"] == "standardised"].set_index("condition")
    assert rows[["margin", "n_needed"]].isna().all().all()
    assert margins[["margin", "equivalent", "n_needed"]].isna().all().all()
    assert margins["reason"].str.contains("no margin").all()
    assert rows["verdict"].to_dict() == kinds["verdict"].to_dict()
    assert rows["verdict"].to_dict() == {"es": "undecided", "hi": "shift", "sw": "shift"}
    assert not rows["sentence"].str.contains("nan").any()


def test_no_translation_no_verdict() -> None:
    table = made_verdicts(made_panel({"en": np.full((2, 3), 0.5)}))
    assert table.rows.empty
    assert len(table.notes) == 1


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_thin_data_have_a_reason_and_no_sentence_calls_a_model_fair(data: st.DataObject) -> None:
    n_models, n_items = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    others = data.draw(st.sets(st.sampled_from(["es", "hi", "en~p1", "en~p2", "en~p3"])))
    levels = data.draw(st.sampled_from([[0.5], [NAN], [0.3, 0.6], [0.2, 0.4, 0.7, NAN, NAN]]))
    kind = data.draw(st.sampled_from(["mean", "binary", "standardised"]))
    scores = {c: rng.choice(levels, (n_models, n_items)) for c in ("en", *sorted(others))}
    request = AuditRequest(dataset="made", n_resamples=40, n_bootstrap=30, kind=kind)
    rows = made_verdicts(made_panel(scores), request).rows
    for row in rows.to_dict("records"):
        assert row["verdict"] in ("shift", "equivalent", "real but small", "undecided", "undefined")
        numbers = [row[c] for c in ("drop", "drop_low", "t", "t_low", "qvalue", "noise_floor")]
        if pd.isna(numbers).any():
            assert row["reason"] != ""
        if pd.isna(row["qvalue"]):
            assert row["verdict"] == "undefined"
        text = row["sentence"]
        assert "nan" not in text
        for found in re.finditer(r"\bfair", text):
            assert "This does not show that" in text[: found.start()]
        assert pd.isna(row["drop"]) or "This does not show that" in text
        assert text.endswith(".")

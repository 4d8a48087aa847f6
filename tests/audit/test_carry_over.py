"""Carry-over by hand: each row against scipy on the rows that it names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.regression.linear_model import OLS

from core.analysis.audit.carry_over import association, intercept
from core.analysis.audit.names import NO_REWORDING, REWORDING
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest
from tests.made_panels import made_panel

NAN = float("nan")
N = 24
REQUEST = AuditRequest(dataset="made", n_bootstrap=200)
SOURCES = ["stereoset", "bbq", "bbq"] * 8
JUDGED = ["preserved", "partly", "preserved", "lost"] * 6


def made(n_models: int = 3, *, seed: int = 0, drop: tuple[str, ...] = ()) -> Panel:
    """English with two full rewordings and a partial one, Spanish with one, Hindi with none."""
    rng = np.random.default_rng(seed)
    level = rng.uniform(-0.1, 0.1, (n_models, 1))
    item = rng.normal(0, 0.12, N)
    scores = {"en": 0.55 + level + item + rng.normal(0, 0.03, (n_models, N))}
    for name, slope, noise in (
        *(("en~p1", 0.8, 0.05), ("en~p2", 0.7, 0.05), ("en~llm", 0.5, 0.05)),
        *(("es", 0.5, 0.08), ("hi", 0.2, 0.1)),
    ):
        scores[name] = 0.5 + slope * (scores["en"] - 0.5) + rng.normal(0, noise, (n_models, N))
    scores["es~p1"] = scores["es"] + rng.normal(0, 0.04, (n_models, N))
    scores["en~llm"][:, 10:] = NAN
    scores["es~p1"][:, 15:] = NAN
    scores["hi"][0, 3] = NAN
    scores = {name: np.clip(ss, 0.01, 0.99) for name, ss in scores.items() if name not in drop}
    fields = {"source": SOURCES, "dimension": ["warmth", "", "ability", "warmth"] * 6}
    judged = {name: JUDGED for name in ("es", "hi") if name in scores}
    return made_panel(scores, fields=fields, judgments=judged)


def with_metadata(panel: Panel, condition: str, name: str, values: list[object]) -> Panel:
    """The panel with one more entry in the metadata of a condition's versions."""
    versions = panel.versions.copy()
    at = dict(zip(panel.item_ids, values, strict=True))
    versions["metadata"] = [
        {**metadata, name: at[item_id]}
        if of == condition and not native and at[item_id] is not None
        else metadata
        for metadata, of, item_id, native in zip(
            versions["metadata"],
            versions["condition"],
            versions["item_id"],
            versions["native"],
            strict=True,
        )
    ]
    return replace(panel, versions=versions)


def pairs(panel: Panel, condition: str, items=slice(None), models=slice(None), kind="mean"):
    """Scores before and after of a condition's whole rows, (M, N) each."""
    scores = panel.scores(kind)
    before = scores[models, panel.at(panel.original(condition))][:, items]
    after = scores[models, panel.at(condition)][:, items]
    return before, after


def flat(*versions: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    x = np.concatenate([a.ravel() for a, _ in versions])
    y = np.concatenate([b.ravel() for _, b in versions])
    both = np.isfinite(x) & np.isfinite(y)
    return x[both], y[both]


def only(table: pd.DataFrame, **where: object) -> pd.Series:
    for column, value in where.items():
        table = table[table[column] == value]
    assert len(table) == 1
    return table.iloc[0]


def agrees(row: pd.Series, x: np.ndarray, y: np.ndarray, neutral: float = 0.5) -> None:
    fit = stats.linregress(x, y)
    assert row["n_rows"] == len(x)
    assert row["r"] == pytest.approx(fit.rvalue, abs=1e-12)
    assert row["slope"] == pytest.approx(fit.slope, abs=1e-12)
    assert row["slope"] == pytest.approx(row["r"] * row["sd_ratio"], abs=1e-12)
    assert row["intercept_at_half"] == pytest.approx(fit.intercept + neutral * fit.slope, abs=1e-12)
    assert row["r_low"] < row["r"] < row["r_high"]
    assert row["slope_low"] < row["slope"] < row["slope_high"]
    assert row["reason"] == ""


def test_rows_of_languages_and_models_agree_with_scipy():
    panel = made()
    table = association(panel, REQUEST).rows
    for language, n_items in (("es", N), ("hi", N)):
        row = only(table, condition=language, group_kind="all")
        agrees(row, *flat(pairs(panel, language)))
        assert (row["n_items"], row["scorer_id"], row["model"]) == (n_items, "", "all models")
        for m, model in enumerate(panel.models):
            row = only(table, condition=language, group_kind="model", model=model)
            agrees(row, *flat(pairs(panel, language, models=[m])))
            assert row["scorer_id"] == panel.scorers[m]
            assert row["r_within"] == pytest.approx(row["r"])


def test_slopes_within_models_agree_with_a_regression_on_model_dummies():
    panel = made()
    x, y = pairs(panel, "hi")
    both = np.isfinite(x) & np.isfinite(y)
    dummies = np.equal.outer(np.nonzero(both)[0], np.arange(3)).astype(float)
    fit = OLS(y[both], np.column_stack([x[both], dummies])).fit()
    row = only(association(panel, REQUEST).rows, condition="hi", group_kind="all")
    assert row["slope_within"] == pytest.approx(fit.params[0], abs=1e-12)
    assert row["slope_within"] != pytest.approx(row["slope"], abs=1e-3)


@pytest.mark.parametrize(
    ("drop", "behind"),
    [((), ("en~p1", "en~p2")), (("en~p1",), ("en~p2",)), (("en~p1", "en~p2"), ("en~llm",))],
)
def test_full_rewordings_of_english_make_one_row_and_all_if_none_is(drop, behind):
    panel = made(drop=drop)
    table = association(panel, REQUEST).rows
    versions = [pairs(panel, c) for c in behind]
    row = only(table, condition=REWORDING, group_kind="all")
    agrees(row, *flat(*versions))
    assert row["n_items"] == np.isfinite(np.array(versions)).all(axis=1).any(axis=(0, 1)).sum()
    for m, model in enumerate(panel.models):
        own = [(a[[m]], b[[m]]) for a, b in versions]
        agrees(only(table, condition=REWORDING, group_kind="model", model=model), *flat(*own))


def test_groups_are_the_rows_of_their_items():
    panel = made()
    table = association(panel, REQUEST).rows
    for kind, values, conditions in (
        ("source", SOURCES, ("es", "hi")),
        ("dimension", panel.items["dimension"], ("es", "hi")),
        ("judgment", JUDGED, ("es", "hi")),
    ):
        for group in set(values) - {""}:
            items = np.flatnonzero(np.array(values) == group)
            for condition in conditions:
                row = only(table, condition=condition, group_kind=kind, group=group)
                agrees(row, *flat(pairs(panel, condition, items)))
                assert row["n_items"] == len(items)
    bbq = np.flatnonzero(np.array(SOURCES) == "bbq")
    row = only(table, condition=REWORDING, group_kind="source", group="bbq")
    agrees(row, *flat(*(pairs(panel, c, bbq) for c in ("en~p1", "en~p2"))))
    assert not ((table["group_kind"] == "dimension") & (table["group"] == "")).any()
    assert table.loc[table["group_kind"] == "judgment", "group"].unique().tolist() == [
        "preserved",
        "partly",
        "lost",
    ]


def test_a_rewording_of_another_language_stands_beside_english_on_the_same_items():
    panel = made()
    table = association(panel, REQUEST).rows
    table = table[table["group_kind"] == REWORDING]
    row = only(table, condition="es~p1", same_items_in_english=False)
    agrees(row, *flat(pairs(panel, "es~p1")))
    assert row["n_items"] == 15
    row = only(table, condition="es~p1", same_items_in_english=True)
    agrees(row, *flat(pairs(panel, "en~p1", np.arange(15))))
    assert row["n_items"] == 15


def test_without_the_same_method_all_rewordings_of_english_stand_beside_it():
    panel = made(drop=("en~p1",))
    row = only(association(panel, REQUEST).rows, same_items_in_english=True)
    agrees(row, *flat(*(pairs(panel, c, np.arange(15)) for c in ("en~p2", "en~llm"))))


def test_rewordings_whose_fields_all_changed_have_a_row_of_their_own():
    unchanged = [0, 0.5, "0.0", 1, None, "much"] * 4
    changed = np.flatnonzero([u in (0, "0.0") for u in unchanged])
    panel = with_metadata(made(), "en~p1", "unchanged", unchanged)
    table = association(panel, REQUEST).rows
    row = only(table, condition="en~p1", group="all fields changed")
    agrees(row, *flat(pairs(panel, "en~p1", changed)))
    agrees(
        only(table, condition=REWORDING, group="all fields changed"),
        *flat(pairs(panel, "en~p1", changed)),
    )
    assert len(table[table["group"] == "all fields changed"]) == 2


def test_intercepts_are_those_of_the_association():
    panel = made()
    table, whole = intercept(panel, REQUEST).rows, association(panel, REQUEST).rows
    assert table["condition"].tolist() == ["es", "hi", REWORDING]
    names = ["intercept_at_half", "intercept_at_half_low", "intercept_at_half_high"]
    for condition in table["condition"]:
        one = only(table, condition=condition)
        other = only(whole, condition=condition, group_kind="all")
        assert one[names].tolist() == pytest.approx(other[names].tolist(), abs=1e-12)
        assert one["intercept_at_half_low"] < one["intercept_at_half_high"]
        assert (one["n_rows"], one["n_items"]) == (other["n_rows"], other["n_items"])


@pytest.mark.parametrize("kind", ["summed", "binary", "standardised"])
def test_other_kinds_of_score_are_read_at_their_own_neutral(kind):
    panel = made()
    row = only(
        association(panel, replace(REQUEST, kind=kind)).rows, condition="es", group_kind="all"
    )
    neutral = 0.0 if kind == "standardised" else 0.5
    agrees(row, *flat(pairs(panel, "es", kind=kind)), neutral)


def test_numbers_do_not_depend_on_which_other_conditions_are_there():
    whole = association(made(), REQUEST).rows
    alone = association(made(drop=("es", "es~p1")), REQUEST).rows
    where = {"condition": "hi", "group_kind": "all"}
    pd.testing.assert_series_equal(
        only(whole, **where), only(alone, **where), check_names=False, rtol=1e-9
    )


def test_without_a_rewording_the_ceiling_is_said_to_be_unknown():
    panel = made(drop=("en~p1", "en~p2", "en~llm"))
    found = association(panel, REQUEST)
    assert found.notes == (NO_REWORDING,)
    assert REWORDING not in found.rows["condition"].tolist()
    assert not found.rows["same_items_in_english"].any()
    assert "es" in found.rows["condition"].tolist()


def thin(ss_en: list, ss_es: list) -> pd.Series:
    panel = made_panel({"en": np.array(ss_en), "es": np.array(ss_es)})
    return only(association(panel, REQUEST).rows, condition="es", group_kind="all")


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ([[0.4, 0.6]], [[0.3, 0.7]], "3 items with both scores are needed, and there are 2."),
        (
            [[0.4, NAN, 0.3]],
            [[NAN, 0.3, NAN]],
            "3 items with both scores are needed, and there are 0.",
        ),
        ([[0.5] * 4], [[0.2, 0.3, 0.4, 0.5]], "The scores before or after the change do not vary."),
        ([[0.2, 0.3, 0.4]], [[0.5] * 3], "The scores before or after the change do not vary."),
        (
            [[0.2, 0.3, 0.4]],
            [[0.2, 0.3, 0.4]],
            "All draws of items give the same number, so there is no interval.",
        ),
    ],
)
def test_what_cannot_be_said_is_nan_with_a_reason(before, after, reason):
    row = thin(before, after)
    assert row["reason"] == reason
    assert np.isnan([row["r_low"], row["r_high"]]).all()
    assert np.isfinite(row["r"]) == reason.startswith("All draws")


def test_only_english_gives_an_empty_table_with_its_columns():
    panel = made_panel({"en": np.full((1, 4), 0.6)})
    for table in (association(panel, REQUEST).rows, intercept(panel, REQUEST).rows):
        assert table.empty
        assert "intercept_at_half_low" in table.columns

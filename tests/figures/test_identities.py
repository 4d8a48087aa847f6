"""Figures of identity pairs: what is drawn equals the tables, with n, reasons and the yardstick."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import plotly
import pytest

from core.analysis.identities.overview import MEAN, mean_label
from core.figures.colours import EVIDENCE
from core.figures.identities.harm import harm_scatter
from core.figures.identities.heatmap import identity_map
from core.figures.identities.intervals import share_intervals
from core.figures.identities.languages import language_plot
from core.figures.identities.parts import part_plot
from core.figures.identities.rows import Beside
from core.figures.theme import Figure, caption_of, themed

NAN = math.nan
BESIDE = Beside(floor=0.031, n_templates=11)
UNKNOWN = Beside(floor=NAN, n_templates=1)
ODD = 'Queer & <b>"trans"</b>'
COUNTS = {"n_ties": 2, "n_uninformative": 3, "n_not_scored": 1, "n_predicates": 30}


def sound(figure: Figure) -> None:
    """It has a caption, no name of the data stands as a tag in it, and both modes draw it."""
    assert caption_of(figure)
    assert figure.layout.dragmode is False
    assert figure.layout.xaxis.fixedrange
    assert figure.layout.yaxis.fixedrange
    for mode in ("light", "dark"):
        text = plotly.io.to_json(themed(figure, mode), validate=True)
        drawn = json.loads(text)
        shown = [drawn["layout"]["xaxis"], drawn["layout"]["yaxis"], hovers(figure)]
        assert "<b>" + '\\"trans' not in json.dumps(shown)


def hovers(figure: Figure) -> list[str]:
    """The last thing that each mark hands to its hover box."""
    return [data[-1] for trace in figure.data for data in trace.customdata or ()]


def row(model: str, share: float, half: float = 0.05, **columns: Any) -> dict[str, Any]:
    ends = {"share": share, "share_low": share - half, "share_high": share + half}
    usual = {"kind": "causal", "n_models": 1, "condition": "nl", "mark": "", "reason": ""}
    usual["row"] = MEAN if model.startswith("mean of") else "model"
    return {"model": model, **usual, **ends, "n": 400, **COUNTS, **columns}


def identity_rows() -> pd.DataFrame:
    """Two models and their mean, three identities, one of them undefined under one model."""
    mean = mean_label(2)
    nothing = {"n": 0, "reason": "No pair here has a choice, so nothing is defined."}
    return pd.DataFrame(
        [
            row("a <m>", 0.974, identity="Gay", mark="highest"),
            row("a <m>", 0.061, identity="Lesbian", mark="lowest"),
            row("a <m>", NAN, identity=ODD, **nothing),
            row("b", 0.52, identity="Gay", n=410),
            row("b", 0.44, identity="Lesbian", mark="lowest"),
            row("b", 0.62, NAN, identity=ODD, mark="highest"),
            row(mean, 0.747, identity="Gay", n_models=2, n=810, mark="highest"),
            row(mean, 0.2505, identity="Lesbian", n_models=2, n=800, mark="lowest"),
            row(mean, 0.62, identity=ODD, n_models=1),
        ]
    )


def bias(model: str, w: float, m: float, half: float = 0.02, **columns: Any) -> dict[str, Any]:
    usual = {
        "model": model,
        "condition": "nl",
        "n_identities": 3,
        "n": 1200,
        "reason": "",
        **COUNTS,
    }
    for name, value in (("bias_w", w), ("bias_m", m)):
        usual |= {name: value, f"{name}_low": value - half, f"{name}_high": value + half}
    return usual | columns


def overview_rows(model: str = "a <m>") -> pd.DataFrame:
    return pd.DataFrame([bias(model, 0.525, 0.507)])


def marks(figure: Figure) -> pd.DataFrame:
    """Every mark with an interval or without one: where, what, its colour and symbol."""
    found = [
        {
            "x": x,
            "y": y,
            "low": x - (t.error_x.arrayminus[i] if t.error_x.array else NAN),
            "high": x + (t.error_x.array[i] if t.error_x.array else NAN),
            "colour": t.marker.color,
            "symbol": t.marker.symbol[i],
            "title": t.customdata[i][0],
            "hover": t.customdata[i][1],
        }
        for t in figure.data
        if t.name in ("shown", "open", "none")
        for i, (x, y) in enumerate(zip(t.x, t.y, strict=True))
    ]
    return pd.DataFrame(found)


def named(figure: Figure) -> list[str]:
    """What the legend says."""
    return [trace.name for trace in figure.data if trace.showlegend is not False]


# ------------------------------------------------------------------------------ models by identity


def test_the_map_draws_every_share_of_the_table() -> None:
    rows = identity_rows()
    figure = identity_map(rows, beside=BESIDE)
    sound(figure)
    models, mean = figure.data[:2]
    drawn = [value for heat in (models, mean) for line in heat.z for value in line]
    assert [NAN if value is None else value for value in drawn] == pytest.approx(
        rows["share"].tolist(), nan_ok=True
    )
    assert (models.zmin, models.zmid, models.zmax) == (0, 0.5, 1)
    assert [list(line) for line in models.text] == [["97▲", "6▼", "–"], ["52", "44▼", "62▲"]]
    assert [list(line) for line in mean.text] == [["75▲", "25▼", "62"]]
    assert mean.y[0] > models.y[-1] + 1, "the mean stands apart"
    assert (models.showscale, mean.showscale) == (None, False)


def test_every_cell_of_the_map_can_be_clicked_and_says_its_numbers() -> None:
    rows = identity_rows()
    figure = identity_map(rows, beside=BESIDE)
    cells = figure.data[-1]
    assert [data[:2] for data in cells.customdata] == rows[
        ["model", "identity"]
    ].to_numpy().tolist()
    assert all(type(data) is list for data in cells.customdata)
    assert (cells.marker.opacity, cells.marker.symbol) == (0, "square")
    places = {y: i for i, y in enumerate(dict.fromkeys(cells.y))}
    assert [(places[y], x) for x, y in zip(cells.x, cells.y, strict=True)] == [
        (m, i) for m in range(3) for i in range(3)
    ]
    gay, _, undefined, *_, mean_of_one = (data[2] for data in cells.customdata)
    assert gay == (
        "<b>Gay</b>, a &lt;m&gt;<br>97.4 %, 95 % interval 92.4 to 102.4 %<br>n = 400 pairs (2 ties)"
        " of 30 predicates<br>left out: 3 uninformative, 1 not scored"
    )
    assert "undefined" in undefined
    assert "n = 0 pairs" in undefined
    assert "No pair here has a choice" in undefined
    assert "together" not in mean_of_one


def test_the_map_outlines_the_chosen_identity() -> None:
    rows = identity_rows()
    (shape,) = identity_map(rows, chosen=ODD, beside=BESIDE).layout.shapes
    assert (shape.x0, shape.x1) == (1.5, 2.5)
    assert f"Outlined: {ODD}." in caption_of(identity_map(rows, chosen=ODD, beside=BESIDE))
    assert not identity_map(rows, chosen="Nobody", beside=BESIDE).layout.shapes


def test_the_mean_of_the_map_says_whose_pairs_it_counts() -> None:
    figure = identity_map(identity_rows(), beside=BESIDE)
    mean = next(data[2] for data in figure.data[-1].customdata if data[0] == mean_label(2))
    assert "<br>of 2 models together:<br>n = 810 pairs" in mean


def test_many_identities_have_their_marks_below_their_numbers() -> None:
    rows = pd.DataFrame([row("a", i / 20, identity=f"group {i}", mark="") for i in range(20)])
    rows.loc[0, "mark"], rows.loc[19, "mark"] = "lowest", "highest"
    figure = identity_map(rows, beside=UNKNOWN)
    sound(figure)
    texts = figure.data[0].text[0]
    assert (texts[0], texts[1], texts[-1]) == ("0<br>▼", "5", "95<br>▲")
    assert figure.layout.xaxis.tickangle == -90


def test_cells_of_very_many_identities_have_their_numbers_on_hover_alone() -> None:
    rows = pd.DataFrame([row("a", i / 60, identity=f"group {i}", mark="") for i in range(60)])
    rows.loc[0, "mark"] = "lowest"
    figure = identity_map(rows, beside=UNKNOWN)
    sound(figure)
    assert figure.data[0].text[0][:3] == ["▼", "", ""]
    assert "5.0 %" in hovers(figure)[3]
    assert "Too many identities for numbers: hover." in caption_of(figure)


def test_the_caption_of_the_map_counts_what_it_shows() -> None:
    caption = caption_of(identity_map(identity_rows(), beside=BESIDE))
    assert "Dutch" in caption
    assert "2 models and 3 identities" in caption
    assert "n = 0 to 410 pairs per cell" in caption, "the mean's n is of all models"
    assert "1 of 9 cells are undefined" in caption
    assert "bias (W) by 3.1 points (n = 11 templates)" in caption
    assert "is not known: no two make the same claim" in caption_of(
        identity_map(identity_rows(), beside=UNKNOWN)
    )


def test_one_model_with_one_identity_has_no_mean_and_no_marks() -> None:
    rows = pd.DataFrame([row("a", 0.5, identity="Gay")])
    figure = identity_map(rows, chosen="Gay", beside=UNKNOWN)
    sound(figure)
    assert len(figure.data) == 2
    assert figure.data[0].text[0][0] == "50"
    assert "1 model and 1 identity" in caption_of(figure)
    assert "mean over the models" not in caption_of(figure)


def test_a_map_without_rows_says_so() -> None:
    figure = identity_map(identity_rows().iloc[:0], beside=UNKNOWN)
    sound(figure)
    assert "nothing to draw" in caption_of(figure)


def test_names_of_models_and_identities_keep_room_for_the_cells() -> None:
    long = "organisation-Meta-Llama-3.1-8B-Instruct, nf4 in bfloat16"
    rows = pd.DataFrame([row(long, 0.5, identity="people of the whole wide world & beyond")])
    figure = identity_map(rows, beside=UNKNOWN)
    lines = figure.layout.yaxis.ticktext[0].split("<br>")
    assert len(lines) == 2
    assert max(map(len, lines)) <= 18
    assert lines[1].endswith("bfloat16")
    assert len(figure.layout.xaxis.ticktext[0]) <= 18
    assert long in figure.data[-1].customdata[0][2]


# --------------------------------------------------------------------------- identities of a model


def test_intervals_are_those_of_the_tables_and_coloured_by_what_they_leave_out() -> None:
    rows = identity_rows()[lambda t: t["model"] == "b"]
    over = overview_rows("b")
    figure = share_intervals(rows, over, beside=BESIDE)
    sound(figure)
    drawn = marks(figure).sort_values("y")
    expected = [0.525, 0.507, 0.52, 0.44, 0.62]
    assert drawn["x"].tolist() == pytest.approx(expected)
    assert drawn["low"].tolist() == pytest.approx([0.505, 0.487, 0.47, 0.39, NAN], nan_ok=True)
    assert drawn["high"].tolist() == pytest.approx([0.545, 0.527, 0.57, 0.49, NAN], nan_ok=True)
    shown = EVIDENCE["shown"]
    assert [colour == shown for colour in drawn["colour"]] == [True, False, False, True, False]
    assert drawn["symbol"].tolist() == ["diamond", "square", "circle", "circle", "circle"]
    assert drawn["title"].tolist()[2:] == [
        "Gay",
        "Lesbian",
        'Queer &amp; &lt;b&gt;"trans"&lt;/b&gt;',
    ]
    assert "no interval" in drawn["hover"].iloc[-1]
    assert "\u2003no interval\u2003" in {t for trace in figure.data for t in trace.text or ()}
    assert named(figure) == [
        "another template: ±3.1 points",
        "95 % interval leaves out 50 % (n = 2)",
        "95 % interval holds 50 % (n = 2)",
        "no interval (n = 1)",
    ]
    caption = caption_of(figure)
    assert "b, Dutch" in caption
    assert "3 identities (circles, n = 400 to 410 pairs)" in caption
    assert "(2 of 5 marks)" in caption


def test_an_interval_that_ends_at_one_half_does_not_leave_it_out() -> None:
    rows = pd.DataFrame([row("b", 0.55, 0.05, identity="Gay")])
    rows["share_low"] = 0.5
    (colour,) = marks(share_intervals(rows, overview_rows().iloc[:0], beside=UNKNOWN))["colour"]
    assert colour == EVIDENCE["open"]


def test_the_band_is_as_wide_as_the_floor_and_absent_without_one() -> None:
    rows = identity_rows()[lambda t: t["model"] == "b"]
    parts = pd.DataFrame([bias("b", 0.6, 0.55, part="T1")])
    for beside, n_shapes in ((BESIDE, 2), (UNKNOWN, 1)):
        for figure in (
            share_intervals(rows, overview_rows("b"), beside=beside),
            part_plot(parts, "b", beside=beside, title="templates"),
        ):
            *bands, line = figure.layout.shapes
            assert len(figure.layout.shapes) == n_shapes
            assert (line.x0, line.x1) == (0.5, 0.5)
            assert line.y0 <= figure.layout.yaxis.range[1]
            for band in bands:
                assert (band.x0, band.x1) == pytest.approx((0.469, 0.531))
                assert band.layer == "below"
            assert ("Grey band" in caption_of(figure)) == bool(bands)


def test_an_undefined_share_is_a_dash_at_the_edge_with_its_reason() -> None:
    rows = identity_rows()[lambda t: t["model"] == "a <m>"]
    figure = share_intervals(rows, overview_rows(), beside=BESIDE)
    sound(figure)
    (dashes,) = (trace for trace in figure.data if trace.name == "undefined")
    assert dashes.xaxis == "x2"
    assert list(dashes.text) == ["– undefined"]
    assert list(dashes.y) == [figure.layout.yaxis.tickvals[-1]]
    assert "No pair here has a choice" in dashes.customdata[0][1]
    assert "1 of 5 are undefined" in caption_of(figure)
    assert "400" in figure.layout.yaxis.ticktext[2]
    assert "(0)" in figure.layout.yaxis.ticktext[-1]


def test_nothing_but_undefined_shares_is_drawn_as_dashes() -> None:
    rows = pd.DataFrame([row("a", NAN, identity=i, n=0, reason="None.") for i in ("Gay", "Queer")])
    over = pd.DataFrame([bias("a", NAN, NAN, n=0, reason="None.")])
    figure = share_intervals(rows, over, beside=UNKNOWN)
    sound(figure)
    assert marks(figure).empty
    assert all(math.isfinite(end) for end in figure.layout.xaxis.range)
    assert "(0 of 0 marks)" in caption_of(figure)
    sound(identity_map(rows, beside=UNKNOWN))
    sound(share_intervals(rows.iloc[:0], over.iloc[:0], beside=UNKNOWN))


def with_confounds(rows: pd.DataFrame, **changes: Any) -> pd.DataFrame:
    """The rows of all pairs, and of those without confounded ones."""
    return pd.concat(
        [rows.assign(pairs="all"), rows.assign(pairs="without confounded", **changes)],
        ignore_index=True,
    )


def test_confounded_pairs_are_filled_with_and_open_without_side_by_side() -> None:
    rows = identity_rows()[lambda t: t["model"] == "b"]
    figure = share_intervals(
        with_confounds(rows, share=0.51, n=390),
        with_confounds(overview_rows("b"), n=1100),
        beside=BESIDE,
    )
    sound(figure)
    drawn = marks(figure).sort_values("y")
    symbols = ["diamond", "square", "circle", "circle", "circle"]
    assert drawn["symbol"].tolist() == [s + end for s in symbols for end in ("", "-open")]
    open_ones = drawn["symbol"].str.endswith("-open")
    assert drawn.loc[open_ones, "x"].tolist()[2:] == [0.51] * 3
    assert (drawn.loc[open_ones, "title"].str.endswith("without confounded pairs")).all()
    assert drawn.loc[open_ones, "hover"].str.contains("n = 390 pairs").sum() == 3
    gaps = drawn.loc[open_ones, "y"].to_numpy() - drawn.loc[~open_ones, "y"].to_numpy()
    assert ((gaps > 0) & (gaps < 0.5)).all(), "both stand in one row"
    assert "(1,200)" in figure.layout.yaxis.ticktext[0], "rows name the n of all pairs"
    assert {"all pairs", "without confounded pairs"} <= set(named(figure))
    assert "open: without those that differ in more than the identity" in caption_of(figure)


# ----------------------------------------------------------------------------------------- parts


def part_rows() -> pd.DataFrame:
    return pd.DataFrame(
        [
            bias("a", 0.53, 0.51, part="T1 <i>"),
            bias("b", 0.41, 0.45, part="T1 <i>"),
            bias("c", NAN, NAN, part="T1 <i>", n=0, reason="None."),
            bias("a", 0.50, 0.56, part="T2", n=600),
            bias("b", 0.62, 0.60, part="T2"),
            bias("c", 0.44, 0.43, part="T2"),
        ]
    )


def test_parts_draw_both_measures_of_the_chosen_model_and_the_others_behind() -> None:
    figure = part_plot(part_rows(), "a", beside=BESIDE, title="templates")
    sound(figure)
    drawn = marks(figure).sort_values("y")
    assert drawn["x"].tolist() == [0.53, 0.51, 0.50, 0.56]
    assert drawn["symbol"].tolist() == ["circle", "square"] * 2
    assert drawn["low"].tolist() == pytest.approx([0.51, 0.49, 0.48, 0.54])
    assert drawn["title"].tolist()[:2] == [
        "T1 &lt;i&gt;, bias (W)",
        "T1 &lt;i&gt;, bias (M)",
    ]
    (faint,) = (trace for trace in figure.data if "other model" in (trace.name or ""))
    assert faint.name == "bias (W) of 2 other models"
    places = drawn.loc[drawn["symbol"] == "circle", "y"].tolist()
    assert sorted(zip(faint.x, faint.y, strict=True)) == sorted(
        [(0.41, places[0]), (0.62, places[1]), (0.44, places[1])]
    )
    assert faint.customdata[0][0] == "b, T1 &lt;i&gt;, bias (W)"
    assert list(figure.layout.yaxis.ticktext) == ["T1 &lt;i&gt; (1,200)", "T2 (600)"]
    caption = caption_of(figure)
    assert "a, Dutch, by templates (2)" in caption
    assert "n = 600 to 1,200 pairs" in caption
    assert "Faint dots: bias (W) of 2 other models" in caption
    assert "(2 of 4 marks)" in caption


def test_parts_of_one_model_have_no_dots_behind_them() -> None:
    figure = part_plot(
        part_rows()[lambda t: t["model"] == "c"], "c", beside=UNKNOWN, title="templates"
    )
    sound(figure)
    assert not any("other model" in (trace.name or "") for trace in figure.data)
    assert "Faint" not in caption_of(figure)
    (dashes,) = (trace for trace in figure.data if trace.name == "undefined")
    assert len(dashes.y) == 2, "bias (W) and (M) of the first part"
    assert "2 of 4 are undefined" in caption_of(figure)


def test_parts_with_and_without_confounded_pairs_stand_side_by_side() -> None:
    figure = part_plot(with_confounds(part_rows()), "b", beside=BESIDE, title="templates")
    drawn = marks(figure).sort_values("y")
    assert drawn["symbol"].tolist() == ["circle", "square", "circle-open", "square-open"] * 2
    assert [round(y) for y in drawn["y"]] == [0] * 4 + [1] * 4
    (faint,) = (trace for trace in figure.data if "other models" in (trace.name or ""))
    circles = set(drawn.loc[drawn["symbol"].str.startswith("circle"), "y"])
    assert set(faint.y) == circles
    assert "bias (M), without confounded pairs" in named(figure)


def test_a_part_table_without_the_model_says_so() -> None:
    figure = part_plot(part_rows(), "nobody", beside=BESIDE, title="tiers")
    sound(figure)
    assert "No pairs by tiers" in caption_of(figure)


# ----------------------------------------------------------------------------------- harmfulness


def predicate_rows() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "model": "a",
            "condition": "nl",
            "predicate": pd.Categorical(["are <cold>", "lie", "steal & lie", "hide", "sing"]),
            "harmfulness": [-1.0, 1.5, 4.0, NAN, 2.0],
            "mean_difference": [-0.4, 0.1, 0.75, 0.2, NAN],
            "tier": [1.0, NAN, 3.0, NAN, 2.0],
            "n": [230, 1, 12, 40, 0],
            "reason": ["", "", "", "Not rated.", "No pair of it has a choice."],
        }
    )


def correlation(**changes: Any) -> dict[str, Any]:
    usual = {"r_rows": 0.159, "p_rows": 0.00001, "n": 42906, "rows": "rows are not independent"}
    for name, r in (("pearson", 0.347), ("spearman", 0.342)):
        usual |= {name: r, f"{name}_low": r - 0.1, f"{name}_high": r + 0.1, f"{name}_p": 0.012}
    return usual | {"n_predicates": 3, "reason": ""} | changes


def test_every_rated_predicate_is_a_dot_with_its_name_and_numbers() -> None:
    rows = predicate_rows()
    figure = harm_scatter(rows, correlation())
    sound(figure)
    line, dots = figure.data
    assert list(zip(dots.x, dots.y, strict=True)) == [(-1, -0.4), (1.5, 0.1), (4, 0.75)]
    assert [name for name, _ in dots.customdata] == ["are &lt;cold&gt;", "lie", "steal &amp; lie"]
    assert dots.customdata[0][1] == (
        "harmfulness \u22121.00, tier 1<br>mean difference \u22120.400 nats, n = 230 pairs"
    )
    assert "no tier" in dots.customdata[1][1]
    assert "n = 1 pair" in dots.customdata[1][1]
    slope, start = np.linalg.lstsq(
        np.column_stack([list(dots.x), np.ones(3)]), np.array(dots.y), rcond=None
    )[0]
    assert list(line.y) == pytest.approx([start + slope * x for x in line.x])
    assert list(line.x) == [-1, 4]
    low, high = figure.layout.xaxis.range
    assert low < -1
    assert high > 4


def test_the_caption_of_harmfulness_has_both_correlations_and_what_is_not_drawn() -> None:
    caption = caption_of(harm_scatter(predicate_rows(), correlation()))
    assert "n = 3 predicates." in caption
    assert "Pearson 0.35 [0.25, 0.45], p = 0.012" in caption
    assert "Spearman 0.34 [0.24, 0.44], p = 0.012; n = 3" in caption
    assert "Pearson 0.16, p < 0.0001, n = 42,906 pairs, but rows are not independent" in caption
    assert "Not drawn: 1 not rated, 1 rated but without a difference." in caption


def test_without_a_correlation_there_is_no_line() -> None:
    undefined = dict.fromkeys(("pearson", "spearman", "r_rows", "pearson_low"), NAN)
    found = correlation(**undefined, reason="2 rated predicates with a choice.")
    figure = harm_scatter(predicate_rows().iloc[:2], found)
    sound(figure)
    assert [trace.mode for trace in figure.data] == ["markers"]
    caption = caption_of(figure)
    assert "Pearson undefined; Spearman undefined" in caption
    assert "By row, as published: undefined" in caption
    assert "2 rated predicates with a choice." in caption


@pytest.mark.parametrize("n", [0, 1])
def test_without_ratings_the_figure_says_why_it_is_empty(n: int) -> None:
    rows = predicate_rows().iloc[3 : 3 + n]
    nothing = dict.fromkeys(("pearson", "spearman", "r_rows"), NAN)
    figure = harm_scatter(rows, correlation(**nothing, n=0, n_predicates=0))
    sound(figure)
    assert not figure.data
    (note,) = figure.layout.annotations
    assert "so nothing is drawn" in note.text.replace("<br>", " ")
    assert ("1 not rated" in caption_of(figure)) == (n == 1)


# ------------------------------------------------------------------------------------- languages


def language_rows() -> pd.DataFrame:
    def one(measure: str, x: float, y: float, half: float = 0.04, **columns: Any) -> dict[str, Any]:
        return {
            "model": "a",
            "measure": measure,
            "dataset": "mine <nl>",
            "condition": "nl",
            "other_dataset": "starter-en",
            "other": "en",
            "share": x,
            "share_other": y,
            "difference": x - y,
            "difference_low": x - y - half,
            "difference_high": x - y + half,
            "n": 5840,
            "n_other": 5000,
            "n_predicates": 25,
            "reason": "",
        } | columns

    return pd.DataFrame(
        [
            one("bias (W)", 0.6, 0.5),
            one("bias (M)", 0.51, 0.53),
            one(ODD, 0.4, 0.5, NAN, n=40, reason="Fewer than 5 predicates."),
            one("Gay", NAN, 0.5, n=0, n_predicates=0, reason="No pair here has a choice."),
        ]
    )


def test_languages_draw_differences_in_points_around_zero_with_both_shares() -> None:
    rows = language_rows()
    figure = language_plot(rows, beside=BESIDE)
    sound(figure)
    drawn = marks(figure).sort_values("y")
    assert drawn["x"].tolist() == pytest.approx([10, -2, -10])
    assert drawn["low"].tolist() == pytest.approx([6, -6, NAN], nan_ok=True)
    assert drawn["high"].tolist() == pytest.approx([14, 2, NAN], nan_ok=True)
    assert [c == EVIDENCE["shown"] for c in drawn["colour"]] == [True, False, False]
    assert drawn["hover"].iloc[0] == (
        "difference 10.0 points, 95 % interval 6.0 to 14.0 points<br>"
        "mine &lt;nl&gt; (Dutch): 60.0 %, n = 5,840 pairs<br>"
        "starter-en (English): 50.0 %, n = 5,000 pairs<br>25 shared predicates"
    )
    (shares,) = (trace for trace in figure.data if trace.name == "shares")
    assert list(shares.text) == [
        "60.0 % (n 5,840) \u2212 50.0 % (n 5,000)",
        "51.0 % (n 5,840) \u2212 53.0 % (n 5,000)",
        "40.0 % (n 40) \u2212 50.0 % (n 5,000)",
        "– (n 0) \u2212 50.0 % (n 5,000)",
    ]
    (dashes,) = (trace for trace in figure.data if trace.name == "undefined")
    assert "No pair here has a choice." in dashes.customdata[0][1]
    band, line = figure.layout.shapes
    assert (band.x0, band.x1) == pytest.approx((-3.1, 3.1))
    assert (line.x0, line.x1) == (0, 0)


def test_languages_without_confounded_pairs_stand_below_those_with_all() -> None:
    rows = language_rows()
    figure = language_plot(with_confounds(rows, n=30), beside=BESIDE)
    sound(figure)
    drawn = marks(figure).sort_values("y")
    assert drawn["symbol"].tolist() == [
        s + end for s in ("diamond", "square", "circle") for end in ("", "-open")
    ]
    assert [round(y) for y in drawn["y"]] == [0, 0, 1, 1, 2, 2]
    (shares,) = (trace for trace in figure.data if trace.name == "shares")
    assert sum("(n 30)" in text for text in shares.text) == len(rows)
    assert len(figure.layout.yaxis.tickvals) == len(rows)
    assert "open: without those" in caption_of(figure)


def test_the_caption_of_languages_names_both_data_sets_and_what_they_share() -> None:
    caption = caption_of(language_plot(language_rows(), beside=BESIDE))
    assert "mine <nl> (Dutch) less that in starter-en (English)" in caption
    assert "25 shared predicates" in caption
    assert "on both sides of 0: the same claims in another single template move" in caption
    assert "n = 0 to 5,840 and 5,000 pairs" in caption
    assert "(1 of 3 marks)" in caption
    assert "1 of 4 are undefined" in caption


def test_languages_without_rows_say_so() -> None:
    figure = language_plot(language_rows().iloc[:0], beside=BESIDE)
    sound(figure)
    assert "nothing to draw" in caption_of(figure)


def test_the_map_has_the_median_floor_of_several_models() -> None:
    figure = identity_map(identity_rows(), beside=Beside(0.031, 11, n_models=2))
    assert "by 3.1 points (n = 11 templates; median of 2 models)" in caption_of(figure)


def test_means_of_several_kinds_stand_apart_from_the_models() -> None:
    rows = [row(model, 0.6, identity="Gay") for model in ("a", "b", "mean of 2 masked models")]
    rows += [row("mean of 3 causal models", 0.7, identity="Gay", n_models=3)]
    figure = identity_map(pd.DataFrame(rows), beside=BESIDE)
    sound(figure)
    assert list(figure.layout.yaxis.tickvals) == pytest.approx([0, 1, 2.4, 3.4])
    assert [len(trace.z) for trace in figure.data[:2]] == [2, 2]
    assert "2 models and 1 identity" in caption_of(figure)
    assert "The last rows are the means over the models of a kind" in caption_of(figure)


def test_a_part_of_one_identity_has_one_mark() -> None:
    rows = part_rows().assign(n_identities=1)
    figure = part_plot(rows, "a", beside=BESIDE, title="whom they are held against")
    sound(figure)
    assert len(marks(figure)) == 2, "bias (M) of one identity is bias (W)"
    assert "over the pairs of each; n" in caption_of(figure)

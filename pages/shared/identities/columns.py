"""Columns of the tables of identity pairs: labels, digits, and what they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.audit.words import number
from pages.shared.tables import MISSING, pvalue


def _share(label: str, text: str = "") -> Any:
    return st.column_config.NumberColumn(label, format="percent", help=text or None)


def _number(label: str, digits: int = 0, *, sign: bool = False, text: str = "") -> Any:
    return st.column_config.NumberColumn(
        label, format=f"%{'+' if sign else ''}.{digits}f", help=text or None
    )


def _text(label: str, text: str = "", *, pinned: bool = False) -> Any:
    return st.column_config.TextColumn(label, help=text or None, pinned=pinned)


_OVER = "Resamples of the predicates, each with all its pairs; fewer than five give no interval"
PAIRS = _text("Pairs", "All, or without those that differ in more than the identity")
MODEL = _text("Model", pinned=True)
N = _number("n", text="Pairs with a choice, ties included")
LEFT_OUT: Mapping[str, Any] = {
    "n_ties": _number("Ties", text="Counted one half"),
    "n_uninformative": _number(
        "Uninformative", text="Nothing the model scores follows the difference; left out"
    ),
    "n_not_scored": _number("Not scored", text="Left out"),
    "n_predicates": _number("Predicates"),
    "reason": st.column_config.TextColumn("Why a dash, or how sure", width="large"),
}
_BIAS: Mapping[str, Any] = {
    "bias_w": _share("Bias (W)", "Share of all pairs that prefer the stereotypical sentence"),
    "bias_w_between": _text("95 % of (W)", _OVER),
    "bias_m": _share("Bias (M)", "Mean of the identities' shares"),
    "bias_m_between": _text("95 % of (M)", _OVER),
    "spread_points": _number(
        "Spread, points", 1, text="Highest less lowest share of an identity, too large by chance"
    ),
    "spread_between": _text("95 % of spread", "For all identities at once"),
}
OVERVIEW: Mapping[str, Any] = {
    "model": MODEL,
    "kind": _text("Kind", "Masked, causal and imported scores are not comparable"),
    "pairs": PAIRS,
    **_BIAS,
    "floor_points": _number(
        "Template floor, points", 1, text="What another wording of the same claims moves"
    ),
    "lowest": _text("Lowest"),
    "highest": _text("Highest"),
    "n": N,
    "bias_w_multiway_between": _text(
        "(W), multiway", "Predicates, templates and names drawn at once"
    ),
    "bias_w_binomial_between": _text(
        "(W), binomial", "Takes every pair for a new finding: too narrow"
    ),
    **LEFT_OUT,
}
IDENTITIES: Mapping[str, Any] = {
    "identity": _text("Identity", pinned=True),
    "pairs": PAIRS,
    "share": _share("Share", "Of its pairs that prefer the stereotypical sentence"),
    "share_between": _text("95 %", _OVER),
    "mark": _text("Mark", "Whether it is the model's highest or lowest share"),
    "side": _text("Clearly", "Above or below 50 %, all identities taken together"),
    "n": N,
    **LEFT_OUT,
}
PARTS: Mapping[str, Any] = {
    "part": _text("Part", pinned=True),
    "pairs": PAIRS,
    **_BIAS,
    "n": N,
    **LEFT_OUT,
}
RULES: Mapping[str, Any] = {
    "model": MODEL,
    "kind": _text("Kind"),
    "pairs": PAIRS,
    "bias_w": _share("(W) by words"),
    "bias_w_published": _share("(W) as published", "Tokens, three decimals, ties against"),
    "bias_m": _share("(M) by words"),
    "bias_m_published": _share("(M) as published"),
    "spread": _share("Spread by words"),
    "spread_published": _share("Spread as published"),
    "share_flips": _share("Flips", "Pairs whose preference differs between words and tokens"),
    "n_flips": _number("n flips"),
    "n_both": _number("n both", text="Pairs with a choice by both rules"),
    "n": N,
    "n_published": _number("n published"),
    "reason": st.column_config.TextColumn("Why a dash", width="medium"),
}
KINDS: Mapping[str, Any] = {
    "kind": _text("Kind", pinned=True),
    "pairs": PAIRS,
    "n_models": _number("n models"),
    "bias_w": _share("Bias (W)", "Mean over the models of a kind"),
    "bias_w_range": _text("Least to most"),
    "bias_m": _share("Bias (M)", "Mean over the models of a kind"),
    "bias_m_range": _text("Least to most"),
    "spread_points": _number("Spread, points", 1, text="Mean over the models of a kind"),
    "spread_range": _text("Least to most"),
    "n": _number("n", text="Pairs with a choice, of all models of the kind"),
    "reason": st.column_config.TextColumn("Why a dash", width="medium"),
}
HARM: Mapping[str, Any] = {
    "model": MODEL,
    "pairs": PAIRS,
    "pearson": _number("Pearson", 3, sign=True, text="By predicate, centred differences"),
    "pearson_between": _text("95 %", "Drawing predicates"),
    "pearson_p": pvalue("p", "Harmfulness permuted over predicates"),
    "spearman": _number("Spearman", 3, sign=True, text="By predicate"),
    "spearman_between": _text("95 % ", "Drawing predicates"),
    "spearman_p": pvalue("p ", "Harmfulness permuted over predicates"),
    "n_predicates": _number("n predicates"),
    "r_rows": _number("r by row", 3, sign=True, text="As published: rows are not independent"),
    "p_rows": pvalue("p by row", "As published: far too small"),
    "n": _number("n rows"),
    "reason": st.column_config.TextColumn("Why a dash", width="medium"),
}
LANGUAGES: Mapping[str, Any] = {
    "measure": _text("Of", pinned=True),
    "pairs": PAIRS,
    "other_dataset": _text("Against"),
    "other": _text("Language"),
    "share": _share("Here"),
    "share_other": _share("There"),
    "points": _number("Here less there", 1, sign=True, text="In percentage points"),
    "difference_between": _text("95 %", "The same predicates drawn in both"),
    "floor_points": _number(
        "Floor here", 1, text="Points that another template of the same claims moves bias (W)"
    ),
    "floor_points_other": _number("Floor there", 1, text="The same in the other language"),
    "n": _number("n here"),
    "n_other": _number("n there"),
    "n_predicates": _number("Predicates", text="Shared by both"),
    "reason": LEFT_OUT["reason"],
}
CONFOUNDS: Mapping[str, Any] = {
    "identity": _text("Identity", pinned=True),
    "counterfactual": _text("Held against"),
    "template": _text("Template"),
    "n_confounded": _number("Confounded", text="Pairs that differ in more than the identity"),
    "n": _number("n", text="Pairs of the group"),
    "share_confounded": _share("Share"),
    "words": st.column_config.TextColumn("Differ in", width="large"),
}
COUNTS: Mapping[str, Any] = {
    "identity": _text("Identity", pinned=True),
    "pairs": PAIRS,
    "n": _number("Pairs"),
    "share_of_pairs": _share("Of all"),
    "n_counterfactuals": _number("Counterfactuals"),
    "n_predicates": _number("Predicates"),
    "n_templates": _number("Templates"),
    "n_names": _number("Names"),
    "n_survey_added": _number("Survey-added", text="Pairs of predicates that participants added"),
    "n_rated": _number("Rated", text="Pairs with a harmfulness"),
}


_POINTS = {
    "template_floor": "floor_points",
    "template_floor_other": "floor_points_other",
    "spread": "spread_points",
}


def held(columns: Mapping[str, Any], rows: pd.DataFrame) -> dict[str, Any]:
    """The columns that the rows have: `pairs` is one only where some are confounded."""
    return {name: column for name, column in columns.items() if name in rows}


def with_intervals(rows: pd.DataFrame, *, percent: bool = True) -> pd.DataFrame:
    """The rows with each interval as a text beside its ends; a dash where it is undefined.

    Parameters
    ----------
    percent
        Whether they are of shares, shown in per cent; else of correlations.
    """
    there = [str(name) for name in rows]
    names = [name.removesuffix("_low") for name in there if name.endswith("_low")]
    ranges = [name.removesuffix("_least") for name in there if name.endswith("_least")]
    texts = {f"{name}_between": _between(rows, name, "low", "high", percent) for name in names}
    texts |= {f"{name}_range": _between(rows, name, "least", "most", percent) for name in ranges}
    texts |= {points: 100 * rows[name] for name, points in _POINTS.items() if name in rows}
    return rows.assign(**texts)


def _between(rows: pd.DataFrame, name: str, low: str, high: str, percent: bool) -> pd.Series:
    scale, digits, unit = (100, 1, " %") if percent else (1, 3, "")
    unit = " points" if name in ("spread", "difference") else unit
    ends = zip(scale * rows[f"{name}_{low}"], scale * rows[f"{name}_{high}"], strict=True)
    words = [
        MISSING if pd.isna(a) or pd.isna(b) else f"{number(a, digits)} to {number(b, digits)}{unit}"
        for a, b in ends
    ]
    return pd.Series(words, rows.index, dtype=object)

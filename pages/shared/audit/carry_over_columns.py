"""Labels of the tables on the Carry-over page, as the reader sees them."""

from __future__ import annotations

from typing import Any

import streamlit as st

Columns = dict[str, Any]


def _number(label: str, help_text: str = "", digits: int = 3, *, sign: bool = False) -> Any:
    fmt = f"%{'+' if sign else ''}.{digits}f"
    return st.column_config.NumberColumn(label, format=fmt, help=help_text or None)


def _interval(
    name: str, label: str, help_text: str = "", *, digits: int = 3, sign: bool = False
) -> Columns:
    return {
        name: _number(label, help_text, digits, sign=sign),
        f"{name}_low": _number(f"{label}, low", "95 %, over items", digits, sign=sign),
        f"{name}_high": _number(f"{label}, high", "95 %, over items", digits, sign=sign),
    }


_CONDITION = {"condition": st.column_config.TextColumn("Version", pinned=True)}
_REASON = {"reason": st.column_config.TextColumn("Why not", help="Why a number is missing")}

ASSOCIATION: Columns = {
    **_CONDITION,
    "group_kind": "Of",
    "group": "Which",
    "n_rows": "n scores",
    "n_items": "n items",
    **_interval("slope", "Slope", "Kept of what sets items apart: r times the ratio of sds"),
    **_interval("r", "r", "Pearson, scores before against after"),
    "sd_ratio": _number("Ratio of sds", "sd after over sd before"),
    "slope_within": _number("Slope within", "After centring the scores of each model"),
    "r_within": _number("r within", "After centring the scores of each model"),
    **_REASON,
}
SAME_CHOICE: Columns = {
    **_CONDITION,
    "model": "Model",
    "n": "n scores",
    "n_items": "n items",
    "same_choice": _number("Same choice", "Share with the same pole preferred in both versions"),
    "same_choice_expected": _number("By chance", "If the choices in both were independent"),
    "kappa": _number("Kappa", "Same choice beyond chance: 0 none, 1 all"),
    **_REASON,
}
FATES: Columns = {
    **_CONDITION,
    "n": "n scores",
    "n_items": "n items",
    "n_above": st.column_config.NumberColumn("Above .55", help="Before the change"),
    "kept": "Above, kept",
    "neutral": "Above, neutral",
    "reversed": "Above, reversed",
    "n_below": st.column_config.NumberColumn("Below .45", help="Before the change"),
    "kept_below": "Below, kept",
    "neutral_below": "Below, neutral",
    "reversed_below": "Below, reversed",
    **_REASON,
}
AGREEMENT: Columns = {
    **_CONDITION,
    "n_models": "n models",
    "n_items": "n items",
    "r_scores": _number("r of scores", "Mean over pairs of models"),
    "r_changes": _number("r of changes", "Changes from the original"),
    "r_changes_if_unrelated": _number(
        "... by construction", "What changes agree by sharing the score in the original"
    ),
    "r_residuals": _number("r of residuals", "After each model's regression on the original"),
    **_REASON,
}
DISTANCE: Columns = {
    **_CONDITION,
    "n": "n scores",
    "n_items": "n items",
    "distance": _number("Mean |score − 0.5|", "How strong preferences are, whichever way"),
    "distance_original": _number("... in the original", "Over the same scores"),
    **_REASON,
}
INTERCEPT: Columns = {
    **_CONDITION,
    "n_rows": "n scores",
    "n_items": "n items",
    **_interval("intercept_at_half", "Ends at", "Fitted score where English is neutral"),
    **_REASON,
}
ATTENUATION: Columns = {
    **_CONDITION,
    "n_items": "n items",
    "n_models": "n models",
    **_interval("r_ratio", "r over rewording", "r with English over r of rewordings, same items"),
    **_interval("r_cross", "r with English"),
    **_interval("r_reworded", "r of rewordings"),
    "n_items_corrected": "n items corrected",
    **_interval("r_corrected", "r corrected", "Over the root of both reliabilities, not clipped"),
    "reliability_english": _number("Reliability English"),
    "reliability_language": _number("Reliability here"),
    **_REASON,
}
FILTERS: Columns = {
    **_CONDITION,
    "group": st.column_config.TextColumn("Filter", width="medium"),
    "n": "n pass",
    "n_total": "n decided",
    "n_items": "n items",
    "drop_rows_unfiltered": _number("Drop, all", sign=True),
    **_interval("drop_rows", "Drop, passing", "Score in English minus score here", sign=True),
    **_interval(
        "reduction", "Reduction", "How much smaller the drop is among those that pass", sign=True
    ),
    **_REASON,
}
JUDGED: Columns = {
    **_CONDITION,
    "source": "Source",
    "group": "Judged",
    "n": "n versions",
    "n_total": "n judged",
    "n_rows": "n scores",
    "n_items": "n items",
    **_interval("drop_rows", "Drop", "Score in English minus score here", sign=True),
    **_REASON,
}
SIMILARITY: Columns = {
    **_CONDITION,
    "n": "n at least 0.8",
    "n_total": "n known",
    "share": _number("Share"),
    "similarity": _number("Mean similarity"),
}
SURFACE: Columns = {
    **_CONDITION,
    "n_rows": "n scores",
    "n_items": "n items",
    "r2": _number("R²", "Of the changes, explained by lengths and word frequencies"),
    "r_changes": _number("r of changes", "Between models, on these scores"),
    "r_residuals": _number("r of residuals", "Between models, after the regression"),
    "drop_rows": _number("Drop, all", sign=True),
    "n_items_equal": "n items of equal length",
    **_interval(
        "drop_rows_equal",
        "Drop, equal length",
        "Both poles as many tokens, here and there",
        sign=True,
    ),
    "predictors": "Explained by",
    **_REASON,
}

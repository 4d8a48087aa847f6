"""The tables of the command `probe` on a terminal: what fits, and what it means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from core.analysis.audit.words import p_number
from core.cli.terminal import out, print_rows, print_table, say

SHOWN_ROWS = 20
AXIS = "axis"  # both poles in one column
FEW = 4  # rows of a table that may as well stand one below the other


class View(NamedTuple):
    """Which columns of a table are printed, under which heads, and what to know of them."""

    title: str
    columns: Mapping[str, str]
    legend: str
    each: str = ""  # a column whose values have a table each, so that it fits


_POSITIONS = {
    "k": "k",
    "accuracy": "Accuracy",
    "accuracy_sd": "sd",
    "majority": "Majority",
    "balanced_accuracy": "Balanced",
    "auc": "AUC",
    "pvalue": "p",
    "n_axes": "Axes",
    "n_groups": "Groups",
}
_AGREEMENT = {
    "dimension": "Axes",
    "agreement": "Agreement",
    "expected": "Chance",
    "kappa": "Kappa",
    "n": "n",
    "n_axes": "n axes",
}
_POSITIONS_LEGEND = (
    "Accuracy: share of groups on the side of their label, mean and sd over axes. Majority: what "
    "always guessing the commoner label reaches; an accuracy below it is worse than that guess. "
    "p: how often labels dealt out anew do as well, all axes together."
)
_PAIRS = "n: pairs of an axis and a group."
VIEWS: Mapping[str, View] = {
    "positions": View(
        "Sides of groups against labels", _POSITIONS, _POSITIONS_LEGEND, each="dimension"
    ),
    "position_axes": View(
        "Sides of groups on each axis",
        {AXIS: "Axis"}
        | {name: _POSITIONS[name] for name in ("accuracy", "majority", "balanced_accuracy", "auc")}
        | {"n_heads": "n heads", "n_groups": "n groups"},
        "Accuracy: share of groups on the side of their label.",
    ),
    "beyond": View(
        "Axes and the dictionary",
        {AXIS: "Axis"}
        | {
            "statistic": "KS",
            "flagged": "Flagged",
            "n_known_poles": "Poles known",
            "people": "People",
            "found": "Found",
            "n_concepts": "n groups",
        },
        "Poles known: of two, in the dictionary of warmth and competence. Found: flagged, neither "
        "pole known, and confirmed by people where they rated it.",
    ),
    "ablation": View(
        "The same in every setting",
        {"family": "Family", "pooling": "Pooling", "n_templates": "N"}
        | {name: _POSITIONS[name] for name in ("k", "accuracy", "majority", "auc", "n_axes")},
        _POSITIONS_LEGEND,
        each="dimension",
    ),
    "labels": View(
        "Agreement of sides with labels", _AGREEMENT, "n: pairs of an axis and a group."
    ),
    "models": View(
        "Agreement between models",
        {"what": "What"} | _AGREEMENT,
        "n: pairs of an axis and a group, or axes.",
        each="reader_id",
    ),
    "floor": View(
        "Reference phrases against reference phrases",
        {
            "share": "Flagged",
            "expected": "Level",
            "high": "95 % below",
            "flagged": "Groups flagged",
            "n_each": "n each",
            "n_axes": "n axes",
        },
        "Flagged: share of tests with p < .05 where nothing is to be found; 95 % below: of the "
        "share of axes in one split. Groups flagged: share of axes on which the groups are.",
    ),
    "random": View(
        "Axes beside random directions in their heads",
        {
            AXIS: "Axis",
            "statistic": "KS",
            "median": "Random",
            "pvalue": "p",
            "share": "Flagged",
            "n_directions": "n",
            "n_heads": "n heads",
        },
        "Random: median KS of random directions; p: share of them with a KS as large; Flagged: "
        "share of them with p < .05 of their own. Where that is far above .05, a flag says little.",
    ),
    "validity": View(
        "Checks of axes, length in",
        {AXIS: "Axis"}
        | {
            "halves_overlap": "Same heads",
            "separability_held_out": "R held out",
            "held_out_chance": "Chance",
            "above_swapped": "Above swaps",
            "length_r": "Length",
            "n_heads": "n heads",
        },
        "Same heads: share of the best heads of one half of the templates that are among the best "
        "of the other. R held out: in the second half. Above swaps: share of all heads whose R "
        "exceeds that of every swap of labels. Length: Spearman's r of values with the phrases' "
        "length in the model's tokens, or in characters where these were not counted.",
        each="length_unit",
    ),
    "halves": View(
        "Values from either half of the templates",
        {
            AXIS: "Axis",
            "r": "r",
            "mean_difference": "Mean difference",
            "cosine": "Cosine",
            "n_concepts": "n groups",
            "n_heads": "n heads",
        },
        "r: Pearson's, of the groups' two values in the same heads. Mean difference: of the two, "
        "without sign, in sd of all phrases. Cosine: of the two directions, mean over heads.",
    ),
    "power": View(
        "What the test would find",
        {
            "shift": "Shift",
            "spread": "Spread",
            "power": "Power",
            "error": "Error",
            "n_worlds": "n worlds",
            "n_concepts": "n groups",
            "n_reference": "n phrases",
        },
        "Power: share of simulated worlds with p < .05 by Kolmogorov-Smirnov, with its standard "
        "error, where groups are shifted by so many sd of the reference phrases and spread by so "
        "many times theirs. Shift 0 and spread 1: nothing differs.",
    ),
    "people": View(
        "Flags of people and the model",
        {
            "level": "By",
            "both": "Both",
            "only_model": "Model",
            "only_people": "People",
            "neither": "None",
            "agreement": "Agree",
            "expected": "Chance",
            "kappa": "Kappa",
            "pvalue": "p",
            "n": "n",
        },
        "Model, People: called stereotypical by this one alone; None: by neither. p: Fisher's. "
        "n: axes.",
        each="rule",
    ),
    "people_sides": View("Sides of groups by people and the model", _AGREEMENT, _PAIRS),
    "people_axes": View(
        "What people and the model say of axes",
        {AXIS: "Axis"}
        | {
            "statistic": "KS",
            "flagged": "Model",
            "stereotypical": "People",
            "n_answers": "n answers",
            "n_groups": "n groups",
        },
        "Model: flagged at p < .05. People: stereotypical by more than half of the ratings.",
    ),
    "raters": View(
        "How far people agree",
        {
            "coefficient": "Coefficient",
            "scale": "Of",
            "value": "Value",
            "n_items": "n items",
            "n_answers": "n answers",
            "n_annotators": "n people",
        },
        "Of the ratings about these axes and groups. 1: all agree; 0: no more than by chance.",
    ),
}


def print_probe(tables: Mapping[str, pd.DataFrame]) -> None:
    """Each table with its legend, and the reasons for what is undefined."""
    for name, rows in tables.items():
        view = VIEWS.get(name) or View(name, {column: column for column in rows.columns}, "")
        parts = rows.groupby(view.each, sort=False) if view.each else [("", rows)]
        for part, own in parts:
            title = f"{view.title}: {part!s}" if view.each else view.title
            _print_part(title, view.columns, own)
        if view.legend:
            say(view.legend, to=out)
        for reason in sorted(set(rows["reason"]) - {""}):
            n = int((rows["reason"] == reason).sum())
            say(f"Note: {n} of {len(rows)} rows: {reason}", to=out)


def _print_part(title: str, columns: Mapping[str, str], rows: pd.DataFrame) -> None:
    first = rows.head(SHOWN_ROWS)
    if AXIS in columns:
        first = first.assign(**{AXIS: _first_words(first)})
    shown = _rounded(first[[*columns]]).rename(columns=columns)
    if len(shown) > FEW:
        print_table(shown, title)
    else:
        say(title, style="bold", to=out)
        print_rows(shown)
    if len(shown) < len(rows):
        say(f"  showing {len(shown)} of {len(rows)}; --json and --out give all of them", to=out)


def _first_words(rows: pd.DataFrame) -> list[str]:
    """Each axis by the first word of either pole."""
    ends = zip(rows["negative"], rows["positive"], strict=True)
    return [" - ".join(end.partition(", ")[0] for end in both) for both in ends]


def _rounded(rows: pd.DataFrame) -> pd.DataFrame:
    """Numbers to three digits, p-values to what tells them from the level; undefined is empty."""
    shown = rows.copy()
    for name in shown.columns[shown.dtypes == np.float64]:
        written = p_number if name.endswith(("pvalue", "qvalue")) else _three_digits
        shown[name] = shown[name].map(_or_empty(written))
    for name in shown.columns[shown.dtypes.isin(["bool", "boolean"])]:
        shown[name] = shown[name].map({True: "yes", False: "no"})
    return shown


def _three_digits(value: float) -> str:
    return f"{value:.3f}".replace("-", "\u2212")


def _or_empty(written: Callable[[float], str]) -> Callable[[float], str]:
    return lambda value: "" if pd.isna(value) else written(value)

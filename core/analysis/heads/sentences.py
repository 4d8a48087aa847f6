"""What the tests of an axis show, in sentences: the same on pages, in captions and in exports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.audit.words import bounds, number, p_words
from core.analysis.heads.axis_view import AxisView
from core.analysis.heads.chosen import Chosen, HeadChoice
from core.axes.axis import Axis
from core.stats.levels import LEVEL
from core.stats.probes.flags import LEAST_TOLD, Flag, flag_of, resampled_words
from core.stats.probes.projection import top_heads
from core.stats.probes.rejection import Stability
from core.words import counted

CAUTION = (
    "A flag means that the concepts lie elsewhere than these phrases inside the model; it is not "
    "what the model would say, and an axis without a flag does not show that the model treats "
    "groups alike."
)
NOT_ADJUSTED = "p is of these heads as they were chosen, and is not adjusted for choosing them."
STRONGEST = 5  # heads that a sentence names


def pole_words(axis: Axis) -> tuple[str, str]:
    """The first word of either pole, for the ends of an axis."""
    return axis.negative.lemmas[0], axis.positive.lemmas[0]


def axis_words(axis: Axis) -> str:
    """An axis in a few words."""
    return " \u2013 ".join(pole_words(axis))


def axis_sentence(
    row: Mapping[str, Any],
    *,
    poles: tuple[str, str],
    concepts: str,
    reference: str,
    n_axes: int,
    k: int | None,
    by_hand: bool = False,
) -> str:
    """What the tests of one row of the axis table show.

    Parameters
    ----------
    row
        Of `core.analysis.heads.axis_table.axis_rows`, with what the lengths of phrases make of it
        (`core.analysis.heads.validity.length_table`) where that is known.
    poles
        The negative and the positive one's word.
    n_axes
        How many axes q is adjusted over.
    k
        Of how many heads of highest R the row is; None for all.
    by_hand
        Somebody has chosen k, and p is not adjusted for that.
    """
    axis = " \u2013 ".join(poles)
    if math.isnan(row["pvalue"]):
        return f"{axis}: undefined against {reference or 'no phrases'}, because {row['reason']}."
    n = f"n = {int(row['n_concepts']):,} and {int(row['n_reference']):,}"
    heads = _best(int(row["n_heads"]), k)
    test = (
        f"KS D = {number(row['statistic'], 2)} ({n}), {p_words('p', row['pvalue'])}, "
        f"{p_words('q', row['qvalue'])} over {counted(n_axes, 'axis', 'axes')}"
    )
    return " ".join(
        [
            f"{axis}: {concepts} {_lie(row)} {reference} in {heads}: {test}.",
            _where(row, *poles),
            *filter(None, [_stable(row), _few(row), length_warning(row)]),
            *([NOT_ADJUSTED] if by_hand else []),
        ]
    )


def choice_sentence(
    view: AxisView, found: Chosen, choice: HeadChoice, *, by_hand: bool = True
) -> str:
    """What the tests show in some heads, and whether somebody has chosen them."""
    negative, positive = pole_words(view.axis)
    heads = heads_words(found, choice)
    if math.isnan(found.pvalue):
        return f"Over {heads}: no test, because {found.reason}."
    question, row = view.question, tests_of(found)
    return (
        f"Over {heads}, {question.concepts} {_lie(row)} {question.reference}: "
        f"KS D = {number(found.statistic, 2)} (n = {found.n_concepts:,} and "
        f"{found.n_reference:,}), {p_words('p', found.pvalue)}. "
        f"{_where(row, negative, positive)}{f' {NOT_ADJUSTED}' if by_hand else ''}"
    )


def tests_of(found: Chosen) -> dict[str, Any]:
    """The tests in some heads under the names of a row of the axis table; there is no q."""
    names = ("statistic", "pvalue", "difference", "difference_low", "difference_high")
    more = ("pvalue_location", "spread_ratio", "pvalue_spread", "n_concepts", "n_reference")
    return {name: getattr(found, name) for name in (*names, *more)}


def position_sentence(view: AxisView, found: Chosen) -> str:
    """How often concepts lie on the side on which people placed them, beside always guessing."""
    if found.position_reason:
        return f"Positions are not compared with people's: {found.position_reason}."
    question = view.question
    centre = centre_words(question.concepts, question.reference)
    return (
        f"{_percent(found.accuracy)} of {found.n_labelled:,} labelled concepts lie on the side of "
        f"their label (centre: {centre}; balanced {_percent(found.balanced_accuracy)}, AUC "
        f"{number(found.auc, 2)}); "
        f"always guessing the commoner label reaches {_percent(found.majority)}."
    )


def separability_sentence(
    view: AxisView, found: Chosen, choice: HeadChoice, row: Mapping[str, Any] | None = None
) -> str:
    """R of the chosen heads beside what swapped labels give, and R where they were not chosen.

    Parameters
    ----------
    row
        Of the axis table in these heads, for R in sentences that did not choose them; None where
        there is none.
    """
    if not len(found.heads):
        return "None of the chosen heads holds a direction, so that there is nothing to average."
    r = float(view.separability.ravel()[found.heads].mean())
    said = f"Mean separability R of these heads is {number(r)} ({_chance(view, found)})."
    if choice.box is not None or is_everything(choice, view.separability.size):
        return said
    said += " They were chosen by R, so that it is too high, also beside that chance"
    if row is None or math.isnan(row["separability_held_out"]):
        return f"{said}."
    return (
        f"{said}: R of the best heads of half of the templates is "
        f"{number(row['separability_held_out'])} in the other half (by chance "
        f"{number(row['held_out_chance'])})."
    )


def strongest_sentence(view: AxisView) -> str:
    """The heads of highest R by their layer and number; nothing where no head has one."""
    best = top_heads(view.separability, None)
    if not len(best):
        return ""
    n_heads = view.shape[1]
    named = ", ".join(
        f"L{head // n_heads} H{head % n_heads} (R = {number(view.separability.flat[head], 2)})"
        for head in best[:STRONGEST].tolist()
    )
    return (
        f"Strongest of {counted(len(best), 'head')}: {named}; n = {view.question.n_templates} "
        "sentences of either pole."
    )


def length_warning(row: Mapping[str, Any]) -> str:
    """That values follow the phrases' length, where they are shown to; else nothing."""
    follows = row.get("length_qvalue", math.nan) < LEVEL
    return length_sentence(row) if follows else ""


def length_sentence(row: Mapping[str, Any]) -> str:
    """Whether values follow the length of the phrases."""
    n = f"n = {int(row['n_phrases']):,}"
    if pd.isna(row["length_r"]):
        return f"Whether values follow the phrases' length is undefined ({n})."
    follow = "follow" if row["length_qvalue"] < LEVEL else "are not shown to follow"
    return (
        f"Values {follow} the phrases' length in {row['length_unit']}: r = "
        f"{number(row['length_r'], 2)} (Spearman, {n}, {p_words('q', row['length_qvalue'])})."
    )


def is_everything(choice: HeadChoice, n_heads: int) -> bool:
    """Whether a choice is of all heads of a model, so that nobody has chosen among them."""
    return choice.box is None and (choice.k is None or choice.k >= n_heads)


def centre_words(concepts: str, reference: str) -> str:
    """What divides the sides of an axis, where nobody says."""
    return f"mean of {concepts}" + (f" and {reference}" if reference else "")


def heads_words(found: Chosen, choice: HeadChoice) -> str:
    """Which heads, and how many: the 128 heads of highest R, layer 4 head 2."""
    if choice.box is None:
        which = _best(len(found.heads), choice.k)
    else:
        n = counted(len(found.heads), "head")
        first_layer, first_head, last_layer, last_head = choice.box
        layers = _span("layer", first_layer, last_layer)
        which = f"{n} ({layers}, {_span('head', first_head, last_head)})"
    skipped = counted(found.n_skipped, "head") + " without variance left out"
    return f"{which}, {skipped}" if found.n_skipped else which


def _best(n_heads: int, k: int | None) -> str:
    n = counted(n_heads, "head")
    return f"all {n}" if k is None else f"the {n} of highest R"


def _chance(view: AxisView, found: Chosen) -> str:
    """R of heads under swapped labels, or why it is not known."""
    of_heads = view.chance.ravel()[found.heads]
    n_gone = int(np.isnan(of_heads).sum())
    if not n_gone:
        return (
            f"under swapped labels {number(float(of_heads.mean()))}, and 95 % of all heads stay "
            f"below {number(view.chance_level)}"
        )
    if not np.isfinite(view.chance).any():
        return "labels were swapped for all 30 templates only, so that chance is not known"
    return f"under swapped labels undefined in {n_gone:,} of {counted(len(of_heads), 'head')}"


def _lie(row: Mapping[str, Any]) -> str:
    """By the published rule, p < 0.05, and whether that outlasts the other axes."""
    if row["pvalue"] >= LEVEL:
        return "are not shown to lie elsewhere than"
    if math.isnan(row.get("qvalue", math.nan)):
        return "are flagged (p < 0.05) in these heads, against"
    if row["qvalue"] >= LEVEL:
        return "are flagged (p < 0.05), but not after adjusting over the axes, against"
    return "lie elsewhere than"


def _where(row: Mapping[str, Any], negative: str, positive: str) -> str:
    """Location, with its interval in the direction that is spoken of, and spread."""
    difference, ratio = float(row["difference"]), float(row["spread_ratio"])
    low, high = float(row["difference_low"]), float(row["difference_high"])
    apart = number(abs(difference), 2)
    if apart == number(0.0, 2):  # of nothing no direction is told
        lie = f"{apart} sd {bounds(low, high, 2)} from the phrases"
    else:
        side, ends = (positive, (low, high)) if difference > 0 else (negative, (-high, -low))
        lie = f"{apart} sd {bounds(*ends, 2)} further towards {side} than the phrases"
    return (
        f"On average they lie {lie} ({p_words('p', row['pvalue_location'])}), and they spread "
        f"{number(ratio, 2)} times as wide ({p_words('p', row['pvalue_spread'])})."
    )


def _stable(row: Mapping[str, Any]) -> str:
    rate, error = float(row["rejection_rate"]), float(row["rejection_error"])
    if math.isnan(rate):
        return ""
    said = f"{_percent(rate)} (\u00b1{_percent(error, 1)}) of resamples reject"
    if row["stability"] != Stability.NO_SIGN:  # that few do says enough
        said += f": {resampled_words(row['stability'])}"
    if row["stability"] == Stability.UNDERPOWERED:
        said += ", so that more phrases would be needed to tell"
    return f"{said}."


def _few(row: Mapping[str, Any]) -> str:
    """That there is too little for any answer."""
    if flag_of(row) is not Flag.TOO_FEW:
        return ""
    return f"Fewer than {LEAST_TOLD} phrases of a kind are too few to tell."


def _percent(share: float, digits: int = 0) -> str:
    return "undefined" if math.isnan(share) else f"{100 * share:.{digits}f} %"


def _span(what: str, first: int, last: int) -> str:
    return f"{what} {first}" if first == last else f"{what}s {first} to {last}"

"""Verdicts about axes on pages: coloured by evidence, never by direction."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import streamlit as st

from core.analysis.heads.axis_view import AxisView
from core.analysis.heads.chosen import Chosen, HeadChoice, parse_choice
from core.analysis.heads.sentences import (
    CAUTION,
    axis_sentence,
    choice_sentence,
    is_everything,
    pole_words,
    tests_of,
)
from core.axes.axis import Axis
from core.errors import StereoscopeError
from core.stats.probes.flags import Flag, flag_of, flag_words, resampled_words
from pages.shared.figures import literal
from pages.shared.heads.choice import Asked, against, default_heads
from pages.shared.heads.data import read_chosen, read_view
from pages.shared.heads.warnings import read_tests, warning_badges

LOOKS = {  # by evidence, never by direction
    Flag.ELSEWHERE: (":material/priority_high:", "violet"),
    Flag.FLAGGED: (":material/remove:", "blue"),
    Flag.SPREAD: (":material/arrow_range:", "blue"),
    Flag.LOCATION: (":material/arrow_range:", "blue"),
    Flag.OPEN: (":material/question_mark:", "gray"),
    Flag.NO_SIGN: (":material/question_mark:", "gray"),
    Flag.TOO_FEW: (":material/question_mark:", "gray"),
    Flag.UNDEFINED: (":material/block:", "gray"),
}
HELP = (
    "**flagged, p < .05**: Kolmogorov-Smirnov rejects, but not after adjusting over the set; "
    "**lies elsewhere, q < .05**: after it, too; **spread differs**, **location differs**: only "
    "that test rejects; **not flagged**: none does, but many resamples do; **no sign of a "
    "difference**: none does. Beside it, of 1,000 resamples of both sets: **well-powered** (.80 or "
    "more reject) and **marginal** (fewer) of a flag, **underpowered** (.30 or more) and **seldom "
    "rejects** (fewer) where there is none. Orange is what speaks against a flag: values that "
    "follow the length of the phrases, and random directions that are flagged as well (after "
    "*What is it worth?* on Axes). docs/heads.md says more."
)


def verdicts(asked: Asked, axis: Axis) -> list[str]:
    """One sentence for each set of phrases whose table is at hand, with its badge in Markdown."""
    lines = []
    for reference in (asked.question.reference, asked.second):
        row = row_of(asked, reference, axis.axis_id) if reference else None
        if row is not None:
            lines.append(_line(asked, axis, reference, row))
    return lines


def show_verdicts(
    asked: Asked,
    axis: Axis,
    *more: str,
    own: Sequence[str] = (),
    heading: str = "",
    last: bool = True,
) -> None:
    """The sentences about an axis, further ones, and what no flag means.

    Parameters
    ----------
    more
        Sentences, as plain text.
    own
        Lines of `own_lines`, in Markdown.
    heading
        The model's name, where there are two.
    last
        Whether no verdict of another model follows, before what no flag means.
    """
    plain = (f"- {literal(sentence)}" for sentence in more if sentence)
    above = [f"**{literal(heading)}**\n"] if heading else []
    st.markdown("\n".join([*above, *verdicts(asked, axis), *own, *plain]), help=HELP)
    if last:
        st.caption(CAUTION)


def row_of(asked: Asked, reference: str, axis_id: str) -> Mapping[str, Any] | None:
    """An axis's row in the table against some phrases; None where it is not at hand."""
    try:
        tests = read_tests(against(asked.question, reference))
    except StereoscopeError:  # the page says it where it lists the axes
        return None
    if tests is None or axis_id not in tests.index:
        return None
    return {"axis_id": axis_id, **{str(k): v for k, v in tests.loc[axis_id].to_dict().items()}}


def own_sentences(asked: Asked, view: AxisView, found: Chosen) -> dict[str, Flag]:
    """The tests in the chosen heads against either set of phrases, each with its flag.

    Empty where a table holds them.
    """
    of_table = asked.heads == _table_heads(asked) and view.reference
    if of_table and row_of(asked, view.question.reference, view.axis.axis_id) is not None:
        return {}
    choice = parse_choice(asked.heads, *view.shape)
    said = {}
    either = list(_against_either(asked, view, found))
    for seen, there in either:
        last = there is either[-1][1]  # that they were chosen is said once
        sentence = choice_sentence(seen, there, choice, by_hand=last and _by_hand(asked))
        said[sentence] = flag_of(tests_of(there))
    return said


def own_lines(said: Mapping[str, Flag]) -> list[str]:
    """Sentences of `own_sentences` with their badges, in Markdown."""
    return [f"- {_badge(flag)} {literal(sentence)}" for sentence, flag in said.items()]


def _against_either(
    asked: Asked, view: AxisView, found: Chosen
) -> Iterator[tuple[AxisView, Chosen]]:
    """The open axis in the chosen heads, against the first set of phrases and the second."""
    yield view, found
    if asked.second:
        question = against(view.question, asked.second)
        try:
            yield (
                read_view(question, view.axis.axis_id),
                read_chosen(question, view.axis.axis_id, asked.heads),
            )
        except StereoscopeError:  # its heads were not read for this axis: the page shows the first
            return


def said_of(asked: Asked, axis: Axis) -> str:
    """The verdicts as plain text, for captions."""
    found = []
    for reference in (asked.question.reference, asked.second):
        row = row_of(asked, reference, axis.axis_id) if reference else None
        if row is not None:
            found.append(_sentence(asked, axis, reference, row))
    return " ".join(found)


def _line(asked: Asked, axis: Axis, reference: str, row: Mapping[str, Any]) -> str:
    flag = flag_of(row)
    beside = "" if math.isnan(row["rejection_rate"]) else resampled_words(row["stability"])
    badges = [
        _badge(flag),
        f":gray-badge[{beside}]" if beside else "",
        warning_badges(against(asked.question, reference), axis.axis_id, row),
    ]
    sentence = literal(_sentence(asked, axis, reference, row))
    return " ".join(["-", *filter(None, badges), sentence])


def _badge(flag: Flag) -> str:
    icon, colour = LOOKS[flag]
    return f":{colour}-badge[{icon} {literal(flag_words(flag))}]"


def _sentence(asked: Asked, axis: Axis, reference: str, row: Mapping[str, Any]) -> str:
    tests = read_tests(against(asked.question, reference))
    n_axes = 0 if tests is None else int(tests["pvalue"].notna().sum())
    return axis_sentence(
        row,
        poles=pole_words(axis),
        concepts=asked.question.concepts,
        reference=reference,
        n_axes=n_axes,
        k=asked.question.k,
        by_hand=_by_hand(asked) and asked.heads == _table_heads(asked),
    )


def _by_hand(asked: Asked) -> bool:
    n_heads = asked.shape[0] * asked.shape[1]
    everything = is_everything(parse_choice(asked.heads, *asked.shape), n_heads)
    return not everything and asked.heads != default_heads(asked.shape)


def _table_heads(asked: Asked) -> str:
    """The heads that the tables of all axes are of, as a link writes them."""
    return str(HeadChoice(k=asked.question.k))

"""What people say beside what the model's heads show: a table of ratings, from a path."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pandas as pd
import streamlit as st

from core.analysis.heads.human import (
    Matched,
    human_agreement,
    human_axes,
    human_sides,
    matched,
)
from core.analysis.heads.stored import StoredAxes
from core.errors import DataSetError, InputError
from core.people.ratings import Ratings, read_ratings
from core.people.verdicts import reliability_table
from core.types import Problem
from core.words import counted
from pages.shared.figures import literal
from pages.shared.heads_choice import Asked
from pages.shared.tables import pvalue, show_frame
from pages.shared.widgets import download_buttons

_N = st.column_config.NumberColumn
AGREEMENT = {
    "rule": "Rule",
    "level": "Over",
    "n": _N("Axes", format="%d"),
    "both": _N("Both", format="%d", help="Call it stereotypical: people and the model"),
    "only_model": _N("Only model", format="%d"),
    "only_people": _N("Only people", format="%d"),
    "neither": _N("Neither", format="%d"),
    "agreement": _N("Agree", format="percent"),
    "expected": _N("By chance", format="percent", help="If the two were independent"),
    "kappa": _N("kappa", format="%.2f"),
    "pvalue": pvalue("p", "Fisher, two-sided"),
    "n_annotators": _N("Annotators", format="%d"),
    "reason": "Why undefined",
}
AXES = {
    "negative": "From",
    "positive": "To",
    "flagged": st.column_config.CheckboxColumn("Model flags"),
    "stereotypical": st.column_config.CheckboxColumn("People"),
    "n_answers": _N("Answers", format="%d"),
    "n_annotators": _N("Annotators", format="%d"),
    "n_groups": _N("Groups", format="%d"),
    "reason": "Why not compared",
}
SIDES = {
    "n": _N("Groups on axes", format="%d"),
    "agreement": _N("Same side", format="percent"),
    "expected": _N("By chance", format="percent"),
    "kappa": _N("kappa", format="%.2f"),
    "n_axes": _N("Axes", format="%d"),
    "reason": "Why undefined",
}
RELIABILITY = {
    "coefficient": "Coefficient",
    "scale": "On",
    "value": _N("Value", format="%.2f"),
    "n_items": _N("Groups on axes", format="%d"),
    "n_answers": _N("Answers", format="%d"),
    "n_annotators": _N("Annotators", format="%d"),
    "reason": "Why undefined",
}
_TALL, _HEIGHT = 14, 420  # rows from which a table scrolls, and px that it has then


def show_people(asked: Asked, stored: StoredAxes | None) -> None:
    """Read a table of ratings and hold the model's flags and sides against it."""
    st.markdown(
        "A table of ratings by people: annotator, group, axis, rating from 1 to 5 or NA; "
        "`data/README.md` has an example."
    )
    path = st.text_input(
        "Path of the table on this machine",
        key="ratings-path",
        persist_state="session",
        placeholder="ratings.csv",
    )
    if not path.strip():
        return
    if stored is None:
        st.info("The tests of these axes have to be computed first.", icon=":material/info:")
        return
    try:
        ratings = read_ratings(Path(path.strip()).expanduser())
        people = matched(ratings.kept, stored.held.axes, stored.held.concepts)
    except DataSetError as error:
        _problems(error)
        return
    except InputError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    _notes(ratings, people.notes)
    if people.answers.empty:
        st.info("None of the ratings is about these axes and groups.", icon=":material/info:")
        return
    _agreement(asked, stored, people)


def _problems(error: DataSetError) -> None:
    """Every row that is wrong, and what to do."""
    st.error(literal(str(error)), icon=":material/error:")
    if error.problems:
        _problem_table(error.problems)
        st.caption("Mend the table and press Enter in the field again; nothing else was changed.")


def _notes(ratings: Ratings, notes: tuple[str, ...]) -> None:
    out = int(ratings.annotators["excluded"].sum())
    n = len(ratings.annotators)
    st.caption(
        f"{counted(len(ratings.answers), 'answer')} of {counted(n, 'annotator')}, {out:,} of them "
        "left out: more than one control item wrong."
    )
    for note in notes:
        st.caption(f":material/info: {literal(note)}")
    if ratings.notes:
        with st.expander(counted(len(ratings.notes), "remark") + " on the table"):
            _problem_table(ratings.notes)


def _problem_table(problems: Sequence[Problem]) -> None:
    st.dataframe(
        pd.DataFrame(
            {
                "row": [problem.row for problem in problems],
                "what is wrong": [problem.message for problem in problems],
            }
        ),
        hide_index=True,
    )


def _agreement(asked: Asked, stored: StoredAxes, people: Matched) -> None:
    """The 2 x 2 of flags, both rules and levels; sides; every axis; agreement of annotators."""
    question = asked.question
    stem = f"{question.axes}-{question.concepts}"
    for title, rows, columns, name in (
        ("Flags: people and the model", human_agreement(stored, people), AGREEMENT, "flags"),
        ("Sides of groups", human_sides(stored, people), SIDES, "sides"),
        ("Axis by axis", human_axes(stored, people), AXES, "axes"),
        (
            "Do annotators agree about these axes and groups?",
            reliability_table(people.answers),
            RELIABILITY,
            "annotators",
        ),
    ):
        st.markdown(f"**{title}**")
        shown = {n: c for n, c in columns.items() if n != "reason" or (rows["reason"] != "").any()}
        show_frame(rows[list(shown)], shown, height="content" if len(rows) <= _TALL else _HEIGHT)
        download_buttons(partial(_same, rows), list(shown), f"people-{name}-{stem}")


def _same(rows: pd.DataFrame) -> pd.DataFrame:
    return rows

"""What people say beside what the model's heads show: a table of ratings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.analysis.heads.human import (
    Matched,
    empty_ratings,
    human_agreement,
    human_axes,
    human_sides,
    matched,
)
from core.analysis.heads.stored import StoredAxes
from core.errors import DataSetError, InputError
from core.export.tables import table_bytes
from core.files.reading import SUFFIXES
from core.files.uploads import on_disk
from core.people.ratings import MOST_WRONG, Ratings, read_ratings
from core.people.verdicts import reliability_table
from core.types import Problem
from core.words import counted
from pages.shared.data import open_cache
from pages.shared.figures import literal
from pages.shared.heads.choice import Asked
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
        "A table of ratings by people: annotator, group, axis, rating from 1 (at the first pole) "
        "to 5 (at the second) or NA; `data/README.md` has an example."
    )
    if stored is not None:
        _offer_empty(asked, stored)
    left, right = st.columns(2)
    path = left.text_input(
        "Path of the table on this machine",
        key="ratings-path",
        persist_state="session",
        placeholder="ratings.csv",
    )
    sent = right.file_uploader(
        "Or a file", type=[suffix.removeprefix(".") for suffix in SUFFIXES], key="ratings-file"
    )
    if sent is None and not path.strip():
        return
    if stored is None:
        st.info("The tests of these axes have to be computed first.", icon=":material/info:")
        return
    try:
        ratings = _sent(sent) if sent else read_ratings(Path(path.strip()).expanduser())
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


def _offer_empty(asked: Asked, stored: StoredAxes) -> None:
    """A table of these axes and groups to fill in."""
    axes, groups = stored.held.axes, stored.held.concepts
    st.download_button(
        f"Empty table ({counted(len(axes), 'axis', 'axes')} x {counted(len(groups), 'group')})",
        lambda: table_bytes(empty_ratings(axes, groups), "csv"),
        f"ratings-{asked.question.axes}-{asked.question.concepts}.csv",
        "text/csv",
        icon=":material/download:",
        on_click="ignore",
        help="One row for each axis and group: fill in annotator and rating, and copy the rows for "
        "each further annotator.",
    )


def _sent(file: UploadedFile) -> Ratings:
    """Ratings that a browser has sent."""
    with on_disk([(file.name, file.getvalue())], open_cache().folder) as path:
        return read_ratings(path)


def _problems(error: DataSetError) -> None:
    """Every row that is wrong, and what to do."""
    st.error(literal(str(error)), icon=":material/error:")
    if error.problems:
        _problem_table(error.problems)
        st.caption("Mend the table and press Enter in the field again; nothing else was changed.")


def _notes(ratings: Ratings, notes: tuple[str, ...]) -> None:
    answers = counted(len(ratings.answers), "answer")
    st.caption(
        f"{answers} of {counted(len(ratings.annotators), 'annotator')}. {_left_out(ratings)}"
    )
    for note in notes:
        st.caption(f":material/info: {literal(note)}")
    if ratings.notes:
        with st.expander(counted(len(ratings.notes), "remark") + " on the table"):
            _problem_table(ratings.notes)


def _left_out(ratings: Ratings) -> str:
    """Who is left out by the control items, of how many that had any."""
    table = ratings.annotators
    n_checked, n_out = int((table["n_controls"] > 0).sum()), int(table["excluded"].sum())
    if not n_checked:
        return "The table has no control items, so that nobody could be left out."
    who = f"{counted(n_checked, 'annotator')} with control items"
    if not n_out:
        return f"Nobody is left out: of {who}, none has more than {MOST_WRONG} of them wrong."
    return f"Left out: {n_out:,} of {who}, for having more than {MOST_WRONG} of them wrong."


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
    by_axis = human_axes(stored, people).sort_values("n_answers", ascending=False, kind="stable")
    for title, rows, columns, name in (
        ("Flags: people and the model", human_agreement(stored, people), AGREEMENT, "flags"),
        ("Sides of groups", human_sides(stored, people), SIDES, "sides"),
        ("Axis by axis", by_axis, AXES, "axes"),
        (
            "Do annotators agree about these axes and groups?",
            reliability_table(people.answers),
            RELIABILITY,
            "annotators",
        ),
    ):
        st.markdown(f"**{title}**")
        listed = rows[rows["n_answers"] > 0] if name == "axes" else rows
        if len(listed) < len(rows):
            n = counted(len(rows) - len(listed), "axis", "axes")
            st.caption(f"{n} that nobody rated: not listed here, but in the files below.")
        with_reason = (listed["reason"] != "").any()
        shown = {n: c for n, c in columns.items() if n != "reason" or with_reason}
        tall = len(listed) > _TALL
        show_frame(listed[list(shown)], shown, height=_HEIGHT if tall else "content")
        download_buttons(partial(_same, rows), list(shown), f"people-{name}-{stem}")


def _same(rows: pd.DataFrame) -> pd.DataFrame:
    return rows

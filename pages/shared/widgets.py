"""Small pieces that several pages show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape

import pandas as pd
import streamlit as st

from core.errors import StereoscopeError
from core.export.audit import audit_bytes
from core.jobs.follow import computing, follow
from core.store.score_line import score_line, shell_line
from pages.shared.data import open_cache
from pages.shared.figures import literal

CONTENT_WARNING = (
    "**Content warning.** The texts are stereotypes about people. They are shown so that language "
    "models can be examined, and say nothing about the people they name."
)
LATEST = 100  # runs that are looked at for one that computes


AS_THEY_ARE = (
    "Texts are as they are, also those that begin with =, +, - or @, which a spreadsheet program "
    "would compute: import the columns as text there."
)


def content_warning() -> None:
    """The warning that stands above every text about people."""
    st.warning(CONTENT_WARNING, icon=":material/warning:")


def show_open_tab(parts: Mapping[str, Callable[[], object]], key: str) -> None:
    """Tabs of which only the open one is drawn; which one it is stays from run to run."""
    for tab, show in zip(
        st.tabs(list(parts), key=key, on_change="rerun"), parts.values(), strict=True
    ):
        if tab.open:
            with tab:
                show()


@contextmanager
def errors_in_one_sentence() -> Iterator[None]:
    """Show an error that a person can mend as its sentence, and end the page there."""
    try:
        yield
    except StereoscopeError as error:
        _say_error(error)
        st.stop()


@contextmanager
def errors_end_this_part() -> Iterator[None]:
    """Show such an error in the place of a part of a page; for a function, the rest is drawn."""
    try:
        yield
    except StereoscopeError as error:
        _say_error(error)


def _say_error(error: StereoscopeError) -> None:
    st.error(literal(str(error)), icon=":material/error:")


def empty_cache() -> None:
    """What to do when there is nothing to show, with the line to run."""
    st.info(
        "There is nothing in the cache yet. Run this line in the project's folder to score the "
        "demo items with the demo model; it takes a few minutes.",
        icon=":material/info:",
    )
    st.code(shell_line(open_cache(), "demo"), language="bash")


def nothing_scored(dataset: str) -> None:
    """What to do when items are there but no scores; nothing where a job computes them."""
    if found := computing(follow(open_cache(), latest=LATEST), dataset):
        st.info(f"No score is stored yet. {literal(found)}", icon=":material/hourglass_top:")
        return
    st.info(
        "The items are in the cache, but no model has scored them yet. Run this line in the "
        "project's folder; in the place of demo it takes any model folder or hub name.",
        icon=":material/info:",
    )
    st.code(score_line(open_cache(), dataset), language="bash")


def text_block(text: str, language: str) -> None:
    """A text of any script, right to left where it is, never read as HTML or Markdown."""
    st.html(f'<p dir="auto" lang="{escape(language, quote=True)}">{escape(text)}</p>')


def download_buttons(
    rows: Callable[[], pd.DataFrame], shown: Sequence[str], stem: str, *, simulated: bool = False
) -> None:
    """Downloads of exactly the rows of a table, made when somebody asks for them.

    Parameters
    ----------
    rows
        Gives the table with all its columns, texts included: CSV and Parquet hold them.
    shown
        The columns on the page: LaTeX holds these.
    stem
        File name without ending.
    simulated
        No model stands behind the numbers, which every file then says.
    """
    kinds = {
        "CSV": ("csv", "text/csv"),
        "Parquet": ("parquet", "application/vnd.apache.parquet"),
        "LaTeX": ("tex", "text/x-tex"),
    }
    with st.container(horizontal=True):
        for label, (ending, mime) in kinds.items():

            def content(ending: str = ending) -> bytes:
                table = rows()
                wanted = table[list(shown)] if ending == "tex" else table
                return audit_bytes(wanted, ending, simulated=simulated)

            st.download_button(
                label,
                content,
                f"{stem}.{ending}",
                mime,
                icon=":material/download:",
                on_click="ignore",
                help=AS_THEY_ARE if ending == "csv" else None,
            )

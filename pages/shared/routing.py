"""Which pages there are, and that every one of them is run by the router."""

from __future__ import annotations

import logging
import os
import time

import streamlit as st
from streamlit.navigation.page import StreamlitPage

_ROUTED = "routed"
_log = logging.getLogger(__name__)


def navigation() -> StreamlitPage:
    """The page of the address, under the menu of all pages."""
    return st.navigation(
        {
            "": [st.Page("pages/home.py", title="Home", icon=":material/home:", default=True)],
            "Scores": [
                st.Page("pages/items.py", title="Items", icon=":material/list_alt:"),
                st.Page("pages/languages.py", title="Languages", icon=":material/translate:"),
                st.Page("pages/noise_floor.py", title="Noise floor", icon=":material/waves:"),
                st.Page("pages/shift_lab.py", title="Shift lab", icon=":material/science:"),
                st.Page("pages/carry_over.py", title="Carry-over", icon=":material/scatter_plot:"),
                st.Page(
                    "pages/identity_pairs.py", title="Identity pairs", icon=":material/diversity_3:"
                ),
            ],
            "Heads": [
                st.Page("pages/head_map.py", title="Head map", icon=":material/grid_on:"),
                st.Page("pages/axes.py", title="Axes", icon=":material/linear_scale:"),
                st.Page("pages/atlas.py", title="Atlas", icon=":material/bubble_chart:"),
            ],
            "Data": [
                st.Page("pages/data_sets.py", title="Data sets", icon=":material/dataset:"),
                st.Page("pages/runs.py", title="Runs", icon=":material/play_circle:"),
            ],
        }
    )


def run_router() -> None:
    """Run the page of the address; the whole of app.py.

    With STEREOSCOPE_TIMING set, how long each run took goes to the log.
    """
    began = time.perf_counter()
    st.session_state[_ROUTED] = True
    st.set_page_config(page_title="Stereoscope", page_icon=":material/view_in_ar:", layout="wide")
    page = navigation()
    try:
        page.run()
    finally:  # a page that stops early leaves by an exception
        if os.environ.get("STEREOSCOPE_TIMING"):
            _log.warning("%s ran %.0f ms", page.title, 1000 * (time.perf_counter() - began))


def require_router() -> None:
    """For a page, before anything else: start over through the router if it was not run by it.

    Until `st.navigation` was called once, Streamlit takes the files in `pages/` for an app of its
    older kind, and runs the file of the address by itself. So it does when a link to a page is the
    first thing that a server is asked for.
    """
    if _ROUTED not in st.session_state:
        navigation()
        st.rerun()

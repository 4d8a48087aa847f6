"""Atlas: which axes are alike?"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.shared import state
from pages.shared.heads.alike import show_alike
from pages.shared.heads.atlas import choose_atlas, show_atlas
from pages.shared.heads.choice import choose_heads
from pages.shared.heads.jobs import offer_tests
from pages.shared.heads.rows import filter_axes, list_axes
from pages.shared.heads.share import publish_heads
from pages.shared.heads.verdict import show_verdicts
from pages.shared.heads.walk import open_axis
from pages.shared.routing import require_router
from pages.shared.widgets import content_warning


def main() -> None:
    """The page from top to bottom."""
    require_router()
    st.title("Atlas")
    st.caption("Which axes are alike?")
    content_warning()
    asked = choose_heads(state.current())
    listed = list_axes(asked)
    filter_axes(asked, listed)
    offer_tests(asked, listed)
    selection, axis = open_axis(asked, listed.ids)
    asked = replace(asked, selection=selection)
    show_verdicts(asked, axis)
    with st.container(horizontal=True):
        st.page_link("pages/head_map.py", label="Its head map", icon=":material/grid_on:")
        st.page_link("pages/axes.py", label="Its strip", icon=":material/linear_scale:")
    if listed.stored is not None:
        choose_atlas(selection)
        show_atlas(asked, selection, listed, listed.stored)
        show_alike(asked, axis, listed)
    publish_heads(asked, selection)


main()

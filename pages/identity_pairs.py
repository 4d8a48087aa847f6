"""Identity pairs: who is the model biased about?"""

from __future__ import annotations

import streamlit as st

from pages.shared import state
from pages.shared.identities.choice import choose_model, choose_pairs
from pages.shared.identities.map import show_map
from pages.shared.identities.share import publish_pairs, say_what_changed
from pages.shared.identities.verdicts import show_model_verdict, show_overview
from pages.shared.identities.views import choose_view, show_view
from pages.shared.routing import require_router
from pages.shared.widgets import content_warning, errors_in_one_sentence


def main() -> None:
    """The page from top to bottom."""
    require_router()
    st.title("Identity pairs")
    st.caption("Who is the model biased about?")
    content_warning()
    asked = choose_pairs(state.current())
    say_what_changed(asked)
    with errors_in_one_sentence():
        show_overview(asked)
        show_map(asked)
        st.subheader("Under one model", divider="gray")
        choose_model(asked)
        show_model_verdict(asked)
        choose_view(asked)
        asked = show_view(asked)
    publish_pairs(asked)


main()

"""The selection of this browser tab: read from the address once, written back after each run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from core.selection import Selection, from_query, link_query, to_query

_SELECTION, _PROBLEMS, _LINKED = "selection", "link_problems", "linked_selection"
_NEW, _SENT = "just_opened", "sent_by_a_widget"


def current() -> Selection:
    """The selection, from the address when the tab is new."""
    if _SELECTION not in st.session_state:
        query = {key: st.query_params.get_all(key) for key in st.query_params}
        read, problems = from_query(query)
        st.session_state.update({_SELECTION: read, _LINKED: read, _PROBLEMS: problems, _NEW: True})
    selection: Selection = st.session_state[_SELECTION]
    return selection


def change(**fields: Any) -> None:
    """Change fields of the selection; whatever narrows the rows goes back to the first page."""
    st.session_state[_SELECTION] = replace(current(), **({"page": 0} | fields))


def put(selection: Selection) -> None:
    """Take over a whole selection."""
    st.session_state[_SELECTION] = selection


def just_opened() -> bool:
    """Whether this is the first run of a page in this browser tab; true only once."""
    return bool(st.session_state.pop(_NEW, False))


def link_problems() -> list[str]:
    """What could not be read from the address when the tab was opened."""
    problems: list[str] = st.session_state.get(_PROBLEMS, [])
    return problems


def linked() -> Selection:
    """The selection that the address held when the tab was opened."""
    selection: Selection = st.session_state.get(_LINKED, Selection())
    return selection


def publish(selection: Selection) -> None:
    """Write the selection into the address bar, defaults and version included."""
    query = to_query(selection)
    if {key: st.query_params.get_all(key) for key in st.query_params} != query:
        st.query_params.from_dict(query)


def link(selection: Selection) -> str:
    """An address that shows this selection to somebody else."""
    page = (st.context.url or "").split("?")[0]
    return f"{page}?{link_query(selection)}"


def bound(name: str, to_field: Callable[[Any], Any] = lambda value: value) -> dict[str, Any]:
    """Arguments that tie a widget to a field: it shows the field and writes its changes there.

    The field is the truth: a widget that was not drawn on another page comes back with it.
    """
    key = f"field-{name}"

    def write() -> None:
        st.session_state[_SENT] = (key, st.context.url)
        change(**{name: to_field(st.session_state[key])})

    return {"key": key, "on_change": write}


def show_field(name: str, value: Any) -> None:
    """Set what the widget of a field will show; call it before the widget is drawn.

    A number that its widget has just sent is not sent back: the reader may have pressed a key
    since, and what is set replaces what the browser has. Other widgets can become new ones when
    their options change, and need it.
    """
    key = f"field-{name}"
    if st.session_state.get(_SENT) == (key, st.context.url):
        del st.session_state[_SENT]
        if isinstance(value, float) and st.session_state.get(key) == value:
            return
    st.session_state[key] = value

"""Saving a slice: under a name of its own, or in the place of one when the reader says so."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.errors import StereoscopeError
from core.store.slices import LONGEST_NAME, Slice, put_slice
from core.words import counted
from pages.shared.data import open_cache, read_slices
from pages.shared.figures import literal


def save_form(
    key: str,
    label: str,
    new: Callable[[str], Slice],
    after: Callable[[Slice], None],
    *,
    button: str = "Save",
) -> None:
    """A name and a button that keeps a slice; a name that is taken asks whether to replace.

    Parameters
    ----------
    key
        Of the widgets: the name has this one itself.
    label
        Of the name.
    new
        The slice to keep, given its name.
    after
        What else to do once it is kept; it runs before the page is drawn again.
    """
    name = st.text_input(label, max_chars=LONGEST_NAME, key=key).strip()
    slice_ = new(name)
    replace = name in read_slices(slice_.dataset) and st.checkbox(
        literal(f"Replace the slice {name}: links to it will show these items"),
        key=f"{key}-replace-{name}",
    )
    st.button(
        button,
        disabled=not name,
        icon=":material/bookmark_add:",
        key=f"{key}-save",
        on_click=_save,
        args=[key, slice_, after, replace],
    )
    if error := st.session_state.pop(f"{key}-error", ""):
        st.error(literal(error))


def _save(key: str, new: Slice, after: Callable[[Slice], None], replace: bool) -> None:
    try:
        put_slice(open_cache(), new, replace=replace)
    except StereoscopeError as error:
        st.session_state[f"{key}-error"] = str(error)
        return
    st.session_state[key] = ""
    after(new)


def saved_words(name: str, n_items: int) -> str:
    """That a slice is kept, and where it is found."""
    found = "every page finds it under Items, Slice."
    return literal(f"Saved “{name}”: {counted(n_items, 'item')}; {found}")

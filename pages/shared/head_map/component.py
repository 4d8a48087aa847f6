"""The head map in a page: what is drawn in the browser, and what the reader does with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

Event = (
    str | int
)  # the heads chosen, as in a link; or how many axes to step, -1 being the one before

# In this order: later files use what earlier ones define, and all share one scope.
SCRIPTS = (
    *("numbers", "words", "colours", "paint", "scale", "grid", "strip", "decode", "panels"),
    *("picture", "draw", "input", "index"),
)
_FOLDER = Path(__file__).parent


def head_map(
    data: Mapping[str, Any], *, key: str, on_change: Callable[[Event], None] | None = None
) -> Event | None:
    """Draw the map; what the reader has just done, None if nothing.

    Parameters
    ----------
    data
        Of `head_map_data`.
    key
        The same from axis to axis, so that the keyboard stays where it is.
    on_change
        Called with what the reader did before the page runs again, so that it need not run twice.

    Returns
    -------
    str or int or None
        The text of a choice ("k128", "all", "rect:...", "head:..."), or by how many axes to step:
        quick presses are added up. The text comes from a browser: hand it to `parse_choice`.
    """

    def tell() -> None:
        event = event_of(st.session_state.get(key) or {})
        if event is not None and on_change is not None:
            on_change(event)

    result = _component()(
        key=key, data=dict(data), on_released_change=tell, on_step_change=tell, width="stretch"
    )
    return event_of(result)


def script() -> str:
    """The browser's side, as one module."""
    return "\n".join((_FOLDER / f"{name}.js").read_text("utf-8") for name in SCRIPTS)


def event_of(state: Mapping[str, Any]) -> Event | None:
    """What a state of the component says the reader did, whatever a browser may have sent."""
    released, by = state.get("released"), state.get("step")
    if isinstance(released, str):
        return released
    return by if isinstance(by, int) and not isinstance(by, bool) and by else None


@cache
def _component() -> Callable[..., Any]:
    html, css = ((_FOLDER / name).read_text("utf-8") for name in ("component.html", "style.css"))
    return st.components.v2.component("stereoscope_head_map", html=html, css=css, js=script())

"""The head map in a page: what is drawn in the browser, and what the reader does with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from pages.shared.walk.steps import STEPS_SCRIPT, mark_drawn, take_steps, taken_steps, told_steps

# In this order: later files use what earlier ones define, and all share one scope.
SCRIPTS = (
    *("numbers", "words", "colours", "paint", "scale", "grid", "strip", "decode", "panels"),
    *("picture", "draw", "input", "index"),
)
_FOLDER = Path(__file__).parent


def head_map(
    data: Mapping[str, Any],
    *,
    key: str,
    on_choice: Callable[[str], None],
    on_step: Callable[[int], None],
    place: int,
    n: int,
) -> None:
    """Draw the map.

    Parameters
    ----------
    data
        Of `head_map_data`.
    key
        The same from axis to axis, so that the keyboard stays where it is.
    on_choice
        Called with the chosen heads ("k128", "all", "rect:...", "head:...") before the page runs
        again, so that it need not run twice. The text comes from a browser: hand it to
        `parse_choice`.
    on_step
        Called likewise with how many axes to go on, back being negative.
    place, n
        Where the axis is, from 0, of how many; -1 beside them all.
    """

    def released() -> None:
        choice = (st.session_state.get(key) or {}).get("released")
        if isinstance(choice, str):
            on_choice(choice)

    def stepped() -> None:
        if by := take_steps(key, told_steps(key)):
            on_step(by)

    walk = {"name": key, "place": place, "n": n, "taken": taken_steps(key)}
    _component()(
        key=key,
        data={**data, "walk": walk},
        on_released_change=released,
        on_steps_change=stepped,
        width="stretch",
    )
    mark_drawn(key)


def script() -> str:
    """The browser's side, as one module."""
    files = [STEPS_SCRIPT, *(_FOLDER / f"{name}.js" for name in SCRIPTS)]
    return "\n".join(file.read_text("utf-8") for file in files)


@cache
def _component() -> Callable[..., Any]:
    html, css = ((_FOLDER / name).read_text("utf-8") for name in ("component.html", "style.css"))
    return st.components.v2.component("stereoscope_head_map", html=html, css=css, js=script())

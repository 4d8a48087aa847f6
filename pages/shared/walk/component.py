"""Buttons and keys to the one before and the next: the same on every page that walks."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from pages.shared.walk.steps import STEPS_SCRIPT, mark_drawn, take_steps, taken_steps, told_steps

_FOLDER = Path(__file__).parent


def walk_buttons(
    name: str,
    labels: tuple[str, str],
    place: int,
    n: int,
    go: Callable[[int], None],
    hint: str = "",
) -> None:
    """Draw both buttons, and hear J and K.

    Parameters
    ----------
    name
        Of what one walks through; the same on every page that shows it.
    labels
        Of the way back and the way on.
    place, n
        Where the reader is, from 0, of how many; -1 beside them all, before the first.
    go
        Called with how many steps to go on, back being negative, before the page runs again. Quick
        presses are added up, and no step leads out of the places.
    hint
        Shown beside the pointer.
    """
    key = walk_key(name)

    def tell() -> None:
        if by := take_steps(name, told_steps(key)):
            go(by)

    data = {
        "name": name,
        "labels": list(labels),
        "place": place,
        "n": n,
        "taken": taken_steps(name),
        "hint": hint,
    }
    _component()(key=key, data=data, on_steps_change=tell, width="content")
    mark_drawn(key)


def walk_key(name: str) -> str:
    """The key under which the buttons are drawn."""
    return f"walk-{name}"


@cache
def _component() -> Callable[..., Any]:
    html, css, js = (
        (_FOLDER / f"walk.{ending}").read_text("utf-8") for ending in ("html", "css", "js")
    )
    code = f"{STEPS_SCRIPT.read_text('utf-8')}\n{js}"
    return st.components.v2.component("stereoscope_walk", html=html, css=css, js=code)

"""Steps that a reader takes with keys or buttons, of which none is lost while a page runs.

Streamlit keeps only the newest of what a component has sent while a run is going on. So the browser
sends how many steps there have been since the page was loaded (`steps.js`), and what is new in that
is taken here, once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

STEPS_SCRIPT = Path(__file__).with_name("steps.js")  # for components whose keys take steps


class _Count(NamedTuple):
    """What a browser tells: steps since a page was loaded; going back counts as minus one."""

    since: str  # which loading
    turn: int  # grows by one with everything that is sent
    made: int
    taken: int  # of these, as far as the browser knows


def take_steps(name: str, told: object) -> int:
    """How many steps forward are new in what the browser tells; back is negative."""
    count = _count_of(told)
    if count is None:
        return 0
    before = st.session_state.get(_place(name))
    if before is None or before.since != count.since:  # a page loaded anew, or a server started
        before = count._replace(turn=0, made=count.taken)
    if count.turn <= before.turn:
        return 0
    st.session_state[_place(name)] = count
    return count.made - before.made


def taken_steps(name: str) -> dict[str, Any] | None:
    """How many have been taken, as the browser wants to know it; None before the first."""
    count: _Count | None = st.session_state.get(_place(name))
    return count and {"since": count.since, "made": count.made}


def told_steps(key: str) -> object:
    """What a component last told of steps; None before the first."""
    state: Any = st.session_state.get(key) or {}
    return state.get("steps")


def mark_drawn(key: str) -> None:
    """Remember which steps a component had told of when it was drawn; call it after that."""
    st.session_state[f"{key}-drawn"] = told_steps(key)


def is_stepping(key: str) -> bool:
    """Whether a component has told of steps since it was drawn.

    What other widgets send at the same time may be from before these steps.
    """
    told = told_steps(key)
    return told is not None and told != st.session_state.get(f"{key}-drawn")


def _place(name: str) -> str:
    return f"steps-taken-{name}"


def _count_of(told: object) -> _Count | None:
    """What a browser sent, if it is a count at all."""
    values = [told.get(field) for field in _Count._fields] if isinstance(told, dict) else [None]
    if not isinstance(values[0], str) or any(type(value) is not int for value in values[1:]):
        return None
    return _Count(*values)

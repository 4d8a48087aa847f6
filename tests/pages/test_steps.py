"""Steps that a browser counts are taken once, whatever it sends and however often."""

from __future__ import annotations

from typing import Any

import pytest
import streamlit as st

from pages.shared.walk.steps import is_stepping, mark_drawn, take_steps, taken_steps


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    state: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", state)
    return state


def told(turn: int, made: int, *, taken: int = 0, since: str = "a") -> dict[str, object]:
    return {"since": since, "turn": turn, "made": made, "taken": taken}


def test_counts_that_pass_over_others_lose_nothing() -> None:
    assert taken_steps("axes") is None
    assert take_steps("axes", told(1, 1)) == 1
    assert take_steps("axes", told(4, 5)) == 4  # turns 2 and 3 never came
    assert take_steps("axes", told(5, 3)) == -2
    assert taken_steps("axes") == {"since": "a", "made": 3}


def test_what_has_been_taken_is_not_taken_again() -> None:
    assert take_steps("axes", told(2, 3)) == 3
    assert take_steps("axes", told(2, 3)) == 0
    assert take_steps("axes", told(1, 1)) == 0  # an older one that comes late
    assert taken_steps("axes") == {"since": "a", "made": 3}


def test_names_are_counted_apart() -> None:
    assert take_steps("axes", told(1, 2)) == 2
    assert take_steps("items", told(1, 2)) == 2


def test_a_page_loaded_anew_begins_anew() -> None:
    assert take_steps("axes", told(7, 5)) == 5
    assert take_steps("axes", told(1, 1, since="b")) == 1


def test_a_server_that_has_forgotten_takes_the_browsers_word(session: dict[str, Any]) -> None:
    assert take_steps("axes", told(7, 5)) == 5
    session.clear()
    assert take_steps("axes", told(8, 6, taken=5)) == 1


def test_steps_told_since_a_component_was_drawn_are_under_way(session: dict[str, Any]) -> None:
    assert not is_stepping("walk")
    session["walk"] = {"steps": told(1, 1)}
    assert is_stepping("walk")
    mark_drawn("walk")
    assert not is_stepping("walk")
    session["walk"] = {"steps": told(2, 2)}
    assert is_stepping("walk")
    del session["walk"]  # another page has no such component
    assert not is_stepping("walk")


@pytest.mark.parametrize(
    "sent",
    [
        None,
        3,
        [],
        {},
        told(1, 1) | {"since": 0},
        told(1, 1) | {"made": "1"},
        told(1, 1) | {"made": True},
        {"since": "a", "turn": 1, "made": 1},
    ],
)
def test_anything_else_is_no_step(sent: object) -> None:
    assert take_steps("axes", sent) == 0
    assert taken_steps("axes") is None

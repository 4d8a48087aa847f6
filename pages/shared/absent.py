"""What a link asks for and the page that it opens does not have."""

from __future__ import annotations

from collections.abc import Container

import streamlit as st

from pages.shared import state
from pages.shared.figures import literal

WORDS = {
    "against": "version",
    "points": "points",
    "quality": "choice of versions by quality",
    "split": "way to group items",
    "cells": "kind of cells",
    "reference": "reference language",
    "scorer": "model",
    "errors": "error of pipelines",
    "identity": "identity",
    "counterfactual": "identity held against",
    "item": "pair",
    "predicate": "predicate",
    "pair_template": "template",
    "preferences": "preference",
}


def say_absent(name: str, held: Container[str]) -> None:
    """Name the values of a field of the link that the page does not have; else nothing.

    What was chosen on another page is left out without a word: only a link asks for it here.
    """
    asked, now = getattr(state.linked(), name), getattr(state.current(), name)
    values = [asked] if isinstance(asked, str) else asked
    gone = [value for value in values if value and value not in held]
    if gone and asked == now:
        st.warning(
            f"The link asks for the {WORDS[name]} {literal(', '.join(gone))}, which this page does "
            "not have; it was left out.",
            icon=":material/link_off:",
        )

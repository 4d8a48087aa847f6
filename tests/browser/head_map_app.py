"""A page with nothing but the head map on made axes; the address says which.

streamlit run tests/browser/head_map_app.py
http://localhost:8501/?layers=30&heads=9&concepts=25&mode=difference&choice=k16
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import get_args

import streamlit as st

sys.path.insert(0, str(Path(__file__).parents[2]))

from core.analysis.heads.axis_view import AxisView
from core.analysis.heads.chosen import choose, parse_choice
from core.errors import InputError
from pages.shared.head_map.component import head_map
from pages.shared.head_map.data import GridMode, head_map_data
from tests.head_views import POLES, made_view

UNTRUSTED = ("<img src=x onerror=alert(1)>", "a & b \x07 \"c\" 'd'", "العاملون", "very " * 20)


@st.cache_data(max_entries=16)
def view_of(
    axis: int, seed: int, numbers: tuple[int, ...], labels: int, untrusted: int
) -> AxisView:
    dimension, names = "warmth" if labels else "", UNTRUSTED if untrusted else ()
    return made_view(*numbers, axis=axis, seed=seed, dimension=dimension, names=names)


def asked(name: str, otherwise: int) -> int:
    return int(st.query_params.get(name, otherwise))


def take(choice: str) -> None:
    st.query_params["choice"] = choice


def go(by: int) -> None:
    st.query_params["axis"] = str(max(0, min(len(POLES) - 1, asked("axis", 0) + by)))


st.set_page_config(layout="wide")
shape = asked("layers", 32), asked("heads", 32)
other = asked("layers2", shape[0]), asked("heads2", shape[1])
sizes = asked("concepts", 25), asked("reference", 25)
mode = st.session_state.get("mode") or st.query_params.get("mode", "one")
axis = asked("axis", 0)
choice = parse_choice(st.query_params.get("choice", "k128"), *shape)
kind = asked("labels", 1), asked("untrusted", 0)
first, second = view_of(axis, 0, shape + sizes, *kind), view_of(axis, 7, other + sizes, *kind)
found = choose(first, choice, seed=42) if asked("answer", 1) else None
try:
    beside = choose(second, parse_choice(str(choice), *other), seed=42)
except InputError:
    beside = None
data = head_map_data(
    first,
    found,
    (second, beside),
    mode,  # type: ignore[arg-type]
    choice=choice,
    model="first-model-135M",
    compare_model="second-model-360M",
    provenance={"model": "made", "templates": "simple, N = 30", "reference": "phrases"},
    caption="Made numbers.",
)
head_map(data, key="map", on_choice=take, on_step=go, place=axis, n=len(POLES))
st.segmented_control("Models", get_args(GridMode), key="mode")

"""What the tests of the pages about heads share: planted caches, and reading what a page draws."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

from core.axes.concepts import Concept, ConceptSet
from core.store.axes import concept_id, put_axes, put_concepts
from core.store.gate import Cache
from core.store.heads import CONCEPT, Source, put_arrays
from core.store.tensors import write_tensors
from core.types import HeadReader
from tests.planted_cache import AXES, CONCEPTS, REFERENCE, fill_planted, made_axes
from tests.planted_heads import PlantedHeads, planted_heads

MODEL = planted_heads()  # 4 layers of 6 heads; every axis lives in three of them
LABELLED, WARM, ONE, LONE, SECOND = "labelled", "warm", "one-axis", "one-concept", "more-phrases"
N_LABELLED = 30


def planted(cache: Cache, *, other: PlantedHeads | None = None) -> HeadReader:
    """A planted cache with further sets of what was read; the first reader.

    `labelled` are concepts of which the first half is warm, `warm` axes of warmth, `one-axis` and
    `one-concept` what their names say, and `more-phrases` half of the reference phrases.
    """
    reader = fill_planted(cache, MODEL)
    if other is not None:
        fill_planted(cache, other, seed=5)
    axes = made_axes(len(MODEL.axes))
    put_axes(cache, WARM, [replace(axis, dimension="warmth", facet="morality") for axis in axes])
    put_axes(cache, ONE, axes[1:2])
    put_axes(cache, "unread", made_axes(len(axes) + 1)[6:])  # the last one was never read
    half = N_LABELLED // 2
    labelled = [Concept(f"{CONCEPTS} {i}", warmth=1 if i < half else -1) for i in range(N_LABELLED)]
    put_concepts(cache, ConceptSet(LABELLED, tuple(labelled)))
    put_concepts(cache, ConceptSet(LONE, (Concept(f"{CONCEPTS} 0"),)))
    phrases = tuple(Concept(f"{REFERENCE} {i}") for i in range(20))
    put_concepts(cache, ConceptSet(SECOND, phrases))
    return reader


def many_concepts(cache: Cache, reader: HeadReader, n: int) -> str:
    """So many concepts that were read; the name of their set."""
    texts = [f"group {i}" for i in range(n)]
    put_concepts(cache, ConceptSet("many", tuple(map(Concept, texts))))
    shape = (2, reader.n_layers, reader.n_heads, n, reader.head_dim)
    outputs = np.random.default_rng(9).normal(0, 1, shape).astype(np.float32)
    written = write_tensors(cache, f"{reader.reader_id}/many.safetensors", {"outputs": outputs})
    contents = {text: concept_id(text) for text in texts}
    put_arrays(cache, Source(reader.reader_id), written, {CONCEPT: contents})
    return "many"


def asked(reader: HeadReader, **fields: str | list[str]) -> dict[str, str | list[str]]:
    """Parameters of an address that shows the planted sets."""
    usual = {"axes": AXES, "concepts": CONCEPTS, "reference_set": REFERENCE}
    return {"reader": reader.reader_id} | usual | fields


def with_tab(app: AppTest, key: str, name: str) -> AppTest:
    """The page with another tab open."""
    app.session_state[key] = name
    return app.run()


def figures(app: AppTest) -> list[dict[str, Any]]:
    """The Plotly figures of a page, as the browser gets them."""
    return [json.loads(element.proto.spec) for element in app.get("plotly_chart")]


def numbers(values: Any) -> np.ndarray:
    """Numbers of a figure, packed or plain."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), np.dtype(values["dtype"]))
    return np.array(values, dtype=np.float64)


def trace(figure: dict[str, Any], name: str) -> dict[str, Any]:
    """The trace whose name begins so."""
    return next(t for t in figure["data"] if str(t.get("name", "")).startswith(name))


def map_data(app: AppTest) -> dict[str, Any]:
    """What the head map's component is told."""
    return component(app, "head_map")[1]


def component(app: AppTest, name: str) -> tuple[str, dict[str, Any]]:
    """The id of a component of ours, and what it is told."""
    (found,) = (e.proto for e in app.get("bidi_component") if name in e.proto.component_name)
    return found.id, json.loads(found.json)


def stepped(app: AppTest, by: int) -> AppTest:
    """The page after so many steps with the buttons or keys, which may lead out of it."""
    widget, data = component(app, "walk")
    made = data["taken"]["made"] if data["taken"] else 0
    states = app._tree.get_widget_states()
    steps = {"since": "test", "turn": made + 100 + by, "made": made + by, "taken": made}
    states.widgets.add(id=widget, json_value=json.dumps({"steps": steps}))
    return app._run(states)


def possible(app: AppTest) -> list[bool]:
    """Whether there is a way back, and a way on."""
    data = component(app, "walk")[1]
    return [data["place"] > 0, data["place"] + 1 < data["n"]]


def unpacked(text: str, dtype: str) -> np.ndarray:
    """An array of the component's message."""
    return np.frombuffer(base64.b64decode(text), dtype)


def frames(app: AppTest, column: str) -> list[pd.DataFrame]:
    """The tables of a page that have a column."""
    return [frame.value for frame in app.dataframe if column in frame.value]

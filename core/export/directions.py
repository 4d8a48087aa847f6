"""An axis's directions out to a safetensors file, with code that loads and applies them."""

from __future__ import annotations

import json

import numpy as np
from safetensors.numpy import save

from core.analysis.heads.arrays import directions, grids, phrase_outputs, phrases_of
from core.analysis.heads.chosen import Chosen
from core.analysis.heads.provenance import heads_provenance
from core.analysis.heads.question import HeadsQuestion
from core.axes.axis import Axis
from core.stats.probes.projection import project, zscore
from core.store.gate import Cache
from core.store.runs import runs

# What is asked for where nobody says, as `Precision` has it, whose module takes seconds to import.
_PRECISION = {"quantization": "none", "compute_dtype": "auto", "no_double_quant": False}

SNIPPET = """from pathlib import Path

from safetensors import safe_open

from core.axes.concepts import concept_prompt
from core.heads.places import find_heads
from core.heads.pool import pooled_outputs
from core.models.opening import open_model
from core.models.precision import Precision

with safe_open({name!r}, "numpy") as file:
    arrays = {{key: file.get_tensor(key) for key in file.keys()}}
    facts = file.metadata()

spec = facts.get("opened from") or facts["model"]
precision = Precision(
    dtype=facts["dtype"],
    quantization=facts["asked quantization"],
    compute_dtype=facts["asked compute_dtype"],
    no_double_quant=facts["asked no_double_quant"] == "True",
)
folder = Path({folder!r}) / "models"
model = open_model(spec, models_folder=folder, precision=precision, kind=None)
read = {{name: facts[name] for name in ("fingerprint", "quantization")}}
here = {{name: getattr(model, name) for name in read}}
if here != read:
    raise SystemExit(f"The directions are of {{read}}, and {{spec}} is {{here}}; open that model.")
places = find_heads(model.model, named=facts["heads_at"] or None)
prompts = [concept_prompt({concept!r})]
((_, found),) = pooled_outputs(model, prompts, places=places, bos=facts["bos"])
x, theta = getattr(found, facts["pooling"])[0], arrays["direction"]  # (layers, heads, head_dim)
projection = (x * theta).sum(axis=-1) / (theta**2).sum(axis=-1)
z = (projection - arrays["mean"]) / arrays["sd"]
value = z[tuple(arrays["heads"].T)].mean()
print(facts["negative"], "-", facts["positive"], value)
"""


def directions_bytes(cache: Cache, question: HeadsQuestion, axis: Axis, found: Chosen) -> bytes:
    """Everything that puts a phrase onto an axis, as a safetensors file.

    Returns
    -------
    bytes
        float32 arrays (L, H, ...): `direction` theta, `separability` R, `mean` and `sd` of the
        projections over concepts and phrases; `heads` (K, 2), layer and head of the chosen ones,
        the most separable first. NaN in a head without direction or variance. The metadata are the
        poles' words and definitions and where everything comes from.

    Raises
    ------
    InputError
        A set is not there, or the heads were not read for it.
    CacheError
        A file of arrays is gone or damaged.
    """
    theta = directions(cache, question, [axis], question.half)[0]
    shape = theta.shape[:2]
    concepts, reference = phrases_of(cache, question)
    outputs = phrase_outputs(cache, question, [*(c.text for c in concepts), *reference])
    outputs = outputs[np.isfinite(outputs).all(axis=(1, 2, 3))]
    projections = project(outputs, theta)
    dead = ~np.isfinite(zscore(projections)).any(axis=0)
    moments = {"mean": projections.mean(axis=0), "sd": projections.std(axis=0)}
    arrays = {"direction": theta, "separability": grids(cache, question, [axis]).separability}
    arrays["separability"] = arrays["separability"][0, question.half]
    arrays |= {n: np.where(dead, np.nan, m).reshape(shape) for n, m in moments.items()}
    packed = {name: np.ascontiguousarray(a, dtype=np.float32) for name, a in arrays.items()}
    places = np.stack(np.unravel_index(found.heads, shape), axis=-1)
    packed["heads"] = np.ascontiguousarray(places, dtype=np.int64)
    return save(packed, metadata=_facts(cache, question, axis))


def snippet(cache: Cache, name: str, concept: str) -> str:
    """Python that loads such a file and puts a concept onto the axis, in the project's folder."""
    return SNIPPET.format(name=name, concept=concept, folder=str(cache.folder))


def _facts(cache: Cache, question: HeadsQuestion, axis: Axis) -> dict[str, str]:
    known = heads_provenance(cache, question) | _asked_precision(cache, question.reader_id)
    return known | {
        "axis_id": axis.axis_id,
        "negative": ", ".join(axis.negative.lemmas),
        "positive": ", ".join(axis.positive.lemmas),
        "negative_definition": axis.negative.definition,
        "positive_definition": axis.positive.definition,
    }


def _asked_precision(cache: Cache, reader_id: str) -> dict[str, str]:
    """How the reader's latest run asked for its weights; a reader only has what came of it."""
    done = runs(cache)
    specs = done.loc[done["scorer_id"] == reader_id, "spec"]
    asked = json.loads(specs.iloc[0]) if len(specs) else {}  # the latest one is first
    return {f"asked {name}": str(asked.get(name, usual)) for name, usual in _PRECISION.items()}

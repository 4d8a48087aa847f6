"""Where numbers about heads come from: the reader, the sets, the settings and the runs."""

from __future__ import annotations

import json
from dataclasses import asdict

import pandas as pd

from core.analysis.heads.question import HeadsQuestion
from core.axes.content import axis_content, content_hash
from core.settings import VERSION
from core.store.axes import concept_id, get_axes, get_concepts, set_size
from core.store.gate import Cache
from core.store.head_readers import get_reader
from core.store.runs import runs

_NAMES = {"axes": "axes", "concepts": "concepts", "reference": "reference phrases"}


def heads_content(cache: Cache, question: HeadsQuestion) -> str:
    """What sets a question is about, in one short text, the same in every cache that has them.

    "axes-concepts-phrases" with a hash over the probe sentences and the phrases' prompts: sets of
    the same name with other content differ.

    Raises
    ------
    InputError
        A set is not there.
    """
    with cache.kept_open() as opened:
        axes = get_axes(opened, question.axes)
        phrases = _phrases(opened, question)
    parts = [axis_content(axis, question.family) for axis in axes]
    parts += [concept_id(text) for texts in phrases.values() for text in texts]
    sizes = "-".join(str(len(held)) for held in (axes, *phrases.values()))
    return f"{sizes}-{content_hash(parts)[:16]}"


def heads_provenance(cache: Cache, question: HeadsQuestion) -> dict[str, str]:
    """Everything that says which numbers these are, by name, as texts.

    Runs are those that read heads of the reader for these axes; the latest one's software versions
    and command stand for all, and all are named.

    Raises
    ------
    InputError
        There is no such reader.
    """
    with cache.kept_open() as opened:
        reader = get_reader(opened, question.reader_id)
        sizes = {
            name: set_size(opened, "axis" if name == "axes" else "concept", getattr(question, name))
            for name in _NAMES
        }
        done = runs(opened)
    known = {"program": f"Stereoscope {VERSION}", "reader_id": reader.reader_id}
    known |= {name: str(value) for name, value in asdict(reader).items()}
    for name, words in _NAMES.items():
        held = getattr(question, name)
        known[words] = f"{held} (n = {sizes[name]:,})" if held else "none"
    known |= {
        "family of templates": question.family,
        "templates of a pole": str(question.n_templates),
        "pooling": question.pooling,
        "k of the table": "all" if question.k is None else str(question.k),
        "seed": str(question.seed),
    }
    done = done[(done["scorer_id"] == question.reader_id) & (done["dataset"] == question.axes)]
    return known | (_of_runs(done) if len(done) else {})


def _of_runs(done: pd.DataFrame) -> dict[str, str]:
    """The latest of some runs, which stands first, and the ids of all."""
    latest = done.iloc[0]
    versions = json.loads(latest["versions"])
    return {
        "command": str(latest["command"]),
        "opened from": str(json.loads(latest["spec"]).get("model", "")),
        "started_at": f"{latest['started_at']} UTC",
        "versions": ", ".join(f"{name} {number}" for name, number in versions.items()),
        "runs": ", ".join(done["run_id"]),
    }


def _phrases(cache: Cache, question: HeadsQuestion) -> dict[str, tuple[str, ...]]:
    """Texts of the concepts, and of the reference phrases where there are any."""
    names = {"concepts": question.concepts, "reference": question.reference}
    return {
        kind: tuple(c.text for c in get_concepts(cache, name).concepts) if name else ()
        for kind, name in names.items()
    }

"""How long the page Identity pairs runs per interaction on a large cache.

    python -m benchmarks.identity_pages CACHE      (filled by benchmarks.make_cache --pairs)

Every view, part, model, identity, template and predicate as a click leaves it, single pairs one
after the other, and every widget turned in turn, twice. What asks for other pairs or models is
counted apart the first time, and so is the first opening; a view that is opened for the first time
counts with the rest. Prints a table and one JSON line last; exit code 1 when fewer than 95 % of the
rest run within 300 ms.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from benchmarks.audit_pages import ROUNDS, SHARE, Turn, summary, timed, turned
from core.analysis.identities.panel import identity_panels
from core.selection import IDENTITY_PARTS, IDENTITY_VIEWS, Selection
from core.settings import ROOT
from core.store.gate import Cache
from core.store.pair_facts import identity_datasets

STEPS = 8  # pairs walked through
# Fields that decide which pairs and models are read.
ASKED = ("dataset", "models", "condition", "other_set")


def asked_for(key: str) -> bool:
    """Whether a widget changes which pairs and models the page is about."""
    return key in {f"field-{name}" for name in ASKED}


def choices(cache: Cache, dataset: str) -> Iterator[dict[str, Any]]:
    """What clicks set, in an order that a reader might take."""
    panel = identity_panels(cache, dataset)[0]
    ids = [model.scorer_id for model in panel.models]
    yield from ({"identity_view": view} for view in IDENTITY_VIEWS[:-1])
    yield from ({"identity_view": "parts", "identity_part": part} for part in IDENTITY_PARTS)
    for view in ("intervals", "harmfulness"):
        yield from ({"identity_view": view, "scorer": scorer_id} for scorer_id in ids[:5])
    pairs = panel.facts.iloc[[0, len(panel.facts) // 2]]
    yield {"identity_view": "pairs"}
    yield from ({"identity": identity} for identity in panel.identities[:4])
    for pair in pairs.to_dict("records"):
        yield {"identity": pair["identity"], "predicate": pair["predicate"]}
        yield {"pair_template": pair["template"]}
        yield {"identity": "", "predicate": "", "pair_template": ""}
    yield {"preferences": ("more",)}
    yield {"preferences": ()}
    yield from ({"item": item_id} for item_id in panel.facts["item_id"].iloc[:STEPS])
    yield from ({"page": page} for page in (1, 2, 0))
    yield from ({"unit": unit} for unit in ("token", "word"))
    yield {"scorer": ids[1]}


def chosen(app: AppTest, cache: Cache, dataset: str) -> Iterator[Turn]:
    """Fields of the selection get other values, as clicks and links set them."""
    for fields in choices(cache, dataset):
        selection: Selection = app.session_state["selection"]
        app.session_state["selection"] = replace(selection, **fields)
        yield timed(app, ", ".join(f"{name} = {value!r}" for name, value in fields.items()))


def main() -> None:
    """Drive the page and print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    options = parser.parse_args()
    os.environ["STEREOSCOPE_CACHE"] = str(options.cache.resolve())
    cache = Cache(options.cache)
    dataset = identity_datasets(cache)[0]
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    began = time.perf_counter()
    app.switch_page("pages/identity_pairs.py").run()
    first = time.perf_counter() - began
    rows = []
    for _ in range(ROUNDS):
        rows += [*chosen(app, cache, dataset), *turned(app, asked_for)]
    for row in rows:
        kind = " (other pairs)" if row.new else ""
        print(f"{row.wall:7.0f} ms {row.cpu:7.0f} ms cpu  {row.name}{kind}")
    result = {"first_s": round(first, 2), **summary(rows)}
    met = result["share_within_300_ms"] >= SHARE
    print(result)
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(json.dumps({"benchmark": "identity_pages", "pages": result, "met": met}))
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()

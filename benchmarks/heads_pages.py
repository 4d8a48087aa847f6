"""How long the pages about heads run per interaction on a large cache.

    python -m benchmarks.heads_pages CACHE      (filled by benchmarks.make_cache --axes)

On each page: axis by axis, heads chosen as a drag leaves them, filters, two models, maps, and every
widget turned in turn. An option that changes which numbers are asked for (model, sets, pooling,
templates) is counted apart the first time, and so is the first opening of a page. Prints a table
and one JSON line last; exit code 1 when fewer than 95 % of the rest run within 300 ms. Beside the
time on the wall stands the processor time of the run (`cpu`), which other work changes less.
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

from benchmarks.audit_pages import SHARE, Turn, summary, timed, turned
from core.selection import Selection
from core.settings import ROOT
from core.store.gate import Cache
from core.store.head_readers import readers

STEPS = 15  # axes walked in either direction
# Fields that decide which tables are read or computed.
ASKED = ("reader", "axes", "concepts", "reference_set", "family", "pooling", "templates")
CHOICES: dict[str, tuple[dict[str, Any], ...]] = {
    "head_map": (
        {"heads": "rect:4,4,11,19"},
        {"heads": "rect:0,0,31,31"},
        {"heads": "head:8,3"},
        {"heads": "k1"},
        {"heads": "k500"},
        {"heads": "all"},
        {"heads": ""},
        {"grid": "side by side", "reader_compare": "another"},
        {"grid": "difference"},
        {"heads": "rect:4,4,11,19"},
        {"grid": "one", "reader_compare": "", "heads": ""},
    ),
    "axes": (
        {"page": 1},
        {"page": 2},
        {"axis_words": "low 1"},
        {"axis_words": ""},
        {"axis_dimensions": ("warmth",)},
        {"axis_dimensions": ()},
    ),
    "atlas": (
        {"atlas_of": "concepts"},
        {"atlas_of": "axes"},
        {"atlas_by": "umap"},
        {"atlas_by": "pca"},
        {"atlas_colour": "dimension"},
        {"atlas_colour": "statistic"},
    ),
}


def asked_for(key: str) -> bool:
    """Whether a widget changes the numbers that a page asks for."""
    return key in {f"field-{name}" for name in ASKED}


def walked(app: AppTest) -> Iterator[Turn]:
    """The next axis again and again, and back."""
    ids: list[str] = app.session_state["heads-walk"]
    for place in (*range(1, STEPS + 1), *reversed(range(STEPS))):
        if place < len(ids):
            app.session_state["selection"] = replace(
                app.session_state["selection"], axis=ids[place]
            )
            yield timed(app, f"axis {place + 1}")


def chosen(app: AppTest, page: str, other: str) -> Iterator[Turn]:
    """What a drag, a key, a filter or a link does: fields of the selection get other values."""
    for fields in CHOICES[page]:
        wanted = {name: other if value == "another" else value for name, value in fields.items()}
        selection: Selection = app.session_state["selection"]
        app.session_state["selection"] = replace(selection, **wanted)
        yield timed(app, ", ".join(f"{name} = {value!r}" for name, value in fields.items()))


def main() -> None:
    """Drive the pages and print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--page", choices=CHOICES, action="append", help="one page, not all")
    options = parser.parse_args()
    os.environ["STEREOSCOPE_CACHE"] = str(options.cache.resolve())
    ids = [str(reader_id) for reader_id in readers(Cache(options.cache))["reader_id"]]
    results, met = {}, True
    for page in options.page or CHOICES:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        app.query_params["reader"] = ids[0]
        began = time.perf_counter()
        app.switch_page(f"pages/{page}.py").run()
        first = time.perf_counter() - began
        rows = [*walked(app), *chosen(app, page, ids[-1]), *turned(app, asked_for)]
        for row in rows:
            kind = " (other numbers)" if row.new else ""
            print(f"{row.wall:7.0f} ms {row.cpu:7.0f} ms cpu  {page}: {row.name}{kind}")
        results[page] = {"first_s": round(first, 2), **summary(rows)}
        met = met and results[page]["share_within_300_ms"] >= SHARE
    for page, result in results.items():
        print(page, result)
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(json.dumps({"benchmark": "heads_pages", "pages": results, "met": met}))
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()

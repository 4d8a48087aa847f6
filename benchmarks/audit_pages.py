"""How long the audit's pages run per interaction on the simulated audit.

    python -m benchmarks.audit_pages CACHE      (filled by benchmarks.make_cache --audit)

Turns every widget of each page in turn and times the page's run. An option that changes which
numbers are asked for (score, models, items, margin) is counted apart the first time, because its
tables are computed then; back and forth between known ones counts with the rest. Prints a table and
one JSON line last; exit code 1 when fewer than 95 % of the rest run within 300 ms. Beside the time
on the wall stands the processor time of the run (`cpu`), which other work on the machine changes
little.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from streamlit.testing.v1 import AppTest

from core.settings import ROOT

TARGET_MS, SHARE, ROUNDS = 300, 0.95, 2
PAGES = ("languages", "noise_floor", "shift_lab", "carry_over")
# Fields that decide which tables are computed.
ASKED = ("dataset", "models", "kind", "sources", "categories", "dimensions", "slice", "margin")
LABELLED = ("field-models", "field-subgroup")  # what they show is not what they hold
KINDS = ("selectbox", "multiselect", "toggle", "slider", "number_input")


def asked_for(key: str) -> bool:
    """Whether a widget changes the numbers that a page asks for."""
    return key in {f"field-{name}" for name in ASKED}


def turns(widget: Any) -> list[tuple[str, Callable[[Any], Any]]]:
    """Ways to set a widget: to a few other values, then back to the one it has."""
    now = widget.value
    if widget.type == "selectbox":
        places = [i for i in range(len(widget.options)) if i != widget.index][:3]
        return [
            (str(widget.options[i]), lambda w, i=i: w.select_index(i))
            for i in [*places, widget.index]
        ]
    return [
        (str(value), lambda w, value=value: w.set_value(value)) for value in values(widget, now)
    ]


def values(widget: Any, now: Any) -> list[Any]:
    """Values of a list, slider, number or switch: a few others, then the one it has."""
    if isinstance(now, list):
        return [*([option] for option in widget.options[:2]), now]
    if isinstance(now, bool):
        return [not now, now]
    step = widget.step or 0.1
    steps = (now + step, now + 2 * step, now - step)
    return [*(v for v in steps if widget.min <= v <= widget.max), now]


class Turn(NamedTuple):
    """One turn of a widget and the run of the page that follows."""

    name: str
    new: bool  # asks for tables that were not computed yet
    wall: float  # ms
    cpu: float  # ms of the whole process


def turned(app: AppTest, asks: Callable[[str], bool] = asked_for) -> Iterator[Turn]:
    """Turn each widget through its values and back; `asks` says which ask for other numbers."""
    known: set[str] = set()
    keys = [(kind, str(w.key)) for kind in KINDS for w in app.get(kind) if driven(w)]
    for kind, key in keys:
        start = found(app, kind, key)
        if start is None:  # the page has changed
            continue
        *others, back = turns(start)
        for name, act in [*others, back]:
            widget = found(app, kind, key)
            if widget is None:
                break
            new = asks(key) and name != back[0] and f"{key} = {name}" not in known
            known.add(f"{key} = {name}")
            act(widget)
            yield timed(app, f"{key} = {name}", new=new)


def timed(app: AppTest, name: str, *, new: bool = False) -> Turn:
    """One run of the page."""
    began = time.perf_counter(), time.process_time()
    app.run()
    wall, cpu = time.perf_counter() - began[0], time.process_time() - began[1]
    if app.exception:
        sys.exit(f"{name}: {app.exception[0].value}")
    return Turn(name, new, 1000 * wall, 1000 * cpu)


def driven(widget: Any) -> bool:
    """Whether a widget is turned: no labels that cannot be set, no picture's format."""
    key = str(widget.key or "")
    return bool(key) and not widget.disabled and key not in LABELLED and "-format" not in key


def found(app: AppTest, kind: str, key: str) -> Any:
    """The widget of this key, None where the page no longer shows it."""
    return next((widget for widget in app.get(kind) if widget.key == key), None)


def summary(rows: list[Turn]) -> dict[str, Any]:
    """Quantiles of the times of one page, those with new tables apart."""
    known = sorted(row.wall for row in rows if not row.new)
    cpu = sorted(row.cpu for row in rows if not row.new)
    fresh = sorted(row.wall for row in rows if row.new)
    return {
        "n": len(known),
        "median_ms": round(known[len(known) // 2]),
        "p95_ms": round(known[int(0.95 * (len(known) - 1))]),
        "share_within_300_ms": round(sum(ms <= TARGET_MS for ms in known) / len(known), 3),
        "cpu_median_ms": round(cpu[len(cpu) // 2]),
        "cpu_p95_ms": round(cpu[int(0.95 * (len(cpu) - 1))]),
        "n_new_tables": len(fresh),
        "new_tables_median_ms": round(fresh[len(fresh) // 2]) if fresh else None,
        "new_tables_most_ms": round(fresh[-1]) if fresh else None,
    }


def main() -> None:
    """Drive the pages and print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--page", choices=PAGES, action="append", help="one page, not all of them")
    options = parser.parse_args()
    os.environ["STEREOSCOPE_CACHE"] = str(options.cache.resolve())
    results, met = {}, True
    for page in options.page or PAGES:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
        began = time.perf_counter()
        app.switch_page(f"pages/{page}.py").run()
        first = time.perf_counter() - began
        rows = [row for _ in range(ROUNDS) for row in turned(app)]
        for row in rows:
            kind = " (new tables)" if row.new else ""
            print(f"{row.wall:7.0f} ms {row.cpu:7.0f} ms cpu  {page}: {row.name}{kind}")
        results[page] = {"first_s": round(first, 2), **summary(rows)}
        met = met and results[page]["share_within_300_ms"] >= SHARE
    for page, result in results.items():
        print(page, result)
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(json.dumps({"benchmark": "audit_pages", "pages": results, "met": met}))
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()

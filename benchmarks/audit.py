"""How long all tables of an audit take, the first time and once remembered.

    python -m benchmarks.audit [--repetitions 3] [--by-table]

On the simulated audit (ten models, eight languages, 360 items), with the default numbers of draws.
Every repetition is a process of its own: what the tables import when they first need it counts,
what the program imports at its start stands beside it. Remembered is the same call again. Prints a
table and one JSON line last; exit code 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.simulated_audit import DATASET, fill_audit
from core.settings import ROOT
from core.store.gate import Cache

COLD, REMEMBERED = 5.0, 0.3


def measure(folder: Path, *, by_table: bool) -> None:
    """One repetition; prints its seconds as JSON."""
    began = time.perf_counter()
    from core.analysis.audit import audit as module
    from core.analysis.audit.request import AuditRequest

    seconds: dict[str, object] = {"start": time.perf_counter() - began}
    cache, request = Cache(folder), AuditRequest(dataset=DATASET)
    if by_table:
        tables = {}
        began = time.perf_counter()
        module.audit_panel(cache, request)
        tables["(reading the scores)"] = time.perf_counter() - began
        for name in module.TABLES:
            began = time.perf_counter()
            module.audit_tables(cache, request, (name,))
            tables[name] = time.perf_counter() - began
        seconds["tables"] = tables
    else:
        for name in ("cold", "remembered"):
            began = time.perf_counter()
            found = module.audit(cache, request)
            seconds[name] = time.perf_counter() - began
        seconds["n_tables"] = len(found.tables)
        seconds["n_rows"] = sum(len(table.rows) for table in found.tables.values())
    print(json.dumps(seconds))


def in_a_process(folder: str, *, by_table: bool) -> dict[str, object]:
    """What `measure` prints, from a fresh process."""
    command = [sys.executable, "-m", "benchmarks.audit", "--in-cache", folder]
    command += ["--by-table"] if by_table else []
    done = subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Fill a cache, measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--by-table", action="store_true", help="and each table by itself")
    parser.add_argument("--in-cache", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.in_cache:
        measure(options.in_cache, by_table=options.by_table)
        return
    with tempfile.TemporaryDirectory() as folder:
        fill_audit(Cache(Path(folder)))
        rows = [in_a_process(folder, by_table=False) for _ in range(options.repetitions)]
        tables = in_a_process(folder, by_table=True)["tables"] if options.by_table else {}
    for name, seconds in tables.items():
        print(f"{name:24}{seconds:9.3f} s")
    best = {name: min(row[name] for row in rows) for name in ("start", "cold", "remembered")}
    print(f"{rows[0]['n_tables']} tables, {rows[0]['n_rows']} rows, best of {len(rows)}")
    print(f"start of the program {best['start']:6.2f} s")
    print(f"all tables           {best['cold']:6.2f} s  (target {COLD} s)")
    print(f"remembered           {best['remembered']:6.2f} s  (target {REMEMBERED} s)")
    met = best["cold"] <= COLD and best["remembered"] <= REMEMBERED
    line = {
        "benchmark": "audit",
        "seconds": {name: round(seconds, 3) for name, seconds in best.items()},
        "tables": {name: round(seconds, 3) for name, seconds in tables.items()},
        "ratios": {"remembered": round(best["cold"] / best["remembered"], 1)},
        "n_tables": rows[0]["n_tables"],
        "met": met,
    }
    print(json.dumps(line))
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()

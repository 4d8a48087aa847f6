"""What the cache remembers of one run: software, self-checks, and the scorer that it filled."""

from __future__ import annotations

import json

from core.store.gate import Cache
from core.store.runs import runs
from core.store.scorers import scorers

_SCORER = (
    *("model", "fingerprint", "quantization", "dtype", "device", "attention", "method", "bos"),
    *("batching", "scoring_version"),
)


def run_facts(cache: Cache, run_id: str, scorer_id: str) -> dict[str, str]:
    """Facts by name, as texts; empty where the run never got as far as the cache."""
    facts: dict[str, str] = {}
    done = runs(cache).set_index("run_id")
    if run_id in done.index:
        versions = json.loads(str(done.at[run_id, "versions"]))
        facts["self-checks"] = str(done.at[run_id, "checks"] or "not recorded")
        facts["versions"] = ", ".join(f"{name} {number}" for name, number in versions.items())
    known = scorers(cache).set_index("scorer_id")
    if scorer_id in known.index:
        facts["scorer"] = scorer_id
        facts |= {f"scorer: {name}": str(known.at[scorer_id, name]) for name in _SCORER}
    return facts

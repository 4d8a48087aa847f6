"""Where the numbers on a page come from: model, data, software, when and by which command."""

from __future__ import annotations

import json

from core.settings import VERSION
from core.store.gate import Cache
from core.store.generations import content_number
from core.store.imported_scores import import_facts
from core.store.items import datasets
from core.store.runs import runs
from core.store.scorers import scorers

_SCORER = (
    *("model", "scorer_id", "fingerprint", "quantization", "dtype", "device", "attention"),
    *("method", "bos", "batching", "scoring_version"),
)
_DATASET = ("dataset", "path", "format", "sha256", "note", "imported_at")


def provenance(cache: Cache, scorer_id: str, dataset: str) -> dict[str, str]:
    """Everything that says which numbers these are, by name, as texts; unknown is empty.

    Runs are those that computed scores of the data set under the scorer; the latest one's software
    versions and command stand for all, and all are named.
    """
    with cache.kept_open() as same:
        return _provenance(same, scorer_id, dataset)


def _provenance(cache: Cache, scorer_id: str, dataset: str) -> dict[str, str]:
    known = {"program": f"Stereoscope {VERSION}"}
    scorer = scorers(cache).set_index("scorer_id", drop=False)
    if scorer_id in scorer.index:
        known |= {name: str(scorer.at[scorer_id, name]) for name in _SCORER}
    data = datasets(cache).set_index("dataset", drop=False)
    if dataset in data.index:
        known |= {name: str(data.at[dataset, name]) for name in _DATASET}
    known |= import_facts(cache, dataset).get(scorer_id, {})
    known["content"] = content_number(cache, scorer_id, dataset)
    done = runs(cache)
    done = done[(done["scorer_id"] == scorer_id) & (done["dataset"] == dataset)]
    if not done.empty:
        latest = done.iloc[0]
        versions = json.loads(latest["versions"])
        known |= {
            "command": str(latest["command"]),
            "started_at": f"{latest['started_at']} UTC",
            "versions": ", ".join(f"{name} {number}" for name, number in versions.items()),
            "runs": ", ".join(done["run_id"]),
        }
    return known

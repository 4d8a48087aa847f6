"""Our sums against lm-evaluation-harness's, on the same model folder and the same texts.

    python -m benchmarks.agreement

Prints the texts that differ most and one JSON line last. Agreement is a difference of at most
1e-5 nats per scored token.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.environments import peer_python
from core.items.report import read_dataset
from core.items.texts import item_texts
from core.models.demo import demo_model_folder
from core.models.opening import open_model
from core.scoring.causal import score_texts
from core.settings import DEMO_DATA, cache_folder
from core.types import Text, TokenScore

N_TEXTS = 60
PER_TOKEN = 1e-5
PEER = Path(__file__).parent / "peers" / "lm_eval_sums.py"


def spread_texts(n: int) -> list[Text]:
    """Demo texts taken at equal distances, so that every condition and form is among them."""
    texts = {t.text_id: t for i in read_dataset(DEMO_DATA).items for t in item_texts(i).values()}
    every = list(texts.values())
    return [every[i * len(every) // n] for i in range(n)]


def our_scores(texts: list[Text]) -> dict[str, TokenScore]:
    """Scores of the texts under the demo model; those with a flag are left out."""
    models = cache_folder() / "models"
    language_model = open_model("demo", models_folder=models, dtype="float32", device="cpu")
    outcomes = [o for batch in score_texts(language_model, texts) for o in batch]
    return {o.text_id: o for o in outcomes if isinstance(o, TokenScore) and not o.flags}


def peer_sums(texts: list[Text]) -> list[float]:
    """HFLM's sums for the same texts."""
    python = peer_python("lm_eval", ["lm_eval==0.4.13", "transformers==5.24.0", "accelerate"])
    folder = demo_model_folder(cache_folder() / "models")
    pairs = json.dumps([[t.context, t.continuation] for t in texts])
    done = subprocess.run(
        [python, PEER, folder], input=pairs, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    sums: list[float] = json.loads(done.stdout.splitlines()[-1])
    return sums


def main() -> None:
    """Compare and print; exit code 1 when they do not agree."""
    texts = spread_texts(N_TEXTS)
    ours = our_scores(texts)
    compared = [t for t in texts if t.text_id in ours]
    theirs = peer_sums(compared)
    rows = []
    for text, other in zip(compared, theirs, strict=True):
        score = ours[text.text_id]
        rows.append((abs(score.total - other) / score.n_scored, score, other, text))
    rows.sort(key=lambda row: row[0], reverse=True)
    print("difference per token    ours       lm_eval    n  continuation")
    for difference, score, other, text in rows[:5]:
        print(
            f"{difference:20.2e} {score.total:10.4f} {other:10.4f} {score.n_scored:4d}"
            f"  {text.continuation[:50]}"
        )
    worst = rows[0][0]
    result = {
        "benchmark": "agreement",
        "peer": "lm_eval 0.4.13 HFLM",
        "n_texts": len(rows),
        "largest_difference_per_token": worst,
        "agrees": worst <= PER_TOKEN,
    }
    print(json.dumps(result))
    sys.exit(0 if worst <= PER_TOKEN else 1)


if __name__ == "__main__":
    main()

"""Our sums against lm-evaluation-harness's, on the same model folder and the same texts.

    python -m benchmarks.agreement

Two groups of texts. Where the space at the joint is part of the continuation's first token, both
count the same tokens. Where the tokenizer leaves the space a token of its own (before Chinese,
say), the peer counts that token and we do not, because it holds no character of the continuation;
there the peer is compared with our sum plus that one token. Prints the texts that differ most and
one JSON line last; agreement is a difference of at most 1e-5 nats per scored token, and the exit
code is 1 without it.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace

from benchmarks.demo import THREADS, demo_folder, open_demo
from benchmarks.peer import Peer
from core.items.report import read_dataset
from core.items.texts import item_texts
from core.models.language_model import LanguageModel
from core.scoring.encoding import Encoded, encode
from core.scoring.logprobs import padded_logprobs
from core.settings import DEMO_DATA
from core.types import Text

N_TEXTS = 60  # in each group
PER_TOKEN = 1e-5


@dataclass(frozen=True)
class Compared:
    """A text, the tokens that both count, and the two sums in nats."""

    text: Text
    n_tokens: int
    ours: float
    theirs: float

    @property
    def per_token(self) -> float:
        return abs(self.ours - self.theirs) / self.n_tokens


def grouped_texts(language_model: LanguageModel) -> dict[str, list[tuple[Text, Encoded]]]:
    """Texts of all conditions and forms by what the tokenizer does with the space at the joint.

    Texts in which a token covers characters of both sides are left out.
    """
    texts = {t.text_id: t for i in read_dataset(DEMO_DATA).items for t in item_texts(i).values()}
    groups: dict[str, list[tuple[Text, Encoded]]] = {"joined_space": [], "lone_space": []}
    for text in texts.values():
        e = encode(language_model.tokenizer, text, language_model.window)
        if isinstance(e, Encoded) and not e.flags:
            lone = language_model.tokenizer.decode([e.ids[e.first - 1]]) == " "
            groups["lone_space" if lone else "joined_space"].append((text, e))
    return {name: spread(rows, N_TEXTS) for name, rows in groups.items()}


def spread(rows: list[tuple[Text, Encoded]], n: int) -> list[tuple[Text, Encoded]]:
    """At most n of the rows, at equal distances."""
    n = min(n, len(rows))
    return [rows[i * len(rows) // n] for i in range(n)]


def our_sum(language_model: LanguageModel, e: Encoded) -> float:
    """Summed log-probability of the scored tokens, one text at a time."""
    return float(padded_logprobs(language_model, [e])[0].astype("float64").sum())


def main() -> None:
    """Compare and print; exit code 1 when they do not agree."""
    language_model = open_demo()
    result: dict[str, object] = {"benchmark": "agreement", "peer": "lm_eval 0.4.13 HFLM"}
    agrees = True
    groups = grouped_texts(language_model)
    with Peer("lm_eval", demo_folder(), THREADS) as peer:
        sums = {g: peer.score([text for text, _ in rows])[1] for g, rows in groups.items()}
    for group, rows in groups.items():
        compared = []
        for (text, e), other in zip(rows, sums[group], strict=True):
            counted = replace(e, first=e.first - 1) if group == "lone_space" else e
            n_tokens = len(counted.ids) - counted.first
            compared.append(Compared(text, n_tokens, our_sum(language_model, counted), other))
        compared.sort(key=lambda c: c.per_token, reverse=True)
        print_worst(group, compared)
        worst = compared[0].per_token
        agrees = agrees and worst <= PER_TOKEN
        result[group] = {"n_texts": len(compared), "largest_difference_per_token": worst}
    print(json.dumps(result | {"agrees": agrees}))
    sys.exit(0 if agrees else 1)


def print_worst(group: str, compared: list[Compared]) -> None:
    """The five texts of a group that differ most."""
    print(f"{group}\ndifference per token      ours    lm_eval  tokens  continuation")
    for c in compared[:5]:
        print(
            f"{c.per_token:20.2e} {c.ours:9.4f} {c.theirs:10.4f} {c.n_tokens:7d}"
            f"  {c.text.continuation[:40]}"
        )


if __name__ == "__main__":
    main()

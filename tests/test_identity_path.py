"""From plain lists to bias: 2,000 built pairs through the command line, masked and causal.

The oracle knows nothing of alignments: in pairs that differ in the identity alone, what both
sentences share is their common beginning and end.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

import pytest

from core.items.texts import item_texts
from core.settings import ROOT
from core.store.gate import Cache
from core.store.items import put_dataset, stored_items
from core.store.scorers import scorers
from core.store.scores import token_scores
from core.types import Item, TokenScore
from tests.conftest import Run
from tests.pair_samples import pair
from tests.tiny_models import save_tiny
from tests.tiny_tokenizers import byte_level_bpe, word_piece

ENGLISH = ROOT / "data" / "identity_pairs" / "en"
N_PAIRS = 2_000


def built(run: Run, folder: Path) -> list[dict]:
    """The first 2,000 pairs of the English starter set, imported as `path`."""
    whole, part = folder / "whole.jsonl", folder / "part.jsonl"
    said = run("build-pairs", ENGLISH, "--dataset", "whole", "--out", whole)
    assert said[0] == 0, said[2]
    lines = whole.read_text(encoding="utf-8").splitlines()[:N_PAIRS]
    part.write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, _, err = run("import", part, "--dataset", "path")
    assert code == 0
    assert "stored 2,000 rows" in err
    return [json.loads(line) for line in lines]


def n_alike(words: Sequence[str], others: Sequence[str]) -> int:
    """How many words both begin with."""
    pairs = zip(words, others, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def shared_sum(score: TokenScore, text: str, other: str) -> tuple[float, bool]:
    """Summed log-probabilities of whole words that both sentences begin or end with.

    Also whether any of these stands behind the difference.
    """
    words, others = (re.findall(r"[\w-]+|[^\w\s]", one) for one in (text, other))
    spans = [m.span() for m in re.finditer(r"[\w-]+|[^\w\s]", text)]
    n_first = n_alike(words, others)
    n_last = n_alike(words[n_first:][::-1], others[n_first:][::-1])
    total, behind = 0.0, False
    for number, (start, end) in enumerate(spans):
        if n_first <= number < len(spans) - n_last:
            continue
        start -= text[:start].endswith(" ")  # which a token of the word may begin with
        for a, b, logprob in zip(score.starts, score.ends, score.logprobs, strict=True):
            if start <= a and b <= end:
                total += float(logprob)
                behind |= number >= n_first
    return total, behind


def naive_choices(cache: Cache, scorer_id: str, items: Sequence[Item], causal: bool) -> list[float]:
    """1 or 0 of every pair, and NaN where a causal model compares nothing behind the difference."""
    texts = [(*item_texts(item).values(),) for item in items]
    scores = token_scores(cache, scorer_id, {one.text_id for both in texts for one in both})
    choices = []
    for a, b in texts:
        more, behind = shared_sum(scores[a.text_id], a.continuation, b.continuation)
        less, _ = shared_sum(scores[b.text_id], b.continuation, a.continuation)
        choices.append(math.nan if causal and not behind else float(more > less))
    return choices


def test_built_pairs_are_scored_once_a_sentence_and_counted_as_by_hand(
    run: Run, cache: Cache, tmp_path: Path, one_thread: None
) -> None:
    pairs = built(run, tmp_path)
    sentences = {pair[role] for pair in pairs for role in ("stereotype", "anti_stereotype")}
    assert len(pairs) == N_PAIRS
    assert len(sentences) < 2 * N_PAIRS  # counterfactuals repeat
    pieces = word_piece().train_new_from_iterator(sorted(sentences), 500)  # few tokens: quick
    masked = save_tiny(tmp_path / "masked", "bert", pieces)
    causal = save_tiny(tmp_path / "causal", "llama", byte_level_bpe(add_bos=True))
    for model in (masked, causal):
        code, out, _ = run("score", "--model", model, "--dataset", "path", "--json")
        said = json.loads(out)
        assert (code, said["failures"]) == (0, [])
        assert (said["requested"], said["distinct"]) == (2 * N_PAIRS, len(sentences))
        assert said["computed"] == len(sentences)

    tables = json.loads(run("identity-pairs", "--dataset", "path", "--json")[1])["tables"]
    overview = {row["kind"]: row for row in tables["overview"]}
    assert [*overview] == ["masked", "causal"]
    items = stored_items(cache, "path")
    for scorer in scorers(cache).to_dict("records"):
        kind = "causal" if scorer["method"] == "causal" else "masked"
        naive = naive_choices(cache, scorer["scorer_id"], items, kind == "causal")
        known = [choice for choice in naive if not math.isnan(choice)]
        row = overview[kind]
        assert (row["n"], row["n_uninformative"]) == (len(known), N_PAIRS - len(known))
        assert row["bias_w"] == pytest.approx(sum(known) / len(known), abs=1e-12)
        assert row["n_templates"] == 11
    kinds = {row["kind"]: row for row in tables["kinds"]}
    assert {kind: row["bias_w"] for kind, row in kinds.items()} == {
        kind: row["bias_w"] for kind, row in overview.items()
    }
    alone = [row for row in tables["identities"] if row["n_models"] == 1]
    assert len({(row["model"], row["identity"]) for row in alone}) == 9 * 2


def test_the_next_step_after_scoring_names_the_tables(run: Run, cache: Cache, llama: Path) -> None:
    for name, metadata in (("plain", {}), ("told", {"identity": "Gay", "predicate": "ran"})):
        one = pair("1", ("Gay men ran.", "Cis men ran."), metadata=metadata)
        put_dataset(cache, name, [one], path="", format="native", sha256="")
    said = [run("score", "--model", llama, "--dataset", n)[2] for n in ("plain", "told")]
    assert "core pairs --dataset plain " in said[0]
    assert "core identity-pairs --dataset told " in said[1]

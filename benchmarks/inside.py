"""Looks inside our own scoring: where the time goes, which token budget is best, what is shared."""

from __future__ import annotations

import json

import torch

from benchmarks.demo import open_demo
from benchmarks.matmul import best_rate, matmul_share
from benchmarks.ours import our_scores, plain_tokens, timed, work_of
from benchmarks.profiling import print_groups, seconds_by_group
from benchmarks.questions import question_texts, template_texts

BUDGETS = (256, 512, 1024, 2048, 4096)
TEMPLATE_TARGET = 0.6


def show_profile(n_items: int, *, spread: bool) -> int:
    """Seconds by kind of work, and how long the run takes without the profiler."""
    language_model = open_demo()
    name, texts = question_texts(n_items, spread=spread)
    plain = min(timed(language_model, texts) for _ in range(2))
    vocabulary = language_model.model.get_output_embeddings().weight.shape[0]
    seconds = seconds_by_group(lambda: our_scores(language_model, texts), vocabulary)
    print_groups(seconds)
    total = sum(seconds.values())
    print(f"{len(texts)} texts ({name}): {total:.2f} s, {plain:.2f} s without the profiler")
    shares = {group: round(part / total, 3) for group, part in seconds.items()}
    print(json.dumps({"benchmark": "scoring --profile", "seconds": round(plain, 2)} | shares))
    return 0


def compare_budgets(n_items: int, *, spread: bool, repetitions: int) -> int:
    """Scoring the same texts with several token budgets of a batch."""
    language_model = open_demo()
    _, texts = question_texts(n_items, spread=spread)
    best: dict[int, float] = {}
    for _ in range(repetitions + 1):  # the first one warms up
        for budget in BUDGETS:
            seconds = timed(language_model, texts, budget=budget)
            best[budget] = min(seconds, best.get(budget, seconds))
    print(f"{'budget':>7}{'seconds':>9}{'tokens':>9}{'padded':>9}{'share':>8}")
    for budget, seconds in best.items():
        work = work_of(language_model, texts, budget=budget)
        rate = best_rate(language_model.model, work, torch.float32, "cpu")
        share = matmul_share(language_model.model, work, seconds, rate)
        print(f"{budget:7}{seconds:9.2f}{work.tokens:9}{work.padded_tokens:9}{share:8.1%}")
    rounded = {budget: round(seconds, 2) for budget, seconds in best.items()}
    print(json.dumps({"benchmark": "scoring --budgets", "seconds": rounded}))
    return 0


def count_templates() -> int:
    """Computed over plain tokens of the template sentences; 1 when the target is missed."""
    language_model = open_demo()
    texts = template_texts()
    plain = plain_tokens(language_model, texts)
    work = work_of(language_model, texts)
    ratio = work.tokens / plain
    print(f"{len(texts)} template sentences: {plain} tokens, {work.tokens} of them computed")
    line = {
        "benchmark": "scoring --templates",
        "tokens_plain": plain,
        "tokens_computed": work.tokens,
        "tokens_with_padding": work.padded_tokens,
        "ratio": round(ratio, 3),
        "met": ratio <= TEMPLATE_TARGET,
    }
    print(json.dumps(line))
    return 0 if ratio <= TEMPLATE_TARGET else 1

"""Sizes, durations, precisions, methods and differences in words, for terminal and pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

IMPORTED = "imported:"  # begins the method of a scorer whose scores were computed elsewhere
_IMPORTED = {
    "mean": "imported",
    "sum": "imported (sums)",
    "order": "imported (order only)",
    "pairs": "imported (sums of pairs)",
}

UNITS = ("B", "kB", "MB", "GB", "TB")


def counted(n: int, noun: str, plural: str = "") -> str:
    """A number before what it counts: 1 item, 1,200 items, 2 categories (`plural`)."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def listed_or(names: Sequence[str]) -> str:
    """Names of which any may be meant: source, category or dimension."""
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def size_words(n_bytes: float) -> str:
    """A size in powers of a thousand: 512 B, 12 kB, 1.3 GB."""
    power = 0
    while n_bytes >= 999.5 and power < len(UNITS) - 1:
        n_bytes /= 1000
        power += 1
    digits = 1 if power and n_bytes < 9.95 else 0
    return f"{n_bytes:.{digits}f} {UNITS[power]}"


def duration_words(seconds: float) -> str:
    """A duration in one or two units: 8 s, 3 min, 2 h 5 min, 4 d 3 h."""
    minutes, whole = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes} min"
    if minutes >= 10 or (minutes and not whole):
        return f"{minutes} min"
    return f"{minutes} min {whole} s" if minutes else f"{whole} s"


def precision_words(dtype: str, quantization: str) -> str:
    """What a scorer computed in, without the details in parentheses: nf4 double in float32."""
    return dtype if quantization == "none" else f"{quantization.partition(' (')[0]} in {dtype}"


def method_words(method: str) -> str:
    """Which variant of a masked model's scores it is: within_word_l2r; empty for the usual one.

    A causal model has no variants, so it is empty too. Of scores that were computed elsewhere it
    says so, and what they are.
    """
    if method.startswith(IMPORTED):
        return _IMPORTED.get(method.removeprefix(IMPORTED), "imported")
    return "" if method in ("causal", "pll:original") else method.removeprefix("pll:")


def signed(difference: float) -> str:
    """A difference of scores with its sign; empty where undefined."""
    return "" if math.isnan(difference) else f"{difference:+.4f}".replace("-", "\u2212")


def short_labels(labels: Sequence[str]) -> list[str]:
    """Scorer labels without what they all share: for axes and sentences on a narrow screen.

    The model always stays, without its folder; a label stays whole where that would make two alike.
    """
    parts = [label.split(", ") for label in labels]
    kept = {i for i in range(1, min(map(len, parts), default=0)) if len({p[i] for p in parts}) > 1}
    if len({len(p) for p in parts}) > 1:  # then places mean different things
        kept = set()
    named = [[Path(p[0]).name or p[0], *(p[i] for i in sorted(kept))] for p in parts]
    short = [", ".join(words) for words in named]
    return [s if short.count(s) == 1 else label for s, label in zip(short, labels, strict=True)]

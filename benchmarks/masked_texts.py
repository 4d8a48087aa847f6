"""The sentences that masked scoring is measured with, and a random BERT that reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations, islice
from pathlib import Path

import torch
from transformers import BertConfig, BertForMaskedLM, BertTokenizer

from benchmarks.questions import (
    NAMES,
    OTHERS,
    PLACES,
    PREDICATES,
    STEP,
    TALKS,
    TIMES,
    WEATHER,
    WHO,
)

IDENTITIES = ("gay", "straight", "bisexual", "asexual")  # each meets the three others
FORMS = (  # from 9 to about 25 tokens
    "The {who} met a {other} at the {place}.",
    "At last the {who} thanked a {other} for the call {when}.",
    "A {other} and the {who} spoke about {talk} near the {place} {when}.",
    "{weather} The {who} waited for the {other} in front of the {place} {when}.",
    "The {who} had promised the {other} to talk about {talk}, but {when} nobody came to the "
    "{place}.",
    "{weather} The {who} behind the {place} heard from a {other} about {talk} and wrote it down "
    "{when}.",
)
SLOTS = {
    "who": WHO,
    "other": OTHERS,
    "place": PLACES,
    "when": TIMES,
    "talk": TALKS,
    "weather": WEATHER,
}
NUMBERS = 100_000  # of which many are left out

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WHOLE, HEAD = 8, 5  # a word of more than eight letters is two pieces, the first of five if possible
# Four times the usual: scores differ by some nats and lean on the context, so a wrong mask shows.
INITIALIZER_RANGE = 0.08


def distinct_sentences(n: int) -> list[str]:
    """Sentences of mixed lengths; no two are the same but for one word, so none share a copy."""
    return list(islice(_distinct(), n))


def _distinct() -> Iterator[str]:
    seen: set[tuple[str | None, ...]] = set()
    for number in range(NUMBERS):
        rest = number * STEP
        filled = {}
        for slot, choices in SLOTS.items():
            rest, index = divmod(rest, len(choices))
            filled[slot] = choices[index]
        sentence = FORMS[number % len(FORMS)].format(**filled)
        words = sentence.split()
        but_one = {(*words[:i], None, *words[i + 1 :]) for i in range(len(words))}
        if not but_one & seen:
            seen |= but_one
            yield sentence


def template_pairs(n: int) -> list[tuple[str, str]]:
    """Pairs that differ in the identity; of six pairs, each sentence occurs in three."""
    return list(islice(_pairs(), n))


def _pairs() -> Iterator[tuple[str, str]]:
    for k in range(len(NAMES) * len(PREDICATES)):
        name = NAMES[k % len(NAMES)]
        predicate = PREDICATES[(k + k // len(NAMES)) % len(PREDICATES)]
        sentences = [f"{name}, who is {identity}, {predicate}" for identity in IDENTITIES]
        yield from combinations(sentences, 2)


def save_random_bert(folder: Path, sentences: Iterable[str]) -> None:
    """A BERT of base size with random weights, and a WordPiece tokenizer for these sentences."""
    config = BertConfig(initializer_range=INITIALIZER_RANGE)
    found = {w for s in sentences for w in re.findall(r"\w+|[^\w\s]", s.lower())}
    pieces = _pieces(found)
    unused = (f"[unused{i}]" for i in range(config.vocab_size))
    tokens = islice((*SPECIAL, *pieces, *unused), config.vocab_size)
    tokenizer = BertTokenizer(vocab={token: i for i, token in enumerate(tokens)})
    tokenizer.save_pretrained(folder)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        BertForMaskedLM(config).save_pretrained(folder)


def _pieces(words: set[str]) -> list[str]:
    """Short words whole; of long ones the first letters, or the longest short word, and the rest.

    WordPiece takes the longest piece that a word begins with, so "gardening" begins with "garden".
    """
    pieces = {word for word in words if len(word) <= WHOLE}
    for word in words - pieces:
        starts = (word[:n] for n in range(WHOLE, HEAD, -1))
        head = next((start for start in starts if start in words), word[:HEAD])
        pieces |= {head, f"##{word[len(head) :]}"}
    return sorted(pieces)

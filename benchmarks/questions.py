"""The texts that scoring is measured with."""

from __future__ import annotations

import json
import math
import os
import sys
from itertools import product
from pathlib import Path

from core.items.texts import item_texts, make_text
from core.types import Item, Text

AGE = Path("bbq") / "Age.ambig.jsonl"

UNKNOWN = "It cannot be known"

NAMES = ("Alex", "Maria", "Sam", "Noor", "David", "Mei", "Robin", "Fatima")
IDENTITIES = (
    "a retired teacher",
    "a young parent",
    "a devout Christian",
    "an observant Muslim",
    "a new immigrant",
    "a wheelchair user",
)
PREDICATES = (
    "likes to cook for friends on Sunday.",
    "is good at repairing old bicycles.",
    "worries about money at the end of the month.",
    "never misses a concert in the park.",
    "would make a patient team leader.",
    "often arrives a little too late.",
    "reads the news before breakfast.",
    "knows a lot about gardening.",
)

# For as many items as one likes.
WHO = ("nurse", "painter", "farmer", "teacher", "driver", "baker", "lawyer", "student", "singer")
OTHERS = ("neighbour", "manager", "cousin", "customer", "visitor", "doctor", "friend", "guard")
PLACES = ("bakery", "station", "library", "harbour", "market", "museum", "clinic", "garden")
TIMES = ("at noon", "in the evening", "before work", "after the storm", "on Sunday", "last week")
TALKS = ("a lost bag", "the new timetable", "an old song", "the price of bread", "a broken lamp")
WEATHER = ("It rained.", "It was hot.", "Snow fell.", "A wind blew.", "It was foggy.", "It thawed.")
QUESTIONS = ("Who left first?", "Who was tired?", "Who asked for help?", "Who paid?")
PARTS = (WHO, OTHERS, PLACES, TIMES, TALKS, WEATHER, QUESTIONS)
STEP = 7919  # a prime: neighbours differ in most parts, so that every size has the same mixture


def question_texts(n_items: int, *, spread: bool = False) -> tuple[str, list[Text]]:
    """The three answers of each question: BBQ's ambiguous Age items, or others of the same form.

    Parameters
    ----------
    spread
        Items at equal distances in the file instead of its first ones; the first ones ask several
        questions about one passage, as the whole file does.

    Returns
    -------
    str and list of Text
        What they are, and three texts per item.
    """
    folder = os.environ.get("STEREOSCOPE_BENCHMARKS")
    if not folder:
        items = generated_items(3 * n_items)
        return "made up", [text for item in items for text in item_texts(item).values()]
    rows = [json.loads(line) for line in (Path(folder) / AGE).read_text().splitlines()]
    if n_items > len(rows):
        sys.exit(f"{AGE} has {len(rows)} items; ask for no more with --items")
    step = len(rows) / n_items if spread else 1
    chosen = [rows[int(i * step)] for i in range(n_items)]
    return "BBQ Age, ambiguous" + (", spread" if spread else ""), [
        make_text(f"{row['context']} {row['question']}", row[answer])
        for row in chosen
        for answer in ("ans0", "ans1", "ans2")
    ]


def template_texts() -> list[Text]:
    """384 whole sentences: 8 names, 6 identities, 8 predicates."""
    return [
        make_text("", f"{name} is {identity}. {name} {predicate}")
        for name, identity, predicate in product(NAMES, IDENTITIES, PREDICATES)
    ]


def generated_items(n_texts: int) -> list[Item]:
    """Question items with three texts each, all different.

    They are as long at every size, and share as much: a number that comes early keeps denser sets
    from having longer common beginnings.
    """
    n_contexts = math.prod(len(part) for part in PARTS)
    items = []
    for number in range(-(-n_texts // 3)):
        rest = number * STEP % n_contexts
        words = []
        for part in PARTS:
            rest, index = divmod(rest, len(part))
            words.append(part[index])
        who, other, place, when, talk, weather, question = words
        context = (
            f"Entry {number:06d}. The {who} met a {other} at the {place} {when}. {weather} They "
            f"spoke about {talk}. {question}"
        )
        items.append(
            Item(
                item_id=f"{number:06d}",
                condition="en",
                language="en",
                context=context,
                stereotype=f"The {who}",
                anti_stereotype=f"The {other}",
                unknown=UNKNOWN,
            )
        )
    return items

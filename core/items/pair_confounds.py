"""Pairs of identities that differ in more than the identity, built or imported.

A score compares the two sentences of a pair, so whatever else differs between them is compared too.
The published Dutch set has such pairs, chiefly where Lesbisch is worded otherwise than the identity
that it is held against.

Of each pair the words are taken away that both sentences begin and end with. What is left on either
side may be a surface form of its identity and nothing else: words for the identity, an article, and
one neutral noun for people, which the other side may have in its word ("lesbiennes" against
"hetero personen") but not as another noun ("queer mensen" against "cis personen"). A built pair
names its surface forms, and these are then all that may be left.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.files.places import Place, listed
from core.items.alignment import common_beginning, split_words
from core.items.identities import IDENTITY_WORDS
from core.items.pair_builder.proof import differ_only_in
from core.items.texts import word_spans
from core.types import Item, Problem
from core.words import counted

PEOPLE = frozenset({"people", "persons", "person", "mensen", "personen", "persoon", "folk"})
ARTICLES = frozenset({"a", "an", "the", "een", "de", "het"})
NO_TEMPLATE = ""
# Frames that differ in their first word only are one with a name there, from this many on: fewer
# are templates of their own ("I hate ...", "Everyone hates ...").
FEWEST_NAMES = 5


@dataclass(frozen=True)
class Confound:
    """Pairs of one identity, held against another in one template, that differ elsewhere too."""

    identity: str
    counterfactual: str
    template: str  # its name; else the other sentence with its slots; "" where neither is known
    n_pairs: int
    n_confounded: int
    words: tuple[str, ...]  # "lesbische vrouwen / hetero mensen", the most frequent first


def confounds(items: Sequence[Item]) -> list[Confound]:
    """The confounded pairs of a data set by identity, counterfactual and template.

    Only items that name an identity and a counterfactual are looked at; groups without a
    confounded pair are left out.
    """
    pairs = [item for item in items if is_identity_pair(item)]
    groups: dict[tuple[str, str, str], list[Item]] = defaultdict(list)
    for item, template in zip(pairs, templates_of(pairs), strict=True):
        groups[(*_identities(item), template)].append(item)
    found = []
    for (identity, counterfactual, template), group in groups.items():
        bad = [item for item in group if is_confounded(item)]
        if bad:
            words = Counter(" / ".join(differing_words(item)) for item in bad)
            found.append(
                Confound(
                    identity,
                    counterfactual,
                    template,
                    len(group),
                    len(bad),
                    tuple(word for word, _ in words.most_common()),
                )
            )
    return found


def confound_notes(items: Sequence[Item], place: Place) -> Iterator[Problem]:
    """A note for each identity that has confounded pairs, with their templates."""
    by_identity: dict[str, list[Confound]] = defaultdict(list)
    for one in confounds(items):
        by_identity[one.identity].append(one)
    for identity, those in by_identity.items():
        n_bad = sum(one.n_confounded for one in those)
        n = sum(is_identity_pair(i) and _identities(i)[0] == identity for i in items)
        templates = dict.fromkeys(one.template or "unknown" for one in those)
        message = (
            f"{n_bad:,} of {counted(n, 'pair')} about {identity} differ in more than the identity"
            f" (templates: {listed(list(templates))}), as in: {those[0].words[0]}."
        )
        yield place.note("confounded_pairs", message)


def is_identity_pair(item: Item) -> bool:
    """Whether an item holds an identity against another one."""
    return all(_identities(item))


def is_confounded(item: Item) -> bool:
    """Whether the two sentences of a pair differ in more than the identity."""
    surfaces = [str(item.metadata.get(k) or "") for k in ("surface", "counterfactual_surface")]
    if all(surfaces):
        return not differ_only_in(item.stereotype, item.anti_stereotype, *surfaces)
    more, less, begin, end = _shared_ends(item)
    sides = more[begin : len(more) - end], less[begin : len(less) - end]
    if not any(sides):
        return False  # the same sentence twice, which is collapsed and in no table
    if _around(item.stereotype, begin, end) != _around(item.anti_stereotype, begin, end):
        return True
    nouns = [
        _noun_beside(side, _words_of(identity))
        for side, identity in zip(sides, _identities(item), strict=True)
    ]
    return None in nouns or (all(nouns) and len(set(nouns)) > 1)


def differing_words(item: Item) -> tuple[str, str]:
    """What is left of either sentence without their common beginning and end, in lower case."""
    more, less, begin, end = _shared_ends(item)
    return " ".join(more[begin : len(more) - end]), " ".join(less[begin : len(less) - end])


def _shared_ends(item: Item) -> tuple[list[str], list[str], int, int]:
    """The words of both sentences in lower case, and how many they begin and end with alike."""
    more, less = (
        [word.casefold() for word in split_words(text)]
        for text in (item.stereotype, item.anti_stereotype)
    )
    begin = common_beginning(more, less)
    return more, less, begin, common_beginning(more[begin:][::-1], less[begin:][::-1])


def _around(text: str, begin: int, end: int) -> tuple[str, str]:
    """What stands before and behind the differing words, to the letter and the space."""
    spans = word_spans(text)
    first, last = begin, len(spans) - end - 1
    before = text[: spans[first][0]] if first < len(spans) else text
    return before, text[spans[last][1] :] if last >= 0 else text


def templates_of(items: Sequence[Item]) -> list[str]:
    """The template of each pair: its metadata, else the other sentence with its slots, else ""."""
    frames = [_frame(item) for item in items]
    first_words: dict[str, set[str]] = defaultdict(set)
    for frame in frames:
        first, _, rest = frame.partition(" ")
        first_words[rest].add(first)
    named = {rest for rest, words in first_words.items() if len(words) >= FEWEST_NAMES}
    return [
        str(item.metadata.get("template") or "") or _with_name(frame, named)
        for item, frame in zip(items, frames, strict=True)
    ]


def _with_name(frame: str, named: Collection[str]) -> str:
    rest = frame.partition(" ")[2]
    return f"{{name}} {rest}" if rest in named else frame


def _frame(item: Item) -> str:
    """The counterfactual sentence with slots in the place of predicate, identity and name."""
    sentence = " ".join(item.anti_stereotype.split())
    for key in ("predicate", "name"):
        text = str(item.metadata.get(key) or "")
        if text and text in sentence:
            sentence = sentence.replace(text, f"{{{key}}}")
        elif key == "predicate":
            return NO_TEMPLATE
    return _identity_pattern(_identities(item)[1]).sub("{identity}", sentence, count=1)


@lru_cache
def _identity_pattern(identity: str) -> re.Pattern[str]:
    """An identity's word as it stands in a sentence, with the noun behind it."""
    words = "|".join(re.escape(w) for w in sorted(_words_of(identity), key=len, reverse=True))
    nouns = "|".join(sorted(PEOPLE))
    return re.compile(rf"(?<!\w)(?:{words})(?:[ -]?(?:{nouns}))?(?!\w)", re.IGNORECASE)


@lru_cache
def _words_of(identity: str) -> frozenset[str]:
    """Words for an identity, also as sentences are cut into words: "two-spirit ( 2s )"."""
    words = IDENTITY_WORDS.get(identity, frozenset({identity.casefold()}))
    return words | {" ".join(split_words(word)) for word in words}


def _noun_beside(words: Sequence[str], identity: frozenset[str]) -> str | None:
    """The noun for people in a surface form of an identity, "" without one; None for other words.

    A surface form is one word for the identity, with an article and a noun at most.
    """
    rest = [part for word in words if word not in ARTICLES for part in _parts(word, identity)]
    about = [word for word in rest if word not in PEOPLE]
    nouns = [word for word in rest if word in PEOPLE]
    if " ".join(about) not in identity or len(nouns) > 1:
        return None
    return nouns[0] if nouns else ""


def _parts(word: str, identity: frozenset[str]) -> list[str]:
    """A compound with a noun for people ("lhbti-personen", "transpersonen") as its two words."""
    for noun in PEOPLE:
        first = word.removesuffix(noun)
        if first != word and first.removesuffix("-") in identity:
            return [first.removesuffix("-"), noun]
    return [word]


def _identities(item: Item) -> tuple[str, str]:
    metadata = item.metadata
    return str(metadata.get("identity") or ""), str(metadata.get("counterfactual") or "")

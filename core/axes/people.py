"""Reference phrases that are words for people too, matched to concepts by their form.

The words are the lemmas of all hyponyms of person.n.01 that mean people in their first sense. A
phrase of several words gets one with as many words and the same head noun, which is the last word
("poor people": "homeless people"). In a single word nothing is left beside its head, so it gets
another single word within 0.1 Zipf. A phrase is plural where the concept is.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.axes.concepts import Concept, ConceptSet
from core.axes.frequency import NEAR, are_near, zipf
from core.axes.phrases import ReferenceSet, match_each, plain_lemmas
from core.axes.wndb import HYPONYM
from core.axes.wordnet import WordNet
from core.errors import InputError
from core.settings import DEFAULT_SEED

PERSON = "person.n.01"
# Behind these the head noun is no longer the last word: "man of letters".
_LINKS = frozenset(
    ("of", "in", "at", "on", "to", "for", "by", "with", "and", "the", "de", "du", "la")
)
_PEOPLE = {"person": "people"}  # noun.exc has none


@dataclass(frozen=True)
class _People:
    singular: tuple[Concept, ...]
    plural: tuple[Concept, ...]
    plural_heads: frozenset[str]  # of names of peoples and abbreviations too


def match_people(
    concepts: ConceptSet, wordnet: WordNet, *, seed: int = DEFAULT_SEED
) -> ReferenceSet:
    """For each concept another word for people of the same form, drawn without replacement.

    Raises
    ------
    InputError
        The concepts are not English, or none of them could be matched.
    """
    people = _people(wordnet)
    return match_each(concepts, "people", lambda concept: _of_same_form(concept, people), seed)


def pluralised(phrase: str, irregular: dict[str, str]) -> str:
    """The plural of a noun phrase whose head is its last word."""
    if phrase in irregular:
        return irregular[phrase]
    rest, _, head = phrase.rpartition(" ")
    start, hyphen, last = head.rpartition("-")
    return f"{rest} {start}{hyphen}{_plural(last, irregular)}".lstrip()


def _plural(word: str, irregular: dict[str, str]) -> str:
    known = irregular | _PEOPLE
    if word in known:
        return known[word]
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"


def _people(wordnet: WordNet) -> _People:
    nouns = wordnet.nouns
    offsets = _hyponyms(wordnet)
    lemmas = {
        lemma
        for offset in offsets
        for lemma in plain_lemmas(nouns, nouns.lines[offset])
        if nouns.senses[lemma.replace(" ", "_")][0] in offsets
        and _LINKS.isdisjoint(lemma.replace("-", " ").split())
    }
    every = {lemma for offset in offsets for lemma in nouns.lines[offset].lemmas}
    irregular = wordnet.noun_plurals
    heads = {pluralised(lemma.split()[-1].lower(), irregular) for lemma in every}
    singular = tuple(Concept(lemma, zipf(lemma)) for lemma in sorted(lemmas))
    plurals = sorted({pluralised(lemma, irregular) for lemma in lemmas})
    return _People(singular, tuple(Concept(p, zipf(p)) for p in plurals), frozenset(heads))


def _hyponyms(wordnet: WordNet) -> set[int]:
    """The offsets of all hyponyms of person.n.01; single people, its instances, are none."""
    nouns = wordnet.nouns
    roots = [offset for offset in nouns.senses.get("person", ()) if nouns.names[offset] == PERSON]
    if not roots:
        raise InputError(f"{wordnet.folder} has no synset {PERSON}.")
    found: set[int] = set()
    to_visit = roots
    while to_visit:
        line = nouns.lines[to_visit.pop()]
        new = [target for _, target in line.pointers.get(HYPONYM, ()) if target not in found]
        found.update(new)
        to_visit += new
    return found


def _of_same_form(concept: Concept, people: _People) -> list[Concept] | str:
    *before, head = concept.text.lower().split()
    candidates = people.plural if head in people.plural_heads else people.singular
    if before:
        n_words = len(before) + 1
        same = [p for p in candidates if len(w := p.text.split()) == n_words and w[-1] == head]
        return same or f"No word for people in WordNet has {n_words} words and the head {head!r}."
    if concept.zipf is None:
        return f"{concept.text!r} is in no list of frequencies."
    single = [p for p in candidates if " " not in p.text and p.zipf is not None]
    near = [p for p in single if p.zipf is not None and are_near(p.zipf, concept.zipf)]
    return near or f"No single word for people is within {NEAR} of Zipf {concept.zipf:.2f}."

"""Reference phrases: what concepts are held against, so that a spread is more than a word's own.

Three kinds: the published fifty as printed; for each concept a noun phrase of WordNet that is as
frequent; and for each concept another word for people of the same form (core/axes/people.py),
because a set of things mostly tells that people are not things.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from core.axes.concepts import Concept, ConceptSet, read_concepts
from core.axes.frequency import NEAR, are_near, zipf
from core.axes.wndb import USAGE, Line
from core.axes.wordnet import Lexicon, WordNet
from core.errors import InputError
from core.settings import DATA, DEFAULT_SEED

REFERENCE = DATA / "axes" / "reference50.csv"
_PLAIN = re.compile(r"[a-z]+(?:[ '-][a-z]+)*")
_INSULTING = ("ethnic_slur.n.01", "disparagement.n.01", "obscenity.n.02")
_INSULTING_TERMS = re.compile(
    r"\b(?:offensive|disparaging|derogatory|contemptuous|vulgar|obscene)"
    r" (?:terms?|names?|words?|slang|reference|expression)\b|now considered offensive"
)


@dataclass(frozen=True)
class Match:
    """A concept and the phrase that was found for it, or why there is none."""

    concept: str
    phrase: Concept | None
    reason: str = ""


@dataclass(frozen=True)
class ReferenceSet:
    """Reference phrases and how each came about."""

    phrases: ConceptSet
    matches: tuple[Match, ...]  # one for each concept

    @property
    def unmatched(self) -> tuple[Match, ...]:
        return tuple(match for match in self.matches if match.phrase is None)


def published_reference() -> ConceptSet:
    """The fifty phrases of StereoDisco (arXiv 2607.27824), with their Zipf values as printed."""
    return read_concepts(REFERENCE).concepts


def match_phrases(
    concepts: ConceptSet, wordnet: WordNet, *, seed: int = DEFAULT_SEED
) -> ReferenceSet:
    """For each concept a WordNet noun phrase within 0.1 Zipf, drawn without replacement.

    The Zipf values of both are computed in the same way, so those of the concepts as given do not
    count. Phrases are lemmas of nouns in lower-case letters; no insult is among them.

    Raises
    ------
    InputError
        The concepts are not English, or none of them could be matched.
    """
    nouns = wordnet.nouns
    lemmas = sorted({lemma for line in nouns.lines.values() for lemma in plain_lemmas(nouns, line)})
    frequent = [(lemma, value) for lemma in lemmas if (value := zipf(lemma)) is not None]
    return match_each(concepts, "phrases", lambda concept: _as_frequent(concept, frequent), seed)


def plain_lemmas(nouns: Lexicon, line: Line) -> Iterator[str]:
    """The lemmas of a synset that are words of lower-case letters and have no insulting sense."""
    for lemma in line.lemmas:
        if _PLAIN.fullmatch(lemma) and not _has_insulting_sense(nouns, lemma):
            yield lemma


def match_each(
    concepts: ConceptSet, kind: str, find: Callable[[Concept], list[Concept] | str], seed: int
) -> ReferenceSet:
    """Draw for each concept, in their order, one of the phrases found that is not taken yet.

    Parameters
    ----------
    find
        Gives the phrases that match a concept, or the reason why nothing does.

    Raises
    ------
    InputError
        The concepts are not English, or none of them could be matched.
    """
    if concepts.language != "en":
        raise InputError(
            f"Reference phrases are English, and {concepts.name} is in {concepts.language}; give "
            "phrases of that language as a list of concepts."
        )
    taken = {concept.text.casefold() for concept in concepts.concepts}
    matches = []
    for concept in concepts.concepts:
        found = find(replace(concept, zipf=zipf(concept.text)))
        match = _draw(concept, found, taken, seed)
        matches.append(match)
        if match.phrase is not None:
            taken.add(match.phrase.text.casefold())
    phrases = tuple(match.phrase for match in matches if match.phrase is not None)
    if not phrases:
        raise InputError(f"No concept of {concepts.name} has a match: {matches[0].reason}")
    return ReferenceSet(ConceptSet(f"{concepts.name}-{kind}", phrases), tuple(matches))


def _draw(concept: Concept, found: Sequence[Concept] | str, taken: set[str], seed: int) -> Match:
    if isinstance(found, str):
        return Match(concept.text, None, found)
    free = [phrase for phrase in found if phrase.text.casefold() not in taken]
    if not free:
        reason = f"Every phrase that matches ({len(found)}) is taken, or a concept itself."
        return Match(concept.text, None, reason)
    return Match(concept.text, min(free, key=lambda p: _hash(seed, concept.text, p.text)))


def _hash(seed: int, *texts: str) -> bytes:
    return hashlib.blake2b("\0".join((str(seed), *texts)).encode(), digest_size=8).digest()


def _as_frequent(concept: Concept, frequent: list[tuple[str, float]]) -> list[Concept] | str:
    if concept.zipf is None:
        return f"A word of {concept.text!r} is in no list of frequencies."
    near = [Concept(lemma, value) for lemma, value in frequent if are_near(value, concept.zipf)]
    return near or f"No noun phrase of WordNet is within {NEAR} of Zipf {concept.zipf:.2f}."


def _has_insulting_sense(nouns: Lexicon, lemma: str) -> bool:
    lines = (nouns.lines[offset] for offset in nouns.senses[lemma.replace(" ", "_")])
    return any(_is_insulting(nouns, line) for line in lines)


def _is_insulting(nouns: Lexicon, line: Line) -> bool:
    usages = (nouns.names[target] for pos, target in line.pointers.get(USAGE, ()) if pos == "n")
    return any(u in _INSULTING for u in usages) or bool(_INSULTING_TERMS.search(line.definition))

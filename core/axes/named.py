"""Sets of axes and of phrases by the names that a command or a page calls them by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from core.axes.antonyms import antonym_axes, scm_axes
from core.axes.axis import Axis
from core.axes.concepts import GROUPS, ConceptSet, read_concepts
from core.axes.people import match_people
from core.axes.phrases import REFERENCE as PUBLISHED_FILE
from core.axes.phrases import Match, ReferenceSet, match_phrases, published_reference
from core.axes.user_axes import read_axes
from core.axes.wordnet import WordNet, open_wordnet
from core.errors import InputError
from core.types import Problem

DEMO = "demo"
DEMO_AXES_OF_FACET = 6  # of morality, sociability, ability and agency


def demo_axes(wordnet: WordNet) -> tuple[Axis, ...]:
    """The first axes of each facet of warmth and competence: a small set that shows everything."""
    taken: dict[str, list[Axis]] = {}
    for axis in scm_axes(wordnet):
        taken.setdefault(axis.facet, []).append(axis)
    return tuple(a for facet in taken.values() for a in facet[:DEMO_AXES_OF_FACET])


AXES: Mapping[str, Callable[[WordNet], tuple[Axis, ...]]] = {
    "wordnet": antonym_axes,
    "scm": scm_axes,
    DEMO: demo_axes,
}
PUBLISHED = "published"
MATCHED: Mapping[str, Callable[[ConceptSet, WordNet], ReferenceSet]] = {
    "phrases": match_phrases,
    "people": match_people,
}
REFERENCES = (PUBLISHED, *MATCHED)
# Names under which the program itself stores phrases, beside its words for them.
_OWN_PHRASES = (
    *(*GROUPS, *REFERENCES, PUBLISHED_FILE.stem),
    *(f"{groups}-{kind}" for groups in GROUPS for kind in MATCHED),
)


@dataclass(frozen=True)
class NamedAxes:
    """A set of axes, its name in the cache, and what is remarkable about it."""

    name: str
    axes: tuple[Axis, ...]
    notes: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class NamedPhrases:
    """A set of concepts or reference phrases, and what is remarkable about it."""

    phrases: ConceptSet
    notes: tuple[Problem, ...] = ()
    unmatched: tuple[Match, ...] = ()  # concepts that have no reference phrase, and why


def axes_named(name: str, wordnet_folder: Path | None = None) -> NamedAxes:
    """The axes that a word of the program or the path of a table stands for.

    Parameters
    ----------
    wordnet_folder
        Where WordNet's files lie; left out, in the installed package.

    Raises
    ------
    InputError
        It is neither, the table has the name of a set of the program, or WordNet is not there.
    DataSetError
        The table is wrong; it carries every problem.
    """
    if name in AXES:
        return NamedAxes(name, AXES[name](open_wordnet(wordnet_folder)))
    path = _table(name, AXES, AXES)
    wordnet = open_wordnet(wordnet_folder) if wordnet_folder else None
    found = read_axes(path, wordnet)
    return NamedAxes(path.stem, found.axes, found.notes)


def concepts_named(name: str) -> NamedPhrases:
    """The concepts that a word of the program or the path of a list stands for.

    Raises
    ------
    InputError
        It is neither, or the list has the name of a set of the program.
    DataSetError
        The list is wrong; it carries every problem.
    """
    found = read_concepts(GROUPS[name] if name in GROUPS else _table(name, GROUPS, _OWN_PHRASES))
    return NamedPhrases(found.concepts, found.notes)


def reference_named(
    name: str, concepts: ConceptSet, wordnet_folder: Path | None = None
) -> NamedPhrases:
    """Reference phrases: the published ones, matched to concepts, or a list of one's own.

    Raises
    ------
    InputError
        It is none of these, the list has the name of a set of the program, or nothing can be
        matched.
    DataSetError
        The list is wrong; it carries every problem.
    """
    if name == PUBLISHED:
        return NamedPhrases(published_reference())
    if name in MATCHED:
        found = MATCHED[name](concepts, open_wordnet(wordnet_folder))
        return NamedPhrases(found.phrases, unmatched=found.unmatched)
    read = read_concepts(_table(name, REFERENCES, _OWN_PHRASES))
    return NamedPhrases(read.concepts, read.notes)


def stored_reference(name: str, concepts: str) -> str:
    """The name in a cache of the reference phrases that a word of the program stands for.

    Parameters
    ----------
    concepts
        The set of concepts that phrases are matched to.
    """
    if name == PUBLISHED:
        return PUBLISHED_FILE.stem
    return f"{concepts}-{name}" if name in MATCHED else name


def can_be_read(name: str, words: Iterable[str]) -> bool:
    """Whether a name is one of the program's words or a file; else it can only be in the cache."""
    return name in words or Path(name).expanduser().is_file()


def _table(name: str, words: Iterable[str], taken: Iterable[str]) -> Path:
    """The file that a name means where it is none of the program's words.

    A set has its file's name, which must not be `taken` by one of the program's.
    """
    if not can_be_read(name, ()):
        raise InputError(
            f"{name!r} is none of {', '.join(words)}, and no file either; name one of these or a "
            "table (CSV)."
        )
    path = Path(name).expanduser()
    if path.stem in taken:
        raise InputError(
            f"The file {path.name} would be stored as {path.stem!r}, which is the name of a set of "
            "the program; give the file another name."
        )
    return path

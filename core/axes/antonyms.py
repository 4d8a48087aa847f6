"""The axes that need no file of one's own: WordNet's antonyms, and warmth and competence.

The antonym axes are all unordered pairs of adjective synsets joined by a lemma's antonym (1,999 in
WordNet 3.0). The 92 axes of warmth and competence are StereoDisco's (arXiv 2607.27824) and are all
among them.
"""

from __future__ import annotations

from dataclasses import replace

from core.axes.axis import Axis
from core.axes.user_axes import read_axes
from core.axes.wordnet import WordNet
from core.settings import DATA

SCM = DATA / "axes" / "scm.csv"


def scm_axes(wordnet: WordNet) -> tuple[Axis, ...]:
    """The 50 axes of warmth and 42 of competence, from low to high."""
    return tuple(replace(axis, source="scm") for axis in read_axes(SCM, wordnet).axes)


def antonym_axes(wordnet: WordNet) -> tuple[Axis, ...]:
    """Every pair of antonymous adjective synsets, by their names.

    The orientation, with dimension and facet, is that of the 92 where a pair is among them; else
    the synset whose name comes first in the alphabet is the negative pole.
    """
    listed = {frozenset((a.negative.offset, a.positive.offset)): a for a in scm_axes(wordnet)}
    axes = []
    for pair in wordnet.antonyms:
        known = listed.get(frozenset(pair))
        first, second = sorted(map(wordnet.pole, pair), key=lambda pole: pole.synset)
        axes.append(replace(known, source="wordnet") if known else Axis(first, second, "wordnet"))
    return tuple(sorted(axes, key=lambda axis: axis.axis_id))

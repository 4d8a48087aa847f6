"""Which characters make up words, in writing with and without spaces between them.

Hangul counts as writing without spaces. Korean does put spaces between words, but joins particles
to them: what stands directly behind a noun is mostly a particle ("게이는"), not more of the noun.
"""

from __future__ import annotations

import unicodedata

from core.items.scripts import script_of

# Scripts that put no spaces between words, besides those with wide characters.
_WITHOUT_SPACES = frozenset({"THAI", "LAO", "KHMER", "MYANMAR"})


def joins_words(character: str) -> bool:
    """Whether a text that stands directly beside this character is one word with it.

    Letters, digits and marks do so, but not those of scripts that put no spaces between words.
    """
    return unicodedata.category(character)[0] in "LNM" and not needs_no_space(character)


def needs_no_space(character: str) -> bool:
    """Whether a word may end at this character without a space, also before a Korean particle."""
    wide = unicodedata.east_asian_width(character) in "WF"
    return wide or script_of(character) in _WITHOUT_SPACES

"""The scripts that letters belong to, and those that a language is written in.

Only languages of one customary script are listed: of Serbian, Kazakh, Punjabi and others a text's
script says nothing about its language.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import cache
from itertools import islice

from core.items.texts import is_invisible

# Scripts as the names of their characters begin.
_LATIN = """
    af az bs ca ceb cs cy da de en es et eu fi fil fr ga gl ha hr hu id ig is it jv lt lv ms nl no
    nb nn pl pt ro sk sl so sq su sv sw tl tr vi xh yo zu
"""
_OTHERS = {
    "am": ("ETHIOPIC",),
    "ar": ("ARABIC",),
    "be": ("CYRILLIC",),
    "bg": ("CYRILLIC",),
    "bn": ("BENGALI",),
    "el": ("GREEK",),
    "fa": ("ARABIC",),
    "gu": ("GUJARATI",),
    "he": ("HEBREW",),
    "hi": ("DEVANAGARI",),
    "hy": ("ARMENIAN",),
    "ja": ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"),
    "ka": ("GEORGIAN",),
    "km": ("KHMER",),
    "kn": ("KANNADA",),
    "ko": ("HANGUL", "CJK"),
    "lo": ("LAO",),
    "mk": ("CYRILLIC",),
    "ml": ("MALAYALAM",),
    "mr": ("DEVANAGARI",),
    "my": ("MYANMAR",),
    "ne": ("DEVANAGARI",),
    "or": ("ORIYA",),
    "ru": ("CYRILLIC",),
    "si": ("SINHALA",),
    "ta": ("TAMIL",),
    "te": ("TELUGU",),
    "th": ("THAI",),
    "uk": ("CYRILLIC",),
    "ur": ("ARABIC",),
    "yue": ("CJK",),
    "zh": ("CJK",),
}
SCRIPTS: dict[str, tuple[str, ...]] = dict.fromkeys(_LATIN.split(), ("LATIN",)) | _OTHERS
FEW_LETTERS = 10  # with fewer the script says nothing: a name may stand in its own
MOSTLY = 0.9
# Joiners and direction marks are letters to the scripts that are not among these.
_WRITTEN_MARKS = frozenset("\u200c\u200d\u200e\u200f\u061c")
_WITHOUT_MARKS = frozenset({"LATIN", "GREEK", "CYRILLIC", "CJK", "HIRAGANA", "KATAKANA", "HANGUL"})


@cache
def script_of(character: str) -> str:
    """The script of a letter as Unicode's names have it, "" for anything but letters."""
    if not unicodedata.category(character).startswith("L"):
        return ""
    plain = unicodedata.normalize("NFKC", character)[0]  # of FULLWIDTH LATIN SMALL LETTER A
    return unicodedata.name(plain, "").partition(" ")[0]


def scripts_in(text: str) -> Counter[str]:
    """How many letters of each script a text has."""
    found: Counter[str] = Counter()
    for character, n in Counter(text).items():
        if script := script_of(character):
            found[script] += n
    return found


def foreign_script(text: str, language: str) -> str:
    """The script of a text that is not in its language's, "" where that cannot be told.

    It can be told where the language has one customary script, and more than nine in ten of at
    least ten letters are of others.
    """
    code, *subtags = language.split("-")
    own = SCRIPTS.get(code, ())
    named = any(len(subtag) == 4 for subtag in subtags)  # zh-Latn says that it is another script
    if not own or named or (text.isascii() and "LATIN" in own):
        return ""
    found = scripts_in(text)
    n_letters = found.total()
    n_own = sum(found[script] for script in own)
    if n_letters < FEW_LETTERS or n_letters - n_own <= MOSTLY * n_letters:
        return ""
    return found.most_common(1)[0][0]


def useless_marks(text: str) -> set[str]:
    """The invisible characters of a text without those that its script or its emoji need."""
    if text.isascii():
        return set()
    # A mark (Mn) says how the sign before it looks: variation selectors, which emoji have.
    found = {c for c in set(text) if is_invisible(c) and unicodedata.category(c) != "Mn"}
    if found & _WRITTEN_MARKS and not _WITHOUT_MARKS.issuperset(scripts_in(text)):
        found -= _WRITTEN_MARKS
    return found


def is_near_empty(text: str) -> bool:
    """Whether a text that is not empty holds no letter or digit, or only one of an alphabet.

    One sign of Chinese or one syllable of Korean is a word.
    """
    if not text.strip():
        return False
    composed = unicodedata.normalize("NFC", text)
    signs = list(islice((c for c in composed if unicodedata.category(c)[0] in "LNM"), 2))
    return not signs or (len(signs) == 1 and unicodedata.east_asian_width(signs[0]) not in "WF")

"""The language of a file whose rows do not name it."""

from __future__ import annotations

import re

from core.errors import InputError
from core.files.places import Place
from core.items.layout import ReadOptions
from core.languages import normalise_language
from core.settings import REFERENCE_CONDITION
from core.types import Problem

# Languages that data sets of this field exist in, as their files are called.
_NAMES = {
    "arabic": "ar",
    "catalan": "ca",
    "chinese": "zh",
    "dutch": "nl",
    "english": "en",
    "french": "fr",
    "german": "de",
    "italian": "it",
    "maltese": "mt",
    "spanish": "es",
}


def language_of_table(
    place: Place, options: ReadOptions, evident: str | None = None
) -> tuple[str, list[Problem]]:
    """The language of a file whose rows do not name it, and a note unless a person named it.

    Else it is the one that the file's columns make evident, else one in the file's name (a name
    anywhere, a code at the end), else English. A code that is the whole name counts only of those
    languages, or with a region: `ss.json` is more often StereoSet than Swati.
    """
    if options.language:
        return options.language, []
    if evident:
        message = f"The language {evident} is taken from the columns; --language names another."
        return evident, [place.note("language_from_columns", message)]
    parts = re.split(r"[_. ]+", place.file.rpartition(".")[0].lower())
    names = [_NAMES[word] for part in parts for word in part.split("-") if word in _NAMES]
    last = parts[-1].split("-")
    codes = ["-".join(last[n:]) for n in range(len(last))]  # "pt-br" before "br", which is Breton
    if len(parts) == len(last) == 1 and last[0] not in _NAMES.values():
        codes = []
    for part in (*names, *codes):
        try:
            code = normalise_language(part)
        except InputError:
            continue
        message = f"The language {code} is taken from the file's name; --language names another."
        return code, [place.note("language_from_name", message)]
    message = f"The language is taken to be {REFERENCE_CONDITION}; --language names another."
    return REFERENCE_CONDITION, [place.note("language_assumed", message)]

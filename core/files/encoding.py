"""The text in a file's bytes: UTF-8, an encoding that the caller names, or an evident one."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from core.errors import InputError
from core.files.places import Place, listed, printable, refusal
from core.files.reading import DataFile
from core.types import Problem

_BOM = b"\xef\xbb\xbf"
_WITH_NULS = ("utf-16", "utf-32")  # in which every comma, quote and line end holds a NUL
_OTHER_ENCODINGS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
# What spreadsheets write instead of UTF-8; the words tell them apart.
_CANDIDATES = ("mac_roman", "cp1252")
_FITS, _FITS_NOT = 0.9, 0.5  # shares of the strange bytes that make letters within words
_STRANGE = re.compile("[\udc80-\udcff]+")  # how "surrogateescape" keeps bytes that are not UTF-8
_WORD = re.compile(r"\w*[\udc80-\udcff][\w\udc80-\udcff]*")


def check_encoding(name: str) -> str:
    """The encoding's own name, so that two spellings of one are the same.

    Raises
    ------
    InputError
        Python knows no such encoding of texts.
    """
    try:
        info = codecs.lookup(name)
        b"a".decode(name)
    except UnicodeError:  # one byte is no text in every encoding
        pass
    except (LookupError, ValueError) as error:
        raise InputError(
            f"{printable(name)!r} is not an encoding; examples are utf-8, mac-roman and cp1252."
        ) from error
    return info.name


def decode(file: DataFile, encoding: str | None = None) -> tuple[str, list[Problem]]:
    """The file's text; a byte-order mark is removed with a note.

    Parameters
    ----------
    encoding
        Of the bytes that are not UTF-8: published files exist that hold both. Left out, Mac Roman
        or Windows-1252 is taken where one makes letters within words of nearly all of these bytes
        and the other does not; a note shows the words.

    Raises
    ------
    DataSetError
        The bytes are not UTF-8 and no encoding is evident, or they are not of the named one; the
        message names the line and the byte offset.
    """
    place = Place(printable(file.path.name))
    content = _without_marks(file.content)
    notes = []
    if content != file.content:
        notes = [place.note("byte_order_mark", "A byte-order mark at the beginning was removed.")]
    if encoding and not _is_single_byte(encoding):
        if encoding.startswith(_WITH_NULS) and b"\0" not in content:
            raise _refused(file, notes, UnicodeError(), encoding)
        try:
            return content.decode(encoding), notes
        except UnicodeError as error:
            raise _refused(file, notes, error, encoding) from error
    try:
        return content.decode(), notes
    except UnicodeDecodeError as error:
        escaped = content.decode(errors="surrogateescape")
        chosen = encoding or _evident(escaped)
        if chosen is None or b"\0" in content:
            raise _refused(file, notes, error, encoding) from error
        try:
            text = _mixed(escaped, chosen)
        except UnicodeError as other:
            raise _refused(file, notes, error, encoding) from other
    if encoding is None:
        read = (_mixed(word, chosen) for word in dict.fromkeys(_WORD.findall(escaped)))
        words = [word for word in read if _has_letter(word)]  # a blank shows nobody an encoding
        message = (
            f"Bytes that are not UTF-8 were read as {chosen}, which gives {listed(words)};"
            " save the file as UTF-8 if that is wrong; `import` also takes --encoding."
        )
        notes.append(place.note("encoding_guessed", message))
    return text, notes


def _without_marks(content: bytes) -> bytes:
    """The bytes behind the byte-order mark, or behind several, as programs in a row write them."""
    while content.startswith(_BOM):
        content = content.removeprefix(_BOM)
    return content


def _is_single_byte(encoding: str) -> bool:
    every_byte = bytes(range(256))
    try:
        return len(every_byte.decode(encoding, errors="replace")) == len(every_byte)
    except UnicodeError:
        return False


def _mixed(escaped: str, encoding: str) -> str:
    """The text with its strange bytes read in an encoding of one byte per character."""

    def read(match: re.Match[str]) -> str:
        return match.group().encode(errors="surrogateescape").decode(encoding)

    return _STRANGE.sub(read, escaped)


def _has_letter(word: str) -> bool:
    """Whether there is a letter beyond ASCII in it."""
    return any(c.isalpha() and not c.isascii() for c in word)


def _evident(escaped: str) -> str | None:
    """The candidate that alone makes words of the strange bytes, if one does."""
    shares = {name: _share_within_words(escaped, name) for name in _CANDIDATES}
    best, other = sorted(shares, key=lambda name: -shares[name])
    return best if shares[best] >= _FITS and shares[other] <= _FITS_NOT else None


def _share_within_words(escaped: str, encoding: str) -> float:
    """How many of the strange bytes are letters of a case that their word has besides."""
    words = _WORD.findall(escaped)
    try:
        fits = [fit for word in words for fit in _fits(word, _mixed(word, encoding))]
    except UnicodeError:  # a byte that means nothing in this encoding
        return 0.0
    return sum(fits) / len(fits)


def _fits(escaped: str, word: str) -> Iterator[bool]:
    plain = [c for c in word if c.isascii() and c.isalpha()]
    lower, upper = any(c.islower() for c in plain), any(c.isupper() for c in plain)
    for at, character in enumerate(word):
        if escaped[at] != character:
            yield (lower and character.islower()) or (upper and character.isupper())


def _refused(
    file: DataFile, notes: list[Problem], error: UnicodeError, encoding: str | None
) -> Exception:
    place, start = Place(printable(file.path.name)), getattr(error, "start", 0)
    offset = start + len(file.content) - len(_without_marks(file.content))
    line = file.content.count(b"\n", 0, offset) + 1
    looks = _OTHER_ENCODINGS.get(file.content[:2])
    hint = f" (it looks like {looks})" if looks else ""
    message = (
        f"The file is not {encoding or 'UTF-8'}{hint}: line {line}, byte offset {offset};"
        " save it as UTF-8; `import` also takes its encoding, by --encoding."
    )
    return refusal(file.path, [*notes, Place(place.file, line).error("wrong_encoding", message)])

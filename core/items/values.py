"""Single values as files hold them: valid text, answer orders, metadata."""

from __future__ import annotations

import datetime
import decimal
import json
import math
import re
from typing import Any

_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")


def is_valid(text: str) -> bool:
    """Whether the text can be stored: no NUL and no lone surrogate."""
    return _NOT_STORABLE.search(text) is None


def split_order(value: Any) -> list[Any]:
    """The names in an answer order: a list, a JSON list written as text, or `a|b|c`."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return [value]
    if isinstance(value, str):
        return [name.strip() for name in value.split("|")]
    return value if isinstance(value, list) else [value]


def plain(value: Any) -> Any:
    """A metadata value as JSON can hold it: numbers keep their type, dates become ISO text.

    Raises
    ------
    TypeError
        JSON has no such value; the message says what it is.
    UnicodeError
        A text in it is not valid.
    """
    match value:
        case str() if not is_valid(value):
            raise UnicodeError
        case float() if math.isnan(value):
            return None
        case float() if math.isinf(value):
            raise TypeError("an infinite number")
        case None | str() | bool() | int() | float():
            return value
        case decimal.Decimal():
            return plain(float(value))
        case datetime.date() | datetime.time():
            return value.isoformat()
        case list():
            return [plain(part) for part in value]
        case dict():
            return {plain(str(key)): plain(part) for key, part in value.items()}
    raise TypeError(f"a value of type {type(value).__name__}")

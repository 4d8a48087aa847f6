"""What to score with what, and the words of the command that does it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from core.errors import InputError

DEMO_MODEL = "demo"


@dataclass(frozen=True, kw_only=True)
class ScoreRequest:
    """What to score with what."""

    model: str  # a spec: "demo", a folder, "org/name[@revision]"
    dataset: str
    dtype: str = "auto"
    device: str = "auto"
    exact: bool = False
    trust_remote_code: bool = False
    quantization: str = "none"
    compute_dtype: str = "auto"  # of nf4
    no_double_quant: bool = False  # of nf4
    variant: str = "original"  # of a masked model's scores: core/scoring/masked.py


def score_words(request: ScoreRequest) -> list[str]:
    """The words after `python -m core`; errors as `option_words`."""
    return ["score", *option_words(request)]


def option_words(request: Any) -> list[str]:
    """The options that ask for a request, without those at their default.

    Values cannot be taken for options; a list is one option for each of its values.

    Raises
    ------
    InputError
        When a value cannot be passed on.
    """
    words = []
    for f in fields(request):
        value = getattr(request, f.name)
        option = f"--{f.metadata.get('option', f.name.replace('_', '-'))}"
        if value == f.default:
            continue
        if isinstance(value, tuple):
            words += [f"{option}={checked(f.name, each)}" for each in value]
        elif value is True:
            words.append(option)
        else:
            words.append(f"{option}={checked(f.name, str(value))}")
    return words


def known_fields(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that a dataclass has a field for.

    Raises
    ------
    TypeError
        When one of them is not of the field's type.
    """
    known = {f.name: values[f.name] for f in fields(kind) if f.name in values}
    for f in fields(kind):
        wanted = {"str": str, "bool": bool, "int": int, "float": float}.get(str(f.type))
        if wanted and not isinstance(known.get(f.name, wanted()), wanted):
            raise TypeError(f"{f.name} is {known[f.name]!r}")
    return known


def checked(name: str, value: str) -> str:
    """A value that can stand in a command; InputError where it cannot."""
    if not value.strip():
        raise InputError(f"The {name} is empty; name one.")
    if not value.isprintable():
        raise InputError(f"The {name} {value!r} holds a character that no name has.")
    return value

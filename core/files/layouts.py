"""Layouts of files by name, and the options that mean something to one of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields
from typing import Any, Protocol, TypeVar

from core.errors import InputError


class Named(Protocol):
    """What every layout has, whatever its rows become."""

    @property
    def name(self) -> str: ...

    @property
    def options(self) -> frozenset[str]: ...


L = TypeVar("L", bound=Named)


def layout_named(layouts: Sequence[L], name: str, what: str = "a format") -> L:
    """The layout of a name.

    Raises
    ------
    InputError
        There is none; the message names those that there are.
    """
    for layout in layouts:
        if layout.name == name:
            return layout
    names = ", ".join(layout.name for layout in layouts)
    raise InputError(f"{name!r} is not {what}; choose from: {names}.")


def check_options(
    layouts: Sequence[Named],
    layout: Named,
    options: Any,
    where: str,
    *,
    of_all: Collection[str] = (),
) -> None:
    """Refuse options that mean nothing to a layout: they would be passed over in silence.

    Parameters
    ----------
    options
        A dataclass in which every option has its usual value.
    where
        What the options are given for, in the message.
    of_all
        Options that every layout takes.

    Raises
    ------
    InputError
        The message says whom the option is for.
    """
    for name in _unusual(options):
        if name in layout.options or name in of_all:
            continue
        takers = ", ".join(other.name for other in layouts if name in other.options)
        said = name.removesuffix("s") if name == "columns" else name
        raise InputError(f"--{said} means nothing to {where}; it is for {takers}.")


def _unusual(options: Any) -> Iterator[str]:
    usual = type(options)()
    for option in fields(options):
        if getattr(options, option.name) != getattr(usual, option.name):
            yield option.name

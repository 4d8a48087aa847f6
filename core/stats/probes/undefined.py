"""Why an axis has no number: said beside it, and never shown as "not significant"."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
import numpy.typing as npt

from core.stats.known import ROUNDING

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


class Undefined(StrEnum):
    """Why a result is undefined; the empty text where it is not."""

    NO = ""
    NO_HEAD = "no head's output varies, or none is finite"
    NOT_FINITE = "a projection is not a finite number"
    CONSTANT = "the projections do not vary"
    TOO_FEW = "too few phrases"
    ONE_LENGTH = "all prompts have the same length"


def known_anywhere(values: Array) -> Mask:
    """Which columns of (A, C) values are known on at least one axis; all, where none is.

    A phrase that is unknown everywhere could not be read at all and is left out; one that is
    unknown on a single axis makes that axis undefined.
    """
    known = np.asarray(np.isfinite(values).any(axis=0))
    return known if known.any() else np.ones_like(known)


def constant_rows(values: Array) -> Mask:
    """Which rows of (A, C) values do not vary beyond rounding; False where one is unknown."""
    finite = np.where(np.isfinite(values), values, np.nan)
    largest = np.abs(finite).max(axis=1, initial=1.0)
    low, high = finite.min(axis=1, initial=np.inf), finite.max(axis=1, initial=-np.inf)
    return np.asarray(high - low <= ROUNDING * largest)


def reasons_of(values: Array, *, few: bool) -> tuple[Undefined, ...]:
    """Why each axis of (A, C) values is undefined; a row without any number had no head."""
    if few:
        return (Undefined.TOO_FEW,) * len(values)
    finite = np.isfinite(values)
    rows = np.array([finite.any(axis=1), finite.all(axis=1), constant_rows(values)]).T
    return tuple(_reason(*row) for row in rows.tolist())


def is_defined(undefined: tuple[Undefined, ...]) -> Mask:
    """Which axes have no reason against them. (A,)"""
    return np.array([reason is Undefined.NO for reason in undefined], dtype=bool)


def _reason(any_finite: bool, all_finite: bool, constant: bool) -> Undefined:
    if not any_finite:
        return Undefined.NO_HEAD
    if not all_finite:
        return Undefined.NOT_FINITE
    return Undefined.CONSTANT if constant else Undefined.NO

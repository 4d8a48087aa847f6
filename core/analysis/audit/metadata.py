"""What is said of the versions of items, beside their texts. Letters: K conditions, N items."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from core.analysis.audit.panel import Panel
from core.items.metadata import JUDGMENT

Array = npt.NDArray[np.float64]
Objects = npt.NDArray[np.object_]

BBQ = "bbq"  # the beginning of a source


def metadata_values(panel: Panel, name: str) -> Objects:
    """One entry of every version's metadata, None where it has none. Shape (K, N)"""
    found = np.full((len(panel.conditions), len(panel.items)), None, dtype=object)
    versions = panel.versions[~panel.versions["native"]]
    (k, n), known = panel.place(versions)
    for condition, item, metadata in zip(k, n, versions["metadata"][known], strict=True):
        found[condition, item] = metadata.get(name)
    return found


def metadata_numbers(panel: Panel, name: str) -> Array:
    """The same as numbers, NaN where it is none. Shape (K, N)"""
    values = metadata_values(panel, name)
    numbers = [_number(value) for value in values.ravel()]
    return np.array(numbers, dtype=np.float64).reshape(values.shape)


def judgments(panel: Panel) -> Objects:
    """How each version was judged, in lower case, empty where it was not. Shape (K, N)"""
    values = metadata_values(panel, JUDGMENT)
    words = ["" if v is None else str(v).strip().casefold() for v in values.ravel()]
    return np.array(words, dtype=object).reshape(values.shape)


def metadata_truths(panel: Panel, name: str) -> Array:
    """The same as 1 for yes, 0 for no, NaN for neither, as files of all kinds write them. (K, N)"""
    values = metadata_values(panel, name)
    found = [truth(value) for value in values.ravel()]
    return np.array(found, dtype=np.float64).reshape(values.shape)


def truth(value: object) -> float:
    """One such value: 1 for yes, 0 for no, NaN for neither."""
    words = {"true": 1.0, "yes": 1.0, "1": 1.0, "false": 0.0, "no": 0.0, "0": 0.0}
    return words.get(str(value).strip().casefold(), math.nan)


def _number(value: object) -> float:
    try:
        number = float(str(value))
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def of_source(panel: Panel, name: str) -> npt.NDArray[np.bool_]:
    """Which items come from a source, whatever its split is called: bbq, BBQ-age. Shape (N,)"""
    return panel.items["source"].str.casefold().str.startswith(name).to_numpy(np.bool_)

"""Do two models, or a model and people's labels, say the same of groups and axes?

After "StereoDisco" (arXiv 2607.27824), section 7 of the method: the share of (axis, group) pairs
that lie on the same side, and of axes with the same flag, beside what chance would give and Cohen's
kappa. Sides are as values have their zero: the mean of groups and reference phrases together, or of
the groups alone where there is no reference set.

Letters: A axes, G groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.heads.axis_view import dimension_of, labels_of
from core.analysis.heads.positions import LABELLED
from core.analysis.heads.stored import StoredAxes
from core.axes.axis import Axis
from core.axes.concepts import Concept
from core.errors import InputError
from core.stats.agreement import SameChoice, same_choice
from core.stats.known import mean_of
from core.stats.probes.positions import position_agreement
from core.stats.probes.validity import value_agreement

Array = npt.NDArray[np.float64]

ALL = "all"  # axes, of any dimension or none
SIDES, FLAGS = "sides of groups", "flags of axes"
ONE_SIDED = "both say the same throughout, so that agreeing means nothing"


def model_agreement(first: StoredAxes, second: StoredAxes) -> pd.DataFrame:
    """How far two models agree, or two ways to read one.

    Parameters
    ----------
    first, second
        On the same axes and concepts; layers and heads may differ.

    Returns
    -------
    DataFrame
        `what`: the sides of groups (by dimension, and on all axes) or the flags of axes. n pairs
        or axes, `agreement`, `expected` if the two were independent, `kappa`, `r` (mean over axes
        of Pearson's r over the groups' values; sides only), n_axes, and the reason where kappa is
        undefined.

    Raises
    ------
    InputError
        The axes or the concepts differ.
    """
    axes, concepts = first.held.axes, first.held.concepts
    ids = [[axis.axis_id for axis in each.held.axes] for each in (first, second)]
    if ids[0] != ids[1] or concepts != second.held.concepts:
        raise InputError(
            "Two models can only agree on the same axes and groups; choose the same sets for both, "
            "and read each of them whole."
        )
    values = first.held.of_concepts, second.held.of_concepts
    r = value_agreement(*values)
    rows = [
        agreement_row(SIDES, dimension, position_agreement(values[0][at], values[1][at]), len(at))
        | {"r": mean_of(r[at])}
        for dimension, at in _dimensions(axes)
    ]
    flags = same_choice(*(flags_of(each, ids[0]) for each in (first, second)))
    rows.append(agreement_row(FLAGS, ALL, flags, flags.n) | {"r": float("nan")})
    return pd.DataFrame(rows)


def label_agreement(found: StoredAxes, concepts: Sequence[Concept]) -> pd.DataFrame:
    """How far the sides of groups agree with their labels, by dimension.

    Parameters
    ----------
    concepts
        Those of the question, with their labels.

    Returns
    -------
    DataFrame
        As `model_agreement`, without r.
    """
    axes = found.held.axes
    labels = np.array([labels_of(axis, concepts) for axis in axes], dtype=np.float64)
    return pd.DataFrame(
        [
            agreement_row(
                SIDES,
                dimension,
                position_agreement(found.held.of_concepts[at], labels[at]),
                len(at),
                nothing=f"no axis and concept with a label of {dimension}",
            )
            for dimension, at in _dimensions(axes)
            if dimension in LABELLED
        ]
    )


def agreement_row(
    what: str,
    dimension: str,
    found: SameChoice,
    n_axes: int,
    *,
    nothing: str = "nothing to compare",
) -> dict[str, object]:
    """One row of a table of agreement; `nothing` says why there is none."""
    reason = nothing if not found.n else ONE_SIDED if np.isnan(found.kappa) else ""
    return {
        "what": what,
        "dimension": dimension,
        "n": found.n,
        "agreement": found.same,
        "expected": found.expected,
        "kappa": found.kappa,
        "n_axes": n_axes,
        "reason": reason,
    }


def flags_of(found: StoredAxes, axis_ids: Sequence[str]) -> Array:
    """Flags of axes as 1 and 0, in this order; NaN where undefined. (A,)"""
    flags = found.table.set_index("axis_id")["flagged"].reindex(list(axis_ids))
    return np.asarray(flags.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan))


def _dimensions(axes: Sequence[Axis]) -> Iterator[tuple[str, list[int]]]:
    """Each dimension with labels, and all axes, with the places of the axes."""
    for dimension in LABELLED:
        yield dimension, [i for i, axis in enumerate(axes) if dimension_of(axis) == dimension]
    yield ALL, list(range(len(axes)))

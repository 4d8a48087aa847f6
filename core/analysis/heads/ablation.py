"""Does what is found depend on how it was looked for? Template family x pooling x N x k.

After "StereoDisco" (arXiv 2607.27824), section 7 of the method: the accuracy of positions for every
way to make values of the heads' outputs. A family that was not read stays in the table with its
reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pandas as pd

from core.analysis.heads.arrays import axes_of
from core.analysis.heads.positions import LABELLED, position_table
from core.analysis.heads.question import HALVES, HeadsQuestion
from core.axes.axis import Axis
from core.axes.content import axis_content
from core.axes.templates import FAMILIES
from core.stats.probes.positions import Centre
from core.store.gate import Cache
from core.store.head_readers import get_reader
from core.store.heads import AXIS, Source, missing
from core.types import POOLINGS

KS = (1, 8, 32, 128)  # beside all heads
SETTING = ["family", "pooling", "n_templates", "k"]


def ablation_grid(
    cache: Cache,
    question: HeadsQuestion,
    *,
    ks: Sequence[int] | None = None,
    centre: Centre = "joint",
) -> pd.DataFrame:
    """Accuracy of positions for each template family, pooling, N, k and dimension.

    Parameters
    ----------
    question
        Its family, pooling, templates and k do not enter.
    ks
        Numbers of heads; left out, `KS` as far as there are so many heads, and all.

    Returns
    -------
    DataFrame
        The setting (`SETTING`) and the columns of `position_table`. A family that was not read has
        one row per dimension, without numbers and with the reason.

    Raises
    ------
    InputError, CacheError
        As `positions`.
    """
    reader = get_reader(cache, question.reader_id)
    n_heads = reader.n_layers * reader.n_heads
    steps = [k for k in KS if k < n_heads] + [n_heads] if ks is None else ks
    axes = axes_of(cache, question)
    tables = []
    for family in FAMILIES:
        if reason := _not_read(cache, question.reader_id, family, axes):
            without = {"family": family, "dimension": LABELLED, "centre": centre, "reason": reason}
            tables.append(pd.DataFrame(without))
            continue
        for pooling, n in product(POOLINGS, sorted(HALVES)):
            setting = replace(question, family=family, pooling=pooling, n_templates=n)
            rows = position_table(cache, setting, ks=steps, centre=centre)
            tables.append(rows.assign(family=family, pooling=pooling, n_templates=n))
    return _typed(pd.concat(tables, ignore_index=True))


def _not_read(cache: Cache, reader_id: str, family: str, axes: Sequence[Axis]) -> str:
    """Why a family has no numbers; empty where it was read for all axes."""
    contents = {axis.axis_id: axis_content(axis, family) for axis in axes}
    gone = missing(cache, Source(reader_id, family), AXIS, contents)
    if not gone:
        return ""
    return (
        f"the family was not read for {len(gone)} of {len(axes)} axes; run `python -m core axes` "
        f"with --family {family}"
    )


def _typed(rows: pd.DataFrame) -> pd.DataFrame:
    """The setting first; counts stay whole numbers where a row has none."""
    columns = [*SETTING, *(c for c in rows.columns if c not in SETTING)]
    whole = [c for c in columns if c == "k" or c.startswith("n_")]
    return rows[columns].astype(dict.fromkeys(whole, "Int64") | {"exact": "boolean"})

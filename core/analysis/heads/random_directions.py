"""How often are groups told from reference phrases along directions that mean nothing?

Section 8.7 of the method. Where both sets of phrases differ in many directions, a meaningless one
is flagged often too, and a flag says little about the axis: then the axis's own KS statistic is to
be held against those of random directions in the same heads.

Letters: C phrases, K heads of an axis, L layers, H heads, D head_dim, R directions.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.heads.arrays import phrase_outputs
from core.analysis.heads.stored import StoredAxes
from core.stats.probes.projection import Heads
from core.stats.probes.validity import direction_null, random_directions
from core.store.gate import Cache

Array = npt.NDArray[np.float64]

N_DIRECTIONS = 200
_NUMBERS = ["share", "error", "median", "pvalue", "n_directions"]


def random_table(
    cache: Cache,
    found: StoredAxes,
    axis_ids: Collection[str] | None = None,
    *,
    n_directions: int = N_DIRECTIONS,
) -> pd.DataFrame:
    """Each axis beside random directions in its own heads, in the order of the model's table.

    Parameters
    ----------
    axis_ids
        The axes to look at; left out, all. An axis takes about a tenth of a second.

    Returns
    -------
    DataFrame
        axis_id, negative, positive, statistic (KS D of the axis), `share` of the random directions
        with p < .05 and its Monte-Carlo `error`, `median` of their D, `pvalue` (share of them with
        D at least that of the axis; never 0), n_directions, n_heads, n_concepts, n_reference, and
        the reason where undefined.

    Raises
    ------
    InputError
        The heads were not read for a phrase.
    CacheError
        A file of arrays is gone or damaged.
    """
    table = found.table
    if axis_ids is not None:
        table = table[table["axis_id"].isin(list(axis_ids))].reset_index(drop=True)
    held, seed = found.held, found.question.seed
    heads = {axis.axis_id: top for axis, top in zip(held.axes, held.heads, strict=True)}
    outputs = phrase_outputs(cache, found.question, [*held.concepts, *held.reference])
    rows = table[["axis_id", "negative", "positive", "statistic"]].reset_index(drop=True)
    numbers = [
        _numbers(outputs, len(held.concepts), heads[axis_id], statistic, n_directions, seed)
        for axis_id, statistic in zip(rows["axis_id"], rows["statistic"], strict=True)
    ]
    return pd.concat([rows, pd.DataFrame(numbers, columns=_NUMBERS)], axis=1).assign(
        **table[["n_heads", "n_concepts", "n_reference", "reason"]]
    )


def _numbers(
    outputs: Array,
    n_concepts: int,
    heads: Heads,
    statistic: float,
    n_directions: int,
    seed: int,
) -> list[float]:
    """What random directions in these heads find; all NaN where the axis itself is undefined."""
    if np.isnan(statistic):
        return [*[float("nan")] * 4, 0]
    x = outputs.reshape(len(outputs), -1, outputs.shape[-1])[:, heads]  # (C, K, D)
    rng = np.random.default_rng(seed)
    theta = random_directions(n_directions, *x.shape[1:], rng=rng)
    null = direction_null(x[:n_concepts], x[n_concepts:], theta)
    median = float(np.median(null.statistic)) if null.n_directions else float("nan")
    return [null.share, null.error, median, null.pvalue(statistic), null.n_directions]

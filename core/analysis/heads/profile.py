"""Which heads separate an axis, and in which layers they lie.

Letters: A axes, L layers, H heads of a layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from core.analysis.heads.arrays import grids
from core.analysis.heads.axis_view import AxisView
from core.analysis.heads.question import POOLINGS, HeadsQuestion
from core.stats.known import mean_of_known
from core.stats.probes.projection import Heads, layer_profile, top_heads
from core.store.axes import get_axis
from core.store.gate import Cache


def separability_table(view: AxisView) -> pd.DataFrame:
    """How well every head separates an axis's poles.

    Returns
    -------
    DataFrame
        One row per head in the order of the grid: layer, head, separability (R), chance (mean R
        under swapped labels), above_chance (R above what 95 % of the heads reach under swapped
        labels; empty where either is unknown), n_sentences (of each pole).
    """
    n_layers, n_heads = view.shape
    r = view.separability.ravel()
    above = pd.Series(r > view.chance_level).astype("boolean")
    return pd.DataFrame(
        {
            "layer": np.repeat(np.arange(n_layers), n_heads),
            "head": np.tile(np.arange(n_heads), n_layers),
            "separability": r,
            "chance": view.chance.ravel(),
            "above_chance": above.mask(np.isnan(r) | np.isnan(view.chance_level)),
            "n_sentences": view.question.n_templates,
        }
    )


def heads_table(view: AxisView, chosen: Heads) -> pd.DataFrame:
    """Every head with a separability, the highest first.

    Parameters
    ----------
    chosen
        Flat indices of the heads that values are a mean of.

    Returns
    -------
    DataFrame
        rank (from 1), the columns of `separability_table`, and chosen.
    """
    order = top_heads(view.separability, None)
    rows = separability_table(view).iloc[order].reset_index(drop=True)
    rows.insert(0, "rank", np.arange(1, len(order) + 1))
    return rows.assign(chosen=np.isin(order, chosen))


def layer_table(heads: Sequence[Heads], n_layers: int, n_heads: int) -> pd.DataFrame:
    """In which layers the best heads of axes lie.

    Parameters
    ----------
    heads
        Flat indices of each axis's heads, as of `HeadsValues.heads`; an axis without any is left
        out.

    Returns
    -------
    DataFrame
        One row per layer: layer, n_heads (mean over the axes), sd (over axes, ddof 1; NaN below
        two), expected (if as many heads lay anywhere alike), n_best (heads of an axis, mean),
        n_axes.
    """
    held = [layer_profile(best, n_layers, n_heads) for best in heads if len(best)]
    counts = np.array(held, dtype=np.float64).reshape(-1, n_layers)
    n_axes = len(counts)
    n_best = float(counts.sum(axis=1).mean()) if n_axes else np.nan
    return pd.DataFrame(
        {
            "layer": np.arange(n_layers),
            "n_heads": mean_of_known(counts),
            "sd": counts.std(axis=0, ddof=1) if n_axes > 1 else np.nan,
            "expected": n_best / n_layers,
            "n_best": n_best,
            "n_axes": n_axes,
        }
    )


def layer_profiles(cache: Cache, question: HeadsQuestion, axis_id: str) -> pd.DataFrame:
    """In which layers an axis's k best heads lie, under each pooling of the tokens.

    The heads are chosen by their R alone: one in which no phrase differs is not left out.

    Returns
    -------
    DataFrame
        One row per pooling and layer: pooling, the columns of `layer_table` but for sd and n_axes,
        separability (mean R of all heads of the layer) and chance (their mean R under swapped
        labels).

    Raises
    ------
    InputError
        The axis is not there, its heads were not read, or the model has fewer than k.
    CacheError
        A file of arrays is gone or damaged.
    """
    half = question.half
    parts = []
    with cache.kept_open() as opened:
        axis = get_axis(opened, question.axes, axis_id)
        for pooling in POOLINGS:
            held = grids(opened, replace(question, pooling=pooling), [axis])
            r = held.separability[0, half]
            rows = layer_table([top_heads(r, question.k)], *r.shape)
            rows["separability"] = mean_of_known(r.T)
            rows["chance"] = mean_of_known(held.chance(half)[0].T)
            rows.insert(0, "pooling", pooling)
            parts.append(rows.drop(columns=["sd", "n_axes"]))
    return pd.concat(parts, ignore_index=True)

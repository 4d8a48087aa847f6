"""Which heads separate an axis, and in which layers they lie.

Letters: L layers, H heads of a layer.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from core.analysis.heads.arrays import grids
from core.analysis.heads.axis_view import AxisView
from core.analysis.heads.question import HeadsQuestion
from core.stats.known import mean_of_known
from core.stats.probes.projection import Heads, layer_profile, top_heads
from core.store.axes import get_axis
from core.store.gate import Cache
from core.types import POOLINGS


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


def layer_profiles(cache: Cache, question: HeadsQuestion, axis_id: str) -> pd.DataFrame:
    """In which layers an axis's k best heads lie, under each pooling of the tokens.

    The heads are chosen by their R alone: one in which no phrase differs is not left out.

    Returns
    -------
    DataFrame
        One row per pooling and layer: pooling, layer, n_heads (of the k best), expected (if they
        were spread evenly), n_best (k, or all heads with an R), separability (mean R of all heads
        of the layer) and chance (their mean R under swapped labels).

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
            best = top_heads(r, question.k)
            layers = {
                "pooling": pooling,
                "layer": np.arange(len(r)),
                "n_heads": layer_profile(best, *r.shape),
                "expected": len(best) / len(r),
                "n_best": len(best),
                "separability": mean_of_known(r.T),
                "chance": mean_of_known(held.chance(half)[0].T),
            }
            parts.append(pd.DataFrame(layers))
    return pd.concat(parts, ignore_index=True)

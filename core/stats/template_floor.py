"""How far other words for the same claims move the bias of sentence pairs: template by template.

A cell k is what is claimed: identity, counterfactual and predicate. With x_ak the mean choice
(core/stats/identity_bias.py) of the pairs of cell k in template a, which are several where the
template has names, and K_ab the cells with a choice in both templates a and b,

    d_ab = mean over k in K_ab of (x_ak - x_bk),    floor = mean of |d_ab| over all a < b

where K_ab is not empty. d_ab is the difference of bias (W) between two templates on what both
share, so that only the wording differs. The floor holds the chance of few cells too: where two
templates share one, d is 0, 1/2 or 1.

Letters: P pairs, M models, E cells by template, D pairs of templates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.stats.harmfulness import grouped_means
from core.stats.identity_bias import Array, Codes

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TemplateFloor:
    """What another template does to the bias of each model. Arrays of shape (M,)"""

    value: Array  # a share; NaN where no two templates have a cell in common
    n_compared: Counts  # templates that have a cell in common with another one
    n_templates: Counts  # templates with a choice


def template_floor(choices: Array, templates: Codes, cells: Codes) -> TemplateFloor:
    """Mean absolute difference of bias (W) between two templates on the cells of both.

    Parameters
    ----------
    choices : array, shape (M, P)
        1, 1/2 or 0; NaN where a pair has none.
    templates : array, shape (P,)
        Which template a pair is made from, from 0 on; -1 where it has none.
    cells : array, shape (P,)
        What it claims, from 0 on.
    """
    known = templates >= 0
    n = int(templates.max(initial=0)) + 1
    keys, of_pair = np.unique(cells[known] * n + templates[known], return_inverse=True)
    means = grouped_means(choices[:, known], of_pair)  # (M, E)
    cell, template = np.divmod(keys, n)
    first, second = _in_one_cell(cell)
    keys, of_two = np.unique(template[first] * n + template[second], return_inverse=True)
    differences = np.abs(grouped_means(means[:, first] - means[:, second], of_two))  # (M, D)
    compared = np.isfinite(differences)
    n_differences = compared.sum(axis=1)
    total = np.where(compared, differences, 0.0).sum(axis=1)
    value = np.full(len(choices), np.nan)
    return TemplateFloor(
        np.divide(total, n_differences, out=value, where=n_differences > 0),
        _n_distinct(np.tile(compared, 2), np.concatenate(np.divmod(keys, n))),
        _n_distinct(np.isfinite(means), template),
    )


def _in_one_cell(cell: Codes) -> tuple[Codes, Codes]:
    """Every two places of a sorted array that hold the same cell, the earlier ones first."""
    lags = range(1, int(np.bincount(cell).max(initial=1)))
    first = [np.flatnonzero(cell[lag:] == cell[:-lag]) for lag in lags]
    second = [of + lag for of, lag in zip(first, lags, strict=True)]
    nothing = np.empty(0, dtype=np.int64)
    return np.concatenate([nothing, *first]), np.concatenate([nothing, *second])


def _n_distinct(there: npt.NDArray[np.bool_], codes: Codes) -> Counts:
    """How many codes each model has somewhere. (M, V) becomes (M,)"""
    return np.array([np.unique(codes[row]).size for row in there], dtype=np.int64)

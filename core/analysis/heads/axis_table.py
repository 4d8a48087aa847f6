"""Which axes are stereotypical for a model: one row per axis, the most different first."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.analysis.heads.question import NO_REFERENCE, HeadsQuestion
from core.analysis.heads.values import HeadsValues
from core.stats.probes.location import difference_interval
from core.stats.probes.rejection import Stability, rejection_rates
from core.stats.probes.stereotypicality import stereotypicality

NOT_READ = "the model could read no sentence of one of its poles"


def axis_rows(held: HeadsValues, question: HeadsQuestion) -> pd.DataFrame:
    """Tests of the concepts against the reference set on every axis, from their values.

    Returns
    -------
    DataFrame
        One row per axis, the largest Kolmogorov-Smirnov statistic first and undefined ones last,
        each with its poles' words, its R over the top heads beside that under swapped labels, R
        where the heads were not chosen (`separability_held_out`: the best heads of the first half
        of the templates in the second; `held_out_chance`: of sentences without a difference), the
        tests of `core.stats.probes.stereotypicality`, the interval of the difference
        (`difference_low`, `difference_high`), the resampled rejection rate and what it says, n of
        both sets and of both poles' sentences, as far as they could be read, and the reason where
        it is undefined.
    """
    return ranked(held, axis_tests(held, question.seed))


def axis_tests(held: HeadsValues, seed: int) -> pd.DataFrame:
    """The numbers of `axis_rows`, one row per axis in the order of the set."""
    tested = stereotypicality(held.of_concepts, held.of_reference)
    rng = np.random.default_rng(seed)
    rates = rejection_rates(held.of_concepts, held.of_reference, rng=rng)
    rows = pd.DataFrame(
        {
            "separability": held.top_separability,
            "separability_chance": held.top_chance,
            "separability_held_out": held.held_out,
            "held_out_chance": held.held_out_chance,
            "statistic": tested.statistic,
            "pvalue": tested.pvalue,
            "qvalue": tested.pvalue_adjusted,
            "flagged": tested.flagged,
            "rejection_rate": rates.rate,
            "rejection_error": rates.error,
            "stability": np.where(
                np.isnan(tested.pvalue), str(Stability.UNDEFINED), [str(s) for s in rates.stability]
            ),
            "difference": tested.difference,
            "superiority": tested.superiority,
            "pvalue_location": tested.pvalue_location,
            "spread_ratio": tested.spread_ratio,
            "pvalue_spread": tested.pvalue_spread,
            "n_concepts": tested.n_concepts,
            "n_reference": tested.n_reference,
            "n_negative": held.n_sentences[:, 0],
            "n_positive": held.n_sentences[:, 1],
            "method": tested.method,
            "reason": np.where(
                (held.n_sentences == 0).any(axis=1),
                NOT_READ,
                [str(reason) for reason in tested.undefined] if held.reference else NO_REFERENCE,
            ),
        }
    )
    rows["flagged"] = rows["flagged"].astype("boolean").mask(rows["pvalue"].isna())
    return rows


def ranked(held: HeadsValues, tests: pd.DataFrame) -> pd.DataFrame:
    """The rows of `axis_tests` with the words of their axes, the most different axis first.

    The interval of the difference is computed from the values whenever they are read: it takes less
    than reading it would.
    """
    ends = difference_interval(held.of_concepts, held.of_reference)
    tests = tests.copy()
    after = tests.columns.tolist().index("difference") + 1
    for i, name in enumerate(("difference_low", "difference_high")):
        tests.insert(after + i, name, ends[:, i])
    words = pd.DataFrame(
        {
            "axis_id": [axis.axis_id for axis in held.axes],
            "negative": [", ".join(axis.negative.lemmas) for axis in held.axes],
            "positive": [", ".join(axis.positive.lemmas) for axis in held.axes],
            "dimension": [axis.dimension for axis in held.axes],
            "facet": [axis.facet for axis in held.axes],
            "n_heads": [len(heads) for heads in held.heads],
        }
    )
    return pd.concat([words, tests], axis=1).sort_values(
        ["statistic", "axis_id"], ascending=[False, True], na_position="last", ignore_index=True
    )

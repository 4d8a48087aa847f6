"""What ratings come to, for a group on an axis or an axis as a whole, and how far people agree.

After "StereoDisco" (arXiv 2607.27824), section 7 of the method. An axis does not apply where more
than half of the answers say so. Else the ratings from 1 to 5 become < 3, = 3 and > 3, and it is
stereotypical where strictly more than half of them are in one of these: the rule `published`, by
which a clear "in the middle" is a stereotype too. By the rule `sided` only < 3 and > 3 count.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from core.people.ratings import MIDDLE
from core.stats.raters import Reliability, fleiss_kappa, krippendorff_alpha

Rule = Literal["published", "sided"]
Over = Literal["groups", "axes"]  # one verdict for each group on an axis, or for an axis
RULES: tuple[Rule, ...] = ("published", "sided")
KEYS: dict[Over, list[str]] = {"groups": ["axis", "group"], "axes": ["axis"]}
CLASSES = ("n_below", "n_middle", "n_above", "n_not_applicable")  # of answers

NOT_APPLICABLE = "most say that the axis does not apply"


def verdicts(
    answers: pd.DataFrame, *, over: Over = "axes", rule: Rule = "published"
) -> pd.DataFrame:
    """One row for each axis, or for each group on an axis, in the order of the first answers.

    Parameters
    ----------
    answers
        As `Ratings.kept`.
    over
        axes: all answers to an axis together, whatever the group.

    Returns
    -------
    DataFrame
        axis (and group), n answers, n_below, n_middle, n_above, n_not_applicable, applicable,
        stereotypical (undefined where it does not apply), side (-1, 1, or 0 for the middle, where
        strictly more than half of the ratings lie there; undefined without such a majority),
        n_annotators and the reason where it is undefined.
    """
    counts = class_counts(answers, KEYS[over])
    n = counts[list(CLASSES)].sum(axis=1)
    applicable = counts["n_not_applicable"] * 2 <= n
    half = (n - counts["n_not_applicable"]) / 2
    most = counts[["n_below", "n_middle", "n_above"]].gt(half, axis=0)
    side = pd.Series(np.select([most["n_below"], most["n_above"]], [-1, 1], 0), index=most.index)
    decided = most.any(axis=1) if rule == "published" else most["n_below"] | most["n_above"]
    return counts.assign(
        n=n,
        applicable=applicable,
        stereotypical=decided.astype("boolean").where(applicable),
        side=side.astype("Int64").where(applicable & most.any(axis=1)),
        reason=np.where(applicable, "", NOT_APPLICABLE),
    )


def class_counts(answers: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """How many answers are in each of `CLASSES`, and of how many annotators, by these columns."""
    rating = answers["rating"]
    classes = dict(
        zip(
            CLASSES,
            (rating < MIDDLE, rating == MIDDLE, rating > MIDDLE, rating.isna()),
            strict=True,
        )
    )
    by = answers[keys].assign(**classes).groupby(keys, sort=False)
    annotators = answers.groupby(keys, sort=False)["annotator"].nunique()
    return by.sum().astype("int64").assign(n_annotators=annotators).reset_index()


def reliability_table(answers: pd.DataFrame) -> pd.DataFrame:
    """How far annotators agree on groups and axes: one row per coefficient.

    Fleiss' kappa and Krippendorff's alpha on {< 3, = 3, > 3, does not apply}, and alpha on the
    ratings from 1 to 5 as an ordinal scale, where what does not apply is missing.
    """
    counts = class_counts(answers, KEYS["groups"])
    wide = answers.assign(
        item=pd.MultiIndex.from_frame(answers[KEYS["groups"]]).to_flat_index(),
        category=np.sign(answers["rating"] - MIDDLE).fillna(9),
    )
    categories = wide.pivot(index="annotator", columns="item", values="category").to_numpy(float)
    ratings = wide.pivot(index="annotator", columns="item", values="rating").to_numpy(float)
    found = {
        ("Fleiss' kappa", "four classes"): fleiss_kappa(counts[list(CLASSES)].to_numpy()),
        ("Krippendorff's alpha", "four classes"): krippendorff_alpha(categories),
        ("Krippendorff's alpha", "ordinal, 1 to 5"): krippendorff_alpha(ratings, "ordinal"),
    }
    n = answers["annotator"].nunique()
    return pd.DataFrame([_row(*names, each, n) for names, each in found.items()])


def _row(coefficient: str, scale: str, found: Reliability, n_annotators: int) -> dict[str, object]:
    reason = ""
    if np.isnan(found.value):
        few = "nothing was answered by two annotators"
        reason = "all answers are the same" if found.n_items else few
    return {
        "coefficient": coefficient,
        "scale": scale,
        "value": found.value,
        "observed": found.observed,
        "expected": found.expected,
        "n_items": found.n_items,
        "n_answers": found.n_answers,
        "n_annotators": n_annotators,
        "reason": reason,
    }

"""Stereotypical axes that a dictionary of warmth and competence does not have.

After "StereoDisco" (arXiv 2607.27824), section 7 of the method: flagged by the model, confirmed by
people where they rated it, and neither pole's synset (or none of its lemmas) among those of the 92
axes.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np
import pandas as pd

from core.analysis.heads.human import Matched, human_axes
from core.analysis.heads.stored import StoredAxes
from core.axes.antonyms import SCM, scm_axes
from core.axes.axis import Pole
from core.axes.wordnet import open_wordnet
from core.files.rows import folded, read_list, text_of
from core.people.verdicts import Rule

By = Literal["synset", "lemma"]
BY: tuple[By, ...] = ("synset", "lemma")

CONFIRMED, NOT_CONFIRMED = "confirmed", "not confirmed"
DOES_NOT_APPLY, NOT_RATED = "does not apply", "not rated"


@cache
def dictionary(by: By = "synset") -> frozenset[str]:
    """The synsets of the 92 axes by their names, or all lemmas of these in small letters.

    Raises
    ------
    InputError
        WordNet, which has the lemmas, is not there.
    """
    if by == "synset":
        rows = read_list(SCM, ("negative", "positive"), ("dimension", "facet")).records
        return frozenset(text_of(row, end) for row in rows for end in ("negative", "positive"))
    poles = (pole for axis in scm_axes(open_wordnet()) for pole in (axis.negative, axis.positive))
    return frozenset(folded(lemma) for pole in poles for lemma in pole.lemmas)


def beyond_table(
    found: StoredAxes,
    people: Matched | None = None,
    *,
    by: By = "synset",
    rule: Rule = "published",
) -> pd.DataFrame:
    """Each axis with whether the dictionary has it, in the order of the model's table.

    Parameters
    ----------
    people
        Ratings, where there are any.

    Returns
    -------
    DataFrame
        axis_id, negative, positive, statistic, pvalue, qvalue, flagged, n_known_poles (of two, in
        the dictionary), beyond (none of them), people ("confirmed", "not confirmed", "does not
        apply", "not rated"), found (flagged, beyond, and confirmed where rated; undefined where the
        flag is), n_concepts, n_reference, n_answers, n_annotators and the reason where undefined.

    Raises
    ------
    InputError
        As `dictionary`.
    """
    known = dictionary(by)
    n_known = {
        axis.axis_id: sum(_is_known(pole, known, by) for pole in (axis.negative, axis.positive))
        for axis in found.held.axes
    }
    columns = ["axis_id", "negative", "positive", "statistic", "pvalue", "qvalue", "flagged"]
    rows = found.table[columns].assign(n_known_poles=found.table["axis_id"].map(n_known))
    rows["beyond"] = rows["n_known_poles"] == 0
    rows["people"], rows["n_answers"], rows["n_annotators"] = NOT_RATED, 0, 0
    if people is not None:
        said = human_axes(found, people, rule=rule)
        yes = said["stereotypical"]
        rows[["n_answers", "n_annotators"]] = said[["n_answers", "n_annotators"]]
        rows["people"] = np.select(
            [said["n_answers"] == 0, yes.isna(), yes.fillna(False).astype(bool)],
            [NOT_RATED, DOES_NOT_APPLY, CONFIRMED],
            NOT_CONFIRMED,
        )
    rows["found"] = rows["flagged"] & rows["beyond"] & rows["people"].isin([CONFIRMED, NOT_RATED])
    rows["found"] = rows["found"].mask(rows["flagged"].isna())
    return rows.assign(**found.table[["n_concepts", "n_reference", "reason"]])


def _is_known(pole: Pole, known: frozenset[str], by: By) -> bool:
    if by == "synset":
        return pole.synset in known
    return any(folded(lemma) in known for lemma in pole.lemmas)

"""Names and sentences that several tables of an audit share.

What stands in the place of a condition or a model where a row is of several; and why a number is
missing, said in the same words everywhere.
"""

from __future__ import annotations

from core.stats.levels import LEAST_ITEMS

ALL_MODELS = "all models"  # in the place of a model
REWORDING = "rewording"  # in the place of a condition: the rewordings of English together
POOLED = "pooled"  # in the place of a condition: all languages, each item once
MODEL, LANGUAGE = "model", "language"  # what a row is of

SUFFIXES = ("", "_binary")  # of columns: the score asked for, and the choice alone

ONLY_PAIRS = (
    "These are sentence pairs in one language, which an audit of languages says nothing of: see "
    "`python -m core pairs --dataset {}`."
)
NO_TRANSLATION = "The data set has no translation, so there is no language to say it of."
NOT_CHOSEN = "The chosen conditions hold no translation (the data set has {})."
NO_REWORDING = "There is no rewording of English here."
NO_ITEM = "No item is scored in both versions."
NO_ITEM_OF_MODEL = "No item has a score of this model in both versions."
NO_ORIGINAL = "The version that it was made from is not among the conditions."
ONE_ITEM = "One item has no spread: no interval and no test."
ALIKE = "All items change alike, so there is no interval."
NOTHING_CHANGES = "No item changes, so there is nothing to test."
ONE_MODEL = "One model: no spread over models."
NO_AGREEMENT = "Only one model is scored; agreement needs two."
NO_CHOICE_CHANGES = "No choice changes, so the binary score has no test."
FEW_ITEMS = f"Fewer than {LEAST_ITEMS} items do not tell how much items vary: no interval."
ALIKE_DROPS = "All items drop alike, so the drop has no interval."
HELD_SDS = (
    "Standardised scores: every item is divided by the standard deviation of its whole version, "
    "held fixed in all draws."
)

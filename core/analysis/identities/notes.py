"""What the tables of identity pairs rest on, in sentences below them."""

from __future__ import annotations

import pandas as pd

from core.analysis.identities.panel import FROM_ELSEWHERE, IdentityPanel
from core.analysis.identities.rows import IdentityRequest
from core.analysis.identities.words import NOT_COMPARABLE
from core.stats.identity_bias import LEAST_LEVELS
from core.words import counted

MULTIWAY = ("predicate", "template", "name")
FLOOR = (
    "Template floor: absolute difference of bias (W) between two templates on what both share "
    "(identity, counterfactual and predicate, by words), mean over all pairs of templates. Only "
    "the wording differs there; few shared predicates add chance to it."
)
_INTERVALS = (
    "Intervals (95 %): percentiles of {n} resamples of the predicates, each with all its pairs, "
    "widened for few predicates; the binomial interval of the overview takes pairs for independent "
    "and is too narrow."
)
_MOST = 0.5  # share of the pairs from which one template is named


def notes_on(panel: IdentityPanel, request: IdentityRequest) -> tuple[str, ...]:
    """How intervals are made, and what the pairs and scores of a panel are."""
    notes = [_INTERVALS.format(n=f"{request.n_resamples:,}")]
    if not panel.facts["has_name"].all() and panel.condition.split("-")[0] != "en":
        notes.append(
            "Pairs whose predicate has no name of its own (predicate_name or predicate_en) are "
            "told apart by its form, so that the forms of one predicate count as several and the "
            "intervals are too narrow; `import --predicates` names those of a survey."
        )
    kinds = {model.kind for model in panel.models}
    if FROM_ELSEWHERE in kinds:
        notes.append(
            "Imported scores were computed elsewhere: which tokens the sentences share, and "
            "whether a pair is uninformative, was up to that program."
        )
    if len(kinds - {FROM_ELSEWHERE}) > 1:
        notes.append(NOT_COMPARABLE)
    if panel.n_left_out:
        left = counted(panel.n_left_out, "pair")
        notes.append(f"Left out are {left} of {panel.condition} without an identity or predicate.")
    return (*notes, *_most_of_one_template(panel.facts["template"]))


def fewest_levels(panel: IdentityPanel) -> int:
    """Levels of the factor with the fewest that the multiway interval draws: it is as sure."""
    drawn = [n for n in _levels(panel).values() if n >= LEAST_LEVELS]
    return min(drawn, default=0)


def multiway_note(panel: IdentityPanel) -> str:
    """Which factors the multiway interval draws, and which it holds."""
    levels = _levels(panel)
    drawn = [f"{name} ({n})" for name, n in levels.items() if n >= LEAST_LEVELS]
    held = [f"{name} ({n})" for name, n in levels.items() if n < LEAST_LEVELS]
    note = f"Multiway intervals draw at once: {', '.join(drawn) or 'nothing'}"
    return f"{note}; held as they are: {', '.join(held)}." if held else f"{note}."


def _levels(panel: IdentityPanel) -> dict[str, int]:
    return {name: int(panel.codes(name).max(initial=-1)) + 1 for name in MULTIWAY}


def _most_of_one_template(templates: pd.Series) -> list[str]:
    """A note where one of several templates makes up most of the pairs."""
    counts = templates[templates != ""].astype(str).value_counts()
    if len(counts) < 2 or counts.iloc[0] <= _MOST * len(templates):
        return []
    n, name = int(counts.iloc[0]), counts.index[0]
    return [
        f"{100 * n / len(templates):.0f} % of the pairs ({n:,} of {len(templates):,}) are of the"
        f" template {name}, so that shares are mostly its own; the table of templates has each."
    ]

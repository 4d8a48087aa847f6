"""Did the pipeline do what it should? Five checks of a data set and of the scores of its items.

Each is green, red or undefined, with its n and examples. Green says that the fault was looked for
and not found; it says nothing about a model. Red says where to look: translation makes some faults
by itself. Undefined says what is missing.

    label direction   would the scores look right only with the roles exchanged?
    role derivation   does the stereotype stand in one place, as if roles came from the order?
    scored tokens     does every continuation lie wholly in scored tokens, the first one included?
    contrast          do both poles still differ after translation?
    blank             does a fill-in item still have its blank?
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from core.analysis.audit.metadata import truth
from core.analysis.data_sets import few_items
from core.analysis.role_evidence import BEHIND, evidence, rules_of
from core.items.conditions import condition_rank
from core.items.differences import blanks_in, is_fill_in
from core.items.metadata import BLANK_SURVIVED, JUDGMENT, JUDGMENTS
from core.items.texts import is_collapsed
from core.settings import REFERENCE_CONDITION
from core.types import Item, Role
from core.words import counted

State = Literal["green", "red", "undefined"]
EXAMPLES = 10  # shown of what is wrong, or read of what is right
ENOUGH = 20  # items from which one order throughout is no chance


@dataclass(frozen=True)
class PipelineCheck:
    """One check and what it found."""

    name: str
    title: str
    state: State
    found: str  # a sentence
    n: int  # what was looked at: items, versions or texts
    n_bad: int  # of these, where the fault is
    examples: pd.DataFrame
    scorer_id: str = ""  # whose scores; empty for a check of the items alone


def item_checks(items: Sequence[Item], formats: str) -> list[PipelineCheck]:
    """The checks that need no scores: role derivation, contrast and blank.

    Parameters
    ----------
    formats
        The layouts that the data set was read in, as it is stored with them.
    """
    english = {i.item_id: i for i in items if i.condition == REFERENCE_CONDITION and not i.native}
    return [
        role_derivation(items, formats),
        contrast(items, english),
        blank(items, english),
    ]


def role_derivation(items: Sequence[Item], formats: str) -> PipelineCheck:
    """Whether roles look as if they came from the order of the answers; a sample to read."""
    first: dict[str, Counter[bool]] = defaultdict(Counter)
    for item in items:
        poles = [role for role in item.answer_order if role is not Role.UNKNOWN]
        if len(poles) > 1:
            first[item.source][poles[0] is Role.STEREOTYPE] += 1
    n, n_bad, parts = 0, 0, []
    for source, counts in first.items():
        n_here, n_first = counts.total(), counts[True]
        one_way = n_here >= ENOUGH and n_first in (0, n_here)
        n, n_bad = n + n_here, n_bad + n_here * one_way
        share = f"the stereotype comes before the anti-stereotype in {n_first:,} of {n_here:,}"
        parts.append(f"{source or 'items without a source'}: {share}")
    rules = [f"{name}: {rule.sentence}" for name, rule in rules_of(formats, items).items()]
    state: State = "red" if n_bad else "green" if n >= ENOUGH else "undefined"
    cause = {
        "red": "Always in one place, as if the order had been taken for the roles. ",
        "green": "Not always in one place, so the order was not taken for the roles. ",
        "undefined": "Nothing that could be checked: too few items say in which order their source "
        "lists the answers. Read the sample. ",
    }[state]
    found = f"{cause}{'; '.join([*parts, *rules])}."
    sample = read_sample(few_items(items, EXAMPLES), formats)
    return PipelineCheck("role_derivation", "Role derivation", state, found, n, n_bad, sample)


def read_sample(items: Sequence[Item], formats: str) -> pd.DataFrame:
    """Items with their texts by role, and what stands behind the roles."""
    roles = [role for role in Role if any(role in item.continuations() for item in items)]
    rows = [
        {
            "item_id": item.item_id,
            "condition": item.condition,
            "context": item.context,
            **{role.value: item.continuations().get(role) for role in roles},
            BEHIND: evidence(item, formats),
        }
        for item in items
    ]
    return pd.DataFrame(rows)


def contrast(items: Sequence[Item], english: dict[str, Item]) -> PipelineCheck:
    """Whether both poles still differ in every translation and rewording of an item."""
    versions = [i for i in _versions(items, english) if not is_collapsed(english[i.item_id])]
    collapsed = [item for item in versions if is_collapsed(item)]
    lost = [item for item in versions if _is_lost(item) and not is_collapsed(item)]
    examples = [
        {
            "item_id": item.item_id,
            "condition": item.condition,
            "what": "judged lost" if not is_collapsed(item) else "collapsed",
            "stereotype": item.stereotype,
            "anti_stereotype": item.anti_stereotype,
            "stereotype in English": english[item.item_id].stereotype,
            "anti_stereotype in English": english[item.item_id].anti_stereotype,
        }
        for item in [*collapsed, *lost][:EXAMPLES]
    ]
    bad = [*collapsed, *lost]
    return _by_condition(
        "contrast",
        "Contrast after translation",
        versions,
        bad,
        pd.DataFrame(examples),
        f"the contrast is gone (collapsed: {len(collapsed):,}, judged lost: {len(lost):,})",
        "the poles still differ and none is judged lost",
        "No item has a translation or rewording beside its English version.",
    )


def blank(items: Sequence[Item], english: dict[str, Item]) -> PipelineCheck:
    """Whether every version of a fill-in item has its blank, as often as the English one."""
    originals = [i for i in english.values() if is_fill_in(i)]
    ids = {item.item_id for item in originals}
    versions = [*originals, *(i for i in _versions(items, english) if i.item_id in ids)]
    versions += [i for i in items if i.item_id not in english and is_fill_in(i)]
    bad = [item for item in versions if not _has_blank(item, english.get(item.item_id))]
    examples = [
        {
            "item_id": item.item_id,
            "condition": item.condition,
            "blanks": blanks_in(item.context),
            "context": item.context,
        }
        for item in bad[:EXAMPLES]
    ]
    return _by_condition(
        "blank",
        "Blank survived",
        versions,
        bad,
        pd.DataFrame(examples),
        "the blank is missing or there more often than in English",
        "the blank is there",
        "No item is said to be fill-in.",
    )


def _versions(items: Iterable[Item], english: dict[str, Item]) -> list[Item]:
    """Versions of English items in other conditions."""
    return [
        item
        for item in items
        if item.item_id in english and item.condition != REFERENCE_CONDITION and not item.native
    ]


def _is_lost(item: Item) -> bool:
    return str(item.metadata.get(JUDGMENT, "")).strip().casefold() == JUDGMENTS[-1]


def _has_blank(item: Item, original: Item | None) -> bool:
    """What the metadata say of the blank, else whether the context has those of the original."""
    said = truth(item.metadata.get(BLANK_SURVIVED))
    if said in (0, 1):
        return said == 1
    n = blanks_in(item.context)
    return n > 0 if original is None or original is item else n == blanks_in(original.context)


def _by_condition(
    name: str,
    title: str,
    versions: Sequence[Item],
    bad: Sequence[Item],
    examples: pd.DataFrame,
    fault: str,
    fine: str,
    nothing: str,
) -> PipelineCheck:
    """A check of versions, whose sentence says in which conditions the fault is."""
    if not versions:
        return PipelineCheck(name, title, "undefined", nothing, 0, 0, examples)
    n, n_all = len(bad), Counter(item.condition for item in versions)
    if not bad:
        conditions = ", ".join(sorted(n_all, key=condition_rank))
        found = f"In all of {counted(len(versions), 'version')} {fine} ({conditions})."
        return PipelineCheck(name, title, "green", found, len(versions), 0, examples)
    counts = Counter(item.condition for item in bad)
    where = ", ".join(
        f"{c} {counts[c]:,} of {n_all[c]:,}" for c in sorted(counts, key=condition_rank)
    )
    found = f"In {n:,} of {counted(len(versions), 'version')} {fault}: {where}."
    return PipelineCheck(name, title, "red", found, len(versions), n, examples)

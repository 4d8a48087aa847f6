"""Do people and a model call the same axes stereotypical, and put groups on the same side?

After "StereoDisco" (arXiv 2607.27824), section 7 of the method: a 2 x 2 of flags over the axes that
people rated, with the agreement that chance would give, Cohen's kappa and Fisher's p. What ratings
come to is in `core.people.verdicts`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from itertools import product
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.heads.agreement import ALL, SIDES, agreement_row, flags_of
from core.analysis.heads.stored import StoredAxes
from core.axes.axis import Axis, Pole
from core.errors import InputError
from core.files.places import NAMED, listed
from core.files.rows import folded
from core.people.ratings import BETWEEN, MIDDLE, REQUIRED
from core.people.verdicts import RULES, Rule, verdicts
from core.stats.agreement import same_choice
from core.stats.probes.positions import position_agreement
from core.words import counted

Array = npt.NDArray[np.float64]
Level = Literal["all answers", "any group"]
LEVELS: tuple[Level, ...] = ("all answers", "any group")

_SENSE = re.compile(r"\.[a-z]+\.\d+")  # of a synset's name
NEAR = 0.6  # likeness from which a name is offered for another one
NOT_RATED = "nobody rated it"
NO_AXIS = "people and the model judge no axis both"
ALL_THE_SAME = "people, or the model, say the same of every axis: there is nothing to test"


@dataclass(frozen=True)
class Matched:
    """Answers about the axes and groups of a question, in their words and orientation."""

    answers: pd.DataFrame  # as `Ratings.kept`, the axis being an axis_id
    notes: tuple[str, ...]  # which axes and groups are not among them


def matched(answers: pd.DataFrame, axes: Sequence[Axis], concepts: Sequence[str]) -> Matched:
    """The answers that are about these axes and groups.

    An axis is known by its `axis_id`, by its poles' synsets or all their words, or by one word of
    either pole where no other axis has these two; where ratings have its poles the other way round,
    they are turned: 1 becomes 5. Capital letters of words and groups do not count.

    Raises
    ------
    InputError
        Several axes of the set have the same words, so that a rating could be of any; or somebody
        rated a group twice on one axis, written in two ways.
    """
    known = {name: _named(name, axes) for name in dict.fromkeys(answers["axis"])}
    groups = {folded(text): text for text in concepts}
    found = [known[name] or (None, False) for name in answers["axis"]]
    ids = pd.Series([axis_id for axis_id, _ in found], index=answers.index, dtype=object)
    turned = np.array([is_turned for _, is_turned in found], dtype=bool)
    names = answers["group"].map(lambda name: groups.get(folded(name)))
    rating = answers["rating"].where(~turned, 2 * MIDDLE - answers["rating"])
    whole = answers.assign(axis=ids, group=names, rating=rating)
    notes = [
        f"{counted(len(other), what, plural)} of the ratings not in the set, and left out: "
        f"{listed(_with_nearest(other, there))}."
        for what, plural, other, there in (
            ("axis", "axes", sorted(set(answers.loc[ids.isna(), "axis"])), _called(axes)),
            ("group", "groups", sorted(set(answers.loc[names.isna(), "group"])), concepts),
        )
        if other
    ]
    kept = whole[ids.notna() & names.notna()].reset_index(drop=True)
    _check_once(kept)
    return Matched(kept, tuple(notes))


def empty_ratings(axes: Sequence[Axis], concepts: Sequence[str]) -> pd.DataFrame:
    """A table for people to fill in: a row for each axis and group, without who and what they say.

    Returns
    -------
    DataFrame
        annotator, group, axis and rating, as `read_ratings` takes them; every axis is named so that
        `matched` finds it.
    """
    called = Counter(_called(axes))
    named = [
        name if called[name] == 1 else axis.axis_id
        for name, axis in zip(_called(axes), axes, strict=True)
    ]
    rows = [("", group, axis, "") for axis in named for group in concepts]
    return pd.DataFrame(rows, columns=list(REQUIRED))


def human_axes(
    found: StoredAxes, people: Matched, *, rule: Rule = "published", level: Level = "all answers"
) -> pd.DataFrame:
    """What people and the model say of each axis, in the order of the model's table.

    Parameters
    ----------
    level
        all answers: an axis's answers together, whatever the group. any group: stereotypical for
        at least one group; it does not apply where it applies to none.

    Returns
    -------
    DataFrame
        axis_id, negative, positive, statistic, pvalue, flagged (model), stereotypical (people),
        n_answers, n_annotators, n_groups (rated), n_stereotypical_groups, and the reason why
        there is no comparison.
    """
    by_axis = verdicts(people.answers, rule=rule).set_index("axis")
    by_group = verdicts(people.answers, over="groups", rule=rule)
    each = by_group.groupby("axis", sort=False)["stereotypical"]
    if level == "any group":  # a group that it does not apply to says nothing
        verdict = each.max().where(each.count() > 0)
        why = verdict.isna().map({True: "applies to no group", False: ""})
    else:
        verdict, why = by_axis["stereotypical"], by_axis["reason"]
    people_say = pd.DataFrame(
        {
            "stereotypical": verdict.astype("boolean"),
            "n_answers": by_axis["n"],
            "n_annotators": by_axis["n_annotators"],
            "n_groups": each.size(),
            "n_stereotypical_groups": each.sum().astype("int64"),
            "reason": why,
        }
    )
    model = found.table[["axis_id", "negative", "positive", "statistic", "pvalue", "flagged"]]
    rows = model.assign(undefined=found.table["reason"]).join(people_say, on="axis_id")
    counts = [name for name in rows.columns if name.startswith("n_")]
    rows[counts] = rows[counts].fillna(0).astype("int64")
    rows["stereotypical"] = rows["stereotypical"].astype("boolean")
    rows["reason"] = (
        rows["reason"].fillna(NOT_RATED).where(rows["undefined"] == "", rows["undefined"])
    )
    return rows.drop(columns="undefined")


def human_agreement(found: StoredAxes, people: Matched) -> pd.DataFrame:
    """The 2 x 2 of flags by people and the model, for both rules and levels.

    Returns
    -------
    DataFrame
        rule, level, n axes that both judge, `both`, `only_model`, `only_people` and `neither` call
        stereotypical, `agreement`, `expected` if they were independent, `kappa`, `pvalue` (Fisher,
        two-sided), n_annotators, n_answers, n_not_applicable, n_not_rated, and the reason where
        kappa or p is undefined.
    """
    settings = product(RULES, LEVELS)
    return pd.DataFrame([_two_by_two(found, people, rule, level) for rule, level in settings])


def human_sides(found: StoredAxes, people: Matched) -> pd.DataFrame:
    """Whether groups lie on the side where most people put them; a row of `model_agreement`.

    Side by side are the pairs of axis and group where strictly more than half of the ratings are
    below 3, or above.
    """
    held = found.held
    rows = verdicts(people.answers, over="groups")
    sides = (
        rows.astype({"side": "Float64"})
        .pivot(index="axis", columns="group", values="side")
        .reindex(index=[axis.axis_id for axis in held.axes], columns=list(held.concepts))
        .to_numpy(dtype=np.float64, na_value=np.nan)
    )
    compared = position_agreement(held.of_concepts, sides)
    n_axes = int((np.isfinite(sides) & (sides != 0)).any(axis=1).sum())
    nothing = "no group on an axis has a side by most people"
    return pd.DataFrame([agreement_row(SIDES, ALL, compared, n_axes, nothing=nothing)])


def _named(name: str, axes: Sequence[Axis]) -> tuple[str, bool] | None:
    """The axis_id that a name in ratings means, and whether that turns its poles round."""
    for spellings in (_exact, _words):
        found = [
            (axis.axis_id, is_turned)
            for axis in axes
            for is_turned in (False, True)
            if _is_called(name, axis, is_turned, spellings)
        ]
        if len({axis_id for axis_id, _ in found}) > 1:
            raise InputError(
                f"Several axes of the set are called {name!r}; write one of "
                f"{listed([axis_id for axis_id, _ in found])} in the ratings."
            )
        if found:
            return found[0]
    return None


def _is_called(
    name: str, axis: Axis, is_turned: bool, spellings: Callable[[Pole], Collection[str]]
) -> bool:
    ends = (axis.positive, axis.negative) if is_turned else (axis.negative, axis.positive)
    first, _, second = name.partition(BETWEEN)
    return folded(first) in spellings(ends[0]) and folded(second) in spellings(ends[1])


@cache
def _exact(pole: Pole) -> frozenset[str]:
    """What names a pole alone: its key, its synset or all its words."""
    return frozenset(map(folded, (pole.key, pole.synset, "|".join(pole.lemmas))))


@cache
def _words(pole: Pole) -> frozenset[str]:
    return frozenset(map(folded, pole.lemmas))


def _called(axes: Sequence[Axis]) -> list[str]:
    return [BETWEEN.join((axis.negative.synset, axis.positive.synset)) for axis in axes]


def _with_nearest(names: Sequence[str], there: Sequence[str]) -> list[str]:
    """Names that are not there, each of the first few with the nearest one that is."""
    by_words = {_SENSE.sub("", name): name for name in there}

    def told(name: str) -> str:
        close = get_close_matches(_SENSE.sub("", name), by_words, n=1, cutoff=NEAR)
        return f"{name} (nearest: {by_words[close[0]]})" if close else name

    return [*map(told, names[:NAMED]), *names[NAMED:]]


def _check_once(kept: pd.DataFrame) -> None:
    """Ratings are read with each row once, but an axis and a group can be written in two ways."""
    again = kept[kept.duplicated(["annotator", "axis", "group"])]
    if len(again):
        row = again.iloc[0]
        raise InputError(
            f"{row['annotator']!r} rated {row['group']!r} more than once on the axis "
            f"{row['axis']!r}, written in two ways; leave one of the rows."
        )


def _two_by_two(found: StoredAxes, people: Matched, rule: Rule, level: Level) -> dict[str, object]:
    from scipy.stats import fisher_exact  # takes a second

    rows = human_axes(found, people, rule=rule, level=level)
    model = flags_of(found, rows["axis_id"].tolist())
    human = rows["stereotypical"].astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
    whole = np.isfinite(model) & np.isfinite(human)
    a, b = model[whole] > 0, human[whole] > 0
    table = np.array([[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]])
    compared = same_choice(model, human)
    free = min(a.sum(), (~a).sum(), b.sum(), (~b).sum()) > 0  # else the table can be no other
    rated = rows["n_answers"] > 0
    reason = "" if free else ALL_THE_SAME if compared.n else NO_AXIS
    return {
        "rule": rule,
        "level": level,
        "n": compared.n,
        **dict(zip(("both", "only_model", "only_people", "neither"), table.ravel(), strict=True)),
        "agreement": compared.same,
        "expected": compared.expected,
        "kappa": compared.kappa,
        "pvalue": float(fisher_exact(table).pvalue) if free else float("nan"),
        "n_annotators": people.answers["annotator"].nunique(),
        "n_answers": len(people.answers),
        "n_not_applicable": int((rated & rows["stereotypical"].isna()).sum()),
        "n_not_rated": int((~rated).sum()),
        "reason": reason,
    }

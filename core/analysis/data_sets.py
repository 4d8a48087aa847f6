"""What is in a data set: its problems by kind, a few of its items, what became of its rows."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from core.files.places import Place
from core.items.conditions import condition_rank
from core.items.import_notes import left_out_of_note
from core.items.pair_checks import other_directions
from core.items.row_checks import row_notes
from core.items.rows import Row
from core.items.set_checks import Placed, alike, by_condition, in_english, mixed_languages
from core.settings import DEFAULT_SEED
from core.types import Item, Problem, Severity

PROBLEM_COLUMNS = ("severity", "kind", "file", "row", "item_id", "condition", "message")
FINDING_COLUMNS = ("item_id", "condition", "what")
_RANK = {Severity.ERROR: 0, Severity.LEFT_OUT: 1, Severity.NOTE: 2}

# What is looked for in the items of a data set: title, and what it does to the numbers.
TITLES = {
    "collapsed": ("Collapsed", "both poles say the same; left out of every statistic"),
    "identical_items": (
        "Identical items",
        "all texts are those of another item, and so are the English ones if there are any",
    ),
    "identical_translations": (
        "Identical translations of different items",
        "texts or context of another item, though the English ones differ",
    ),
    "near_empty": ("Near-empty texts", "no word, or a single letter"),
    "differs_elsewhere": (
        "Differ in more than the intended word",
        "pairs that differ in several places, and fill-in items that differ beyond the blank",
    ),
    "invisible_character": ("Invisible characters", "nobody sees them, and a model reads them"),
    "invisible_difference": (
        "Differ only by invisible characters",
        "what sets the poles apart cannot be seen",
    ),
    "damaged_character": (
        "Damaged characters",
        "control or replacement characters, which a wrong conversion leaves",
    ),
    "other_direction": (
        "Another direction than in English",
        "stereo in one language and antistereo in the other, or the same with the first language",
    ),
    "mixed_languages": ("In another script", "the text seems to be in another language"),
}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for in the items of a data set."""

    kind: str
    title: str
    meaning: str
    rows: pd.DataFrame  # item_id, condition, `what`: what was found there
    n: int  # rows that were looked at

    @property
    def n_items(self) -> int:
        return int(self.rows["item_id"].nunique())


def problem_table(problems: Sequence[Problem]) -> pd.DataFrame:
    """One row per problem with its place: errors first, then what was left out, then notes."""
    ordered = sorted(problems, key=lambda p: _RANK[p.severity])
    rows = [[getattr(p, name) for name in PROBLEM_COLUMNS] for p in ordered]
    table = pd.DataFrame(rows, columns=list(PROBLEM_COLUMNS))
    return table.astype({"severity": "str", "row": "Int64"})


def problem_counts(problems: Sequence[Problem]) -> pd.DataFrame:
    """How often each kind of problem is there: severity, kind, n, and the first message."""
    table = problem_table(problems)
    counts = table.groupby(["severity", "kind"], sort=False)["message"].agg(["size", "first"])
    return counts.reset_index().rename(columns={"size": "n", "first": "message"})


def few_items(items: Sequence[Item], n: int, seed: int = DEFAULT_SEED) -> list[Item]:
    """Items to be read, drawn at random and spread over conditions and categories.

    Every condition and category gives one item before any gives a second one, in the order of a
    draw; the items stand in the order of the data set.
    """
    generator = random.Random(seed)
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for at, item in enumerate(items):
        groups[item.condition, item.category].append(at)
    drawn = [generator.sample(group, min(n, len(group))) for group in groups.values()]
    generator.shuffle(drawn)
    rounds = [group[i] for i in range(n) for group in drawn if i < len(group)]
    return [items[at] for at in sorted(rounds[:n])]


def findings(items: Sequence[Item]) -> list[Finding]:
    """Everything that is looked for in the items of a data set, also what was not found."""
    rows = [Row(Place("", None, i.item_id, i.condition), i) for i in items]
    found: dict[str, list[tuple[str, str, str]]] = {kind: [] for kind in TITLES}
    for problem in (*row_notes(rows), *mixed_languages(rows), *other_directions(rows)):
        if problem.kind in found:
            found[problem.kind].append((problem.item_id, problem.condition, problem.message))
    for kind, same in _alike(rows):
        names = [one.item.item_id for one in same]
        for one in same:
            others = ", ".join(name for name in names[:6] if name != one.item.item_id)
            rest = f" and {len(names) - 6} more" if len(names) > 6 else ""
            what = f"the same as {others}{rest}"
            found[kind].append((one.item.item_id, one.item.condition, what))
    return [
        Finding(kind, *words, pd.DataFrame(found[kind], columns=list(FINDING_COLUMNS)), len(items))
        for kind, words in TITLES.items()
    ]


def _alike(rows: list[Row]) -> Iterator[tuple[str, list[Placed]]]:
    placed = [Placed(row.place, row.item) for row in rows if row.item is not None]
    english = in_english(placed)
    for group in by_condition(placed).values():
        texts, contexts = alike(group, english)
        for same in texts:
            twins = [english[i] for one in same if (i := one.item.item_id) in english]
            originals = {(twin.context, twin.stereotype, twin.anti_stereotype) for twin in twins}
            yield "identical_translations" if len(originals) > 1 else "identical_items", same
        yield from (("identical_translations", same) for same in contexts)


def _ranks(conditions: pd.Series) -> pd.Series:
    ranked = sorted(conditions.unique(), key=condition_rank)
    return conditions.map(ranked.index)


def flow(coverage: pd.DataFrame, dataset: str, note: str) -> pd.DataFrame:
    """From the file to the scores: what became of the rows of each condition.

    Parameters
    ----------
    coverage
        Of `core.store.items.coverage`.
    note
        What the data set was stored with: how many rows were left out.

    Returns
    -------
    DataFrame
        Columns condition, n_left_out (rows of the file that were not imported), n (imported),
        n_collapsed, scorer_id, model, n_scored, n_not_scored (of those that did not collapse;
        missing without a scorer). One row per condition and scorer, English first; a condition of
        which every row was left out is a row too, at the end.
    """
    left_out = left_out_of_note(note)
    here = coverage[coverage["dataset"] == dataset]
    here = here.sort_values("condition", key=_ranks, kind="stable")
    has_scorer = here["scorer_id"] != ""
    scored = here["n_scored"].astype("Int64").where(has_scorer)
    table = pd.DataFrame(
        {
            "condition": here["condition"],
            "n_left_out": here["condition"].map(lambda c: left_out.get(c, 0)).astype("Int64"),
            "n": here["n_items"].astype("Int64"),
            "n_collapsed": here["n_collapsed"].astype("Int64"),
            "scorer_id": here["scorer_id"],
            "model": here["model"],
            "n_scored": scored,
            "n_not_scored": here["n_items"] - here["n_collapsed"] - scored,
        }
    )
    known = set(table["condition"])
    gone = [(c, n, 0, 0) for c, n in left_out.items() if c not in known]
    counts = ["n_left_out", "n", "n_collapsed"]
    more = pd.DataFrame(gone, columns=["condition", *counts]).astype(dict.fromkeys(counts, "Int64"))
    return pd.concat([table, more], ignore_index=True) if gone else table

"""From rows of scores to scores of items: which item a row is of, and what is left without one.

A row that fits several items (the same texts, or the same pair) is a score of each. Nothing is
guessed: a row without an item, an item without a number for each of its continuations, a number
that cannot be a score, and another one for the same continuation are errors, by row and item.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.errors import InputError
from core.files.places import Place, listed, printable, refusal
from core.imported_scores.layout import LOG_SCALES, THIRD, WHOLE, Finds, ScoreRow
from core.imported_scores.numbers import why_no_score
from core.imported_scores.reading import ScoreFile
from core.items.formats.stereoset import SENTENCE_IDS
from core.items.texts import is_collapsed, item_texts
from core.types import Item, Problem, Role, Severity
from core.words import counted

Key = tuple[str, str]  # item id and condition
Target = tuple[Key, str]  # and the role of a continuation, WHOLE for all of them

# Nats. Computed twice in float32, in two batches, a sum over a continuation differs by less.
REPEATED = 1e-4


@dataclass(frozen=True)
class ItemNumbers:
    """What a file says of one item in one condition: a number for each of its continuations."""

    item_id: str
    condition: str
    values: Mapping[str, float]  # by role
    n_tokens: Mapping[str, int] = field(default_factory=dict)  # by role


@dataclass(frozen=True)
class FoundScores:
    """The scores of the items of a data set that a file has, by model."""

    by_model: dict[str, list[ItemNumbers]]  # in the order of the items
    problems: tuple[Problem, ...]
    n_left_out: dict[str, int]  # items without a score for an error, by model


def find_scores(
    file: ScoreFile, items: Sequence[Item], *, model: str = "", lenient: bool = False
) -> FoundScores:
    """The scores of these items.

    Conditions of which the file has nothing are no errors: a note names them. Collapsed items
    compare nothing, so their scores are left.

    Parameters
    ----------
    model
        What to call the model of rows that name none.
    lenient
        Leave out what has an error, and say so, instead of refusing the whole.

    Raises
    ------
    DataSetError
        There is an error; in a lenient reading, one of the whole file, or nothing is left.
    InputError
        The rows name no condition, and the data set has several; or all name others than it has.
    """
    _check_conditions(file, items)
    search = _Search(file, items)
    by_model: dict[str, list[ScoreRow]] = defaultdict(list)
    for row in file.rows:
        by_model[row.model or model].append(row)
    found = {name: search.scores(name, rows) for name, rows in by_model.items()}
    problems = [*file.problems, *search.problems]
    errors = [p for p in problems if p.severity is Severity.ERROR]
    whole = [p for p in errors if p.row is None and not p.item_id]
    found = {name: scores for name, scores in found.items() if scores}
    if not found and not errors:
        message = "No row is a score of an item of the data set."
        whole = [Place(printable(file.path.name)).error("unmatched_score", message)]
        problems += whole
    if whole or (errors and not lenient) or not found:
        raise refusal(file.path, problems)
    problems = [
        replace(p, severity=Severity.LEFT_OUT) if p.severity is Severity.ERROR else p
        for p in problems
    ]
    n_left_out = {name: len(search.failed[name]) for name in found}
    return FoundScores(found, tuple(problems), n_left_out)


def _check_conditions(file: ScoreFile, items: Sequence[Item]) -> None:
    """Refuse rows of which none is in a condition of the data set: one sentence says it of all."""
    named = list(dict.fromkeys(row.condition for row in file.rows))
    held = list(dict.fromkeys(item.condition for item in items))
    if named and "" not in named and not set(named) & set(held):
        raise InputError(
            printable(f"The data set has no condition {listed(named)}; it has {listed(held)}.")
        )


class _Search:
    """Finds the items of rows, and collects what is wrong with either."""

    def __init__(self, file: ScoreFile, items: Sequence[Item]) -> None:
        self.file = file
        self.items = {(item.item_id, item.condition): item for item in items}
        self.collapsed = {key for key, item in self.items.items() if is_collapsed(item)}
        self.targets = _targets(file.layout.finds, items)
        self.problems: list[Problem] = []
        self.failed: dict[str, set[Key]] = {}  # items with an error, by model
        self.extra: Counter[str] = Counter()  # numbers of continuations that items have not
        self.repeated: list[float] = []  # nats between two numbers that count as one

    def scores(self, model: str, rows: Sequence[ScoreRow]) -> list[ItemNumbers]:
        """The scores of the items under one model, in the order of the items."""
        numbers: dict[Key, dict[str, float]] = defaultdict(dict)
        tokens: dict[Key, dict[str, int]] = defaultdict(dict)
        failed = self.failed.setdefault(model, set())
        unmatched = []
        for row in rows:
            targets = self._targets_of(row)
            if not targets:
                unmatched.append(row)
            for key, of in targets:
                values = {of: row.values[WHOLE]} if WHOLE in row.values else row.values
                self._take(key, row, values, numbers[key], failed)
                tokens[key] |= row.n_tokens
        self._say_unmatched(rows, unmatched)
        of_what = f" under {model}" if len({row.model for row in self.file.rows}) > 1 else ""
        self._say_missing(numbers, failed, of_what)
        self._say_passed_over()
        return [
            ItemNumbers(*key, numbers[key], tokens[key])
            for key in self.items
            if key in numbers and key not in failed and key not in self.collapsed
        ]

    def _targets_of(self, row: ScoreRow) -> list[Target]:
        match self.file.layout.finds:
            case Finds.ITEM:
                found = self.targets.get(row.item_id, [])
            case Finds.PAIR:
                found = self.targets.get(_pair_key(row.sentences), [])
            case _:
                found = self.targets.get(row.key, [])
        if row.condition:
            return [target for target in found if target[0][1] == row.condition]
        conditions = list(dict.fromkeys(condition for (_, condition), _ in found))
        if len(conditions) > 1 and self.file.layout.finds in (Finds.ITEM, Finds.SENTENCE):
            raise InputError(
                printable(
                    f"The data set has {row.shown} in {listed(conditions)}; say with --condition of"
                    " which of them the scores are."
                )
            )
        return found

    def _take(
        self,
        key: Key,
        row: ScoreRow,
        values: Mapping[str, float],
        known: dict[str, float],
        failed: set[Key],
    ) -> None:
        """Note the numbers of a row with its item; one with an error has none."""
        if key in self.collapsed:
            return
        place = row.place.of(*key)
        wanted = self.items[key].continuations()
        for name, value in values.items():
            role = _third(wanted) if name == THIRD else name
            if role not in wanted:
                self.extra[role] += not math.isnan(value)
                continue
            why = why_no_score(value, self.file.scale)
            if why:
                message = f"Of the {role} of item {key[0]!r} in {key[1]} {why}."
                self.problems.append(place.error("not_a_score", printable(message)))
                failed.add(key)
            elif (apart := abs(known.setdefault(role, value) - value)) > self.allowed:
                message = (
                    f"The {role} of item {key[0]!r} in {key[1]} has {value:.10g} here and "
                    f"{known[role]:.10g} before{self._twins(row, key)}."
                )
                self.problems.append(place.error("scored_twice", printable(message)))
                failed.add(key)
            elif apart:
                self.repeated.append(apart)

    @property
    def allowed(self) -> float:
        """How far two numbers of one continuation may be apart; on an unknown scale, not at all."""
        return REPEATED if self.file.scale in LOG_SCALES else 0.0

    def _twins(self, row: ScoreRow, key: Key) -> str:
        """Which other items a row is a score of too, for a message; empty where there is none."""
        others = [f"{i!r} in {c}" for (i, c), _ in self._targets_of(row) if (i, c) != key]
        return f"; the same text is that of item {listed(others)} too" if others else ""

    def _say_passed_over(self) -> None:
        """Notes on numbers of a model that are not read, and on those that stand there twice."""
        for role, n in self.extra.items():
            if n:
                message = f"{counted(n, 'number')} of {role}, which the items have not, not read."
                self.problems.append(self._place.note("number_ignored", message))
        if self.repeated:
            message = (
                f"{counted(len(self.repeated), 'continuation')} scored twice with numbers that "
                f"differ by at most {max(self.repeated):.1g} nats, as those of two batches do; the "
                "first is taken."
            )
            self.problems.append(self._place.note("scored_again", message))
        self.extra.clear()
        self.repeated.clear()

    def _say_unmatched(self, rows: Sequence[ScoreRow], unmatched: Sequence[ScoreRow]) -> None:
        """An error for each row without an item; one note for a list or file that has none at all.

        Predictions of StereoSet hold a second list of which a data set may have nothing.
        """
        groups: dict[str, list[ScoreRow]] = defaultdict(list)
        for row in unmatched:
            groups[row.part].append(row)
        sizes = {name: sum(row.part == name for row in rows) for name in groups}
        whole = [name for name, part in groups.items() if name and len(part) == sizes[name]]
        for name in whole if len(unmatched) < len(rows) else []:
            message = f"None of the {counted(sizes[name], 'row')} of {name} is of the data set."
            self.problems.append(self._place.note("list_unmatched", printable(message)))
            del groups[name]
        for part in groups.values():
            for row in part:
                where = f" in {row.condition}" if row.condition else ""
                message = f"The data set has no item for {row.shown}{where}."
                if self.file.layout.finds is Finds.TEXT:
                    message += " Text and context must be those of the item, without examples."
                self.problems.append(row.place.error("unmatched_score", printable(message)))

    def _say_missing(
        self, numbers: Mapping[Key, Mapping[str, float]], failed: set[Key], of_what: str
    ) -> None:
        """An error for each item without all its numbers, in conditions of which there are some."""
        there = {condition for (_, condition), known in numbers.items() if known}
        absent = dict.fromkeys(c for _, c in self.items if c not in there)
        if absent and there:
            message = f"The file has no scores{of_what} of {listed(list(absent))}."
            self.problems.append(self._place.note("condition_missing", printable(message)))
        for key, item in self.items.items():
            if key[1] not in there or key in self.collapsed or key in failed:
                continue
            known = numbers.get(key, {})
            missing = [str(role) for role in item.continuations() if role not in known]
            if missing:
                message = (
                    f"Item {key[0]!r} in {key[1]} has no score{of_what} of its "
                    f"{' and '.join(missing)}."
                )
                problem = self._place.of(*key).error("missing_score", printable(message))
                self.problems.append(problem)
                failed.add(key)

    @property
    def _place(self) -> Place:
        return Place(printable(self.file.path.name))


def _targets(finds: Finds, items: Sequence[Item]) -> dict[str, list[Target]]:
    """By what a row names: the items, and the role where a row is of one continuation."""
    found: dict[str, list[Target]] = defaultdict(list)
    for item in items:
        for name, role in _names(finds, item):
            found[name].append(((item.item_id, item.condition), role))
    return dict(found)


def _names(finds: Finds, item: Item) -> Iterator[tuple[str, str]]:
    match finds:
        case Finds.TEXT:
            yield from ((text.text_id, role) for role, text in item_texts(item).items())
        case Finds.SENTENCE:
            ids = item.metadata.get(SENTENCE_IDS)
            if isinstance(ids, Mapping):
                yield from ((str(name), str(role)) for role, name in ids.items())
        case Finds.ITEM:
            yield item.item_id, WHOLE
        case Finds.PAIR:
            roles = set(item.continuations())
            if roles == {Role.STEREOTYPE, Role.ANTI_STEREOTYPE} and not item.context.strip():
                yield _pair_key((item.stereotype, item.anti_stereotype)), WHOLE


def _pair_key(sentences: tuple[str, str]) -> str:
    """Two sentences without regard to white space, in which published files differ."""
    more, less = (" ".join(sentence.split()) for sentence in sentences)
    return f"{len(more)}:{more}{less}"


def _third(wanted: Mapping[Role, str]) -> str:
    return str(Role.UNRELATED if Role.UNRELATED in wanted else Role.UNKNOWN)

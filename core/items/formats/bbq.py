"""Questions with three answers in the layout of BBQ (Parrish et al. 2022): one row per question.

    example_id, question_index, question_polarity, context_condition, category,
    answer_info {ans0: [name, tag], ...}, additional_metadata {stereotyped_groups, ...},
    context, question, ans0, ans1, ans2, label

The answers stand in any order. One of them, which says that nobody can know, has the tag `unknown`;
it stands in any place and in many wordings. Of the other two, one is of a stereotyped group
(core/items/formats/bbq_groups.py): it is the stereotypical answer to a question of polarity `neg`
("Who was forgetful?"), and the other one is to its twin of polarity `nonneg` ("Who was never
forgetful?"). `example_id` is unique only within a category, hence ids such as "Age/2618".

Ambiguous contexts leave open who it was; disambiguated ones, which tell, are read only on request.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from reprlib import repr  # noqa: A004 - a cell may be of any length
from typing import Any, TypeGuard

from core.files.places import listed
from core.files.tables import Record, Table
from core.items.file_language import language_of_table
from core.items.formats.bbq_groups import Answer, Unresolved, stereotyped_answer
from core.items.formats.questions import (
    in_roles,
    left_out,
    wants_all_contexts,
    with_question,
)
from core.items.layout import Layout, ReadOptions
from core.items.metadata import FORM, QUESTION
from core.items.rows import Row, RowReader, column_errors, id_text
from core.items.texts import bare
from core.types import Item, Problem, Role

ID = "example_id"
CATEGORY = "category"
POLARITY = "question_polarity"
POLARITIES = ("neg", "nonneg")
CONDITION = "context_condition"
AMBIGUOUS, DISAMBIGUATED = "ambig", "disambig"
TEXTS = ("context", "question")
ANSWERS = ("ans0", "ans1", "ans2")
_ANSWER = re.compile(r"ans\d+")
INFO = "answer_info"
MORE = "additional_metadata"
LABEL = "label"  # the number of the right answer
REQUIRED = (CATEGORY, POLARITY, CONDITION, INFO, MORE, *TEXTS, *ANSWERS)


def looks_like_bbq(table: Table) -> bool:
    """Whether a table's columns are those of BBQ."""
    return {INFO, MORE, POLARITY, *ANSWERS} <= set(table.columns)


def read_bbq(table: Table, options: ReadOptions) -> tuple[list[Row], list[Problem]]:
    """Turn a table of questions into items; every problem of every row is reported."""
    return read_questions(table, options, "bbq", lambda record: id_text(record.values.get(ID)))


def read_questions(
    table: Table,
    options: ReadOptions,
    source: str,
    number_of: Callable[[Record], str],
    suffix: str = "",
) -> tuple[list[Row], list[Problem]]:
    """Turn rows in BBQ's layout into items.

    Parameters
    ----------
    source
        What the items are said to come from.
    number_of
        A row's number within its category, "" where it has none.
    suffix
        Of the name of every category, for a file that is told apart.
    """
    with_all = wants_all_contexts(options)
    problems = list(column_errors(table, REQUIRED))
    if problems:
        return [], problems
    condition, notes = language_of_table(table.place, options)
    problems += notes
    rows, n_left_out = [], 0
    for record in table.records:
        if not with_all and record.values.get(CONDITION) == DISAMBIGUATED:
            n_left_out += 1
            continue
        category = record.values.get(CATEGORY)
        category = f"{category}{suffix}" if isinstance(category, str) and category else ""
        number = number_of(record)
        reader = _QuestionReader(record, f"{category}/{number}" if number else "", condition)
        rows.append(Row(reader.place, reader.item(category, source)))
        problems += reader.problems
    return rows, problems + left_out(table.place.of("", condition), n_left_out, len(table.records))


class _QuestionReader(RowReader):
    """Reads one row and collects what is wrong or remarkable in it."""

    def item(self, category: str, source: str) -> Item | None:
        if not self.checked(self.values.get(CATEGORY), CATEGORY):
            message = f"The row has no {CATEGORY}, within which {ID} is unique."
            self.error("missing_category", message)
        context, question = (self.sentence(column) for column in TEXTS)
        answers = self._answers()
        polarity = self._one_of(POLARITY, POLARITIES, "bad_polarity")
        self._one_of(CONDITION, (AMBIGUOUS, DISAMBIGUATED), "bad_context")
        roles = self._roles(answers, polarity, category) if answers and polarity else []
        metadata = {FORM: QUESTION, **self._metadata(answers, roles)}
        if self.failed or not roles:
            return None
        return Item(
            item_id=self.item_id,
            condition=self.condition,
            context=with_question(context, question),
            language=self.condition,
            source=source,
            category=category,
            metadata=metadata,
            **in_roles([answer.text for answer in answers], roles),
        )

    def _one_of(self, column: str, names: tuple[str, ...], kind: str) -> str:
        value = self.values.get(column)
        if isinstance(value, str) and value in names:
            return value
        message = f"The row has {repr(value)} in {column}; write {' or '.join(names)}."
        self.error(kind, message)
        return ""

    def _answers(self) -> list[Answer]:
        """The three answers with their names and tags; none where these cannot be read."""
        texts = [self.sentence(column) for column in ANSWERS]
        info = self.values.get(INFO)
        keys = info if isinstance(info, dict) else {}
        more = [n for n in dict.fromkeys((*self.values, *keys)) if self._is_further(n, keys)]
        if more:
            message = f"The row has more answers than {', '.join(ANSWERS)}: {listed(more)}."
            self.error("bad_answer_info", message)
        pairs = [keys.get(column) for column in ANSWERS]
        named = [pair for pair in pairs if _is_name_and_tag(pair)]
        if len(named) != len(ANSWERS):
            message = f"The row's {INFO} does not give a name and a tag for each of its answers."
            self.error("bad_answer_info", message)
            return []
        return [
            Answer(text, self.checked(pair[0], INFO), self.checked(pair[1], INFO))
            for text, pair in zip(texts, named, strict=True)
        ]

    def _is_further(self, name: str, info: dict[str, Any]) -> bool:
        """Whether a name is that of a fourth answer, or of one behind it, and holds something."""
        is_answer = _ANSWER.fullmatch(name) is not None and name not in ANSWERS
        return is_answer and (self.values.get(name) not in (None, "") or bool(info.get(name)))

    def _roles(self, answers: list[Answer], polarity: str, category: str) -> list[Role]:
        """The role of each answer in its order, none where they cannot be derived."""
        people = [answer for answer in answers if not answer.is_unknown]
        if len(people) != 2:
            tags = listed([repr(answer.tag) for answer in answers])
            message = f"The row has {3 - len(people)} answers with the tag unknown among {tags}."
            self.error("unknown_answer", message)
            return []
        (unknown,) = (answer for answer in answers if answer.is_unknown)
        if any(bare(answer.text) == bare(unknown.text) for answer in people):
            message = "The answer of a group is the same text as the one that nobody can know."
            self.error("unknown_answer", message)
            return []
        try:
            stereotyped = stereotyped_answer(self._groups(), people, category)
        except Unresolved as reason:
            self.error("unresolved", f"Which answer is the stereotype cannot be told: {reason}.")
            return []
        of_group, of_other = Role.STEREOTYPE, Role.ANTI_STEREOTYPE
        if polarity == "nonneg":
            of_group, of_other = of_other, of_group
        return [
            Role.UNKNOWN if answer.is_unknown else of_group if answer is stereotyped else of_other
            for answer in answers
        ]

    def _groups(self) -> list[str]:
        more = self.values.get(MORE)
        groups = more.get("stereotyped_groups") if isinstance(more, dict) else None
        if isinstance(groups, str):
            raise Unresolved(f"stereotyped_groups is the text {repr(groups)}, not a list of groups")
        return [group for group in groups if isinstance(group, str)] if _is_list(groups) else []

    def _metadata(self, answers: list[Answer], roles: list[Role]) -> dict[str, Any]:
        metadata = self.metadata({ID, CATEGORY, INFO, LABEL, *TEXTS, *ANSWERS})
        correct = self._correct(roles)
        if roles:
            tags = zip(roles, answers, strict=True)
            metadata["groups"] = {role.value: answer.tag for role, answer in tags}
        if correct:
            metadata["correct"] = correct.value
        return metadata

    def _correct(self, roles: list[Role]) -> Role | None:
        """The role of the right answer, where the row says which is right."""
        label = self.values.get(LABEL)
        if label is None:
            return None
        if not isinstance(label, int) or label not in range(3) or isinstance(label, bool):
            self.error("bad_label", f"The row has {repr(label)} in {LABEL}; write 0, 1 or 2.")
            return None
        if roles and self.values.get(CONDITION) == AMBIGUOUS and roles[label] is not Role.UNKNOWN:
            message = (
                f"The context is ambiguous, and yet {LABEL} says that {ANSWERS[label]} is right."
            )
            self.note("label_disagrees", message)
        return roles[label] if roles else None


def _is_name_and_tag(value: Any) -> TypeGuard[list[str]]:
    return _is_list(value) and len(value) >= 2 and all(isinstance(part, str) for part in value[:2])


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


LAYOUT = Layout("bbq", "BBQ", looks_like_bbq, read_bbq, frozenset({"language", "contexts"}))

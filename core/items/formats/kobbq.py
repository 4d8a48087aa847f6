"""Korean questions in the layout of KoBBQ (Jin et al. 2024): one row per question.

    sample_id, label_annotation, context, question, choices, biased_answer, answer, bbq_id, ...

`sample_id` is `age-001a-002-amb-bsd`: category, template, sample, ambiguous or disambiguated
context, and whether the question asks who conforms to the stereotype or who goes against it.
`biased_answer` is the stereotypical answer to either. The answer that nobody can know is the right
one where the context is ambiguous; a disambiguated row takes it from the ambiguous one of the same
sample, else it is known by its wording: KoBBQ's own five in Korean and BBQ's ten in English.
`choices` is a list as Python writes it: it is taken apart as a flat list of texts, never run.

`label_annotation` says where a template comes from. NC is newly created in Korea: such an item is
native. ST is translated from BBQ and TM besides has its groups replaced: both have an English
original, so they are not native, but no English row stands beside them here and they enter no
comparison.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from reprlib import repr  # noqa: A004 - a cell may be of any length
from typing import Any

from core.files.places import listed
from core.files.tables import Table
from core.items.file_language import language_of_table
from core.items.formats.questions import (
    in_roles,
    left_out,
    wants_all_contexts,
    with_question,
)
from core.items.layout import Layout, ReadOptions
from core.items.metadata import FORM, QUESTION
from core.items.rows import Row, RowReader, column_errors, id_text
from core.types import Item, Problem, Role

ID = "sample_id"
LANGUAGE = "ko"
ANNOTATION = "label_annotation"
ANNOTATIONS = ("ST", "TM", "NC")
NEW = "NC"
CHOICES = "choices"
BIASED = "biased_answer"
RIGHT = "answer"
TEXTS = ("context", "question")
REQUIRED = (ID, ANNOTATION, *TEXTS, CHOICES, BIASED, RIGHT)
CONDITIONS = {"amb": "ambig", "dis": "disambig"}
UNKNOWN = frozenset(
    {
        *("알 수 없음", "보기 중 답을 찾을 수 없음", "주어진 정보만으로는 답을 알 수 없음"),
        *("정답 없음", "답을 확정할 수 없음"),
        *("unknown", "undetermined", "not known", "not answerable", "not enough info"),
        *("not enough information", "cannot answer", "can't answer"),
        *("cannot be determined", "can't be determined"),
    }
)
_ID = re.compile(r"(?P<sample>(?P<category>[^-]+)-.+)-(?P<context>amb|dis)-(?P<asks>bsd|cnt)")
_ESCAPE = r"\\(?:['\"\\abfnrtv]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
_TEXT = rf"""(?:'(?:[^'\\\n]|{_ESCAPE})*'|"(?:[^"\\\n]|{_ESCAPE})*")"""
_LIST = re.compile(rf"\[\s*{_TEXT}(?:\s*,\s*{_TEXT})*\s*\]")


def looks_like_kobbq(table: Table) -> bool:
    """Whether a table's columns are those of KoBBQ."""
    return {ID, CHOICES, BIASED} <= set(table.columns)


def read_kobbq(table: Table, options: ReadOptions) -> tuple[list[Row], list[Problem]]:
    """Turn a table of questions into items; every problem of every row is reported.

    Without a language among the options or in the file's name it is Korean.
    """
    with_all = wants_all_contexts(options)
    problems = list(column_errors(table, REQUIRED))
    if problems:
        return [], problems
    condition, notes = language_of_table(table.place, options)
    if any(note.kind == "language_assumed" for note in notes):
        condition, notes = LANGUAGE, []
    problems += notes
    unknown = _unknown_answers(table)
    rows, n_left_out = [], 0
    for record in table.records:
        item_id = id_text(record.values.get(ID))
        parts = _ID.fullmatch(item_id)
        if parts and parts["context"] == "dis" and not with_all:
            n_left_out += 1
            continue
        reader = _KoreanReader(record, item_id, condition)
        known = unknown.get(parts["sample"], "") if parts else ""
        rows.append(Row(reader.place, reader.item(parts, known)))
        problems += reader.problems
    return rows, problems + left_out(table.place.of("", condition), n_left_out, len(table.records))


def _unknown_answers(table: Table) -> dict[str, str]:
    """By sample: the answer that its ambiguous rows give as the right one, if they agree."""
    found: dict[str, set[str]] = {}
    for record in table.records:
        parts = _ID.fullmatch(id_text(record.values.get(ID)))
        answer = record.values.get(RIGHT)
        if parts and parts["context"] == "amb" and isinstance(answer, str):
            found.setdefault(parts["sample"], set()).add(answer)
    return {sample: min(texts) for sample, texts in found.items() if len(texts) == 1}


class _KoreanReader(RowReader):
    """Reads one row and collects what is wrong or remarkable in it."""

    def item(self, parts: re.Match[str] | None, known: str) -> Item | None:
        if parts is None and self.item_id.strip():
            message = f"{repr(self.item_id)} is no {ID} such as age-001a-002-amb-bsd."
            self.error("bad_sample_id", message)
        context, question = (self.sentence(column) for column in TEXTS)
        annotation = self.label(ANNOTATION)
        if annotation not in ANNOTATIONS:
            message = f"The row has {repr(annotation)} in {ANNOTATION}; write ST, TM or NC."
            self.error("bad_annotation", message)
        roles = self._roles(self._choices(), self.text(BIASED), known)
        metadata = {**self.metadata({ID, CHOICES, BIASED, RIGHT, *TEXTS}), FORM: QUESTION}
        correct = roles.get(self.text(RIGHT))
        if roles and correct is None:
            self.error("bad_label", f"The row's {RIGHT} is none of its {CHOICES}.")
        if self.failed or parts is None or correct is None:
            return None
        if parts["context"] == "amb" and correct is not Role.UNKNOWN:
            message = f"The context is ambiguous, and yet {RIGHT} is the answer of a group."
            self.note("label_disagrees", message)
        metadata |= {
            "question_polarity": parts["asks"],
            "context_condition": CONDITIONS[parts["context"]],
            "correct": correct.value,
        }
        return Item(
            item_id=self.item_id,
            condition=self.condition,
            context=with_question(context, question),
            language=self.condition,
            source="kobbq",
            category=parts["category"],
            native=annotation == NEW and self.condition == LANGUAGE,
            metadata=metadata,
            **in_roles(list(roles), list(roles.values())),
        )

    def _choices(self) -> list[str]:
        """The three answers as listed; none where they are no list of three different texts."""
        value = self.values.get(CHOICES)
        choices = _flat_list(value) if isinstance(value, str) else value
        if not isinstance(choices, list) or len(choices) != 3:
            message = f"The row has {repr(value)} in {CHOICES}; write a list of three texts."
            self.error("bad_choices", message)
            return []
        texts = [self.visible(choice, CHOICES) for choice in choices]
        if len(set(texts)) != 3:
            self.error("bad_choices", f"Two of the row's {CHOICES} are the same.")
            return []
        return texts

    def _roles(self, choices: list[str], biased: str, known: str) -> Mapping[str, Role]:
        """The role of each answer by its text, in the order listed; none if one is not known."""
        if not choices:
            return {}
        by_wording = [text for text in choices if _plain(text) in UNKNOWN]
        unknown = [known] if known in choices else by_wording
        if len(unknown) != 1 or by_wording not in ([], unknown):
            count = len({*unknown, *by_wording})
            message = f"The row has {count} answers that nobody can know among {listed(choices)}."
            self.error("unknown_answer", message)
            return {}
        if biased not in choices or biased in unknown:
            message = (
                f"Which answer is the stereotype cannot be told: {BIASED} is {repr(biased)}, "
                f"which is not one of the two groups among {listed(choices)}."
            )
            self.error("unresolved", message)
            return {}
        roles = {biased: Role.STEREOTYPE, unknown[0]: Role.UNKNOWN}
        return {text: roles.get(text, Role.ANTI_STEREOTYPE) for text in choices}


def _flat_list(text: str) -> Any:
    """The texts in a list as Python writes one; None for anything else."""
    if not _LIST.fullmatch(text.strip()):
        return None
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):  # an escape of a character that does not exist
        return None


def _plain(text: str) -> str:
    return " ".join(text.replace("’", "'").split()).casefold().rstrip(".")


LAYOUT = Layout("kobbq", "KoBBQ", looks_like_kobbq, read_kobbq, frozenset({"language", "contexts"}))

"""StereoSet (Nadeem et al. 2021): three sentences per item, each with the label of its role.

GitHub's dev.json (the lists `intrasentence` and `intersentence`, also within `data`)::

    id, target, bias_type, context, sentences: [{id, sentence, gold_label}, ...]

The Hub's rows (JSON Lines or Parquet, one task per file) hold the sentences as an object of lists
and the label as a number, in the order of the Hub's class names: 0 is the ANTI-stereotype::

    sentences: {id: [...], sentence: [...], gold_label: [0, 2, 1]}

Roles come from the labels alone, never from the order of the sentences: a label outside the scheme
(the annotators' own 3, "related"), a role that is not there or is there twice are errors.

Intrasentence items are fill-in: the context is the sentence with BLANK, the continuations are the
filled sentences; read as `sentence` they stand alone. Intersentence items are continuations of
their context. Rows that no list and no file name assigns to a task are fill-in where the context
holds BLANK.
"""

from __future__ import annotations

import operator
from typing import Any

from core.errors import InputError
from core.files.tables import JSON_LIST, Record, Table
from core.items.file_language import language_of_table
from core.items.layout import Layout, ReadOptions
from core.items.metadata import BLANK, CONTINUATION, FILL_IN, FORM, SENTENCE
from core.items.rows import Row, RowReader, column_errors, id_text
from core.types import Item, Problem, Role

INTERSENTENCE = "intersentence"
TASKS = ("intrasentence", INTERSENTENCE)
REQUIRED = ("id", "bias_type", "context", "sentences")
FORMS = (FILL_IN, SENTENCE)
SENTENCE_IDS = "sentence_ids"  # by role: published predictions name sentences by them

ROLES = (Role.ANTI_STEREOTYPE, Role.STEREOTYPE, Role.UNRELATED)  # labels 0, 1, 2
_NAMES = {"anti-stereotype": ROLES[0], "stereotype": ROLES[1], "unrelated": ROLES[2]}
_BY_LABEL = _NAMES | {str(number): role for number, role in enumerate(ROLES)}

Sentence = tuple[Any, Any, Any]  # text, label, id


def looks_like_stereoset(table: Table) -> bool:
    """Whether a table's columns are those of StereoSet, in either shape."""
    return set(REQUIRED) <= set(table.columns)


def read_stereoset(table: Table, options: ReadOptions) -> tuple[list[Row], list[Problem]]:
    """Turn rows into items; every problem of every row is reported.

    Raises
    ------
    InputError
        The form that is asked for is not known.
    """
    if options.form not in FORMS:
        raise InputError(f"{options.form!r} is not a form; choose from: {', '.join(FORMS)}.")
    problems = list(column_errors(table, REQUIRED))
    if problems:
        return [], problems
    condition, notes = language_of_table(table.place, options)
    task, more = _task_of_table(table)
    problems += [*notes, *more]
    rows = []
    for record in table.records:
        reader = _StereoSetReader(record, id_text(record.values.get("id")), condition)
        rows.append(Row(reader.place, reader.item(task, options.form)))
        problems += reader.problems
    return rows, problems


def role_of_label(label: Any) -> Role | None:
    """The role that a gold label names, None for a label outside the scheme.

    Labels are the names of dev.json, or the numbers 0 to 2, also as text or as numpy's integers.
    """
    if isinstance(label, str):
        return _BY_LABEL.get(label.strip())
    if isinstance(label, bool):
        return None
    try:
        return _BY_LABEL.get(str(operator.index(label)))
    except TypeError:
        return None


def _task_of_table(table: Table) -> tuple[str | None, list[Problem]]:
    """The task of rows that stand in no list of their own; None where each row has to tell."""
    named = [task for task in TASKS if task in table.place.file.lower()]
    if len(named) == 1:
        return named[0], []
    apart = [record for record in table.records if JSON_LIST not in record.values]
    with_blank = [record for record in apart if _has_blank(record)]
    if not apart or with_blank:
        return None, []
    message = f"No context holds {BLANK}: the sentences are read as what follows their context."
    return INTERSENTENCE, [table.place.note("task_assumed", message)]


def _has_blank(record: Record) -> bool:
    context = record.values.get("context")
    return isinstance(context, str) and BLANK in context


class _StereoSetReader(RowReader):
    """Reads one row and collects what is wrong or remarkable in it."""

    def __init__(self, record: Record, item_id: str, condition: str) -> None:
        super().__init__(record, item_id, condition)
        self.subject = f"Item {self.place.item_id!r}"

    def item(self, task: str | None, form: str) -> Item | None:
        context = self.sentence("context")
        fill_in = self._is_fill_in(task, context, form)
        sentences = self._by_role()
        ids = {str(role): self.checked(id_text(s[2]), "an id") for role, s in sentences.items()}
        texts = {role: self.visible(s[0], f"its {role}") for role, s in sentences.items()}
        category, target = self.label("bias_type"), self.label("target")
        metadata = self.metadata({*REQUIRED, "target", JSON_LIST})
        if self.failed:
            return None
        metadata[FORM] = form if fill_in else CONTINUATION
        metadata |= {"target": target} if target else {}
        metadata |= {SENTENCE_IDS: ids} if all(ids.values()) else {}
        self._remark(category, target)
        return Item(
            item_id=self.item_id,
            condition=self.condition,
            context="" if fill_in and form == SENTENCE else context,
            stereotype=texts[Role.STEREOTYPE],
            anti_stereotype=texts[Role.ANTI_STEREOTYPE],
            unrelated=texts[Role.UNRELATED],
            language=self.condition,
            source="stereoset",
            category=category,
            metadata=metadata,
        )

    def _is_fill_in(self, task: str | None, context: str, form: str) -> bool:
        name = self.values.get(JSON_LIST, task)
        if name not in (*TASKS, None):
            message = f"{self.subject} is in the list {name!r}; write {' or '.join(TASKS)}."
            self.error("unknown_list", message)
        elif name == INTERSENTENCE:
            return False
        elif context and not (name and form == SENTENCE) and BLANK not in context:
            message = (
                f"{self.subject} has no {BLANK} in its context; sentences that follow their "
                f"context belong in a list, or a file, named {INTERSENTENCE}."
            )
            self.error("blank_missing", message)
        return True

    def _by_role(self) -> dict[Role, Sentence]:
        sentences = self._sentences()
        if sentences is None:
            return {}
        found: dict[Role, Sentence] = {}
        for sentence in sentences:
            role = role_of_label(sentence[1])
            if role is None:
                message = (
                    f"{self.subject} has the gold label {sentence[1]!r}; write one of "
                    f"{', '.join(_NAMES)}, or 0, 1, 2 in this order."
                )
                self.error("bad_label", message)
            elif role in found:
                self.error("duplicate_role", f"{self.subject} has two sentences labelled {role}.")
            else:
                found[role] = sentence
        missing = [role for role in ROLES if role not in found]
        if missing:
            message = f"{self.subject} has no sentence labelled {' or '.join(missing)}."
            self.error("missing_role", message)
        return found

    def _sentences(self) -> list[Sentence] | None:
        """The sentences of either shape; None, and an error, where they have another one."""
        value = self.values.get("sentences")
        if isinstance(value, list) and all(isinstance(one, dict) for one in value):
            return [(one.get("sentence"), one.get("gold_label"), one.get("id")) for one in value]
        if isinstance(value, dict):
            texts, labels = value.get("sentence"), value.get("gold_label")
            ids = value.get("id")
            if isinstance(texts, list) and isinstance(labels, list) and len(texts) == len(labels):
                if not isinstance(ids, list) or len(ids) != len(texts):
                    ids = [None] * len(texts)
                return list(zip(texts, labels, ids, strict=True))
        message = (
            f"{self.subject} has sentences that are neither a list of objects nor an object of "
            "lists of one length; CSV cannot hold them, use JSON or Parquet."
        )
        self.error("bad_sentences", message)
        return None

    def _remark(self, category: str, target: str) -> None:
        if not category:
            self.note("missing_type", f"{self.subject} has no bias_type: it counts in no type.")
        if not target:
            message = f"{self.subject} has no target: it enters no mean over target terms."
            self.note("missing_target", message)


LAYOUT = Layout(
    "stereoset",
    "StereoSet",
    looks_like_stereoset,
    read_stereoset,
    frozenset({"language", "form"}),
)

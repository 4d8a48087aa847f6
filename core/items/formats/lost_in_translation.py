"""The data of "Lost in Translation" (arXiv 2610.20479): one item in many languages and wordings.

A list of objects, one per item and language::

    id (<base>_<lang>), base_id, category, source, context, stereotype, anti_stereotype, unrelated,
    language, layer

`layer` A is an English item or a translation of one, B an item written in its language: native.
Fields that end in `_en` repeat the English text and are not kept, but for a native item, where they
translate it. A `judgment` says whether a translation keeps the contrast of its English pair.

Rewordings are objects by round and id, or rows with the fields `round` and `pivot`::

    {"0": {"gp_001_en": {"pivot": "de", "context": ..., "stereotype": ..., ...}, ...}, "1": ...}

A pivot is a language of a round trip or a word for what made the rewording: `en~de`, `en~llm`. A
pivot that several rounds share has the round behind it (`en~de.0`, `en~de.1`), a round without a
pivot stands for itself (`en~r2`). An id without `base_id` and `language` is taken apart; a missing
source is that of the published ids, ss_ and bbq_.

The published file holds StereoSet's first two roles swapped and BBQ's by answer order: its roles
are taken as they stand, with a note, unless a label file corrects them (core/items/label_file.py).
The third text of a BBQ item is its `unknown` answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from core.errors import InputError
from core.files.tables import JSON_LIST, Record, Table
from core.items.conditions import normalise_condition
from core.items.label_file import FIELDS
from core.items.layout import Layout, ReadOptions
from core.items.metadata import (
    BLANK,
    BLANK_SURVIVED,
    CONTINUATION,
    FILL_IN,
    FORM,
    JUDGMENT,
    JUDGMENTS,
    QUESTION,
)
from core.items.rows import Row, RowReader, column_errors, id_text
from core.languages import normalise_language
from core.settings import REFERENCE_CONDITION
from core.types import Item, Problem, Role

LABELS = ("category", "dimension", "resource_level")
TEXTS = ("id", "context", "stereotype", "anti_stereotype")
KEY = ("base_id", "language")
NATIVE_LAYER = "B"
SOURCES = {"ss": "stereoset", "bbq": "bbq"}  # by the beginning of published ids
FORMS = {"stereoset": FILL_IN, "bbq": QUESTION}  # by source; others continue their context
_UNCHANGED = ("", "none", "original", "-1")  # what files write where nothing was reworded


def looks_multilingual(table: Table) -> bool:
    """Whether a table's columns are those of the audit's items or of its rewordings."""
    columns = set(table.columns)
    return set(TEXTS) <= columns and (set(KEY) <= columns or "pivot" in columns)


def read_multilingual(table: Table, options: ReadOptions) -> tuple[list[Row], list[Problem]]:
    """Turn rows into items; every problem of every row is reported."""
    problems = list(column_errors(table, TEXTS))
    if problems:
        return [], problems
    rounds = _rounds_of_pivots(table)
    rows, unproven = [], set()
    for record in table.records:
        reader = _AuditReader(record, rounds)
        item = reader.item_with(options.labels)
        rows.append(Row(reader.place, item))
        problems += reader.problems
        if item is not None and item.item_id not in options.labels:
            unproven.add(item.source)
    if unproven & set(FORMS) and not options.labels:
        message = (
            f"The roles of {' and '.join(sorted(unproven & set(FORMS)))} items are taken as the "
            "file has them; the published file has them wrong, --labels names corrections."
        )
        problems.append(table.place.note("roles_as_given", message))
    return rows, problems


def _rounds_of_pivots(table: Table) -> Mapping[str, set[str]]:
    rounds: dict[str, set[str]] = defaultdict(set)
    for record in table.records:
        rounds[_word(record.values.get("pivot"))].add(_round(record.values))
    return rounds


def _round(values: Mapping[str, Any]) -> str:
    """The round that a row names, or the list that it stands in if that has a number."""
    name = values.get(JSON_LIST)
    listed = name if isinstance(name, str) and name.isdecimal() else None
    return _word(values.get("round", listed))


def _word(value: Any) -> str:
    """A round or pivot in small letters, "" for none."""
    word = id_text(value).strip().casefold()
    return "" if word in _UNCHANGED else word


def _language(code: str) -> str | None:
    try:
        return normalise_language(code)
    except InputError:
        return None


class _AuditReader(RowReader):
    """Reads one row and collects what is wrong or remarkable in it."""

    def __init__(self, record: Record, rounds: Mapping[str, set[str]]) -> None:
        self.raw_id = id_text(record.values.get("id"))
        base, _, code = self.raw_id.rpartition("_")
        self.given = [id_text(record.values.get(name)).strip() for name in KEY]
        super().__init__(record, self.given[0] or base)
        self.language = _language(self.given[1] or code)
        self.condition = self._condition(rounds)
        self.place = record.place.of(self.item_id, self.condition)
        self.subject = f"Item {self.raw_id!r}"
        self._check_id()

    def _condition(self, rounds: Mapping[str, set[str]]) -> str:
        if self.language is None:
            return ""
        pivot, number = _word(self.values.get("pivot")), _round(self.values)
        word = _language(pivot) or pivot
        if not word:
            word = f"r{number}" if number.isdecimal() else number
        elif len(rounds[pivot]) > 1:
            word = f"{word}.{number}"
        try:
            return normalise_condition(f"{self.language}~{word}" if word else self.language)
        except InputError as error:
            self.error("unknown_condition", f"Item {self.raw_id!r}: {error}")
            return ""

    def _check_id(self) -> None:
        """An id, base_id and language that disagree leave open which item the row is of."""
        base, language = self.given
        if language and self.language is None:
            message = f"{self.subject} has {language!r} as its language, which is no known code."
            self.error("unknown_language", message)
            return
        code = self.raw_id.removeprefix(f"{self.item_id}_").partition("_")[0]
        agrees = self.raw_id.startswith(f"{self.item_id}_") and _language(code) == self.language
        if self.item_id and (self.language is None or not agrees):
            said = f"base_id {base!r} and language {language!r}" if base else "no base_id"
            message = f"{self.subject} has {said}; write <base_id>_<language> as its id."
            self.error("bad_id", message)

    def item_with(self, labels: Mapping[str, Mapping[str, str] | None]) -> Item | None:
        """The item, its roles corrected; None for one to leave out or with an error."""
        fields = labels.get(self.item_id, dict(zip(FIELDS, FIELDS, strict=True)))
        if fields is None:
            message = f"{self.subject} is left out, as the label file says."
            self.note("left_out_by_labels", message)
            return None
        source = self.label("source") or SOURCES.get(self.item_id.partition("_")[0], "")
        form = FORMS.get(source, CONTINUATION)
        context, texts = self.text("context"), self._texts(fields)
        native = self.label("layer") == NATIVE_LAYER
        metadata = self._metadata(native, form, context)
        category, dimension, resource_level = (self.label(name) for name in LABELS)
        if self.failed:
            return None
        third, is_question = texts[Role.UNRELATED], form == QUESTION
        return Item(
            item_id=self.item_id,
            condition=self.condition,
            context=context,
            stereotype=texts[Role.STEREOTYPE] or "",
            anti_stereotype=texts[Role.ANTI_STEREOTYPE] or "",
            unrelated=None if is_question else third,
            unknown=third if is_question else None,
            category=category,
            dimension=dimension,
            resource_level=resource_level,
            language=self.language or "",
            source=source,
            native=native,
            metadata=metadata,
        )

    def _texts(self, fields: Mapping[str, str]) -> dict[str, str | None]:
        """The text of every role; only the third may be missing, and only in its own field."""
        texts: dict[str, str | None] = {}
        for role, field in fields.items():
            absent = self.values.get(field) in (None, "")
            optional = role == field == Role.UNRELATED
            texts[role] = None if optional and absent else self.sentence(field)
        return texts

    def _metadata(self, native: bool, form: str, context: str) -> dict[str, Any]:
        columns = (*TEXTS, *KEY, *FIELDS, *LABELS, "source")
        english = {f"{name}_en" for name in ("context", *FIELDS)}
        without = {*columns, JSON_LIST, JUDGMENT, *(() if native else english)}
        metadata = {FORM: form, **self.metadata(without)}
        judgment = self.label(JUDGMENT).casefold()
        if judgment and judgment not in JUDGMENTS:
            message = f"{self.subject} has the judgment {judgment!r}; write {_either(JUDGMENTS)}."
            self.error("bad_judgment", message)
        if judgment:
            metadata[JUDGMENT] = judgment
        if form == FILL_IN and self.language != REFERENCE_CONDITION and not native:
            metadata.setdefault(BLANK_SURVIVED, BLANK in context)
        return metadata


def _either(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


LAYOUT = Layout(
    "lost-in-translation",
    "Lost in Translation (multilingual audit)",
    looks_multilingual,
    read_multilingual,
    frozenset({"labels"}),
)

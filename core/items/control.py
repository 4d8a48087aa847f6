"""Sentences put in front of every context: the positive control's four arms as conditions.

After "Lost in Translation" (arXiv 2610.20479): none, a neutral sentence of the same length, one
that calls stereotypes true, one that calls them false. `en` becomes `en+neutral`, `en+true`,
`en+false`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.files.reading import read_files
from core.files.tables import read_table
from core.items.conditions import Condition, parse_condition
from core.items.formats.native import COLUMNS as SCHEMA
from core.items.formats.native import LABELS, METADATA
from core.settings import ROOT
from core.types import Item

CONTROL_TEXTS = ROOT / "data" / "control"
COLUMNS = ("condition", "arm", "text")

Arms = Mapping[str, Mapping[str, str]]  # condition -> arm -> sentence
LENGTH_APART = 0.25  # of the neutral sentence's characters; the shipped ones are within a tenth
NO_CONTEXT = "No item of {} has a context, and a sentence can only be put in front of one."


def read_arms(path: Path = CONTROL_TEXTS) -> dict[str, dict[str, str]]:
    """Sentences by condition and arm, from a file or a folder of files.

    Raises
    ------
    InputError
        Nothing is there, or a row lacks a column, repeats an arm or cannot be a prefix.
    """
    arms: dict[str, dict[str, str]] = {}
    for file in read_files(path)[0]:
        table = read_table(file)
        for record in table.records:
            values = [record.values.get(name) for name in COLUMNS]
            if not all(isinstance(value, str) and value.strip() for value in values):
                raise InputError(f"{record.place}: every row needs {', '.join(COLUMNS)} as texts.")
            condition, arm, text = map(str, values)
            version = parse_condition(f"{condition}+{arm}")
            base, prefix = str(replace(version, prefix="")), version.prefix
            if prefix in arms.setdefault(base, {}):
                raise InputError(f"{record.place}: {base} has two sentences for the arm {prefix}.")
            arms[base][prefix] = text.strip()
    return arms


def arms_as_texts(arms: Arms) -> list[str]:
    """Sentences as one text each: en+true=Stereotypes are true."""
    return [f"{c}+{arm}={text}" for c, texts in arms.items() for arm, text in texts.items()]


def arms_from_texts(texts: Sequence[str]) -> dict[str, dict[str, str]]:
    """Sentences by condition and arm, from texts as `arms_as_texts` writes them.

    Raises
    ------
    InputError
        A text is not CONDITION+ARM=SENTENCE, its sentence is empty, or an arm is there twice.
    """
    arms: dict[str, dict[str, str]] = {}
    for written in texts:
        name, equals, sentence = written.partition("=")
        version = parse_condition(name.strip()) if equals else Condition("")
        if not version.prefix:
            raise InputError(
                f"{written!r} is not a condition, an arm and a sentence: en+true=Text."
            )
        base, text = str(replace(version, prefix="")), " ".join(sentence.split())
        if not text:
            raise InputError(f"The sentence of {version} is empty; write one, or leave {base} out.")
        if version.prefix in arms.setdefault(base, {}):
            raise InputError(f"{version} has two sentences; leave one out.")
        arms[base][version.prefix] = text
    return arms


def with_control(items: Sequence[Item], arms: Arms, *, anew: bool = False) -> list[Item]:
    """The items, and behind them a version of each for every sentence of its condition.

    Natives and versions that have a sentence in front already get none. A version that is there
    already stays as it is, or with `anew` goes, so that every version has the sentence given here.

    Raises
    ------
    InputError
        No item is of a condition that has sentences, or none of these has a context.
    """
    if anew:
        made = {f"{c}+{arm}" for c, texts in arms.items() for arm in texts}
        items = [item for item in items if item.condition not in made]
    check_arms(items, arms)
    held = {(item.item_id, item.condition) for item in items}
    new = [
        version
        for item in items
        if not item.native
        for arm, text in arms.get(item.condition, {}).items()
        if (version := _prefixed(item, arm, text)) and (item.item_id, version.condition) not in held
    ]
    return [*items, *new]


def check_arms(items: Sequence[Item], arms: Arms) -> None:
    """Refuse sentences that cannot be put in front of any of these items.

    Raises
    ------
    InputError
        No item is of a condition that has sentences, or none of these has a context.
    """
    bases = [item for item in items if not item.native and item.condition in arms]
    if not bases:
        raise InputError(
            f"There are sentences for {', '.join(arms) or 'no condition'}, and no item of such a "
            "condition; give sentences for the conditions of the data set."
        )
    if not any(item.context for item in bases):
        raise InputError(NO_CONTEXT.format(", ".join(arms)))


def length_notes(arms: Arms) -> list[str]:
    """Which sentences differ in length from the neutral one of their condition by over a quarter.

    Of code points. Any sentence in front moves scores, a longer one perhaps more, so that beside
    such a neutral one what a sentence says is not told apart from how long it is.
    """
    notes = []
    for condition, texts in arms.items():
        least = len(texts.get("neutral", ""))
        for arm, text in texts.items():
            if least and abs(len(text) - least) > LENGTH_APART * least:
                notes.append(
                    f"The sentence of {condition}+{arm} has {len(text)} characters and the neutral "
                    f"one {least}: so far apart, what it does may be its length; write them alike."
                )
    return notes


def as_jsonl(items: Sequence[Item]) -> str:
    """Items as JSON Lines in the program's own schema, which the command import reads.

    All metadata of an item of which some are named like a column stand in the column `metadata`.
    """
    return "".join(json.dumps(_row(item), ensure_ascii=False) + "\n" for item in items)


def _row(item: Item) -> dict[str, Any]:
    texts = {"context": item.context} | {str(r): t for r, t in item.continuations().items()}
    labels = {name: getattr(item, name) for name in ("language", *LABELS) if getattr(item, name)}
    row: dict[str, Any] = {"item_id": item.item_id, "condition": item.condition} | texts | labels
    if item.native:
        row["native"] = True
    if item.answer_order:
        row["answer_order"] = [str(role) for role in item.answer_order]
    if not item.metadata.keys().isdisjoint(SCHEMA):
        return row | {METADATA: item.metadata}
    return row | item.metadata


def _prefixed(item: Item, arm: str, text: str) -> Item:
    version = parse_condition(item.condition)
    condition = str(Condition(version.language, version.rewording, arm))
    context = f"{text} {item.context}" if item.context else text
    return replace(item, condition=condition, context=context)

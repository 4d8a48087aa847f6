"""Blanks of fill-in items, in whatever layout they are read: errors of originals, and notes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import DataSetError
from core.items.report import read_dataset

Values = dict[str, Any]


def row(context: str, condition: str = "en", words: tuple[str, str] = ("he", "she")) -> Values:
    stereotype, anti = (context.replace("BLANK", word) for word in words)
    texts = {"context": context, "stereotype": stereotype, "anti_stereotype": anti}
    return {"item_id": "a", "condition": condition, **texts, "form": "fill_in"}


def kinds(folder: Path, *rows: Values) -> list[str]:
    """The kinds of problem about blanks, of a reading that is refused or not."""
    path = folder / "items.jsonl"
    path.write_text("".join(f"{json.dumps(values)}\n" for values in rows), encoding="utf-8")
    try:
        problems = read_dataset(path).problems
    except DataSetError as error:
        problems = error.problems
    return [f"{p.severity}:{p.kind}" for p in problems if p.kind.startswith("blank")]


APART = row("The BLANK nurse was BLANK.") | {"stereotype": "The old nurse was late."}


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (row("The nurse said that BLANK left."), []),
        (row("The nurse, as BLANK, left."), []),
        (row("The nurse left."), ["error:blank_missing"]),
        (row("... BLANK."), ["error:blank_alone"]),
        (APART, ["error:blanks_differ", "note:blank_twice"]),
        (row("The preBLANK nurse."), ["error:blank_in_word", "note:blank_glued"]),
        (row("BLANK was a nurse."), ["note:blank_at_start"]),
        (row("The nurse is BLANK and stays BLANK."), ["note:blank_twice"]),
        (row("The nurse BLANKed."), ["note:blank_glued"]),
        (row("The nurse left.BLANK"), ["note:blank_glued"]),
    ],
)
def test_what_no_original_may_have_is_an_error_and_the_rest_is_noted(
    tmp_path: Path, values: Values, found: list[str]
) -> None:
    assert sorted(kinds(tmp_path, values)) == sorted(found)


@pytest.mark.parametrize("written", ["c\u00adold", "co\u200bld", "COLD", "\uff43old"])
def test_several_blanks_may_hold_one_word_in_other_characters(tmp_path: Path, written: str) -> None:
    values = row("Cold is BLANK, cold is BLANK.") | {
        "stereotype": f"{written} is he, cold  is he.",
        "anti_stereotype": "Cold is she, cold is s\u00adhe.",
    }
    assert kinds(tmp_path, values) == ["note:blank_twice"]


def test_a_translation_keeps_what_became_of_its_blank(tmp_path: Path) -> None:
    english = row("The nurse said that BLANK left.")
    lost = row("La enfermera se fue ayer.", "es") | {"anti_stereotype": "El enfermero se fue."}
    in_word = row("Muuguzi waBLANK ameondoka.", "sw")
    reworded = row("The nurse has left.", "en~p1") | {"anti_stereotype": "The nurse stays."}
    assert kinds(tmp_path, english, lost, in_word, reworded) == [
        "note:blank_lost",
        "note:blank_glued",
        "note:blank_lost",
    ]


@pytest.mark.parametrize(
    ("context", "condition"),
    [("护士说BLANK走了。", "zh"), ("간호사는 BLANK이 갔다고 했다.", "ko"), ("พยาบาลBLANKไป", "th")],
)
def test_scripts_without_spaces_have_no_glued_blanks(
    tmp_path: Path, context: str, condition: str
) -> None:
    english = row("The nurse said that BLANK left.")
    assert kinds(tmp_path, english, row(context, condition)) == []


def test_items_of_other_forms_need_no_blank(tmp_path: Path) -> None:
    assert kinds(tmp_path, row("The nurse left.") | {"form": "continuation"}) == []

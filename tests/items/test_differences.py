"""Pairs that differ in more than the word they are about, and languages mixed in a condition."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import DataSetError
from core.items.differences import beyond_the_blank, blanks_in, differing_places
from core.items.report import read_dataset
from core.types import Item
from tests.items.test_read import only, read, row, write_jsonl


def pair(more: str, less: str) -> Item:
    return Item(item_id="a", condition="en", context="", stereotype=more, anti_stereotype=less)


def fill_in(context: str, more: str, less: str) -> Item:
    return Item(
        item_id="a",
        condition="en",
        context=context,
        stereotype=more,
        anti_stereotype=less,
        metadata={"form": "fill_in"},
    )


@pytest.mark.parametrize(
    ("more", "less", "n"),
    [
        ("The poor man left.", "The rich man left.", 1),
        ("The man left his bag.", "The woman left her bag.", 2),
        ("Poor people lie.", "Rich people lie!", 2),
        ("the man left", "The man left", 0),
        ("The old and frail man left.", "The young man left.", 1),
        ("He said so, he did.", "She said so, she did.", 2),
        ("He left.", "She left, he said.", 2),
    ],
)
def test_places_in_which_two_sentences_differ_are_counted(more: str, less: str, n: int) -> None:
    assert differing_places(pair(more, less)) == differing_places(pair(less, more)) == n


@pytest.mark.parametrize(
    ("context", "more", "less", "poles"),
    [
        ("The BLANK left.", "The man left.", "The woman left.", []),
        ("BLANK left.", "He left.", "she  left.", []),  # case and white space do not count
        ("The BLANK left.", "The man left.", "A woman left.", ["anti_stereotype"]),
        ("The BLANK left.", "Man gone.", "Woman goes.", ["stereotype", "anti_stereotype"]),
        ("他说BLANK。", "他说好。", "他说坏。", []),
        ("The ____ left.", "The man left.", "The woman stayed.", ["anti_stereotype"]),
        ("No gap here.", "The man left.", "The woman left.", []),  # nothing can be said
        ("ab BLANK ba", "ab ba", "ab x ba", []),
        ("aba BLANK aba", "aba", "aba x aba", ["stereotype"]),  # not one text at both ends
    ],
)
def test_poles_that_differ_beyond_the_blank(context, more, less, poles) -> None:
    assert beyond_the_blank(fill_in(context, more, less)) == poles


def test_blanks_are_found_in_every_way_of_writing_them() -> None:
    assert [blanks_in(t) for t in ("a BLANK", "说BLANK。", "__ and ____", "a [MASK] b", "a_b")] == [
        1, 1, 2, 1, 0,
    ]  # fmt: skip
    assert blanks_in("a blank stare, a BLANKET") == 0


def test_what_differs_elsewhere_is_noted_by_row(tmp_path: Path) -> None:
    twice = row("pair", context="", stereotype="He ate his bread.", anti_stereotype="She ate hers.")
    gap = row(
        "gap",
        context="The BLANK ran.",
        stereotype="The man ran.",
        anti_stereotype="A woman ran.",
        form="fill_in",
    )
    report = read(tmp_path, row("fine"), twice, gap)
    found = [(p.kind, p.row, p.item_id) for p in report.problems]
    assert found == [("differs_elsewhere", 2, "pair"), ("differs_elsewhere", 3, "gap")]
    assert "in anti_stereotype." in report.problems[1].message


def test_texts_with_hardly_anything_in_them_are_noted(tmp_path: Path) -> None:
    texts = {"context": "A BLANK.", "stereotype": "A man.", "anti_stereotype": "A woman."}
    blank = row("b", **texts, form="fill_in")
    report = read(tmp_path, row("fine"), row("a", unrelated="…"), blank)
    assert [(p.kind, p.row) for p in report.problems] == [("near_empty", 2), ("near_empty", 3)]
    assert "unrelated" in report.problems[0].message and "context" in report.problems[1].message


def test_invisible_characters_are_noted_with_their_codes(tmp_path: Path) -> None:
    report = read(tmp_path, row("a", context="The nur\u200bse\u00ad left."))
    message = only(report.notes, "invisible_character").message
    assert "in context: U+00AD, U+200B." in message


HINDI = {"context": "नर्स कमरे से बाहर गई।", "stereotype": "वह दौड़ी।", "anti_stereotype": "वह दौड़ा।"}
ARABIC = {"context": "غادرت الممرضة الغرفة.", "stereotype": "ركضت هي", "anti_stereotype": "ركض هو"}


def mixed_rows() -> list[dict[str, object]]:
    english = [row(f"i{n}", context=f"The nurse left room {n}.") for n in range(4)]
    hindi = [row(f"i{n}", "hi", **HINDI | {"context": f"{HINDI['context']} {n}"}) for n in range(3)]
    return [*english, *hindi, row("i3", "hi", **ARABIC)]


def test_languages_mixed_in_one_condition_are_refused_by_row(tmp_path: Path) -> None:
    with pytest.raises(DataSetError) as caught:
        read(tmp_path, *mixed_rows())
    (error,) = caught.value.problems
    assert (error.kind, error.row, error.item_id) == ("mixed_languages", 8, "i3")
    assert "in Arabic letters, while hi is Hindi" in error.message


def test_read_leniently_a_row_in_another_language_is_left_out(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", mixed_rows())
    report = read_dataset(path, lenient=True)
    assert [p.row for p in report.left_out] == [8]
    assert len(report.items) == 7


def test_a_condition_in_another_script_as_a_whole_is_only_noted(tmp_path: Path) -> None:
    romanised = {"context": "Nars kamre se bahar gayi.", "anti_stereotype": "Vah"}
    rows = [row(f"i{n}", "hi", **romanised | {"stereotype": f"Vah daudi {n}"}) for n in range(3)]
    english = [row(f"i{n}", context=f"Room {n}.") for n in range(3)]
    report = read(tmp_path, *english, *rows)
    message = only(report.notes, "other_script").message
    assert message == "3 of 3 rows of hi are in Latin letters."

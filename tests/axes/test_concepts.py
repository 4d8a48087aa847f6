"""Lists of concepts: the two that come with the program, one's own, and what is refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from core.axes.concepts import GROUPS, Concept, concept_prompt, read_concepts
from core.errors import DataSetError, InputError
from core.types import Problem


def write(folder: Path, *lines: str, name: str = "mine.csv") -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def refused(folder: Path, *lines: str) -> tuple[Problem, ...]:
    with pytest.raises(DataSetError) as caught:
        read_concepts(write(folder, *lines))
    return caught.value.problems


def test_the_25_groups_have_the_published_majorities() -> None:
    groups = read_concepts(GROUPS["groups25"])
    assert (groups.concepts.name, groups.concepts.language, groups.notes) == ("groups25", "en", ())
    concepts = groups.concepts.concepts
    warmth = Counter(concept.warmth for concept in concepts)
    competence = Counter(concept.competence for concept in concepts)
    assert len(concepts) == 25
    # The majority baselines of the paper: .68 and .56.
    assert max(warmth.values()) / 25 == 0.68
    assert max(competence.values()) / 25 == 0.56
    assert Concept("Grandfather", None, 1, -1) in concepts


def test_the_50_groups_have_their_frequencies_as_printed() -> None:
    concepts = read_concepts(GROUPS["groups50"]).concepts.concepts
    assert len(concepts) == 50
    assert concepts[0] == Concept("women", 5.57)
    assert concepts[-1] == Concept("agnostics", 2.38)
    assert all(c.zipf is not None and c.warmth is None and c.competence is None for c in concepts)


def test_one_s_own_list(tmp_path: Path) -> None:
    lines = ["text,warmth,competence,remark", " night  owls ,1,-1,x", "larks,,+1,", "gnus,-1.0,,"]
    read = read_concepts(write(tmp_path, *lines), language="eng")
    assert read.concepts.name == "mine"
    assert read.concepts.concepts == (
        Concept("night owls", None, 1, -1),
        Concept("larks", None, None, 1),
        Concept("gnus", None, -1, None),
    )
    (note,) = read.notes
    assert (note.kind, "remark" in note.message) == ("column_ignored", True)


def test_numbers_of_json_lines_are_labels_too(tmp_path: Path) -> None:
    lines = ['{"text": "a", "warmth": 1, "zipf": 4.5}', '{"text": "b", "warmth": null}']
    read = read_concepts(write(tmp_path, *lines, name="mine.jsonl"))
    assert read.concepts.concepts == (Concept("a", 4.5, 1), Concept("b"))


def test_the_language_of_a_list_is_kept(tmp_path: Path) -> None:
    read = read_concepts(write(tmp_path, "text", "dokters", "zusters"), language="nl-NL")
    assert read.concepts.language == "nl"
    with pytest.raises(InputError, match="'xx' does not begin with a known language code"):
        read_concepts(write(tmp_path, "text", "dokters", "zusters"), language="xx")


@pytest.mark.parametrize("label", ["0", "2", "0.5", "warm", "nan", "-1.5", "true"])
def test_a_label_is_one_of_two(tmp_path: Path, label: str) -> None:
    (problem,) = refused(tmp_path, "text,warmth", f"larks,{label}", "gnus,1")
    assert problem.row == 2
    assert problem.message == (
        f"warmth is {label!r}; write 1, -1, or nothing where it is not known."
    )


def test_true_is_no_label_in_json_lines_either(tmp_path: Path) -> None:
    path = write(tmp_path, '{"text": "a", "warmth": true}', '{"text": "b"}', name="mine.jsonl")
    with pytest.raises(DataSetError, match="warmth is 'True'; write 1, -1"):
        read_concepts(path)


@pytest.mark.parametrize("value", ["0", "-3", "nan", "inf", "often"])
def test_a_frequency_is_a_number(tmp_path: Path, value: str) -> None:
    (problem,) = refused(tmp_path, "text,zipf", f"larks,{value}", "gnus,3.2")
    assert problem.message == (
        f"zipf is {value!r}; write a number above 0 and below 9, or nothing."
    )


def test_every_wrong_row_is_named(tmp_path: Path) -> None:
    lines = ["text,warmth", "larks,1", ",1", "Larks,-1", "gnus,7", "caf\u00e9s,1", "cafe\u0301s,1"]
    found = {problem.row: problem.message for problem in refused(tmp_path, *lines)}
    assert set(found) == {3, 4, 5, 7}
    assert found[3] == "The row has no text; write the concept or leave the row out."
    assert found[4] == "'Larks' is in row 2 already; leave one of them out."


def test_a_phrase_of_absurd_length_is_refused_and_cut_in_the_message(tmp_path: Path) -> None:
    whole = "x" * 200
    (problem,) = refused(tmp_path, "text", "Nurses", whole, f"{whole}y")
    assert (problem.row, len(problem.message) < 100) == (4, True)
    assert "text has 201 characters" in problem.message


def test_one_concept_is_too_few(tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, "text", "larks")
    assert problem.message == (
        "There is only one concept; values are standardised over at least two."
    )


def test_a_file_without_the_column_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match="Missing columns: text; the file has concept"):
        read_concepts(write(tmp_path, "concept", "larks", "gnus"))


def test_the_prompt_is_the_published_one() -> None:
    assert concept_prompt("poor people") == (
        "Provide the best description of poor people using adjectives."
    )

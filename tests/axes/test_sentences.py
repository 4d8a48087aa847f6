"""Probe sentences: templates, the draw of adjectives, and axes that are added later."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from core.axes.axis import Pole, user_pole
from core.axes.sentences import probe_sentences
from core.axes.templates import (
    FAMILIES,
    N_TEMPLATES,
    TEMPLATES,
    Templates,
    built_in_templates,
    read_templates,
)
from core.errors import DataSetError, InputError

QUICK = Pole("quick.a.01", 100, ("quick", "swift"), "doing much in little time")
FIRST = {
    "simple": "{ADJ} means: {DEF}.",
    "listing": "List adjectives similar to {ADJ}, in the sense of {DEF}.",
}


def templates_file(folder: Path, **changed: str) -> Path:
    """The program's templates in a file, with the texts of some named as `simple_3`."""
    with TEMPLATES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    path = folder / "templates.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["family", "number", "text"])
        for row in rows:
            text = changed.get(f"{row['family']}_{row['number']}", row["text"])
            writer.writerow([row["family"], row["number"], text])
    return path


# --- templates ------------------------------------------------------------------------------


def test_each_family_has_thirty_different_templates() -> None:
    templates = built_in_templates()
    assert tuple(templates) == FAMILIES
    texts = [text for family in FAMILIES for text in templates[family]]
    assert len(set(texts)) == len(texts) == 2 * N_TEMPLATES == 60
    assert {family: templates[family][0] for family in FAMILIES} == FIRST
    # The article would have to fit the adjective.
    assert not any(re.search(r"\ban? \{ADJ\}", text) for text in texts)
    assert all(text.count("{ADJ}") >= 1 and text.count("{DEF}") == 1 for text in texts)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"simple_3": "It is so: {DEF}."}, r"row 4: The template has no \{ADJ\}"),
        ({"listing_1": "Some words like {ADJ}."}, r"row 32: The template has no \{DEF\}"),
        ({"simple_2": "{ADJ} means: {DEF}."}, "row 3: The row has the number or the text"),
        ({"simple_2": ""}, r"row 3: The template has no \{ADJ\}"),
    ],
)
def test_a_wrong_template_is_named(tmp_path: Path, changed: dict[str, str], message: str) -> None:
    with pytest.raises(DataSetError, match=message):
        read_templates(templates_file(tmp_path, **changed))


def test_missing_numbers_and_families_are_named(tmp_path: Path) -> None:
    path = templates_file(tmp_path)
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:15] + lines[16:]), "utf-8")
    with pytest.raises(DataSetError, match="family simple lacks the templates 15"):
        read_templates(path)
    path.write_text("".join(lines).replace("listing,1,", "lists,1,"), "utf-8")
    with pytest.raises(DataSetError, match="'lists' is not a family; write simple or listing"):
        read_templates(path)
    path.write_text("".join(lines).replace("simple,7,", "simple,31,"), "utf-8")
    with pytest.raises(DataSetError, match="'31' is not a number from 1 to 30"):
        read_templates(path)


# --- sentences ------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_a_sentence_per_template_in_their_order(family: str) -> None:
    sentences = probe_sentences(QUICK, family)
    assert len(sentences) == N_TEMPLATES
    for sentence, template in zip(sentences, built_in_templates()[family], strict=True):
        filled = {
            template.replace("{DEF}", QUICK.definition).replace("{ADJ}", lemma)
            for lemma in QUICK.lemmas
        }
        assert sentence in filled
    assert {word for word in QUICK.lemmas if any(word in s for s in sentences)} == {
        "quick",
        "swift",
    }


def test_the_draw_is_the_one_that_was_stored() -> None:
    """Changing the hash would change every sentence of every axis computed so far."""
    # By hand: blake2b of "42|100|simple|1" and so on, 8 bytes, odd for the second adjective.
    drawn = ["".join("qs"["swift" in s] for s in probe_sentences(QUICK, f)) for f in FAMILIES]
    assert drawn == ["qssqsqsqqsqqssssqqsssssqssssqs", "sqssqqqsqqsqqqsqsqqsssssssqsss"]


def test_sentences_depend_on_nothing_but_the_pole() -> None:
    before = {family: probe_sentences(QUICK, family) for family in FAMILIES}
    for offset in range(101, 140):
        probe_sentences(Pole(f"other.a.{offset}", offset, ("other", "such"), "more"), "simple")
    assert {family: probe_sentences(QUICK, family) for family in FAMILIES} == before
    # The name does not matter, the offset does.
    renamed = Pole("rapid.a.01", QUICK.offset, QUICK.lemmas, QUICK.definition)
    assert probe_sentences(renamed, "simple") == before["simple"]
    moved = Pole("quick.a.01", 101, QUICK.lemmas, QUICK.definition)
    assert probe_sentences(moved, "simple") != before["simple"]


def test_every_adjective_is_drawn_about_equally_often() -> None:
    words = ("one", "two", "three")
    counts: Counter[str] = Counter()
    for offset in range(400):
        sentences = probe_sentences(Pole("x.a.01", offset, words, "def"), "simple")
        counts.update(word for s in sentences for word in words if re.search(rf"\b{word}\b", s))
    # 12,000 draws; "one" and "word" also stand in templates, so only the other two are compared.
    assert abs(counts["two"] - 4000) < 300
    assert abs(counts["three"] - 4000) < 300


def test_published_draws_pairs_of_template_and_adjective() -> None:
    wide = Pole("wide.a.01", 500, ("wide", "broad", "ample", "roomy"), "having room")
    sentences = probe_sentences(wide, "simple", published=True)
    assert len(set(sentences)) == N_TEMPLATES
    assert sentences == probe_sentences(wide, "simple", published=True)
    possible = {
        template.replace("{DEF}", wide.definition).replace("{ADJ}", lemma): number
        for number, template in enumerate(built_in_templates()["simple"])
        for lemma in wide.lemmas
    }
    used = Counter(possible[sentence] for sentence in sentences)
    assert len(used) < N_TEMPLATES  # some templates twice, others never
    single = Pole("lone.a.01", 501, ("lone",), "by itself")
    published = probe_sentences(single, "simple", published=True)
    assert set(published) == set(probe_sentences(single, "simple"))


def test_without_a_definition_the_word_itself_stands_for_it() -> None:
    first = probe_sentences(user_pole(("bold",)), "listing")[0]
    assert first == "List adjectives similar to bold, in the sense of bold."


def test_texts_are_put_in_once(tmp_path: Path) -> None:
    pole = user_pole(("so {DEF}",), "like {ADJ}, {0} and \\1")
    assert probe_sentences(pole, "simple")[0] == "so {DEF} means: like {ADJ}, {0} and \\1."


def test_own_templates_are_used(tmp_path: Path) -> None:
    own: Templates = read_templates(templates_file(tmp_path, simple_1="So {ADJ} is {DEF}!"))
    lone = Pole("lone.a.01", 501, ("lone",), "by itself")
    assert probe_sentences(lone, "simple", templates=own)[0] == "So lone is by itself!"


def test_an_unknown_family_is_refused() -> None:
    with pytest.raises(InputError, match="'plain' is not a family of templates"):
        probe_sentences(QUICK, "plain")

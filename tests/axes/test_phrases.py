"""Reference phrases: as printed, as frequent, of the same form, and what has no match."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.axes.concepts import GROUPS, Concept, ConceptSet, read_concepts
from core.axes.frequency import zipf
from core.axes.people import match_people, pluralised
from core.axes.phrases import match_phrases, published_reference
from core.axes.wordnet import WordNet, open_wordnet
from core.errors import InputError
from tests.tiny_wordnet import Made, real_wordnet, write_wordnet


def concepts_of(*texts: str, language: str = "en") -> ConceptSet:
    return ConceptSet("some", tuple(map(Concept, texts)), language)


@pytest.fixture
def wordnet(tmp_path: Path) -> WordNet:
    return open_wordnet(write_wordnet(tmp_path))


# --- as printed -----------------------------------------------------------------------------


def test_the_published_phrases_have_the_zipf_that_wordfreq_computes() -> None:
    """So frequencies of several words are combined as the paper did; "figure" is printed lower."""
    phrases = published_reference()
    assert (phrases.name, len(phrases.concepts)) == ("reference50", 50)
    differ = [p.text for p in phrases.concepts if p.zipf != zipf(p.text)]
    assert differ == ["figure"]


def test_the_published_groups_have_the_zipf_of_their_rarest_word() -> None:
    """Which is not how the frequencies of the phrases that they were matched with are computed."""
    for concept in read_concepts(GROUPS["groups50"]).concepts.concepts:
        values = [zipf(word) for word in concept.text.split()]
        assert concept.zipf == min(value for value in values if value is not None)


def test_words_combine_to_a_little_less_than_the_rarest() -> None:
    words = [zipf("country"), zipf("house")]
    frequency = 1 / sum(1 / 10**value for value in words if value is not None)
    together = zipf("country house")
    assert together is not None
    assert 10**together == pytest.approx(frequency, rel=0.02)
    assert zipf("qzxwvq house") is None


# --- as frequent ----------------------------------------------------------------------------


def words(*lemmas: str, gloss: str = "a thing", first: int = 2000) -> list[Made]:
    return [Made(first + n, "n", (lemma,), gloss) for n, lemma in enumerate(lemmas)]


def test_phrases_are_as_frequent_as_their_concepts(tmp_path: Path) -> None:
    """Within 0.1 of nurses, 4.14, are three; chair and oxygen are not."""
    near = {"elderly": 4.15, "protocol": 4.15, "spread eagle": 4.05}
    assert {word: zipf(word) for word in near} == near
    nouns = words("protocol", "spread_eagle", "elderly", "chair", "oxygen", "nurses")
    wordnet = open_wordnet(write_wordnet(tmp_path, nouns=nouns))
    concepts = concepts_of("nurses")
    drawn = {seed: match_phrases(concepts, wordnet, seed=seed) for seed in range(30)}
    assert {reference.phrases.concepts[0].text for reference in drawn.values()} == set(near)
    assert drawn[3] == match_phrases(concepts, wordnet, seed=3)
    (match,) = drawn[3].matches
    assert match.phrase is not None
    assert match.phrase.zipf == near[match.phrase.text]
    assert drawn[3].phrases.name == "some-phrases"


def test_no_phrase_is_drawn_twice_and_what_is_left_over_is_said(tmp_path: Path) -> None:
    nouns = words("protocol", "elderly")
    wordnet = open_wordnet(write_wordnet(tmp_path, nouns=nouns))
    found = match_phrases(concepts_of("nurses", "Nurses!", "conservatives", "qzxwvq"), wordnet)
    texts = [phrase.text for phrase in found.phrases.concepts]
    assert sorted(texts) == ["elderly", "protocol"]
    assert [match.concept for match in found.unmatched] == ["conservatives", "qzxwvq"]
    assert found.unmatched[0].reason == (
        "Every phrase that matches (2) is taken, or a concept itself."
    )
    assert found.unmatched[1].reason == "A word of 'qzxwvq' is in no list of frequencies."


def test_a_set_without_any_match_is_refused(wordnet: WordNet) -> None:
    with pytest.raises(InputError) as caught:
        match_phrases(concepts_of("the", "of"), wordnet)
    assert str(caught.value) == (
        "No concept of some has a match: No noun phrase of WordNet is within 0.1 of Zipf 7.73."
    )


def test_insults_names_and_the_concepts_themselves_are_no_phrases(tmp_path: Path) -> None:
    """Four of these are as frequent as nurses, and one is neither an insult nor a name."""
    slur = Made(3000, "n", ("ethnic_slur",), "a slur on nobody")
    nouns = [
        slur,
        Made(3001, "n", ("protocol",), "of nobody", ((";u", 3000, "n"),)),
        Made(3002, "n", ("elderly",), "offensive term for nobody"),
        Made(3003, "n", ("Protocol's",), "a name"),
        Made(3004, "n", ("4th",), "a number"),
        Made(3005, "n", ("protocol", "spread_eagle"), "another sense of a word with a bad one"),
    ]
    wordnet = open_wordnet(write_wordnet(tmp_path, nouns=nouns))
    for seed in range(10):
        (phrase,) = match_phrases(concepts_of("nurses"), wordnet, seed=seed).phrases.concepts
        assert phrase.text == "spread eagle"


def test_concepts_in_another_language_are_refused(wordnet: WordNet) -> None:
    for match in (match_phrases, match_people):
        with pytest.raises(InputError, match="some is in nl; give phrases of that language"):
            match(concepts_of("dokters", "zusters", language="nl"), wordnet)


# --- of the same form -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("singular", "plural"),
    [
        ("baker", "bakers"),
        ("lady", "ladies"),
        ("boy", "boys"),
        ("boss", "bosses"),
        ("coach", "coaches"),
        ("fox", "foxes"),
        ("man", "men"),
        ("human", "humans"),
        ("poor person", "poor people"),
        ("cleaning-man", "cleaning-men"),
        ("night goose", "night geese"),
        ("lord of war", "lords of war"),
    ],
)
def test_plurals(singular: str, plural: str) -> None:
    irregular = {"man": "men", "goose": "geese", "lord of war": "lords of war"}
    assert pluralised(singular, irregular) == plural


def test_people_of_the_same_head_number_and_count(tmp_path: Path) -> None:
    people = ["cake_baker", "bread_baker", "night_bread_baker", "lord_of_war", "baker_of_war"]
    nouns = [
        Made(1000, "n", ("person",), "one of us", tuple(("~", 1600 + n, "n") for n in range(5))),
        *words(*people, first=1600),
        *words("lace_baker", "baker"),  # things
    ]
    wordnet = open_wordnet(write_wordnet(tmp_path, nouns=nouns))
    found = match_people(concepts_of("pie bakers", "Pie baker", "big pie bakers"), wordnet)
    texts = [match.phrase.text if match.phrase else "" for match in found.matches]
    assert texts[0] in ("cake bakers", "bread bakers")
    assert texts[1] in ("cake baker", "bread baker")
    assert texts[2] == "night bread bakers"
    assert found.phrases.name == "some-people"


def test_a_single_word_gets_an_equally_frequent_person(tmp_path: Path) -> None:
    """Within 0.1 of nurses 4.14 are conservatives 4.14 and activists 4.13, not doctors 4.55."""
    people = ("nurse", "conservative", "activist", "doctor", "protocol")
    hyponyms = tuple(("~", 1600 + n, "n") for n in range(4))
    nouns = [
        Made(900, "n", ("activist",), "a thing, which is the first sense"),
        Made(1000, "n", ("person",), "one of us", hyponyms),
        *words(*people, first=1600),
    ]
    wordnet = open_wordnet(write_wordnet(tmp_path, nouns=nouns))
    found = match_people(concepts_of("nurses", "gnus"), wordnet)
    (phrase,) = found.phrases.concepts
    assert (phrase.text, phrase.zipf) == ("conservatives", 4.14)
    (left,) = found.unmatched
    assert left.concept == "gnus"
    assert left.reason.startswith("No single word for people is within 0.1 of Zipf")


def test_what_has_no_person_of_its_form_is_said(wordnet: WordNet) -> None:
    """The folder holds the person "poor person"."""
    found = match_people(concepts_of("rich people", "gay people", "rich young people"), wordnet)
    assert [match.phrase and match.phrase.text for match in found.matches] == [
        "poor people",
        None,
        None,
    ]
    assert [match.reason for match in found.unmatched] == [
        "Every phrase that matches (1) is taken, or a concept itself.",
        "No word for people in WordNet has 3 words and the head 'people'.",
    ]
    with pytest.raises(InputError, match=r"Every phrase that matches \(1\) is taken, or a concept"):
        match_people(concepts_of("Poor people", "big mice"), wordnet)


def test_a_folder_without_persons_is_refused(tmp_path: Path) -> None:
    wordnet = open_wordnet(write_wordnet(tmp_path, nouns=words("chair")))
    with pytest.raises(InputError, match=r"has no synset person\.n\.01"):
        match_people(concepts_of("nurses"), wordnet)


def test_people_for_the_published_groups() -> None:
    """Four have no match in WordNet, and none of those got something else instead."""
    groups = read_concepts(GROUPS["groups50"]).concepts
    found = match_people(groups, real_wordnet())
    assert [match.concept for match in found.unmatched] == [
        "career women",
        "traditional women",
        "welfare recipients",
        "undocumented immigrants",
    ]
    assert len({phrase.text for phrase in found.phrases.concepts}) == 46
    for match in found.matches:
        if match.phrase is not None:
            concept, phrase = match.concept.lower().split(), match.phrase.text.split()
            assert len(phrase) == len(concept)
            assert len(concept) == 1 or phrase[-1] == concept[-1]

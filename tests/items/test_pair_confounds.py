"""Pairs that differ in more than the identity: found by identity and template, with and without
a template or surface forms in their metadata.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.files.places import Place
from core.items.pair_builder.build import build
from core.items.pair_builder.folder import read_folder
from core.items.pair_builder.plan import plan
from core.items.pair_confounds import (
    Confound,
    confound_notes,
    confounds,
    differing_words,
    is_confounded,
    templates_of,
)
from core.items.report import read_dataset
from core.settings import ROOT
from core.types import Item
from tests.winoqueer_nl import write_construction, write_csv

# An invented wording that Lesbisch has of its own; the published one is not known.
OTHERWISE = {
    "T3": ("Wij verwachten dat Lesbiennes", "Wij verwachten van Lesbische vrouwen dat ze"),
    "T4": ("De meeste mensen die Lesbisch zijn", "De meeste Lesbiennes"),
    "T5": ("Ik vind Lesbiennes niet leuk", "Ik vind Lesbische vrouwen niet leuk"),
    "T9": ("Niemand respecteert Lesbiennes", "Niemand heeft respect voor Lesbiennes"),
    "T10": ("Iedereen haat Lesbiennes", "Iedereen haat Lesbiennes echt"),
}
PREDICATES = [
    ("are cold", form, text, "Homo, Lesbisch, Transgender, LHBTI")
    for form, text in [
        ("main", "zijn kil"),
        ("verb_last", "kil zijn"),
        ("they", "ze kil zijn"),
        ("singular", "kil"),
    ]
]


def pair(more: str, less: str, *identities: str, **metadata: str) -> Item:
    identity, counterfactual = identities or ("Lesbian", "Straight")
    return Item(
        item_id="1",
        condition="en",
        context="",
        stereotype=more,
        anti_stereotype=less,
        metadata={"identity": identity, "counterfactual": counterfactual, **metadata},
    )


@pytest.mark.parametrize(
    ("more", "less", "identities"),
    [
        ("Lesbians are cold.", "Straight people are cold.", ()),
        ("Lesbians are cold.", "Lesbians are cold.", ()),
        ("I met a lesbian.", "I met a straight person.", ()),
        ("I met an asexual person.", "I met a straight person.", ("Asexual", "Straight")),
        ("Lesbische mensen zijn kil.", "Hetero's zijn kil.", ()),
        ("Veel lhbti-personen zijn kil.", "Veel cis personen zijn kil.", ("LGBTQ", "Cis")),
        ("Kit is queer en kil.", "Kit is cisgender en kil.", ("Queer", "Cisgender")),
        ("Veel transpersonen zijn kil.", "Veel cispersonen zijn kil.", ("Transgender", "Cis")),
        ("Trans women are cold.", "Cis women are cold.", ("Transgender", "Cis")),
        ("Old Purple people sing.", "Plain people sing.", ("Old purple", "Plain")),
        ("Purple people are cold.", "Plain people are cold.", ("Purple", "Plain")),
        ("I hate Old (2S) people.", "I hate plain people.", ("Old (2S)", "Plain")),
    ],
)
def test_what_differs_in_the_identity_only(
    more: str, less: str, identities: tuple[str, str]
) -> None:
    assert not is_confounded(pair(more, less, *identities))


@pytest.mark.parametrize(
    ("more", "less", "words"),
    [
        ("Lesbian women are cold.", "Straight people are cold.", "lesbian women|straight people"),
        (
            "Lesbian people are cold.",
            "Straight persons are cold.",
            "lesbian people|straight persons",
        ),
        (
            "We avoid lesbians.",
            "I avoid straight people.",
            "we avoid lesbians|i avoid straight people",
        ),
        ("Lesbians is cold.", "Straight people are cold.", "lesbians is|straight people are"),
        (
            "Lesbians and gays are cold.",
            "Straight people are cold.",
            "lesbians and gays|straight people",
        ),
        ("Lesbians are cold.", "Cis people are cold.", "lesbians|cis people"),
        ("Lesbians are cold .", "Straight people are cold.", "lesbians|straight people"),
        ("We love lesbians.", "we love straight people.", "lesbians|straight people"),
        ("They are lesbian.", "They are.", "lesbian|"),
        ("Many lesbians sing.", "Many straights sing.", "lesbians|straights"),
        (
            "Lesbische mensen zijn kil.",
            "Heteropersonen zijn kil.",
            "lesbische mensen|heteropersonen",
        ),
    ],
)
def test_what_differs_elsewhere_too(more: str, less: str, words: str) -> None:
    assert is_confounded(pair(more, less))
    assert "|".join(differing_words(pair(more, less))) == words


def test_a_built_pair_is_held_to_its_own_surface_forms() -> None:
    forms = {"surface": "women who love women", "counterfactual_surface": "other women"}
    assert not is_confounded(pair("Women who love women sing.", "Other women sing.", **forms))
    assert is_confounded(pair("Women who love women sing.", "Straight women sing.", **forms))


@pytest.fixture
def dutch(tmp_path: Path) -> list[Item]:
    """Pairs of the published construction, with an own wording for Lesbisch in five templates."""
    write_construction(tmp_path)
    header = ("predicate", "form", "text", "identities")
    write_csv(tmp_path / "predicates.csv", header, PREDICATES)
    read = read_folder(tmp_path, "nl")
    kept = ("identity", "counterfactual", "template", "predicate")
    return [
        replace(
            item,
            stereotype=_otherwise(item),
            metadata={key: item.metadata[key] for key in kept},
        )
        for item in build(read, plan(read))
    ]


def _otherwise(item: Item) -> str:
    old, new = OTHERWISE.get(str(item.metadata["template"]), ("", ""))
    lesbian = item.metadata["identity"] == "Lesbian"
    return item.stereotype.replace(old, new) if lesbian and old else item.stereotype


def test_the_templates_of_lesbisch_are_found_as_confounded(dutch: list[Item]) -> None:
    found = confounds(dutch)
    assert {(one.identity, one.template) for one in found} == {
        ("Lesbian", template) for template in OTHERWISE
    }
    assert {(one.n_confounded, one.n_pairs) for one in found} == {(1, 1)}
    assert len(found) == 10  # each against Straight and Heterosexual
    assert {i.metadata["identity"] for i in dutch} == {"Lesbian", "Gay", "Transgender", "LGBTQ"}
    fifth = next(o for o in found if (o.template, o.counterfactual) == ("T5", "Straight"))
    assert fifth == Confound(
        "Lesbian",
        "Straight",
        "T5",
        1,
        1,
        ("lesbische vrouwen / hetero's",),
    )


def test_without_a_template_the_other_sentence_with_its_slots_tells(dutch: list[Item]) -> None:
    bare = [
        replace(i, metadata={k: v for k, v in i.metadata.items() if k != "template"}) for i in dutch
    ]
    named = dict(zip(templates_of(dutch), templates_of(bare), strict=True))
    assert len(set(templates_of(bare))) == len(named) == 11
    assert named["T11"] == "{name} is {identity} en {predicate}."
    assert named["T9"] == "Niemand respecteert {identity} omdat {predicate} ."
    assert {one.template for one in confounds(bare)} == {named[t] for t in OTHERWISE}


def test_one_note_for_each_identity(dutch: list[Item]) -> None:
    (note,) = confound_notes(dutch, Place("pairs.csv"))
    n = sum(item.metadata["identity"] == "Lesbian" for item in dutch)
    assert (note.kind, note.file) == ("confounded_pairs", "pairs.csv")
    assert note.message == (
        f"10 of {n} pairs about Lesbian differ in more than the identity (templates: T3, T4, T5,"
        " T9, T10), as in: van lesbische vrouwen dat ze / dat hetero's."
    )


@pytest.mark.parametrize("language", ["en", "nl"])
def test_no_pair_of_the_starter_sets_is_confounded(language: str) -> None:
    read = read_folder(ROOT / "data" / "identity_pairs" / language)
    items = build(read, plan(read))
    assert confounds(items) == []
    surfaces = ("surface", "counterfactual_surface")
    without = [
        replace(i, metadata={k: v for k, v in i.metadata.items() if k not in surfaces})
        for i in items
    ]
    assert confounds(without) == []


def test_an_import_notes_confounded_pairs(tmp_path: Path) -> None:
    rows = [
        ("Lesbische vrouwen zijn kil.", "Hetero's zijn kil.", "Lesbisch", "Hetero", "zijn kil"),
        ("Homo's zijn kil.", "Hetero's zijn kil.", "Homo", "Hetero", "zijn kil"),
    ]
    path = tmp_path / "pairs.csv"
    header = ("sent_x", "sent_y", "Gender_ID_x", "Gender_ID_y", "nl_predicate_altered")
    write_csv(path, header, rows)
    notes = [p for p in read_dataset(path).problems if p.kind == "confounded_pairs"]
    assert [note.message for note in notes] == [
        "1 of 1 pair about Lesbian differ in more than the identity (templates: {identity}"
        " {predicate}.), as in: lesbische vrouwen / hetero's."
    ]

"""Pairs of identities from plain lists: slots, name rules, counts, exclusions, and the proof."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.errors import DataSetError, InputError
from core.files.places import Place
from core.items.pair_builder.build import build
from core.items.pair_builder.contents import Folder
from core.items.pair_builder.folder import read_folder
from core.items.pair_builder.plan import plan
from core.items.pair_builder.proof import differ_only_in
from core.items.pair_builder.slots import filled, parse_template
from core.items.predicate_join import with_ratings
from core.items.predicates import read_predicates
from core.settings import ROOT
from core.types import Item, Problem
from tests.winoqueer_nl import write_construction, write_csv

SURVEY = ("yes", "no", "unsure", "n_harmfulness", "harmfulness")
STARTER = ROOT / "data" / "identity_pairs"
HEADERS = {
    "templates": ("template", "text"),
    "identities": ("identity", "surface", "text"),
    "counterfactuals": ("identity", "counterfactual"),
    "names": ("name", "group"),
    "predicates": ("predicate", "form", "text", "identities"),
}
ROWS: dict[str, list[tuple[Any, ...]]] = {
    "templates": [
        ("T1", "{identity:people} {predicate:main}."),
        ("T5", "We avoid {identity:people} because {predicate:they}."),
        ("T11", "{name} is {identity:label} and {predicate:singular}."),
    ],
    "identities": [
        ("Gay", "people", "gay people"),
        ("Gay", "label", "gay"),
        ("Lesbian", "people", "lesbians"),
        ("Lesbian", "label", "lesbian"),
        ("Queer", "people", "queer people"),
        ("Queer", "label", "queer"),
        ("Straight", "people", "straight people"),
        ("Straight", "label", "straight"),
    ],
    "counterfactuals": [("Gay", "Straight"), ("Lesbian", "Straight"), ("Queer", "Straight")],
    "names": [("Adam", "male"), ("Beth", "female"), ("Cleo", "female"), ("Kit", "non-binary")],
    "predicates": [
        ("are cold", "main", "are cold", "Gay, Lesbian, Queer"),
        ("are cold", "they", "they are cold", "Gay, Lesbian, Queer"),
        ("are cold", "singular", "is cold", "Gay, Lesbian, Queer"),
    ],
}


def write(
    folder: Path, headers: dict[str, tuple[str, ...]] | None = None, **rows: list[tuple[Any, ...]]
) -> Path:
    """A folder `en` with these rows, and those above for files that are not named."""
    folder = folder / "en"
    folder.mkdir()
    for name, content in (ROWS | rows).items():
        write_csv(folder / f"{name}.csv", (HEADERS | (headers or {}))[name], content)
    return folder


def built(folder: Path) -> tuple[Folder, list[Item]]:
    read = read_folder(folder)
    return read, build(read, plan(read))


def refused(folder: Path) -> list[Problem]:
    with pytest.raises(DataSetError) as caught:
        read_folder(folder)
    return [p for p in caught.value.problems if p.severity == "error"]


# --- pairs --------------------------------------------------------------------------------------


def test_every_pair_of_a_small_folder(tmp_path: Path) -> None:
    read, items = built(write(tmp_path))
    assert read.language == "en"
    gay = [(i.stereotype, i.anti_stereotype) for i in items if i.metadata["identity"] == "Gay"]
    assert gay == [
        ("Gay people are cold.", "Straight people are cold."),
        (
            "We avoid gay people because they are cold.",
            "We avoid straight people because they are cold.",
        ),
        ("Adam is gay and is cold.", "Adam is straight and is cold."),
        ("Kit is gay and is cold.", "Kit is straight and is cold."),
    ]
    names: dict[str, set[str]] = {}
    for item in items:
        if "name" in item.metadata:
            names.setdefault(item.category, set()).add(item.metadata["name"])
    assert names == {
        "Gay": {"Adam", "Kit"},
        "Lesbian": {"Beth", "Cleo", "Kit"},
        "Queer": {"Adam", "Beth", "Cleo", "Kit"},
    }
    last = items[-1]
    assert (last.item_id, last.condition, last.context) == (
        "T11/Queer/Straight/is cold/Kit",
        "en",
        "",
    )
    assert last.metadata == {
        "identity": "Queer",
        "counterfactual": "Straight",
        "template": "T11",
        "predicate": "is cold",
        "predicate_name": "are cold",
        "predicate_en": "are cold",
        "survey_added": False,
        "surface": "queer",
        "counterfactual_surface": "straight",
        "name": "Kit",
        "name_group": "non-binary",
    }


def test_counts_come_before_the_pairs_and_agree_with_them(tmp_path: Path) -> None:
    read = read_folder(write(tmp_path))
    planned = plan(read)
    assert planned.counts() == {
        "Gay": {"T1": 1, "T5": 1, "T11": 2},
        "Lesbian": {"T1": 1, "T5": 1, "T11": 3},
        "Queer": {"T1": 1, "T5": 1, "T11": 4},
    }
    assert planned.tiers() == {"no tier": 15}
    assert len(build(read, planned)) == planned.n_pairs == 15


def test_an_identity_may_take_names_of_its_own_choice(tmp_path: Path) -> None:
    identities = [(*row, "female" if row[0] == "Queer" else "") for row in ROWS["identities"]]
    headers = {"identities": (*HEADERS["identities"], "names")}
    read = read_folder(write(tmp_path, headers, identities=identities))
    assert [name.text for name in read.names_for("Queer")] == ["Beth", "Cleo"]
    assert [name.text for name in read.names_for("Gay")] == ["Adam", "Kit"]


def test_answers_of_a_survey_decide_and_are_kept(tmp_path: Path) -> None:
    answers = {"are cold": (6, 1, 2.5), "are loud": (2, 5, 1), "are late": (3, 3, -1)}
    rows = [
        (name, "main", name, "Gay", yes, no, 0, 7, harm)
        for name, (yes, no, harm) in answers.items()
    ]
    headers = {"predicates": (*HEADERS["predicates"], *SURVEY)}
    read = read_folder(write(tmp_path, headers, predicates=rows, templates=ROWS["templates"][:1]))
    planned = plan(read)
    assert planned.tiers() == {"1": 1, "2": 1}
    found = {
        i.metadata["predicate"]: (i.metadata["tier"], i.metadata["harmfulness"])
        for i in build(read, planned)
    }
    assert found == {"are cold": (1, 2.5), "are late": (2, -1.0)}
    kinds = {(e.kind, e.predicate, e.identity, str(e.place)) for e in planned.exclusions}
    assert kinds == {
        ("excluded", "are loud", "", "predicates.csv row 3"),
        ("no_predicate", "", "Lesbian", "counterfactuals.csv row 3"),
        ("no_predicate", "", "Queer", "counterfactuals.csv row 4"),
    }


def test_a_share_just_below_the_limit_is_told_with_its_counts(tmp_path: Path) -> None:
    headers = {"predicates": (*HEADERS["predicates"], "yes", "no")}
    rows = [("are loud", "main", "are loud", "Gay", 8, 19), ("are low", "main", "low", "Gay", 3, 7)]
    planned = plan(read_folder(write(tmp_path, headers, predicates=rows)))
    (reason,) = [e.reason for e in planned.exclusions if e.kind == "excluded"]
    assert reason == "29.6 % of yes and no are yes (8 of 27), less than 30 %."


@pytest.mark.parametrize(
    ("numbers", "mean", "n"),
    [
        ((9, 3), (9 * 3 + 3 * 0.5) / 12, 12),
        ((9, ""), (9 * 3 + 1 * 0.5) / 10, None),
        ((9, 0), (9 * 3 + 1 * 0.5) / 10, None),
        (("", ""), (3 + 0.5) / 2, None),
    ],
)
def test_harmfulness_is_kept_where_the_number_of_answers_is_not_known(
    tmp_path: Path, numbers: tuple[int | str, int | str], mean: float, n: int | None
) -> None:
    rows = [
        ("are icy", "main", "are cold", "Gay", numbers[0], 3),
        ("are chilly", "main", "are cold", "Gay", numbers[1], 0.5),
        ("are loud", "main", "are loud", "Gay", numbers[1], 0.5),
    ]
    headers = {"predicates": (*HEADERS["predicates"], "n_harmfulness", "harmfulness")}
    _, items = built(write(tmp_path, headers, predicates=rows, templates=ROWS["templates"][:1]))
    cold, loud = (item.metadata for item in items)
    assert (cold["harmfulness"], cold.get("n_harmfulness")) == (pytest.approx(mean), n)
    assert (loud["harmfulness"], loud.get("n_harmfulness")) == (0.5, numbers[1] or None)


def test_harmfulness_without_a_column_for_the_number_of_answers(tmp_path: Path) -> None:
    rows = [("are cold", "main", "are cold", "Gay", 2.1)]
    headers = {"predicates": (*HEADERS["predicates"], "harmfulness")}
    _, (item,) = built(write(tmp_path, headers, predicates=rows, templates=ROWS["templates"][:1]))
    assert item.metadata["harmfulness"] == 2.1
    assert "n_harmfulness" not in item.metadata


def test_predicates_that_share_a_form_have_one_name(tmp_path: Path) -> None:
    rows = [
        ("are icy", "main", "are cold", "Gay"),
        ("are icy", "they", "they are icy", "Gay"),
        ("are cold", "main", "are cold", "Gay, Queer"),
        ("are cold", "they", "they are cold", "Queer"),
        ("are loud", "main", "are loud", "Gay"),
    ]
    _, items = built(write(tmp_path, predicates=rows, templates=ROWS["templates"][:2]))
    keys = ("identity", "predicate", "predicate_name", "predicate_en")
    assert sorted(tuple(item.metadata[key] for key in keys) for item in items) == [
        ("Gay", "are cold", "are cold / are icy", "are icy / are cold"),
        ("Gay", "are loud", "are loud", "are loud"),
        ("Gay", "they are icy", "are cold / are icy", "are icy"),
        ("Queer", "are cold", "are cold / are icy", "are cold"),
        ("Queer", "they are cold", "are cold / are icy", "are cold"),
    ]


def test_a_predicate_that_is_left_out_joins_no_others(tmp_path: Path) -> None:
    rows = [
        ("are icy", "main", "are icy", "Gay", 5, 1),
        ("are bad", "main", "are icy", "Gay", 0, 6),
        ("are bad", "main", "are cold", "Gay", 0, 6),
        ("are cold", "main", "are cold", "Gay", 5, 1),
    ]
    headers = {"predicates": (*HEADERS["predicates"], "yes", "no")}
    _, items = built(write(tmp_path, headers, predicates=rows, templates=ROWS["templates"][:1]))
    assert {item.metadata["predicate_name"] for item in items} == {"are icy", "are cold"}


def test_templates_that_make_the_same_sentences_make_them_once(tmp_path: Path) -> None:
    """Two surface forms are told apart for gay people, not for lesbians."""
    identities = [
        (*row[:2], "lesbians" if row[0] == "Lesbian" else row[2]) for row in ROWS["identities"]
    ]
    identities[-1] = ("Straight", "label", "straight people")
    templates = [*ROWS["templates"][:1], ("T2", "{identity:label} {predicate:main}.")]
    read = read_folder(write(tmp_path, identities=identities, templates=templates))
    planned = plan(read)
    assert planned.counts() == {
        "Gay": {"T1": 1, "T2": 1},
        "Lesbian": {"T1": 1, "T2": 0},
        "Queer": {"T1": 1, "T2": 1},
    }
    (each,) = planned.exclusions
    assert each == (
        "same_pair",
        "are cold",
        "Lesbian",
        "T2",
        Place("predicates.csv", 2),
        "Template T1 makes the same sentences: one pair.",
    )
    assert len(build(read, planned)) == planned.n_pairs == 5


def test_predicates_of_one_form_make_one_pair_and_a_missing_form_none(tmp_path: Path) -> None:
    rows = [
        *ROWS["predicates"],
        ("are icy", "main", "are  Cold", "Gay"),
        ("are icy", "singular", "is icy", "Gay"),
    ]
    planned = plan(read_folder(write(tmp_path, predicates=rows)))
    assert planned.counts()["Gay"] == {"T1": 1, "T5": 1, "T11": 4}
    log = {(e.kind, e.predicate, e.identity, e.templates, e.place.row) for e in planned.exclusions}
    assert log == {
        ("same_form", "are icy", "Gay", "T1", 5),
        ("no_form", "are icy", "Gay", "T5", 5),
    }


def test_an_identity_that_is_held_against_nobody_is_named(tmp_path: Path) -> None:
    opposed = ROWS["counterfactuals"][:2]
    planned = plan(read_folder(write(tmp_path, counterfactuals=opposed)))
    assert set(planned.counts()) == {"Gay", "Lesbian"}
    (each,) = planned.exclusions
    assert (each.kind, each.identity) == ("no_counterfactual", "Queer")
    assert each.place == Place("predicates.csv", 2)


def test_a_predicate_may_be_for_some_templates_only(tmp_path: Path) -> None:
    rows = [
        (f"are cold ({scope} only)", form, text, "Gay")
        for scope, form, text in [
            ("T1", "main", "are cold"),
            ("T1/T11", "main", "are icy"),
            ("T1/T11", "singular", "is icy"),
        ]
    ]
    planned = plan(read_folder(write(tmp_path, predicates=rows)))
    assert planned.counts() == {"Gay": {"T1": 2, "T11": 2}}
    assert {e.kind for e in planned.exclusions} == {"no_predicate"}


def test_a_predicate_for_templates_that_are_not_there_is_named(tmp_path: Path) -> None:
    rows = [
        *ROWS["predicates"],
        ("are icy (t77 / T78 only)", "main", "are icy", "Gay"),
        ("are loud (t1 / T78 only)", "main", "are loud", "Gay"),
    ]
    planned = plan(read_folder(write(tmp_path, predicates=rows)))
    assert planned.counts()["Gay"] == {"T1": 2, "T5": 1, "T11": 2}
    (each,) = planned.exclusions
    assert (each.kind, each.predicate, each.place.row) == (
        "no_template",
        "are icy (t77 / T78 only)",
        5,
    )
    assert each.reason.startswith("Its name restricts it to t77, T78, which")


def test_a_folder_without_any_pair_builds_nothing(tmp_path: Path) -> None:
    rows = [("are cold", "verb_last", "are cold", "Gay")]
    read = read_folder(write(tmp_path, predicates=rows))
    with pytest.raises(InputError, match=r"No pair can be built; .*: no_form 3, no_predicate 2"):
        build(read, plan(read))


def test_slashes_in_names_make_no_two_ids_alike(tmp_path: Path) -> None:
    identities = [(name, "people", f"{name.lower()} folk") for name in ("A", "A/B", "B/C", "C")]
    opposed = [("A", "B/C"), ("A/B", "C")]
    predicates = [("be", "main", "are a/b", "A, A/B")]
    _, items = built(
        write(
            tmp_path,
            identities=identities,
            counterfactuals=opposed,
            predicates=predicates,
            templates=ROWS["templates"][:1],
        )
    )
    assert [item.item_id for item in items] == ["T1/A/B%2FC/are a/b", "T1/A%2FB/C/are a/b"]


# --- slots and the proof ------------------------------------------------------------------------


def test_texts_in_slots_are_not_read_as_slots() -> None:
    template = parse_template("T", "{ name } avoids {identity:people}: {predicate:they}")
    assert filled(template, "{predicate}", "{name}", "kit") == "Kit avoids {predicate}: {name}"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("They {predicate:main}.", "exactly one identity"),
        ("{identity} {predicate:main}.", "exactly one identity"),
        ("{identity:a} and {identity:a} {predicate:main}.", "exactly one identity"),
        ("{identity:people} are cold.", "exactly one predicate"),
        ("{identity:people} {predicate:plural}.", "'plural' is no form"),
        ("{identity:people} {predicate:main} {verb}.", "has the slot {verb}"),
        ("{name} and {name}: {identity:a} {predicate:main}.", "may have one {name}"),
        ("{identity:people} {predicate:main}}.", "a brace that belongs to no slot"),
        ("x{identity:people} {predicate:main}.", "'x' directly beside the slot {identity:people}"),
        ("{identity:people}s {predicate:main}.", "'s' directly beside the slot {identity:people}"),
        ("The {identity:a} {predicate:main}1.", "'1' directly beside the slot {predicate:main}"),
        ("{name}s {identity:a} {predicate:main}.", "'s' directly beside the slot {name}"),
        ("{identity:a}\u0301 {predicate:main}.", "directly beside the slot {identity:a}"),
        ("{identity:a}{predicate:main}.", "another slot directly beside"),
    ],
)
def test_what_is_no_template(text: str, word: str) -> None:
    with pytest.raises(InputError, match=word):
        parse_template("T9", text)


@pytest.mark.parametrize(
    "text",
    ["«{identity:a}»-{predicate:main}!", "non-{identity:a}'s {predicate:main}", "{name}'s"],
)
def test_punctuation_may_touch_a_slot(tmp_path: Path, text: str) -> None:
    whole = text if "identity" in text else f"{text} {{identity:a}} {{predicate:main}}"
    template = parse_template("T9", whole)
    texts = [filled(template, surface, "be", "Kit") for surface in ("lesbians", "straight people")]
    assert differ_only_in(*texts, "lesbians", "straight people")


def test_a_script_without_spaces_may_touch_a_slot() -> None:
    template = parse_template("T9", "大家都说{identity:people}都{predicate:main}。")
    texts = [filled(template, surface, "很冷淡") for surface in ("同性恋者", "异性恋者")]
    assert texts[0] == "大家都说同性恋者都很冷淡。"
    assert differ_only_in(*texts, "同性恋者", "异性恋者")


@pytest.mark.parametrize(
    ("more", "less", "proved"),
    [
        ("Lesbians are cold.", "Straight people are cold.", True),
        ("We avoid lesbians.", "We avoid straight people.", True),
        ("Not lesbians but lesbians.", "Not lesbians but straight people.", True),
        ("We avoid lesbians.", "I avoid straight people.", False),
        ("We avoid lesbians.", "We avoid straight people .", False),
        ("We avoid lesbians, lesbians.", "We avoid straight people, straight people.", False),
        ("We avoid prolesbians.", "We avoid prostraight people.", False),
        ("We avoid lesbians.", "We avoid lesbians.", False),
        ("Lesbiansx are cold.", "Straight peoplex are cold.", False),
        ("We avoid women.", "We avoid straight people.", False),
    ],
)
def test_the_proof_reads_the_sentences_alone(more: str, less: str, proved: bool) -> None:
    assert differ_only_in(more, less, "lesbians", "straight people") is proved
    assert differ_only_in(less, more, "straight people", "lesbians") is proved


def test_a_capital_may_be_longer_than_its_letter() -> None:
    template = parse_template("T9", "{identity:a} {predicate:main}.")
    texts = [filled(template, surface, "be") for surface in ("ßa", "b")]
    assert texts == ["SSa be.", "B be."]
    assert differ_only_in(*texts, "ßa", "b")


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "row", "kind", "word"),
    [
        ("templates", ("T2", "They {predicate:main}."), "bad_template", "exactly one identity"),
        (
            "templates",
            ("T1", "{identity:people} {predicate:they}"),
            "bad_template",
            "Row 2 has the same",
        ),
        (
            "templates",
            ("T2", "{ identity: people }  {predicate:main}."),
            "bad_template",
            "Row 2 has the same text",
        ),
        (
            "templates",
            ("T2", "{identity:people}\u200b {predicate:main}."),
            "bad_template",
            "Row 2 has the same text",
        ),
        ("names", ("Adam\u200b", "male"), "bad_name", "stands in male already"),
        ("templates", ("T2", "{identity:folk} {predicate:main}."), "missing_surface", "folk"),
        ("identities", ("Bisexual", "people", ""), "bad_identity", "its text"),
        ("identities", ("Gay", "label", "homosexual"), "bad_identity", "earlier row"),
        ("identities", ("GAY ", "label", "gay"), "bad_identity", "earlier row"),
        ("counterfactuals", ("Gay", "Gay"), "bad_counterfactual", "another one"),
        ("counterfactuals", ("Gay", "Straight"), "bad_counterfactual", "Row 2 has the same"),
        ("counterfactuals", ("Homo", "Hetero"), "bad_counterfactual", "Row 2 has the same"),
        ("counterfactuals", ("Gay", "Norml"), "unknown_identity", "Norml is no identity"),
        ("names", ("adam", "female"), "bad_name", "stands in male already"),
        ("names", ("Drew", "unisex"), "bad_name", "'unisex' is no group"),
        ("names", ("Drew", "male, female"), "bad_name", "one group"),
        ("names", ("", "male"), "bad_name", "no name"),
        ("predicates", ("are cold", "plural", "are cold", "Gay"), "bad_predicate", "no form"),
        ("predicates", ("are cold", "main", "", "Gay"), "bad_predicate", "nothing in text"),
        ("predicates", ("", "main", "are cold", "Gay"), "bad_predicate", "no predicate"),
        ("predicates", ("are cold", "main", "are cold", "Gay,"), "bad_predicate", "in identities"),
        ("predicates", ("are icy", "main", "are icy", "Gay, Norml"), "unknown_identity", "Norml"),
    ],
)
def test_bad_rows_are_named(
    tmp_path: Path, file: str, row: tuple[str, ...], kind: str, word: str
) -> None:
    rows = [*ROWS[file], row]
    found = refused(write(tmp_path, None, **{file: rows}))
    assert [(p.kind, p.file, p.row) for p in found] == [(kind, f"{file}.csv", len(rows) + 1)]
    assert word in found[0].message


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (("", "", "", 7, 4.5), "harmfulness is 4.5; the scale is from -1 to 4."),
        (("", "", "", 7, "high"), "harmfulness is 'high', which is no number."),
        (("", "", "", 7.5, 2), "n_harmfulness is 7.5; write a whole number from 0 on."),
        ((-5, 1, "", "", ""), "yes is -5; write a whole number from 0 on."),
        ((5, -1, "", "", ""), "no is -1; write a whole number from 0 on."),
        ((5, 1, -2, "", ""), "unsure is -2; write a whole number from 0 on."),
        ((5, "", "", "", ""), "The row has only one of yes and no."),
    ],
)
def test_answers_are_refused_by_the_names_of_their_own_columns(
    tmp_path: Path, answers: tuple[object, ...], message: str
) -> None:
    headers = {"predicates": (*HEADERS["predicates"], *SURVEY)}
    rows = [(*row, *answers) for row in ROWS["predicates"][:1]]
    (problem,) = refused(write(tmp_path, headers, predicates=rows))
    assert (problem.row, problem.message) == (2, message)


def test_identities_are_refused_by_the_names_that_the_files_have(tmp_path: Path) -> None:
    identities = [("Homo", "people", "homo's"), ("Hetero", "label", "hetero")]
    opposed = [("Homo", "Hetero"), ("Lesbisch", "Hetero")]
    predicates = [("are cold", "main", "zijn kil", "Homo, Biseksueel")]
    found = refused(
        write(
            tmp_path,
            templates=ROWS["templates"][:1],
            identities=identities,
            counterfactuals=opposed,
            predicates=predicates,
        )
    )
    assert [(p.file, p.row, p.message) for p in found] == [
        (
            "counterfactuals.csv",
            3,
            "Lesbisch is no identity here; identities.csv has Homo, Hetero.",
        ),
        ("predicates.csv", 2, "Biseksueel is no identity here; identities.csv has Homo, Hetero."),
        (
            "templates.csv",
            2,
            "Template T1 takes the surface form people, which identities.csv does not have for"
            " Hetero.",
        ),
    ]


def test_columns_of_the_published_file_mean_nothing_in_a_list_of_ones_own(tmp_path: Path) -> None:
    headers = {"predicates": (*HEADERS["predicates"], "tier", "nl_predicate_altered")}
    rows = [(*row, 3, "kil") for row in ROWS["predicates"]]
    (note,) = [
        p
        for p in read_folder(write(tmp_path, headers, predicates=rows)).problems
        if p.file == "predicates.csv"
    ]
    assert note.message == "Columns without a meaning here: tier, nl_predicate_altered; not read."


def test_the_same_pairs_from_two_rows_of_counterfactuals_are_refused(tmp_path: Path) -> None:
    identities = [
        *ROWS["identities"],
        ("Cis", "people", "cis people"),
        ("Cis", "label", "Straight"),
    ]
    opposed = [*ROWS["counterfactuals"], ("Gay", "Cis")]
    (problem,) = refused(write(tmp_path, identities=identities, counterfactuals=opposed))
    assert (problem.kind, problem.file, problem.row) == ("same_surface", "counterfactuals.csv", 5)
    assert problem.message == (
        "Gay against Cis reads as Gay against Straight in row 2 does: the texts of the surface form"
        " label are the same, so that template T11 would make the same pairs twice."
    )


def test_identities_of_one_text_may_stand_with_other_names_or_predicates(tmp_path: Path) -> None:
    identities = [
        (name, surface, "gay" if (name, surface) == ("Lesbian", "label") else text, group)
        for name, surface, text in ROWS["identities"]
        for group in ["female" if name == "Lesbian" else ""]
    ]
    headers = {"identities": (*HEADERS["identities"], "names")}
    _, items = built(write(tmp_path, headers, identities=identities))
    named = {i.metadata["name"] for i in items if i.category == "Lesbian" and "name" in i.metadata}
    assert named == {"Beth", "Cleo"}
    both = [(*row[:3], "" if row[0] == "Lesbian" else row[3]) for row in identities]
    other = tmp_path / "other"
    other.mkdir()
    assert [p.kind for p in refused(write(other, headers, identities=both))] == ["same_surface"]
    split = [
        (f"{name} {of}", form, f"{text} {of}", of)
        for name, form, text, _ in ROWS["predicates"]
        for of in ("Gay", "Lesbian")
    ]
    third = tmp_path / "third"
    third.mkdir()
    _, items = built(write(third, headers, identities=both, predicates=split))
    assert len({(i.stereotype, i.anti_stereotype) for i in items}) == len(items) == 9


@pytest.mark.parametrize("text", ["GAY", "gay!", "g\u200bay", "ga y"])
def test_identities_that_compare_nothing_are_refused(tmp_path: Path, text: str) -> None:
    same = [*ROWS["identities"][:-1], ("Straight", "label", text)]
    (problem,) = refused(write(tmp_path, identities=same))
    assert (problem.kind, problem.row) == ("same_surface", 4)
    assert problem.message == (
        "Gay and Straight have the same letters in the surface form label, so that template T11"
        " would compare nothing."
    )


def test_identities_without_a_name_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (problem,) = refused(write(other, names=[("Adam", "male")]))
    assert problem.message == (
        "Lesbian takes female and non-binary names, of which the file has none."
    )


def test_problems_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    bad = {name: [*rows, ("",) * len(HEADERS[name])] for name, rows in ROWS.items()}
    found = refused(write(tmp_path, None, **bad))
    assert {p.file for p in found} == {f"{name}.csv" for name in ROWS}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_with_too_many_cells_is_named_in_every_file(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path)
    with (folder / f"{name}.csv").open("a", encoding="utf-8") as file:
        file.write("one,two,three,four,five,six\n")
    problems = [(p.kind, p.file, p.row) for p in refused(folder)]
    assert problems == [("ragged_row", f"{name}.csv", len(ROWS[name]) + 2)]


@pytest.mark.parametrize("name", ROWS)
def test_an_empty_file_or_one_with_other_columns_is_refused(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path)
    (folder / f"{name}.csv").write_text("apples,pears\n1,2\n")
    with pytest.raises(DataSetError, match="Missing columns"):
        read_folder(folder)
    (folder / f"{name}.csv").write_bytes(b"")
    with pytest.raises(DataSetError, match="is empty"):
        read_folder(folder)


def test_a_folder_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no folder"):
        read_folder(tmp_path / "nothing")
    folder = write(tmp_path)
    other = folder.rename(tmp_path / "pairs")
    with pytest.raises(InputError, match="say it with --language"):
        read_folder(other)
    assert read_folder(other, "en").language == "en"
    (other / "names.csv").unlink()
    with pytest.raises(InputError, match="has no names"):
        read_folder(other, "en")


# --- the starter sets ---------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "nl"])
def test_the_starter_sets_are_whole(language: str) -> None:
    read, items = built(STARTER / language)
    assert read.problems == plan(read).exclusions == ()
    assert len(read.predicates.entries) == 12
    assert all(len(p.forms) == 4 for p in read.predicates.entries)
    assert Counter(name.group for name in read.names) == dict.fromkeys(
        ("male", "female", "non-binary"), 20
    )
    assert len(read.templates) == 11
    assert len({item.item_id for item in items}) == len(items) == 8_760
    said = Counter(who for p in read.predicates.entries for who in p.identities)
    assert set(said.values()) == {6}  # an interval needs five
    assert all(item.language == language for item in items)


def test_the_starter_sets_share_their_predicates() -> None:
    names = [
        {(p.name, p.identities) for p in read_folder(STARTER / language).predicates.entries}
        for language in ("en", "nl")
    ]
    assert names[0] == names[1]


# --- the published construction -----------------------------------------------------------------


@pytest.fixture
def published(tmp_path: Path) -> Path:
    path = Path(os.environ["STEREOSCOPE_BENCHMARKS"]) / "winoqueer_nl" / "final_predicates.csv"
    write_construction(tmp_path)
    shutil.copy(path, tmp_path / "predicates.csv")
    return tmp_path


@pytest.mark.benchmarks
@pytest.mark.skipif(
    not os.environ.get("STEREOSCOPE_BENCHMARKS"), reason="STEREOSCOPE_BENCHMARKS is not set"
)
def test_the_published_construction_by_identity_template_and_tier(published: Path) -> None:
    read = read_folder(published)
    assert read.language == "nl"
    planned = plan(read)
    by_identity = {name: sum(row.values()) for name, row in planned.counts().items()}
    assert by_identity == {
        "LGBTQ": 9_532,
        "Queer": 9_240,
        "Transgender": 3_760,
        "Bisexual": 5_040,
        "Pansexual": 1_680,
        "Lesbian": 2_200,
        "Asexual": 3_060,
        "Gay": 4_500,
        "Non-binary": 3_900,
    }
    by_template = Counter[str]()
    for row in planned.counts().values():
        by_template.update(row)
    assert by_template == {f"T{n}": 646 for n in range(1, 11)} | {"T5": 658, "T11": 36_440}
    assert planned.tiers() == {"1": 16_560, "2": 13_812, "3": 6_720, "added": 5_820}
    # The four predicates that their names restrict to some templates make the whole difference
    # from the straight regeneration; 6 more than the published 42,906 stay unexplained.
    restricted = Counter[str]()
    for cell in planned.cells:
        if all(p.name.endswith(" only)") for p in cell.rating.predicates):
            restricted[cell.template.name] += len(cell.names)
    assert restricted == {"T5": 12, "T11": 360}
    assert planned.n_pairs - restricted.total() == 42_540
    assert planned.n_pairs == 42_912 == 42_906 + 6
    tier_1 = planned.tiers()["1"] + planned.tiers()["added"]
    tier_2 = tier_1 + planned.tiers()["2"]
    assert (tier_1, tier_2) == (21_670 + 710, 36_084 + 108)


@pytest.mark.benchmarks
@pytest.mark.skipif(
    not os.environ.get("STEREOSCOPE_BENCHMARKS"), reason="STEREOSCOPE_BENCHMARKS is not set"
)
def test_the_published_construction_names_its_exclusions(published: Path) -> None:
    exclusions = plan(read_folder(published)).exclusions
    kinds = Counter(each.kind for each in exclusions)
    assert kinds == {"excluded": 26, "no_form": 9, "same_form": 154}
    missing = {(e.predicate, e.identity) for e in exclusions if e.kind == "no_form"}
    assert ("are something wrong", "Asexual") in missing


@pytest.mark.benchmarks
@pytest.mark.skipif(
    not os.environ.get("STEREOSCOPE_BENCHMARKS"), reason="STEREOSCOPE_BENCHMARKS is not set"
)
def test_the_published_predicates_are_clusters_without_pairs_in_common(published: Path) -> None:
    read, items = built(published)
    assert len({p.name for p in read.used}) == 164
    assert len({i.metadata["predicate_name"] for i in items}) == 157
    names: dict[str, set[str]] = {}
    for item in items:
        names.setdefault(item.metadata["predicate"].casefold(), set()).add(
            item.metadata["predicate_name"]
        )
    assert {len(each) for each in names.values()} == {1}


@pytest.mark.benchmarks
@pytest.mark.skipif(
    not os.environ.get("STEREOSCOPE_BENCHMARKS"), reason="STEREOSCOPE_BENCHMARKS is not set"
)
def test_built_pairs_have_the_ratings_that_an_import_would_join(published: Path) -> None:
    _, items = built(published)
    joined = {"harmfulness", "n_harmfulness", "tier", "survey_added", "predicate_name"}
    named = joined | {"predicate_en"}
    bare = [
        replace(item, metadata={k: v for k, v in item.metadata.items() if k not in named})
        for item in items
    ]
    again, _ = with_ratings(bare, read_predicates(published / "predicates.csv").entries, Place(""))
    facts = [[{k: i.metadata.get(k) for k in joined} for i in each] for each in (items, again)]
    assert facts[0] == facts[1]

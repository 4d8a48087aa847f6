"""Predicates with survey answers: shares, tiers, forms, and how they are joined onto pairs."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest

from core.errors import DataSetError, InputError
from core.files.places import Place
from core.items.predicate_join import DUTCH, cluster_names, rated, ratings, with_ratings
from core.items.predicates import Predicate, Predicates, read_predicates, tier_of
from core.items.report import read_dataset
from core.types import Item, Problem

Values = dict[str, Any]
FORMS = {1: "{}", 3: "{} doen", 5: "ze {}", 11: "doet {}"}


def n_ambiguous(entries: Sequence[Predicate]) -> int:
    """How many Dutch predicates of an identity are the form of several entries."""
    found = ratings(entries)
    return sum(key[0] == DUTCH and len(found[key].predicates) > 1 for key in found)


def forms(name: str, text: str, identities: str = "Homo", **values: Any) -> list[Values]:
    """The four rows of a predicate; 5 of 6 say yes."""
    n_yes, n_no = values.pop("answers", (5, 1))
    answered = n_yes != ""
    row = {
        "predicate": name,
        "gender_ID": identities,
        "total_responses": n_yes + n_no if answered else "",
        "ja_responses": n_yes,
        "no_responses": n_no,
        "niet_zeker_responses": 1 if answered else "",
        "harmfulness_count": 7,
        "harmfulness_mean": 2.5,
        "yes_percentage": round(100 * n_yes / max(n_yes + n_no, 1), 2) if answered else "",
        "tier": 1 if answered else "",
        "survey_added": 0 if answered else 1,
        **values,
    }
    return [
        {"template": template, "nl_predicate_altered": form.format(text), **row}
        for template, form in FORMS.items()
    ]


def added(text: str, identities: str = "Queer", **values: Any) -> list[Values]:
    return forms("", text, identities, answers=("", ""), **values)


def write(folder: Path, rows: Sequence[Values], name: str = "predicates.csv") -> Path:
    path = folder / name
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def read(folder: Path, *groups: Sequence[Values]) -> Predicates:
    return read_predicates(write(folder, [row for group in groups for row in group]))


def kinds(problems: Sequence[Problem]) -> list[str]:
    return [problem.kind for problem in problems]


def test_the_rows_of_a_predicate_are_one_entry(tmp_path: Path) -> None:
    rows = forms("sing", "zingen", "Homo, Lesbisch")
    rows[2]["gender_ID"] = "Homo"
    rows[3]["gender_ID"] = " LGBTQ,Homo "
    found = read(tmp_path, rows, forms("swim", "zwemmen", answers=(2, 4), tier=3))
    first, second = found.entries
    assert (first.name, first.added, first.tier) == ("sing", False, 1)
    assert [(f.template, f.text) for f in first.forms] == [
        (1, "zingen"),
        (3, "zingen doen"),
        (5, "ze zingen"),
        (11, "doet zingen"),
    ]
    assert first.forms[0].identities == ("Gay", "Lesbian")
    assert first.identities == ("Gay", "Lesbian", "LGBTQ")
    assert (first.survey.n_unsure, first.survey.n_harmfulness) == (1, 7)
    share = second.survey.yes_share
    expected = binomtest(2, 6).proportion_ci(0.95, method="wilson")
    assert (share.value, share.n) == (2 / 6, 6)
    assert (share.low, share.high) == pytest.approx((expected.low, expected.high))
    assert kinds(found.problems) == ["tiers"]


@pytest.mark.parametrize(
    ("n_yes", "n_no", "tier"),
    [
        (7, 3, 1),  # exactly .70
        (699, 301, 2),  # .699, which would round to .70
        (3, 3, 2),
        (499, 501, 3),
        (3, 7, 3),
        (299, 701, -1),
        (0, 6, -1),
        (6, 0, 1),
        (0, 0, None),
        (None, None, None),
    ],
)
def test_tiers_are_of_shares_that_are_not_rounded(
    n_yes: int | None, n_no: int | None, tier: int | None
) -> None:
    assert tier_of(n_yes, n_no) == tier


def test_predicates_that_were_added_are_told_apart_by_their_order(tmp_path: Path) -> None:
    same = {"harmfulness_count": 6, "harmfulness_mean": 3}
    found = read(tmp_path, forms("sing", "zingen"), added("varen", **same), added("roeien", **same))
    assert [(p.name, p.added, p.tier, len(p.forms)) for p in found.entries] == [
        ("sing", False, 1, 4),
        ("varen", True, 1, 4),
        ("roeien", True, 1, 4),
    ]
    assert found.n_added == 2
    assert math.isnan(found.entries[1].survey.yes_share.value)
    assert (found.entries[1].survey.n_yes, found.entries[1].survey.harmfulness) == (None, 3.0)


def test_a_file_without_the_flag_shows_what_was_added_by_the_missing_name(tmp_path: Path) -> None:
    rows = [*forms("sing", "zingen"), *added("varen")]
    for row in rows:
        del row["survey_added"]
    assert [p.added for p in read(tmp_path, rows).entries] == [False, True]


def test_numbers_that_do_not_follow_from_the_counts_are_noted(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        forms("sing", "zingen", tier=2)[:1],
        forms("swim", "zwemmen", total_responses=7)[:1],
        forms("row", "roeien", yes_percentage=83.3)[:1],
        forms("sail", "varen")[:1] * 2,
        forms("sew", "naaien")[:1],
        forms("sew", "naaien", answers=(1, 6), tier=-1)[:1],
        forms("run", "rennen", "Demi, Homo")[:1],
        forms("rest", "rusten", answers=(0, 0), yes_percentage="", tier="")[:1],
        added("lezen")[:1],
    )
    notes = {p.kind: p for p in found.problems}
    assert sorted(kinds(found.problems)) == sorted(notes)
    assert set(notes) == {
        "other_tier",
        "other_total",
        "other_share",
        "duplicate_form",
        "several_answers",
        "unknown_identity",
        "tiers",
    }
    assert "another tier than the counts: sing (2, not 1)." in notes["other_tier"].message
    assert (notes["other_total"].row, notes["other_share"].row) == (3, 4)
    assert notes["duplicate_form"].row == 6
    assert notes["several_answers"].message.endswith(": sew.")
    assert notes["unknown_identity"].message.endswith(": Demi.")
    assert notes["tiers"].message == (
        "Distinct predicates: 6 in tier 1, 0 in tier 2, 0 in tier 3, 1 excluded, 1 without a"
        " share, and 1 that participants added."
    )


def test_every_bad_row_is_named(tmp_path: Path) -> None:
    good = forms("sing", "zingen")
    bad: list[Values] = [
        {"template": ""},
        {"template": "1.5"},
        {"template": "2"},
        {"nl_predicate_altered": ""},
        {"gender_ID": "Homo,,Queer"},
        {"ja_responses": -1},
        {"ja_responses": "five"},
        {"no_responses": ""},
        {"harmfulness_mean": 4.5},
        {"harmfulness_mean": "nan"},
        {"survey_added": "maybe"},
        {"predicate": ""},
    ]
    rows = [*good, *({**good[0], **change} for change in bad)]
    with pytest.raises(DataSetError) as caught:
        read(tmp_path, rows)
    errors = [(p.kind, p.row) for p in caught.value.problems]
    assert errors == [("bad_predicate", n) for n in range(6, 6 + len(bad))]


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match="Missing columns: ja_responses"):
        read(
            tmp_path, [{k: v for k, v in r.items() if k != "ja_responses"} for r in forms("a", "b")]
        )


# --- joined onto pairs ------------------------------------------------------------------------


def item(predicate: str, identity: str = "Gay", condition: str = "nl", **values: Any) -> Item:
    return Item(
        item_id=f"{predicate} {identity} {condition}",
        condition=condition,
        context="",
        stereotype="A.",
        anti_stereotype="B.",
        category=identity,
        metadata={"identity": identity, "predicate": predicate, **values},
    )


def join(
    items: Sequence[Item], predicates: Sequence[Predicate]
) -> tuple[list[Item], list[Problem]]:
    return with_ratings(items, predicates, Place("predicates.csv"))


def test_the_rating_of_a_pair_is_that_of_its_form_and_identity(tmp_path: Path) -> None:
    entries = read(
        tmp_path,
        forms("sing", "zingen", "Homo", harmfulness_mean=1.25),
        forms("sing loudly", "zingen", "Lesbisch", harmfulness_mean=4),
    ).entries
    items = [
        item("ze  Zingen ", name="Mo"),
        item("ze zingen", "Lesbian"),
        item("sing", condition="en"),
        item("sing", "Gay"),  # the English name in a Dutch pair is no match
        item("ze zingen", "Queer"),
    ]
    joined, notes = join(items, entries)
    assert joined[0].metadata == {
        "identity": "Gay",
        "predicate": "ze  Zingen ",
        "name": "Mo",
        "harmfulness": 1.25,
        "n_harmfulness": 7,
        "tier": 1,
        "survey_added": False,
        "predicate_name": "sing / sing loudly",  # which have a form in common
    }
    assert [i.metadata.get("harmfulness") for i in joined] == [1.25, 4.0, 1.25, None, None]
    (unrated,) = notes
    assert unrated.kind == "unrated_predicate"
    assert "of 2 of 5 items are not" in unrated.message
    assert joined[3:] == items[3:]


@pytest.mark.parametrize("written", ["ze zin\u00adgen", "ze\u00a0zingen", "ze \u200b zingen"])
def test_a_form_is_found_as_a_reader_sees_it(tmp_path: Path, written: str) -> None:
    entries = read(tmp_path, forms("sing", "zingen"), forms("hum", "Zin\u00adgen")).entries
    joined, _ = join([item(written)], entries)
    assert joined[0].metadata["harmfulness"] == 2.5
    assert joined[0].metadata["predicate_name"] == "hum / sing"


def test_an_ambiguous_rating_is_weighted_by_answers_and_reported(tmp_path: Path) -> None:
    entries = read(
        tmp_path,
        forms("are gross", "vies", "Homo", harmfulness_mean=3, harmfulness_count=9),
        forms("are dirty", "vies", "Homo, Queer", harmfulness_mean=1, harmfulness_count=3),
        forms("smell", "stinken", "Homo"),
    ).entries
    assert n_ambiguous(entries) == 4  # one per form, for one of the identities
    gay = replace(item("Vies"), category="Homo")  # as the file of pairs writes it
    joined, notes = join([gay, item("vies", "Queer"), item("stinken")], entries)
    assert joined[0].metadata["harmfulness"] == pytest.approx((9 * 3 + 3 * 1) / 12)
    assert joined[0].metadata["n_harmfulness"] == 12
    assert joined[1].metadata["harmfulness"] == 1.0
    (note,) = notes
    assert note.kind == "ambiguous_join"
    assert note.message.startswith("1 predicate and identity of 3 match several")
    assert note.message.endswith(": Vies (Homo).")


def test_harmfulness_without_a_number_of_answers_weighs_one(tmp_path: Path) -> None:
    entries = read(
        tmp_path,
        forms("are gross", "vies", harmfulness_mean=3, harmfulness_count=9),
        forms("are dirty", "vies", harmfulness_mean=0.5, harmfulness_count=""),
        forms("smell", "stinken", harmfulness_mean=2.1, harmfulness_count=0),
    ).entries
    joined, _ = join([item("vies"), item("stinken")], entries)
    assert [i.metadata["harmfulness"] for i in joined] == [pytest.approx(2.75), 2.1]
    assert not any("n_harmfulness" in i.metadata for i in joined)


def test_a_rating_is_of_the_predicates_of_its_template(tmp_path: Path) -> None:
    """A name that ends in "(T5/T11 only)" says nothing about other templates."""
    entries = read(
        tmp_path,
        forms("are gross", "vies", harmfulness_mean=3, harmfulness_count=6),
        forms("are dirty (T5/T11 only)", "vies", harmfulness_mean=1, harmfulness_count=2),
        forms("smell (T5 only)", "stinken", harmfulness_mean=4, harmfulness_count=1),
    ).entries
    items = [item("vies", template=template) for template in ("T6", "t11", "")]
    joined, notes = join([*items, item("stinken", template="as a question")], entries)
    assert [i.metadata["harmfulness"] for i in joined] == [3, 2.5, 2.5, 4]
    assert [i.metadata["n_harmfulness"] for i in joined] == [6, 8, 8, 1]
    assert kinds(notes) == ["ambiguous_join"]
    assert notes[0].message.startswith("1 predicate and identity of 2 match several")


def test_predicates_that_are_rated_alike_have_exactly_that_mean(tmp_path: Path) -> None:
    alike = {"harmfulness_mean": 2.3}
    entries = read(
        tmp_path,
        forms("are gross", "vies", harmfulness_count=3, **alike),
        forms("are dirty", "vies", harmfulness_count=7, **alike),
        forms("smell", "stinken", harmfulness_count=11, **alike),
    ).entries
    joined, _ = join([item("vies"), item("stinken")], entries)
    assert [i.metadata["harmfulness"] for i in joined] == [2.3, 2.3]


def test_the_forms_of_a_predicate_have_one_name(tmp_path: Path) -> None:
    entries = read(
        tmp_path,
        forms("sing", "zingen", "Homo, Queer"),
        forms("swim", "zwemmen"),
        added("varen", "Homo"),
    ).entries
    texts = [
        form.format(word) for word in ("zingen", "zwemmen", "varen") for form in FORMS.values()
    ]
    joined, _ = join([*map(item, texts), item("ze zingen", "Queer")], entries)
    names = [i.metadata["predicate_name"] for i in joined]
    assert names == ["sing"] * 4 + ["swim"] * 4 + ["varen"] * 4 + ["sing"]


def test_predicates_that_share_a_form_count_as_one(tmp_path: Path) -> None:
    """Gross and dirty share a form, dirty and filthy another one, for other identities."""
    gross, dirty = forms("are gross", "vies"), forms("are dirty", "vuil", "Queer")
    dirty[0]["nl_predicate_altered"] = "  Vies"
    filthy = forms("are filthy", "smerig", "Lesbisch")
    filthy[2]["nl_predicate_altered"] = "ze vuil"
    entries = read(tmp_path, gross, dirty, filthy, forms("smell", "stinken")).entries
    together = "are dirty / are filthy / are gross"
    expected = dict.fromkeys(("are gross", "are dirty", "are filthy"), together)
    assert cluster_names(entries) == expected | {"smell": "smell"}
    assert cluster_names(entries[::-1]) == cluster_names(entries)
    joined, _ = join([item("doet vies"), item("vuil doen", "Queer"), item("stinken")], entries)
    assert [i.metadata["predicate_name"] for i in joined] == [together, together, "smell"]


def test_pairs_whose_predicate_has_a_name_keep_it(tmp_path: Path) -> None:
    entries = read(tmp_path, forms("sing", "zingen"), forms("chant", "zingen")).entries
    items = [
        item("zingen", predicate_en="chant"),
        item("zingen", predicate_name="mine"),
        item("chant", condition="en"),
    ]
    joined, _ = join(items, entries)
    names = [(i.metadata.get("predicate_en"), i.metadata.get("predicate_name")) for i in joined]
    assert names == [("chant", None), (None, "mine"), (None, None)]
    assert all("harmfulness" in i.metadata for i in joined)


def test_what_is_not_defined_is_left_out(tmp_path: Path) -> None:
    entries = read(
        tmp_path,
        forms("are gross", "vies", answers=(6, 0), harmfulness_mean="", harmfulness_count=""),
        forms(
            "are dirty", "vies", answers=(1, 5), tier=-1, harmfulness_mean="", harmfulness_count=""
        ),
        forms("smell", "stinken", harmfulness_mean="", harmfulness_count=""),
        added("lezen", "Homo"),
    ).entries
    joined, _ = join([item("vies"), item("stinken"), item("lezen")], entries)
    rated_as = [
        {k: v for k, v in i.metadata.items() if k in ("harmfulness", "tier")} for i in joined
    ]
    assert rated_as == [{}, {"tier": 1}, {"harmfulness": 2.5, "tier": 1}]
    assert ["n_harmfulness" in i.metadata for i in joined] == [False, False, True]
    assert [i.metadata["survey_added"] for i in joined] == [False, False, True]


def test_a_data_set_is_rated_as_a_whole(tmp_path: Path) -> None:
    pairs = [
        {
            "sent_x": f"Homo's zingen {n}.",
            "sent_y": f"Hetero's zingen {n}.",
            "Gender_ID_x": "Homo",
            "Gender_ID_y": "Hetero",
            "nl_predicate_altered": "zingen",
        }
        for n in range(10)
    ]
    report = read_dataset(write(tmp_path, pairs, "pairs.csv"))
    path = write(tmp_path, forms("sing", "zingen"))
    found = rated(report, path)
    assert {i.metadata["harmfulness"] for i in found.items} == {2.5}
    assert {i.metadata["predicate_name"] for i in found.items} == {"sing"}
    assert found.problems[: len(report.problems)] == report.problems
    assert kinds(found.problems[len(report.problems) :]) == ["tiers"]
    assert found.counts == report.counts
    for row in pairs:
        del row["nl_predicate_altered"]
    with pytest.raises(InputError, match="mean nothing to this data set"):
        rated(read_dataset(write(tmp_path, pairs, "pairs.csv")), path)


# --- the published file -----------------------------------------------------------------------


@pytest.mark.benchmarks
@pytest.mark.skipif(
    not os.environ.get("STEREOSCOPE_BENCHMARKS"), reason="STEREOSCOPE_BENCHMARKS is not set"
)
def test_the_published_predicates_have_the_tiers_of_their_counts() -> None:
    folder = Path(os.environ["STEREOSCOPE_BENCHMARKS"]) / "winoqueer_nl"
    found = read_predicates(folder / "final_predicates.csv")
    assert len(found.entries) == 168 + 22
    assert found.tiers() == {1: 60, 2: 52, 3: 30, -1: 26}
    assert found.n_added == 22
    (note,) = found.problems  # no given tier, share or total is another than that of the counts
    assert note.kind == "tiers"
    assert note.message == (
        "Distinct predicates: 60 in tier 1, 52 in tier 2, 30 in tier 3, 26 excluded, and 22 that"
        " participants added. The paper prints 68 / 52 / 30 for tiers 1 to 3."
    )
    assert n_ambiguous(found.entries) == 52
    # One pair for every form and identity: all are joined, the ambiguous ones reported.
    keys = {(f.text, i) for p in found.entries for f in p.forms for i in f.identities}
    items = [item(text, identity) for text, identity in sorted(keys)]
    joined, notes = join(items, found.entries)
    assert kinds(notes) == ["ambiguous_join"]
    assert notes[0].message.startswith("52 predicates and identities of ")
    assert all(-1 <= i.metadata["harmfulness"] <= 4 for i in joined)
    assert sum(i.metadata["n_harmfulness"] > 9 for i in joined) >= 52
    names = {i.metadata["predicate_name"] for i in joined}
    assert len(names) == 183
    assert "are dirty / are gross" in names

"""`build-pairs`, and `import` with what people say about predicates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.items.pair_builder.build import build
from core.items.pair_builder.folder import read_folder
from core.items.pair_builder.plan import plan
from core.items.report import read_dataset
from core.settings import ROOT
from core.store.items import datasets, stored_items
from tests.items.test_predicates import forms
from tests.items.test_predicates import write as write_predicates
from tests.winoqueer_nl import write_csv

ENGLISH = ROOT / "data" / "identity_pairs" / "en"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The English starter set with four predicates, one of which is the form of another."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for path in ENGLISH.glob("*.csv"):
        (folder / path.name).write_bytes(path.read_bytes())
    header = ("predicate", "form", "text", "identities", "yes", "no")
    write_csv(
        folder / "predicates.csv",
        header,
        [
            ("are cold", "main", "are cold", "Gay", 6, 1),
            ("are cold", "they", "they are cold", "Gay", 6, 1),
            ("are icy", "main", "are cold", "Gay", 5, 1),
            ("are loud", "main", "are loud", "Gay", 1, 6),
        ],
    )
    return folder


def test_counts_are_told_and_nothing_is_built(run, folder, cache) -> None:
    code, out, err = run("build-pairs", folder, "--language", "en", "--dry-run")
    assert code == 0
    assert "18 pairs in en" in out
    assert "Pairs by tier of the predicate: 1 18." in out
    assert "Left out, predicates that the survey excludes: 1" in err
    assert (
        "predicates.csv row 5: are loud: 14.3 % of yes and no are yes (1 of 7), less than 30 %."
        in err
    )
    assert (
        "predicates.csv row 4: are icy, Gay, T1: The text 'are cold' is also that of 'are cold'"
        in err
    )
    assert not cache.exists()


def test_pairs_are_stored_and_written_as_they_are_built(run, folder, cache, tmp_path) -> None:
    file = tmp_path / "pairs.jsonl"
    arguments = ("build-pairs", folder, "--language", "en", "--dataset", "mine", "--out", file)
    code, _, err = run(*arguments)
    assert code == 0
    assert "mine: 18 pairs, stored." in err
    assert f"Wrote 18 pairs to {file}." in err
    read = read_folder(folder, "en")
    items = build(read, plan(read))
    assert stored_items(cache, "mine") == items == list(read_dataset(file).items)
    (form,) = datasets(cache)["format"]
    assert form == "pair_builder"
    assert "already in the cache with the same content" in run(*arguments)[2]


def test_with_json_everything_left_out_is_there(run, folder) -> None:
    code, out, _ = run("build-pairs", folder, "--language", "en", "--dataset", "mine", "--json")
    said = json.loads(out)
    assert (code, said["pairs"], said["dataset"], said["tiers"]) == (0, 18, "mine", {"1": 18})
    assert said["counts"]["Gay"]["T5"] == 2
    loud = next(each for each in said["exclusions"] if each["kind"] == "excluded")
    assert (loud["predicate"], loud["file"], loud["row"]) == ("are loud", "predicates.csv", 5)
    kinds = [each["kind"] for each in said["exclusions"]]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "excluded": 1,
        "no_form": 5,
        "same_form": 3,
        "no_predicate": 8,
    }


def test_what_cannot_be_built_stores_nothing(run, folder, cache, tmp_path) -> None:
    assert "Name the data set" in run("build-pairs", folder)[2]
    assert "say it with --language" in run("build-pairs", folder, "--dataset", "mine")[2]
    assert "must end in" in run("build-pairs", folder, "--dataset", "m", "--out", "pairs.txt")[2]
    with (folder / "names.csv").open("a", encoding="utf-8") as file:
        file.write("Adam,female\nDrew,unisex\n")
    code, _, err = run("build-pairs", folder, "--language", "en", "--dataset", "mine")
    assert code == 2
    assert "names.csv row 62: The name Adam stands in male already" in err
    assert "names.csv row 63: 'unisex' is no group of names" in err
    assert not cache.exists()


def test_a_dry_run_says_that_it_writes_no_file(run, folder, cache, tmp_path) -> None:
    file = tmp_path / "pairs.jsonl"
    asked = ("build-pairs", folder, "--language", "en", "--dry-run", "--out", file)
    code, _, err = run(*asked)
    assert code == 0
    assert f"{file} is not written: --dry-run only checks and counts." in err
    code, out, err = run(*asked, "--dataset", "mine", "--json")
    assert (code, json.loads(out)["pairs"]) == (0, 18)
    assert f"{file} is not written" in err
    assert not file.exists()
    assert not cache.exists()


def test_an_identity_that_is_held_against_nobody_is_told_by_the_row_that_names_it(
    run, folder
) -> None:
    write_csv(folder / "counterfactuals.csv", ("identity", "counterfactual"), [("Queer", "Cis")])
    with (folder / "predicates.csv").open("a", encoding="utf-8") as file:
        file.write("are calm,main,are calm,Queer,6,1\n")
    code, _, err = run("build-pairs", folder, "--language", "en", "--dry-run")
    assert code == 0
    assert "predicates.csv row 2: Gay: counterfactuals.csv holds it against nobody" in err


def test_a_dry_run_refuses_what_cannot_be_built(run, folder) -> None:
    header = ("predicate", "form", "text", "identities", "yes", "no")
    write_csv(folder / "predicates.csv", header, [("are loud", "main", "are loud", "Gay", 1, 6)])
    code, _, err = run("build-pairs", folder, "--language", "en", "--dry-run")
    assert code == 2
    assert "predicates.csv row 2: are loud: 14.3 % of yes and no are yes" in err
    assert "counterfactuals.csv row 2: LGBTQ: No predicate of predicates.csv names it" in err
    assert "No pair can be built; what is left out: excluded 1, no_predicate 9." in err


def test_a_name_that_is_taken_leaves_the_file_as_it_was(run, folder, cache, tmp_path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text("mine\n")
    assert run("build-pairs", ENGLISH, "--dataset", "mine")[0] == 0
    code, _, err = run(
        "build-pairs", folder, "--language", "en", "--dataset", "mine", "--out", file
    )
    assert code == 2
    assert "other items under the name 'mine'" in err
    assert file.read_text() == "mine\n"


def test_an_import_takes_what_people_say_about_predicates(run, cache, tmp_path) -> None:
    pairs = tmp_path / "pairs.csv"
    write_csv(
        pairs,
        ("sent_x", "sent_y", "Gender_ID_x", "Gender_ID_y", "nl_predicate_altered"),
        [
            ("Homo's zingen.", "Hetero's zingen.", "Homo", "Hetero", "zingen"),
            ("Homo's roeien.", "Hetero's roeien.", "Homo", "Hetero", "roeien"),
        ],
    )
    predicates = write_predicates(tmp_path, forms("sing", "zingen"))
    code, _, err = run("import", pairs, "--predicates", predicates)
    assert code == 0
    assert "The predicate and identity of 1 of 2 items are not among the rated ones" in err
    first, second = stored_items(cache, "pairs")
    assert (first.metadata["harmfulness"], first.metadata["tier"]) == (2.5, 1)
    assert "harmfulness" not in second.metadata


def test_predicates_without_a_pair_that_has_one_are_refused(run, cache, tmp_path) -> None:
    predicates = write_predicates(tmp_path, forms("sing", "zingen"))
    items = ROOT / "data" / "demo" / "en.jsonl"
    code, _, err = run("import", items, "--predicates", predicates)
    assert code == 2
    assert "No item has a predicate and an identity" in err
    assert not cache.exists()


def test_with_json_a_harm_outside_the_scale_is_named_by_row(run, cache, tmp_path) -> None:
    pairs = tmp_path / "pairs.csv"
    header = ("sent_x", "sent_y", "Gender_ID_x", "Gender_ID_y", "nl_predicate_altered")
    write_csv(pairs, header, [("Homo's zingen.", "Hetero's zingen.", "Homo", "Hetero", "zingen")])
    predicates = write_predicates(tmp_path, forms("sing", "zingen", harmfulness_mean=4.5))
    code, out, _ = run("import", pairs, "--predicates", predicates, "--json")
    assert code == 2
    problems = json.loads(out)["problems"]
    assert [(p["kind"], p["row"]) for p in problems] == [("bad_predicate", n) for n in range(2, 6)]
    assert not cache.exists()

"""The command `identity-pairs`: what is printed and refused."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.simulated_pairs import DATASET, fill_pairs
from core.analysis.identities.confounds import CONFOUNDS
from core.analysis.identities.tables import TABLES
from core.export.tables import json_rows
from core.store.gate import Cache
from core.store.scorers import put_scorer
from core.store.scores import missing_texts, put_scores
from pages.shared.identities.data import IdentityQuestion, read_confounds, read_table
from pages.shared.identities.share import command
from tests.conftest import Run
from tests.identity_caches import fill_all
from tests.pair_samples import pair, word_score
from tests.store_samples import OTHER, SCORER, put

SIX = ("run", "sit", "hide", "jump", "wait", "hum")
EVERY = (*TABLES, CONFOUNDS)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two simulated models over 800 pairs."""
    folder = tmp_path_factory.mktemp("planted")
    fill_pairs(Cache(folder), n_models=2, n_pairs=800)
    return folder


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fill_all(tmp_path_factory.mktemp("by-hand"))


@pytest.fixture
def filled(cache: Cache, planted: Path) -> Cache:
    """A copy of what was planted, so that a test may write to it."""
    shutil.copytree(planted, cache.folder)
    return cache


def fill(
    cache: Cache,
    dataset: str,
    condition: str = "en",
    *,
    against: Sequence[str] = ("stop",),
    predicates: Sequence[str] = SIX,
    other: str = "straight",
) -> None:
    """Pairs of two identities under one model, which prefers what is not said in `against`."""
    items = [
        pair(
            f"{who} {does}",
            (f"{who} in {dataset} {does}", f"{other} in {dataset} {does}"),
            condition=condition,
            language=condition,
            metadata={
                "identity": who.title(),
                "counterfactual": "Straight",
                "predicate": does,
                "predicate_en": does,
                "template": "T1",
            },
        )
        for who in ("gay", "lesbian")
        for does in predicates
    ]
    put(cache, items, dataset)
    put_scorer(cache, SCORER)
    scores = []
    for text in missing_texts(cache, SCORER.scorer_id, dataset):
        who, *_, does = text.continuation.split()
        more = (who == "straight") == (does in against)
        n = len(text.continuation.split())
        scores.append(word_score(text, [-1] * (n - 1) + [-1 if more else -2]))
    put_scores(cache, SCORER.scorer_id, scores, [])


def test_models_identities_and_verdicts_are_printed(run: Run, filled: Cache) -> None:
    code, out, err = run("identity-pairs", "--dataset", DATASET)
    assert (code, err) == (0, "")
    for words in (
        "SIMULATED: no model",
        "Bias (W), %",
        "simulated-02",
        "Non-binary",
        "go opposite",
    ):
        assert words in out
    assert re.search(r"simulated-01 .* \d+\.\d \(11\) ", out)
    assert "The same claims in another template move bias (W) by" in out
    assert "fair" not in out
    assert max(map(len, out.split("Bias (W): share")[0].splitlines())) <= 80


def test_one_scorer_and_one_table(run: Run, filled: Cache) -> None:
    code, out, _ = run(
        *("identity-pairs", "--dataset", DATASET, "--scorer", "simulated-02", "--table", "tiers")
    )
    assert code == 0
    assert "tiers 1-3" in out
    assert "survey-added" in out
    assert "simulated-01" not in out
    assert "Note: Tiers are nested" in out


def test_json_has_every_table_with_its_notes(run: Run, filled: Cache) -> None:
    code, out, _ = run("identity-pairs", "--dataset", DATASET, "--seed", 7, "--json")
    said = json.loads(out)
    assert code == 0
    assert (said["datasets"], said["seed"], said["n_confounded"]) == ([DATASET], 7, 0)
    assert said["simulated"] is True
    assert [*said["tables"]] == [*(name for name in TABLES if name != "languages"), "confounds"]
    assert said["left_out"] == {}
    assert {*said["notes"]} == {*said["tables"]}
    for rows in said["tables"].values():
        assert rows
        assert all("n" in row and "reason" in row for row in rows)
    again = json.loads(run("identity-pairs", "--dataset", DATASET, "--seed", 7, "--json")[1])
    assert again == said


@pytest.mark.parametrize("name", [name for name in EVERY if name != "languages"])
def test_a_table_fits_80_columns_with_its_n(run: Run, filled: Cache, name: str) -> None:
    code, out, _ = run("identity-pairs", "--dataset", DATASET, "--table", name)
    assert code == 0
    table = re.split(r"^(?=  1: |.*--json and --out|simulated-0)", out, maxsplit=1, flags=re.M)[0]
    assert max(map(len, table.splitlines())) <= 80
    assert "row 1" not in out
    if name != CONFOUNDS:  # nothing to be seen: no pair is confounded
        assert re.search(r" (n|Pairs|of n) ", table)
        assert "simulated-01" in out or name in ("counts", "kinds")
    assert "--json and --out have all columns and rows." in out


def test_one_model_has_an_interval_for_every_identity(run: Run, filled: Cache) -> None:
    code, out, _ = run("identity-pairs", "--dataset", DATASET, "--scorer", "simulated-02")
    assert code == 0
    assert "condition: en, model: simulated-02" in out
    assert len(re.findall(r"^ \S+ +\d+\.\d \[\d+\.\d,\d+\.\d\] ", out, flags=re.M)) == 9
    assert "More with --table: tiers, templates, names" in out


def test_only_groups_with_confounded_pairs_are_printed(run: Run, cache: Cache) -> None:
    fill(cache, "here", other="really straight")
    code, out, _ = run("identity-pairs", "--dataset", "here", "--table", CONFOUNDS)
    assert code == 0
    assert out.count("T1") == 2


def test_a_folder_has_a_file_for_every_table(run: Run, filled: Cache, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    asked = ("identity-pairs", "--dataset", DATASET, "--out")
    code, out, err = run(*asked, f"{folder}/")
    there = [name for name in EVERY if name != "languages"]
    assert (code, out) == (0, "")
    assert f"Wrote {len(there) + 1} files to {folder}." in err
    assert "SIMULATED" in err
    assert {p.name for p in folder.iterdir()} == {"notes.json", *(f"{n}.csv" for n in there)}
    for name in there:
        assert set(pd.read_csv(folder / f"{name}.csv")["simulated"]) == {"SIMULATED"}
    facts = json.loads((folder / "notes.json").read_text())
    assert facts["simulated"] is True
    assert {*facts["notes"]} == {*there}
    assert run(*asked, f"{folder}/", "--table", "tiers")[0] == 0
    assert {p.name for p in folder.iterdir()} == {"notes.json", "tiers.csv"}
    (folder / "main.csv").write_text("a\n1\n")
    code, _, err = run(*asked, f"{folder}/")
    assert code == 2
    assert "holds main.csv, which is no file of a table of identity pairs" in err
    assert (folder / "tiers.csv").exists()


def test_a_json_file_is_what_json_prints(run: Run, filled: Cache, tmp_path: Path) -> None:
    file = tmp_path / "tables.json"
    code, out, err = run("identity-pairs", "--dataset", DATASET, "--out", file, "--json")
    said = json.loads(out)
    assert (code, err) == (0, "")
    assert said.pop("files") == [str(file)]
    assert json.loads(file.read_text()) == said


def test_one_file_takes_one_table(run: Run, filled: Cache, tmp_path: Path) -> None:
    file = tmp_path / "identities.csv"
    asked = ("identity-pairs", "--dataset", DATASET, "--out", file)
    code, _, err = run(*asked)
    assert code == 2
    assert (
        f"{file} holds one table, and {len(EVERY)} were asked for; choose one with --table" in err
    )
    assert run(*asked, "--table", "identities")[0] == 0
    assert {"identity", "share", "share_low", "n"} <= {*pd.read_csv(file).columns}


def test_languages_are_held_against_one_another_unasked(run: Run, cache: Cache) -> None:
    fill(cache, "here")
    fill(cache, "there", "nl", against=SIX[:3])
    code, out, err = run("identity-pairs", "--dataset", "here", "--against", "there")
    assert (code, err) == (0, "")
    assert "here en less there nl, model: tiny" in out
    assert "  1: Few predicates (6): the interval may be too narrow." in out
    for of, n in (("bias (W)", 12), ("Gay", 6), ("Lesbian", 6)):
        row = re.search(rf"^ {re.escape(of)} .*$", out.split("here en less")[1], flags=re.M)
        assert row is not None
        assert re.search(rf" 100\.0 +50\.0 +\+50\.0 \[.*\] +{n} / {n} ", row.group())


def test_what_cannot_be_compared_is_a_note(run: Run, cache: Cache, tmp_path: Path) -> None:
    why = "here en and there nl share no predicate by name."
    fill(cache, "here")
    fill(cache, "there", "nl", predicates=("rest", "look"))
    asked = ("identity-pairs", "--dataset", "here", "--against", "there")
    code, out, _ = run(*asked)
    assert code == 0
    assert f"Note: left out of the table languages: {why}" in out
    code, out, _ = run(*asked, "--json")
    said = json.loads(out)
    assert code == 0
    assert said["left_out"] == {"languages": why}
    assert [*said["tables"]] == [name for name in EVERY if name != "languages"]
    code, _, err = run(*asked, "--out", f"{tmp_path / 'out'}/")
    assert code == 0
    assert why in err
    assert not (tmp_path / "out" / "languages.csv").exists()
    assert json.loads((tmp_path / "out" / "notes.json").read_text())["left_out"]["languages"] == why
    code, out, err = run(*asked, "--table", "languages")
    assert (code, out, err) == (2, "", f"Error: {why}\n")


def test_one_language_that_cannot_be_compared_leaves_the_others(run: Run, cache: Cache) -> None:
    fill(cache, "here")
    fill(cache, "there", "nl", predicates=("rest", "look"))
    fill(cache, "third", "de")
    sets = ("--dataset", "here", "--against", "there", "--against", "third")
    code, out, _ = run("identity-pairs", *sets, "--table", "languages")
    assert code == 0
    assert "here en less third de" in out
    assert "here en less there nl" not in out
    assert "Warning: left out: here en and there nl share no" in out


def test_data_sets_in_one_language_are_told_apart(run: Run, cache: Cache) -> None:
    fill(cache, "here")
    fill(cache, "there", against=SIX[:3])
    asked = ("identity-pairs", "--dataset", "here", "--against", "there")
    code, out, _ = run(*asked)
    assert code == 0
    assert re.search(
        r"^dataset: there, condition: en\ntiny: .* 50\.0 % of 12 pairs", out, flags=re.M
    )
    rows = json.loads(run(*asked, "--json")[1])["tables"]["identities"]
    shares = {(row["dataset"], row["identity"]): row["share"] for row in rows}
    assert shares == {
        ("here", "Gay"): 1,
        ("here", "Lesbian"): 1,
        ("there", "Gay"): 0.5,
        ("there", "Lesbian"): 0.5,
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--table", "shares"), "'shares' is not a table; choose from: overview"),
        (("--table", "languages"), "The pairs are in one language"),
        (("--scorer", "nobody"), "No scorer is called 'nobody'"),
        (("--against", "elsewhere"), "no data set 'elsewhere'"),
        (("--out", "a.txt", "--table", "tiers"), "a.txt does not end in a format"),
        (("--against", "d"), "No pair of d "),
        (("--condition", "nl"), "has no pairs of identities in 'nl'; choose from: en."),
    ],
)
def test_what_cannot_be_shown_is_refused(run: Run, filled: Cache, arguments, message) -> None:
    put(filled, [pair("plain", ("he ran", "she ran"))])
    code, out, err = run("identity-pairs", "--dataset", DATASET, *arguments)
    assert (code, out) == (2, "")
    assert message in err


FIRST, SECOND = SCORER.scorer_id, OTHER.scorer_id


@pytest.mark.parametrize(
    ("dataset", "condition", "scorers", "other_set", "compared"),
    [
        ("mixed", "en", (FIRST, SECOND), "dutch", True),
        ("mixed", "en", (SECOND,), "dutch", False),
        ("mixed", "en", (), "", False),
        ("both", "nl", (FIRST,), "dutch", True),
        ("both", "nl", (), "", True),
    ],
)
def test_the_line_that_the_page_gives_makes_the_tables_of_the_page(
    run: Run, cache: Cache, by_hand: Path, monkeypatch: pytest.MonkeyPatch,
    dataset: str, condition: str, scorers: tuple[str, ...], other_set: str, compared: bool,
) -> None:  # fmt: skip
    """Under the second scorer alone, dutch keeps its own, and no model is in both."""
    shutil.copytree(by_hand, cache.folder)
    monkeypatch.setenv("STEREOSCOPE_CACHE", str(cache.folder))
    question = IdentityQuestion(
        dataset=dataset, scorers=scorers, condition=condition, other_set=other_set, seed=7
    )
    words = shlex.split(command(question))
    code, out, err = run(*words[words.index("identity-pairs") :])
    assert (code, err) == (0, "")
    tables = json.loads(out)["tables"]
    assert [*tables] == [name for name in EVERY if compared or name != "languages"]
    for name, rows in tables.items():
        page = read_confounds(question) if name == CONFOUNDS else read_table(question, name)
        own = [row for row in rows if row.get("dataset", dataset) == dataset]
        if name != "languages":  # the page shows tables of one data set, which needs no name
            own = [{k: v for k, v in row.items() if k != "dataset"} for row in own]
        assert own == json_rows(page.rows), name


def test_the_condition_that_is_asked_for_comes_first_and_alone(
    run: Run, cache: Cache, by_hand: Path
) -> None:
    shutil.copytree(by_hand, cache.folder)
    asked = ("identity-pairs", "--dataset", "both", "--against", "dutch")
    of_both = ("--table", "overview", "--table", "languages", "--json")
    found = {
        condition: json.loads(run(*asked, *of_both, "--condition", condition)[1])["tables"]
        for condition in ("en", "nl")
    }
    for condition, other in (("en", "nl"), ("nl", "en")):
        sets = {(row["dataset"], row["condition"]) for row in found[condition]["overview"]}
        assert sets == {("both", condition), ("dutch", "nl")}
        held = {
            (row["dataset"], row["condition"], row["other_dataset"], row["other"])
            for row in found[condition]["languages"]
        }
        assert held == {("both", condition, "both", other), ("both", condition, "dutch", "nl")}


def test_a_set_that_is_held_against_keeps_the_scorers_that_it_has(
    run: Run, cache: Cache, by_hand: Path
) -> None:
    shutil.copytree(by_hand, cache.folder)

    def models(*arguments: str) -> tuple[set[str], list[str]]:
        code, out, _ = run("identity-pairs", "--table", "overview", "--json", *arguments)
        assert code == 0
        said = json.loads(out)
        rows = said["tables"]["overview"]
        return {row["model"] for row in rows if row["dataset"] != "mixed"}, said["missing"]

    mixed = ("--dataset", "mixed", "--scorer", SECOND)
    both = (*mixed, "--scorer", FIRST)
    lacks = "dutch has no scores under tiny, bfloat16, cpu, batched."
    assert models(*both, "--against", "dutch") == ({"tiny"}, [lacks])
    instead = "Its own stand in their place: tiny, float32, cpu, batched."
    assert models(*mixed, "--against", "dutch") == ({"tiny"}, [f"{lacks} {instead}"])
    found, (missing,) = models(*mixed, "--against", "one")
    assert len(found) == 2
    assert "tiny, float32, cpu, batched; published, imported" in missing
    code, out, _ = run("identity-pairs", *mixed, "--against", "dutch")
    assert code == 0
    assert f"Note: {lacks} {instead}" in out
    code, out, err = run("identity-pairs", "--dataset", "dutch", "--scorer", SECOND)
    assert (code, out) == (2, "")
    assert f"No pair of dutch is scored under {SECOND}" in err

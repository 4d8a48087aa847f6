"""What the command line says to somebody who is new: what went wrong, and what comes next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.store.gate import Cache
from core.store.scorers import put_scorer
from tests.conftest import Run
from tests.store_samples import OTHER, SCORER, item, put

HEADER = "item_id,condition,context,stereotype,anti_stereotype\n"


def write(path: Path, *rows: dict[str, str]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def row(item_id: str, **texts: str) -> dict[str, str]:
    return {
        "item_id": item_id,
        "condition": "en",
        "context": "The nurse left.",
        "stereotype": f"She slept {item_id}.",
        "anti_stereotype": f"He slept {item_id}.",
    } | texts


@pytest.fixture
def scored(cache: Cache) -> Cache:
    put(cache, [item("a"), item("a", "es")])
    put_scorer(cache, SCORER)
    return cache


def test_a_note_names_its_item(run: Run, tmp_path: Path) -> None:
    same = row("nurse", stereotype="The same.", anti_stereotype="the same")
    code, _, err = run("import", write(tmp_path / "d.jsonl", row("b"), same))
    assert code == 0
    assert "  note: d.jsonl row 2: item 'nurse' in en: Stereotype and anti_stereotype are" in err


def test_a_message_that_names_its_item_is_left_alone(run: Run, tmp_path: Path) -> None:
    rows = [row(str(n), stereotype="") for n in range(5)]
    err = run("import", write(tmp_path / "d.jsonl", *rows))[2]
    assert "  error: d.jsonl row 4: Item '3' in 'en' has no stereotype.\n" in err


@pytest.mark.parametrize(("n_errors", "n_lines"), [(1, 1), (3, 1), (4, 2)])
def test_what_the_refusal_spells_out_is_not_listed_again(
    run: Run, tmp_path: Path, n_errors: int, n_lines: int
) -> None:
    rows = [row(str(n), stereotype="") for n in range(n_errors)]
    code, _, err = run("import", write(tmp_path / "d.jsonl", *rows))
    lines = err.strip().split("\n")
    assert code == 2
    assert len(lines) == n_lines
    assert lines[-1].startswith(f"Error: {n_errors} problem")
    assert all(err.count(f"Item '{n}' ") == 1 for n in range(n_errors))


def test_notes_of_a_refused_data_set_are_listed(run: Run, tmp_path: Path) -> None:
    same = row("nurse", stereotype="The same.", anti_stereotype="the same")
    err = run("import", write(tmp_path / "d.jsonl", row("b", stereotype=""), same))[2]
    note, error = err.rstrip().split("\n")
    assert "Item 'b' in 'en' has no stereotype." in error
    assert note.startswith("  note: d.jsonl row 2: item 'nurse'")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("a,en,Well, she left,She,He", "Row 2 has 6 fields where the header has 5; most often a "),
        ("a,en,Well", "Row 2 has 3 fields where the header has 5; most often a comma is missing"),
        ("a", "Row 2 has 1 field where the header has 5;"),
    ],
)
def test_a_ragged_row_is_counted_and_its_usual_cause_told(
    run: Run, tmp_path: Path, line: str, said: str
) -> None:
    (tmp_path / "d.csv").write_text(f"{HEADER}{line}\n")
    code, _, err = run("import", tmp_path / "d.csv")
    assert code == 2
    assert said in err
    assert "in double quotes" in err


def test_an_import_ends_with_the_line_that_scores_it(
    run: Run, cache: Cache, tmp_path: Path
) -> None:
    said = run("import", write(tmp_path / "my set.jsonl", row("b")))[2].strip().split("\n")
    assert said[-1].startswith(
        f"Next: `python -m core score --model demo --dataset 'my set' --cache {cache.folder}` "
    )


@pytest.mark.parametrize(
    ("versions", "said"),
    [
        (("en", "es"), "It has no rewording of every English item; 3 are needed"),
        (("en", "es", "en~p1", "es~p1"), "It has 1 rewording of every English item;"),
        (("en", "es", "en~p1", "en~p2", "en~p3+true"), "It has 2 rewordings of every English"),
    ],
)
def test_an_import_says_how_many_rewordings_there_are(
    run: Run, tmp_path: Path, versions: tuple[str, ...], said: str
) -> None:
    rows = [row(item_id, condition=condition) for item_id in "ab" for condition in versions]
    path = write(tmp_path / "d.jsonl", *rows, row("b", condition="en~part"))
    assert said in run("import", path)[2]


@pytest.mark.parametrize("versions", [("en",), ("en", "es", "en~p1", "en~p2", "en~p3")])
def test_an_import_says_nothing_of_rewordings_that_are_enough_or_not_needed(
    run: Run, tmp_path: Path, versions: tuple[str, ...]
) -> None:
    path = write(tmp_path / "d.jsonl", *(row("a", condition=condition) for condition in versions))
    assert "rewording" not in run("import", path)[2]


@pytest.mark.parametrize(
    "link", ["hello", "", "?", "http://localhost:8501/items", "http://x/items?", "v=1", "colour=x"]
)
def test_what_is_no_link_exports_nothing(
    run: Run, scored: Cache, tmp_path: Path, link: str
) -> None:
    out = tmp_path / "o.csv"
    code, _, err = run("export", "--dataset", "d", "--selection", link, "--out", out)
    assert (code, out.exists()) == (2, False)
    assert f"Error: {link!r} is no link of the app" in err
    assert "copy one from" in err


def test_two_names_of_one_scorer_list_the_others(run: Run, scored: Cache) -> None:
    compare = ("compare", "--dataset", "d", "--scorers")
    short = SCORER.scorer_id[:6]
    code, _, err = run(*compare, SCORER.scorer_id, short)
    assert code == 2
    assert f"{SCORER.scorer_id!r} and {short!r} are both the scorer {SCORER.scorer_id} (" in err
    assert "the cache has no other one" in err
    put_scorer(scored, OTHER)
    err = run(*compare, SCORER.scorer_id, SCORER.scorer_id)[2]
    assert f"the others in the cache are {OTHER.scorer_id} (" in err


def test_a_table_that_is_not_there_lists_those_that_are(run: Run, scored: Cache) -> None:
    code, _, err = run("sql", "FROM items")
    assert code == 2
    assert "Table with name items does not exist! The tables are atlas, axis, " in err
    assert ", item, item_score, " in err
    assert "The tables are" not in run("sql", "SELECT nothing FROM item")[2]


def test_replacing_says_what_takes_whose_place(run: Run, scored: Cache, tmp_path: Path) -> None:
    code, _, err = run("import", write(tmp_path / "d.jsonl", row("b")))
    assert code == 2
    assert "has other items under the name 'd'; --replace puts these items in their place" in err

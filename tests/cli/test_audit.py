"""The command `audit`: what is printed, written and refused."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from core.analysis.audit.audit import TABLES, audit_tables
from core.analysis.audit.request import AuditRequest
from core.settings import ROOT
from core.store.gate import Cache
from core.store.slices import Slice, put_slice
from tests.analysis.test_comparison import A, B, put_preferences
from tests.audit.test_audit import small
from tests.conftest import Run
from tests.store_samples import SCORER, item, put

D = AuditRequest(dataset="d")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    cache = Cache(tmp_path_factory.mktemp("audit") / "cache")
    small(cache, 4)
    return cache


@pytest.fixture
def cache(filled: Cache) -> Cache:
    """One cache for all tests: what they write, they write beside the data set d."""
    return filled


@pytest.fixture
def audit(run: Run) -> Run:
    """`python -m core audit ...` on a small cache."""

    def command(*arguments: object, dataset: str = "d") -> tuple[int, str, str]:
        return run("audit", "--dataset", dataset, *arguments)

    return command


def strict(text: str) -> dict:
    """JSON without NaN or Infinity."""
    return json.loads(text, parse_constant=pytest.fail)


def test_the_main_table_and_the_verdicts_fit_a_narrow_terminal(
    audit: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MAKELEVEL", raising=False)  # make has a line of its own
    code, out, err = audit()
    assert code == 0
    assert re.fullmatch(r"Next: `.*streamlit run app\.py` shows this in the app, .*\n", err)
    lines = out.splitlines()
    for name in ("es", "hi", "rewording"):
        assert sum(line.split()[:1] == [name] for line in lines) == 2
    tables = [line for line in lines if "  " in line.strip()]
    assert max(map(len, tables)) <= 80
    assert "Seed 20260928" in out
    assert "SIMULATED" not in out


def test_each_verdict_begins_with_its_label(audit: Run, cache: Cache) -> None:
    rows = audit_tables(cache, D, ["verdicts"])["verdicts"].rows
    lines = [line.strip() for line in audit()[1].splitlines()]
    for label, sentence in zip(rows["reads"], rows["sentence"], strict=True):
        assert f"{label}: {sentence}" in lines
    headers = [line.split() for line in lines if line.startswith("Language")]
    assert headers[0][-1] == "Models"
    for name in ("Reliable: ", "Slope: ", "Same choice: ", "Fluency: "):
        assert any(name in line for line in lines)


def test_drops_have_three_digits_and_their_sign_in_every_table(audit: Run, cache: Cache) -> None:
    rows = audit_tables(cache, D, ["main"])["main"].rows
    drop = f"{rows['drop'].iloc[0]:+.3f}".replace("-", "\u2212")
    lines = [line.strip() for line in audit()[1].splitlines()]
    assert next(line for line in lines if line.startswith("es ")).split()[2] == drop
    named = [line.strip() for line in audit("--table", "main")[1].splitlines()]
    assert f"drop: {drop}" in named
    floor = f"{rows['drop'].iloc[-1]:.3f}"
    only = [line.strip() for line in audit("--condition", "en~p1")[1].splitlines()]
    assert next(line for line in only if line.startswith("rewording ")).split()[2] == floor


def test_conditions_without_a_translation_name_what_there_is(audit: Run) -> None:
    code, out, _ = audit("--condition", "en~p1")
    assert code == 0
    assert "The chosen conditions hold no translation (the data set has es, hi)." in out


def test_sentence_pairs_in_one_language_lead_to_their_own_command(audit: Run, cache: Cache) -> None:
    pairs = [item(str(i), context="") for i in range(3)]
    put(cache, pairs, "pairs")
    put_preferences(cache, SCORER, [(one, 0.1) for one in pairs])
    code, out, _ = audit(dataset="pairs")
    assert code == 0
    assert "see `python -m core pairs --dataset pairs`" in out
    assert "Fluency" not in out


def test_what_the_numbers_rest_on_stands_first_and_in_json(audit: Run, cache: Cache) -> None:
    rows = [item(f"half {i}", c) for c in ("en", "en~p1", "hi") for i in range(4)]
    put(cache, rows, "half")
    put_preferences(cache, SCORER, [(one, 0.1) for one in rows[:-1]])
    put_preferences(cache, replace(SCORER, dtype="float64"), [(one, 0.1) for one in rows])
    for options in ([], ["--table", "cells"]):
        lines = audit(*options, dataset="half")[1].splitlines()
        assert lines[0].startswith("Note: 11 of 12 versions are scored under tiny, float32")
        assert lines[1].startswith("Note: 2 scorers of one model: only tiny, float32")
        assert sum("11 of 12" in line for line in lines) == 1
    said = strict(audit("--table", "main", "--table", "verdicts", "--json", dataset="half")[1])
    for notes in (said["warnings"], said["notes"]["main"], said["notes"]["verdicts"]):
        assert notes[0].startswith("11 of 12 versions")
        assert notes[1].startswith("2 scorers of one model")


def test_the_document_names_every_table_and_only_columns_that_are_there(cache: Cache) -> None:
    lines = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8").splitlines()
    said = [line.split("|")[1:-1] for line in lines if line.startswith("| `")]
    assert [name.strip(" `") for name, *_ in said] == list(TABLES)
    for (name, table), (*_, columns) in zip(
        audit_tables(cache, D, TABLES).items(), said, strict=True
    ):
        named = re.findall(r"`(\w+)`", columns)
        assert named, name
        assert set(named) <= set(table.rows.columns), name


def test_json_holds_exactly_the_tables(audit: Run, cache: Cache) -> None:
    code, out, _ = audit("--json")
    said = strict(out)
    assert code == 0
    assert list(said["tables"]) == list(said["notes"]) == list(TABLES)
    assert (said["dataset"], said["simulated"]) == ("d", False)
    assert said["provenance"]["seed"] == 20260928
    expected = audit_tables(cache, D, ["cells"])["cells"].rows
    assert [row["pvalue"] for row in said["tables"]["cells"]] == expected["pvalue"].tolist()
    english = next(r for r in said["tables"]["item_flow"] if r["condition"] == "en")
    assert (english["n"], english["n_used"]) == (4, 4)


def test_a_folder_gets_a_file_per_table_and_the_notes(audit: Run, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    code, out, err = audit("--out", f"{folder}/")
    assert (code, out) == (0, "")
    assert err == f"Wrote {len(TABLES) + 1} files to {folder}.\n"
    assert {p.name for p in folder.iterdir()} == {*(f"{t}.csv" for t in TABLES), "notes.json"}
    notes = strict((folder / "notes.json").read_text())
    assert list(notes["notes"]) == list(TABLES)
    assert notes["provenance"]["dataset"] == "d"
    cells = pd.read_csv(folder / "cells.csv")
    assert cells["condition"].tolist() == ["es", "hi"] * 2


def test_a_folder_holds_one_audit_and_nothing_else(audit: Run, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert audit("--out", f"{folder}/")[0] == 0
    assert audit("--table", "cells", "--out", f"{folder}/")[0] == 0
    assert {p.name for p in folder.iterdir()} == {"cells.csv", "notes.json"}
    (folder / "mine.csv").write_text("a\n1\n")
    code, _, err = audit("--out", f"{folder}/")
    assert code == 2
    assert "holds mine.csv, which is no file of an audit" in err
    assert {p.name for p in folder.iterdir()} == {"cells.csv", "mine.csv", "notes.json"}


def test_an_audit_that_was_not_written_whole_has_no_notes(
    audit: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    assert audit("--table", "cells", "--out", f"{folder}/")[0] == 0

    def killed(table: pd.DataFrame, path: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("core.export.table_files.write_table", killed)
        assert audit("--table", "cells", "--seed", "2", "--out", f"{folder}/")[0] == 130
    assert not (folder / "notes.json").exists()
    assert audit("--table", "cells", "--out", f"{folder}/")[0] == 0


def test_one_table_goes_to_one_file(audit: Run, cache: Cache, tmp_path: Path) -> None:
    file = tmp_path / "cells.csv"
    code, out, err = audit("--table", "cells", "--out", file)
    assert (code, out, err) == (0, "", f"Wrote {file}.\n")
    expected = audit_tables(cache, D, ["cells"])["cells"].rows
    pd.testing.assert_frame_equal(
        pd.read_csv(file, keep_default_na=False, na_values=[""])[["condition", "n", "pvalue"]],
        expected[["condition", "n", "pvalue"]],
        check_dtype=False,
    )


def test_one_object_goes_to_a_json_file(audit: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    assert audit("--table", "cells", "--table", "score_map", "--out", file)[0] == 0
    assert list(strict(file.read_text())["tables"]) == ["cells", "score_map"]


def test_named_tables_are_printed_with_their_notes(audit: Run) -> None:
    code, out, _ = audit("--table", "item_flow")
    assert code == 0
    assert out.startswith("item_flow\n")
    assert "n_compared" in out


def test_a_long_table_says_how_much_of_it_is_shown(audit: Run, cache: Cache) -> None:
    n = len(audit_tables(cache, D, ["fragility"])["fragility"].rows)
    assert n > 20
    code, out, _ = audit("--table", "fragility")
    assert code == 0
    assert f"showing 20 of {n}; --json and --out give all of them" in out


def test_options_say_what_is_compared(audit: Run, cache: Cache) -> None:
    put_slice(cache, Slice("odd", "d", "", ("1", "3")))
    options = ["--scorer", A[:9], "--condition", "HI", "--slice", "odd", "--kind", "summed"]
    options += ["--source", "written", "--category", "age", "--dimension", "warmth"]
    options += ["--margin", "0.05", "--reference", "hi", "--seed", "3", "--json"]
    options += ["--model-group", "tiny=small", "--table", "score_map", "--complete-cases"]
    code, out, _ = audit(*options)
    said = strict(out)
    assert code == 0
    rows = said["tables"]["score_map"]
    assert [(r["scorer_id"], r["condition"], r["n"]) for r in rows] == [
        (A, c, 2) for c in ("en", "en~p1", "en~p2", "hi")
    ]
    facts = said["provenance"]
    wanted = {"kind": "summed", "margin": 0.05, "reference": "hi", "seed": 3, "slice": "odd"}
    wanted["complete"] = True
    assert {name: facts[name] for name in wanted} == wanted


def test_a_model_s_group_is_given_by_model_name_or_scorer(audit: Run) -> None:
    by_name = audit("--model-group", "tiny=x", "--table", "score_map", "--json")
    assert strict(by_name[1])["provenance"]["model_groups"] == {"tiny": "x"}
    by_id = audit("--model-group", f"{B[:8]}=x y", "--table", "score_map", "--json")
    assert strict(by_id[1])["provenance"]["model_groups"] == {B: "x y"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--table", "nope"], "The audit has no table nope; choose from: item_flow"),
        (["--kind", "nope"], "'nope' is no kind of score; choose from: mean, summed"),
        (["--margin", "0"], "--margin 0.0 is not a positive number"),
        (["--margin", "nan"], "--margin nan is not a positive number"),
        (["--scorer", "nope"], "No scorer is called 'nope'; give --scorer one of"),
        (["--condition", "fr"], "d has no condition fr"),
        (["--condition", "??"], "'??' is not a condition"),
        (["--reference", "fr"], "The reference fr is not among the conditions"),
        (["--source", "nope"], "d has no source nope; it has bbq, written"),
        (["--slice", "nope"], "d has no slice 'nope'"),
        (["--model-group", "tiny"], "--model-group takes NAME=GROUP, not 'tiny'"),
        (["--model-group", "nope=x"], "give --model-group one of"),
        (["--out", "x.csv"], "holds one table, and"),
        (["--table", "cells", "--out", "x.docx"], "does not end in a format"),
        (["--out", "no/such/folder"], "The folder no/such does not exist"),
        (["--out", "no/x.json"], "The folder no does not exist"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(audit: Run, options: list[str], words: str) -> None:
    code, out, err = audit(*options)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_a_file_is_not_taken_for_a_folder(audit: Run, tmp_path: Path) -> None:
    file = tmp_path / "notes"
    file.write_text("mine")
    code, out, err = audit("--out", file)
    assert (code, out) == (2, "")
    assert f"{file} is a file; name a folder" in err
    assert file.read_text() == "mine"


def test_an_unknown_data_set_is_one_sentence(audit: Run) -> None:
    code, out, err = audit(dataset="e")
    assert (code, out) == (2, "")
    assert "has no data set 'e'" in err


def test_simulated_scores_are_marked_wherever_they_show(
    audit: Run, cache: Cache, tmp_path: Path
) -> None:
    rows = [item(f"made up {i}", c) for c in ("en", "en~p1", "hi") for i in range(4)]
    put(cache, rows, "made up")
    made_up = replace(SCORER, method="simulated", model="m")
    put_preferences(cache, made_up, [(one, 0.1) for one in rows])
    stamp = "SIMULATED: no model stands behind these numbers.\n"
    for options in ([], ["--table", "cells"]):
        assert audit(*options, dataset="made up")[1].startswith(stamp)
    assert strict(audit("--table", "cells", "--json", dataset="made up")[1])["simulated"] is True
    file, folder = tmp_path / "cells.csv", tmp_path / "out"
    assert stamp in audit("--table", "cells", "--out", file, dataset="made up")[2]
    assert audit("--table", "cells", "--out", folder, dataset="made up")[0] == 0
    for path in (file, folder / "cells.csv"):
        assert set(pd.read_csv(path)["simulated"]) == {"SIMULATED"}
    assert strict((folder / "notes.json").read_text())["simulated"] is True

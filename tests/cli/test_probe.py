"""`python -m core probe`: the tables of the analysis, with their n, and what cannot be asked."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from core.analysis.heads import uncertainty
from core.analysis.heads.positions import position_table
from core.analysis.heads.probe import OF_MODELS, OF_PEOPLE, TABLES
from core.analysis.heads.question import HeadsQuestion
from core.axes.concepts import Concept, ConceptSet
from core.cli.probe_tables import VIEWS, print_probe
from core.store.axes import put_concepts
from core.store.gate import Cache
from tests.conftest import Run
from tests.planted_cache import CONCEPTS, REFERENCE, made_axes
from tests.planted_heads import planted_heads
from tests.planted_labels import AXES, LABELLED, fill_labelled

WORDS = ("probe", "--axes", AXES, "--concepts", LABELLED, "--reference", REFERENCE, "--k", "3")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, HeadsQuestion, str]:
    """A cache of two models, and the other one's reader."""
    folder = tmp_path_factory.mktemp("filled") / "cache"
    question = fill_labelled(Cache(folder), planted_heads())
    other = fill_labelled(Cache(folder), planted_heads(n_layers=3), seed=1)
    return folder, question, other.reader_id


@pytest.fixture
def question(cache: Cache, filled: tuple[Path, HeadsQuestion, str]) -> HeadsQuestion:
    shutil.copytree(filled[0], cache.folder)
    return filled[1]


@pytest.fixture
def words(question: HeadsQuestion) -> tuple[str, ...]:
    return (*WORDS, "--reader", question.reader_id)


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    """Three annotators on two axes and a group, one of whom fails the control items."""
    axes = [axis.axis_id for axis in made_axes(8)]
    rows = [
        f"{who},{CONCEPTS} 1,{axis},{rating},"
        for who, given in {"a": (5, 3), "b": (4, 1), "c": (1, 1)}.items()
        for axis, rating in zip((axes[1], axes[2]), given, strict=True)
    ]
    rows += [
        f"c,x,{axes[0]},1,5",
        f"c,y,{axes[0]},1,5",
        f"a,Unknown,{axes[0]},1,",
        f"b,Unknown,{axes[0]},1,",
    ]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(["annotator,group,axis,rating,expected", *rows]) + "\n")
    return path


def test_a_table_in_a_file_is_that_of_the_analysis(
    run: Run, cache: Cache, question: HeadsQuestion, words: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / "positions.parquet"
    code, _, err = run(*words, "--table", "positions", "--out", file)
    assert code == 0, err
    expected = position_table(cache, question)
    pd.testing.assert_frame_equal(pd.read_parquet(file), expected, check_dtype=False)


def test_json_holds_every_table_that_needs_nothing_more(run: Run, words: tuple[str, ...]) -> None:
    code, out, err = run(*words, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert set(found["tables"]) == set(TABLES) - {*OF_PEOPLE, *OF_MODELS}
    for rows in found["tables"].values():
        assert rows
        for row in rows:
            assert "reason" in row and any(name.startswith("n_") or name == "n" for name in row)
    assert found["centre"] == "joint" and found["question"]["k"] == 3
    assert found["tables"]["validity"][0]["halves_overlap"] == 1


def test_other_readers_and_people_bring_their_tables(
    run: Run, words: tuple[str, ...], filled: tuple[Path, HeadsQuestion, str], ratings: Path
) -> None:
    words = (*words, "--compare", filled[2], "--ratings", ratings)
    tables = [word for name in (*OF_PEOPLE, *OF_MODELS) for word in ("--table", name)]
    code, out, err = run(*words, *tables, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert set(found["tables"]) == {*OF_PEOPLE, *OF_MODELS} and found["compare"] == [filled[2]]
    assert {row["reader_id"] for row in found["tables"]["models"]} == {filled[2]}
    people = found["tables"]["people"][0]
    assert (people["rule"], people["n"], people["n_annotators"]) == ("published", 2, 2)
    assert [row["n_items"] for row in found["tables"]["raters"]] == [2, 2, 2]  # as on the page
    assert [row["excluded"] for row in found["tables"]["annotators"]] == [False, False, True]
    assert any("not in the set, and left out: Unknown." in note for note in found["notes"])
    assert any("1 annotator of 3 excluded" in note for note in found["notes"])
    code, out, err = run(*words)
    said = " ".join(out.split())
    assert code == 0, err
    for title in ("Agreement between models", "Flags of people and the model", "How far people"):
        assert title in said
    assert "Flags of people and the model: published By Both Model People None Agree" in said
    assert "row 1" not in said
    assert "Note: 1 annotator of 3 excluded by the control items." in said


def test_the_screen_says_majority_n_and_what_is_undefined(
    run: Run, cache: Cache, words: tuple[str, ...]
) -> None:
    code, out, _ = run(*words)
    said = " ".join(out.split())
    assert code == 0
    assert "against labels: warmth k Accuracy sd Majority Balanced AUC p Axes Groups" in said
    assert "Note: 1 of 1 rows: A floor for 40 concepts needs 80 reference phrases, not 40" in said
    put_concepts(cache, ConceptSet("bare", (Concept(f"{CONCEPTS} 1"), Concept(f"{CONCEPTS} 2"))))
    code, out, _ = run(*words, "--concepts", "bare", "--reference", "")
    said = " ".join(out.split())
    assert code == 0
    assert "6 of 12 rows: no concept has a label of warmth" in said
    assert "no reference phrases were chosen" in said
    assert "0.000" not in said


def test_each_table_can_be_printed(run: Run, words: tuple[str, ...], ratings: Path) -> None:
    names = [name for name in TABLES if name not in OF_MODELS]
    named = [word for name in names for word in ("--table", name)]
    code, out, err = run(*words, "--ratings", ratings, *named)
    assert code == 0, err
    titles = [VIEWS[name].title for name in names if name in VIEWS]
    assert all(title in " ".join(out.split()) for title in titles) and "annotators" in out


def test_a_table_that_was_cut_says_so(
    run: Run, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "The table halves has the 3 axes of the largest KS D, of 8."
    file = tmp_path / "halves.csv"
    code, out, err = run(*words, "--table", "halves")
    assert code == 0 and "The table halves" not in out + err
    monkeypatch.setattr(uncertainty, "AT_MOST", 3)
    code, out, err = run(*words, "--table", "halves", "--out", file)
    assert code == 0 and said in " ".join((out + err).split())
    assert pd.read_csv(file)["n_axes"].tolist() == [8] * 3
    code, out, _ = run(*words, "--table", "halves")
    assert code == 0 and said in " ".join(out.split())


def test_long_tables_say_how_many_rows_there_are(capfd: pytest.CaptureFixture[str]) -> None:
    rows = pd.DataFrame({"annotator": [f"p{i}" for i in range(25)], "reason": ""})
    print_probe({"annotators": rows})
    said = capfd.readouterr().out
    assert "showing 20 of 25" in said and "p19" in said and "p20" not in said


@pytest.mark.parametrize(
    ("others", "said"),
    [
        (("--table", "people"), "The table people needs people's ratings: name a file with --rat"),
        (("--table", "models"), "The table models needs another reader: name one with --compare"),
        (("--table", "all"), "'all' is no table; choose from: positions, position_axes, abl"),
        (("--centre", "origin"), "--centre is 'origin'; choose from: joint, groups, midpoint."),
        (("--by", "word"), "--by is 'word'; write synset or lemma."),
        (("--k", "99", "--table", "labels"), "has 24 heads, not 99"),
        (("--seed", "-1"), "--seed is -1; write 0 or a larger whole number."),
        (("--out", "all.csv"), "all.csv holds one table; choose one with --table"),
        (("--ratings", "none.csv"), "none.csv"),
        (("--compare", "other"), "No reader is called 'other'"),
        (("--reference", "", "--centre", "joint"), "The centre 'joint' needs reference phrases"),
    ],
)
def test_what_cannot_be_asked(
    run: Run, words: tuple[str, ...], others: tuple[str, ...], said: str
) -> None:
    code, _, err = run(*words, *others)
    assert (code, said in " ".join(err.split())) == (2, True), err

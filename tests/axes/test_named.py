"""Sets by name: the program's own words, and tables of one's own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from core.axes.named import AXES, DEMO, axes_named, concepts_named, reference_named
from core.errors import DataSetError, InputError


def test_the_words_of_the_program():
    sizes = {name: len(axes_named(name).axes) for name in AXES}
    assert sizes == {"wordnet": 1999, "scm": 92, DEMO: 24}
    demo = axes_named(DEMO).axes
    assert Counter(axis.facet for axis in demo) == dict.fromkeys(
        ("morality", "sociability", "ability", "agency"), 6
    )
    assert set(demo) <= set(axes_named("scm").axes)
    assert {n: len(concepts_named(n).phrases.concepts) for n in ("groups25", "groups50")} == {
        "groups25": 25,
        "groups50": 50,
    }


def test_reference_phrases():
    groups = concepts_named("groups50").phrases
    assert len(reference_named("published", groups).phrases.concepts) == 50
    people = reference_named("people", groups)
    assert people.phrases.name == "groups50-people"
    assert len(people.phrases.concepts) + len(people.unmatched) == 50
    assert all(match.reason for match in people.unmatched)


def test_tables_of_ones_own(tmp_path: Path):
    file = tmp_path / "mine.csv"
    file.write_text("negative,positive\nkalt,warm\n")
    found = axes_named(str(file))
    assert (found.name, [a.positive.lemmas for a in found.axes]) == ("mine", [("warm",)])
    file.write_text("text\nbakers\nmillers\n")
    assert [c.text for c in concepts_named(str(file)).phrases.concepts] == ["bakers", "millers"]
    assert reference_named(str(file), concepts_named("groups25").phrases).phrases.name == "mine"
    file.write_text("text\nbakers\n")
    with pytest.raises(DataSetError):
        concepts_named(str(file))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: axes_named("smc"), "'smc' is none of wordnet, scm, demo, and no file either"),
        (lambda: concepts_named("groups"), "none of groups25, groups50"),
        (
            lambda: reference_named("random", concepts_named("groups25").phrases),
            "none of published, phrases, people",
        ),
        (lambda: axes_named("scm", Path("/nowhere")), "holds no data.adj"),
    ],
)
def test_a_name_that_is_nothing(call, words):
    with pytest.raises(InputError, match=words):
        call()


def own_reference(file: str):
    return reference_named(file, concepts_named("groups25").phrases)


@pytest.mark.parametrize(
    ("stem", "call"),
    [
        ("demo", axes_named),
        ("wordnet", axes_named),
        ("groups50", concepts_named),
        ("reference50", concepts_named),
        ("people", own_reference),
        ("groups25-phrases", own_reference),
    ],
)
def test_a_table_cannot_stand_for_a_set_of_the_program(tmp_path: Path, stem: str, call):
    file = tmp_path / f"{stem}.csv"
    axis, phrases = "negative,positive\nkalt,warm\n", "text\nbakers\nmillers\n"
    file.write_text(axis if call is axes_named else phrases)
    said = f"{stem}.csv would be stored as '{stem}', .* another name"
    with pytest.raises(InputError, match=said):
        call(str(file))
    call(str(file.rename(tmp_path / "mine.csv")))

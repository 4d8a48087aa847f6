"""Axes beyond the dictionary: what counts as known, and what people take back."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from core.analysis.heads.beyond import beyond_table, dictionary
from core.analysis.heads.human import matched
from core.analysis.heads.stored import StoredAxes, compute_axes
from core.axes.axis import Pole
from core.store.gate import Cache
from tests.planted_cache import CONCEPTS, STEREOTYPED
from tests.planted_heads import planted_heads
from tests.planted_labels import fill_labelled
from tests.tiny_wordnet import real_wordnet

KNOWN, NEAR = STEREOTYPED[:2]  # of the axes that are flagged


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> StoredAxes:
    """One flagged axis with a pole of the dictionary, one with a lemma of it in another synset."""
    cache = Cache(tmp_path_factory.mktemp("beyond"))
    held = compute_axes(cache, fill_labelled(cache, planted_heads()))
    axes = list(held.held.axes)
    ids = [axis.axis_id for axis in axes]
    axes[KNOWN] = replace(axes[KNOWN], positive=Pole("honest.a.01", 1, ("honest", "honorable")))
    axes[NEAR] = replace(axes[NEAR], negative=Pole("moral.s.02", 2, ("Moral",)))
    renamed = dict(zip(ids, (axis.axis_id for axis in axes), strict=True))
    table = held.table.assign(axis_id=held.table["axis_id"].map(renamed))
    return replace(held, held=replace(held.held, axes=tuple(axes)), table=table)


def _found(found: StoredAxes, rows: pd.DataFrame) -> set[int]:
    places = {axis.axis_id: i for i, axis in enumerate(found.held.axes)}
    return {places[axis] for axis in rows.loc[rows["found"].fillna(False), "axis_id"]}


def _flagged(found: StoredAxes) -> set[int]:
    return _found(found, found.table.assign(found=found.table["flagged"]))


def test_the_dictionary_has_the_synsets_and_lemmas_of_92_axes():
    assert {"honest.a.01", "dishonest.a.01", "able.a.01"} <= dictionary()
    assert "moral.s.02" not in dictionary() and len(dictionary()) <= 184


def test_a_flagged_axis_is_beyond_if_neither_pole_is_known(found):
    rows = beyond_table(found)
    assert _found(found, rows) == _flagged(found) - {KNOWN}
    by_axis = rows.set_index("axis_id")
    assert by_axis.loc[found.held.axes[KNOWN].axis_id, "n_known_poles"] == 1
    assert set(rows["people"]) == {"not rated"} and (rows["n_answers"] == 0).all()
    assert (rows["n_concepts"] == 40).all() and (rows["reason"] == "").all()


def test_by_lemma_a_word_of_another_synset_is_known_too(found):
    real_wordnet()
    assert {"moral", "honorable"} <= dictionary("lemma")
    assert _found(found, beyond_table(found, by="lemma")) == _flagged(found) - {KNOWN, NEAR}


def test_what_people_do_not_confirm_is_taken_back(found):
    axes = found.held.axes
    ratings = {NEAR: [5, 5, 4], STEREOTYPED[2]: [1, 3, 5], 0: [5, 5]}
    answers = pd.DataFrame(
        [
            (f"p{i}", f"{CONCEPTS} 1", axes[axis].axis_id, float(rating))
            for axis, given in ratings.items()
            for i, rating in enumerate(given)
        ],
        columns=["annotator", "group", "axis", "rating"],
    )
    people = matched(answers, axes, found.held.concepts)
    rows = beyond_table(found, people)
    said = rows.set_index("axis_id")["people"]
    assert [said[axes[i].axis_id] for i in (NEAR, STEREOTYPED[2], 0, 3)] == [
        "confirmed",
        "not confirmed",
        "confirmed",
        "not rated",
    ]
    assert _found(found, rows) == _flagged(found) - {KNOWN, STEREOTYPED[2]}
    assert rows.set_index("axis_id").loc[axes[NEAR].axis_id, "n_answers"] == 3
    silent = people.answers.assign(rating=float("nan"))
    rows = beyond_table(found, replace(people, answers=silent))
    assert rows.set_index("axis_id").loc[axes[NEAR].axis_id, "people"] == "does not apply"


def test_an_undefined_flag_is_neither_found_nor_not(found):
    table = found.table.assign(flagged=found.table["flagged"].mask(found.table.index == 0))
    rows = beyond_table(replace(found, table=table))
    assert rows["found"].isna().tolist() == [True] + [False] * 7

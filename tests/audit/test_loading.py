"""Loading a panel: what was asked for, one scorer per model, and what is not there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.analysis.audit.audit import audit_panel
from core.analysis.audit.loading import load_panel, one_per_model
from core.analysis.audit.request import AuditRequest
from core.errors import InputError
from core.store.gate import Cache
from core.store.slices import Slice, put_slice
from tests.analysis.test_comparison import COLLAPSED, A, B, put_preferences
from tests.audit.test_panel import panel_of
from tests.store_samples import OTHER, SCORER, item, put

D = AuditRequest(dataset="d")


def two_of_one_model(cache: Cache) -> str:
    """The model of SCORER in two precisions, and another model; the id of the second precision."""
    rows = [(item("1"), 1.0), (item("1", "hi"), 0.4)]
    put(cache, [one for one, _ in rows])
    exact = replace(SCORER, dtype="float64")
    for scorer in (SCORER, exact, OTHER):
        put_preferences(cache, scorer, rows)
    return exact.scorer_id


def test_a_checkpoint_in_two_settings_is_one_model(cache: Cache) -> None:
    exact = two_of_one_model(cache)
    panel = load_panel(cache, D)
    assert panel.scorers == (A, B)
    assert panel.notes == (
        f"2 scorers of one model: only {panel.models[0]} ({A[:8]}) is used; choose another with "
        "--scorer / Models.",
    )
    chosen = load_panel(cache, replace(D, scorers=(exact, B)))
    assert (chosen.scorers, chosen.notes) == ((exact, B), ())
    with pytest.raises(InputError, match="are one model in several settings; name one of") as no:
        load_panel(cache, replace(D, scorers=(exact, B, A)))
    assert f"({exact[:8]}) and tiny" in str(no.value)
    assert "\n" not in str(no.value)


def test_scorers_without_a_fingerprint_are_models_of_their_own() -> None:
    known = pd.DataFrame({"scorer_id": ["a", "b", "c", "d"], "fingerprint": ["", "x", "", "x"]})
    assert one_per_model(known, ["d", "a", "b", "c"]) == {"d": ["d", "b"], "a": ["a"], "c": ["c"]}


def test_unfinished_scoring_is_said_and_what_cannot_be_scored_is_not(cache: Cache) -> None:
    rows = [item(str(i), c) for c in ("en", "hi") for i in range(3)]
    put(cache, [*rows, COLLAPSED])
    put_preferences(cache, SCORER, [(one, 0.5) for one in rows[:5]] + [(rows[5], None)])
    assert load_panel(cache, D).notes == ()
    put_preferences(cache, OTHER, [(rows[0], 0.5), (rows[1], None)])
    panel = load_panel(cache, D)
    line = f"python -m core score --model {OTHER.model} --dataset d --cache {cache.folder}"
    assert panel.notes == (
        f"1 of 6 versions is scored under {panel.models[1]}; the numbers are of these alone. "
        f"Run `{line}` to score the rest.",
    )
    # Of what is asked for, nothing is missing.
    put_slice(cache, Slice("first", "d", "", ("1",)))
    request = replace(D, scorers=(A,), slice="first")
    assert load_panel(cache, request).notes == ()


def test_arms_of_the_positive_control_are_not_counted_as_unfinished(cache: Cache) -> None:
    rows = [item("1", c) for c in ("en", "hi", "en+true", "en~p1+false")]
    put(cache, rows)
    put_preferences(cache, SCORER, [(one, 0.5) for one in rows[:2]])
    assert load_panel(cache, D).notes == ()
    put(cache, [*rows, item("2")], replace=True)
    (note,) = load_panel(cache, D).notes
    assert note.startswith("2 of 3 versions are scored under ")


def test_translations_that_were_not_chosen_are_named(cache: Cache) -> None:
    rows = [(item("1", c), 0.5) for c in ("en", "en~p1", "hi", "es")]
    panel = panel_of(cache, rows, replace(D, conditions=("en~p1",)))
    assert panel.no_translation == (
        "The chosen conditions hold no translation (the data set has es, hi)."
    )
    assert load_panel(cache, D).left_out == ()
    assert not panel.only_pairs


def test_english_and_its_rewordings_are_always_among_the_conditions(cache: Cache) -> None:
    conditions = ("en", "hi", "es", "en~p1", "hi~p1", "en+true", "en~p1+true")
    rows = [(item("1", c), 0.5) for c in conditions]
    panel = panel_of(cache, rows, replace(D, conditions=("hi",)))
    assert panel.conditions == ("en", "en~p1", "hi")
    assert set(panel.versions["condition"]) == {"en", "en~p1", "hi"}


def test_sources_categories_and_dimensions_are_those_of_the_english_item(cache: Cache) -> None:
    rows = [
        (item("1", source="bbq", category="age", dimension="warmth"), 0.1),
        (item("1", "hi"), 0.2),  # the translation does not repeat what its original says
        (item("2", source="x", category="age"), 0.3),
        (item("3", "hi", source="bbq", native=True), 0.3),
    ]
    put(cache, [one for one, _ in rows])
    put_preferences(cache, SCORER, rows)
    asked = {
        "sources": (("bbq",), ["1"]),
        "categories": (("age",), ["1", "2"]),
        "dimensions": (("warmth",), ["1"]),
    }
    for field, (values, ids) in asked.items():
        panel = load_panel(cache, replace(D, **{field: values}))
        assert panel.item_ids == ids, field
        assert np.isfinite(panel.scores("mean")[0, :, 0]).all(), field
    assert load_panel(cache, replace(D, sources=("bbq",))).versions["native"].sum() == 1


def test_a_slice_is_its_list_or_what_its_filter_leaves(cache: Cache) -> None:
    rows = [(item(str(i), c), 0.3 * i) for c in ("en", "hi") for i in range(4)]
    put(cache, [one for one, _ in rows])
    put_preferences(cache, SCORER, rows)
    put_slice(cache, Slice("two", "d", "", ("2", "0")))
    put_slice(cache, Slice("high", "d", f"v=1&dataset=d&scorer={A}&ss_min=0.6"))
    assert load_panel(cache, replace(D, slice="two")).item_ids == ["0", "2"]
    panel = load_panel(cache, replace(D, slice="high"))
    assert panel.item_ids == ["2", "3"]
    assert panel.conditions == ("en", "hi")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"dataset": "e"}, "no data set 'e'; it has d"),
        ({"scorers": ("nope",)}, "d has no scores under nope"),
        ({"conditions": ("fr",)}, "d has no condition fr; it has en, hi"),
        ({"sources": ("bbq",)}, "d has no source bbq; it has none at all"),
        ({"categories": ("x",)}, "d has no category x"),
        ({"dimensions": ("x",)}, "d has no dimension x"),
        ({"reference": "fr"}, "reference fr is not among the conditions asked for: en, hi"),
        ({"slice": "s"}, "d has no slice 's'"),
        ({"slice": "empty"}, "No item of d is in the slice 'empty'"),
        ({"slice": "other"}, "No item of d that was asked for has an English version"),
    ],
)
def test_what_is_not_there_is_one_sentence(cache: Cache, asked: dict, words: str) -> None:
    rows = [(item("1"), 0.5), (item("1", "hi"), 0.5), (item("2", "hi"), 0.5)]
    put(cache, [one for one, _ in rows])
    put_preferences(cache, SCORER, rows)
    put_slice(cache, Slice("empty", "d", "", ("gone",)))
    put_slice(cache, Slice("other", "d", "", ("2",)))
    with pytest.raises(InputError, match=words) as refused:
        audit_panel(cache, replace(D, **asked))
    assert "\n" not in str(refused.value)


def test_a_data_set_without_scores_says_what_to_do(cache: Cache) -> None:
    put(cache, [item("1")])
    with pytest.raises(
        InputError, match=r"is scored yet; run `python -m core score --model demo --dataset d "
    ):
        load_panel(cache, D)
    put_preferences(cache, SCORER, [(item("1"), None)])
    with pytest.raises(InputError, match="is scored yet"):
        load_panel(cache, D)


def test_a_stream_of_random_numbers_belongs_to_a_table_and_a_seed() -> None:
    first = D.rng("cells").random()
    assert first == D.rng("cells").random()
    assert first != D.rng("floors").random()
    assert first != replace(D, seed=1).rng("cells").random()

"""Results on axes come back bit for bit, replace each other, and go with what they came from."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.store import migrations
from core.store.axis_results import (
    GENERATION,
    AxisRows,
    Layout,
    LayoutKey,
    ResultFacts,
    get_axis_rows,
    get_layout,
    put_axis_rows,
    put_layout,
)
from core.store.clock import utc_now
from core.store.gate import Cache
from core.store.generations import generation
from core.store.prune import files_of, forget
from core.store.repair import repair
from core.store.verify import verify
from tests.planted_cache import fill_planted
from tests.planted_heads import planted_heads

FACTS = ResultFacts(
    reader_id="r",
    family="simple",
    axis_set="axes",
    concept_set="groups",
    reference_set="",
    pooling="mean",
    n_templates=30,
    k=None,
    seed=1,
)
KEY = LayoutKey(result_id="a", points_of="axes", n_neighbors=15, min_dist=0.1, seed=1)
LAYOUT = Layout(
    ("x~y", "z~w"), np.array([[0.1, -2.0], [3.0, 4.0]]), ("u~v",), 1, {"numpy": "2"}, utc_now()
)


def rows_of(n_axes: int, seed: int = 0) -> AxisRows:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_axes, 5))
    values[0, 2] = np.nan
    numbers = {
        name: rng.normal(size=n_axes)
        for name in (
            "separability", "separability_chance", "separability_held_out", "held_out_chance",
            "statistic", "pvalue", "qvalue", "rejection_rate", "rejection_error", "difference",
            "superiority", "pvalue_location", "spread_ratio", "pvalue_spread",
        )
    }  # fmt: skip
    numbers["statistic"][0] = np.nan
    flagged = pd.array([None, *[True] * (n_axes - 1)], dtype="boolean")
    texts = {"stability": "", "method": "exact", "reason": "a reason"}
    tests = pd.DataFrame(
        {
            **numbers,
            "flagged": flagged,
            "n_concepts": 3,
            "n_reference": 2,
            "n_negative": 30,
            "n_positive": 29,
            **texts,
        }
    )
    return AxisRows(
        axis_ids=tuple(f"bad{i}~good{i}" for i in range(n_axes)),
        values=values,
        heads=(np.array([], dtype=np.int64), *[np.array([7, 0, 3])] * (n_axes - 1)),
        n_skipped=np.arange(n_axes),
        tests=tests,
    )


def test_a_result_comes_back_bit_for_bit(cache: Cache) -> None:
    stored = rows_of(4)
    stored_at = put_axis_rows(cache, "a", FACTS, stored)
    assert get_axis_rows(cache, "other") is None
    found = get_axis_rows(cache, "a")
    assert found is not None
    rows, created_at = found
    assert created_at == stored_at
    assert rows.axis_ids == stored.axis_ids
    np.testing.assert_array_equal(rows.values, stored.values)
    np.testing.assert_array_equal(rows.n_skipped, stored.n_skipped)
    assert [heads.tolist() for heads in rows.heads] == [heads.tolist() for heads in stored.heads]
    pd.testing.assert_frame_equal(rows.tests, stored.tests[rows.tests.columns], check_dtype=True)
    assert sorted(rows.tests.columns) == sorted(stored.tests.columns)


def test_only_the_latest_result_of_a_question_is_kept(cache: Cache) -> None:
    put_axis_rows(cache, "a", FACTS, rows_of(4))
    put_layout(cache, KEY, "r", LAYOUT)
    put_axis_rows(cache, "b", replace(FACTS, k=3), rows_of(3))
    before = generation(cache, "r", GENERATION)
    put_axis_rows(cache, "c", FACTS, rows_of(2, seed=1))
    assert generation(cache, "r", GENERATION) > before
    assert (get_axis_rows(cache, "a"), get_layout(cache, KEY)) == (None, None)
    assert {len(found[0].axis_ids) for n in "bc" if (found := get_axis_rows(cache, n))} == {3, 2}
    put_axis_rows(cache, "c", FACTS, rows_of(5))  # the same again
    found = get_axis_rows(cache, "c")
    assert found is not None
    assert len(found[0].axis_ids) == 5


def test_a_map_comes_back_and_is_told_by_its_parameters(cache: Cache) -> None:
    put_axis_rows(cache, "a", FACTS, rows_of(4))
    put_layout(cache, KEY, "r", LAYOUT)
    put_layout(cache, KEY, "r", replace(LAYOUT, n_duplicates=0))
    found = get_layout(cache, KEY)
    assert found is not None
    np.testing.assert_array_equal(found.points, LAYOUT.points)
    said = (found.names, found.left_out, found.n_duplicates, found.versions, found.created_at)
    assert said == (LAYOUT.names, LAYOUT.left_out, 0, LAYOUT.versions, LAYOUT.created_at)
    for other in (replace(KEY, n_neighbors=5), replace(KEY, seed=2), replace(KEY, min_dist=0.5)):
        assert get_layout(cache, other) is None


@pytest.fixture
def planted(cache: Cache) -> str:
    """A reader's arrays with a result of two families, each with a map."""
    reader_id = fill_planted(cache, planted_heads(n_axes=7)).reader_id
    for name, family in (("a", "simple"), ("b", "listing")):
        put_axis_rows(cache, name, replace(FACTS, reader_id=reader_id, family=family), rows_of(3))
        put_layout(cache, replace(KEY, result_id=name), reader_id, LAYOUT)
    return reader_id


def test_results_go_with_the_arrays_that_they_were_computed_from(
    cache: Cache, planted: str
) -> None:
    before = generation(cache, planted, GENERATION)
    forget(cache, files_of(cache, planted, "simple"))
    assert generation(cache, planted, GENERATION) > before
    assert get_axis_rows(cache, "a") is None
    assert get_layout(cache, KEY) is None
    assert get_axis_rows(cache, "b") is not None
    forget(cache, files_of(cache, planted, ""))  # concepts, which all results rest on
    assert get_axis_rows(cache, "b") is None
    assert verify(cache) == []


FAULTS = {
    "is of a reader that the cache does not know": "DELETE FROM head_reader",
    "has not the rows that it was stored with": "DELETE FROM axis_row WHERE position = 1",
    "or an atlas belongs to no result": "DELETE FROM axis_result WHERE result_id = 'a'",
}


@pytest.mark.parametrize("words", FAULTS)
def test_a_result_that_is_not_whole_is_found_and_dropped(
    cache: Cache, planted: str, words: str
) -> None:
    assert verify(cache) == []
    with cache.writing() as con:
        con.execute(FAULTS[words])
    assert any(words in finding for finding in verify(cache))
    assert words in repair(cache).message
    assert verify(cache) == []
    assert get_axis_rows(cache, "a") is None


def test_an_older_cache_gets_room_for_results(cache: Cache, planted: str) -> None:
    sql = "".join(migrations.MIGRATIONS[5:])
    with cache.writing() as con:
        for table in re.findall(r"CREATE TABLE (\w+)", sql):
            con.execute(f"DROP TABLE {table}")
        for table, column in re.findall(r"ALTER TABLE (\w+) ADD COLUMN (\w+)", sql):
            con.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        con.execute("DELETE FROM migration WHERE number >= 6")
    assert get_axis_rows(cache, "a") is None
    assert len(files_of(cache, planted)) == 3
    put_axis_rows(cache, "a", FACTS, rows_of(2))
    assert get_axis_rows(cache, "a") is not None


def test_a_cache_of_before_there_were_heads_is_brought_up_to_date(tmp_path: Path) -> None:
    old = Cache(tmp_path / "old")
    with pytest.MonkeyPatch.context() as patch:
        for place in ("core.store.migrations", "core.store.gate"):
            patch.setattr(f"{place}.MIGRATIONS", migrations.MIGRATIONS[:4])
        with old.writing():
            pass
    assert get_axis_rows(old, "a") is None
    assert verify(old) == []

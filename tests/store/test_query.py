"""A person's own SQL: reads the cache and reaches nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import InputError
from core.store.gate import Cache
from core.store.query import query
from core.store.scorers import put_scorer
from tests.store_samples import SCORER, filled


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    return filled(Cache(tmp_path_factory.mktemp("query")))


@pytest.mark.parametrize(
    ("sql", "n_rows"),
    [
        ("SELECT item_id FROM item;", 3),
        ("FROM item", 3),
        ("WITH a AS (SELECT 1) FROM a -- a comment; not a statement", 1),
        ("VALUES (1), (2)", 2),
        ("DESCRIBE migration", 2),
        ("EXPLAIN SELECT 1", 1),
        ("SELECT metadata->>'x' FROM item", 3),
        ("SELECT text_id FROM item_text WHERE role = 'stereotype'", 3),
        ("SELECT 1 WHERE false", 0),
    ],
)
def test_a_reading_statement_gives_its_rows(cache: Cache, sql: str, n_rows: int) -> None:
    assert query(cache, sql).num_rows == n_rows


def test_at_most_max_rows_come_back(cache: Cache) -> None:
    assert query(cache, "FROM range(10)", max_rows=4).num_rows == 4
    assert query(cache, "SELECT 1 AS a, 2 AS a FROM range(10)", max_rows=99).num_rows == 10
    assert query(cache, "EXPLAIN SELECT 1", max_rows=5).num_rows == 1
    first = query(cache, "SELECT range AS n FROM range(100) ORDER BY n DESC", max_rows=2)
    assert first.column("n").to_pylist() == [99, 98]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM read_blob('{file}')",
        "SELECT * FROM read_json('{file}')",
        "SELECT * FROM sniff_csv('{file}')",
        "SELECT * FROM glob('{folder}/*')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM query('FROM read_text(''{file}'')')",
        "EXPLAIN ANALYZE SELECT * FROM read_text('{file}')",
        "COPY (SELECT 1) TO '{folder}/out.csv'",
        "COPY item FROM '{file}'",
        "EXPORT DATABASE '{folder}/out'",
        "ATTACH '{folder}/other.duckdb'",
        "ATTACH ':memory:' AS m",
        "INSTALL httpfs",
        "LOAD httpfs",
        "LOAD '{file}'",
        "SET enable_external_access = true",
        "SET GLOBAL lock_configuration = false",
        "SET threads = 1",
        "RESET threads",
        "PRAGMA threads = 1",
        "SET VARIABLE x = 1",
        "PRAGMA database_list",
        "CALL enable_logging()",
        "CHECKPOINT",
        "USE memory",
        "CREATE TABLE x (a INTEGER)",
        "CREATE TEMP TABLE x (a INTEGER)",
        "INSERT INTO migration VALUES (9, NULL)",
        "UPDATE item SET context = ''",
        "DELETE FROM item",
        "EXPLAIN ANALYZE DELETE FROM item",
        "DROP TABLE item",
        "ALTER TABLE item ADD COLUMN x INTEGER",
        "TRUNCATE item",
        "VACUUM",
        "BEGIN",
        "PREPARE v AS SELECT 1",
    ],
)
def test_nothing_outside_the_cache_is_in_reach_and_nothing_is_written(
    cache: Cache, tmp_path: Path, sql: str
) -> None:
    file = tmp_path / "secret.csv"
    file.write_text("a\nsecret\n")
    before = sorted(p.name for p in tmp_path.iterdir())
    with pytest.raises(InputError) as caught:
        query(cache, sql.format(file=file, folder=tmp_path))
    assert "secret\n" not in str(caught.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == before
    assert query(cache, "FROM item").num_rows == 3


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("", "0 statements"),
        (" ; -- nothing", "0 statements"),
        ("SELECT 1; DROP TABLE item", "2 statements"),
        ("SELEC 1", 'syntax error at or near "SELEC"'),
        ("SELECT nothing FROM item", '"nothing"'),
        ("FROM itme", "itme"),
        ("SELECT 1 / 'a'", "Could not convert"),
        ("DELETE FROM item", "DELETE statement; only SELECT"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(cache: Cache, sql: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        query(cache, sql)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 'Corrupt database file'::INT",
        "SELECT 'Could not set lock'::DATE",
        "SELECT 'created with a newer version of DuckDB'::INT",
        "SELECT error('No space left on device')",
        "SELECT error('not a valid DuckDB database file')",
        "SELECT error('different configuration')",
        "FROM read_csv('Corrupt database file')",
        "FROM 'No space left on device.csv'",
        'FROM "Failed to deserialize"',
    ],
)
def test_the_words_of_a_cache_fault_in_a_query_are_the_query_s_own(cache: Cache, sql: str) -> None:
    with pytest.raises(InputError, match="DuckDB refuses this query"):
        query(cache, sql)


ENDLESS = "SELECT count(*) FROM range(1_000_000_000) a, range(1_000_000_000) b WHERE a.range = -1"


@pytest.mark.parametrize("options", [{}, {"max_rows": 3}])
def test_a_query_that_takes_too_long_is_stopped_and_lets_a_writer_in(
    cache: Cache, options: dict
) -> None:
    with pytest.raises(InputError, match=r"more than 0\.2 s and was stopped") as caught:
        query(cache, ENDLESS, seconds=0.2, **options)
    assert "--seconds" in str(caught.value)
    put_scorer(cache, SCORER)
    assert query(cache, "FROM item", seconds=0.2).num_rows == 3


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_query_needs_some_time_and_has_an_end(cache: Cache, seconds: float) -> None:
    with pytest.raises(InputError, match="more than 0 seconds"):
        query(cache, "FROM item", seconds=seconds)


def test_objects_of_the_program_are_not_tables(cache: Cache) -> None:
    visible = {"a": [1]}
    with pytest.raises(InputError, match="visible"):
        query(cache, "FROM visible")
    assert visible

"""Scores that were computed elsewhere: in with the file that they are from, and kept as they are.

A file and the model that its scores are of make one scorer, so the same file twice is the same
scorer, and another file is another one. A name stands for one of them in a data set: other numbers
under a name that is taken are refused, or replace those before. There are no tokens behind these
scores, so nothing derives them anew; core/store/items.py lets go of those of items that change.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb
import pandas as pd
import pyarrow as pa

from core.errors import InputError
from core.imported_scores.finding import ItemNumbers
from core.imported_scores.layout import Scale
from core.imported_scores.numbers import columns_of
from core.store.clock import utc_now
from core.store.derive import ROLES
from core.store.fetch import count, first_row, frame, insert_once
from core.store.gate import Cache
from core.store.generations import bump
from core.store.items import check_dataset
from core.store.pair_rows import ELSEWHERE, IMPORTED
from core.store.scorers import imported_scorer, scorer_row
from core.types import Scorer

NAME_LENGTH = 200

_NUMBERS = tuple(f"{unit}_{suffix}" for unit in ("l", "sum", "n", "order") for suffix in ROLES)
_SCHEMA = pa.schema(
    [
        ("item_id", pa.string()),
        ("condition", pa.string()),
        *((n, pa.int32() if n.startswith("n_") else pa.float64()) for n in _NUMBERS),
    ]
)
_KEY = "item_id, condition"
_STORED = (
    f"SELECT {_KEY}, {', '.join(_NUMBERS)} FROM item_score "
    "WHERE scorer_id = $scorer AND dataset = $dataset"
)
_ELSEWHERE = f"SELECT {_KEY} FROM incoming ANTI JOIN item ON item.dataset = $dataset " + (
    "AND item.item_id = incoming.item_id AND item.condition = incoming.condition"
)
_INSERT = f"""
INSERT INTO item_score BY NAME
SELECT $scorer AS scorer_id, $dataset AS dataset, *, []::VARCHAR[] AS flags
FROM incoming ANTI JOIN ({_STORED}) USING ({_KEY})
"""
_INSERT_PAIRS = f"""
INSERT INTO pair_score BY NAME
SELECT $scorer AS scorer_id, $dataset AS dataset, {_KEY}, '{ELSEWHERE}' AS unit,
    '{ELSEWHERE}' AS align, order_stereotype AS score_more, order_anti AS score_less,
    NULL::INTEGER AS n_unmodified, ['{IMPORTED}'] AS flags
FROM incoming ANTI JOIN (
    FROM pair_score WHERE scorer_id = $scorer AND dataset = $dataset
) USING ({_KEY})
"""
IMPORTS = """
SELECT i.*, model, (
    SELECT count(*) FROM item_score s WHERE s.scorer_id = i.scorer_id AND s.dataset = i.dataset
) AS n_scored, (
    SELECT count(n_stereotype + n_anti) FROM item_score s
    WHERE s.scorer_id = i.scorer_id AND s.dataset = i.dataset
) AS n_counted
FROM score_import i JOIN scorer USING (scorer_id)
ORDER BY i.imported_at, scorer_id, dataset
"""


@dataclass(frozen=True, kw_only=True)
class ScoreSource:
    """Where scores come from."""

    path: str
    format: str
    sha256: str
    scale: Scale
    note: str = ""  # what a person said of the file: columns, condition, labels


@dataclass(frozen=True)
class PutScores:
    """What became of the scores of one model."""

    model: str
    scorer_id: str
    stored: int  # items, counted once per condition
    left_out: int
    unchanged: bool  # the very same scores were there already


def put_imported(
    cache: Cache,
    dataset: str,
    source: ScoreSource,
    by_model: Mapping[str, Sequence[ItemNumbers]],
    *,
    left_out: Mapping[str, int] | None = None,
    replace: bool = False,
) -> list[PutScores]:
    """Store the scores of every model of a file in one transaction.

    Items that the same file has scored before keep their numbers; those that have none get theirs.

    Parameters
    ----------
    left_out
        How many items of the file have no score for an error, by model.
    replace
        Put them in the place of other numbers under the same name.

    Raises
    ------
    InputError
        There is no such data set, a model has no usable name, other imported scores of the data set
        have its name, or the data set has changed since the scores were found.
    """
    for model in by_model:
        _check_name(model)
    tables = {model: _table(numbers, source.scale) for model, numbers in by_model.items()}
    done = []
    with cache.writing() as con:
        check_dataset(con, dataset)
        for model, incoming in tables.items():
            con.register("incoming", incoming)
            scorer = imported_scorer(model, source.sha256, source.scale)
            n_left = (left_out or {}).get(model, 0)
            changed = _put(con, dataset, scorer, source, n_left, replace=replace)
            done.append(
                PutScores(model, scorer.scorer_id, len(incoming), n_left, unchanged=not changed)
            )
            con.unregister("incoming")
    return done


def score_imports(cache: Cache) -> pd.DataFrame:
    """Which files imported scores are from, one row per scorer and data set.

    Of the `n_scored` items that have scores now, `n_counted` have token counts of both poles.
    """
    with cache.reading() as con:
        return frame(con, IMPORTS)


def import_facts(cache: Cache, dataset: str) -> dict[str, dict[str, str]]:
    """By scorer with imported scores of a data set: file, hash, layout and scale, as texts."""
    found = score_imports(cache)
    names = ("path", "sha256", "format", "scale", "note", "imported_at")
    return {
        str(row["scorer_id"]): {f"scores_{name}": str(row[name]) for name in names}
        for row in found[found["dataset"] == dataset].to_dict("records")
    }


def _table(numbers: Sequence[ItemNumbers], scale: Scale) -> pa.Table:
    rows = [
        {"item_id": n.item_id, "condition": n.condition} | columns_of(n.values, n.n_tokens, scale)
        for n in numbers
    ]
    return pa.Table.from_pylist(rows, _SCHEMA)


def _check_name(model: str) -> None:
    if not model.strip() or len(model) > NAME_LENGTH:
        raise InputError(f"The name of a model has 1 to {NAME_LENGTH} characters.")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in model):
        raise InputError(f"The name of the model {model!a} contains control characters.")


def _put(
    con: duckdb.DuckDBPyConnection,
    dataset: str,
    scorer: Scorer,
    source: ScoreSource,
    n_left_out: int,
    *,
    replace: bool,
) -> bool:
    """Store the registered scores of one model; whether that changed anything."""
    of = {"scorer": scorer.scorer_id, "dataset": dataset}
    if count(con, _ELSEWHERE, {"dataset": dataset}):
        raise InputError(f"{dataset} has changed meanwhile; import its scores again.")
    others = _of_that_name(con, dataset, scorer)
    differs = _differs(con, of)
    if (any(others.values()) or differs) and not replace:
        raise InputError(
            f"{dataset} has other imported scores under the name {scorer.model!r}; --replace puts "
            "these in their place, or give this model another name with --model."
        )
    for scorer_id in [*others, *([scorer.scorer_id] if differs else [])]:
        _forget(con, scorer_id, dataset)
    n_before = count(con, _STORED, of)
    if n_before and n_before == count(con, "FROM incoming", {}):
        return False
    insert_once(con, "scorer", "scorer_id", scorer_row(scorer))
    con.execute(_INSERT, of)
    if source.scale is Scale.PAIRS:
        con.execute(_INSERT_PAIRS, of)
    con.execute("DELETE FROM score_import WHERE scorer_id = $scorer AND dataset = $dataset", of)
    con.execute(
        "INSERT INTO score_import VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            *(scorer.scorer_id, dataset, source.path, source.format, source.sha256),
            *(str(source.scale), source.note, count(con, _STORED, of), n_left_out, utc_now()),
        ],
    )
    bump(con, [scorer.scorer_id, *others], [dataset])
    return True


def _of_that_name(con: duckdb.DuckDBPyConnection, dataset: str, scorer: Scorer) -> dict[str, bool]:
    """Other imported scorers of the same name; whether scores of the data set are left of each."""
    rows = con.execute(
        "SELECT scorer_id, EXISTS (FROM item_score s WHERE s.scorer_id = i.scorer_id "
        "AND s.dataset = i.dataset) FROM score_import i JOIN scorer USING (scorer_id) "
        "WHERE i.dataset = ? AND model = ? AND scorer_id != ? ORDER BY ALL",
        [dataset, scorer.model, scorer.scorer_id],
    ).fetchall()
    return dict(rows)


def _differs(con: duckdb.DuckDBPyConnection, of: Mapping[str, str]) -> bool:
    """Whether the scorer has a number that the registered scores have not."""
    return count(con, f"({_STORED}) EXCEPT (FROM incoming)", of) > 0


def _forget(con: duckdb.DuckDBPyConnection, scorer_id: str, dataset: str) -> None:
    """Let go of a scorer's scores of a data set, and of the scorer if that was all of it."""
    for table in ("item_score", "pair_score", "score_import"):
        con.execute(
            f"DELETE FROM {table} WHERE scorer_id = ? AND dataset = ?", [scorer_id, dataset]
        )
    if first_row(con, "SELECT 1 FROM score_import WHERE scorer_id = ?", [scorer_id]) is None:
        con.execute("DELETE FROM scorer WHERE scorer_id = ?", [scorer_id])

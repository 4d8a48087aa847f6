"""Data sets: items in, items out."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, fields

import duckdb
import pandas as pd
import pyarrow as pa

from core.errors import DataSetMissing, InputError
from core.items.texts import is_collapsed, item_texts
from core.store.clock import utc_now
from core.store.derive import KNOWN, refresh, touch_dataset
from core.store.fetch import count, first_row, frame
from core.store.gate import Cache
from core.store.generations import bump
from core.store.scorers import deriving_scorers, scorer_ids
from core.types import Item, Role

NAME_LENGTH = 100

_TEXT_COLUMNS = {
    Role.STEREOTYPE: "text_stereotype",
    Role.ANTI_STEREOTYPE: "text_anti",
    Role.UNRELATED: "text_unrelated",
    Role.UNKNOWN: "text_unknown",
}
_PLAIN = (
    *("item_id", "condition", "language", "source", "category", "dimension", "resource_level"),
    *("context", "stereotype", "anti_stereotype", "unrelated", "unknown"),
)


_HASHED = tuple(f.name for f in fields(Item) if f.name != "metadata")  # metadata is text here
_KEY = ["item_id", "condition", "content_hash", "row_order"]
BATCH = 5_000  # items that become columns at a time


@dataclass(frozen=True)
class PutResult:
    """What became of a data set that was put into the cache."""

    stored: int  # items, counted once per condition
    collapsed: int  # of these: stereotype and anti-stereotype say the same
    unchanged: bool  # the very same items were there already; nothing was written
    n_scores_gone: int = 0  # imported ones, of items that are gone or were changed


def put_dataset(
    cache: Cache,
    name: str,
    items: Sequence[Item],
    *,
    path: str,
    format: str,  # noqa: A002
    sha256: str,
    note: str = "",
    replace: bool = False,
) -> PutResult:
    """Store a data set in one transaction, with the item scores that its texts have already.

    The items are prepared outside the gate. Inside, storing takes time in proportion to items and
    scorers: with millions of items others wait for as long as that takes.

    Parameters
    ----------
    items : sequence of Item
        One per item and condition; their order is kept.
    path, format, sha256, note : str
        Where the items came from.
    replace : bool
        Allow another content under a name that is taken.

    Raises
    ------
    InputError
        The name cannot be used or is taken by other items, there are no items, two of them share
        item id and condition, or metadata cannot be written as JSON.
    """
    _check_name(name)
    batches = _item_batches(items)
    n_collapsed = sum(sum(batch.column("collapsed").to_pylist()) for batch in batches)
    n_gone = 0
    with cache.writing() as con:
        con.register("incoming", pa.concat_tables(batch.select(_KEY) for batch in batches))
        taken = first_row(con, "SELECT 1 FROM dataset WHERE dataset = ?", [name])
        if taken and _same_items(con, name):
            return PutResult(len(items), n_collapsed, unchanged=True)
        if taken and not replace:
            raise InputError(
                f"The cache has other items under the name {name!r}; --replace puts these items "
                "in their place (imported scores of items that change are lost, no others), or "
                "give this data set another name with --dataset."
            )
        if taken:
            n_gone = _remove(con, name)
        con.unregister("incoming")
        _insert(con, name, [path, format, sha256, len(items), note, utc_now()], batches)
    return PutResult(len(items), n_collapsed, unchanged=False, n_scores_gone=n_gone)


DATASETS = """
SELECT dataset, path, format, sha256, n_rows, note, imported_at,
    count(DISTINCT item_id) AS n_items, count(DISTINCT condition) AS n_conditions,
    count(*) FILTER (collapsed) AS n_collapsed
FROM dataset JOIN item USING (dataset) GROUP BY ALL ORDER BY imported_at, dataset
"""

COVERAGE = f"""
WITH items AS (
    SELECT dataset, condition, count(*) AS n_items,
        count(*) FILTER (collapsed) AS n_collapsed, min(row_order) AS row_order
    FROM item GROUP BY ALL
), done AS (
    SELECT scorer_id, dataset, condition, count({KNOWN}) AS n_scored,
        count(*) - count({KNOWN}) AS n_unscored
    FROM item_score GROUP BY ALL
), pairs AS (SELECT DISTINCT scorer_id, dataset FROM done)
SELECT coalesce(scorer_id, '') AS scorer_id, coalesce(model, '') AS model,
    items.dataset, items.condition, n_items, n_collapsed,
    coalesce(n_scored, 0) AS n_scored, coalesce(n_unscored, 0) AS n_unscored
FROM items LEFT JOIN pairs USING (dataset) LEFT JOIN scorer USING (scorer_id)
    LEFT JOIN done USING (scorer_id, dataset, condition)
ORDER BY items.dataset, created_at, scorer_id, row_order
"""


def stored_items(cache: Cache, dataset: str) -> list[Item]:
    """The items of a data set as they were put in, in the order of the import.

    Raises
    ------
    InputError
        There is no such data set.
    """
    plain = ", ".join(_PLAIN)
    with cache.reading() as con:
        check_dataset(con, dataset)
        rows = con.execute(
            f"""
            SELECT {plain}, native, answer_order, metadata::VARCHAR
            FROM item WHERE dataset = ? ORDER BY row_order
            """,
            [dataset],
        ).fetchall()
    return [
        Item(
            **dict(zip(_PLAIN, values, strict=True)),
            native=native,
            answer_order=tuple(Role(role) for role in order or ()),
            metadata=json.loads(metadata),
        )
        for *values, native, order, metadata in rows
    ]


def datasets(cache: Cache) -> pd.DataFrame:
    """One row per data set: where it came from, its items, conditions and collapsed rows."""
    with cache.reading() as con:
        return frame(con, DATASETS)


def coverage(cache: Cache) -> pd.DataFrame:
    """How far each scorer got, by data set and condition.

    A data set that no scorer has touched has rows too, with empty `scorer_id` and `model`.
    n_scored + n_unscored + n_collapsed = n_items when nothing is missing.
    """
    with cache.reading() as con:
        return frame(con, COVERAGE)


def require_dataset(cache: Cache, dataset: str) -> None:
    """Make sure that there is such a data set, before work that takes long.

    Raises
    ------
    DataSetMissing
        The message names those that there are.
    """
    with cache.reading() as con:
        check_dataset(con, dataset)


def check_dataset(con: duckdb.DuckDBPyConnection, dataset: str) -> None:
    """DataSetMissing that names the data sets there are, where this is none of them."""
    names = [n for (n,) in con.execute("SELECT dataset FROM dataset ORDER BY ALL").fetchall()]
    if dataset not in names:
        raise DataSetMissing(
            f"The cache has no data set {dataset!r}; it has {', '.join(names) or 'none yet'}."
        )


def _check_name(name: str) -> None:
    if not name.strip() or len(name) > NAME_LENGTH:
        raise InputError(f"A data set's name has 1 to {NAME_LENGTH} characters, not {len(name)}.")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
        raise InputError(f"The data set's name {name!r} contains control characters.")


def _item_batches(items: Sequence[Item]) -> list[pa.Table]:
    """The items as columns, with what is derived from each; `BATCH` of them in each table."""
    if not items:
        raise InputError("The data set has no items.")
    _check_keys(items)
    starts = range(0, len(items), BATCH)  # so that few texts are there a second time at once
    return [_item_batch(items[n : n + BATCH], n) for n in starts]


def _item_batch(items: Sequence[Item], first: int) -> pa.Table:
    """Some of the items, of which the first has this place in the order of the data set."""
    texts = [item_texts(item) for item in items]
    text, roles = pa.string(), pa.list_(pa.string())
    columns = {n: pa.array([getattr(i, n) for i in items], text) for n in _PLAIN}
    metadata = [_metadata(item) for item in items]
    columns |= {
        "native": pa.array([item.native for item in items], pa.bool_()),
        "answer_order": pa.array([[str(r) for r in i.answer_order] for i in items], roles),
        "metadata": pa.array(metadata, text),
        "collapsed": pa.array([is_collapsed(item) for item in items], pa.bool_()),
        "content_hash": pa.array(
            [_content_hash(i, m) for i, m in zip(items, metadata, strict=True)], text
        ),
        "row_order": pa.array(range(first, first + len(items)), pa.int64()),
    }
    for role, column in _TEXT_COLUMNS.items():
        ids = [by_role[role].text_id if role in by_role else None for by_role in texts]
        columns[column] = pa.array(ids, text)
    return pa.table(columns)


def _check_keys(items: Sequence[Item]) -> None:
    seen: set[tuple[str, str]] = set()
    for item in items:
        key = (item.item_id, item.condition)
        if key in seen:
            raise InputError(f"Item {item.item_id!r} is there twice in condition {key[1]!r}.")
        seen.add(key)


def _metadata(item: Item) -> str:
    try:
        return json.dumps(item.metadata, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"The metadata of item {item.item_id!r} is not JSON: {error}.") from error


def _content_hash(item: Item, metadata: str) -> str:
    packed = json.dumps([*(getattr(item, name) for name in _HASHED), metadata])
    return hashlib.blake2b(packed.encode(), digest_size=16).hexdigest()


def _same_items(con: duckdb.DuckDBPyConnection, name: str) -> bool:
    different = first_row(
        con,
        """
        SELECT 1 FROM (FROM item WHERE dataset = ?) AS stored
            FULL JOIN incoming USING (item_id, condition, row_order)
        WHERE stored.content_hash IS DISTINCT FROM incoming.content_hash LIMIT 1
        """,
        [name],
    )
    return different is None


# Scores that are derived anew, and those from elsewhere of items that are gone or were changed.
_DERIVED = "list_contains($derived::VARCHAR[], scorer_id)"
_CHANGED = """
(item_id, condition) NOT IN (
    SELECT (item_id, condition) FROM (FROM item WHERE dataset = $dataset)
        SEMI JOIN incoming USING (item_id, condition, content_hash)
)
"""


def _remove(con: duckdb.DuckDBPyConnection, name: str) -> int:
    """Remove the items that are replaced by those incoming, and what does not hold any more.

    Returns how many scores from elsewhere went, which nothing computes anew.
    """
    outdated = {"dataset": name, "derived": deriving_scorers(con)}
    n_gone = count(
        con,
        f"FROM item_score WHERE dataset = $dataset AND NOT {_DERIVED} AND {_CHANGED}",
        outdated,
    )
    for table in ("item_score", "pair_score"):
        con.execute(
            f"DELETE FROM {table} WHERE dataset = $dataset AND ({_DERIVED} OR {_CHANGED})", outdated
        )
    for table in ("dataset", "item"):
        con.execute(f"DELETE FROM {table} WHERE dataset = ?", [name])
    return n_gone


def _insert(
    con: duckdb.DuckDBPyConnection, name: str, origin: list[object], batches: list[pa.Table]
) -> None:
    con.execute("INSERT INTO dataset VALUES (?, ?, ?, ?, ?, ?, ?)", [name, *origin])
    while batches:  # each is let go of once it is stored
        con.register("batch", batches.pop(0))
        con.execute("INSERT INTO item BY NAME SELECT ? AS dataset, * FROM batch", [name])
        con.unregister("batch")
    derived = deriving_scorers(con)
    if derived:
        touch_dataset(con, name)
    for scorer_id in derived:
        refresh(con, scorer_id)
    bump(con, ["", *scorer_ids(con)], [name])

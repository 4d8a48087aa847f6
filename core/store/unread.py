"""Sentences that a model's heads could not be read for, and why; told whenever they are asked for.

They count as done: the same model would give the same again. What did not fit into memory is not
among them, since there may be room the next time. A pole's sums are without such sentences, a
concept has but one sentence and so has no array at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields

import duckdb
import pyarrow as pa

from core.store.gate import Cache

_INSERT = """
INSERT INTO unread BY NAME SELECT $reader AS reader_id, * FROM failed
ANTI JOIN (FROM unread WHERE reader_id = $reader) USING (family, kind, of, content_id, template)
"""
_HELD = """
SELECT unread.* EXCLUDE (reader_id)
FROM wanted JOIN unread ON unread.of = wanted.key AND unread.content_id = wanted.content_id
WHERE reader_id = $reader AND family = $family AND kind = $kind ORDER BY position, template
"""
# Of poles without arrays, and of all concepts of a reader that has none of any.
_FORGOTTEN = """
DELETE FROM unread WHERE NOT EXISTS (
    FROM head_array AS a
    WHERE a.reader_id = unread.reader_id AND a.family = unread.family AND a.kind = unread.kind
        AND (a.kind = 'concept' OR (a.key = unread.of AND a.content_id = unread.content_id))
)
"""


@dataclass(frozen=True, kw_only=True)
class Unread:
    """A sentence without head outputs."""

    family: str  # of templates; "" for concepts
    kind: str  # POLE or CONCEPT of core/store/heads.py
    of: str  # a pole's key, or a concept
    content_id: str  # of what the arrays would be computed from
    template: int  # its number, from 1; 0 for a concept
    reason: str
    detail: str  # one sentence for a person


def insert_unread(con: duckdb.DuckDBPyConnection, reader_id: str, unread: Sequence[Unread]) -> None:
    """Note sentences, inside the transaction that stores what was read beside them."""
    if unread:
        con.register("failed", pa.Table.from_pylist([asdict(each) for each in unread]))
        con.execute(_INSERT, {"reader": reader_id})


def get_unread(
    cache: Cache, reader_id: str, family: str, kind: str, wanted: Mapping[str, str]
) -> list[Unread]:
    """The sentences of these keys that could not be read, in their order.

    Parameters
    ----------
    wanted
        The id of the sentences of each key.
    """
    names = pa.table(
        {
            "key": pa.array(wanted.keys(), pa.string()),
            "content_id": pa.array(wanted.values(), pa.string()),
            "position": pa.array(range(len(wanted)), pa.int64()),
        }
    )
    columns = [field.name for field in fields(Unread)]
    with cache.reading() as con:
        con.register("wanted", names)
        found = con.execute(
            f"SELECT {', '.join(columns)} FROM ({_HELD})",
            {"reader": reader_id, "family": family, "kind": kind},
        ).fetchall()
    return [Unread(**dict(zip(columns, row, strict=True))) for row in found]


def forget_unread(con: duckdb.DuckDBPyConnection) -> None:
    """Forget the sentences of what has no arrays any more, inside the caller's transaction."""
    con.execute(_FORGOTTEN)

"""Head readers: under which conditions the heads of a model were read."""

from __future__ import annotations

from dataclasses import asdict, fields

import pandas as pd

from core.errors import InputError
from core.store.clock import utc_now
from core.store.fetch import frame, insert_once
from core.store.gate import Cache
from core.types import HeadReader


def put_reader(cache: Cache, reader: HeadReader) -> None:
    """Store a reader; one that is there already stays as it was."""
    row = {"reader_id": reader.reader_id, **asdict(reader), "created_at": utc_now()}
    with cache.writing() as con:
        insert_once(con, "head_reader", "reader_id", row)


def readers(cache: Cache) -> pd.DataFrame:
    """Every reader, in the order of their arrival."""
    with cache.reading() as con:
        return frame(con, "FROM head_reader ORDER BY created_at, reader_id")


def filled_readers(cache: Cache) -> pd.DataFrame:
    """The readers of which arrays are held, in the order of their arrival."""
    with cache.reading() as con:
        return frame(
            con,
            "FROM head_reader WHERE reader_id IN (SELECT reader_id FROM head_array) "
            "ORDER BY created_at, reader_id",
        )


def get_reader(cache: Cache, reader_id: str) -> HeadReader:
    """One reader.

    Raises
    ------
    InputError
        There is no such reader.
    """
    rows = readers(cache).set_index("reader_id")
    if reader_id not in rows.index:
        raise InputError(f"The cache has no heads read as {reader_id}; it has {_known(rows)}.")
    row = rows.loc[reader_id].to_dict()
    return HeadReader(**{f.name: row[f.name] for f in fields(HeadReader)})


def _known(rows: pd.DataFrame) -> str:
    return ", ".join(f"{row.Index} ({row.model})" for row in rows.itertuples()) or "none"

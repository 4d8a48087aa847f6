"""How many tokens a model reads for a phrase in its sentence, special ones included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from core.store.axes import concept_id
from core.store.gate import Cache

_INSERT = """
INSERT INTO phrase_length BY NAME SELECT $reader AS reader_id, * FROM incoming
ANTI JOIN (FROM phrase_length WHERE reader_id = $reader) USING (content_id)
"""
_HELD = """
SELECT phrase, n_tokens FROM wanted JOIN phrase_length USING (content_id) WHERE reader_id = $reader
"""


def put_lengths(cache: Cache, reader_id: str, n_tokens: Mapping[str, int]) -> None:
    """Store the tokens of phrases; those that are there stay."""
    incoming = pa.table(
        {
            "content_id": pa.array(map(concept_id, n_tokens), pa.string()),
            "n_tokens": pa.array(n_tokens.values(), pa.int32()),
        }
    )
    with cache.writing() as con:
        con.register("incoming", incoming)
        con.execute(_INSERT, {"reader": reader_id})


def get_lengths(cache: Cache, reader_id: str, phrases: Sequence[str]) -> dict[str, int]:
    """Tokens of these phrases under one reader; those that are not known are left out."""
    wanted = pa.table(
        {
            "phrase": pa.array(phrases, pa.string()),
            "content_id": pa.array(map(concept_id, phrases), pa.string()),
        }
    )
    with cache.reading() as con:
        con.register("wanted", wanted)
        return dict(con.execute(_HELD, {"reader": reader_id}).fetchall())

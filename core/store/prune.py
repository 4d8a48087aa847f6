"""What the arrays take on the disk, and how to be rid of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from core.errors import CacheNotWritable
from core.store.axis_results import forget_results
from core.store.fetch import frame
from core.store.gate import Cache
from core.store.generations import bump
from core.store.heads import GENERATION
from core.store.tensors import TENSORS
from core.store.unread import forget_unread

_SIZES = """
WITH held AS (
    SELECT reader_id, family, path, count(*) FILTER (kind = 'pole') AS n_poles,
        count(*) FILTER (kind = 'axis') AS n_axes, count(*) FILTER (kind = 'concept') AS n_concepts
    FROM head_array GROUP BY ALL
)
SELECT reader_id, model, family, sum(n_poles)::BIGINT AS n_poles, sum(n_axes)::BIGINT AS n_axes,
    sum(n_concepts)::BIGINT AS n_concepts, count(*) AS n_files, sum(n_bytes)::BIGINT AS n_bytes
FROM held JOIN tensor USING (path) JOIN head_reader USING (reader_id)
GROUP BY ALL ORDER BY min(head_reader.created_at), reader_id, family
"""


def array_sizes(cache: Cache) -> pd.DataFrame:
    """Per reader and family ("" for concepts): poles, axes, concepts, files and their bytes."""
    with cache.reading() as con:
        return frame(con, _SIZES)


def files_of(cache: Cache, reader_id: str, family: str | None = None) -> list[str]:
    """The files of a reader, or those of one family of templates."""
    with cache.reading() as con:
        rows = con.execute(
            "SELECT DISTINCT path FROM head_array WHERE reader_id = $reader "
            "AND ($family IS NULL OR family = $family) ORDER BY path",
            {"reader": reader_id, "family": family},
        ).fetchall()
    return [path for (path,) in rows]


def forget(cache: Cache, paths: Iterable[str]) -> None:
    """Forget files of arrays and delete them; what they held counts as missing from then on.

    What was computed from them goes too: the results of a family of templates with one of its
    files, all results of a reader with a file of concepts.

    Raises
    ------
    CacheNotWritable
        A file cannot be deleted; it is forgotten all the same.
    """
    wanted = list(paths)
    with cache.writing() as con:
        held = con.execute(
            "SELECT DISTINCT reader_id, family FROM head_array WHERE list_contains($paths, path)",
            {"paths": wanted},
        ).fetchall()
        for table in ("head_array", "tensor"):
            con.execute(f"DELETE FROM {table} WHERE list_contains($paths, path)", {"paths": wanted})
        forget_unread(con)
        for reader_id, family in held:
            forget_results(con, reader_id, family or None)
        bump(con, {reader_id for reader_id, _ in held}, [GENERATION])
    delete(cache.folder / TENSORS / path for path in wanted)


def delete(files: Iterable[Path]) -> None:
    """Delete files, whether they are there or not; errors as `forget`."""
    for file in files:
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise CacheNotWritable(f"{file} cannot be deleted ({error.strerror}).") from error

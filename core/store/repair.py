"""The explicit way out of a cache that cannot be used; nothing here happens by itself.

A repair stands inside the gate alone from its first look to its last, because it changes what it
has looked at: whoever wants the cache meanwhile waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb

from core.errors import CacheMissing, CacheNewer, CacheNotWritable, CacheUnreadable
from core.store.axis_results import GENERATION as RESULTS
from core.store.clock import utc_now
from core.store.derive import refresh, touch_dataset
from core.store.fetch import first_row
from core.store.gate import Cache, create_empty, opened, transaction
from core.store.generations import bump
from core.store.locks import held
from core.store.migrations import migrate
from core.store.scorers import deriving_scorers, scorer_ids
from core.store.verify import (
    RESULT_OF_OTHER_LENGTH,
    RESULT_WITHOUT_READER,
    UNEQUAL,
    WRONG_COUNT,
    WRONG_SUM,
    findings,
    read_everything,
)
from core.store.verify_heads import ARRAY_WITHOUT_FILE, ARRAY_WITHOUT_READER
from core.words import counted


@dataclass(frozen=True)
class RepairResult:
    """What a repair did."""

    message: str  # sentences for a person
    moved_to: Path | None = None  # where a file that cannot be used was set aside


def repair(cache: Cache, *, newer: bool = False) -> RepairResult:
    """Make a cache usable again.

    A file that opens is put right: of scores that are there twice the first stays, wrong ones are
    removed (they are computed again), item and pair scores are derived anew where there are texts
    to derive them from, and results on axes that are not whole are dropped. A file that does not
    open is renamed, never deleted, and an empty cache takes its place.

    Parameters
    ----------
    newer
        Do the same with a healthy file that only a newer version of the program can read.

    Raises
    ------
    CacheMissing
        There is nothing to repair.
    CacheNewer
        The file is healthy, and `newer` was not asked for.
    CacheBusy, CacheNotWritable, CacheError
        The file is not to blame, so nothing was done.
    """
    if not cache.exists() and not cache.journal.exists():
        raise CacheMissing(f"There is no cache in {cache.folder}, so there is nothing to repair.")
    with held(cache.folder, exclusive=True):
        if not cache.exists():
            return _set_aside(cache, f"The journal in {cache.folder} had no cache to belong to")
        try:
            with opened(cache.file, read_only=False) as con, transaction(con):
                migrate(con, cache.file)
                read_everything(con)
                return RepairResult(_put_right(con))
        except CacheUnreadable as error:
            return _set_aside(cache, error.finding)
        except CacheNewer as error:
            if not newer:
                raise _insist(error) from error
            return _set_newer_aside(cache, error)


def _insist(error: CacheNewer) -> CacheNewer:
    return CacheNewer(
        f"{error.finding} and is healthy; {error.upgrade}, choose another folder with --cache, or "
        "insist on an empty cache with `python -m core repair --newer`, which keeps the file under "
        "another name.",
        error.finding,
        error.upgrade,
    )


def _put_right(con: duckdb.DuckDBPyConnection) -> str:
    before = findings(con)
    if not before:
        return "The cache is in order; nothing was changed."
    derived = deriving_scorers(con)
    removed = sum(_delete(con, sql) for sql in _WRONG)
    touch_dataset(con)
    for scorer_id in derived:
        for table in ("item_score", "pair_score"):
            con.execute(f"DELETE FROM {table} WHERE scorer_id = ?", [scorer_id])
        refresh(con, scorer_id)
    names = [name for (name,) in con.execute("SELECT dataset FROM dataset").fetchall()]
    bump(con, ["", *scorer_ids(con)], names)
    readers = con.execute("SELECT reader_id FROM head_reader").fetchall()
    bump(con, [reader_id for (reader_id,) in readers], [RESULTS])
    said = ["The cache was put right:", *before]
    said.append(f"It removed {counted(removed, 'row')} and derived item and pair scores anew.")
    if after := findings(con):
        said += ["This is left:", *after]
    return " ".join(said)


_WRONG = (
    f"DELETE FROM token_score WHERE ({UNEQUAL}) OR ({WRONG_COUNT}) OR ({WRONG_SUM})",
    "DELETE FROM token_score WHERE rowid NOT IN "
    "(SELECT min(rowid) FROM token_score GROUP BY scorer_id, text_id)",
    "DELETE FROM unscored WHERE (scorer_id, text_id) IN "
    "(SELECT (scorer_id, text_id) FROM token_score)",
    "DELETE FROM unscored WHERE rowid NOT IN "
    "(SELECT min(rowid) FROM unscored GROUP BY scorer_id, text_id)",
    "DELETE FROM item_score WHERE scorer_id NOT IN (SELECT scorer_id FROM scorer)",
    "DELETE FROM pair_score WHERE scorer_id NOT IN (SELECT scorer_id FROM scorer)",
    "DELETE FROM score_import WHERE scorer_id NOT IN (SELECT scorer_id FROM scorer)",
    f"DELETE FROM axis_result WHERE result_id IN ({RESULT_WITHOUT_READER})",
    f"DELETE FROM axis_result WHERE result_id IN ({RESULT_OF_OTHER_LENGTH})",
    "DELETE FROM axis_row WHERE result_id NOT IN (SELECT result_id FROM axis_result)",
    "DELETE FROM atlas WHERE result_id NOT IN (SELECT result_id FROM axis_result)",
    f"DELETE FROM head_array WHERE path IN ({ARRAY_WITHOUT_FILE})",
    f"DELETE FROM head_array WHERE reader_id IN ({ARRAY_WITHOUT_READER})",
    "DELETE FROM head_array WHERE rowid NOT IN "
    "(SELECT min(rowid) FROM head_array GROUP BY reader_id, family, kind, key, content_id)",
    "DELETE FROM item WHERE rowid NOT IN "
    "(SELECT min(rowid) FROM item GROUP BY dataset, item_id, condition)",
)


def _delete(con: duckdb.DuckDBPyConnection, sql: str) -> int:
    row = first_row(con, sql)
    return int(row[0]) if row else 0


def _set_aside(cache: Cache, finding: str) -> RepairResult:
    kept = _rename(cache, "broken")
    create_empty(cache)
    return RepairResult(
        f"{finding}. It is kept as {kept}; {cache.file} is an empty cache now.", kept
    )


def _set_newer_aside(cache: Cache, error: CacheNewer) -> RepairResult:
    kept = _rename(cache, "newer")
    create_empty(cache)
    return RepairResult(
        f"{error.finding} and is healthy. It is kept as {kept}; {cache.file} is an empty cache "
        f"now. The better way is still to {error.upgrade} and to give the file its name back.",
        kept,
    )


def _rename(cache: Cache, kind: str) -> Path:
    """Give the file and its journal another name; returns what is there under it."""
    moved_to = _free_name(cache, kind)
    try:
        for old, new in ((cache.file, moved_to), (cache.journal, _journal(moved_to))):
            if old.exists():
                old.rename(new)
    except OSError as error:
        raise CacheNotWritable(f"{cache.file} cannot be renamed ({error.strerror}).") from error
    return moved_to if moved_to.exists() else _journal(moved_to)


def _free_name(cache: Cache, kind: str) -> Path:
    """A name that nothing has yet, next to the file: a rename would overwrite in silence."""
    stem = f"{cache.file.name}.{kind}-{utc_now():%Y%m%d-%H%M%S}"
    names = (cache.folder / f"{stem}{end}" for end in ("", *(f"-{n}" for n in range(2, 1000))))
    return next(p for p in names if not p.exists() and not _journal(p).exists())


def _journal(file: Path) -> Path:
    return file.parent / f"{file.name}.wal"

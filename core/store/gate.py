"""The cache: one DuckDB file that nobody holds open, and the only way to it.

DuckDB lets one process write, and while it does nobody else can open the file. So a reader opens,
queries, fetches everything and closes; a writer computes first, then opens, commits one batch in
one transaction and closes. Nothing but DuckDB ever opens the file, not even to read ten bytes:
closing such a descriptor would drop DuckDB's own lock (POSIX locks belong to the process).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from core.errors import CacheError, CacheMissing, CacheNotWritable, CacheUnreadable
from core.store.faults import not_duckdb, translated
from core.store.locks import held
from core.store.migrations import MIGRATIONS, migrate, schema_number

FILE = "stereoscope.duckdb"

# One set of options for every connection: DuckDB refuses a second one in a process that differs.
CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "python_enable_replacements": "false",
    "lock_configuration": "true",
}


@dataclass(frozen=True)
class Cache:
    """The cache in a folder. Opening is per operation; this object holds nothing open.

    The one that `kept_open` lends out is the exception.
    """

    folder: Path
    connection: duckdb.DuckDBPyConnection | None = field(default=None, repr=False, compare=False)

    @property
    def file(self) -> Path:
        return self.folder / FILE

    @property
    def journal(self) -> Path:
        """DuckDB's write-ahead log; a killed writer leaves it, the next writer folds it in."""
        return self.folder / f"{FILE}.wal"

    def exists(self) -> bool:
        """Whether there is a cache in the folder, readable or not.

        Raises
        ------
        CacheError
            The folder is a file, the file is a folder, or looking is forbidden.
        """
        try:
            if self.folder.exists() and not self.folder.is_dir():
                raise CacheError(f"{self.folder} is a file; --cache takes a folder.")
            if self.file.is_dir():
                raise CacheError(
                    f"{self.file} is a folder where the cache's file should be; "
                    "choose another folder with --cache."
                )
            return self.file.exists()
        except OSError as error:
            raise CacheError(f"{self.folder} cannot be read: {error.strerror}.") from error

    def stamp(self) -> tuple[int, ...]:
        """Changes whenever the cache was written to; costs no opening. Empty without a cache."""
        stats = [path.stat() for path in (self.file, self.journal) if path.exists()]
        return tuple(number for s in stats for number in (s.st_mtime_ns, s.st_size, s.st_ino))

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A read-only connection. Fetch everything inside the block; hold it briefly.

        Raises
        ------
        CacheMissing, CacheUnreadable, CacheNewer, CacheBusy, CacheError
        """
        if self.connection is not None:
            yield self.connection
            return
        with ExitStack() as stack:
            con = stack.enter_context(self._open_to_read())
            if schema_number(con, self.file) < len(MIGRATIONS):
                stack.close()
                self._upgrade()
                con = stack.enter_context(self._open_to_read())
            yield con

    @contextmanager
    def kept_open(self) -> Iterator[Cache]:
        """The same cache, opened once for all that one thread reads from it inside the block.

        Nobody writes meanwhile, so that what one query finds is there for the next. Errors as
        `reading`.
        """
        with self.reading() as con:
            yield Cache(self.folder, con)

    @contextmanager
    def writing(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection inside one transaction: all of the block is stored, or nothing of it.

        Creates the cache where there is none and brings older tables up to date.

        Raises
        ------
        CacheNotWritable, CacheUnreadable, CacheNewer, CacheBusy, CacheError
        """
        make_folder(self)
        with held(self.folder, exclusive=True):
            if not self.exists():
                create_empty(self)
            with opened(self.file, read_only=False) as con, transaction(con):
                migrate(con, self.file)
                yield con

    @contextmanager
    def _open_to_read(self) -> Iterator[duckdb.DuckDBPyConnection]:
        if not self.exists():
            raise _missing(self)
        with held(self.folder, exclusive=False):
            if not self.exists():
                raise _missing(self)
            with opened(self.file, read_only=True) as con:
                yield con

    def _upgrade(self) -> None:
        try:
            with self.writing():
                pass
        except CacheNotWritable as error:
            raise CacheNotWritable(
                f"{self.file} was written by an older version and must be brought up to date once, "
                "but it cannot be written to; copy its folder to a disk that can."
            ) from error


@contextmanager
def opened(file: Path, *, read_only: bool) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to a DuckDB file, always closed; the caller stands inside the gate."""
    with translated(file, writing=not read_only):
        with translated(file, writing=not read_only, opening=True):
            try:
                con = duckdb.connect(str(file), read_only=read_only, config=CONFIG)
            except duckdb.PermissionException as error:
                # DuckDB saw another program's format (SQLite) and wanted an extension for it.
                raise not_duckdb(file) from error
        try:
            yield con
        finally:
            con.close()


@contextmanager
def transaction(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Commit at the end of the block, roll back on any exception."""
    con.begin()
    try:
        yield
        con.commit()
    except BaseException:
        # After some errors (a full disk) DuckDB has rolled back by itself.
        with suppress(duckdb.Error):
            con.rollback()
        raise


def make_folder(cache: Cache) -> None:
    """Create the folder of a cache that is about to be written."""
    cache.exists()
    try:
        cache.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CacheNotWritable(
            f"{cache.folder} cannot be created ({error.strerror}); choose another folder "
            "with --cache."
        ) from error


def create_empty(cache: Cache) -> None:
    """Start an empty cache; the caller stands inside the gate alone.

    The file appears under its name only when it is whole, so that a killed program leaves no torn
    one behind.
    """
    if cache.journal.exists():
        raise CacheUnreadable(
            f"{cache.file} is gone but its journal {cache.journal.name} is still there; "
            "`python -m core repair` sets the journal aside and starts an empty cache."
        )
    fresh = cache.folder / f"{FILE}.new"
    try:
        fresh.unlink(missing_ok=True)
        (cache.folder / f"{fresh.name}.wal").unlink(missing_ok=True)
        with opened(fresh, read_only=False) as con, transaction(con):
            migrate(con, cache.file)
        fresh.rename(cache.file)
    except OSError as error:
        raise CacheNotWritable(f"{cache.file} cannot be created ({error.strerror}).") from error


def _missing(cache: Cache) -> CacheMissing:
    return CacheMissing(
        f"There is no cache yet in {cache.folder}; run `python -m core demo` or import a data set."
    )

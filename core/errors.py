"""Every error a person can meet. Each message is one sentence that says what to do next.

::

    StereoscopeError                    exit code 2
    ├── InputError                      what was asked for cannot be done as asked
    │   ├── DataSetError                a data set file was refused; carries every problem by row
    │   ├── DataSetMissing              the cache has no data set of that name
    │   └── NotNow                      right as it is, once something has ended or is there
    │       └── HeadsNotRead            the model's heads have to be read first
    ├── ModelError                      a language model cannot be opened or trusted
    │   ├── ModelNotFound
    │   │   └── HubUnreachable          it may be there, once there is a network
    │   ├── ModelGated
    │   ├── WrongModelKind
    │   ├── ModelTooLarge
    │   └── CanaryFailed
    └── CacheError                      the cache cannot be used as it is
        ├── CacheMissing                there is none yet: `demo` or `import` makes one
        ├── CacheUnreadable             not a DuckDB file, or damaged: `repair` is the way out
        ├── CacheNewer                  written by a newer version of the program or of DuckDB
        ├── CacheBusy                   another program holds the file outside the gate
        └── CacheNotWritable            read-only disk, permissions or a full disk
"""

from __future__ import annotations

from core.types import Problem


class StereoscopeError(Exception):
    """Base of all errors that are shown to a person without a traceback."""


class InputError(StereoscopeError):
    """A file, option or query that cannot be used as given."""


class DataSetError(InputError):
    """A data set was refused; nothing of it was stored."""

    def __init__(self, message: str, problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems


class DataSetMissing(InputError):
    pass


class NotNow(InputError):
    """What was asked for can be done later as it is: the same again is of use then."""


class HeadsNotRead(NotNow):
    """The heads were not read for what is asked; `finding` is the message without the remedy."""

    def __init__(self, message: str, finding: str = "") -> None:
        super().__init__(message)
        self.finding = finding


class ModelError(StereoscopeError):
    """A language model that cannot be opened or trusted."""


class ModelNotFound(ModelError):
    pass


class HubUnreachable(ModelNotFound):
    pass


class ModelGated(ModelError):
    pass


class WrongModelKind(ModelError):
    pass


class ModelTooLarge(ModelError):
    pass


class CanaryFailed(ModelError):
    pass


class CacheError(StereoscopeError):
    """A cache that cannot be used as it is; it is left untouched."""


class CacheMissing(CacheError):
    pass


class CacheUnreadable(CacheError):
    """A file that DuckDB cannot read; `finding` is the part of the message that says why."""

    def __init__(self, message: str, finding: str = "") -> None:
        super().__init__(message)
        self.finding = finding


class CacheNewer(CacheError):
    """A healthy file of a newer program: `finding` says of which, `upgrade` what to do."""

    def __init__(self, message: str, finding: str = "", upgrade: str = "") -> None:
        super().__init__(message)
        self.finding = finding
        self.upgrade = upgrade


class CacheBusy(CacheError):
    pass


class CacheNotWritable(CacheError):
    pass

"""The time as the cache stores it."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    """Now in UTC, without a zone."""
    return datetime.now(UTC).replace(tzinfo=None)

"""Between Python's objects and the columns that DuckDB takes and gives: Arrow tables, both ways."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from core.types import Flag, TokenScore, Unscored

LISTS = {
    "token_ids": np.int32,
    "logprobs": np.float32,
    "starts": np.int32,
    "ends": np.int32,
    "words": np.int32,
}  # (T,) each, all of one length

_TEXT_ID = re.compile(r"[0-9a-f]{32}")


def text_id_table(text_ids: Iterable[str]) -> Any:
    """One column `text_id` of hexadecimal digits; SQL casts it to UUID."""
    return pa.table({"text_id": pa.array([check_text_id(t) for t in text_ids], pa.string())})


def check_text_id(text_id: str) -> str:
    """The id itself; ValueError where it is not 32 lower-case hexadecimal digits."""
    if not _TEXT_ID.fullmatch(text_id):
        raise ValueError(f"{text_id!r} is not a text id of 32 hexadecimal digits")
    return text_id


def score_table(scores: Sequence[TokenScore]) -> Any:
    """Token scores as columns, checked: a wrong score is never cached.

    Raises
    ------
    ValueError
        Empty lists, lists of unequal length, or a log-probability that is not finite.
    """
    for score in scores:
        _check(score)
    lengths = [score.n_scored for score in scores]
    offsets = np.cumsum([0, *lengths], dtype=np.int32)
    columns: dict[str, Any] = {
        "text_id": pa.array([check_text_id(s.text_id) for s in scores], pa.string())
    }
    for name, dtype in LISTS.items():
        parts = [np.asarray(getattr(score, name), dtype) for score in scores]
        values = np.concatenate(parts) if parts else np.empty(0, dtype)
        columns[name] = pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))
    columns["sum"] = pa.array([score.total for score in scores], pa.float64())
    columns["n_scored"] = pa.array(lengths, pa.int32())
    columns["flags"] = pa.array(
        [[str(flag) for flag in score.flags] for score in scores], pa.list_(pa.string())
    )
    return pa.table(columns)


def unscored_table(unscored: Sequence[Unscored]) -> Any:
    """Texts without a score as columns."""
    return pa.table(
        {
            "text_id": pa.array([check_text_id(u.text_id) for u in unscored], pa.string()),
            "reason": pa.array([str(u.reason) for u in unscored], pa.string()),
            "detail": pa.array([u.detail for u in unscored], pa.string()),
        }
    )


def read_scores(table: Any) -> Iterator[TokenScore]:
    """Token scores from the columns `text_id` (hexadecimal), the lists and `flags`."""
    table = table.combine_chunks()
    ids = table.column("text_id").to_pylist()
    flags = table.column("flags").to_pylist()
    lists = {name: _split(table.column(name)) for name in LISTS}
    for row, text_id in enumerate(ids):
        yield TokenScore(
            text_id=text_id,
            flags=tuple(Flag(flag) for flag in flags[row]),
            **{name: parts[row] for name, parts in lists.items()},
        )


def _split(column: Any) -> list[Any]:
    """A list column as one array per row; copies, so that a row does not keep the whole batch."""
    if column.num_chunks == 0:
        return []
    array = column.chunk(0)
    offsets = array.offsets.to_numpy()
    values = array.values.to_numpy()
    return [values[a:b].copy() for a, b in pairwise(offsets)]


def _check(score: TokenScore) -> None:
    lengths = {name: len(getattr(score, name)) for name in LISTS}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"text {score.text_id}: lists of unequal length: {lengths}")
    if score.n_scored == 0:
        raise ValueError(f"text {score.text_id}: no scored token")
    if not np.isfinite(score.logprobs).all():
        raise ValueError(f"text {score.text_id}: a log-probability that is not finite")

"""What heads hold: sums of poles, grids of axes, outputs for concepts.

Whoever has computed arrays hands them in here with what their rows are of. They are written to a
file (core/store/tensors.py) and from then on count as done. Arrays in a file, with P poolings
(mean, last), S swapped patterns and the letters of core/types.py:

=========  ============  ===============================================  =======
kind       array         shape                                            type
=========  ============  ===============================================  =======
pole       sums          (N, P, 2, L, H, D), over each half's sentences   float32
           squares       (N, P, 2, L, H), sums of squared norms           float64
           n             (N, 2), sentences                                int64
axis       separability  (A, P, 3, L, H): first half, second half, both   float32
           chance        (A, P, S, L, H), from both halves                float32
concept    outputs       (P, L, H, C, D)                                  float32
=========  ============  ===============================================  =======

Poles and axes share a file. Concepts have their own, head by head, because an axis wants all
concepts of a head at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.axes.axis import plain_name
from core.axes.content import content_hash
from core.errors import CacheError, HeadsNotRead, InputError
from core.store.gate import Cache
from core.store.generations import bump
from core.store.tensors import TensorFile, put_tensor, read_planes, read_rows, span, write_tensors
from core.store.unread import Unread, get_unread, insert_unread
from core.types import N_PATTERNS, POOLINGS, HeadReader

Array = npt.NDArray[Any]
POLE, AXIS, CONCEPT = "pole", "axis", "concept"
ARRAYS = {
    POLE: ("sums", "squares", "n"),
    AXIS: ("separability", "chance"),
    CONCEPT: ("outputs",),
}
GENERATION = "heads"  # what stands for a data set in a reader's generation

_HELD = """
SELECT wanted.key, path, row FROM wanted JOIN head_array USING (key, content_id)
WHERE reader_id = $reader AND family = $family AND kind = $kind
"""
_INSERT = """
INSERT INTO head_array
SELECT $reader, $family, kind, key, content_id, $path, row FROM incoming
ANTI JOIN (FROM head_array WHERE reader_id = $reader AND family = $family)
    USING (kind, key, content_id)
"""


@dataclass(frozen=True)
class Source:
    """Whose arrays: of which reader, from sentences of which family ("" for concepts)."""

    reader_id: str
    family: str = ""


def write_arrays(
    cache: Cache,
    source: Source,
    name: str,
    arrays: Mapping[str, Array],
    rows: Mapping[str, Mapping[str, str]],
    unread: Sequence[Unread] = (),
) -> None:
    """Write arrays to a file of the reader and vouch for it; the same ones again change nothing.

    Parameters
    ----------
    name
        What the file's name begins with; a hash of all that its rows are of follows, so that other
        rows never come under the same name.
    arrays, rows, unread
        As at the head of the file, and as for `put_arrays`.

    Raises
    ------
    CacheError
        The file holds other rows.
    CacheNotWritable
        The disk is full or cannot be written to.
    """
    parts = (row[part] for row in _incoming(rows) for part in ("kind", "key", "content_id"))
    path = f"{source.reader_id}/{name}-{content_hash(parts)}.safetensors"
    _check_same_rows(cache, path, rows)
    put_arrays(cache, source, write_tensors(cache, path, arrays), rows, unread)


def put_arrays(
    cache: Cache,
    source: Source,
    written: TensorFile,
    rows: Mapping[str, Mapping[str, str]],
    unread: Sequence[Unread] = (),
) -> None:
    """Vouch for a file in one transaction.

    Parameters
    ----------
    rows
        By kind, what the rows of its arrays are of, in their order: a key (a pole's, an axis's, a
        concept's) and the id of the sentences that it was computed from. What is held already keeps
        its first place.
    unread
        The sentences that they are without, or that have none.
    """
    incoming = _incoming(rows)
    with cache.writing() as con:
        put_tensor(con, written)
        con.register("incoming", pa.Table.from_pylist(incoming))
        con.execute(
            _INSERT,
            {"reader": source.reader_id, "family": source.family, "path": written.path},
        )
        insert_unread(con, source.reader_id, unread)
        bump(con, [source.reader_id], [GENERATION])


def put_unread(cache: Cache, reader_id: str, unread: Sequence[Unread]) -> None:
    """Note sentences beside which nothing was read."""
    with cache.writing() as con:
        insert_unread(con, reader_id, unread)
        bump(con, [reader_id], [GENERATION])


def _incoming(rows: Mapping[str, Mapping[str, str]]) -> list[dict[str, Any]]:
    """Rows as in the table `head_array`."""
    return [
        {"kind": kind, "key": key, "content_id": content_id, "row": row}
        for kind, contents in rows.items()
        for row, (key, content_id) in enumerate(contents.items())
    ]


def _check_same_rows(cache: Cache, path: str, rows: Mapping[str, Mapping[str, str]]) -> None:
    """Refuse to write over a file in which rows that are held lie elsewhere."""
    columns = ("kind", "key", "content_id", "row")
    wanted = {tuple(row[name] for name in columns) for row in _incoming(rows)}
    with cache.reading() as con:
        held = con.execute(
            f"SELECT {', '.join(columns)} FROM head_array WHERE path = ?", [path]
        ).fetchall()
    if set(held) - wanted:
        raise CacheError(
            f"The file {path} of the cache holds other arrays; `python -m core prune` forgets what "
            "was read for a reader, so that it is read again."
        )


def held_at(
    cache: Cache, source: Source, kind: str, wanted: Mapping[str, str]
) -> dict[str, tuple[str, int]]:
    """Where the arrays of these keys lie: path and row; what is not held is left out."""
    names = pa.table(
        {
            "key": pa.array(wanted.keys(), pa.string()),
            "content_id": pa.array(wanted.values(), pa.string()),
        }
    )
    with cache.reading() as con:
        con.register("wanted", names)
        found = con.execute(
            _HELD, {"reader": source.reader_id, "family": source.family, "kind": kind}
        ).fetchall()
    return {key: (path, row) for key, path, row in found}


def missing(cache: Cache, source: Source, kind: str, wanted: Mapping[str, str]) -> list[str]:
    """The keys whose arrays are not held, in their order; but for those that cannot be read."""
    held = held_at(cache, source, kind, wanted)
    left = {key: content_id for key, content_id in wanted.items() if key not in held}
    return list(left if kind != CONCEPT else _readable(cache, source, left))


def check_read(cache: Cache, source: Source, kind: str, wanted: Mapping[str, str]) -> None:
    """Refuse keys whose arrays are neither held nor known to be impossible; HeadsNotRead."""
    _check_none_gone(missing(cache, source, kind, wanted), len(wanted))


def get_arrays(
    cache: Cache, source: Source, kind: str, wanted: Mapping[str, str]
) -> dict[str, Array]:
    """Arrays of poles or axes, one row per key in their order; shapes as at the head of the file.

    Raises
    ------
    InputError
        One of them is not held.
    CacheError
        A file is gone or damaged.
    """
    held = held_at(cache, source, kind, wanted)
    _check_none_gone([key for key in wanted if key not in held], len(wanted))
    parts = {}
    for path, rows in _by_file({key: held[key] for key in wanted}).items():
        arrays = read_rows(cache, path, ARRAYS[kind], list(rows.values()))
        for i, key in enumerate(rows):
            parts[key] = {name: array[i] for name, array in arrays.items()}
    return {name: np.stack([parts[key][name] for key in wanted]) for name in ARRAYS[kind]}


def get_outputs(cache: Cache, source: Source, wanted: Mapping[str, str], pooling: int) -> Array:
    """Heads' outputs for concepts under one pooling, (L, H, C, D); as `outputs_by_layer`."""
    layers = outputs_by_layer(cache, source, wanted, pooling)
    return np.stack([layer.astype(np.float32) for layer in layers])


def outputs_by_layer(
    cache: Cache, source: Source, wanted: Mapping[str, str], pooling: int
) -> Iterator[npt.NDArray[np.float64]]:
    """Heads' outputs for concepts under one pooling, one layer after another. (H, C, D) each

    Each is overwritten by the next one: one pass over large files, in the memory of one layer, is
    several times as fast as reading them whole. NaN for a concept that could not be read.

    Raises
    ------
    InputError
        One of them is not held, or none of them could be read.
    CacheError
        A file is gone or damaged.
    """
    held = held_at(cache, source, CONCEPT, wanted)
    left = {key: content_id for key, content_id in wanted.items() if key not in held}
    _check_none_gone(list(_readable(cache, source, left)), len(wanted))
    if not held:
        raise InputError(
            f"The model could read none of the {len(wanted)} phrases, such as "
            f"{next(iter(wanted), '')!r}; choose others."
        )
    order = {key: i for i, key in enumerate(wanted)}
    files = _by_file({key: held[key] for key in wanted if key in held})
    targets = [span([order[key] for key in rows]) for rows in files.values()]
    parts = [
        read_planes(cache, path, "outputs", pooling, list(rows.values()))
        for path, rows in files.items()
    ]
    layer: npt.NDArray[np.float64] | None = None
    for planes in zip(*parts, strict=True):
        if layer is None:
            n_heads, _, head_dim = planes[0].shape
            layer = np.full((n_heads, len(wanted), head_dim), np.nan)
        for target, plane in zip(targets, planes, strict=True):
            layer[:, target] = plane
        yield layer


def sample_concepts(cache: Cache, source: Source, n: int = 2) -> dict[str, str]:
    """The first n concepts by their ids that are held, to be read again as a check."""
    with cache.reading() as con:
        found = con.execute(
            "SELECT key, content_id FROM head_array WHERE reader_id = $reader AND kind = $kind "
            "ORDER BY content_id LIMIT $n",
            {"reader": source.reader_id, "kind": CONCEPT, "n": n},
        ).fetchall()
    return dict(found)


def array_bytes(reader: HeadReader, n_poles: int, n_axes: int, n_concepts: int) -> int:
    """What arrays take on the disk, by the shapes at the head of this file."""
    heads = len(POOLINGS) * reader.n_layers * reader.n_heads
    vector = 4 * reader.head_dim
    pole, axis = 2 * heads * (vector + 8) + 16, (3 + N_PATTERNS) * heads * 4
    return n_poles * pole + n_axes * axis + n_concepts * heads * vector


def _readable(cache: Cache, source: Source, wanted: Mapping[str, str]) -> dict[str, str]:
    """Those concepts of which it is not known that they cannot be read."""
    if not wanted:
        return {}
    failed = get_unread(cache, source.reader_id, source.family, CONCEPT, wanted)
    unreadable = {each.of for each in failed}
    return {key: content_id for key, content_id in wanted.items() if key not in unreadable}


def _check_none_gone(gone: Sequence[str], n_wanted: int) -> None:
    if gone:
        such = plain_name(gone[0])
        finding = f"The heads were not read for {len(gone)} of {n_wanted}, such as {such}"
        raise HeadsNotRead(f"{finding}; run `python -m core axes` for this model first.", finding)


def _by_file(held: Mapping[str, tuple[str, int]]) -> dict[str, dict[str, int]]:
    """Path -> key -> row."""
    files: dict[str, dict[str, int]] = {}
    for key, (path, row) in held.items():
        files.setdefault(path, {})[key] = row
    return files

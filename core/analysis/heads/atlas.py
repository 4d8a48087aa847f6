"""Which axes are alike, and which concepts: points on a map, close together where rows are alike.

An axis is the row of its values for all concepts, a concept the row of its values on all axes
(`HeadsValues.of_concepts`: means of z-scores, in standard deviations). Principal components are
computed at once. UMAP (McInnes, Healy and Melville 2018, arXiv 1802.03426) takes long to import and
to compute and is not the same on another machine, so a job computes it and its points are stored:
only those are shown. Equal rows enter UMAP once and share their point. Distances on a UMAP are not
in any unit, and what lies far apart there is not thereby unlike.

Letters: A axes, C concepts.
"""

from __future__ import annotations

import platform
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Literal

import numpy as np
import numpy.typing as npt

from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import StoredAxes, request_of
from core.errors import InputError
from core.heads_request import AtlasRequest
from core.stats.known import ROUNDING
from core.store.axis_results import Layout, LayoutKey, get_layout, put_layout
from core.store.clock import utc_now
from core.store.gate import Cache
from core.words import counted

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Of = Literal["axes", "concepts"]
OF: tuple[Of, ...] = ("axes", "concepts")
LEAST_POINTS = 4  # different rows that UMAP can place
LIBRARIES = ("umap-learn", "numpy", "scipy", "scikit-learn", "numba", "pynndescent")


@dataclass(frozen=True, kw_only=True)
class UmapParameters:
    """How UMAP places points; its own defaults. The seed is the question's."""

    n_neighbors: int = 15  # fewer where there are no more than that
    min_dist: float = 0.1

    def check(self) -> None:
        """Refuse, with an InputError, what UMAP cannot work with."""
        if self.n_neighbors < 2:
            raise InputError(f"UMAP takes at least 2 neighbours, not {self.n_neighbors}.")
        if not 0 <= self.min_dist <= 1:
            raise InputError(f"UMAP's least distance is from 0 to 1, not {self.min_dist:g}.")


@dataclass(frozen=True, eq=False)
class Atlas:
    """Points of axes or concepts."""

    of: Of
    names: tuple[str, ...]  # ids of axes, or concepts
    points: Array  # (n, 2)
    left_out: tuple[str, ...]  # without a point: they have no number, or one that is not finite
    n_duplicates: int  # points at the place of an earlier one, whose row is the same
    shares: tuple[float, float] | None = None  # of the variance, of principal components
    parameters: UmapParameters | None = None  # of UMAP
    versions: Mapping[str, str] | None = None  # of UMAP's libraries

    @property
    def note(self) -> str:
        """How many points there are of how many, in a sentence."""
        one = {"axes": "axis", "concepts": "concept"}[self.of]
        n = len(self.names) + len(self.left_out)
        said = f"{len(self.names):,} of {counted(n, one, self.of)}"
        if self.left_out:
            said += "; the others have a value that is undefined"
        if self.n_duplicates:
            said += f"; {self.n_duplicates:,} lie where one with the same values does"
        return f"{said}."


def principal_components(stored: StoredAxes, of: Of) -> Atlas:
    """The two directions in which rows differ most, from values centred by column.

    Of each component the sign is such that the value of largest size is positive. With two
    different rows the second is 0; where nothing varies both are, and the shares are NaN.

    Raises
    ------
    InputError
        No axis has values for all concepts.
    """
    names, rows, left_out = _rows(stored, of)
    left, sizes, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    sizes = np.where(sizes > ROUNDING * np.abs(rows).max(), sizes, 0.0)
    points = np.zeros((len(rows), 2))
    kept = min(2, len(sizes))
    points[:, :kept] = left[:, :kept] * sizes[:kept]
    points *= np.where(points[np.abs(points).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    squares = np.pad(sizes**2, (0, 2))
    shares = squares[:2] / (squares.sum() or np.nan)
    return Atlas(
        of=of,
        names=names,
        points=points,
        left_out=left_out,
        n_duplicates=len(rows) - len(_distinct(rows)[0]),
        shares=(float(shares[0]), float(shares[1])),
    )


def stored_umap(
    cache: Cache, stored: StoredAxes, of: Of, parameters: UmapParameters | None = None
) -> Atlas | None:
    """The points that a job has stored for these values; None where none has."""
    parameters = parameters or UmapParameters()
    layout = get_layout(cache, _key(stored, of, parameters))
    return None if layout is None else _atlas(of, layout, parameters)


def atlas_request(
    question: HeadsQuestion, of: Of, parameters: UmapParameters | None = None
) -> AtlasRequest:
    """The request of a job that computes and stores UMAP's points; its seed is the question's."""
    parameters = parameters or UmapParameters()
    return AtlasRequest(
        **vars(request_of(question)),
        of=of,
        neighbors=parameters.n_neighbors,
        min_dist=parameters.min_dist,
    )


def check_umap(stored: StoredAxes, of: Of, parameters: UmapParameters | None = None) -> None:
    """Refuse what UMAP cannot place, before a job is started.

    Raises
    ------
    InputError
        There are fewer than four different rows, or a parameter makes no sense.
    """
    _umap_rows(stored, of, parameters or UmapParameters())


def compute_umap(
    cache: Cache, stored: StoredAxes, of: Of, parameters: UmapParameters | None = None
) -> Atlas:
    """Compute and store UMAP's points. Takes tens of seconds: for jobs, never for a page.

    Raises
    ------
    InputError
        As `check_umap`.
    CacheNotWritable
    """
    parameters = parameters or UmapParameters()
    names, rows, left_out, (first, same) = _umap_rows(stored, of, parameters)
    placed = _place(rows[first], parameters, stored.question.seed)
    layout = Layout(
        names=names,
        points=placed[same],
        left_out=left_out,
        n_duplicates=len(rows) - len(first),
        versions={"python": platform.python_version()} | {n: version(n) for n in LIBRARIES},
        created_at=utc_now(),
    )
    reader_id = stored.question.reader_id
    put_layout(cache, _key(stored, of, parameters), reader_id, layout)
    return _atlas(of, layout, parameters)


def _place(rows: Array, parameters: UmapParameters, seed: int) -> Array:
    """UMAP's points of rows that all differ. (n, 2)"""
    with warnings.catch_warnings():
        # It misses Tensorflow, and says where a graph falls into pieces: neither matters here.
        warnings.simplefilter("ignore")
        from umap import UMAP  # takes some ten seconds

        placed = UMAP(
            n_components=2,
            n_neighbors=min(parameters.n_neighbors, len(rows) - 1),
            min_dist=parameters.min_dist,
            random_state=seed,
            init="spectral" if len(rows) > LEAST_POINTS else "random",
            n_jobs=1,
        ).fit_transform(rows)
    return np.asarray(placed, dtype=np.float64)


def _umap_rows(
    stored: StoredAxes, of: Of, parameters: UmapParameters
) -> tuple[tuple[str, ...], Array, tuple[str, ...], tuple[Ints, Ints]]:
    """As `_rows`, and which of them differ."""
    parameters.check()
    names, rows, left_out = _rows(stored, of)
    distinct = _distinct(rows)
    if len(distinct[0]) < LEAST_POINTS:
        raise InputError(
            f"UMAP places at least {LEAST_POINTS} {of} with different values, and there are "
            f"{len(distinct[0])}; look at the principal components instead."
        )
    return names, rows, left_out, distinct


def _rows(stored: StoredAxes, of: Of) -> tuple[tuple[str, ...], Array, tuple[str, ...]]:
    """Names and rows of what can be placed, and what cannot.

    A concept that is unknown on every axis and an axis that is undefined are no use as columns;
    after that a row is left out if it has a gap.
    """
    values = stored.held.of_concepts
    axis_ids = np.array([axis.axis_id for axis in stored.held.axes], dtype=object)
    concepts = np.array(stored.held.concepts, dtype=object)
    finite = np.isfinite(values)
    known = finite.any(axis=0)
    whole = finite[:, known].all(axis=1)
    if not (known.any() and whole.any()):
        raise InputError("No axis has a value for every concept, so that nothing can be placed.")
    rows = values[np.ix_(whole, known)]
    names, kept = (axis_ids, whole) if of == "axes" else (concepts, known)
    return tuple(names[kept]), rows if of == "axes" else rows.T, tuple(names[~kept])


def _distinct(rows: Array) -> tuple[Ints, Ints]:
    """First places of different rows in their order, and for each row which of them it equals."""
    _, first, same = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[same.ravel()]


def _key(stored: StoredAxes, of: Of, parameters: UmapParameters) -> LayoutKey:
    seed = stored.question.seed
    return LayoutKey(result_id=stored.result_id, points_of=of, seed=seed, **asdict(parameters))


def _atlas(of: Of, layout: Layout, parameters: UmapParameters) -> Atlas:
    return Atlas(
        of=of,
        names=layout.names,
        points=layout.points,
        left_out=layout.left_out,
        n_duplicates=layout.n_duplicates,
        parameters=parameters,
        versions=layout.versions,
    )

"""The command `atlas`: a map of axes or concepts, computed by UMAP and stored for the app."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import pandas as pd
import typer

from core.analysis.heads.atlas import (
    OF,
    Atlas,
    Of,
    UmapParameters,
    atlas_request,
    check_umap,
    compute_umap,
    principal_components,
    stored_umap,
)
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import StoredAxes, stored_axis_table
from core.cli import heads_options as options
from core.cli.heads_options import asked_questions, keep_results, one_of, say_unread
from core.cli.progress import watched
from core.cli.scoring import STOPPED
from core.cli.terminal import (
    CacheOption,
    JsonOption,
    RunOption,
    open_cache,
    out,
    print_json,
    say,
)
from core.errors import InputError
from core.export.tables import check_path, json_rows, write_table
from core.jobs.progress import PLACING, Progress
from core.jobs.running import running_job
from core.jobs.spec import ATLAS, JobSpec
from core.store.gate import Cache


class _Asked(NamedTuple):
    """A map that somebody wants."""

    question: HeadsQuestion
    of: Of
    parameters: UmapParameters


def atlas(
    axes: options.AxesOption,
    concepts: options.ConceptsOption,
    reference: Annotated[
        list[str] | None,
        typer.Option(metavar="PHRASES", help="Reference phrases that values are made with."),
    ] = None,
    of: Annotated[
        str, typer.Option(metavar="POINTS", help=f"What the points are: {' or '.join(OF)}.")
    ] = OF[0],
    neighbors: Annotated[
        int, typer.Option(metavar="N", help="UMAP's n_neighbors.")
    ] = UmapParameters.n_neighbors,
    min_dist: Annotated[
        float, typer.Option(metavar="DISTANCE", help="UMAP's min_dist, from 0 to 1.")
    ] = UmapParameters.min_dist,
    reader: options.ReaderOption = None,
    family: options.FamilyOption = HeadsQuestion.family,
    pooling: options.PoolingOption = HeadsQuestion.pooling,
    templates: options.TemplatesOption = HeadsQuestion.n_templates,
    k: options.HeadsOption = HeadsQuestion.k,
    seed: Annotated[
        int, typer.Option(metavar="SEED", help="Of UMAP, and of resampled phrases.")
    ] = HeadsQuestion.seed,
    file: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the points: .csv, .parquet, .jsonl."),
    ] = None,
    cache: CacheOption = None,
    as_json: JsonOption = False,
    run: RunOption = None,
) -> None:
    """Place axes or concepts on a map, alike ones together.

    UMAP's points are computed once and stored; the app shows these. Beside them stand the first two
    principal components.
    """
    if file is not None:
        check_path(file)
    store = open_cache(cache)
    ask = partial(
        _asked,
        of,
        UmapParameters(n_neighbors=neighbors, min_dist=min_dist),
        partial(
            asked_questions,
            store,
            reader=reader,
            axes=axes,
            concepts=concepts,
            references=_one(reference or ()),
            family=family,
            pooling=pooling,
            templates=templates,
            k=k,
            seed=seed,
        ),
    )
    stored, placed = _at_hand(store, ask()) if run is None else (None, None)
    if stored is None or placed is None:
        stored, placed = _as_job(store, ask, run)
    say_unread(store, stored.question)
    _say_points(stored, placed, file, as_json=as_json)


def _one(references: Sequence[str]) -> Sequence[str]:
    if len(references) > 1:
        raise InputError("A map is made of one set of reference phrases; give --reference once.")
    return references


def _asked(
    of: str, parameters: UmapParameters, questions: Callable[[], Sequence[HeadsQuestion]]
) -> _Asked:
    points = one_of("of", of, OF)
    parameters.check()
    (question,) = questions()
    return _Asked(question, points, parameters)


def _at_hand(store: Cache, asked: _Asked) -> tuple[StoredAxes | None, Atlas | None]:
    """What is stored of it."""
    stored = stored_axis_table(store, asked.question)
    if stored is None:
        return None, None
    return stored, stored_umap(store, stored, asked.of, asked.parameters)


def _as_job(store: Cache, ask: Callable[[], _Asked], run: str | None) -> tuple[StoredAxes, Atlas]:
    """Compute and store, telling the terminal and the run folder; leave where it is stopped."""
    spec = JobSpec(command=ATLAS) if run else JobSpec(command=ATLAS, request=atlas_request(*ask()))
    with running_job(store, spec, run) as job:
        asked = ask()
        with watched(job) as (watch, stop):
            found = keep_results(store, [asked.question], watch, stop)
            if not found or stop():
                job.end("stopped")
                raise typer.Exit(STOPPED)
            check_umap(found[0], asked.of, asked.parameters)
            watch(Progress(PLACING))
            return found[0], compute_umap(store, found[0], asked.of, asked.parameters)


def _say_points(stored: StoredAxes, placed: Atlas, file: Path | None, *, as_json: bool) -> None:
    table = _points(stored, placed)
    if file is not None:
        write_table(table, file)
    if as_json:
        facts = {
            "points": placed.of,
            "left_out": list(placed.left_out),
            "n_duplicates": placed.n_duplicates,
            "parameters": asdict(placed.parameters) if placed.parameters else None,
            "versions": dict(placed.versions or {}),
        }
        print_json(facts | {"table": json_rows(table)})
        return
    say(f"Placed {placed.note} The Atlas of the app shows them.", to=out)
    if file is not None:
        say(f"Wrote {file}.")


def _points(stored: StoredAxes, placed: Atlas) -> pd.DataFrame:
    """One row per point: its name, UMAP's coordinates and its first two components."""
    components = principal_components(stored, placed.of)
    columns = {"name": list(placed.names)}
    for kind, points in (("umap", placed.points), ("component", components.points)):
        columns |= {f"{kind}_{i + 1}": points[:, i].tolist() for i in range(2)}
    return pd.DataFrame(columns)

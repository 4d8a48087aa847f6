"""The command check: did the pipeline do what it should, on the data sets of a cache?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any

import typer

from core.analysis.overview import find_scorer, scorer_labels
from core.analysis.pipeline_checks import PipelineCheck, item_checks
from core.analysis.score_checks import score_checks
from core.cli.terminal import CacheOption, JsonOption, open_cache, out, print_json, print_rows, say
from core.errors import InputError
from core.export.tables import as_arrow, json_rows
from core.store.audit import scored_with
from core.store.gate import Cache
from core.store.items import datasets, require_dataset, stored_items
from core.store.scorers import scorers
from core.words import counted

RED_FOUND = 3
_STYLES = {"green": "green", "red": "bold red", "undefined": "yellow"}
_FEW = 3  # examples shown in a terminal; --json has all


def check(
    dataset: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only this data set (default: all of the cache)."),
    ] = None,
    scorer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Only this scorer: its id, the beginning of it, model name or label (default: "
            "every one that has scored the data set).",
        ),
    ] = None,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check what a pipeline can do wrong, as one report.

    Looked at are label direction, role derivation, scored tokens, contrast and blanks. Each check
    is green (looked for and not found), red (look there) or undefined (with what is missing). The
    exit code is 3 if one is red, else 0. Nothing here says anything about a model.
    """
    store = open_cache(cache)
    if dataset is not None:
        require_dataset(store, dataset)
    named = None if scorer is None else find_scorer(store, scorer)
    labels = scorer_labels(scorers(store))
    held = datasets(store)
    held = held if dataset is None else held[held["dataset"] == dataset]
    if held.empty:
        raise InputError("The cache holds no data set yet; `import` stores one.")
    reports: dict[str, list[PipelineCheck]] = {}
    for row in held.to_dict("records"):
        reports[row["dataset"]] = list(_checks(store, row["dataset"], row["format"], named))
    if as_json:
        print_json(_as_json(reports))
    else:
        for name, checks in reports.items():
            _print(name, checks, labels)
    if any(one.state == "red" for checks in reports.values() for one in checks):
        raise typer.Exit(RED_FOUND)


def _checks(
    store: Cache, dataset: str, formats: str, scorer: str | None
) -> Iterator[PipelineCheck]:
    items = stored_items(store, dataset)
    yield from item_checks(items, formats)
    for scorer_id in scored_with(store, dataset) if scorer is None else [scorer]:
        yield from score_checks(store, scorer_id, dataset, items)


def _as_json(reports: dict[str, list[PipelineCheck]]) -> dict[str, Any]:
    return {
        "data_sets": {
            name: [
                asdict(one) | {"examples": list(json_rows(as_arrow(one.examples)))}
                for one in checks
            ]
            for name, checks in reports.items()
        },
        "n_red": sum(one.state == "red" for checks in reports.values() for one in checks),
    }


def _print(dataset: str, checks: list[PipelineCheck], labels: dict[str, str]) -> None:
    for one in checks:
        scorer = f" ({labels[one.scorer_id]})" if one.scorer_id else ""
        n = f"n = {one.n:,}"
        say(f"{dataset}: {one.title}{scorer}: {one.state} ({n})", style=_STYLES[one.state], to=out)
        say(f"  {one.found}", to=out)
        if one.state == "red" and len(one.examples):
            print_rows(one.examples.head(_FEW))
            shown = counted(min(_FEW, len(one.examples)), "example")
            more = "; --json has more" if len(one.examples) > _FEW else ""
            say(f"  {shown} of {one.n_bad:,}{more}.", to=out)

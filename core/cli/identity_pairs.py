"""The command `identity-pairs`: whom the bias of a model falls on, identity by identity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer
from rich.console import Console

from core.analysis.audit.request import AuditTable
from core.analysis.identities.confounds import CONFOUNDS, confounded_pairs, confounds
from core.analysis.identities.panel import IdentityPanel, PairKey
from core.analysis.identities.rows import IdentityRequest
from core.analysis.identities.tables import ALL_PAIRS, LANGUAGES, TABLES, identity_table
from core.analysis.overview import SIMULATED, STAMP, find_scorer, is_simulated
from core.cli.data_sets import DatasetOption
from core.cli.identity_sets import Sets, read_sets
from core.cli.identity_tables import print_named, print_overview
from core.cli.terminal import CacheOption, JsonOption, log, open_cache, out, print_json, say
from core.errors import InputError
from core.export.table_files import (
    NamedTables,
    check_tables_path,
    tables_object,
    write_tables,
)
from core.settings import DEFAULT_SEED
from core.store.gate import Cache
from core.store.items import datasets
from core.store.scorers import scorers
from core.words import counted

_TABLES = (*TABLES, CONFOUNDS)
SHOWN = ("overview", "identities", LANGUAGES)  # what is printed of where no table is named

ScorersOption = Annotated[
    list[str] | None,
    typer.Option("--scorer", metavar="NAME", help="Only this scorer; may be given more than once."),
]
AgainstOption = Annotated[
    list[str] | None,
    typer.Option(
        "--against",
        metavar="NAME",
        help="A data set of the same predicates, in another language or the same; may be repeated.",
    ),
]
ConditionOption = Annotated[
    str | None,
    typer.Option(
        metavar="CODE",
        help="Only this language of --dataset; in the table languages the others are held against "
        "it (default: all, against the first).",
    ),
]
TableOption = Annotated[
    list[str] | None,
    typer.Option(
        "--table", metavar="NAME", help=f"Only this table; may be repeated: {', '.join(_TABLES)}."
    ),
]
SeedOption = Annotated[int, typer.Option(min=0, help="Of everything that is drawn.")]
FileOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="PATH",
        help="Write to a .json file, to a folder (one CSV file per table), or one --table to a "
        ".csv, .parquet, .jsonl or .tex file.",
    ),
]


def identity_pairs(
    dataset: DatasetOption,
    scorer: ScorersOption = None,
    against: AgainstOption = None,
    condition: ConditionOption = None,
    table: TableOption = None,
    seed: SeedOption = DEFAULT_SEED,
    file: FileOption = None,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say whom the bias falls on, identity by identity.

    Prints bias (W) over all pairs and bias (M) over identities with intervals over predicates, the
    share of each identity, differences between languages where there are several, and a verdict
    per model. Where pairs differ in more than the identity, every table stands there with and
    without them.
    """
    named = _names(table)
    if file is not None:
        check_tables_path(file, len(named or _TABLES), _TABLES, "a table of identity pairs")
    store = open_cache(cache)
    ids = [find_scorer(store, name) for name in scorer or ()]
    sets = read_sets(store, dataset, against or (), ids, condition)
    confounded = {k: v for name in sets.datasets for k, v in confounded_pairs(store, name).items()}
    request = IdentityRequest(confounded=frozenset(confounded), seed=seed)
    names = named or (_TABLES if as_json or file is not None else SHOWN)
    tables, left_out = _tables(sets, names, request, confounded, named=bool(named))
    simulated = any(_is_simulated(store, name, sets.panels) for name in sets.datasets)
    facts = {
        "datasets": sets.datasets,
        SIMULATED: simulated,
        "seed": request.seed,
        "n_resamples": request.n_resamples,
        "n_confounded": len(request.confounded),
        "missing": sets.missing,
        "left_out": left_out,
    }
    _give(NamedTables(tables, facts, simulated), file, named=bool(named), as_json=as_json)


def _names(table: list[str] | None) -> tuple[str, ...]:
    for name in table or ():
        if name not in _TABLES:
            raise InputError(f"{name!r} is not a table; choose from: {', '.join(_TABLES)}.")
    return tuple(dict.fromkeys(table or ()))


def _tables(
    sets: Sets,
    names: Sequence[str],
    request: IdentityRequest,
    confounded: Mapping[PairKey, str],
    *,
    named: bool,
) -> tuple[dict[str, AuditTable], dict[str, str]]:
    """The tables, and why one is not there that nobody asked for by its name."""
    tables, left_out = {}, {}
    for name in names:
        if name != LANGUAGES:
            tables[name] = _by_data_set(sets.shown, name, request, confounded)
        elif named:
            tables[name] = identity_table(sets.panels, name, request)
        elif len(sets.panels) > 1:
            try:
                tables[name] = identity_table(sets.panels, name, request)
            except InputError as error:
                left_out[name] = str(error)
    return tables, left_out


def _by_data_set(
    panels: Sequence[IdentityPanel],
    name: str,
    request: IdentityRequest,
    confounded: Mapping[PairKey, str],
) -> AuditTable:
    """A table of each data set; a column tells several apart, also in the same language."""
    of: dict[str, list[IdentityPanel]] = {}
    for panel in panels:
        of.setdefault(panel.dataset, []).append(panel)
    found = {
        dataset: confounds(some, confounded)
        if name == CONFOUNDS
        else identity_table(some, name, request)
        for dataset, some in of.items()
    }
    if len(found) == 1:
        return found[panels[0].dataset]
    return _below(
        [
            AuditTable(table.rows.assign(dataset=dataset)[["dataset", *table.rows]], table.notes)
            for dataset, table in found.items()
        ]
    )


def _below(found: Sequence[AuditTable]) -> AuditTable:
    """Tables below one another, every note once."""
    rows = pd.concat([table.rows for table in found], ignore_index=True)
    if "pairs" in rows:  # what has no confounded pairs does not tell them apart
        rows["pairs"] = rows["pairs"].fillna(ALL_PAIRS)
    notes = dict.fromkeys(note for table in found for note in table.notes)
    return AuditTable(rows, tuple(notes))


def _is_simulated(cache: Cache, dataset: str, panels: Sequence[IdentityPanel]) -> bool:
    """Whether no model stands behind the scores of a data set."""
    ids = [m.scorer_id for panel in panels if panel.dataset == dataset for m in panel.models]
    return is_simulated(datasets(cache), scorers(cache), dataset, ids)


def _give(found: NamedTables, file: Path | None, *, named: bool, as_json: bool) -> None:
    """Into a file where one is named, and on the terminal as JSON or as tables."""
    files = [] if file is None else write_tables(found, file, _TABLES)
    if as_json:
        print_json(tables_object(found) | {"files": [str(path) for path in files]})
    elif file is None:
        _print(found, named=named)
    else:
        if found.simulated:
            say(STAMP)
        _say_what_lacks(found, log)
        several = f"{counted(len(files), 'file')} to {file}"
        say(f"Wrote {files[0] if len(files) == 1 else several}.")


def _print(found: NamedTables, *, named: bool) -> None:
    if found.simulated:
        say(STAMP, style="bold", to=out)
    if named:
        for name, table in found.tables.items():
            print_named(name, table)
        _say_what_lacks(found, out)
        return
    print_overview(found.tables)
    _say_what_lacks(found, out)
    others = ", ".join(name for name in _TABLES if name not in SHOWN)
    say(f"More with --table: {others}; --json and --out have all of them.", to=out)


def _say_what_lacks(found: NamedTables, to: Console) -> None:
    for sentence in found.facts["missing"]:
        say(f"Note: {sentence}", to=to)
    for name, why in found.facts["left_out"].items():
        say(f"Note: left out of the table {name}: {why}", to=to)

"""The command `audit`: which gaps are real, how large the noise is, and what it all rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.analysis.audit.audit import TABLES, Audit, audit, check_names
from core.analysis.audit.request import AuditRequest
from core.analysis.overview import STAMP, find_scorer
from core.cli import audit_options as options
from core.cli.audit_tables import print_audit
from core.cli.data_sets import DatasetOption
from core.cli.jobs import jobs_now
from core.cli.next_step import say_after_audit
from core.cli.terminal import CacheOption, JsonOption, open_cache, print_json, say
from core.errors import InputError
from core.export.audit import audit_object, check_audit_path, write_audit
from core.items.conditions import normalise_condition
from core.jobs.follow import with_jobs
from core.settings import DEFAULT_SEED, REFERENCE_CONDITION
from core.stats.scores import KINDS, ScoreKind
from core.store.gate import Cache
from core.store.items import require_dataset
from core.store.scorers import scorers as known_scorers
from core.words import counted

SHOWN = ("main", "verdicts", "fluency_icat")  # what is printed of where no table is named


def audit_data_set(
    dataset: DatasetOption,
    scorer: options.ScorersOption = None,
    condition: options.ConditionsOption = None,
    kind: options.KindOption = "mean",
    slice_name: options.SliceOption = "",
    source: options.SourcesOption = None,
    category: options.CategoriesOption = None,
    dimension: options.DimensionsOption = None,
    margin: options.MarginOption = 0.02,
    complete: options.CompleteOption = False,
    reference: options.ReferenceOption = REFERENCE_CONDITION,
    model_group: options.ModelGroupsOption = None,
    seed: options.SeedOption = DEFAULT_SEED,
    table: options.TablesOption = None,
    file: options.FileOption = None,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell gaps between languages from the noise of rewording.

    Computes the tables of an audit from stored scores. Without --table, --json and --out it prints
    the main table with the verdicts.
    """
    names = _checked_names(table or (), file)
    store = open_cache(cache)
    require_dataset(store, dataset)
    request = AuditRequest(
        dataset=dataset,
        scorers=tuple(find_scorer(store, name, dataset=dataset) for name in scorer or ()),
        conditions=tuple(normalise_condition(name) for name in condition or ()),
        slice=slice_name,
        sources=tuple(source or ()),
        categories=tuple(category or ()),
        dimensions=tuple(dimension or ()),
        kind=_kind(kind),
        reference=normalise_condition(reference),
        margin=_margin(margin),
        complete=complete,
        model_groups=tuple(_group(store, text) for text in model_group or ()),
        seed=seed,
    )
    whole = as_json or file is not None
    found = audit(store, request, names if whole or table else SHOWN)
    _give(store, found, file, named=bool(table), as_json=as_json)


def _checked_names(tables: Sequence[str], file: Path | None) -> tuple[str, ...]:
    """The tables that were named, or all; refused before anything is computed."""
    check_names(tables)
    names = tuple(dict.fromkeys(tables or TABLES))
    if file is not None:
        check_audit_path(file, len(names))
    return names


def _give(store: Cache, found: Audit, file: Path | None, *, named: bool, as_json: bool) -> None:
    """Into a file where one is named, and on the terminal as JSON or as tables."""
    files = [] if file is None else write_audit(found, file)
    if as_json:
        print_json(audit_object(found) | {"files": [str(path) for path in files]})
    elif file is None:
        print_audit(_with_jobs(store, found), named=named)
        say_after_audit(store)
    else:
        if found.simulated:
            say(STAMP)
        several = f"{counted(len(files), 'file')} to {file}"
        say(f"Wrote {files[0] if len(files) == 1 else several}.")


def _with_jobs(store: Cache, found: Audit) -> Audit:
    """Who is told of missing scores is told of the job that computes them."""
    views, dataset = jobs_now(store), found.request.dataset
    tables = {
        name: replace(table, notes=tuple(with_jobs(table.notes, views, dataset)))
        for name, table in found.tables.items()
    }
    warnings = tuple(with_jobs(found.warnings, views, dataset))
    return replace(found, warnings=warnings, tables=tables)


def _kind(name: str) -> ScoreKind:
    for kind in KINDS:
        if name == kind:
            return kind
    raise InputError(f"{name!r} is no kind of score; choose from: {', '.join(KINDS)}.")


def _margin(margin: float) -> float:
    if not 0 < margin < float("inf"):
        raise InputError(f"--margin {margin} is not a positive number.")
    return margin


def _group(cache: Cache, text: str) -> tuple[str, str]:
    """A model name or scorer id, and its group, from NAME=GROUP; the name may hold a = itself."""
    name, equals, group = text.rpartition("=")
    if not equals or not name.strip() or not group.strip():
        raise InputError(f"--model-group takes NAME=GROUP, not {text!r}.")
    if name in set(known_scorers(cache)["model"]):
        return name, group.strip()  # all scorers of that model
    return find_scorer(cache, name, "--model-group"), group.strip()

"""The command `build-pairs`: sentence pairs of identities from a folder of plain lists."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from core.cli.import_options import ReplaceOption
from core.cli.next_step import say_after_import
from core.cli.terminal import (
    CacheOption,
    JsonOption,
    open_cache,
    out,
    print_json,
    print_problems,
    print_table,
    say,
)
from core.errors import InputError
from core.export.items import check_items_path, write_items
from core.items.pair_builder.build import SOURCE, build
from core.items.pair_builder.contents import FILES, Folder
from core.items.pair_builder.exclusions import Exclusion, Kind
from core.items.pair_builder.folder import read_folder
from core.items.pair_builder.plan import Plan, plan
from core.store.items import PutResult, put_dataset
from core.words import counted

SHOWN = 10  # exclusions in the terminal
_WHAT = {
    Kind.EXCLUDED: "Left out, predicates that the survey excludes",
    Kind.NO_TEMPLATE: "Left out, predicates for templates that are not there",
    Kind.NO_FORM: "Left out, predicates without a form that a template takes, by identity",
    Kind.SAME_FORM: "One pair with another, predicates of the same form by identity and template",
    Kind.SAME_PAIR: "Left out, predicates in templates that make the same pairs as an earlier one",
    Kind.NO_PREDICATE: "In no pair, identities that no predicate names",
    Kind.NO_COUNTERFACTUAL: "In no pair, identities that are held against nobody",
}

DatasetNameOption = Annotated[
    str | None,
    typer.Option("--dataset", metavar="NAME", help="Name to store them under."),
]
FolderArgument = Annotated[
    Path, typer.Argument(metavar="FOLDER", help=f"Holds {', '.join(FILES)}.")
]
LanguageOption = Annotated[
    str | None,
    typer.Option(
        metavar="CODE",
        help="Of the sentences (default: Dutch with the published predicates, else the folder's "
        "name).",
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FILE", help="Write the pairs to a file too: .jsonl, .parquet or .csv."
    ),
]
DryRunOption = Annotated[
    bool,
    typer.Option("--dry-run", help="Only check and count: store nothing and write no file."),
]


def build_pairs(
    folder: FolderArgument,
    language: LanguageOption = None,
    dataset: DatasetNameOption = None,
    file: OutOption = None,
    replace: ReplaceOption = False,
    dry_run: DryRunOption = False,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build sentence pairs of identities and store them.

    Templates, names, identities and predicates of a folder become pairs that differ in the identity
    only. They are counted first, by identity, template and tier, and what is left out is named.
    docs/identity-pairs.md says what the files hold.
    """
    if dataset is None and not dry_run:
        raise InputError("Name the data set with --dataset, or only count with --dry-run.")
    if file is not None:
        check_items_path(file)
    read = read_folder(folder, language)
    planned = plan(read)
    summary = _summary(read, planned)
    if not as_json:
        _say_plan(read, planned)
    items = build(read, planned)  # also where they are only counted: it checks each pair
    if dataset is not None and not dry_run:
        store = open_cache(cache)
        origin = {"path": str(folder), "format": SOURCE, "sha256": _sha256(folder)}
        stored = put_dataset(store, dataset, items, **origin, replace=replace)
        if file is not None:
            write_items(items, file)
        summary |= {"dataset": dataset, "unchanged": stored.unchanged, "file": file}
        if not as_json:
            _say_stored(dataset, stored, file)
            say_after_import(store, dataset, items)
    elif file is not None:
        say(f"{file} is not written: --dry-run only checks and counts.")
    if as_json:
        print_json(summary)


def _say_stored(name: str, stored: PutResult, file: Path | None) -> None:
    n = counted(stored.stored, "pair")
    was = "already in the cache with the same content" if stored.unchanged else "stored"
    say(f"{name}: {n}, {was}.")
    if file is not None:
        say(f"Wrote {n} to {file}.")


def _summary(read: Folder, planned: Plan) -> dict[str, Any]:
    return {
        "language": read.language,
        "pairs": planned.n_pairs,
        "counts": planned.counts(),
        "tiers": planned.tiers(),
        "exclusions": [_facts(each) for each in planned.exclusions],
        "problems": [asdict(problem) for problem in read.problems],
    }


def _say_plan(read: Folder, planned: Plan) -> None:
    print_problems(read.problems)
    counts = planned.counts()
    if counts:
        print_table(_count_table(counts), f"{counted(planned.n_pairs, 'pair')} in {read.language}")
    tiers = ", ".join(f"{name} {n:,}" for name, n in planned.tiers().items())
    say(f"Pairs by tier of the predicate: {tiers or 'none'}.", to=out)
    for kind, n in Counter(each.kind for each in planned.exclusions).items():
        say(f"{_WHAT[kind]}: {n:,}")
        for each in [e for e in planned.exclusions if e.kind == kind][:SHOWN]:
            say(f"  {_sentence(each)}")
        if n > SHOWN:
            say(f"  showing {SHOWN} of {n:,}; --json gives all of them")


def _sentence(each: Exclusion) -> str:
    about = ", ".join(filter(None, (each.predicate, each.identity, each.templates)))
    return f"{each.place}: {about}: {each.reason}"


def _facts(each: Exclusion) -> dict[str, Any]:
    """What JSON has of it, its place as file and row."""
    facts = each._asdict()
    place = facts.pop("place")
    return facts | {"file": place.file, "row": place.row}


def _count_table(counts: dict[str, dict[str, int]]) -> pd.DataFrame:
    """Pairs by identity and template, templates with the same counts in one column."""
    columns: dict[tuple[int, ...], list[str]] = {}
    for template in next(iter(counts.values())):
        key = tuple(row[template] for row in counts.values())
        columns.setdefault(key, []).append(template)
    table: dict[str, list[Any]] = {"identity": list(counts)}
    for numbers, templates in columns.items():
        each = " each" if len(templates) > 1 else ""
        table[f"{', '.join(templates)}{each}"] = list(numbers)
    table["all"] = [sum(row.values()) for row in counts.values()]
    return pd.DataFrame(table)


def _sha256(folder: Path) -> str:
    """Of the five files, in the order in which the folder is described."""
    digest = hashlib.sha256()
    for name in FILES:
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()

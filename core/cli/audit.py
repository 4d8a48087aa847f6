"""The command `audit`: which gaps are real, how large the noise is, and what it all rests on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from core.analysis.audit.audit import STAMP, TABLES, Audit, audit, check_names
from core.analysis.audit.names import REWORDING
from core.analysis.audit.request import AuditRequest, AuditTable
from core.analysis.overview import find_scorer
from core.cli.data_sets import DatasetOption
from core.cli.terminal import (
    CacheOption,
    JsonOption,
    open_cache,
    out,
    print_json,
    print_rows,
    print_table,
    say,
)
from core.errors import InputError
from core.export.audit import audit_object, check_audit_path, write_audit
from core.items.conditions import normalise_condition
from core.settings import DEFAULT_SEED, REFERENCE_CONDITION
from core.stats.scores import KINDS, ScoreKind
from core.store.gate import Cache
from core.store.items import require_dataset
from core.store.scorers import scorers as known_scorers

SHOWN = ("main", "verdicts")  # what is printed where no table is named
SHOWN_ROWS = 20

_DROPS = {
    "condition": "Language",
    "score": "Score",
    "drop": "Drop",
    "drop_between": "Over models",
    "items_between": "Over items",
    "reliable": "Reliable",
    "n_models": "Models",
}
_KEPT = {
    "condition": "Language",
    "t": "Beyond rewording",
    "qvalue": "q",
    "n_items": "n items",
    "slope": "Slope",
    "same_choice": "Same choice",
    "fluency": "Fluency",
}

_DROPS_LEGEND = (
    "Drop: English minus the language, mean over models, with 95 % intervals. Reliable: models "
    "whose drop has q < .05, by the score / by the choice alone."
)
_KEPT_LEGEND = (
    "Beyond rewording: the drop minus that of rewording. Slope: of the score on the English score. "
    "Same choice: share that prefers the same pole as in English. Fluency: preference for the "
    "better pole over the unrelated continuation, 0 to 1."
)
# Columns of differences of scores, which have a sign, and of sizes in the same unit.
_SIGNED = re.compile(
    r"(drop|reworded_drop|right_drop|moved|english_moved|t|t90|mean_change|difference|shift|"
    r"prediction|language_drop)"
    r"(_(low|high|items|items_low|items_high|binary|binary_low|binary_high|equal|unfiltered))?"
)
_SIZE = re.compile(
    r"(score|gap|floor|noise_floor|right_noise_floor|abs_mean_change)(_(binary|low|high|english))?"
)

ListOption = list[str] | None


def audit_data_set(
    dataset: DatasetOption,
    scorer: Annotated[
        ListOption,
        typer.Option(
            metavar="NAME",
            help="A scorer: id, beginning of it, model name or label; may be repeated "
            "(default: all that have scores).",
        ),
    ] = None,
    condition: Annotated[
        ListOption,
        typer.Option(
            metavar="CONDITION",
            help="A language, or a rewording of one; may be repeated (default: all). English and "
            "its rewordings are always there.",
        ),
    ] = None,
    kind: Annotated[
        str, typer.Option(metavar="KIND", help=f"Which score: {', '.join(KINDS)}.")
    ] = "mean",
    slice_name: Annotated[
        str, typer.Option("--slice", metavar="NAME", help="Only the items of a named slice.")
    ] = "",
    source: Annotated[
        ListOption, typer.Option(metavar="SOURCE", help="Only this source; may be repeated.")
    ] = None,
    category: Annotated[
        ListOption, typer.Option(metavar="CATEGORY", help="Only this category; may be repeated.")
    ] = None,
    dimension: Annotated[
        ListOption, typer.Option(metavar="DIMENSION", help="Only this dimension; may be repeated.")
    ] = None,
    margin: Annotated[
        float,
        typer.Option(help="Of equivalence, in the unit of the score; fix it before looking."),
    ] = 0.02,
    complete: Annotated[
        bool,
        typer.Option(
            "--complete-cases",
            help="Take rewording noise only from items that have all the rewordings.",
        ),
    ] = False,
    reference: Annotated[
        str, typer.Option(metavar="CONDITION", help="What CSS and CLCI are relative to.")
    ] = REFERENCE_CONDITION,
    model_group: Annotated[
        ListOption,
        typer.Option(
            metavar="NAME=GROUP",
            help="Group of a scorer's model, to compare groups; may be repeated.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of all random draws.")] = DEFAULT_SEED,
    table: Annotated[
        ListOption,
        typer.Option(
            metavar="TABLE",
            help=f"Only this table; may be repeated. There are: {', '.join(TABLES)}.",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="PATH",
            help="Write to a .json file, to a folder (one CSV file per table), or one --table to "
            "a .csv, .parquet, .jsonl or .tex file.",
        ),
    ] = None,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell gaps between languages from the noise of rewording.

    Computes the tables of an audit from stored scores. Without --table, --json and --out it prints
    the main table with the verdicts.
    """
    check_names(table or ())
    names = tuple(dict.fromkeys(table or TABLES))
    if file is not None:
        check_audit_path(file, len(names))
    store = open_cache(cache)
    require_dataset(store, dataset)
    request = AuditRequest(
        dataset=dataset,
        scorers=tuple(find_scorer(store, name) for name in scorer or ()),
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
    files = [] if file is None else write_audit(found, file)
    if as_json:
        print_json(audit_object(found) | {"files": [str(path) for path in files]})
    elif file is None:
        _print(found, named=bool(table))
    if file is not None and not as_json:
        if found.simulated:
            say(STAMP)
        say(f"Wrote {files[0] if len(files) == 1 else f'{len(files)} files to {file}'}.")


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


def _print_main(tables: dict[str, AuditTable], said: tuple[str, ...]) -> None:
    """The main table as two that fit a narrow terminal, the verdicts as sentences, the notes."""
    rows = tables["main"].rows
    sized = rows["drop"].where(rows["condition"] == REWORDING)  # a floor has no direction
    shown = rows.assign(
        score=rows["score"].map(_size),
        drop=rows["drop"].map(_three_digits).where(sized.isna(), sized.map(_size)),
        t=rows["t"].map(_three_digits),
        **rows[["slope", "same_choice", "fluency"]].round(3),
        qvalue=rows["qvalue"].round(4),
        drop_between=_between(rows, "drop"),
        items_between=_between(rows, "drop_items"),
        reliable=_pair(rows["n_reliable"], rows["n_reliable_binary"]),
    )
    print_table(shown[[*_DROPS]].rename(columns=_DROPS), "Drop of the score from English")
    say(_DROPS_LEGEND, to=out)
    print_table(shown[[*_KEPT]].rename(columns=_KEPT), "What the items keep")
    say(_KEPT_LEGEND, to=out)
    say("", to=out)
    say("Verdicts", style="bold", to=out)
    verdicts = tables["verdicts"].rows
    for label, sentence in zip(verdicts["reads"], verdicts["sentence"], strict=True):
        say(f"{label}: {sentence}", to=out)
    for note in dict.fromkeys(note for table in tables.values() for note in table.notes):
        if note not in said:
            say(f"Note: {note}", to=out)


def _print_table(name: str, table: AuditTable, said: tuple[str, ...]) -> None:
    """The first rows of any table; a reason only where there is one."""
    say(name, style="bold", to=out)
    rows = table.rows
    shown = rows if (rows["reason"] != "").any() else rows.drop(columns="reason")
    print_rows(_rounded(shown.head(SHOWN_ROWS)))
    if len(rows) > SHOWN_ROWS:
        say(f"  showing {SHOWN_ROWS} of {len(rows)}; --json and --out give all of them", to=out)
    for note in table.notes:
        if note not in said:
            say(f"Note: {note}", to=out)


def _rounded(rows: pd.DataFrame) -> pd.DataFrame:
    """Differences and sizes of scores with three digits everywhere, differences with their sign."""
    shown = rows.copy()
    for name in shown.columns[shown.dtypes == np.float64]:
        if _SIGNED.fullmatch(name):
            shown[name] = shown[name].map(_three_digits)
        elif _SIZE.fullmatch(name):
            shown[name] = shown[name].map(_size)
    return shown


def _between(rows: pd.DataFrame, name: str) -> pd.Series:
    """The interval of a number as a text, empty where there is none."""
    low, high = (rows[f"{name}_{end}"].map(_three_digits) for end in ("low", "high"))
    return ("[" + low + "," + high + "]").where(low != "", "")


def _three_digits(value: float) -> str:
    """A difference as `signed` of core/words.py writes it, on a narrow terminal."""
    return "" if pd.isna(value) else f"{round(value, 3) + 0.0:+.3f}".replace("-", "\u2212")


def _size(value: float) -> str:
    """A number without a direction, in the digits of a difference."""
    return "" if pd.isna(value) else f"{value:.3f}"


def _pair(soft: pd.Series, binary: pd.Series) -> list[str]:
    """Two counts as one text, empty where they are unknown."""
    both = zip(soft, binary, strict=True)
    return ["" if pd.isna(a) or pd.isna(b) else f"{a} / {b}" for a, b in both]


def _print(found: Audit, *, named: bool) -> None:
    """What fits a terminal: the tables asked for, else the main one and the verdicts."""
    if found.simulated:
        say(STAMP, style="bold", to=out)
    for warning in found.warnings:
        say(f"Note: {warning}", to=out)
    if found.only_pairs and not named:
        return
    if not named:
        _print_main(found.tables, found.warnings)
    else:
        for name, table in found.tables.items():
            _print_table(name, table, found.warnings)
    say(f"Seed {found.request.seed}; --json gives every table in full.", to=out)

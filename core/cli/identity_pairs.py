"""The command `identity-pairs`: whom the bias of a model falls on, identity by identity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import pandas as pd
import typer

from core.analysis.audit.request import AuditTable
from core.analysis.identities.confounds import CONFOUNDS, confounded_pairs, confounds
from core.analysis.identities.overview import HIGHEST, LOWEST
from core.analysis.identities.panel import IdentityPanel, identity_panels
from core.analysis.identities.rows import IdentityRequest
from core.analysis.identities.tables import LANGUAGES, TABLES, identity_table
from core.analysis.overview import STAMP, find_scorer, is_simulated
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
from core.export.tables import json_rows
from core.settings import DEFAULT_SEED
from core.store.gate import Cache
from core.store.items import datasets
from core.store.scorers import scorers

_TABLES = (*TABLES, CONFOUNDS)
SHOWN_ROWS = 20
SHOWN_MODELS = 3  # across
_MARKS = {HIGHEST: "+", LOWEST: "-"}
_OVERVIEW = {
    "model": "Model",
    "kind": "Kind",
    "w": "Bias (W), %",
    "m": "Bias (M), %",
    "spread": "Spread",
    "floor": "Floor",
    "n": "n",
}

ScorersOption = Annotated[
    list[str] | None,
    typer.Option("--scorer", metavar="NAME", help="Only this scorer; may be given more than once."),
]
AgainstOption = Annotated[
    list[str] | None,
    typer.Option(
        "--against",
        metavar="NAME",
        help="A data set of the same predicates in another language; may be repeated.",
    ),
]
TableOption = Annotated[
    list[str] | None,
    typer.Option(
        "--table", metavar="NAME", help=f"Only this table, in full: {', '.join(_TABLES)}."
    ),
]
SeedOption = Annotated[int, typer.Option(min=0, help="Of everything that is drawn.")]


def identity_pairs(
    dataset: DatasetOption,
    scorer: ScorersOption = None,
    against: AgainstOption = None,
    table: TableOption = None,
    seed: SeedOption = DEFAULT_SEED,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say whom the bias falls on, identity by identity.

    Prints bias (W) over all pairs and bias (M) over identities with intervals over predicates, the
    share of each identity, and a verdict per model. Where pairs differ in more than the identity,
    every table stands there with and without them.
    """
    names = _names(table)
    store = open_cache(cache)
    ids = [find_scorer(store, name) for name in scorer or ()]
    sets = list(dict.fromkeys([dataset, *(against or ())]))
    panels = [panel for name in sets for panel in identity_panels(store, name, ids)]
    confounded = {k: v for name in sets for k, v in confounded_pairs(store, name).items()}
    request = IdentityRequest(confounded=frozenset(confounded), seed=seed)
    if not names:
        some = [name for name in _TABLES if name != LANGUAGES or len(panels) > 1]
        names = some if as_json else ["overview", "identities"]
    found = {
        name: confounds(panels, confounded)
        if name == CONFOUNDS
        else identity_table(panels, name, request)
        for name in names
    }
    simulated = [name for name in sets if _is_simulated(store, name, panels)]
    if simulated and not as_json:
        say(STAMP, style="bold", to=out)
    if as_json:
        known = {"datasets": sets, "simulated": bool(simulated)}
        print_json(known | _as_json(request, found))
    elif table:
        for name, one in found.items():
            _print_whole(name, one)
    else:
        _print_overview(found["overview"], found["identities"])


def _names(table: list[str] | None) -> list[str]:
    for name in table or ():
        if name not in _TABLES:
            raise InputError(f"{name!r} is not a table; choose from: {', '.join(_TABLES)}.")
    return list(dict.fromkeys(table or ()))


def _is_simulated(cache: Cache, dataset: str, panels: Sequence[IdentityPanel]) -> bool:
    """Whether no model stands behind the scores of a data set."""
    ids = [m.scorer_id for panel in panels if panel.dataset == dataset for m in panel.models]
    return is_simulated(datasets(cache), scorers(cache), dataset, ids)


def _as_json(request: IdentityRequest, found: Mapping[str, AuditTable]) -> dict[str, object]:
    """How the tables were made, and each in full."""
    return {
        "seed": request.seed,
        "n_resamples": request.n_resamples,
        "n_confounded": len(request.confounded),
        "tables": {
            name: {"rows": json_rows(one.rows), "notes": list(one.notes)}
            for name, one in found.items()
        },
    }


def _print_overview(found: AuditTable, identities: AuditTable) -> None:
    """What fits a terminal: models, then identities by model, then the verdicts."""
    for title, rows in _parts(found.rows):
        shown = rows.assign(
            w=_percents(rows, "bias_w"),
            m=_percents(rows, "bias_m"),
            spread=[_points(spread) for spread in rows["spread"]],
            floor=[
                f"{_points(floor)} ({n})"
                for floor, n in zip(rows["template_floor"], rows["n_templates"], strict=True)
            ],
            n=[f"{n:,}" for n in rows["n"]],
        )
        print_table(shown[[*_OVERVIEW]].rename(columns=_OVERVIEW), title)
    say(
        "Bias (W): share of pairs whose stereotypical sentence is preferred, 50 % is neutral;\n"
        "bias (M): mean of the identities' shares. In brackets 95 % intervals over predicates.\n"
        "Floor: points by which the same claims in another template move bias (W); in\n"
        "parentheses the templates.",
        to=out,
    )
    for title, rows in _parts(identities.rows):
        say(title, style="bold", to=out)
        models = list(dict.fromkeys(rows["model"]))
        for first in range(0, len(models), SHOWN_MODELS):
            print_rows(_wide(rows, models[first : first + SHOWN_MODELS]))
    say("Share of each identity in %, n in parentheses; + highest, - lowest of a model.", to=out)
    for verdict in found.rows["verdict"]:
        say(verdict, to=out)
    for note in dict.fromkeys((*found.notes, *identities.notes)):
        say(f"Note: {note}", to=out)


def _parts(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The rows by condition, and with or without confounded pairs; a title for each."""
    by = [name for name in ("pairs", "condition") if name in rows]
    return [
        (", ".join(f"{name}: {value}" for name, value in zip(by, values, strict=True)), part)
        for values, part in rows.groupby(by, sort=False)
    ]


def _wide(rows: pd.DataFrame, models: list[str]) -> pd.DataFrame:
    """Identities down, these models across."""
    cells = rows.assign(
        cell=[
            f"{100 * share:.1f}{_MARKS.get(mark, '')} ({n:,})" if n else "undefined (0)"
            for share, mark, n in zip(rows["share"], rows["mark"], rows["n"], strict=True)
        ]
    )
    wide = cells.pivot(index="identity", columns="model", values="cell")
    wide = wide.reindex(index=pd.unique(rows["identity"]), columns=models)
    return wide.reset_index(names="Identity")


def _percents(rows: pd.DataFrame, name: str) -> list[str]:
    """A share with its interval, in per cent."""
    ends = (100 * rows[f"{name}{end}"] for end in ("", "_low", "_high"))
    return [
        "undefined" if value != value else f"{value:.1f}{_between(low, high)}"
        for value, low, high in zip(*ends, strict=True)
    ]


def _points(difference: float) -> str:
    """A difference of shares."""
    return "undefined" if difference != difference else f"{100 * difference:.1f}"


def _between(low: float, high: float) -> str:
    return " (no interval)" if low != low or high != high else f" [{low:.1f},{high:.1f}]"


def _print_whole(name: str, found: AuditTable) -> None:
    """The first rows of a table; a reason only where there is one."""
    say(name, style="bold", to=out)
    rows = found.rows
    if not (rows["reason"] != "").any():
        rows = rows.drop(columns="reason")
    print_rows(rows.head(SHOWN_ROWS))
    if len(rows) > SHOWN_ROWS:
        say(f"  showing {SHOWN_ROWS} of {len(rows)}; --json gives all of them", to=out)
    for note in found.notes:
        say(f"Note: {note}", to=out)

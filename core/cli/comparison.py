"""The command `compare`: two scorers on the same items."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from core.analysis.comparison import (
    Comparison,
    compare_scorers,
    comparison_sentence,
)
from core.analysis.overview import find_scorer, scorer_labels
from core.cli.data_sets import DatasetOption
from core.cli.terminal import (
    CacheOption,
    JsonOption,
    open_cache,
    out,
    print_json,
    print_table,
    say,
)
from core.errors import InputError
from core.export.tables import check_path, json_rows, write_table
from core.store.items import require_dataset
from core.store.scorers import scorers
from core.words import signed

SHOWN_LEFT_OUT = 20

_MEANS = {
    "condition": "Condition",
    "n_items": "n",
    "ss_a": "SS, A",
    "ss_b": "SS, B",
    "difference": "B − A",
    "interval": "95 % interval",
    "rewording_floor": "Rewording",
}
_SINGLE = {
    "condition": "Condition",
    "n_items": "n",
    "sd": "B − A, sd",
    "rewording_sd": "Rewording, sd",
    "largest_absolute": "Largest",
    "flips": "Choice flips",
    "correlation": "r",
}


ScorersOption = Annotated[
    tuple[str, str],
    typer.Option(
        "--scorers",
        metavar="A B",
        help="Two scorers, by id, the beginning of one, model name or label.",
    ),
]
FileOption = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FILE", help="Also write the summary: .csv, .parquet, .jsonl or .tex."
    ),
]
ItemsOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Also write every item that both have scored."),
]


def compare(
    dataset: DatasetOption,
    scorers_ab: ScorersOption,
    file: FileOption = None,
    items: ItemsOption = None,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two scorers on the same items.

    Such as one model in two precisions: each item is compared with itself, per condition and over
    all. Beside the differences stands what rewording English items does under A.
    """
    files = [path for path in (file, items) if path is not None]
    for path in files:
        check_path(path)
    store = open_cache(cache)
    require_dataset(store, dataset)
    a, b = (find_scorer(store, name, "--scorers", dataset=dataset) for name in scorers_ab)
    labels = scorer_labels(scorers(store))
    if a == b:
        raise InputError(_one_and_the_same(scorers_ab, a, labels))
    found = compare_scorers(store, a, b, dataset)
    for table, wanted in ((found.summary, file), (found.items, items)):
        if wanted is not None:
            write_table(table, wanted)
    if as_json:
        print_json(
            {
                "dataset": dataset,
                "scorer_a": {"scorer_id": a, "label": labels[a]},
                "scorer_b": {"scorer_id": b, "label": labels[b]},
                "summary": json_rows(found.summary),
                "rewording_a": json_rows(pd.DataFrame([asdict(found.noise)]))[0],
                "left_out": json_rows(found.left_out),
                "sentence": comparison_sentence(found),
                "files": [str(path) for path in files],
            }
        )
        return
    say(f"A: {labels[a]} ({a})\nB: {labels[b]} ({b})", to=out)
    _print_comparison(found)
    for path in files:
        say(f"Wrote {path}.")


def _one_and_the_same(names: tuple[str, str], scorer_id: str, labels: dict[str, str]) -> str:
    others = [f"{other} ({label})" for other, label in labels.items() if other != scorer_id]
    called = " and ".join(dict.fromkeys(map(repr, names)))
    return f"{called} are both the scorer {scorer_id} ({labels[scorer_id]}); " + (
        f"the others in the cache are {', '.join(others)}."
        if others
        else "the cache has no other one; score with a second model or precision first."
    )


def _print_comparison(found: Comparison) -> None:
    """The summary as two tables that fit a narrow terminal, what was left out, and a sentence."""
    summary = found.summary
    low, high = (summary[end].map(signed) for end in ("interval_low", "interval_high"))
    n_rows = summary["n_rows"].astype(str)
    shown = summary.round(4).assign(
        difference=summary["difference"].map(signed),
        interval=("[" + low + "," + high + "]").where(low != "", ""),
        flips=summary["n_flips"].astype(str) + " of " + n_rows,
    )
    print_table(
        shown[[*_MEANS]].rename(columns=_MEANS),
        "Mean stereotype scores (SS), and the mean change by rewording",
    )
    print_table(shown[[*_SINGLE]].rename(columns=_SINGLE), "Changes of single items")
    _print_left_out(found.left_out, n_collapsed=int(summary["n_collapsed"].iloc[-1]))
    say(comparison_sentence(found), to=out)


def _print_left_out(left_out: pd.DataFrame, n_collapsed: int) -> None:
    """How many rows are not compared; those that a scorer lacks by name."""
    if left_out.empty:
        return
    lacking = left_out[left_out["state_a"] != "collapsed"]
    say(f"Not compared: {n_collapsed} collapsed rows, {len(lacking)} not scored by both.", to=out)
    for row in lacking.head(SHOWN_LEFT_OUT).to_dict("records"):
        states = ", ".join(
            f"{name} {row[f'state_{end}']} {row[f'reason_{end}']}".rstrip()
            for name, end in (("A", "a"), ("B", "b"))
        )
        say(f"  {row['item_id']} {row['condition']}: {states}", to=out)
    if len(lacking) > SHOWN_LEFT_OUT:
        say(f"  showing {SHOWN_LEFT_OUT} of {len(lacking)}; --json gives all of them", to=out)

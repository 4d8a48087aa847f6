"""The command `pairs`: which sentence of a pair a model prefers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from core.analysis.overview import find_scorer, scorer_labels
from core.analysis.pairs import pair_sentence, pair_summary, pair_table
from core.cli.data_sets import DatasetOption, ScorerOption
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
from core.items.alignment import ALIGNMENTS, UNITS
from core.stats.pairs import TIES, Ties
from core.store.gate import Cache
from core.store.pairs import ask_alignment, check_rule, has_pairs
from core.store.scorers import scorers
from core.words import counted

_SHOWN = {
    "value": "Pairs",
    "percent": "Share, %",
    "n": "n",
    "n_ties": "Ties",
    "n_uninformative": "Uninformative",
    "flips": "Flips, %",
}

COUNTED = (
    "Pairs whose stereotypical sentence is preferred, by unmodified {unit}s\n"
    "(aligned by {align}; ties: {ties}). Flips: its preference is another by {other}s."
)
COUNTED_ELSEWHERE = (
    "Pairs whose stereotypical sentence is preferred (ties: {ties}). These scores were\n"
    "computed elsewhere: which tokens the sentences share was up to that program, so\n"
    "--unit and --align change nothing, and there are no flips."
)

UnitOption = Annotated[
    str, typer.Option(metavar="UNIT", help=f"What must be unmodified: {', '.join(UNITS)}.")
]
AlignOption = Annotated[
    str,
    typer.Option(
        metavar="ALIGNMENT",
        help=f"How the sentences are aligned: {', '.join(ALIGNMENTS)} (as published).",
    ),
]
TiesOption = Annotated[
    str, typer.Option(metavar="RULE", help=f"How a tie counts: {', '.join(TIES)}.")
]
DecimalsOption = Annotated[
    int | None,
    typer.Option(min=0, max=15, help="Round scores first (published: 3, with --ties against)."),
]
FileOption = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FILE", help="Also write every pair: .csv, .parquet, .jsonl or .tex."
    ),
]


def pairs(
    dataset: DatasetOption,
    scorer: ScorerOption = None,
    unit: UnitOption = "word",
    align: AlignOption = "lcs",
    ties: TiesOption = "half",
    decimals: DecimalsOption = None,
    file: FileOption = None,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare the sentences of each pair on what they share.

    Prints in how many pairs the stereotypical sentence is the more probable one, by type and
    direction, and how often the preference flips between the word rule and the token rule.
    """
    rule = _Rule(unit, align, _ties(ties), decimals)
    check_rule(unit, align)
    if file is not None:
        check_path(file)
    store = open_cache(cache)
    _require_pairs(store, dataset)
    scorer_id = find_scorer(store, scorer, dataset=dataset)
    table, summary = _counted(store, scorer_id, dataset, rule)
    if file is not None:
        write_table(table, file)
    sentences = {c: pair_sentence(summary, c) for c in summary["condition"].unique()}
    known = {"scorer_id": scorer_id, "label": scorer_labels(scorers(store))[scorer_id]}
    if as_json:
        print_json(
            {
                "dataset": dataset,
                "scorer": known,
                "rule": asdict(rule),
                "summary": json_rows(summary),
                "sentences": [*sentences.values()],
                "files": [] if file is None else [str(file)],
            }
        )
        return
    say(f"{known['label']} ({scorer_id})", to=out)
    _print_shares(summary, sentences, rule)
    if file is not None:
        say(f"Wrote {counted(len(table), 'pair')} to {file}.")


@dataclass(frozen=True)
class _Rule:
    """How the sentences of a pair are compared and counted."""

    unit: str
    align: str
    ties: Ties
    decimals: int | None


def _require_pairs(store: Cache, dataset: str) -> None:
    if not has_pairs(store, dataset):
        raise InputError(
            f"{dataset} holds no sentence pairs (items with an empty context, a stereotype and an "
            "anti_stereotype, and nothing else); import such items, or name another data set."
        )


def _counted(
    store: Cache, scorer_id: str, dataset: str, rule: _Rule
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every pair by the rule, and the shares over them."""
    if ask_alignment(store, dataset, rule.align):
        say(f"Aligned the pairs of {dataset} by {rule.align}; this is kept.")
    table = pair_table(store, scorer_id, dataset, rule.unit, rule.align)
    other = pair_table(store, scorer_id, dataset, _other(rule.unit), rule.align, texts=False)
    return table, pair_summary(table, other, ties=rule.ties, decimals=rule.decimals)


def _ties(name: str) -> Ties:
    for rule in TIES:
        if name == rule:
            return rule
    raise InputError(f"{name!r} is no way to count ties; choose from: {', '.join(TIES)}.")


def _other(unit: str) -> str:
    return next(name for name in UNITS if name != unit)


def _print_shares(summary: pd.DataFrame, sentences: dict[str, str], rule: _Rule) -> None:
    """What is counted, then a table and a sentence for each condition that has a scored pair."""
    counted_by = COUNTED_ELSEWHERE if summary["n_imported"].any() else COUNTED
    words = {"unit": rule.unit, "other": _other(rule.unit)}
    say(counted_by.format(align=rule.align, ties=rule.ties, **words), to=out)
    for condition, sentence in sentences.items():
        rows = summary[summary["condition"] == condition]
        total = rows.iloc[0]
        if total["n"] + total["n_uninformative"] == 0:  # a table of it would hold nothing but 0
            say(f"{sentence} Not scored: {total['n_not_scored']:,}.", to=out)
            continue
        say(condition, style="bold", to=out)
        _print_rows(rows)
        say(sentence, to=out)


def _print_rows(rows: pd.DataFrame) -> None:
    shown = rows.assign(
        percent=(100 * rows["share"]).round(2),
        flips=(100 * rows["share_flips"]).round(2),
        value=rows["value"].mask(rows["group"] == "direction", "direction " + rows["value"]),
    )
    print_table(shown[[*_SHOWN]].rename(columns=_SHOWN))

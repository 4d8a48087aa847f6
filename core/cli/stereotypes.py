"""The command `stereotypes`: on which axes groups lie elsewhere than reference phrases do."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from core.analysis.audit.words import p_words
from core.analysis.heads.axis_table import axis_table
from core.analysis.heads.question import HALVES, POOLINGS, HeadsQuestion
from core.analysis.heads.reader import find_reader
from core.axes.templates import FAMILIES, N_TEMPLATES
from core.cli.terminal import CacheOption, JsonOption, open_cache, out, print_json, print_table, say
from core.errors import InputError
from core.export.tables import check_path, json_rows, write_table
from core.settings import DEFAULT_SEED
from core.stats.probes.projection import TOP_HEADS

SHOWN = 20


AxesOption = Annotated[str, typer.Option(metavar="AXES", help="A set of axes of the cache.")]
ConceptsOption = Annotated[str, typer.Option(metavar="CONCEPTS", help="A set of concepts.")]
ReferenceOption = Annotated[
    list[str], typer.Option(metavar="PHRASES", help="Reference phrases; may be repeated.")
]
ReaderOption = Annotated[
    str | None,
    typer.Option(metavar="READER", help="A model name, or an id of `prune` (default: the one)."),
]
FamilyOption = Annotated[
    str, typer.Option(metavar="FAMILY", help=f"Of templates: {' or '.join(FAMILIES)}.")
]
PoolingOption = Annotated[
    str, typer.Option(metavar="POOLING", help=f"Of tokens: {' or '.join(POOLINGS)}.")
]
TemplatesOption = Annotated[
    int, typer.Option(metavar="N", help=f"{' or '.join(map(str, HALVES))} of them.")
]
HeadsOption = Annotated[
    int | None, typer.Option(metavar="K", help="Heads of highest R; 0 for all.")
]
SeedOption = Annotated[int, typer.Option(metavar="SEED", help="Of resampled phrases.")]
FileOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Write all rows: .csv, .parquet, .jsonl or .tex."),
]


def stereotypes(
    axes: AxesOption,
    concepts: ConceptsOption,
    reference: ReferenceOption,
    reader: ReaderOption = None,
    family: FamilyOption = FAMILIES[0],
    pooling: PoolingOption = POOLINGS[0],
    templates: TemplatesOption = N_TEMPLATES,
    k: HeadsOption = TOP_HEADS,
    seed: SeedOption = DEFAULT_SEED,
    file: FileOption = None,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say on which axes concepts lie apart from phrases."""
    if pooling not in POOLINGS:
        raise InputError(f"--pooling is {pooling!r}; write {' or '.join(POOLINGS)}.")
    if file is not None:
        check_path(file)
    store = open_cache(cache)
    questions = [
        HeadsQuestion(
            reader_id=find_reader(store, reader),
            axes=axes,
            concepts=concepts,
            reference=phrases,
            family=family,
            pooling=pooling,
            n_templates=templates,
            k=k or None,
            seed=seed,
        )
        for phrases in reference
    ]
    tables = [axis_table(store, question) for question in questions]
    together = pd.concat(
        [t.assign(reference=q.reference) for t, q in zip(tables, questions, strict=True)],
        ignore_index=True,
    )
    if file is not None:
        write_table(together, file)
    if as_json:
        print_json({"questions": [asdict(q) for q in questions], "axes": json_rows(together)})
        return
    for question, table in zip(questions, tables, strict=True):
        _print(question, table)
    if file is not None:
        say(f"Wrote {file}.")


def _print(question: HeadsQuestion, table: pd.DataFrame) -> None:
    first = table.iloc[0]
    known = table["pvalue"].notna()
    shown = table.head(SHOWN)
    title = (
        f"{first['n_concepts']} of {question.concepts} against {first['n_reference']} of "
        f"{question.reference}: the {len(shown)} of {len(table)} axes that differ most"
    )
    print_table(pd.DataFrame([_row(row) for row in shown.to_dict("records")]), title)
    say(
        f"Flagged at p < .05: {int(table['flagged'].sum())} of {int(known.sum())} axes "
        f"({int((table['qvalue'] < 0.05).sum())} at q < .05; by chance {0.05 * known.sum():.1f}). "
        "A flag says that the groups lie elsewhere than these phrases, not that a model is "
        "prejudiced.",
        to=out,
    )


def _row(row: dict[Any, Any]) -> dict[str, str]:
    """An axis in one line: the first word of each pole, numbers to two digits."""
    ends = (row[end].partition(", ")[0] for end in ("negative", "positive"))
    return {
        "Axis": " - ".join(ends),
        "R": f"{row['separability']:.2f}",
        "KS": f"{row['statistic']:.2f}",
        "Test": p_words("q", row["qvalue"]),
        "Rejected": f"{row['rejection_rate']:.2f}",
        "Reads": row["stability"],
        "Difference": f"{row['difference']:+.2f}",
        "Spread": f"{row['spread_ratio']:.2f}",
    }

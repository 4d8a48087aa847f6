"""The command `stereotypes`: on which axes groups lie elsewhere than reference phrases do."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from core.analysis.audit.words import p_number
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import StoredAxes, axes_at_hand, request_of
from core.cli import heads_options as options
from core.cli.heads_options import asked_questions, keep_results, say_unread
from core.cli.progress import watched
from core.cli.scoring import leave
from core.cli.terminal import (
    CacheOption,
    JsonOption,
    RunOption,
    open_cache,
    out,
    print_json,
    print_table,
    say,
)
from core.export.tables import check_path, json_rows, write_table
from core.jobs.running import running_job
from core.jobs.spec import STEREOTYPES, JobSpec
from core.stats.levels import LEVEL
from core.stats.probes.flags import flag_of
from core.store.gate import Cache
from core.store.head_readers import get_reader

SHOWN = 20

ReferenceOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PHRASES",
        help="Reference phrases; may be repeated (default: none, and so no test).",
    ),
]
FileOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Write all rows: .csv, .parquet, .jsonl or .tex."),
]


def stereotypes(
    axes: options.AxesOption,
    concepts: options.ConceptsOption,
    reference: ReferenceOption = None,
    reader: options.ReaderOption = None,
    family: options.FamilyOption = HeadsQuestion.family,
    pooling: options.PoolingOption = HeadsQuestion.pooling,
    templates: options.TemplatesOption = HeadsQuestion.n_templates,
    k: options.HeadsOption = HeadsQuestion.k,
    seed: options.SeedOption = HeadsQuestion.seed,
    file: FileOption = None,
    cache: CacheOption = None,
    as_json: JsonOption = False,
    run: RunOption = None,
) -> None:
    """Say on which axes concepts lie apart from phrases.

    What takes longer than a moment is stored, and read the next time. Ctrl-C stops after the
    reference set in hand.
    """
    if file is not None:
        check_path(file)
    store = open_cache(cache)
    ask = partial(
        asked_questions,
        store,
        reader=reader,
        axes=axes,
        concepts=concepts,
        references=reference or (),
        family=family,
        pooling=pooling,
        templates=templates,
        k=k,
        seed=seed,
    )
    found = _at_hand(store, ask()) if run is None else None
    if found is None:
        found = _as_job(store, ask, run)
    _say_tables(store, found, file, as_json=as_json)


def _at_hand(store: Cache, questions: Sequence[HeadsQuestion]) -> list[StoredAxes] | None:
    """What is stored or small; None where one is neither."""
    found = []
    for question in questions:
        if (held := axes_at_hand(store, question)) is None:
            return None
        found.append(held)
    return found


def _as_job(
    store: Cache, ask: Callable[[], list[HeadsQuestion]], run: str | None
) -> list[StoredAxes]:
    """Compute and store, telling the terminal and the run folder; leave where it is stopped."""
    spec = JobSpec(command=STEREOTYPES) if run else _spec(ask())
    with running_job(store, spec, run) as job:
        questions = ask()
        with watched(job) as (watch, stop):
            found = keep_results(store, questions, watch, stop)
        stopped = len(found) < len(questions)
        job.end("stopped" if stopped else "finished")
    if stopped:
        say("Stopped; the same command goes on from here.")
    leave(stopped=stopped, n_failures=0)
    return found


def _spec(questions: Sequence[HeadsQuestion]) -> JobSpec:
    named = tuple(question.reference for question in questions if question.reference)
    request = replace(request_of(questions[0]), reference=named)
    return JobSpec(command=STEREOTYPES, request=request)


def _say_tables(
    store: Cache, found: Sequence[StoredAxes], file: Path | None, *, as_json: bool
) -> None:
    questions = [each.question for each in found]
    say_unread(store, questions[0])
    together = pd.concat([_with_question(store, each) for each in found], ignore_index=True)
    if file is not None:
        write_table(together, file)
    if as_json:
        print_json({"questions": [asdict(q) for q in questions], "axes": json_rows(together)})
        return
    for each in found:
        _print(each.question, each.table)
    if file is not None:
        say(f"Wrote {file}.")


def _with_question(store: Cache, found: StoredAxes) -> pd.DataFrame:
    """Rows that say by themselves what they are about; k is 0 for all heads, as the option is."""
    question = asdict(found.question) | {"k": found.question.k or 0}
    reader = get_reader(store, found.question.reader_id)
    return found.table.assign(model=reader.model, **question)


def _print(question: HeadsQuestion, table: pd.DataFrame) -> None:
    first = table.iloc[0]
    n_tested = int(table["pvalue"].notna().sum())
    shown = table.head(SHOWN)
    against = "without reference phrases"
    which = f"{len(shown)} of {len(table)} axes"
    if question.reference:
        against = f"against {first['n_reference']} of {question.reference}"
        which = f"the {which} that differ most"
    title = f"{first['n_concepts']} of {question.concepts} {against}: {which}"
    print_table(pd.DataFrame([_row(row) for row in shown.to_dict("records")]), title)
    if n_tested:
        say(
            f"Flagged at p < {LEVEL}: {int(table['flagged'].sum())} of {n_tested} axes "
            f"({int((table['qvalue'] < LEVEL).sum())} at q < {LEVEL}; by chance "
            f"{LEVEL * n_tested:.1f}). A flag says that the groups lie elsewhere than these "
            "phrases, not that a model is prejudiced. In parentheses: the share of resampled "
            "phrases on which the flag's test rejects. Further: the groups' mean less that of the "
            "phrases, in sd, with its 95 % interval (Welch).",
            to=out,
        )
    if table["separability_held_out"].notna().any():
        say(
            f"R is that of the {first['n_heads']} best heads by half of the templates in the other "
            f"half (by chance {table['held_out_chance'].mean():.3f}); --json and --out have p, and "
            "R of the heads in which it is highest, which is too high.",
            to=out,
        )
    reasons = table.loc[table["reason"] != "", "reason"].value_counts(sort=False)
    for reason, n in reasons.items():
        say(f"Not tested (–), {n} of {len(table)} axes: {reason}.", to=out)


def _row(row: dict[Any, Any]) -> dict[str, str]:
    """An axis in one line: the first word of each pole, numbers to two digits."""
    ends = (row[end].partition(", ")[0] for end in ("negative", "positive"))
    rate = row["rejection_rate"]
    return {
        "Axis": " - ".join(ends),
        "R": _digits(row["separability_held_out"]),
        "KS": _digits(row["statistic"]),
        "q": p_number(row["qvalue"]).replace(" ", ""),
        "Further": _further(row),
        "Tests say": str(flag_of(row)) + ("" if math.isnan(rate) else f" ({rate:.2f})"),
    }


def _further(row: dict[Any, Any]) -> str:
    """The difference with the half width of its interval, which lies evenly around it."""
    half = (row["difference_high"] - row["difference_low"]) / 2
    return _digits(row["difference"], "+.2f") + ("" if math.isnan(half) else f"±{half:.2f}")


def _digits(number: float, form: str = ".2f") -> str:
    return "–" if math.isnan(number) else format(number, form)

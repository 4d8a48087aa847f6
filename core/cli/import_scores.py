"""The command that brings in scores that another program has computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from core.cli.import_options import EncodingOption
from core.cli.next_step import say_after_scoring
from core.cli.terminal import (
    CacheOption,
    JsonOption,
    open_cache,
    print_json,
    print_problems,
    refusal_of_file,
    say,
)
from core.errors import InputError
from core.files.places import listed
from core.files.reading import SUFFIXES
from core.imported_scores.finding import FoundScores, find_scores
from core.imported_scores.layout import Scale, ScoreOptions
from core.imported_scores.layouts import LAYOUTS
from core.imported_scores.reading import ScoreFile, read_score_file
from core.items.conditions import normalise_condition
from core.items.label_file import read_labels
from core.store.imported_scores import PutScores, ScoreSource, put_imported
from core.store.items import stored_items
from core.types import Problem, Severity
from core.words import counted

ITEMS_LEFT_OUT = 3
_SCALES = [scale for scale in Scale if scale is not Scale.PAIRS]

PathArgument = Annotated[
    Path,
    typer.Argument(
        metavar="PATH",
        help=f"A {', '.join(SUFFIXES)} file of scores, or a folder of such files of one model.",
    ),
]
DatasetOption = Annotated[
    str, typer.Option(metavar="NAME", help="The imported data set that the scores are of.")
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What to call the model, needed where the rows do not name theirs; of rows that do, "
        "the only one to take.",
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="Layout of the rows: "
        f"{', '.join(f'{layout.name} ({layout.title})' for layout in LAYOUTS)} (default: the "
        "columns tell).",
    ),
]
ColumnOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WHAT=COLUMN",
        help="What a column holds, as in stereotype=logprob_a; may be given several times.",
    ),
]
ScaleOption = Annotated[
    str | None,
    typer.Option(
        metavar="SCALE",
        help="What the numbers are: mean (log-probabilities per token), sum (over the "
        "continuation), order (only which one is larger counts).",
    ),
]
ConditionOption = Annotated[
    str | None,
    typer.Option(
        metavar="CONDITION",
        help="Of rows that do not name theirs, where the data set has several.",
    ),
]
LabelsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The label file that corrected the roles of the items, for scores that name the "
        "uncorrected ones.",
    ),
]
LenientOption = Annotated[
    bool,
    typer.Option(
        "--lenient",
        help="Leave out what has an error, name it and end with exit code 3, instead of refusing "
        "the whole file.",
    ),
]
ReplaceOption = Annotated[
    bool,
    typer.Option(
        "--replace",
        help="Put these scores in the place of other imported ones under the same name.",
    ),
]


def import_scores(
    path: PathArgument,
    dataset: DatasetOption,
    model: ModelOption = None,
    data_format: FormatOption = None,
    column: ColumnOption = None,
    scale: ScaleOption = None,
    condition: ConditionOption = None,
    labels: LabelsOption = None,
    encoding: EncodingOption = None,
    lenient: LenientOption = False,
    replace_scores: ReplaceOption = False,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read scores that another program has computed.

    They stand beside own ones, marked as imported, and feed every analysis that their scale
    allows. Rows without an item, items without a row and numbers that are no scores are named;
    with any nothing is stored, unless --lenient leaves them out.
    """
    options = ScoreOptions(
        columns=_columns(column or []),
        scale=_scale(scale),
        condition=normalise_condition(condition) if condition else "",
        labels={} if labels is None else read_labels(labels),
    )
    store = open_cache(cache)
    items = stored_items(store, dataset)
    with refusal_of_file(as_json, lenient=lenient):
        file = read_score_file(path, data_format, options=options, encoding=encoding)
        file = _of_model(file, model)
        found = find_scores(file, items, model=model or "", lenient=lenient)
    source = ScoreSource(
        path=str(path),
        format=file.layout.name,
        sha256=file.sha256,
        scale=file.scale,
        note=_note(options, labels),
    )
    stored = put_imported(
        store,
        dataset,
        source,
        found.by_model,
        left_out=found.n_left_out,
        replace=replace_scores,
    )
    left_out = [p for p in found.problems if p.severity is Severity.LEFT_OUT]
    if as_json:
        print_json(_summary(dataset, source, stored, found, left_out))
    else:
        print_problems([*left_out, *(p for p in found.problems if p not in left_out)])
        _say_stored(dataset, stored)
        if n := _rows_left_out(left_out):
            say(f"Left out: {counted(n, 'row')} of {path}.")
        say_after_scoring(store, dataset)
    if left_out:
        raise typer.Exit(ITEMS_LEFT_OUT)


def _columns(given: Sequence[str]) -> dict[str, str]:
    """What columns hold, from WHAT=COLUMN."""
    columns: dict[str, str] = {}
    for text in given:
        what, equals, column = text.partition("=")
        if not equals or not what or not column:
            raise InputError(f"--column takes WHAT=COLUMN, as in stereotype=logprob_a, not {text}.")
        if what in columns:
            raise InputError(f"--column names {what} twice.")
        columns[what] = column
    return columns


def _scale(name: str | None) -> Scale | None:
    if name is None:
        return None
    for scale in _SCALES:
        if scale == name:
            return scale
    raise InputError(f"{name!r} is not a scale; choose from: {', '.join(_SCALES)}.")


def _of_model(file: ScoreFile, model: str | None) -> ScoreFile:
    """The scores of the model that is asked for, which has a name in the rows or from here."""
    named = sorted({row.model for row in file.rows if row.model})
    if not model and any(not row.model for row in file.rows):
        raise InputError("The rows do not name their model; say with --model what to call it.")
    if not model or not named:
        return file
    if model not in named:
        raise InputError(
            f"The rows name their models, and {model!r} is none of them: {listed(named)}."
        )
    return replace(file, rows=[row for row in file.rows if row.model == model])


def _note(options: ScoreOptions, labels: Path | None) -> str:
    """What was said of the file on the command line, to be kept with its scores."""
    parts = [f"{what} from {column}" for what, column in options.columns.items()]
    parts += [f"condition {options.condition}"] if options.condition else []
    parts += [f"roles corrected by {labels}"] if labels is not None else []
    return "; ".join(parts)


def _rows_left_out(left_out: Sequence[Problem]) -> int:
    """How many rows of the files have an error, whether or not an item is left out with them."""
    return len({(p.file, p.row) for p in left_out if p.row is not None})


def _summary(
    dataset: str,
    source: ScoreSource,
    stored: Sequence[PutScores],
    found: FoundScores,
    left_out: Sequence[Problem],
) -> dict[str, Any]:
    return {
        "dataset": dataset,
        **asdict(source),
        "scorers": [asdict(put) for put in stored],
        "rows_left_out": _rows_left_out(left_out),
        "problems": [asdict(p) for p in found.problems],
    }


def _say_stored(dataset: str, stored: Sequence[PutScores]) -> None:
    for put in stored:
        if put.unchanged:
            said = "these scores are there already"
        else:
            said = f"stored the scores of {counted(put.stored, 'item')}"
            said += f"; left out: {counted(put.left_out, 'item')}" if put.left_out else ""
        say(f"{put.model} on {dataset}: {said} (scorer {put.scorer_id}, imported).")

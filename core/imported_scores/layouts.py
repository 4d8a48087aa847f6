"""Every layout that scores from elsewhere are read in, and which of them a file has."""

from __future__ import annotations

from core.errors import InputError
from core.files.places import printable
from core.files.tables import Table
from core.imported_scores.formats import (
    columns,
    crows_results,
    lm_eval,
    lost_in_translation,
    stereoset_predictions,
)
from core.imported_scores.layout import Scale, ScoreLayout, ScoreOptions

# A file has the first of these that knows it.
LAYOUTS: tuple[ScoreLayout, ...] = (
    lm_eval.LAYOUT,
    crows_results.LAYOUT,
    stereoset_predictions.LAYOUT,
    lost_in_translation.LAYOUT,
    columns.LAYOUT,
)
FORMATS = tuple(layout.name for layout in LAYOUTS)


def layout_of(table: Table, options: ScoreOptions) -> ScoreLayout:
    """The layout that a table's columns show, or that of named columns where some are named.

    Raises
    ------
    InputError
        The columns show none.
    """
    if options.columns:
        return columns.LAYOUT
    for layout in LAYOUTS:
        if layout.detects(table):
            return layout
    raise InputError(
        printable(
            f"{table.place.file} has no columns of a known layout of scores; name what its columns "
            f"hold with --column (as in --column stereotype=logprob_a), or one of "
            f"{', '.join(FORMATS)} with --format."
        )
    )


def scale_of(layout: ScoreLayout, options: ScoreOptions) -> Scale:
    """The scale of a layout's numbers: its own, or the one that a person names.

    Raises
    ------
    InputError
        A person has to name one, or names one that the layout cannot have.
    """
    allowed = layout.scales or (() if layout.scale is None else (layout.scale,))
    if options.scale is None and layout.scale is None:
        raise InputError(
            "Say with --scale what the numbers are: mean (log-probabilities per token), sum "
            "(summed over the continuation) or order (only which one is larger counts)."
        )
    scale = options.scale or layout.scale
    if scale is None or scale not in allowed:
        raise InputError(
            f"Numbers of the layout {layout.name} are on the scale {' or '.join(allowed)}, not "
            f"{options.scale}."
        )
    return scale

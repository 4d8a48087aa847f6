"""Every layout that data sets are read in, and which of them a file has."""

from __future__ import annotations

from core.files.tables import Table
from core.items.formats import (
    bbq,
    crows_pairs,
    english_hindi,
    kobbq,
    lost_in_translation,
    mbbq,
    native,
    stereoset,
    winoqueer,
)
from core.items.layout import Layout

# A file has the first of these that knows it.
LAYOUTS: tuple[Layout, ...] = (
    native.LAYOUT,
    english_hindi.LAYOUT,
    winoqueer.LAYOUT,  # before the layout whose columns its first version has
    crows_pairs.LAYOUT,
    stereoset.LAYOUT,
    lost_in_translation.LAYOUT,
    mbbq.LAYOUT,  # BBQ's columns, in a file that is named after its language
    bbq.LAYOUT,
    kobbq.LAYOUT,
)
FORMATS = tuple(layout.name for layout in LAYOUTS)


def detected_layout(table: Table) -> Layout:
    """The layout that a table's columns and first rows show; the native one if none does."""
    return next((layout for layout in LAYOUTS if layout.detects(table)), native.LAYOUT)

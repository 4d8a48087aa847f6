"""The command `export-items`: a data set out to a file that `import` reads back."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from core.cli.data_sets import DatasetOption
from core.cli.terminal import CacheOption, JsonOption, open_cache, print_json, say
from core.export.items import changed_by_csv, check_items_path, write_items
from core.files.places import listed
from core.store.items import stored_items
from core.words import counted


def export_items(
    dataset: DatasetOption,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="File to write: .jsonl, .parquet or .csv.")
    ],
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the items of a data set to a file.

    All items of all conditions with their metadata, in the order of the import and the schema of
    data/README.md; scores are written by `export`. Importing the file gives the same items: exactly
    from .jsonl and .parquet, while .csv turns metadata that are no texts into texts.
    """
    check_items_path(out)
    items = stored_items(open_cache(cache), dataset)
    write_items(items, out)
    changed = changed_by_csv(items) if out.suffix.lower() == ".csv" else []
    conditions = Counter(item.condition for item in items)
    if as_json:
        document = {"file": str(out), "rows": len(items), "conditions": conditions}
        print_json(document | {"metadata_as_text": changed})
        return
    rows = ", ".join(f"{n} {condition}" for condition, n in conditions.items())
    say(f"Wrote {counted(len(items), 'row')} to {out}: {rows}.")
    if changed:
        say(f"  These metadata come back from .csv as texts: {listed(changed)}; .jsonl keeps them.")

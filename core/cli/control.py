"""The command `control`: a data set with the positive control's sentences in front."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from core.cli.data_sets import DatasetOption
from core.cli.terminal import CacheOption, JsonOption, open_cache, print_json, say
from core.errors import InputError
from core.items.control import CONTROL_TEXTS, as_jsonl, read_arms, with_control
from core.store.items import stored_items
from core.words import counted


def control(
    dataset: DatasetOption,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="File to write, .jsonl; then import it.")
    ],
    texts: Annotated[
        Path,
        typer.Option(
            metavar="PATH",
            help="Sentences: condition, arm, text. Default: those of data/control, en and es.",
            show_default=False,
        ),
    ] = CONTROL_TEXTS,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the items of a positive control to a file.

    It holds the items as they are, and versions with a sentence in front of the context: a neutral
    one, one that calls stereotypes true and one that calls them false (en+neutral, en+true and
    en+false). A test that does not notice these would not notice less. The Shift lab shows what it
    notices.
    """
    if out.suffix.lower() != ".jsonl":
        raise InputError(f"{out} must end in .jsonl, which the command import reads.")
    items = stored_items(open_cache(cache), dataset)
    wanted = with_control(items, read_arms(texts))
    try:
        out.write_text(as_jsonl(wanted), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error.strerror}.") from error
    new = list(dict.fromkeys(item.condition for item in wanted[len(items) :]))
    if as_json:
        print_json({"file": str(out), "rows": len(wanted), "new_conditions": new})
        return
    say(
        f"Wrote {counted(len(wanted), 'row')} to {out}, {len(wanted) - len(items)} of them new "
        f"({', '.join(new) or 'every condition was there'})."
    )

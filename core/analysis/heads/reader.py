"""Which reader a person means."""

from __future__ import annotations

import pandas as pd

from core.errors import InputError
from core.store.gate import Cache
from core.store.head_readers import filled_readers
from core.store.score_line import shell_line
from core.words import precision_words


def find_reader(cache: Cache, name: str | None) -> str:
    """The id of the reader that a person means by a model name, an id, its beginning, or nothing.

    One of which nothing is held, because reading it never began or it was pruned, does not count.

    Raises
    ------
    InputError
        When nothing or more than one reader fits; the message lists the choices.
    """
    known = filled_readers(cache)
    if known.empty:
        line = shell_line(
            cache, "axes", "--model", "demo", "--axes", "demo", "--concepts", "groups25",
            "--reference", "published", "--reference", "people",
        )  # fmt: skip
        raise InputError(f"No model's heads were read yet; run `{line}` first.")
    fits = known
    if name is not None:
        ids = known["reader_id"]
        fits = known[(ids == name) | (known["model"] == name)]
        fits = known[ids.str.startswith(name)] if fits.empty and name else fits
    if len(fits) == 1:
        return str(fits["reader_id"].iloc[0])
    if name is None:
        problem = "The heads of several models were read"
    else:
        problem = f"{'No' if fits.empty else 'More than one'} reader is called {name!r}"
    choices = _choices(known if fits.empty else fits)
    raise InputError(f"{problem}; give --reader one of: {choices}.")


def _choices(rows: pd.DataFrame) -> str:
    return ", ".join(
        f"{row['reader_id']} ({row['model']}, {precision_words(row['dtype'], row['quantization'])}"
        f", special tokens {row['bos']})"
        for row in rows.to_dict("records")
    )

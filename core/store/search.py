"""Looking for words in the texts of a data set."""

from __future__ import annotations

import duckdb
import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.store.faults import first_sentence
from core.store.fetch import arrow
from core.store.gate import Cache

_TEXTS = "concat_ws(chr(10), item_id, context, stereotype, anti_stereotype, unrelated, unknown)"


def find_rows(
    cache: Cache, dataset: str, text: str, *, regex: bool = False
) -> npt.NDArray[np.int64]:
    """`row_order` of the items whose id or texts hold a text, whatever its case.

    Parameters
    ----------
    regex
        Take the text as a regular expression of RE2, whose time grows with the length of the
        texts only: no expression can run away.

    Raises
    ------
    InputError
        The regular expression cannot be read.
    """
    fits = (
        f"regexp_matches({_TEXTS}, $text, 'i')"
        if regex
        else f"contains(lower({_TEXTS}), lower($text))"
    )
    with cache.reading() as con:
        try:
            table = arrow(
                con,
                f"SELECT row_order FROM item WHERE dataset = $dataset AND {fits} ORDER BY ALL",
                {"dataset": dataset, "text": text},
            )
        except duckdb.InvalidInputException as error:
            raise InputError(
                f"The regular expression cannot be read ({first_sentence(error)}); mend it, or "
                "search for the plain text."
            ) from error
    rows: npt.NDArray[np.int64] = table.column("row_order").to_numpy()
    return rows

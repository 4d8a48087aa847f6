"""The command `sample`: axes of several domains for people to rate, as a table for `axes`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from core.axes.named import axes_named
from core.axes.sampling import (
    N_AXES,
    Dropped,
    Sample,
    read_domains,
    replace_by_hand,
    sample_axes,
)
from core.cli.heads_options import check_seed
from core.cli.terminal import CacheOption, JsonOption, open_cache, out, print_json, say
from core.export.tables import check_path, json_rows, write_table
from core.settings import DEFAULT_SEED
from core.store.axes import get_axes, set_names
from core.words import counted

DomainsArgument = Annotated[
    Path,
    typer.Argument(metavar="DOMAINS", help="A table of synset and domain.", show_default=False),
]
DomainOption = Annotated[
    list[str], typer.Option(metavar="DOMAIN", help="To draw from; repeated, the first gets more.")
]
FileOption = Annotated[
    Path, typer.Option("--out", metavar="FILE", help="The table: .csv, .parquet or .jsonl.")
]
AxesOption = Annotated[
    str,
    typer.Option(
        metavar="AXES", help="Axes of synsets: wordnet, scm, a set in the cache, or a table."
    ),
]
NumberOption = Annotated[int, typer.Option("--n", metavar="N", help="Axes to draw.")]
SeedOption = Annotated[int, typer.Option(metavar="SEED", help="Decides which are drawn.")]
ReplacementsOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A table of axis and replacement: pairs to exchange."),
]
WordnetOption = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="WordNet 3.0's files (default: the package wn)."),
]


def sample(
    domains: DomainsArgument,
    domain: DomainOption,
    file: FileOption,
    axes: AxesOption = "wordnet",
    n: NumberOption = N_AXES,
    seed: SeedOption = DEFAULT_SEED,
    replacements: ReplacementsOption = None,
    wordnet: WordnetOption = None,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Draw axes of several domains for people to rate.

    The table that is written can be given to the command axes.
    """
    check_path(file)
    check_seed(seed)
    store = open_cache(cache)
    is_held = store.exists() and axes in set_names(store)["axis"]
    known = get_axes(store, axes) if is_held else axes_named(axes, wordnet).axes
    drawn = sample_axes(known, read_domains(domains), domain, n_axes=n, seed=seed)
    if replacements is not None:
        drawn = replace_by_hand(drawn, replacements)
    rows = sample_rows(drawn)
    write_table(rows, file)
    dropped = Counter(map(_kind, drawn.dropped))
    if as_json:
        print_json({"axes": json_rows(rows), "dropped": dict(dropped)})
        return
    for stratum, possible in drawn.eligible.items():
        n_drawn = drawn.strata.count(stratum)
        say(f"{stratum}: {n_drawn:,} of {counted(len(possible), 'axis', 'axes')}", to=out)
    for reason, n_dropped in dropped.most_common():
        say(f"Dropped: {counted(n_dropped, 'axis', 'axes')}: {reason}.")
    say(f"Wrote {file}.")


def _kind(dropped: Dropped) -> str:
    """Why an axis was dropped, without the name of its pole."""
    words = dropped.reason.split()
    poles = {dropped.axis.negative.synset, dropped.axis.positive.synset}
    return " ".join(["a pole", *words[1:]] if words[0] in poles else words)


def sample_rows(drawn: Sample) -> pd.DataFrame:
    """A sample as a table of axes; the domain stands as the dimension."""
    return pd.DataFrame(
        {
            "negative": [axis.negative.synset for axis in drawn.axes],
            "positive": [axis.positive.synset for axis in drawn.axes],
            "dimension": drawn.strata,
            "facet": [axis.facet for axis in drawn.axes],
        }
    )

"""What a cache holds, and how a person names a part of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from core import settings
from core.analysis.heads.holdings import heads_held
from core.errors import InputError
from core.store.audit import scored_with
from core.store.contents import contents
from core.store.gate import Cache
from core.store.items import datasets
from core.store.score_line import score_line
from core.store.scorers import scorers
from core.store.sizes import cache_sizes
from core.words import method_words, precision_words

SIMULATED = "simulated"  # method of a scorer, or format of a data set, without a model behind it
STAMP = "SIMULATED: no model stands behind these numbers."


@dataclass(frozen=True)
class Overview:
    """Everything the Home page and `status` show."""

    datasets: pd.DataFrame
    scorers: pd.DataFrame
    coverage: pd.DataFrame  # one row per scorer, data set and condition
    sizes: dict[str, int]  # bytes, of `cache_sizes`
    heads: pd.DataFrame  # as `heads_held`


def overview(cache: Cache) -> Overview:
    """What the cache holds now."""
    with cache.kept_open() as same:
        held, heads = contents(same), heads_held(same)
    return Overview(held.datasets, held.scorers, held.coverage, cache_sizes(cache), heads)


def is_simulated(
    held: pd.DataFrame, known: pd.DataFrame, dataset: str, scorer_ids: Sequence[str]
) -> bool:
    """Whether no model stands behind the scores of a data set under some scorers.

    Parameters
    ----------
    held, known
        Data sets and scorers, as an `Overview` has them.
    """
    of_items = held.loc[held["dataset"] == dataset, "format"] == SIMULATED
    of_scores = known.loc[known["scorer_id"].isin(list(scorer_ids)), "method"] == SIMULATED
    return bool(of_items.any() or of_scores.any())


def scorer_labels(known: pd.DataFrame) -> dict[str, str]:
    """What tells each scorer from the others for a person, by id."""
    labels = {}
    for s in known.to_dict("records"):
        precision, method = (
            precision_words(s["dtype"], s["quantization"]),
            method_words(s["method"]),
        )
        parts = (s["model"], precision, method, s["device"], s["batching"])
        labels[str(s["scorer_id"])] = ", ".join(part for part in parts if part)
    return labels


def find_scorer(
    cache: Cache, name: str | None, option: str = "--scorer", *, dataset: str = ""
) -> str:
    """The id of the scorer that a person means by a model name, a label, a scorer id or nothing.

    The beginning of an id is enough where no other scorer fits.

    Parameters
    ----------
    option
        Where the person gave the name, for the message.
    dataset
        Of which scores are asked for: where several scorers fit, or none is named, only those that
        have scores of it are meant.

    Raises
    ------
    InputError
        When nothing or more than one scorer fits, and the message lists the choices; or when none
        is named and none has scores of the data set.
    """
    known = scorers(cache)
    if known.empty:
        held = datasets(cache)["dataset"]
        line = score_line(cache, held.iloc[0] if len(held) else settings.DEMO_DATASET)
        raise InputError(f"The cache holds no scores yet; run `{line}` first.")
    fits = known if name is None else _called(known, name)
    if dataset and (name is None or len(fits) > 1):
        fits = _with_scores(cache, fits, dataset, named=name is not None)
    if len(fits) == 1:
        return str(fits.scorer_id.iloc[0])
    if name is None:
        problem = f"{dataset or 'The cache'} {'has' if dataset else 'holds'} several scorers"
    else:
        problem = f"{'No' if fits.empty else 'More than one'} scorer is called {name!r}"
    labels = scorer_labels(known if fits.empty else fits)
    choices = [f"{scorer_id} ({label})" for scorer_id, label in labels.items()]
    raise InputError(f"{problem}; give {option} one of: {', '.join(choices)}.")


def _called(known: pd.DataFrame, name: str) -> pd.DataFrame:
    """The scorers of that id, model or label; where there is none, those whose id begins so."""
    ids = known["scorer_id"]
    fits = known[(ids == name) | (known["model"] == name) | (ids.map(scorer_labels(known)) == name)]
    return known[ids.str.startswith(name)] if fits.empty and name else fits


def _with_scores(cache: Cache, fits: pd.DataFrame, dataset: str, *, named: bool) -> pd.DataFrame:
    """Those that have scores of a data set; all where none of them has and a name was given."""
    having = fits[fits["scorer_id"].isin(scored_with(cache, dataset))]
    if len(having):
        return having
    if named:
        return fits
    raise InputError(
        f"No scorer has scores of {dataset}; run `{score_line(cache, dataset)}` first, or name a "
        "scorer."
    )

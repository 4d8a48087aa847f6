"""Two scorers on the same items: the same model in another precision, or another model.

The paired protocol of "Lost in Translation" (arXiv 2610.20479), with a second scorer in the place
of a second language: each item is compared with itself, and the change that mere rewording makes
under the first scorer stands beside every difference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.analysis.items import english_rewording_noise, item_table
from core.analysis.overview import scorer_labels
from core.errors import InputError
from core.stats.noise import RewordingNoise
from core.stats.paired import paired_correlation, paired_difference
from core.store.gate import Cache
from core.store.score_line import score_line
from core.store.scorers import scorers
from core.words import counted, signed

OVERALL = "overall"  # never a condition: those begin with a language code
_KEY = ["item_id", "condition"]
_NUMBERS = ("ss", "l_stereotype", "l_anti", "binary")
_STATES = ("state", "reason")
_ITEMS = (
    *("item_id", "condition", "language", "native", "ss_a", "ss_b", "difference"),
    *("l_stereotype_a", "l_anti_a", "l_stereotype_b", "l_anti_b", "binary_a", "binary_b", "flips"),
)
_LEFT_OUT = ("item_id", "condition", "state_a", "reason_a", "state_b", "reason_b")


@dataclass(frozen=True)
class Comparison:
    """Scorer b against scorer a on one data set; `compare_tables` says what the tables hold."""

    items: pd.DataFrame  # rows that both have scored
    left_out: pd.DataFrame  # the others, and why
    summary: pd.DataFrame  # one row per condition, then one over all
    noise: RewordingNoise  # of scorer a


def compare_scorers(cache: Cache, scorer_a: str, scorer_b: str, dataset: str) -> Comparison:
    """Compare two scorers, by their ids, on every item of a data set that both have scored.

    Raises
    ------
    InputError
        There is no such data set, the scorers are one and the same, or one of them has scored
        nothing of the data set.
    """
    if scorer_a == scorer_b:
        raise InputError(f"Both scorers are {scorer_a}; name two different ones.")
    tables = [item_table(cache, s, dataset, texts=False) for s in (scorer_a, scorer_b)]
    for scorer_id, table in zip((scorer_a, scorer_b), tables, strict=True):
        if not (table["state"] == "scored").any():
            label = scorer_labels(scorers(cache)).get(scorer_id, "not in the cache")
            raise InputError(
                f"No item of {dataset} is scored under {scorer_id} ({label}); score it with "
                f"`{score_line(cache, dataset, scorer_id)}` first."
            )
        _check_means(cache, scorer_id, table)
    return compare_tables(*tables)


def _check_means(cache: Cache, scorer_id: str, table: pd.DataFrame) -> None:
    """InputError where scores from elsewhere have no SS that could be compared."""
    if table["ss"].isna().all():
        label = scorer_labels(scorers(cache)).get(scorer_id, scorer_id)
        raise InputError(
            f"The scores of {label} were imported without a mean per token, so there is no SS to "
            "compare; choose another scorer."
        )


def compare_tables(table_a: pd.DataFrame, table_b: pd.DataFrame) -> Comparison:
    """Compare the item tables of two scorers on one data set.

    Parameters
    ----------
    table_a, table_b
        Of `item_table`, all rows of the data set; with or without texts.

    Returns
    -------
    Comparison
        `items` has one row per item and condition that both have scored, in the order of table a:
        the stereotype score under each, their `difference` b - a, the mean log-probability per
        token of each pole (nats), the `binary` choice of each and whether it `flips`: a tie is a
        choice of its own. `left_out` names the other rows with the state and reason under each.

        `summary` is per condition, over its items. Its last row, `overall`, counts each item
        once, by its mean over the conditions that both have scored: the versions of one item are no
        independent observations. So its `sd`, `largest_absolute` and `correlation` are those of
        the means. `n_items` counts items and `n_rows` their rows. `difference` is the mean of b - a
        with its 95 % t interval over items, `share_flips` the mean over items of the share of their
        rows that flip. Beside them is what rewording English items does under scorer a:
        `rewording_floor` to a mean, `rewording_sd` to single items, each with its n.
    """
    rows = table_a[[*_KEY, "language", "native", *_NUMBERS, *_STATES]].merge(
        table_b[[*_KEY, *_NUMBERS, *_STATES]], on=_KEY, suffixes=("_a", "_b")
    )
    both = (rows["ss_a"].notna() & rows["ss_b"].notna()).to_numpy()
    items, left_out = rows[both].reset_index(drop=True), rows[~both].reset_index(drop=True)
    items["difference"] = items["ss_b"] - items["ss_a"]
    items["flips"] = items["binary_a"] != items["binary_b"]
    noise = english_rewording_noise(table_a)
    summary = [
        _summary_row(condition, items[items["condition"] == condition], left_out, noise)
        for condition in rows["condition"].unique()
    ]
    summary.append(_summary_row(OVERALL, items, left_out, noise))
    return Comparison(items[[*_ITEMS]], left_out[[*_LEFT_OUT]], pd.DataFrame(summary), noise)


def comparison_sentence(comparison: Comparison, a: str = "A", b: str = "B") -> str:
    """What the comparison over all conditions shows, and what it does not."""
    overall = comparison.summary.iloc[-1]
    n = int(overall["n_items"])
    if n == 0:
        return f"No item is scored under both {a} and {b}."
    side = "above" if overall["difference"] >= 0 else "below"
    if not math.isnan(overall["interval_low"]):
        low, high = (signed(overall[end]) for end in ("interval_low", "interval_high"))
        interval = f"95 % interval of the difference {low} to {high}, paired over items"
    else:
        interval = f"{'one item has' if n == 1 else 'items that differ alike have'} no interval"
    return (
        f"Over {counted(n, 'item')}, each counted once, the mean SS under {b} is "
        f"{abs(overall['difference']):.4f} {side} that under {a} ({interval}); "
        f"{_noise_words(comparison.noise, a)}. The choice between the poles flips in "
        f"{overall['n_flips']} of {overall['n_rows']} rows. This says how far two scorers agree, "
        "not whether a model is fair."
    )


def _noise_words(noise: RewordingNoise, a: str) -> str:
    if math.isnan(noise.item_sd):
        return f"no English rewording is scored under {a}, so there is no yardstick for it"
    single = (
        f"single items with a standard deviation of {noise.item_sd:.4f} (n = {noise.n_changes} "
        "changes)"
    )
    if math.isnan(noise.floor):
        return f"under {a} rewording alone moves {single}"
    return (
        f"under {a} rewording alone moves the mean by {noise.floor:.4f} "
        f"(n = {counted(noise.n_rewordings, 'rewording')}) and {single}"
    )


def _summary_row(
    condition: str, items: pd.DataFrame, left_out: pd.DataFrame, noise: RewordingNoise
) -> dict[str, object]:
    """One row of the summary; of all conditions together where `condition` is OVERALL."""
    if condition == OVERALL:
        units = _each_item_once(items)
    else:
        units = items
        left_out = left_out[left_out["condition"] == condition]
    a, b = units["ss_a"].to_numpy(), units["ss_b"].to_numpy()
    found = paired_difference(a, b)
    low, high = found.confidence_interval
    n_collapsed = int((left_out["state_a"] == "collapsed").sum())
    return {
        "condition": condition,
        "n_items": found.n,
        "n_rows": len(items),
        "n_collapsed": n_collapsed,
        "n_not_scored": len(left_out) - n_collapsed,
        "ss_a": units["ss_a"].mean(),
        "ss_b": units["ss_b"].mean(),
        "difference": found.mean,
        "interval_low": low,
        "interval_high": high,
        "sd": found.sd,
        "median_absolute": found.median_absolute,
        "largest_absolute": found.largest_absolute,
        "n_flips": int(items["flips"].sum()),
        "share_flips": units["flips"].astype(np.float64).mean(),
        "correlation": paired_correlation(a, b),
        "rewording_floor": noise.floor,
        "n_rewordings": noise.n_rewordings,
        "rewording_sd": noise.item_sd,
        "n_rewording_changes": noise.n_changes,
    }


def _each_item_once(items: pd.DataFrame) -> pd.DataFrame:
    """Means over the conditions of each item; a native item is one of its language alone."""
    language = items["language"].where(items["native"], "")
    numbers = items[["ss_a", "ss_b", "flips"]].astype(np.float64)
    return numbers.groupby([items["item_id"], language], sort=False).mean()

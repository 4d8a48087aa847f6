"""Whether mere surface explains the changes: lengths, and how frequent the words are.

After "Lost in Translation" (arXiv 2610.20479), the section on surface. A mean log-probability per
token depends on how many tokens a continuation has and how rare its words are, so a translation can
move a score without touching what the sentence says. Letters: M models, K conditions, N items.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.columns import ends
from core.analysis.audit.names import HELD_SDS, NO_AGREEMENT
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import STANDARDISED, AuditRequest, AuditTable
from core.settings import REFERENCE_CONDITION
from core.stats.agreement import pairwise_correlation
from core.stats.association import LEAST, explained, resampled_sums
from core.stats.intervals import percentile_interval
from core.stats.levels import LEAST_ITEMS
from core.store.audit import item_texts_of
from core.store.gate import Cache

Array = npt.NDArray[np.float64]

WORDLIST = "small"  # of wordfreq: every language has it, so rare words are treated alike in all
RAREST = 3.0  # Zipf value of a word that is not in it: once per million words, or rarer
NO_FIT = "There are no more rows than predictors, or the changes do not vary."
NO_PREDICTOR = "No row has both a change and a difference to explain it."
NO_PAIR = f"No two models have {LEAST} of these rows in common on which both vary."
NO_EQUAL = (
    f"Fewer than {LEAST_ITEMS} items have poles of equal length in both languages, or all of them "
    "change alike, so that drop has no interval."
)
_COLUMNS = (
    *("condition", "n_models", "n_rows", "n_items", "predictors", "zipf", "r2", "r_changes"),
    *("r_residuals", "n_pairs", "drop_rows", "n_rows_equal", "n_items_equal", "drop_rows_equal"),
    *("drop_rows_equal_low", "drop_rows_equal_high", "n_undefined", "n_bootstrap", "reason"),
)


def surface(panel: Panel, request: AuditRequest, cache: Cache) -> AuditTable:
    """Least squares of the changes on differences between the two poles, per language.

    The rows are model x item. The predictors are, in the language and in English each: how many
    tokens of the model the stereotype has more than the anti-stereotype, the logarithm of the ratio
    of their lengths in code points, and how much more frequent its words are (mean Zipf value).

    Returns
    -------
    AuditTable
        `r2` over `n_rows` with all `predictors`; the models' agreement (mean pairwise r over items)
        on the changes of these rows and on what the regression leaves. `zipf` says why the
        language's word frequencies are not used, if so. `drop_rows` is the mean of score_en -
        score over all rows: a model counts by how many items it has scored; `drop_rows_equal` is
        that of the rows whose poles have as many tokens as each other, in the language and in
        English, with a 95 % percentile interval over items.
    """
    zipf = _zipf_differences(panel, cache)
    drops = _equal_drops(panel, request)
    rows: list[dict[str, Any]] = []
    for language in panel.languages:
        changes = panel.changes(request.kind)[:, panel.at(language)]
        predictors = _predictors(panel, language, zipf)
        known = {n: x for n, x in predictors.items() if np.isfinite(x + changes).any()}
        found = explained(changes, list(known.values()))
        whole = np.where(np.isfinite(found.residuals), changes, np.nan)
        left = pairwise_correlation(found.residuals)
        why = zipf[language]
        reasons = [] if np.isfinite(found.r2) else [NO_FIT if known else NO_PREDICTOR]
        if len(panel.models) == 1:
            reasons.append(NO_AGREEMENT)
        elif np.isfinite(found.r2) and np.isnan(left.r):
            reasons.append(NO_PAIR)
        reasons += [NO_EQUAL] if np.isnan(drops[language]["drop_rows_equal_low"]) else []
        rows.append(
            {
                "condition": language,
                "n_models": int(np.isfinite(found.residuals).any(axis=1).sum()),
                "n_rows": found.n,
                "n_items": int(np.isfinite(found.residuals).any(axis=0).sum()),
                "predictors": ", ".join(known),
                "zipf": why if isinstance(why, str) else "",
                "r2": found.r2,
                "r_changes": pairwise_correlation(whole).r,
                "r_residuals": left.r,
                "n_pairs": left.n_pairs,
                **drops[language],
                "n_bootstrap": request.n_bootstrap,
                "reason": " ".join(reasons),
            }
        )
    return AuditTable(pd.DataFrame(rows, columns=list(_COLUMNS)), _notes(panel, request, zipf))


def mean_zipf(texts: Iterable[str], language: str) -> list[float]:
    """Mean Zipf value of the words of each text: 3 is once per million words, 6 once per thousand.

    Parameters
    ----------
    language
        One of `wordfreq.available_languages()`.

    Returns
    -------
    list of float
        NaN for a text without a word. A word that the list lacks counts as 3.

    Raises
    ------
    ImportError
        The words of this language are told apart by a package that is not installed.
    """
    from wordfreq import get_frequency_dict, zipf_frequency
    from wordfreq.tokens import lossy_tokenize

    frequencies = get_frequency_dict(language, WORDLIST)
    known: dict[str, list[float]] = {}

    def values(word: str) -> list[float]:
        # A token that is listed needs no second look; numbers are listed by their length alone.
        return [
            max(RAREST, round(math.log10(frequencies[token]) + 9, 2))
            if token in frequencies
            else zipf_frequency(token, language, WORDLIST, RAREST)
            for token in lossy_tokenize(word, language)
        ]

    means = []
    for text in texts:
        found: list[float] = []
        for word in text.split():
            if word not in known:
                known[word] = values(word)
            found += known[word]
        means.append(sum(found) / len(found) if found else math.nan)
    return means


def _zipf_differences(panel: Panel, cache: Cache) -> dict[str, Array | str]:
    """Mean Zipf value of the stereotype minus that of the anti-stereotype, or why there is none.

    By condition, English and its translations. (N,)
    """
    # The import takes a quarter of a second, which no other table needs.
    from wordfreq import available_languages

    covered = available_languages(WORDLIST)
    texts = item_texts_of(cache, panel.dataset)
    found: dict[str, Array | str] = {}
    for condition in (REFERENCE_CONDITION, *panel.languages):
        language = condition.partition("-")[0]
        if language not in covered:
            found[condition] = f"wordfreq has no word list of {condition}."
            continue
        own = texts[texts["condition"] == condition]
        own = own[panel.place(own)[1]]
        try:
            plus, minus = (mean_zipf(own[p], language) for p in ("stereotype", "anti_stereotype"))
        except ImportError as error:
            found[condition] = f"wordfreq needs the package {error.name} for {condition}."
            continue
        difference = np.full((len(panel.conditions), len(panel.items)), np.nan)
        difference[panel.place(own)[0]] = np.subtract(plus, minus)
        found[condition] = difference[panel.at(condition)]
    return found


def _predictors(panel: Panel, language: str, zipf: dict[str, Array | str]) -> dict[str, Array]:
    """Differences between the poles, in the language and in English, by name. (M, N) each"""
    found = {}
    shape = len(panel.models), len(panel.items)
    for condition in (language, REFERENCE_CONDITION):
        k = panel.at(condition)
        plus, minus = (panel.points[pole][k] for pole in ("stereotype", "anti"))
        ratio = np.log(np.where((plus > 0) & (minus > 0), plus / np.maximum(minus, 1), np.nan))
        found[f"tokens {condition}"] = _token_difference(panel, condition)
        found[f"length {condition}"] = np.broadcast_to(ratio, shape)
        difference = zipf[condition]
        if not isinstance(difference, str):
            found[f"frequency {condition}"] = np.broadcast_to(difference, shape)
    return found


def _token_difference(panel: Panel, condition: str) -> Array:
    """Tokens of the stereotype minus those of the anti-stereotype. (M, N)"""
    k = panel.at(condition)
    return np.asarray(panel.numbers["n_stereotype"][:, k] - panel.numbers["n_anti"][:, k])


def _equal_drops(panel: Panel, request: AuditRequest) -> dict[str, dict[str, float]]:
    """Drop over all rows of each language, and over those with poles of equal length."""
    drops = -panel.changes(request.kind)[:, [panel.at(c) for c in panel.languages]]  # (M, L, N)
    even = (
        np.stack([_token_difference(panel, c) == 0 for c in panel.languages], axis=1)
        if panel.languages
        else np.zeros(drops.shape, dtype=np.bool_)
    )
    even &= (_token_difference(panel, REFERENCE_CONDITION) == 0)[:, None] & np.isfinite(drops)
    sums = np.stack([np.where(even, drops, 0.0).sum(axis=0), even.sum(axis=0)])  # (2, L, N)
    total, n = resampled_sums(sums, n_resamples=request.n_bootstrap, rng=request.rng("surface"))
    drawn = np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0)
    rows = {}
    for at, language in enumerate(panel.languages):
        there, equal = np.isfinite(drops[:, at]), even[:, at]
        n_items = int(equal.any(axis=0).sum())
        value = float(drops[:, at][equal].mean()) if n_items else np.nan
        interval = percentile_interval(value, drawn[at], n_items)
        rows[language] = {
            "drop_rows": float(drops[:, at][there].mean()) if there.any() else np.nan,
            "n_rows_equal": int(equal.sum()),
            "n_items_equal": n_items,
            **ends("drop_rows_equal", interval),
            "n_undefined": interval.n_undefined,
        }
    return rows


def _notes(panel: Panel, request: AuditRequest, zipf: dict[str, Array | str]) -> tuple[str, ...]:
    if not panel.languages:
        return panel.no_languages
    held = (HELD_SDS,) if request.kind == STANDARDISED else ()
    return held + tuple(
        f"{why} Its word frequencies are left out." for why in zipf.values() if isinstance(why, str)
    )

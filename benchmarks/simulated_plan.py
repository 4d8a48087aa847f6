"""The plan of a simulated audit, and what it makes true.

A model's preference for an item in a condition, u = l+ - l- in nats, is mean + sd * z, where

    z = loading * p + own * t + sqrt(1 - loading^2 - own^2) * q                      ~ N(0, 1)

p is the item's leaning under that model in every language, t the one it has in that language
whatever the wording, q belongs to the one condition. So z of two conditions are bivariate normal,
and the means, slopes and correlations of SS = sigmoid(u) are two-dimensional Gauss-Hermite sums:
exact, whatever is drawn. The mean of u is chosen so that the mean SS falls by the planted drop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit

Array = npt.NDArray[np.float64]

N_MODELS = 10
SPREAD = 0.006  # sd over models of a language's drop
TAU = 0.008  # sd of what a rewording does to all items, SS
WORDINGS = (-1.1, 0.3, 0.8)  # of three rewordings, standardised before use
ENGLISH_LOADING = 0.866  # two wordings with it correlate by .75
GROUPS = ("English-focused", "multilingual")

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(64)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True)
class Version:
    """How the scores of a condition are drawn."""

    original: str  # what it is compared with
    drop: float  # planted: how far the mean SS lies below the original's
    loading: float  # on p
    own: float = 0.0  # on t
    scale: float = 1.0  # sd of u over that in English
    follows: float = 0.0  # where not 0: z = follows * z of the original + the rest of its own
    share: float = 1.0  # of the items that have this version
    spread: float = 0.0  # sd over models of the drop


def _rewordings(original: str, tau: float, loading: float, own: float) -> dict[str, Version]:
    effects = np.array(WORDINGS) - np.mean(WORDINGS)
    effects *= tau / effects.std(ddof=1)
    return {
        f"{original}~p{i}": Version(original, float(-effect), loading, own, spread=SPREAD / 2)
        for i, effect in enumerate(effects, start=1)
    }


def _arms(original: str) -> dict[str, Version]:
    shifts = {"neutral": -0.010, "true": -0.060, "false": 0.050}  # any sentence moves scores
    return {
        f"{original}+{arm}": Version(original, drop, 0, follows=0.92, share=1 / 3)
        for arm, drop in shifts.items()
    }


VERSIONS: dict[str, Version] = {
    "en": Version("en", 0.0, ENGLISH_LOADING),
    **_rewordings("en", TAU, ENGLISH_LOADING, 0.0),
    "en~llm": Version("en", 0.004, 0.78, share=0.55),
    "es": Version("en", 0.000, 0.62, 0.50, spread=SPREAD),
    "es~p1": Version("es", 0.003, 0.62, 0.50),
    "fr": Version("en", 0.010, 0.60, 0.50, spread=SPREAD),
    "zh": Version("en", 0.020, 0.52, 0.50, spread=SPREAD),
    "ko": Version("en", 0.030, 0.48, 0.50, spread=SPREAD),
    "ar": Version("en", 0.020, 0.48, 0.50, 0.9, spread=SPREAD),
    "hi": Version("en", 0.040, 0.42, 0.50, 0.8, spread=SPREAD),
    "sw": Version("en", 0.060, 0.36, 0.50, 0.8, spread=SPREAD),
    "nl": Version("en", 0.000, 0.60, 0.50, spread=SPREAD),
    **_rewordings("nl", 1.5 * TAU, 0.60, 0.50),
    **_arms("en"),
    **_arms("hi"),
}
LANGUAGES = tuple(c for c, v in VERSIONS.items() if c.isalpha() and c != "en")
RESOURCES = {"high": ("en", "es", "fr", "zh"), "mid": ("ko", "ar", "nl"), "low": ("hi", "sw")}


@dataclass(frozen=True)
class Population:
    """Means and sds of u, nats, per model: shape (M,) for each condition."""

    mean: dict[str, Array]
    sd: dict[str, Array]


def population(rng: np.random.Generator) -> Population:
    """Means and sds that make every planted drop true, on average over the models.

    English models lean to the stereotype by .51 to .57.
    """
    sd = np.linspace(0.85, 1.1, N_MODELS)
    mean = np.array([_u_mean(ss, s) for ss, s in zip(_english_scores(), sd, strict=True)])
    means, sds = {"en": mean}, {"en": sd}
    for condition, version in VERSIONS.items():
        if condition == "en":
            continue
        drops = np.full(N_MODELS, version.drop)
        if version.spread:
            drops += version.spread * _standardised(rng.standard_normal(N_MODELS))
        sds[condition] = sds[version.original] * version.scale
        before = _expected(expit, means[version.original], sds[version.original])
        means[condition] = np.array(
            [_u_mean(ss, s) for ss, s in zip(before - drops, sds[condition], strict=True)]
        )
    return Population(means, sds)


def latent_correlation(a: str, b: str) -> float:
    """Correlation of z between two conditions of one model."""
    if a == b:
        return 1.0
    for one, other in ((a, b), (b, a)):
        if VERSIONS[one].follows and VERSIONS[one].original == other:
            return VERSIONS[one].follows
    first, second = VERSIONS[a], VERSIONS[b]
    same_language = a[:2] == b[:2]
    return first.loading * second.loading + same_language * first.own * second.own


def moments(people: Population, a: str, b: str) -> tuple[Array, Array, Array]:
    """Covariance of SS between two conditions and the variance in each, per model. (M,) each."""
    rho = latent_correlation(a, b)
    x = _NODES[:, None]
    y = rho * x + np.sqrt(1 - rho**2) * _NODES[None]
    weights = _WEIGHTS[:, None] * _WEIGHTS
    found = []
    for m in range(N_MODELS):
        first = expit(people.mean[a][m] + people.sd[a][m] * x)
        second = expit(people.mean[b][m] + people.sd[b][m] * y)
        mean_a, mean_b = (weights * first).sum(), (weights * second).sum()
        found.append(
            (
                (weights * (first - mean_a) * (second - mean_b)).sum(),
                (weights * (first - mean_a) ** 2).sum(),
                (weights * (second - mean_b) ** 2).sum(),
            )
        )
    covariance, variance_a, variance_b = np.array(found).T
    return covariance, variance_a, variance_b


def carry_over(people: Population, condition: str) -> dict[str, float]:
    """Planted association of a condition's SS with its original's.

    `slope` and `correlation` are pooled over model x item, where the models' own means count;
    `within_slope` after each model's mean is taken off; `mean_correlation` is the mean over models.
    """
    original = VERSIONS[condition].original
    covariance, before, after = moments(people, original, condition)
    levels = [_expected(expit, people.mean[c], people.sd[c]) for c in (original, condition)]
    between = np.cov(levels, ddof=0)
    pooled = covariance.mean() + between[0, 1]
    sd_before, sd_after = (np.sqrt(v.mean() + between[i, i]) for i, v in enumerate((before, after)))
    return {
        "slope": float(pooled / sd_before**2),
        "correlation": float(pooled / (sd_before * sd_after)),
        "within_slope": float(covariance.sum() / before.sum()),
        "mean_correlation": float((covariance / np.sqrt(before * after)).mean()),
    }


def binary_drop(people: Population, condition: str) -> float:
    """Planted fall of the share of items with l+ > l-, mean over the models."""
    phi = np.vectorize(NormalDist().cdf)
    shares = [phi(people.mean[c] / people.sd[c]) for c in (VERSIONS[condition].original, condition)]
    return float((shares[0] - shares[1]).mean())


def truth(people: Population) -> dict[str, object]:
    """Everything that is planted, ready for JSON; scores and drops are on the SS scale."""
    rows = {}
    for condition, version in VERSIONS.items():
        if condition == "en":
            continue
        rows[condition] = {
            "original": version.original,
            "drop": version.drop,
            "drop_binary": binary_drop(people, condition),
            "drop_by_model": (
                _expected(expit, people.mean[version.original], people.sd[version.original])
                - _expected(expit, people.mean[condition], people.sd[condition])
            ).tolist(),
            **carry_over(people, condition),
        }
    reliability = {"en": ("en", "en~p1"), "es": ("es", "es~p1"), "nl": ("nl", "nl~p1")}
    correlations = {}
    for language, (a, b) in reliability.items():
        covariance, first, second = moments(people, a, b)
        correlations[language] = float((covariance / np.sqrt(first * second)).mean())
    return {
        "conditions": rows,
        "tau": {"en": TAU, "nl": 1.5 * TAU},
        "reliability": correlations,
        "attenuation": {
            language: float(
                rows[language]["mean_correlation"]
                / np.sqrt(correlations["en"] * correlations[language])
            )
            for language in ("es", "nl")
        },
    }


def _english_scores() -> Array:
    return np.linspace(0.51, 0.57, N_MODELS)


def _expected(function: Callable[[Array], Array], mean: Array, sd: Array) -> Array:
    """E f(mean + sd * z) for each model. (M,)"""
    values = function(np.asarray(mean)[..., None] + np.asarray(sd)[..., None] * _NODES)
    return np.asarray((values * _WEIGHTS).sum(axis=-1))


def _u_mean(ss: float, sd: float) -> float:
    """The mean of u at which the mean SS is `ss`."""
    return float(brentq(lambda m: float(_expected(expit, np.array(m), np.array(sd))) - ss, -5, 5))


def _standardised(values: Array) -> Array:
    centred = values - values.mean()
    return np.asarray(centred / centred.std(ddof=1))

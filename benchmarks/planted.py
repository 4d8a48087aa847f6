"""Worlds with a planted truth: what each interval should cover, and each test should leave alone.

Scores are on the SS scale: a version's noise has the sd .12 per item, so that a change from one
wording to another has .17. Letters: W worlds, M models, N items, K rewordings.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

NOISE = 0.12  # sd of what one version adds to an item's score
SHARED = 0.5  # share of that variance that the models have in common


def version_noise(rng: np.random.Generator, models: int, versions: int, items: int) -> Array:
    """What versions add to the scores: correlated between models. (M, versions, N)"""
    common = rng.standard_normal((versions, items))
    own = rng.standard_normal((models, versions, items))
    return np.asarray(NOISE * (np.sqrt(SHARED) * common + np.sqrt(1 - SHARED) * own))


def planted_changes(
    rng: np.random.Generator,
    *,
    models: int,
    items: int,
    rewordings: int,
    drop: float = 0.0,
    tau: float = 0.0,
    model_sd: float = 0.0,
) -> tuple[Array, Array]:
    """Changes of a translation and of rewordings from one original.

    Returns
    -------
    arrays, shapes (M, N) and (M, K, N)
        The translation falls by `drop` and, as every rewording does, moves by an effect of sd `tau`
        that all its items and models share. Models differ by `model_sd` in the translation.
    """
    noise = version_noise(rng, models, rewordings + 2, items)
    changes = noise[:, 1:] - noise[:, :1]
    changes += rng.normal(0, tau, (rewordings + 1, 1))
    changes[:, 0] += rng.normal(-drop, model_sd, (models, 1))
    return changes[:, 0], changes[:, 1:]


def shared_effects(
    rng: np.random.Generator, *, worlds: int, items: int, rewordings: int, tau: float
) -> Array:
    """Changes of a translation (first) and of rewordings in many worlds. (W, K + 1, N)

    All versions are alike: each moves by an effect of sd `tau` that its items share.
    """
    noise = NOISE * rng.standard_normal((worlds, rewordings + 2, items))
    changes = noise[:, 1:] - noise[:, :1]
    return np.asarray(changes + rng.normal(0, tau, (worlds, rewordings + 1, 1)))


def planted_scores(
    rng: np.random.Generator,
    *,
    models: int,
    items: int,
    reliability: float,
    carry_over: float,
    language_own: float = 0.0,
    sd: float = 0.2,
) -> dict[str, Array]:
    """Scores of an original, its rewording, a translation and the translation's rewording.

    z = loading * p + own * t + rest, of variance 1: p is shared by all versions, t by those in one
    language. English loads sqrt(reliability) on p, the translation carry_over / sqrt(reliability)
    on p and `language_own` on t. So English and its rewording correlate by `reliability`, English
    and the translation by `carry_over`.

    Returns
    -------
    dict of arrays, shape (M, N)
        "en", "en~p1", "xx", "xx~p1"; SS around .5 with the given sd.
    """
    english = np.sqrt(reliability)
    foreign = carry_over / english

    def shared() -> Array:
        common, own = rng.standard_normal(items), rng.standard_normal((models, items))
        return np.asarray(np.sqrt(SHARED) * common + np.sqrt(1 - SHARED) * own)

    p, t = shared(), shared()
    z = {}
    for name, loading, own in (
        ("en", english, 0.0),
        ("en~p1", english, 0.0),
        ("xx", foreign, language_own),
        ("xx~p1", foreign, language_own),
    ):
        rest = np.sqrt(1 - loading**2 - own**2)
        z[name] = loading * p + own * t + rest * shared()
    return {name: 0.5 + sd * values for name, values in z.items()}

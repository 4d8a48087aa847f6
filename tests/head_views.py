"""Made axes as `axis_view` gives them: heads of the middle layers hold the axis, others do not."""

from __future__ import annotations

import numpy as np

from core.analysis.heads.axis_view import AxisView
from core.analysis.heads.question import HeadsQuestion
from core.axes.axis import Axis, user_pole
from core.axes.concepts import Concept
from core.stats.probes.projection import zscore

WORDS = (
    *("nurses", "lawyers", "software developers", "farmers", "elderly people", "immigrants"),
    *("teachers", "politicians", "students", "poor people", "Italians", "police officers"),
    *("single mothers", "bankers", "artists", "Christians", "homeless people", "scientists"),
)
POLES = (("cold", "warm"), ("dishonest", "honest"), ("lazy", "hard-working"), ("dull", "bright"))


def made_view(
    n_layers: int = 32,
    n_heads: int = 32,
    n_concepts: int = 100,
    n_reference: int = 100,
    *,
    axis: int = 0,
    seed: int = 0,
    n_dead: int = 3,
    dimension: str = "warmth",
    names: tuple[str, ...] = (),
) -> AxisView:
    """A view of numbers drawn by a seed; two concepts of three are labelled, and agree a little."""
    rng = np.random.default_rng([seed, axis])
    texts = [*names, *(_name(i) for i in range(len(names), n_concepts))]
    labels = [(None, 1, -1)[i % 3] if dimension else None for i in range(n_concepts)]
    concepts = tuple(Concept(t, warmth=label) for t, label in zip(texts, labels, strict=True))
    depth = np.exp(-0.5 * ((np.arange(n_layers) / n_layers - 0.55) / 0.17) ** 2)
    strength = depth[:, None] * rng.gamma(1.2, 1.0, (n_layers, n_heads))
    place = rng.normal(0.25, 0.8, n_concepts) + 0.35 * np.array([label or 0 for label in labels])
    places = np.concatenate([place, rng.normal(-0.2, 0.5, n_reference)])
    noise = rng.normal(size=(n_layers * n_heads, n_concepts + n_reference))
    dead = rng.choice(n_layers * n_heads, n_dead, replace=False)
    pi = noise + strength.reshape(-1, 1) * places
    pi[dead] = 1.0
    separability = 0.02 + 0.12 * strength + rng.gamma(2, 0.004, strength.shape)
    separability.ravel()[dead] = np.nan
    swapped = rng.gamma(3, 0.008, (8, n_layers, n_heads))
    return AxisView(
        axis=Axis(*(user_pole((word,)) for word in POLES[axis % len(POLES)]), "made", dimension),
        question=HeadsQuestion(
            reader_id="made", axes="axes", concepts="concepts", reference="reference"
        ),
        concepts=concepts,
        reference=tuple(f"phrase {i}" for i in range(n_reference)),
        separability=separability,
        chance=swapped.mean(axis=0),
        chance_level=float(np.quantile(swapped, 0.95)),
        z=zscore(pi.T).T.astype(np.float32),
        labels=tuple(labels),
    )


def _name(i: int) -> str:
    return WORDS[i] if i < len(WORDS) else f"{WORDS[i % len(WORDS)]} {i // len(WORDS) + 1}"

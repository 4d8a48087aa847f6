"""Simulated identity pairs: thirteen models x 42,906 pairs, with identities on both sides of 50 %.

The pairs have the shape of WinoQueer-NL: nine identities against two or four counterfactuals,
eleven templates (the last with a name), predicates in tiers with harmfulness. Every model leans its
own way for each identity, and pairs of one predicate share an effect; the first model is planted to
be near 50 % in all with one identity near 97 and one near 6. What the choices owe to harmfulness is
planted too. Half of the models call themselves masked, half causal; nothing is behind any.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.special import ndtri

from benchmarks.simulated import NOTE, put_scores, simulated_scorer
from core.items.identities import COUNTERFACTUALS, IDENTITIES
from core.settings import DEFAULT_SEED
from core.store.gate import Cache
from core.store.generations import bump
from core.store.items import put_dataset
from core.types import Item, Scorer

Array = npt.NDArray[np.float64]

DATASET = "simulated-pairs"
N_MODELS, N_PAIRS = 13, 42_906
N_PREDICATES = 164
N_TEMPLATES, N_NAMES = 11, 60
NAME_GROUPS = ("female", "male", "non-binary")
TIER_SHARES = {1: 0.42, 2: 0.36, 3: 0.22}
OF_PREDICATE, OF_PAIR = 0.5, 1.0  # sd of what a predicate, and a pair, adds to a difference
OF_HARM = 0.15  # what a step of harmfulness adds
HIGHEST, LOWEST = 0.97, 0.06  # shares of two identities of the first model


def fill_pairs(
    cache: Cache, *, n_models: int = N_MODELS, n_pairs: int = N_PAIRS, seed: int = DEFAULT_SEED
) -> dict[str, object]:
    """Write the data set and its scores; returns what is planted, ready for JSON."""
    rng = np.random.default_rng([seed, *DATASET.encode()])
    items = pair_items(n_pairs, rng)
    put_dataset(
        cache, DATASET, items, path="", format="simulated", sha256="", note=NOTE, replace=True
    )
    shares = planted_shares(n_models, rng)
    for number in range(1, n_models + 1):
        method = "pll:original" if number % 2 else "causal"
        scorer = replace(simulated_scorer(number), method=method)
        differences = pair_differences(items, shares[number - 1], rng)
        _put_pairs(cache, scorer, items, differences, rng)
    planted = {
        f"simulated-{number:02d}": dict(zip(IDENTITIES, row.round(3).tolist(), strict=True))
        for number, row in enumerate(shares, start=1)
    }
    return {"dataset": DATASET, "n_pairs": len(items), "n_models": n_models, "shares": planted}


def pair_items(n_pairs: int, rng: np.random.Generator) -> list[Item]:
    """The first N of all pairs of templates, names, identities and predicates, in mixed order."""
    every = list(_combinations(rng))
    if n_pairs > len(every):
        raise ValueError(f"{n_pairs} of {len(every)} pairs")
    chosen = rng.permutation(len(every))[:n_pairs]
    return [_item(*every[i]) for i in chosen.tolist()]


def planted_shares(n_models: int, rng: np.random.Generator) -> Array:
    """Share of stereotypical choices that each model has for each identity. (M, I)"""
    shares = np.clip(rng.normal(0.55, 0.12, (n_models, len(IDENTITIES))), 0.05, 0.95)
    shares[0] = 0.5
    shares[0, :2] = HIGHEST, LOWEST
    return shares


def pair_differences(items: list[Item], shares: Array, rng: np.random.Generator) -> Array:
    """Score of the stereotypical sentence less that of the other; a few are ties. (P,)"""
    predicate = np.array([int(str(item.metadata["number"])) for item in items])
    harm = np.array([float(str(item.metadata["harmfulness"])) for item in items])
    identity = np.array([IDENTITIES.index(str(item.metadata["identity"])) for item in items])
    drift = OF_HARM * (harm - 2.0)
    drift += rng.normal(0, OF_PREDICATE, N_PREDICATES)[predicate]
    noise = rng.normal(0, OF_PAIR, len(items))
    sd = float(np.std(drift + noise))
    differences = drift + noise + sd * ndtri(shares)[identity]
    differences[rng.random(len(items)) < 0.002] = 0.0
    return np.asarray(differences)


def _combinations(rng: np.random.Generator) -> Iterator[tuple[object, ...]]:
    """Predicates with their identities, counterfactuals, templates and names."""
    harm = rng.uniform(-0.5, 4.0, N_PREDICATES).round(2)
    tiers = rng.choice([*TIER_SHARES], N_PREDICATES, p=[*TIER_SHARES.values()])
    for number in range(N_PREDICATES):
        added = number >= N_PREDICATES - 22
        facts = (number, float(harm[number]), 1 if added else int(tiers[number]), added)
        for at in {number % len(IDENTITIES), (number // 3 + 4) % len(IDENTITIES)}:
            for other in _counterfactuals(IDENTITIES[at]):
                for template in range(1, N_TEMPLATES):
                    yield (*facts, IDENTITIES[at], other, template, None)
                for name in range(N_NAMES):
                    yield (*facts, IDENTITIES[at], other, N_TEMPLATES, name)


def _counterfactuals(identity: str) -> tuple[str, ...]:
    if identity in ("LGBTQ", "Queer"):
        return COUNTERFACTUALS
    return COUNTERFACTUALS[:2] if identity in ("Transgender", "Non-binary") else COUNTERFACTUALS[2:]


def _item(
    number: int,
    harm: float,
    tier: int,
    added: bool,
    identity: str,
    counterfactual: str,
    template: int,
    name: int | None,
) -> Item:
    text = f"are as people say number {number}"
    item_id = f"{template}/{identity}/{counterfactual}/{number}"
    metadata: dict[str, object] = {
        "identity": identity,
        "counterfactual": counterfactual,
        "predicate": text,
        "template": f"T{template}",
        "number": number,
        "harmfulness": harm,
        "n_harmfulness": 8,
        "tier": tier,
        "survey_added": added,
    }
    who = "people"
    if name is not None:
        item_id, who = f"{item_id}/{name}", f"friends of Name{name}"
        metadata |= {"name": f"Name{name}", "name_group": NAME_GROUPS[name % len(NAME_GROUPS)]}
    return Item(
        item_id=item_id,
        condition="en",
        language="en",
        context="",
        stereotype=f"SIMULATED {template}: {identity} {who} {text}.",
        anti_stereotype=f"SIMULATED {template}: {counterfactual} {who} {text}.",
        source="simulated",
        category=identity,
        metadata=metadata,
    )


def _put_pairs(
    cache: Cache, scorer: Scorer, items: list[Item], differences: Array, rng: np.random.Generator
) -> None:
    """Scores by words and by tokens, which add noise; a causal model has uninformative pairs."""
    n = len(items)
    less = rng.normal(-30, 4, n)
    n_tokens = pa.array(rng.integers(6, 15, n).astype(np.int32))
    keys = {
        "item_id": pa.array([item.item_id for item in items]),
        "condition": pa.array([item.condition for item in items]),
    }
    uninformative = (rng.random(n) < 0.01) & (scorer.method == "causal")
    flags = [["uninformative"] if one else [] for one in uninformative]
    tables = []
    for unit, noise in (("word", 0.0), ("token", 0.6)):
        more = less + differences + noise * rng.normal(0, 1, n)
        tables.append(
            pa.table(
                {
                    **keys,
                    "unit": pa.array([unit] * n),
                    "align": pa.array(["lcs"] * n),
                    "score_more": pa.array(more),
                    "score_less": pa.array(less),
                    "n_unmodified": n_tokens,
                    "flags": pa.array(flags, pa.list_(pa.string())),
                }
            )
        )
    sums = {"sum_stereotype": less + differences, "sum_anti": less}
    ends = {"stereotype": "sum_stereotype", "anti": "sum_anti"}
    item_rows = keys | {"flags": pa.array([[]] * n, pa.list_(pa.string()))}
    for name, column in ends.items():
        item_rows |= {
            f"l_{name}": pa.array(sums[column] / np.asarray(n_tokens)),
            column: pa.array(sums[column]),
            f"n_{name}": n_tokens,
        }
    put_scores(cache, scorer, DATASET, pa.table(item_rows))
    with cache.writing() as con:
        con.register("rows", pa.concat_tables(tables))
        of = [scorer.scorer_id, DATASET]
        con.execute("DELETE FROM pair_score WHERE scorer_id = ? AND dataset = ?", of)
        con.execute(
            "INSERT INTO pair_score BY NAME SELECT ? AS scorer_id, ? AS dataset, * FROM rows", of
        )
        bump(con, [scorer.scorer_id], [DATASET])

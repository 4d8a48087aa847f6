"""One language against another: the same predicates, identities and models in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.request import AuditTable
from core.analysis.identities.overview import floors_of
from core.analysis.identities.panel import IdentityPanel
from core.analysis.identities.rows import IdentityRequest, interval_columns, reason
from core.errors import InputError
from core.stats.identity_bias import (
    Codes,
    Tally,
    interval_over_predicates,
    predicate_tallies,
    tally,
    with_choices,
)
from core.stats.resampling import bootstrap_weights
from core.words import counted

LEFT_OUT = "Warning: left out:"
SHARED = (
    "Only what both languages say of an identity: its predicates of the same names; the same "
    "predicates are drawn in both. Sentences differ in more than the language: templates, names "
    "and forms are each language's own."
)


@dataclass(frozen=True)
class _Drawn:
    """Choices in both languages."""

    tallies: list[tuple[Tally, Tally]]  # of the data (M, I) and of resamples (R, M, I)
    both: npt.NDArray[np.bool_]  # predicates with a choice in both, (M, C, I)
    floors: dict[str, npt.NDArray[np.float64]]  # of either language on what both say, (M,) each


def languages(panels: Sequence[IdentityPanel], request: IdentityRequest) -> AuditTable:
    """Every other language against the first: bias (W), (M) and each identity's share.

    `difference` is the share in `condition` less that in `other`; n and n_other are the pairs, and
    `template_floor` (`_other`) says how far another template moves bias (W) in either. A language
    that shares nothing with the first is left out, with a note that says why.

    Raises
    ------
    InputError
        There is one language only, or none that shares anything with the first.
    """
    if len(panels) < 2:
        raise InputError(
            "The pairs are in one language; name a data set of another one to hold them against "
            "(--against in a terminal, Beside in the app)."
        )
    rows, notes, apart = [], [SHARED], []
    for other in panels[1:]:
        try:
            first, second, left_out = _shared(panels[0], other)
        except InputError as error:
            apart.append(str(error))
            continue
        notes += left_out
        rows.append(_rows(first, second, request))
    if not rows:
        raise InputError(" ".join(apart))
    notes += [f"{LEFT_OUT} {why}" for why in apart]
    return AuditTable(pd.concat(rows, ignore_index=True), tuple(dict.fromkeys(notes)))


def _shared(a: IdentityPanel, b: IdentityPanel) -> tuple[IdentityPanel, IdentityPanel, list[str]]:
    """Both panels with what they share, and what was left out of which."""
    names = (f"{a.dataset} {a.condition}", f"{b.dataset} {b.condition}")
    notes = []
    scored = [_scored(panel) for panel in (a, b)]
    models = [key for key in scored[0] if key in scored[1]]
    for of, name in zip(scored, names, strict=True):
        alone = [label for key, label in of.items() if key not in models]
        if alone:
            notes.append(f"Warning: only {name} is scored by {', '.join(alone)}: left out.")
    if not models:
        raise InputError(f"{names[0]} and {names[1]} are scored by no model in common.")
    a, b = a.of_models(models), b.of_models(models)
    for column, noun in (("predicate", "predicate"), ("identity", "identity")):
        if not set(_keys(a, column)) & set(_keys(b, column)):
            raise InputError(f"{names[0]} and {names[1]} share no {noun} by name.")
    claims = [_claims(panel) for panel in (a, b)]
    both = set(claims[0]) & set(claims[1])
    if not both:
        raise InputError(f"{names[0]} and {names[1]} say no predicate of the same identity.")
    n_both = counted(len(both), "claim")
    gone = [f"{len(set(of) - both):,} of {name}" for of, name in zip(claims, names, strict=True)]
    notes.append(
        f"{names[0]} and {names[1]} share {n_both} (a predicate said of an identity); left out:"
        f" {gone[0]}, {gone[1]}."
    )
    a, b = (
        panel.part(np.array([claim in both for claim in of], dtype=np.bool_))
        for panel, of in zip((a, b), claims, strict=True)
    )
    return a, b, notes


def _claims(panel: IdentityPanel) -> list[tuple[str, str]]:
    """Predicate and identity of each pair."""
    return list(zip(_keys(panel, "predicate"), panel.facts["identity"], strict=True))


def _scored(panel: IdentityPanel) -> dict[str, str]:
    """Keys and labels of the models that have a choice in a panel."""
    there = zip(panel.models, np.isfinite(panel.word), strict=True)
    return {model.key: model.label for model, known in there if known.any()}


def _rows(a: IdentityPanel, b: IdentityPanel, request: IdentityRequest) -> pd.DataFrame:
    """Rows of every model: bias (W), bias (M), then the identities of both."""
    identities = [i for i in a.identities if i in b.identities]
    drawn = _tallies(a, b, identities, request)
    measures = {"bias (W)": None, "bias (M)": None} | {name: i for i, name in enumerate(identities)}
    parts = [_measured(a, b, drawn, *measure) for measure in measures.items()]
    return pd.concat(parts).sort_index(kind="stable")


def _tallies(
    a: IdentityPanel, b: IdentityPanel, identities: Sequence[str], request: IdentityRequest
) -> _Drawn:
    """Choices of both panels, and of resamples that draw the same predicates in both."""
    names = sorted({*_keys(a, "predicate"), *_keys(b, "predicate")})
    rng = request.rng(f"languages {b.dataset} {b.condition}")
    weights = bootstrap_weights(len(names), request.n_resamples, rng=rng)
    found, there = [], []
    for panel in (a, b):
        of = (panel.word, _at(panel, "identity", identities))
        predicates = _at(panel, "predicate", names)
        drawn = predicate_tallies(
            *of, predicates, len(identities), n_resamples=len(weights), rng=rng, weights=weights
        )
        found.append((tally(*of, len(identities)), drawn))
        there.append(with_choices(*of, predicates, len(identities), len(names)))
    floors = {
        f"{name}{ending}": of[name].to_numpy()
        for ending, of in (("", floors_of(a)), ("_other", floors_of(b)))
        for name in ("template_floor", "n_templates")
    }
    return _Drawn(found, there[0] & there[1], floors)


def _measured(
    a: IdentityPanel,
    b: IdentityPanel,
    drawn: _Drawn,
    measure: str,
    identity: int | None,
) -> pd.DataFrame:
    """One number in both languages, model by model. M rows"""
    (x, xs), (y, ys) = (
        (_value(data, measure, identity), _value(drawn, measure, identity))
        for data, drawn in drawn.tallies
    )
    n, n_other = (_n(data, identity).astype(np.int64) for data, _ in drawn.tallies)
    both = drawn.both if identity is None else drawn.both[..., [identity]]
    n_predicates = both.any(axis=2).sum(axis=1)
    columns = interval_columns("difference", x - y, xs - ys, n_predicates, interval_over_predicates)
    least = np.minimum(n, n_other).tolist()
    reasons = zip(least, n_predicates.tolist(), columns["difference_low"], strict=True)
    return pd.DataFrame(
        {
            "model": [model.label for model in a.models],
            "kind": [model.kind for model in a.models],
            "measure": measure,
            "dataset": a.dataset,
            "condition": a.condition,
            "other_dataset": b.dataset,
            "other": b.condition,
            "share": x,
            "share_other": y,
            **columns,
            **drawn.floors,
            "n": n,
            "n_other": n_other,
            "n_predicates": n_predicates,
            "reason": [reason(*of) for of in reasons],
        }
    )


def _value(found: Tally, measure: str, identity: int | None) -> np.ndarray:
    if identity is not None:
        return found.shares[..., identity]
    return found.weighted if measure == "bias (W)" else found.mean


def _n(found: Tally, identity: int | None) -> np.ndarray:
    return found.counts.sum(axis=-1) if identity is None else found.counts[..., identity]


def _at(panel: IdentityPanel, column: str, values: Sequence[str]) -> Codes:
    order = {value: at for at, value in enumerate(values)}
    return np.asarray(_keys(panel, column).map(order), dtype=np.int64)


def _keys(panel: IdentityPanel, column: str) -> pd.Series:
    """What tells the values of a column apart in both languages: predicates in lower case."""
    values = panel.facts[column]
    if column != "predicate":
        return values
    return values.map({name: name.casefold() for name in values.unique()})

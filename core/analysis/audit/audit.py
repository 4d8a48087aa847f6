"""The tables of an audit: which there are, what each needs, and the memory of those computed.

After "Lost in Translation" (arXiv 2610.20479). Results are remembered in the process by the cache's
folder, the generations of the items and of every scorer, and the request: numbers of a few bytes,
so that a change of one item in a large data set is never overlooked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from core.analysis.audit.agreement import agreement
from core.analysis.audit.attenuation import attenuation
from core.analysis.audit.carry_over import association, intercept
from core.analysis.audit.cells import cells, score_map
from core.analysis.audit.choices import distance, fates, same_choice
from core.analysis.audit.control import control
from core.analysis.audit.crossed import crossed
from core.analysis.audit.css_clci import css_clci
from core.analysis.audit.elsewhere import with_reasons
from core.analysis.audit.equivalence import equivalence
from core.analysis.audit.floor_vs_gap import floor_vs_gap
from core.analysis.audit.floors import floors, floors_by_model
from core.analysis.audit.fragility import fragility
from core.analysis.audit.groups import groups
from core.analysis.audit.injection import injection
from core.analysis.audit.item_flow import item_flow
from core.analysis.audit.item_tests import item_tests
from core.analysis.audit.loading import load_panel
from core.analysis.audit.main import main
from core.analysis.audit.natives import natives
from core.analysis.audit.panel import Panel
from core.analysis.audit.pipeline_errors import pipeline_errors
from core.analysis.audit.power import power
from core.analysis.audit.quality import quality
from core.analysis.audit.request import AuditRequest, AuditTable
from core.analysis.audit.score_panel import other_kinds, score_panel
from core.analysis.audit.shrunk import shrunk
from core.analysis.audit.surface import surface
from core.analysis.audit.unknown_fluency import bbq_unknown, fluency_icat
from core.analysis.audit.verdicts import verdicts
from core.analysis.audit.wording_variance import wording_variance
from core.analysis.overview import is_simulated
from core.errors import InputError
from core.settings import REFERENCE_CONDITION, VERSION
from core.store.audit import generations
from core.store.gate import Cache
from core.store.imported_scores import import_facts
from core.store.items import datasets
from core.store.scorers import scorers
from core.store.slices import get_slice

State = tuple[object, ...]


class _Step(NamedTuple):
    """How a table is made."""

    function: Callable[..., AuditTable]  # of the panel, the request and the tables named in needs
    needs: tuple[str, ...] = ()
    reads_cache: bool = False  # it also takes the cache, last


_STEPS = {
    "item_flow": _Step(item_flow),
    "main": _Step(main, ("cells", "item_tests", "floors_by_model", "association", "same_choice")),
    "cells": _Step(cells),
    "score_map": _Step(score_map),
    "floors": _Step(floors),
    "floor_vs_gap": _Step(floor_vs_gap),
    "item_tests": _Step(item_tests),
    "css_clci": _Step(css_clci),
    "association": _Step(association),
    "same_choice": _Step(same_choice),
    "fates": _Step(fates),
    "agreement": _Step(agreement),
    "distance": _Step(distance),
    "intercept": _Step(intercept),
    "quality": _Step(quality),
    "surface": _Step(surface, reads_cache=True),
    "groups": _Step(groups),
    "bbq_unknown": _Step(bbq_unknown),
    "fluency_icat": _Step(fluency_icat),
    "natives": _Step(natives),
    "score_panel": _Step(score_panel, ("item_tests", "other_kinds")),
    "injection": _Step(injection),
    "power": _Step(power, ("item_tests",)),
    "control": _Step(control),
    "pipeline_errors": _Step(pipeline_errors, ("cells",), reads_cache=True),
    "equivalence": _Step(equivalence, ("item_tests",)),
    "wording_variance": _Step(wording_variance),
    "attenuation": _Step(attenuation),
    "shrunk": _Step(shrunk, ("cells",)),
    "crossed": _Step(crossed),
    "fragility": _Step(fragility, ("item_tests",)),
    "verdicts": _Step(
        verdicts,
        ("item_tests", "equivalence", "score_panel", "floors_by_model", "wording_variance"),
    ),
}
# Of the others the margin changes nothing, so that they are not computed again for another one.
_OF_THE_MARGIN = ("equivalence", "score_panel", "verdicts")
# What others need, and no table of its own.
_BETWEEN = {"floors_by_model": _Step(floors_by_model), "other_kinds": _Step(other_kinds)}

# Those that compare nothing with English.
WITHOUT_ENGLISH = ("bbq_unknown", "fluency_icat")

TABLES = tuple(_STEPS)


@dataclass(frozen=True)
class Audit:
    """Every table of an audit, and what its numbers are of."""

    request: AuditRequest
    tables: dict[str, AuditTable]  # by the names of TABLES, in their order
    provenance: dict[str, object]
    warnings: tuple[str, ...] = ()  # what they rest on, where that is less than all
    only_pairs: bool = False  # sentence pairs in one language: nothing for an audit

    @property
    def simulated(self) -> bool:
        """Whether no model stands behind the scores."""
        return bool(self.provenance["simulated"])


def audit(cache: Cache, request: AuditRequest, names: Sequence[str] = ()) -> Audit:
    """These tables, or all, with what they are of.

    Raises
    ------
    InputError
        There is no table of one of these names, one of them needs English versions and there are
        none, or as `load_panel`.
    """
    check_names(names)
    state = state_of(cache, request)
    tables = {n: _table(cache, state, request, n) for n in dict.fromkeys(names or TABLES)}
    # What is remembered is handed out as a copy, so that nobody can change it.
    copies = {name: AuditTable(t.rows.copy(), t.notes) for name, t in tables.items()}
    facts = _facts(cache, state, request)
    panel = _panel(cache, state, request)
    return Audit(request, copies, dict(facts), panel.notes, panel.only_pairs)


def audit_tables(
    cache: Cache, request: AuditRequest, names: Sequence[str]
) -> dict[str, AuditTable]:
    """These tables alone, and of the others only what they are made from.

    Raises
    ------
    InputError
        As `audit`.
    """
    return audit(cache, request, names).tables


def audit_panel(cache: Cache, request: AuditRequest) -> Panel:
    """The scores that the tables are computed from; to be read, not changed.

    Raises
    ------
    InputError
        No item has an English version, or as `load_panel`.
    """
    return _in_english(_panel(cache, state_of(cache, request), request))


def check_names(names: Sequence[str]) -> None:
    """InputError where one of these is no table of an audit."""
    if unknown := [name for name in names if name not in TABLES]:
        raise InputError(
            f"The audit has no table {', '.join(unknown)}; choose from: {', '.join(TABLES)}."
        )


def state_of(cache: Cache, request: AuditRequest) -> State:
    """What changes whenever a result could: generations, and a slice's definition.

    Read again only after the cache was written to, as its stamp says without opening it.
    """
    return _state(cache, cache.stamp(), request.dataset, request.scorers, request.slice)


@lru_cache(maxsize=64)
def _state(
    cache: Cache, stamp: tuple[int, ...], dataset: str, scorer_ids: tuple[str, ...], named: str
) -> State:
    del stamp  # part of the key alone
    held = generations(cache, dataset, scorer_ids)
    chosen = get_slice(cache, dataset, named) if named else None
    return (*held.items(), chosen)


def _in_english(panel: Panel) -> Panel:
    """The panel, of which some item has an English version.

    Raises
    ------
    InputError
        None has one.
    """
    if not panel.has_english:
        raise InputError(
            f"No item of {panel.dataset} that was asked for has an English version (condition "
            f"{REFERENCE_CONDITION}), so there is nothing to compare with; "
            f"the tables {' and '.join(WITHOUT_ENGLISH)} need none."
        )
    return panel


def _panel(cache: Cache, state: State, request: AuditRequest) -> Panel:
    """The scores behind a request: the same ones for every kind, margin, seed and size."""
    plain = AuditRequest(dataset=request.dataset)
    asked = ("kind", "margin", "complete", "model_groups", "n_resamples", "n_bootstrap", "seed")
    return _loaded(cache, state, replace(request, **{name: getattr(plain, name) for name in asked}))


@lru_cache(maxsize=4)
def _loaded(cache: Cache, state: State, request: AuditRequest) -> Panel:
    del state  # part of the key alone
    return load_panel(cache, request)


@lru_cache(maxsize=8)
def _facts(cache: Cache, state: State, request: AuditRequest) -> dict[str, object]:
    """Which numbers these are: data set, models, options; whether no model stands behind them."""
    panel = _panel(cache, state, request)
    stored = datasets(cache)
    data = stored.set_index("dataset").loc[request.dataset]
    simulated = is_simulated(stored, scorers(cache), request.dataset, panel.scorers)
    held = generations(cache, request.dataset, panel.scorers)
    imported = import_facts(cache, request.dataset)
    facts: dict[str, object] = {
        "program": f"Stereoscope {VERSION}",
        "simulated": simulated,
        "dataset": request.dataset,
        "sha256": str(data["sha256"]),
        "note": str(data["note"]),
        "scorers": [
            {"scorer_id": scorer_id, "model": model, "generation": held.get(scorer_id, 0)}
            | imported.get(scorer_id, {})
            for scorer_id, model in zip(panel.scorers, panel.models, strict=True)
        ],
        "generation": held.get("", 0),
        "conditions": list(panel.conditions),
        "n_items": len(panel.items),
    }
    facts |= {k: v for k, v in asdict(request).items() if k not in ("scorers", "conditions")}
    return facts | {"model_groups": dict(request.model_groups)}


def _table(cache: Cache, state: State, request: AuditRequest, name: str) -> AuditTable:
    if name not in _OF_THE_MARGIN:
        request = replace(request, margin=AuditRequest.margin)
    return _computed(cache, state, request, name)


@lru_cache(maxsize=256)
def _computed(cache: Cache, state: State, request: AuditRequest, name: str) -> AuditTable:
    step = (_STEPS | _BETWEEN)[name]
    earlier = [_table(cache, state, request, needed) for needed in step.needs]
    also = (cache,) if step.reads_cache else ()
    panel = _panel(cache, state, request)
    if name not in WITHOUT_ENGLISH:
        panel = _in_english(panel)
    made = step.function(panel, request, *earlier, *also)
    return with_reasons(made, panel, request.kind)

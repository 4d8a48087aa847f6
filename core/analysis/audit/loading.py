"""Reading a panel from the cache: the versions and scores that a request asks for, arranged."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.audit.elsewhere import LEFT_OUT, source_notes, without_means
from core.analysis.audit.names import ONLY_PAIRS
from core.analysis.audit.panel import NUMBERS, Panel, is_plain, places
from core.analysis.audit.request import AuditRequest
from core.analysis.filtering import matching
from core.analysis.items import item_table
from core.analysis.overview import scorer_labels
from core.errors import InputError
from core.items.conditions import condition_rank, original_of, parse_condition
from core.selection import Selection
from core.settings import REFERENCE_CONDITION
from core.store.audit import item_versions, scored_with, scores_of
from core.store.gate import Cache
from core.store.imported_scores import score_imports
from core.store.pairs import has_pairs
from core.store.score_line import REST, score_line
from core.store.scorers import scorers
from core.store.slices import get_slice

REST_ELSEWHERE = "Import a file that has the rest to see them all."


def load_panel(cache: Cache, request: AuditRequest) -> Panel:
    """Read what a request asks for.

    Raises
    ------
    InputError
        There is no such data set or slice; nothing of it is scored, a scorer, a value or the
        reference that is asked for is not there, or two of the scorers are of one model.
    """
    versions = item_versions(cache, request.dataset)
    held = scored_with(cache, request.dataset)
    if not held:
        raise InputError(
            f"No item of {request.dataset} is scored yet; run "
            f"`{score_line(cache, request.dataset)}` first."
        )
    if missing := [s for s in request.scorers if s not in held]:
        raise InputError(f"{request.dataset} has no scores under {', '.join(missing)}.")
    known = scorers(cache)
    labels = scorer_labels(known)
    held, left_out = _with_means(cache, request, held, labels)
    chosen, notes = _one_per_model(request, held, known, labels)
    notes += left_out
    translations = _translations(versions)
    pairs = len(versions["condition"].unique()) == 1 and has_pairs(cache, request.dataset)
    versions = _wanted(cache, versions, request, chosen[0])
    versions["metadata"] = versions["metadata"].map(
        {text: _decoded(text) for text in versions["metadata"].unique()}
    )
    scored = scores_of(cache, request.dataset, chosen)
    keys = pd.MultiIndex.from_frame(versions[["item_id", "condition"]])
    scored = scored[pd.MultiIndex.from_frame(scored[["item_id", "condition"]]).isin(keys)]
    named = {s: labels[s] for s in chosen}
    elsewhere = source_notes(cache, request.dataset, named)
    unfinished = _unfinished(cache, request.dataset, versions, scored, named)
    notes = [*elsewhere, *unfinished, *notes]
    if pairs:
        notes = [*notes, ONLY_PAIRS.format(request.dataset)]
    models = tuple(labels[s] for s in chosen)
    panel = _arranged(request, versions, scored, chosen, models)
    asked = tuple(c for c in translations if request.conditions and c not in panel.conditions)
    return replace(panel, left_out=asked, only_pairs=pairs, notes=tuple(notes))


def one_per_model(known: pd.DataFrame, scorer_ids: Sequence[str]) -> dict[str, list[str]]:
    """Scorers of the same checkpoint, under the first of them: they are one model, not several.

    Parameters
    ----------
    known
        Of `scorers`: scorer_id and fingerprint.
    """
    checkpoint = known.set_index("scorer_id")["fingerprint"].to_dict()
    first: dict[str, str] = {}
    settings: dict[str, list[str]] = {}
    for scorer_id in dict.fromkeys(scorer_ids):
        # Without a fingerprint nothing says that two are the same.
        name = first.setdefault(checkpoint[scorer_id] or scorer_id, scorer_id)
        settings.setdefault(name, []).append(scorer_id)
    return settings


def _with_means(
    cache: Cache, request: AuditRequest, held: list[str], labels: dict[str, str]
) -> tuple[list[str], list[str]]:
    """The scorers with scores of the data set, and notes on those left out.

    Where none is named, imported ones without means stay out while others have some: a number over
    all models is over items that every model has scored.
    """
    without = without_means(cache, request.dataset)
    kept = [scorer_id for scorer_id in held if scorer_id not in without]
    if request.scorers or not kept:
        return held, []
    return kept, [LEFT_OUT.format(labels[s]) for s in held if s in without]


def _one_per_model(
    request: AuditRequest, held: list[str], known: pd.DataFrame, labels: dict[str, str]
) -> tuple[tuple[str, ...], list[str]]:
    """The scorers to compare, one of each model, and what is left out for that."""
    settings = one_per_model(known, request.scorers or held)
    notes = []
    for scorer_id, same in settings.items():
        if len(same) == 1:
            continue
        if request.scorers:
            names = " and ".join(f"{labels[s]} ({s[:8]})" for s in same)
            raise InputError(
                f"{names} are one model in several settings; name one of them, and see how far "
                "they differ with `python -m core compare`."
            )
        notes.append(
            f"{len(same)} scorers of one model: only {labels[scorer_id]} ({scorer_id[:8]}) is "
            "used; choose another with --scorer / Models."
        )
    return tuple(settings), notes


def _unfinished(
    cache: Cache,
    dataset: str,
    versions: pd.DataFrame,
    scored: pd.DataFrame,
    labels: dict[str, str],
) -> Iterator[str]:
    """One sentence per scorer that has neither a score nor a reason for some version.

    Versions behind a prefix belong to the positive control and are not counted.
    """
    imported = set(score_imports(cache)["scorer_id"])
    enter = ~versions["collapsed"] & ~versions["condition"].str.contains("+", regex=False)
    wanted = int(enter.sum())
    keys = pd.MultiIndex.from_frame(versions.loc[enter, ["item_id", "condition"]])
    for scorer_id, label in labels.items():
        rows = scored[scored["scorer_id"] == scorer_id]
        tried = pd.MultiIndex.from_frame(rows[["item_id", "condition"]]).isin(keys)
        if tried.sum() < wanted:
            n = int((tried & rows["is_scored"].to_numpy()).sum())
            line = REST.format(score_line(cache, dataset, scorer_id))
            rest = REST_ELSEWHERE if scorer_id in imported else line
            yield (
                f"{n:,} of {wanted:,} versions {'is' if n == 1 else 'are'} scored under {label}; "
                f"the numbers are of these alone. {rest}"
            )


def _translations(versions: pd.DataFrame) -> list[str]:
    """The languages of the data set that its items are translated into."""
    names = sorted(versions.loc[~versions["native"], "condition"].unique(), key=condition_rank)
    return [c for c in names if c != REFERENCE_CONDITION and is_plain(c)]


def _arranged(
    request: AuditRequest,
    versions: pd.DataFrame,
    scored: pd.DataFrame,
    chosen: tuple[str, ...],
    models: tuple[str, ...],
) -> Panel:
    twins = versions[~versions["native"]]
    english = twins[twins["condition"] == REFERENCE_CONDITION]
    if english.empty:  # a few tables compare nothing with it
        english = twins.drop_duplicates("item_id")
    conditions = tuple(sorted(twins["condition"].unique(), key=condition_rank))
    if request.reference not in (*conditions, REFERENCE_CONDITION):
        raise InputError(
            f"The reference {request.reference} is not among the conditions asked for: "
            f"{', '.join(conditions)}."
        )
    items = english[["item_id", "source", "category", "dimension"]].reset_index(drop=True)
    axes = {"condition": conditions, "item_id": items["item_id"].tolist()}
    at, known = places(twins, axes)
    points = {}
    for suffix in ("stereotype", "anti"):
        points[suffix] = np.full((len(conditions), len(items)), np.nan)
        points[suffix][at] = twins[f"points_{suffix}"].to_numpy()[known]
    pairs = scored.merge(twins[["item_id", "condition"]], on=["item_id", "condition"])
    at, known = places(pairs, {"scorer_id": chosen, **axes})
    numbers = {}
    for name in NUMBERS:
        numbers[name] = np.full((len(chosen), len(conditions), len(items)), np.nan)
        numbers[name][at] = pairs[name].to_numpy(np.float64)[known]
    return Panel(
        request.dataset, chosen, models, conditions, items, numbers, points, versions, scored
    )


def _wanted(
    cache: Cache, versions: pd.DataFrame, request: AuditRequest, scorer_id: str
) -> pd.DataFrame:
    """The rows of the items and conditions that were asked for."""
    if request.conditions:
        if unknown := set(request.conditions) - set(versions["condition"]):
            raise InputError(
                f"{request.dataset} has no condition {', '.join(sorted(unknown))}; it has "
                f"{', '.join(versions['condition'].unique())}."
            )
        wanted = {REFERENCE_CONDITION, *request.conditions}
        # The yardstick of every gap is always there.
        reworded = versions["condition"].map(_rewords_english).astype(np.bool_)
        versions = versions[versions["condition"].isin(wanted) | reworded]
    for field, column in (
        ("sources", "source"),
        ("categories", "category"),
        ("dimensions", "dimension"),
    ):
        if values := getattr(request, field):
            if unknown := set(values) - set(versions[column]):
                raise InputError(
                    f"{request.dataset} has no {column} {', '.join(sorted(unknown))}; it has "
                    f"{', '.join(v for v in versions[column].unique() if v) or 'none at all'}."
                )
            versions = versions[_of_item(versions, column).isin(values)]
    if request.slice:
        ids = _slice_items(cache, request.dataset, request.slice, scorer_id)
        versions = versions[versions["item_id"].isin(ids)]
        if versions.empty:
            raise InputError(f"No item of {request.dataset} is in the slice {request.slice!r}.")
    return versions.reset_index(drop=True)


def _of_item(versions: pd.DataFrame, column: str) -> pd.Series[Any]:
    """A value of each row's item: that of its English version, for natives and the rest its own."""
    twins = versions[~versions["native"]]
    english = twins[twins["condition"] == REFERENCE_CONDITION].set_index("item_id")[column]
    of_english = versions["item_id"].map(english).mask(versions["native"])
    return of_english.fillna(versions[column])


def _slice_items(cache: Cache, dataset: str, name: str, scorer_id: str) -> set[str]:
    """Ids of a slice's items: its list, or those of which its filter leaves a row.

    A filter on scores looks at those of the first scorer.
    """
    if listed := get_slice(cache, dataset, name).item_ids:
        return set(listed)
    table = item_table(cache, scorer_id, dataset, texts=False)
    selection = Selection(dataset=dataset, scorer=scorer_id, slice=name)
    return set(table["item_id"].iloc[matching(cache, table, selection).positions])


def _rewords_english(condition: str) -> bool:
    parts = parse_condition(condition)
    return original_of(condition) == REFERENCE_CONDITION and bool(parts.rewording)


def _decoded(metadata: str) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(metadata)
    return decoded

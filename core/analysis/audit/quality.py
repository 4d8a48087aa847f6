"""How good translations and rewordings are said to be, and what that has to do with the drop.

After "Lost in Translation" (arXiv 2610.20479), the section on translation quality. What is known of
a version stands in its metadata; nothing is judged here. Letters: M models, K conditions, N items.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.columns import ends
from core.analysis.audit.names import ALIKE_DROPS, FEW_ITEMS, ONE_ITEM
from core.analysis.audit.panel import Panel
from core.analysis.audit.quality_filters import SIMILAR, Known, known_of, masks_of
from core.analysis.audit.request import AuditRequest, AuditTable
from core.items.metadata import BLANK_SURVIVED, JUDGMENT, JUDGMENTS, SIMILARITY
from core.stats.association import resampled_sums
from core.stats.intervals import percentile_interval
from core.stats.known import mean_of
from core.stats.levels import LEAST_ITEMS

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Objects = npt.NDArray[np.object_]

ALL_LANGUAGES = "all languages"  # each with equal weight; never a condition
NO_METADATA = "No version has {} in its metadata."
EVERY_ROW = "Every row passes, so there is nothing to reduce the drop."
_COLUMNS = (
    *("kind", "condition", "source", "group", "n", "n_total", "share", "similarity"),
    *("n_languages", "n_rows", "n_items", "drop_rows", "drop_rows_low", "drop_rows_high"),
    "drop_rows_unfiltered",
    *("reduction", "reduction_low", "reduction_high", "n_undefined", "n_bootstrap", "reason"),
)


@dataclass(frozen=True)
class _Cell:
    """Rows of which the drop is computed, against all that could have been chosen."""

    kind: str  # "judgment" or "filter"
    condition: str
    source: str
    group: str
    chosen: Mask  # (M, N)
    known: Mask  # (M, N)
    n: int  # chosen: versions of a judgment, rows of a filter
    n_total: int  # known


def quality(panel: Panel, request: AuditRequest) -> AuditTable:
    """Judgments and similarity of versions, and what the drop is among the good ones.

    Returns
    -------
    AuditTable
        `kind` says what a row is of.

        "judgment": `n` of the `n_total` judged translations of a language (and of a source, "" for
        all) are judged as `group`; `drop_rows` is the mean of score_en - score over their `n_rows`
        model x item: a model counts by how many items it has scored.

        "similarity": `n` of the `n_total` versions whose similarity is known reach 0.8, and
        `similarity` is the mean; of rewordings too.

        "filter": `n` of the `n_total` rows that it can decide pass; `drop_rows_unfiltered` is the
        drop among all of them, `drop_rows` among those that pass, `reduction` how much smaller it
        is.

        Condition "all languages" gives each language equal weight: `share` is the mean of the
        shares of those with known rows, and the drops are means over the `n_languages` with chosen
        ones; `n` and `n_total` are sums.
        Intervals are 95 % percentiles over items, all numbers from the same draws.
    """
    known = known_of(panel)
    scored = np.isfinite(panel.changes(request.kind))  # (M, K, N)
    cells = [*_judgment_cells(panel, scored, known), *_filter_cells(panel, scored, known)]
    rows = _drop_rows(panel, request, cells) + _similarity_rows(panel, known)
    return AuditTable(
        pd.DataFrame(rows, columns=list(_COLUMNS)), (*_notes(known), *panel.no_languages)
    )


def _judgment_cells(panel: Panel, scored: Mask, known: Known) -> Iterator[_Cell]:
    """Translations of each language and source that are judged alike."""
    of_item = panel.items["source"].to_numpy()
    for source in _sources(panel):
        words = np.where((of_item == source) | (source == ""), known.judged, "")  # (K, N)
        translated = [panel.at(language) for language in panel.languages]
        for word in _in_order(words[translated]):
            for language, k in zip(panel.languages, translated, strict=True):
                judged, chosen = words[k] != "", words[k] == word
                if judged.any():
                    rows = scored[:, k] & chosen, scored[:, k] & judged
                    n = int(chosen.sum()), int(judged.sum())
                    yield _Cell("judgment", language, source, word, *rows, *n)


def _filter_cells(panel: Panel, scored: Mask, known: Known) -> Iterator[_Cell]:
    """Rows that pass each filter, of those that it can decide."""
    for name, masks in masks_of(known).items():
        passes, decided = (mask & scored for mask in masks)
        for language in panel.languages:
            k = panel.at(language)
            if decided[:, k].any():
                n = int(passes[:, k].sum()), int(decided[:, k].sum())
                yield _Cell("filter", language, "", name, passes[:, k], decided[:, k], *n)


def _drop_rows(panel: Panel, request: AuditRequest, cells: list[_Cell]) -> list[dict[str, Any]]:
    """A row per cell, and after the languages' of a group one of all languages."""
    if not cells:
        return []
    changes = panel.changes(request.kind)
    sums = np.stack([_sums(changes[:, panel.at(cell.condition)], cell) for cell in cells])
    drawn = resampled_sums(sums, n_resamples=request.n_bootstrap, rng=request.rng("quality"))
    drops, draws = _drops(sums.sum(axis=-1)), _drops(drawn)  # (cells, 2), (cells, 2, R)
    groups: dict[tuple[str, str, str], list[int]] = {}
    for at, cell in enumerate(cells):
        groups.setdefault((cell.kind, cell.source, cell.group), []).append(at)
    rows = []
    for members in groups.values():
        rows += [_drop_row([cells[at]], drops[[at]], draws[[at]], request) for at in members]
        if len(panel.languages) > 1:
            row = _drop_row([cells[at] for at in members], drops[members], draws[members], request)
            rows.append(row | {"condition": ALL_LANGUAGES})
    return rows


def _drop_row(
    cells: list[_Cell], drops: Array, draws: Array, request: AuditRequest
) -> dict[str, Any]:
    """Drop among the chosen rows, averaged over the cells that have some."""
    there = [at for at, cell in enumerate(cells) if cell.chosen.any()]
    n, n_total = sum(cell.n for cell in cells), sum(cell.n_total for cell in cells)
    n_items = _n_items([cells[at].chosen for at in there])
    drop, before = drops[there].mean(axis=0) if there else (np.nan, np.nan)
    drawn = draws[there].mean(axis=0) if there else np.full((2, request.n_bootstrap), np.nan)
    own = percentile_interval(float(drop), drawn[0], n_items)
    first = cells[0]
    row = {
        "kind": first.kind,
        "condition": first.condition,
        "source": first.source,
        "group": first.group,
        "n": n,
        "n_total": n_total,
        "share": mean_of([cell.n / cell.n_total for cell in cells if cell.n_total]),
        "n_languages": len(there),
        "n_rows": int(sum(cells[at].chosen.sum() for at in there)),
        "n_items": n_items,
        **ends("drop_rows", own),
        "n_undefined": own.n_undefined,
        "n_bootstrap": request.n_bootstrap,
        "reason": "" if math.isfinite(own.low) else _why(n_items),
    }
    if first.kind == "filter":
        known = _n_items([cells[at].known for at in there])
        less = percentile_interval(float(before - drop), drawn[1] - drawn[0], known)
        row |= {"drop_rows_unfiltered": before, **ends("reduction", less)}
        if not row["reason"] and math.isnan(less.low):
            row["reason"] = FEW_ITEMS if known < LEAST_ITEMS else EVERY_ROW
    return row


def _n_items(masks: list[Mask]) -> int:
    """Items with a row in one of the masks, (M, N) each."""
    return int(np.any([mask.any(axis=0) for mask in masks], axis=0).sum()) if masks else 0


def _why(n_items: int) -> str:
    if n_items == 0:
        return "No such row is scored in both versions."
    if n_items == 1:
        return ONE_ITEM
    return FEW_ITEMS if n_items < LEAST_ITEMS else ALIKE_DROPS


def _sums(changes: Array, cell: _Cell) -> Array:
    """What each item adds to the drops among chosen and known rows: sum and number. (2, 2, N)"""
    filled = -np.nan_to_num(changes)
    return np.stack(
        [[(filled * rows).sum(axis=0), rows.sum(axis=0)] for rows in (cell.chosen, cell.known)]
    )


def _drops(sums: Array) -> Array:
    """Means from sums and numbers. (cells, 2, 2, ...) -> (cells, 2, ...)"""
    total, n = sums[:, :, 0], sums[:, :, 1]
    return np.asarray(np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0))


def _similarity_rows(panel: Panel, known: Known) -> list[dict[str, Any]]:
    """Similarity of translations and rewordings with what they were made from."""
    of_item = panel.items["source"].to_numpy()
    rows = []
    for condition, similarity in zip(panel.conditions, known.similarity, strict=True):
        for source in _sources(panel):
            own = similarity[((of_item == source) | (source == "")) & ~np.isnan(similarity)]
            if len(own):
                n = int((own >= SIMILAR).sum())
                rows.append(
                    {
                        "kind": "similarity",
                        "condition": condition,
                        "source": source,
                        "group": f"similarity >= {SIMILAR}",
                        "n": n,
                        "n_total": len(own),
                        "share": n / len(own),
                        "similarity": float(own.mean()),
                        "n_items": len(own),
                        "reason": "",
                    }
                )
    return rows


def _notes(known: Known) -> tuple[str, ...]:
    missing = {
        JUDGMENT: not (known.judged != "").any(),
        SIMILARITY: not np.isfinite(known.similarity).any(),
        BLANK_SURVIVED: not np.isfinite(known.survived).any(),
    }
    notes = [NO_METADATA.format(name) for name, none in missing.items() if none]
    if others := sorted(set(known.judged.ravel()) - {"", *JUDGMENTS}):
        notes.append(
            f"Judgments that are none of {', '.join(JUDGMENTS)} stand under their own name: "
            f"{', '.join(others)}."
        )
    return tuple(notes)


def _sources(panel: Panel) -> list[str]:
    """All together, and each where there are several."""
    named = [str(s) for s in pd.unique(panel.items["source"]) if s]
    return ["", *named] if len(named) > 1 else [""]


def _in_order(words: Objects) -> list[str]:
    found = set(words.ravel().tolist()) - {""}
    return [w for w in JUDGMENTS if w in found] + sorted(found - set(JUDGMENTS))

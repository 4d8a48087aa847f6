"""Pieces of the Carry-over page: what is compared, the scatter, and the items taken from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, cast

import pandas as pd
import streamlit as st

from core.analysis.audit.audit import Audit, audit, audit_panel
from core.analysis.audit.columns import neutral_score
from core.analysis.audit.kept import CARRIES, CAUTION, LESS, TURNED, UNDECIDED, UNDEFINED
from core.analysis.audit.names import ALL_MODELS
from core.analysis.audit.points import (
    MEAN,
    FittedLine,
    Points,
    ceiling_line,
    fitted_line,
    points,
    versions,
)
from core.analysis.audit.request import AuditRequest, AuditTable
from core.figures.carry_over import carry_scatter
from core.figures.fates import fate_bars
from core.figures.slopes import slope_dots
from core.figures.theme import Figure
from core.items.conditions import language_of
from core.languages import language_name
from core.selection import Selection
from core.store.gate import Cache
from core.store.slices import Slice
from core.words import counted
from pages.shared import state
from pages.shared.absent import say_absent
from pages.shared.data import Stamp, open_cache
from pages.shared.figures import literal, selected_points, show_figure
from pages.shared.slice_form import save_form, saved_words
from pages.shared.tables import show_frame

Key = tuple[Cache, Stamp, AuditRequest]

SCATTER = "carry-over"
TAKEN_COLUMNS: dict[str, Any] = {
    "item_id": st.column_config.TextColumn("Item", pinned=True),
    "category": "Category",
    "before": st.column_config.NumberColumn("Before", format="%.3f"),
    "after": st.column_config.NumberColumn("After", format="%.3f"),
    "change": st.column_config.NumberColumn("Change", format="%+.3f"),
}
CLICK, DRAW = "A click opens the item", "Draw around items"
ITEMS_PAGE = "pages/items.py"
_TAKEN, _OPENED, _SAVED = "carry-over-taken", "carry-over-opened", "carry-over-saved"
READS = {
    LESS: (":material/trending_down:", "violet"),
    TURNED: (":material/swap_vert:", "violet"),
    CARRIES: (":material/trending_flat:", "blue"),
    UNDECIDED: (":material/question_mark:", "gray"),
    UNDEFINED: (":material/block:", "gray"),
}
CHOSEN_BY_SCORE = (
    "These items were chosen by their scores. Look at them one by one; a test on them would find "
    "again what they were chosen for."
)


@dataclass(frozen=True)
class Taken:
    """Items that the reader has drawn around."""

    dataset: str
    condition: str
    item_ids: tuple[str, ...]


def taken_items(found: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Item and scorer of the points of a selection, each pair once, in the points' order.

    Whatever has no item id in its customdata is a line, and left out.
    """
    pairs = [tuple(map(str, p["customdata"][:2])) for p in found if p.get("customdata")]
    return [(item, scorer) for item, scorer in dict.fromkeys(pairs)]


def what_was_done(found: Iterable[Mapping[str, Any]], *, drawn: bool) -> tuple[str, list[Any]]:
    """What a change of a chart's selection means: some are taken, one is opened, or nothing."""
    pairs = taken_items(found)
    if not pairs:
        return "nothing", []
    if drawn:
        return "taken", list(dict.fromkeys(item for item, _ in pairs))
    return "opened", [pairs[-1]]


def version_name(condition: str) -> str:
    """A condition for a person: Hindi (hi), English reworded (en~p1)."""
    reworded = " reworded" if "~" in condition else ""
    return f"{language_name(language_of(condition))}{reworded} ({condition})"


def choose_version(selection: Selection, found: Audit) -> Selection:
    """The version that is held against its original, whose points, and which versions count.

    Ends the page where items are in English alone.
    """
    held = versions(cast(list[str], found.provenance["conditions"]))
    scorers = cast(list[dict[str, str]], found.provenance["scorers"])
    models = {one["scorer_id"]: one["model"] for one in scorers}
    quality = found.tables["quality"].rows
    if not held:
        st.info(
            f"The items of {literal(selection.dataset)} are scored in English alone, without a "
            "translation or rewording, so there is nothing to carry over.",
            icon=":material/info:",
        )
        st.stop()
    against = selection.against if selection.against in held else held[0]
    whose = ["", MEAN, *models] if len(models) > 1 else [""]
    own = selection.points if selection.points in whose else ""
    filters = quality[(quality["kind"] == "filter") & (quality["condition"] == against)]
    names = ["", *filters["group"]]
    passing = selection.quality if selection.quality in names else ""
    for name, known in (("against", held), ("points", whose), ("quality", names)):
        say_absent(name, known)
    labels = {"": "every score", MEAN: "means of items over models"} | models
    left, middle, right = st.columns([2, 3, 3])
    state.show_field("against", against)
    left.selectbox(
        "Held against its original", held, format_func=version_name, **state.bound("against")
    )
    state.show_field("points", own)
    middle.selectbox(
        "Points",
        whose,
        format_func=labels.__getitem__,
        disabled=len(whose) == 1,
        help="Every score: one point for each item under each model. The fitted line is theirs.",
        **state.bound("points"),
    )
    state.show_field("quality", passing)
    right.selectbox(
        "Versions that count in the scatter",
        names,
        format_func=lambda name: name or "all",
        disabled=len(names) == 1,
        help="What the drop is among them stands under Translation quality.",
        **state.bound("quality"),
    )
    return replace(selection, against=against, points=own, quality=passing)


def show_sentence(table: AuditTable, against: str) -> None:
    """What is kept in the language looked at, and what that does not show."""
    own = table.rows[table.rows["condition"] == against]
    st.caption(f"Shown: {literal(version_name(against))}; another version can be chosen above.")
    if len(own):
        st.markdown(_lines(own))
    st.markdown(f"**{CAUTION}**")
    for note in table.notes:
        st.caption(f":material/info: {note}")


def show_others(table: AuditTable, against: str) -> None:
    """The same sentence for every other language."""
    others = table.rows[table.rows["condition"] != against]
    if len(others):
        every = len(others) == len(table.rows)  # a rewording is looked at, which has no sentence
        label = f"{'All' if every else 'The other'} languages ({len(others)})"
        with st.expander(label, expanded=every, icon=":material/translate:"):
            st.markdown(_lines(others))


def _lines(rows: pd.DataFrame) -> str:
    lines = []
    for row in rows.to_dict("records"):
        icon, colour = READS[str(row["reads"])]
        lines.append(f"- :{colour}-badge[{icon} {row['reads']}] {literal(str(row['sentence']))}")
    return "\n".join(lines)


def open_what_was_clicked(selection: Selection) -> None:
    """Go to the item whose point was clicked, if one was; before anything of the page is drawn."""
    if (clicked := st.session_state.pop(_OPENED, None)) is None:
        return
    item, scorer = clicked
    scorer = scorer or (selection.models[0] if len(selection.models) == 1 else selection.scorer)
    state.change(item=item, condition=selection.against, scorer=scorer)
    st.switch_page(ITEMS_PAGE)


def show_scatter(selection: Selection, found: Audit) -> None:
    """The scatter with its lines; what is drawn around goes to the list beside it."""
    of, passing = selection.points, selection.quality
    modes = (CLICK, DRAW)
    mode = st.segmented_control(
        "On the scatter", modes, default=CLICK, required=True, key="carry-over-mode"
    )
    of_figure = selection.against, of, passing, mode == DRAW
    shown, fitted, figure = _scatter(_key(found), *of_figure)
    if not shown.n:
        what = version_name(selection.against)
        st.info(f"No item has a score in {literal(what)} and in its original that counts here.")
        return
    left, right = st.columns([3, 2])
    with left:
        if selection.kind == "binary":
            st.caption("Choices are 0 or 1 (½ on a tie), so points lie on top of each other.")
        if fitted is not None and _of_others(fitted.model, fitted.group, selection):
            st.caption(
                ":material/info: The table has no line of these points alone; the one shown is of "
                "all models and versions."
            )
        show_figure(
            figure,
            SCATTER,
            found.provenance,
            table=shown.rows,
            on_select=lambda: _selected(selection.dataset, selection.against),
        )
    with right:
        _show_taken(selection, found.request)


def show_slopes(found: Audit) -> None:
    """The slopes of all languages beside the ceiling."""
    figure, rows = _slopes(_key(found))
    if len(rows):
        show_figure(figure, "slopes", found.provenance, table=rows)


def show_fates(found: Audit, against: str) -> None:
    """What became of clear preferences in all languages, and in the version looked at."""
    figure, rows = _fates(_key(found), against if "~" in against else "")
    if (rows["n_above"].fillna(0) + rows["n_below"].fillna(0)).sum():
        show_figure(figure, "fates", found.provenance, table=rows)


def _key(found: Audit) -> Key:
    cache = open_cache()
    return cache, cache.stamp(), found.request


# Figures are made once for each state of the cache's file; showing one copies it.


@lru_cache(maxsize=16)
def _scatter(
    key: Key, condition: str, of: str, passing: str, drawing: bool
) -> tuple[Points, FittedLine | None, Figure]:
    cache, _, request = key
    association = audit(cache, request, ["association"]).tables["association"].rows
    shown = points(audit_panel(cache, request), request, condition, of=of, passing=passing)
    fitted = fitted_line(association, condition, of=of, passing=passing)
    figure = carry_scatter(
        shown,
        fitted,
        ceiling_line(association, condition, of=of),
        neutral=neutral_score(request),
        of=of,
        passing=passing,
        dataset=request.dataset,
        drawing=drawing,
    )
    return shown, fitted, figure


@lru_cache(maxsize=16)
def _slopes(key: Key) -> tuple[Figure, pd.DataFrame]:
    cache, _, request = key
    rows = audit(cache, request, ["association"]).tables["association"].rows
    whole = rows[rows["group_kind"] == "all"]
    return slope_dots(whole, dataset=request.dataset), whole


@lru_cache(maxsize=16)
def _fates(key: Key, reworded: str) -> tuple[Figure, pd.DataFrame]:
    cache, _, request = key
    rows = audit(cache, request, ["fates"]).tables["fates"].rows
    rows = rows[(rows["condition"] == reworded) | ~rows["condition"].str.contains("~")]
    return fate_bars(rows), rows


def _of_others(model: str, group: str, selection: Selection) -> bool:
    """Whether the fitted line is of more than the points."""
    single = selection.points not in ("", MEAN)
    return (single and model == ALL_MODELS) or bool(selection.quality and not group)


def _selected(dataset: str, condition: str) -> None:
    """Copy the chart's selection at once: it vanishes when the figure changes."""
    found, drawn = selected_points(SCATTER)
    done, what = what_was_done(found, drawn=drawn)
    if done == "taken":
        st.session_state[_TAKEN] = Taken(dataset, condition, tuple(what))
        st.session_state.pop(_SAVED, None)
    elif done == "opened":
        st.session_state[_OPENED] = what[0]


def _show_taken(selection: Selection, request: AuditRequest) -> None:
    """The items drawn around, and the way to keep them."""
    st.markdown("**Items taken**")
    taken: Taken | None = st.session_state.get(_TAKEN)
    if taken is None or taken.dataset != selection.dataset:
        st.caption(
            f"Choose “{DRAW}” above the chart and draw around points: their items are listed here "
            "and can be kept as a slice. A link carries a slice, not what is only drawn around."
        )
        return
    panel = audit_panel(open_cache(), request)
    # One line an item, whatever the points are: the mean over models where there are several.
    of = selection.points or (MEAN if len(panel.scorers) > 1 else "")
    found = points(panel, request, selection.against, of=of, items=taken.item_ids)
    rows = found.rows.sort_values("change", key=abs, ascending=False, kind="stable")
    height = min(390, 38 + 35 * max(len(rows), 1))
    show_frame(rows[list(TAKEN_COLUMNS)], TAKEN_COLUMNS, height)
    named = f" ({rows['model'].iloc[0]})" if len(rows) else ""
    st.caption(f"{counted(len(rows), 'item')}{literal(named)}, largest change first")
    if missing := len(taken.item_ids) - found.n_items:
        st.caption(f"{missing:,} of the {len(taken.item_ids):,} items taken have no score here.")
    st.caption(f":material/info: {CHOSEN_BY_SCORE}")
    _keep(selection, taken)


def _keep(selection: Selection, taken: Taken) -> None:
    """Save the items as a slice, and show them on Items."""

    def new(name: str) -> Slice:
        return Slice(name, selection.dataset, "", taken.item_ids)

    def after(saved: Slice) -> None:
        st.session_state[_SAVED] = saved.name

    save_form("carry-over-slice", "Name of the slice", new, after, button="Save as slice")
    if st.button("Take none"):
        del st.session_state[_TAKEN]
        st.rerun()
    if saved := st.session_state.get(_SAVED):
        st.success(saved_words(saved, len(taken.item_ids)))
        if st.button("Show them on Items", icon=":material/list_alt:"):
            state.change(slice=saved, item="", condition=selection.against)
            st.switch_page(ITEMS_PAGE)

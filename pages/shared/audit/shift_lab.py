"""The parts of the shift lab: a shift by hand, many runs, items needed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.audit.injection import FIXED, shifted_kind
from core.analysis.audit.lab import Lab
from core.analysis.audit.lab_plan import N_RUNS, TARGETS, Change, needed, runs
from core.analysis.audit.lab_shift import ALL_PAIRS, LARGEST, Injected, Shift, inject
from core.analysis.audit.names import POOLED
from core.analysis.audit.request import AuditRequest, AuditTable, margin_of
from core.analysis.audit.words import lowered, p_number, signed
from core.errors import InputError
from core.figures.detection import detection_curves, items_for_shifts
from core.figures.shift import before_and_after
from core.selection import BOUNDS, Selection
from core.words import counted
from pages.shared import state
from pages.shared.audit.audit import KIND_WORDS, VERDICT_COLOURS, VERDICT_ICONS
from pages.shared.audit.shift_lab_columns import (
    CURVE_COLUMNS,
    NEEDED_COLUMNS,
    PAIR_COLUMNS,
    POWER_COLUMNS,
)
from pages.shared.data import read_item_facets
from pages.shared.figures import literal, show_figure
from pages.shared.tables import condition_name, show_table

STEP = 0.05  # of both sliders
SECONDS_AT_A_TIME = 0.35  # of runs, between two looks at the Stop button
_RUN = "lab-run"


def choose_shift(selection: Selection, lab: Lab) -> tuple[Selection, Shift]:
    """Pair, size, share and subgroup of the shift."""
    labels = {
        row["pair"]: f"{row['short']} · {row['condition']}" for row in lab.pairs.to_dict("records")
    }
    labels[ALL_PAIRS] = f"all of {counted(len(lab.pairs), 'pair')}"
    pair = selection.shifted if selection.shifted in labels else next(iter(labels))
    counts = lab.items["category"].value_counts()
    groups = ["", *(c for c in read_item_facets(selection.dataset)["categories"])]
    if selection.subgroup not in groups:
        groups.append(selection.subgroup)
    left, right = st.columns([3, 2])
    state.show_field("shifted", pair)
    left.selectbox(
        "Pair that gets the shift", list(labels), format_func=labels.__getitem__,
        **state.bound("shifted"),
    )  # fmt: skip
    state.show_field("subgroup", selection.subgroup)
    right.selectbox(
        "Subgroup",
        groups,
        format_func=lambda c: f"{c} ({counts.get(c, 0):,} items)" if c else "all categories",
        **state.bound("subgroup"),
    )
    left, right = st.columns([3, 2])
    delta = _settable("delta", selection.delta, -LARGEST, LARGEST)
    share = _settable("share", selection.share, STEP, 1.0)
    state.show_field("delta", delta)
    left.slider(
        "Shift δ of the log-odds of the reworded items (nats)", -LARGEST, LARGEST, step=STEP,
        format="%+.2f", help="Added to l(stereotype) − l(anti-stereotype) of every shifted item",
        **state.bound("delta"),
    )  # fmt: skip
    state.show_field("share", share)
    right.slider(
        "Share of its items", STEP, 1.0, step=STEP, format="percent", **state.bound("share")
    )
    asked = Shift(selection.shifted or pair, delta, share, selection.subgroup)
    return replace(selection, shifted=pair, delta=delta, share=share), asked


def _settable(name: str, value: float, low: float, high: float) -> float:
    """The value that the slider of a field can stand on, with a word where it is another."""
    found = round(min(max(STEP * round(value / STEP), low), high), 2)
    if abs(found - value) > 1e-9:
        st.warning(
            f"The link asks for a {name} of {value:g}. The slider goes from {low:g} to {high:g} in "
            f"steps of {STEP:g}, so {found:g} is used.",
            icon=":material/link_off:",
        )
    return found


def show_injection(
    lab: Lab, shift: Shift, margin: float, provenance: Mapping[str, object]
) -> Injected:
    """The shift, the verdict before and after, the picture, and the whole family."""
    found = inject(lab, shift, margin)
    row = found.shown
    for problem in found.problems:
        st.warning(literal(problem), icon=":material/info:")
    cards = st.columns(4)
    cards[0].metric("Shift put in (score)", signed(row["put_in"]))
    cards[1].metric("Items that get it", f"{row['n_shifted']:,} of {row['n']:,}")
    cards[2].metric("p", p_number(row["pvalue"]), help="Sign-flip test of the shown pair by itself")
    cards[3].metric(f"q over {counted(int(row['n_tests']), 'pair')}", p_number(row["qvalue"]))
    before = _badge(row["verdict_before"])
    became = f"before {before} → after {_badge(row['verdict'])}"
    st.markdown(f"**{literal(found.headline)}** {became if shift.delta else f'As it is: {before}'}")
    if row["n_at_edge"]:
        st.caption(
            f":material/info: {row['n_at_edge']:,} of {row['n_shifted']:,} shifted items end "
            "within 0.01 of 0 or 1, where there is no room left: there the same δ moves a score by "
            "less."
        )
    if not row["n"]:
        st.caption(literal(found.sentence))
    else:
        show_figure(
            before_and_after(row, found.items, found.sentence),
            "shift-before-after",
            {**provenance, **asdict(found.shift)},
            table=found.items,
            alt="Mean change of the pair and changes of its items, before and after the shift",
        )
    with st.expander("Every pair with the shift", icon=":material/table_rows:"):
        st.caption(
            "A pair that nothing was put in keeps its p and gets another q, because the family "
            "is adjusted together. Pairs found without a shift are what these rewordings do."
        )
        show_table(AuditTable(found.rows, lab.notes), PAIR_COLUMNS, "shift-pairs")
    return found


def show_runs(lab: Lab, shift: Shift, now: float, provenance: Mapping[str, object]) -> None:
    """200 runs of each size, with a progress bar and a Stop that keeps what is known.

    They go on in short steps, so that the page stays alive.
    """
    scores = str((provenance["generation"], provenance["scorers"]))
    key = (lab.request, scores, shift.share, shift.subgroup, shift.delta < 0)
    mine = _runs_of(key)
    going = bool(mine and mine["going"])

    def panel() -> None:
        mine = _runs_of(key)
        if bool(mine and mine["going"]) != going:
            st.rerun()  # the whole page, to start or stop the clock
        with st.container(horizontal=True, vertical_alignment="center"):
            if mine and mine["going"]:
                st.button("Stop", icon=":material/stop:", on_click=_go, args=[False])
            elif mine and mine["left"] is not None:
                st.button("Go on", icon=":material/play_arrow:", on_click=_go, args=[True])
            else:
                st.button(
                    f"Run {N_RUNS}", icon=":material/play_arrow:",
                    on_click=_start, args=[key, lab, shift],
                )  # fmt: skip
            bar = st.empty()
        if not mine:
            return
        if mine["problem"]:
            st.error(literal(mine["problem"]), icon=":material/error:")
        if mine["going"]:
            _take_steps(mine)
        if mine["points"] is not None:
            done = int(mine["points"]["n_runs"].max())
            stopped = "" if going or done == N_RUNS else ", stopped"
            bar.progress(done / N_RUNS, text=f"{done} of {N_RUNS} runs{stopped}")
            _show_curves(mine["points"], lab, now, provenance)
        if mine["going"] != going:
            st.rerun()

    st.fragment(panel, run_every=0.1 if going else None)()


def _runs_of(key: tuple[object, ...]) -> dict[str, Any] | None:
    """The runs of this key that were started in this tab: how far they are, what is left."""
    held: dict[str, Any] | None = st.session_state.get(_RUN)
    return held if held and held["key"] == key else None


def _take_steps(mine: dict[str, Any]) -> None:
    """Some more runs; the last of them ends the work."""
    began = time.perf_counter()
    left: Iterator[AuditTable] = mine["left"]
    while time.perf_counter() - began < SECONDS_AT_A_TIME:
        table = next(left, None)
        if table is None:
            mine.update(going=False, left=None)
            return
        mine["points"] = table.rows


def _start(key: tuple[object, ...], lab: Lab, shift: Shift) -> None:
    mine: dict[str, Any] = {"key": key, "going": True, "points": None, "problem": "", "left": None}
    try:
        mine["left"] = runs(lab, shift)
    except InputError as error:
        mine.update(going=False, problem=str(error))
    st.session_state[_RUN] = mine


def _go(going: bool) -> None:
    st.session_state[_RUN]["going"] = going


def _show_curves(
    points: pd.DataFrame, lab: Lab, now: float, provenance: Mapping[str, object]
) -> None:
    show_figure(
        detection_curves(points, now, n_wanted=N_RUNS, seed=lab.request.seed),
        "detection-curves",
        provenance,
        table=points,
        alt="Detection, flags among the rest and exaggeration over the size of the shift",
    )
    st.caption(f":material/info: {FIXED}")
    with st.expander("The numbers of the curves", icon=":material/table_rows:"):
        show_table(AuditTable(points), CURVE_COLUMNS, "detection-curves")


def show_needed(
    found: Injected, power: AuditTable, request: AuditRequest, provenance: Mapping[str, object]
) -> None:
    """How many items a shift takes, and how many its absence."""
    state.show_field("margin", request.margin)
    left, right = st.columns([1, 3])
    left.number_input(
        "Margin of equivalence", *BOUNDS["margin"], step=0.005, format="%.3f",
        help="Shifts within it are too small to matter. Fix it before looking at the data.",
        **state.bound("margin"),
    )  # fmt: skip
    put_in = abs(found.shown["put_in"])
    shifts = sorted({*TARGETS, *([round(put_in, 4)] if put_in >= 0.0005 else [])})
    table = needed(_changes(found, power, request), shifts)
    parts = table.rows.groupby("what", sort=False)
    right.markdown("\n".join(_needed_line(part, put_in) for _, part in parts))
    known = table.rows[table.rows["reason"] == ""]
    if known.empty:
        return
    show_figure(
        items_for_shifts(known), "items-needed", provenance, table=known,
        alt="Items needed against the shift to find",
    )  # fmt: skip
    with st.expander("The numbers, and the power of every language", icon=":material/table_rows:"):
        show_table(AuditTable(known), NEEDED_COLUMNS, "items-needed")
        show_table(power, POWER_COLUMNS, "power")


def _changes(found: Injected, power: AuditTable, request: AuditRequest) -> list[Change]:
    """What items are told for: the shown pair, and all languages; of which scores, if not alike."""
    tested = power.rows[power.rows["condition"] == POOLED]
    if tested.empty:
        tested = power.rows[:1]
    own = shifted_kind(request.kind)
    of_own, of_asked = (
        f", {KIND_WORDS[kind]}" if own != request.kind else "" for kind in (own, request.kind)
    )
    shown = found.shown
    pair = f"{shown['condition']} under {shown['short']}{of_own}"
    changes = [Change(pair, int(shown["n"]), float(shown["sd"]), margin_of(request, own))]
    for row in tested.to_dict("records"):
        language = row["condition"]
        name = "all languages pooled" if language == POOLED else condition_name(language)
        margin = margin_of(request)
        changes.append(Change(f"{name}{of_asked}", int(row["n"]), float(row["sd"]), margin))
    return changes


def _needed_line(part: pd.DataFrame, put_in: float) -> str:
    """What one kind of change takes; `part` has its rows of `needed`."""
    row = part.iloc[0]
    name = f"- **{literal(str(row['what']))}** (n = {row['n']:,} items):"
    if row["reason"]:
        return f"{name} {lowered(row['reason'])}"
    of_now = part[part["shift"] == round(put_in, 4)]
    first = ""
    if len(of_now):
        takes = of_now["items_needed"].iloc[0]
        first = f"the {put_in:.3f} put in above takes {takes:,.0f} items; "
    return (
        f"{name} {first}these find a shift of {row['smallest_shift']:.3f} 8 times in 10; to show "
        f"that there is none beyond {row['margin']:g} takes {row['equivalence_n']:,.0f} items "
        f"(sd {row['sd']:.3f})."
    )


def show_size(table: AuditTable) -> None:
    """Whether the test itself is right: how often it rejects where there is nothing."""
    row = table.rows[table.rows["check"] == "size"].iloc[0]
    if not row["n_pairs"]:
        return
    st.markdown(
        f"**Size check.** Centred and drawn anew, so that nothing is there, "
        f"{row['rejection_rate']:.3f} ± {row['rejection_error']:.3f} of the tests have p < .05 "
        f"(right is .050), and any pair is found at q < .05 in {row['rejection_any']:.2f} ± "
        f"{row['rejection_any_error']:.2f} of the worlds. {row['n_runs']:.0f} worlds, "
        f"{row['n_pairs']:.0f} pairs; ± is one Monte-Carlo standard error."
    )


def _badge(verdict: str) -> str:
    return f":{VERDICT_COLOURS[verdict]}-badge[{VERDICT_ICONS[verdict]} {verdict}]"

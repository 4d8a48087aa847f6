"""The atlas of axes or concepts: points, their colours, what is open, and how to get a UMAP."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.heads.atlas import (
    Atlas,
    Of,
    check_umap,
    principal_components,
    stored_umap,
)
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import StoredAxes
from core.errors import InputError
from core.figures.heads.atlas import atlas_scatter, narrow_style
from core.selection import ATLAS_BY, ATLAS_COLOURS, ATLAS_OF, Selection
from pages.shared import state
from pages.shared.data import Stamp, open_cache
from pages.shared.figures import literal, selected_points, show_figure
from pages.shared.heads.choice import Asked
from pages.shared.heads.data import read_axes_table, read_heads_provenance
from pages.shared.heads.jobs import offer_umap
from pages.shared.heads.rows import AxisList

BY = {"pca": "principal components", "umap": "UMAP"}
COLOURS = {
    "statistic": "KS D",
    "flagged": "flag",
    "dimension": "dimension",
    "difference": "mean less that of the phrases",
}
FIGURE = "atlas"


def choose_atlas(selection: Selection) -> None:
    """What is a point, how points are placed and what colours them."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        state.show_field("atlas_of", selection.atlas_of)
        st.segmented_control("Points", ATLAS_OF, required=True, **state.bound("atlas_of"))
        state.show_field("atlas_by", selection.atlas_by)
        st.segmented_control(
            "Placed by", ATLAS_BY, format_func=BY.__getitem__, required=True,
            **state.bound("atlas_by"),
        )  # fmt: skip
        if selection.atlas_of == "axes":
            state.show_field("atlas_colour", selection.atlas_colour)
            st.selectbox(
                "Colour", ATLAS_COLOURS, format_func=COLOURS.__getitem__, width=240,
                **state.bound("atlas_colour"),
            )  # fmt: skip
        st.checkbox("Words at points", value=True, key="atlas-words", persist_state="session")


def show_atlas(asked: Asked, selection: Selection, listed: AxisList, stored: StoredAxes) -> None:
    """The scatter; where UMAP is asked for and not computed, what to do, and the components."""
    of: Of = "axes" if selection.atlas_of == "axes" else "concepts"
    found = None
    if selection.atlas_by == "umap":
        found = stored_umap(open_cache(), stored, of)
        if found is None and _umap_possible(stored, of):
            offer_umap(asked.question, of)
    try:
        found = found or _components(asked.question, of)
    except InputError as error:
        st.info(literal(str(error)), icon=":material/info:")
        return
    rows = _points(asked, selection, found, listed)
    if of == "axes" and len(listed.rows) < len(listed.everything):
        rows = rows[rows["key"].isin(listed.ids)]
    if rows.empty:
        st.info("No axis passes the filters; take one off above.", icon=":material/filter_list:")
        return
    colour = selection.atlas_colour if of == "axes" else "label"
    colour = colour if colour in rows else "dimension" if of == "axes" else "label"
    figure = atlas_scatter(
        rows,
        colour=colour,
        colour_name=COLOURS.get(colour, "label"),
        axis_names=_axis_names(found),
        said=_caption(asked, found, len(rows)),
        chosen=selection.axis if of == "axes" else "",
        words=bool(st.session_state["atlas-words"]),
    )
    st.html(f"<style>{narrow_style(figure, f'.st-key-figure-{FIGURE}')}</style>")
    clicked = open_clicked if of == "axes" else None
    provenance = read_heads_provenance(asked.question) | _placed(found)
    show_figure(figure, FIGURE, provenance, table=rows, on_select=clicked)


def open_clicked() -> None:
    """Open the axis whose point was clicked."""
    points, _ = selected_points(FIGURE)
    for point in points:
        if point.get("customdata"):
            state.change(axis=str(point["customdata"][0]), page=state.current().page)


def _components(question: HeadsQuestion, of: Of) -> Atlas:
    cache = open_cache()
    return _pca(str(cache.folder), cache.stamp(), question, of)


@st.cache_resource(max_entries=20, show_spinner=False)
def _pca(folder: str, stamp: Stamp, question: HeadsQuestion, of: Of) -> Atlas:
    stored = read_axes_table(question)
    if stored is None:
        raise InputError("The values of these axes are not computed yet.")
    return principal_components(stored, of)


def _umap_possible(stored: StoredAxes, of: Of) -> bool:
    """Whether UMAP can place these; says why where it cannot."""
    try:
        check_umap(stored, of)
    except InputError as error:
        st.info(literal(str(error)), icon=":material/info:")
        return False
    return True


def _points(asked: Asked, selection: Selection, found: Atlas, listed: AxisList) -> pd.DataFrame:
    """One row per point: key, words, x, y and what colours it."""
    x, y = found.points.T
    rows = pd.DataFrame({"key": list(found.names), "x": x, "y": y})
    if found.of == "axes":
        held = listed.everything.rename(columns={"axis_id": "key", "axis": "words"})
        rows = rows.merge(held.drop(columns="synsets"), on="key", how="left", validate="1:1")
        rows["dimension"] = rows["dimension"].replace("", "no dimension")
        if "flagged" in rows:
            rows["flagged"] = (
                rows["flagged"]
                .map({True: "flagged", False: "not flagged"})
                .fillna("undefined")
                .astype(str)
            )
            return rows.sort_values("statistic", ascending=False, na_position="last")
        return rows
    return rows.assign(words=rows["key"], label="concept")


def _axis_names(found: Atlas) -> tuple[str, str]:
    if found.shares is None:
        return "UMAP 1 (no unit)", "UMAP 2 (no unit)"
    shares = [f"{100 * s:.0f} % of the variance" if np.isfinite(s) else "" for s in found.shares]
    first, second = (f" ({share})" if share else "" for share in shares)
    return f"first component{first}", f"second component{second}"


def _caption(asked: Asked, found: Atlas, n: int) -> str:
    what = "axis" if found.of == "axes" else "concept"
    by = "its values on all concepts" if found.of == "axes" else "its values on all axes"
    placed = "UMAP" if found.shares is None else "their two principal components"
    sentences = [
        f"Each point is one {what} of {asked.model}, placed by {by} ({placed}); what lies close "
        f"has similar values. {found.note}"
    ]
    if n < len(found.names):
        sentences.append(f"Showing {n:,} of {len(found.names):,}: the filters hide the others.")
    if found.shares is None:
        sentences.append("Distances far apart mean nothing, and another machine places otherwise.")
    sentences.append("Words stand where there is room; pointing at a point names it.")
    return " ".join(sentences)


def _placed(found: Atlas) -> dict[str, str]:
    if found.parameters is None:
        return {"placed by": BY["pca"]}
    versions = ", ".join(f"{name} {number}" for name, number in (found.versions or {}).items())
    chosen = found.parameters
    return {
        "placed by": f"UMAP, {chosen.n_neighbors} neighbours, least distance {chosen.min_dist:g}",
        "UMAP's software": versions,
    }

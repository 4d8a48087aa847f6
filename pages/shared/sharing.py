"""What leaves a page: links, slices, code that gives the same rows, and where numbers come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
import streamlit as st

from core.analysis.overview import scorer_labels
from core.selection import Selection, active_filters, link_query, without_filters
from core.store.audit_content import AuditContent, difference, read_audit_content
from core.store.score_line import shell_line
from core.store.slices import Slice
from core.words import counted
from pages.shared import state
from pages.shared.data import open_cache, read_overview
from pages.shared.figures import literal
from pages.shared.slice_form import save_form, saved_words

SNIPPET = """from pathlib import Path

from core.analysis.filtering import selected_table
from core.selection import parse_link
from core.store.gate import Cache

selection, _ = parse_link({query!r})
table = selected_table(Cache(Path({folder!r})), selection)
"""


def banner(
    wanted: Selection,
    shown: Selection,
    content: str,
    left_out: list[str],
    table: pd.DataFrame,
) -> None:
    """Name everything in which this page differs from what its link was made from."""
    sentences = [*state.link_problems(), *left_out]
    linked = state.linked()
    for name, kind in (("dataset", "data set"), ("scorer", "scorer"), ("compare", "scorer")):
        value = getattr(wanted, name)
        if value and value != getattr(shown, name):
            instead = getattr(shown, name)
            ending = f"; {instead} is shown instead" if instead else ""
            sentences.append(f"{_no(kind, value, shown.dataset)}{ending}.")
    same = (linked.dataset, linked.scorer) == (shown.dataset, shown.scorer)
    of_items = linked.content and read_audit_content(linked.content) is None
    if same and of_items and linked.content != content:
        there, here = linked.content.split("-")[0], content.split("-")[0]
        numbers = f"{there} scored rows there, {here} here" if there != here else "other items"
        sentences.append(
            f"The link was made from other scores of {shown.dataset} under this scorer ({numbers})."
        )
    if wanted.item and not (table["item_id"] == wanted.item).any():
        sentences.append(f"The item {wanted.item} is not in {shown.dataset}; another one is shown.")
    if sentences:
        lines = "\n".join(f"- {literal(sentence)}" for sentence in dict.fromkeys(sentences))
        st.warning(f"Not everything is as the link says:\n\n{lines}", icon=":material/link_off:")


def _no(kind: str, value: str, dataset: str) -> str:
    """That something is not in this cache, or a scorer has not scored the data set."""
    held = read_overview()
    if kind == "scorer" and held is not None and (held.scorers["scorer_id"] == value).any():
        return f"{scorer_labels(held.scorers)[value]} ({value}) has no scores of {dataset}"
    return f"This cache has no {kind} {value}"


def say_changed(dataset: str, models: tuple[str, ...], content: AuditContent) -> None:
    """Say that an audit is of other scores than when its link was made; else nothing."""
    linked = state.linked()
    then = read_audit_content(linked.content)
    if then is None or (linked.dataset, linked.models) != (dataset, models):
        return
    if linked.slice != state.current().slice:
        content = content._replace(part="")
    if differs := difference(then, content):
        st.warning(
            f"The data have changed since this link was made ({literal(differs)}); the numbers "
            "here are those of now.",
            icon=":material/link_off:",
        )


def share_bar(selection: Selection, item_ids: pd.Series) -> None:
    """Popovers with the link, a slice of the rows shown, and code that gives the same rows."""
    with st.container(horizontal=True):
        with st.popover("Link", icon=":material/link:"):
            st.caption("Shows this page as it is now to whoever has the same cache.")
            st.code(state.link(selection), language=None, wrap_lines=True)
        with st.popover(
            "Save as slice", icon=":material/bookmark_add:", key="slice-popover", on_change="rerun"
        ):
            _save_slice(selection, item_ids)
        with st.popover("Code", icon=":material/code:"):
            _code(selection)


def provenance_panel(known: Mapping[str, str]) -> None:
    """Model, data, software, times and runs behind the numbers of a page."""
    with st.expander("Where these numbers come from", icon=":material/history_edu:"):
        frame = pd.DataFrame({"what": list(known), "value": list(known.values())})
        st.dataframe(frame, hide_index=True, placeholder="–")


def _save_slice(selection: Selection, item_ids: pd.Series) -> None:
    n_items = item_ids.nunique()
    as_filter = "The filter (rows may change with new scores)"
    as_list = f"The {counted(n_items, 'item')} shown now"
    kinds = [as_list] if not active_filters(selection) or selection.slice else [as_filter, as_list]
    kind = st.radio("What to keep", kinds, key="slice-kind")

    def new(name: str) -> Slice:
        if kind == as_filter:
            return Slice(name, selection.dataset, link_query(selection))
        return Slice(name, selection.dataset, "", tuple(dict.fromkeys(item_ids)))

    def after(saved: Slice) -> None:
        st.session_state["slice-popover"] = False  # what it offers is done
        state.put(replace(without_filters(selection), slice=saved.name, page=0))
        st.toast(saved_words(saved.name, n_items), icon=":material/bookmark_added:")

    save_form("slice-name", "Name", new, after)


def _code(selection: Selection) -> None:
    query = link_query(selection)
    st.caption("In Python, in the project's folder:")
    st.code(SNIPPET.format(query=query, folder=str(open_cache().folder)), language="python")
    st.caption("In a terminal:")
    line = shell_line(open_cache(), "export", "--selection", query, "--out", "rows.csv")
    st.code(line, language="bash", wrap_lines=True)

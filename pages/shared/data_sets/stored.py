"""What is in a stored data set: where its rows went, what was found, the pipeline checks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.data_sets import FINDING_COLUMNS, Finding, findings, flow
from core.analysis.overview import Overview, scorer_labels
from core.analysis.pipeline_checks import PipelineCheck, item_checks
from core.analysis.score_checks import score_checks
from core.export.items import changed_by_csv, items_bytes
from core.figures.theme import file_stem
from core.files.places import listed
from core.items.import_notes import NO_CONDITION
from core.selection import without_filters
from core.store.gate import Cache
from core.store.items import stored_items
from core.types import Item
from core.words import counted
from pages.shared import state
from pages.shared.data import generation_of, open_cache
from pages.shared.data_sets.items import read_few, show_examples, show_item
from pages.shared.figures import literal
from pages.shared.tables import condition_name
from pages.shared.widgets import download_buttons, show_open_tab

LISTED = 1_000  # items that a list offers
MARKS = {"green": ":green[✓ green]", "red": ":red[✗ red]", "undefined": ":gray[– undefined]"}
_FLOW: dict[str, Any] = {
    "condition": "Condition",
    "n_left_out": st.column_config.NumberColumn(
        "Left out",
        help="Rows of the file that were not imported: with an error, in a lenient import, or with "
        "a context that tells the answer",
    ),
    "n": st.column_config.NumberColumn("Imported"),
    "n_collapsed": st.column_config.NumberColumn(
        "Collapsed", help="Both poles say the same; kept out of every statistic"
    ),
    "scorer": "Scorer",
    "n_scored": st.column_config.NumberColumn("Scored"),
    "n_not_scored": st.column_config.NumberColumn(
        "Not scored", help="Of those that are not collapsed: not yet, or not possible"
    ),
}


def read_items_of(dataset: str) -> list[Item]:
    """The items of a stored data set, remembered while they are the same."""
    cache = open_cache()
    return _items(str(cache.folder), dataset, generation_of(cache, "", dataset))


def read_findings(dataset: str) -> list[Finding]:
    """What is found in them, likewise."""
    cache = open_cache()
    return _findings(str(cache.folder), dataset, generation_of(cache, "", dataset))


def read_checks(dataset: str, formats: str, scorer_id: str) -> list[PipelineCheck]:
    """The pipeline checks of the items and, where there is a scorer, of its scores."""
    cache = open_cache()
    folder, number = str(cache.folder), generation_of(cache, "", dataset)
    checks = _item_checks(folder, dataset, formats, number)
    if not scorer_id:
        return checks
    scored = generation_of(cache, scorer_id, dataset)
    return [*checks, *_score_checks(folder, dataset, scorer_id, number, scored)]


def show_facts(row: pd.Series) -> None:
    """Where a data set comes from and how it was chosen."""
    known = {
        "Format": row["format"],
        "File": row["path"] or "–",
        "SHA-256": row["sha256"] or "–",
        "How it was chosen": row["note"] or "all rows",
        "Imported": f"{row['imported_at']:%Y-%m-%d %H:%M} UTC",
    }
    # Lines and no table: a hash and a path break where the screen ends.
    st.markdown("\n".join(f"- **{what}**: {literal(str(v))}" for what, v in known.items()))


def show_flow(held: Overview, row: pd.Series) -> None:
    """From the file to the scores, by condition and scorer."""
    table = flow(held.coverage, row["dataset"], row["note"])
    labels = scorer_labels(held.scorers)
    table["scorer"] = table["scorer_id"].map(labels)
    table["condition"] = [c if c == NO_CONDITION else condition_name(c) for c in table["condition"]]
    st.dataframe(
        table[list(_FLOW)],
        column_config=_FLOW,
        hide_index=True,
        placeholder="–",
        height="content" if len(table) <= 14 else 520,
    )
    download_buttons(lambda: table, list(_FLOW), f"flow-{row['dataset']}")


def show_findings(row: pd.Series, held: Overview) -> None:
    """Everything that was looked for, and the items where it was found."""
    dataset = row["dataset"]
    found = read_findings(dataset)
    table = pd.DataFrame(
        {
            "What": [one.title for one in found],
            "Rows": [len(one.rows) for one in found],
            "Items": [one.n_items for one in found],
            "What it means": [one.meaning for one in found],
        }
    )
    st.dataframe(table, hide_index=True, height="content")
    st.caption(f"Looked for in {counted(found[0].n, 'row')}; nothing was removed or mended.")
    some = {one.kind: one for one in found if len(one.rows)}
    if not some:
        return
    kind = st.selectbox(
        "Show the items",
        list(some),
        format_func=lambda k: f"{some[k].title} ({counted(some[k].n_items, 'item')})",
        key=f"finding-{dataset}",
    )
    rows = some[kind].rows
    st.dataframe(
        rows,
        hide_index=True,
        height="content" if len(rows) <= 8 else 320,
        column_config={"item_id": "Item", "condition": "Condition", "what": "What was found"},
    )
    download_buttons(lambda: rows, FINDING_COLUMNS, f"{kind}-{dataset}-{len(rows)}-rows")
    _open_item(row, rows, held)


def _open_item(row: pd.Series, rows: pd.DataFrame, held: Overview) -> None:
    """The texts of one of the items, and the way to it."""
    dataset = row["dataset"]
    keys = list(zip(rows["item_id"], rows["condition"], strict=True))[:LISTED]
    left, right = st.columns([5, 2], vertical_alignment="bottom")
    cut = f" (the first {LISTED:,} of {len(rows):,})" if len(rows) > LISTED else ""
    item, condition = left.selectbox(
        f"One of them{cut}", keys, format_func=" · ".join, key=f"finding-item-{dataset}"
    )
    if right.button("Open on Items", icon=":material/open_in_new:"):
        seen = without_filters(state.current())  # a filter could hide it
        here = held.coverage.loc[held.coverage["dataset"] == dataset, "scorer_id"]
        scorer = seen.scorer if seen.scorer in set(here) else ""
        state.put(replace(seen, dataset=dataset, item=item, condition=condition, scorer=scorer))
        st.switch_page("pages/items.py")
    with st.expander("Its texts"):
        keyed = {(one.item_id, one.condition): one for one in read_items_of(dataset)}
        show_item(keyed[item, condition], row["format"])


def show_few(row: pd.Series) -> None:
    """A few items with their labels."""
    read_few(read_items_of(row["dataset"]), row["format"], key=f"few-{row['dataset']}")


def show_checks(row: pd.Series, held: Overview) -> None:
    """The pipeline checks as one report; the examples of one at a time."""
    dataset = row["dataset"]
    here = held.coverage[held.coverage["dataset"] == dataset]
    scorers = [s for s in here["scorer_id"].unique() if s]
    labels = scorer_labels(held.scorers)
    scorer = ""
    if scorers:
        scorer = st.selectbox(
            "Scores of", scorers, format_func=labels.__getitem__, key=f"checked-{dataset}"
        )
    else:
        st.caption("Label direction and scored tokens are undefined until a model has scored it.")
    checks = {one.title: one for one in read_checks(dataset, row["format"], scorer)}
    for one in checks.values():
        st.markdown(f"**{one.title}**: {MARKS[one.state]} (n = {one.n:,}). {literal(one.found)}")
    st.caption(
        "Green: looked for and not found. Red: look at the examples; translation makes some faults "
        "by itself. None of this says anything about a model."
    )
    languages = {item.condition: item.language for item in read_items_of(dataset)}
    red_first = sorted(checks.items(), key=lambda named: named[1].state != "red")
    with_examples = {title: one for title, one in red_first if len(one.examples)}
    if with_examples:
        title = st.selectbox("Examples of", list(with_examples), key=f"examples-{dataset}")
        one = with_examples[title]
        bad = f"{counted(one.n_bad, 'fault')} among " if one.n_bad else ""
        n = f"; {bad}n = {one.n:,}" if one.n else ""
        st.caption(f"Showing {len(one.examples):,}{n}.")
        show_examples(one.examples, languages)


def show_export(row: pd.Series) -> None:
    """The data set as it is stored, to be read again by anybody."""
    dataset = row["dataset"]
    st.caption(
        "The items as they are stored, in the program's own schema (data/README.md): importing the "
        "file again gives the same items. Scores are on the page Items and in `export`."
    )
    with st.container(horizontal=True):
        for ending, mime in (("jsonl", "application/jsonl"), ("csv", "text/csv")):

            def content(ending: str = ending) -> bytes:
                return items_bytes(read_items_of(dataset), ending)

            st.download_button(
                f"Items as {ending.upper()}",
                content,
                f"{file_stem(dataset)}.{ending}",
                mime,
                icon=":material/download:",
                on_click="ignore",
            )
    if changed := changed_by_csv(read_items_of(dataset)):
        st.caption(literal(f"CSV turns these metadata into texts: {listed(changed)}."))


def show_stored(row: pd.Series, held: Overview) -> None:
    """Everything about one stored data set; only the open tab is drawn."""
    show_facts(row)
    show_open_tab(
        {
            "What became of the rows": lambda: show_flow(held, row),
            "What was found": lambda: show_findings(row, held),
            "Read a few items": lambda: show_few(row),
            "Pipeline checks": lambda: show_checks(row, held),
            "Export": lambda: show_export(row),
        },
        key="data-set-tab",
    )


@st.cache_resource(max_entries=2, show_spinner="Reading the items …")
def _items(folder: str, dataset: str, number: int) -> list[Item]:
    return stored_items(Cache(Path(folder)), dataset)


@st.cache_resource(max_entries=8, show_spinner="Looking through the items …")
def _findings(folder: str, dataset: str, number: int) -> list[Finding]:
    return findings(_items(folder, dataset, number))


@st.cache_resource(max_entries=8, show_spinner="Checking the items …")
def _item_checks(folder: str, dataset: str, formats: str, number: int) -> list[PipelineCheck]:
    return item_checks(_items(folder, dataset, number), formats)


@st.cache_resource(max_entries=8, show_spinner="Checking the scores …")
def _score_checks(
    folder: str, dataset: str, scorer_id: str, number: int, scored: int
) -> list[PipelineCheck]:
    items = _items(folder, dataset, number)
    return score_checks(Cache(Path(folder)), scorer_id, dataset, items)

"""Items: what happened to this item?"""

from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.items import english_rewording_noise
from pages.shared.data import read_items, read_overview
from pages.shared.widgets import (
    content_warning,
    download_buttons,
    empty_cache,
    errors_in_one_sentence,
    nothing_scored,
    text_block,
)

SHOWN = (
    *("item_id", "condition", "ss", "change", "n_stereotype", "n_anti", "category", "dimension"),
    *("source", "state", "flags"),
)
COLUMNS: dict[str, Any] = {
    "item_id": st.column_config.TextColumn("Item", pinned=True),
    "condition": st.column_config.TextColumn("Condition", help="Language, or language~rewording"),
    "ss": st.column_config.NumberColumn(
        "SS", format="%.3f", help="Stereotype score: above 0.5 the stereotype is more likely"
    ),
    "change": st.column_config.NumberColumn(
        "Change", format="%+.3f", help="SS minus the SS of the same item in English"
    ),
    "n_stereotype": st.column_config.NumberColumn("n+", help="Scored tokens, stereotype"),
    "n_anti": st.column_config.NumberColumn("n−", help="Scored tokens, anti-stereotype"),
    "category": "Category",
    "dimension": "Dimension",
    "source": "Source",
    "state": st.column_config.TextColumn(
        "State", help="scored; collapsed: both poles say the same; unscored: see the reason"
    ),
    "flags": st.column_config.ListColumn("Flags"),
}
ROLES = {
    "stereotype": "Stereotype",
    "anti_stereotype": "Anti-stereotype",
    "unrelated": "Unrelated",
    "unknown": "Unknown",
}


def choose_source() -> tuple[str, str]:
    """The scorer and data set to look at; ends the page when there is nothing to choose from."""
    held = read_overview()
    if held is None or held.datasets.empty:
        empty_cache()
        st.stop()
    pairs = held.coverage[held.coverage["scorer_id"] != ""]
    if pairs.empty:
        nothing_scored(held.datasets["dataset"].iloc[0])
        st.stop()
    labels = {
        s.scorer_id: f"{s.model} ({s.dtype}, {s.scorer_id})" for s in held.scorers.itertuples()
    }
    left, right = st.columns(2)
    dataset = left.selectbox("Data set", pairs["dataset"].unique())
    scorers = pairs.loc[pairs["dataset"] == dataset, "scorer_id"].unique()
    scorer = right.selectbox("Scorer", scorers, format_func=lambda s: labels[s])
    return str(scorer), str(dataset)


def filtered(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that the filter bar leaves."""
    conditions, categories, states, search = st.columns([2, 2, 1, 2])
    for column, place, label in (
        ("condition", conditions, "Condition"),
        ("category", categories, "Category"),
        ("state", states, "State"),
    ):
        options = [value for value in dict.fromkeys(table[column]) if value]
        chosen = place.multiselect(label, options, placeholder="all")
        if chosen:
            table = table[table[column].isin(chosen)]
    words = search.text_input("Text contains", placeholder="in any text of the row")
    if words:
        texts = table[["item_id", "context", *ROLES]].fillna("")
        found = texts.apply(lambda t: t.str.contains(words, case=False, regex=False)).any(axis=1)
        table = table[found]
    return table


def noise_line(table: pd.DataFrame) -> str:
    """What mere rewording does under this scorer, in a sentence."""
    noise = english_rewording_noise(table)
    if noise.n_changes < 2:
        return "No English rewording is scored, so there is no yardstick for a change."
    floor = (
        f"the mean by {noise.floor:.3f} ({noise.n_rewordings} rewordings)"
        if noise.n_rewordings
        else "no rewording covers all items, so the floor of the mean is unknown"
    )
    return (
        f"Mere rewording of the English items moves a single score by {noise.item_sd:.3f} "
        f"(standard deviation, n = {noise.n_changes} changes), {floor}."
    )


def show_card(item: pd.DataFrame, condition: str) -> None:
    """The texts of one item: the chosen condition beside the English ones, and all its scores."""
    here = item[item["condition"] == condition].iloc[0]
    st.subheader(here["item_id"])
    english = item[item["condition"] == "en"]
    beside = [] if english.empty or condition == "en" else [english.iloc[0]]
    for place, row in zip(st.columns(len(beside) + 1), [*beside, here], strict=True):
        with place:
            show_texts(row)
    st.markdown("**The item in every condition**")
    st.dataframe(
        item[["condition", "ss", "change", "n_stereotype", "n_anti", "fluency", "state", "reason"]],
        hide_index=True,
        placeholder="–",
        column_config=COLUMNS
        | {"fluency": st.column_config.NumberColumn("Fluency", format="%.3f"), "reason": "Reason"},
    )


def show_texts(row: pd.Series) -> None:
    """One condition of an item: context and continuations with their log-probabilities."""
    score = "not scored" if pd.isna(row["ss"]) else f"SS {row['ss']:.3f}"
    st.markdown(f"**{row['condition']}** · {score} · {row['state']}")
    text_block(row["context"], row["language"])
    for role, label in ROLES.items():
        if pd.isna(row[role]):
            continue
        suffix = "anti" if role == "anti_stereotype" else role
        value, n = row[f"l_{suffix}"], row[f"n_{suffix}"]
        measure = "" if pd.isna(value) else f" · {value:.3f} nats per token, n = {n:.0f}"
        st.caption(f"{label}{measure}")
        text_block(row[role], row["language"])


st.title("Items")
content_warning()
with errors_in_one_sentence():
    scorer_id, dataset = choose_source()
    table = read_items(scorer_id, dataset)
rows = filtered(table)
st.caption(f"Showing {len(rows)} of {len(table)} rows. {noise_line(table)}")
event = st.dataframe(
    rows,
    column_order=SHOWN,
    column_config=COLUMNS,
    hide_index=True,
    placeholder="–",
    on_select="rerun",
    selection_mode="single-row",
    key=f"items-{scorer_id}-{dataset}",
)
download_buttons(rows, f"items-{dataset}-{scorer_id}")
if rows.empty:
    st.info("No row passes the filters; remove one of them.")
    st.stop()
chosen = event["selection"]["rows"]
position = chosen[0] if chosen and chosen[0] < len(rows) else 0
if not chosen:
    st.caption("Click the box at the left of a row to see that item; this is the first one.")
row = rows.iloc[position]
show_card(table[table["item_id"] == row["item_id"]], row["condition"])

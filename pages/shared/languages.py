"""Parts of the Languages page: the tables beside the figures, fragility, consistency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.audit.audit import Audit
from core.analysis.audit.columns import neutral_score
from core.analysis.audit.item_tests import POOLED
from core.analysis.audit.languages import REWORDING
from core.analysis.audit.request import AuditRequest, AuditTable
from core.figures.fragility import found as finding
from core.figures.fragility import kinds_plot, specification_curve
from core.figures.languages import (
    Yardstick,
    change_map,
    drop_plot,
    group_plot,
    interval,
    score_heatmap,
)
from core.items.languages import language_name
from core.selection import Selection
from core.settings import REFERENCE_CONDITION
from pages.shared import state
from pages.shared.audit import KIND_WORDS, read_audit, show_notes, show_table
from pages.shared.figures import literal, show_figure

SPLITS = {
    "source": "source",
    "dimension": "dimension",
    "judgment": "judgment of the translation",
    "subset": "subset of the paper",
    "rewording": "the rewordings themselves",
}
CELLS = {"change": "Mean changes", "score": "Mean scores"}
ONE_MODEL = "one model: no spread"


def _number(label: str, digits: int = 3, *, sign: bool = False, text: str = "") -> Any:
    return st.column_config.NumberColumn(
        label, format=f"%{'+' if sign else ''}.{digits}f", help=text or None
    )


LANGUAGE = st.column_config.TextColumn("Language", pinned=True)
REASON = st.column_config.TextColumn("Why a dash", width="medium")
Q = _number("q", 4, text="After Benjamini and Hochberg over the family of tests")
MAIN: Mapping[str, Any] = {
    "language": LANGUAGE,
    "reads": st.column_config.TextColumn("Reads", help="The verdict, as in the sentences above"),
    "drop_items": _number("Drop", text="English minus language, items that every model scored"),
    "over_items": st.column_config.TextColumn("95 % over items", help="Bootstrap over items"),
    "n_items": st.column_config.NumberColumn("n items"),
    "drop": _number(
        "Drop by model",
        text="Mean over the models of each one's drop; in the last row the median noise floor",
    ),
    "over_models": st.column_config.TextColumn(
        "95 % over models", help="t interval: the spread of these models on these same items"
    ),
    "n_models": st.column_config.NumberColumn("n models"),
    "qvalue": _number("q", 4, text="Of the drop beyond rewording, over the languages"),
    "n_reliable": st.column_config.NumberColumn(
        "Reliable drops", help="Models of n that drop with q < .05 over all cells"
    ),
    "n_reliable_binary": st.column_config.NumberColumn(
        "Reliable, binary", help="The same for which pole wins"
    ),
    "score": _number("Score", text="Mean over models and items"),
    "score_binary": _number("Binary score", text="Share of items where the stereotype wins"),
    "n": st.column_config.NumberColumn("n scores"),
    "slope": _number("Slope", 2, text="Of the score in the language on that in English"),
    "same_choice": _number("Same choice", 2, text="Share of items with the same pole ahead"),
    "fluency": _number("Fluency", 2, text="How often a pole beats an unrelated continuation"),
    "n_fluency": st.column_config.NumberColumn("n fluency"),
    "reason": REASON,
}
TESTS: Mapping[str, Any] = {
    "language": LANGUAGE,
    "group": "Group",
    "t": _number("T", sign=True, text="Drop beyond that of rewording"),
    "over_items": st.column_config.TextColumn("95 % over items"),
    "n": st.column_config.NumberColumn("n items"),
    "n_left_out": st.column_config.NumberColumn("left out", help="Not scored by every model"),
    "pvalue": _number("p", 4),
    "qvalue": Q,
    "n_tests": st.column_config.NumberColumn("tests", help="Size of the family behind q"),
    "reason": REASON,
}
KINDS: Mapping[str, Any] = {
    "language": LANGUAGE,
    "score": "Score",
    "finds": "Finds",
    "verdict": "Verdict",
    "drop": _number("Drop", sign=True, text="In the unit of this score"),
    "over_items": st.column_config.TextColumn("95 % over items"),
    "n": st.column_config.NumberColumn("n items"),
    "t": _number("T", sign=True, text="Drop beyond that of rewording"),
    "qvalue": Q,
    "n_t": st.column_config.NumberColumn("n of T"),
    "test": "Test",
    "depends_on_score": st.column_config.CheckboxColumn("Depends on the score"),
    "reason": REASON,
}
FEWEST: Mapping[str, Any] = {
    "language": LANGUAGE,
    "n_items": st.column_config.NumberColumn(
        "Fewest items", help="Without them the verdict is another one; an upper bound"
    ),
    "share_items": st.column_config.NumberColumn("Share", format="percent"),
    "n": st.column_config.NumberColumn("of n"),
    "drop": _number("T of the rest", sign=True),
    "pvalue": _number("p of the rest", 4),
    "significant": st.column_config.CheckboxColumn("Then shown"),
    "item_ids": st.column_config.TextColumn("Items", width="medium"),
    "reason": REASON,
}
LEFT_OUT: Mapping[str, Any] = {
    "choice": "Without",
    "value": "which is",
    "n": st.column_config.NumberColumn("n left"),
    "n_items": st.column_config.NumberColumn("Items gone"),
    "drop": _number("T", sign=True),
    "pvalue": _number("p", 4),
    "significant": st.column_config.CheckboxColumn("Shown"),
    "flips": st.column_config.CheckboxColumn("Flips the verdict"),
    "reason": REASON,
}
NATIVES: Mapping[str, Any] = {
    "model": st.column_config.TextColumn("Model", pinned=True),
    "language": "Language",
    "score": _number("Natives"),
    "n": st.column_config.NumberColumn("n natives"),
    "score_translated": _number("Translations"),
    "n_translated": st.column_config.NumberColumn("n translations"),
    "score_binary": _number("Natives, binary"),
    "score_translated_binary": _number("Translations, binary"),
    "reason": REASON,
}
CONSISTENCY: Mapping[str, Any] = {
    "quantity": st.column_config.TextColumn("Quantity", pinned=True),
    "model": "Model",
    "reference": "Reference",
    "condition": "Language",
    "value": _number("Value"),
    "n": st.column_config.NumberColumn("n"),
    "n_languages": st.column_config.NumberColumn("n languages"),
    "n_models": st.column_config.NumberColumn("n models"),
    "reason": REASON,
}


def choose_margin(selection: Selection) -> None:
    """The margin of equivalence, which is part of the question and not of the answer."""
    left, right = st.columns([2, 6], vertical_alignment="bottom")
    state.show_field("margin", float(selection.margin))
    left.number_input(
        "Equivalence margin",
        min_value=0.001,
        max_value=1.0,
        step=0.005,
        format="%.3f",
        **state.bound("margin"),
    )
    right.caption(
        "Differences within ± this margin are too small to matter to you, in the unit of the "
        "score. It must be fixed before looking: one chosen after seeing the drops proves nothing."
    )


def yardstick(request: AuditRequest, main: AuditTable) -> Yardstick:
    """Noise floor and margin, which stand beside every drop."""
    last = main.rows[main.rows["condition"] == REWORDING].iloc[-1]
    return Yardstick(float(last["drop"]), int(last["n_models"]), request.margin)


def show_drops(
    tables: Mapping[str, AuditTable], beside: Yardstick, facts: Mapping[str, Any]
) -> None:
    """The drop plot and the main table."""
    main, verdicts = tables["main"], tables["verdicts"].rows
    rows = main.rows[main.rows["condition"] != REWORDING]
    show_figure(
        drop_plot(rows, verdicts, beside),
        f"drops-{facts['dataset']}",
        facts,
        table=rows,
    )
    show_table(main, MAIN, f"languages-{facts['dataset']}", rows=main_rows(main.rows, verdicts))


def main_rows(main: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """The main table with names, what each language reads, and intervals as texts."""
    reads = dict(zip(verdicts["condition"], verdicts["reads"], strict=True))
    over_models = _between(main, "drop")
    alone = (main["n_models"] == 1) & (main["condition"] != REWORDING)
    return _with_names(main).assign(
        reads=main["condition"].map(reads),
        over_items=_between(main, "drop_items"),
        over_models=over_models.mask(alone.fillna(False), ONE_MODEL),
    )


def show_cells(
    selection: Selection,
    request: AuditRequest,
    tables: Mapping[str, AuditTable],
    facts: Mapping[str, Any],
) -> Selection:
    """Models against languages: changes or scores."""
    chosen = selection.cells if selection.cells in CELLS else "change"
    state.show_field("cells", chosen)
    st.radio("Show", CELLS, format_func=CELLS.__getitem__, horizontal=True, **state.bound("cells"))
    stem = f"models-by-language-{chosen}-{facts['dataset']}"
    if chosen == "change":
        rows = tables["cells"].rows
        show_figure(change_map(rows), stem, facts, table=rows)
        show_notes(tables["cells"])
    else:
        every = tables["score_map"].rows
        plain = {REFERENCE_CONDITION, *tables["cells"].rows["condition"]}
        rows = every[every["condition"].isin(plain)]
        show_figure(score_heatmap(rows, neutral_score(request)), stem, facts, table=rows)
    return replace(selection, cells=chosen)


def show_groups(
    selection: Selection, table: AuditTable, beside: Yardstick, facts: Mapping[str, Any]
) -> Selection:
    """The item tests of one way to group the items."""
    held = [name for name in SPLITS if (table.rows["group_kind"] == name).any()]
    if not held:
        st.info("The items name no source, dimension or judgment, and none is reworded.")
        return selection
    split = selection.split if selection.split in held else held[0]
    state.show_field("split", split)
    st.selectbox("By", held, format_func=SPLITS.__getitem__, **state.bound("split"))
    rows = table.rows[table.rows["group_kind"] == split]
    stem = f"item-tests-by-{split}-{facts['dataset']}"
    show_figure(group_plot(rows, beside, SPLITS[split]), stem, facts, table=rows)
    named = _with_names(rows).assign(over_items=_between(rows, "t"))
    columns = {c: v for c, v in TESTS.items() if c != "group" or split != "rewording"}
    show_table(table, columns, f"{stem}-table", rows=named)
    return replace(selection, split=split)


def show_kinds(table: AuditTable, facts: Mapping[str, Any]) -> None:
    """Does the verdict depend on the score?"""
    rows = table.rows
    stem = f"score-panel-{facts['dataset']}"
    show_figure(kinds_plot(rows, KIND_WORDS), stem, facts, table=rows)
    named = _with_names(rows).assign(
        score=rows["kind"].map(KIND_WORDS),
        finds=[finding(row) for row in rows.to_dict("records")],
        over_items=_between(rows, "drop"),
    )
    show_table(table, KINDS, f"{stem}-table", rows=named)


def show_fragility(selection: Selection, request: AuditRequest) -> Selection:
    """What the verdicts hang on: for all languages, then for one of them."""
    with st.spinner("Asking every test again on less, and in other ways …"):
        found = read_audit(request, ["fragility"], stamp=False)
    table, facts = found.tables["fragility"], found.provenance
    of_check = dict(iter(table.rows.groupby("check", sort=False)))
    fewest = of_check["fewest_items"]
    stem = f"fragility-{facts['dataset']}"
    show_table(
        AuditTable(fewest, table.notes), FEWEST, f"{stem}-fewest-items", rows=_with_names(fewest)
    )
    languages = fewest["condition"].tolist()
    language = selection.against if selection.against in languages else languages[0]
    state.show_field("against", language)
    st.selectbox("Language", languages, format_func=language_name, **state.bound("against"))
    _open_item(selection, fewest[fewest["condition"] == language].iloc[0])
    left_out = of_check.get("leave_out", table.rows.iloc[:0])
    rests = left_out[left_out["condition"] == language]
    flips = int(rests["flips"].fillna(False).sum())
    st.markdown(
        f"Leaving one group of items, model or rewording out flips the verdict on "
        f"**{language_name(language)}** in **{flips} of {len(rests)}** cases."
    )
    if len(rests):
        show_table(AuditTable(rests), LEFT_OUT, f"{stem}-{language}-leave-out")
    curve = of_check["specification"]
    curve = curve[curve["condition"] == language]
    show_figure(
        specification_curve(curve, KIND_WORDS), f"{stem}-{language}-curve", facts, table=curve
    )
    return replace(selection, against=language)


def _open_item(selection: Selection, row: pd.Series) -> None:
    """The items without which a verdict flips, with the way to each."""
    if pd.isna(row["n_items"]):
        st.caption(literal(str(row["reason"])))
        return
    ids = str(row["item_ids"]).split(", ")
    left, right = st.columns([5, 2], vertical_alignment="bottom")
    item = left.selectbox(f"One of the {len(ids)} items", ids, key=f"fragile-{row['condition']}")
    if right.button("Open on Items", icon=":material/open_in_new:", key="open-fragile"):
        scorer = {} if selection.scorer in selection.models else {"scorer": selection.models[0]}
        state.change(item=item, condition=row["condition"], **(scorer if selection.models else {}))
        st.switch_page("pages/items.py")


def show_natives(table: AuditTable, facts: Mapping[str, Any]) -> None:
    """Natives beside translations, of other items."""
    if table.rows.empty:
        show_notes(table)
        return
    show_table(table, NATIVES, f"natives-{facts['dataset']}", rows=_with_names(table.rows))


def show_consistency(selection: Selection, request: AuditRequest) -> Selection:
    """Gaps of each model to a reference language, and how consistent it is."""
    found = read_audit(request, ["css_clci"], stamp=False)
    rows = found.tables["css_clci"].rows
    languages = rows.loc[rows["quantity"] == "clci", "reference"].unique().tolist()
    reference = selection.reference if selection.reference in languages else languages[0]
    state.show_field("reference", reference)
    st.selectbox("Reference", languages, format_func=language_name, **state.bound("reference"))
    if reference != request.reference:
        found = read_audit(replace(request, reference=reference), ["css_clci"], stamp=False)
    st.caption(
        "css: |mean change| to the reference; clci: 1 − its mean over the other languages; "
        "rank_stability: does another reference rank the models alike? Absolute gaps of few items "
        "are never 0, so models without any bias have css above 0 too."
    )
    table = found.tables["css_clci"]
    show_table(table, CONSISTENCY, f"consistency-{reference}-{found.provenance['dataset']}")
    return replace(selection, reference=reference)


def _between(rows: pd.DataFrame, name: str) -> pd.Series:
    """Intervals as texts; missing where there is none."""
    pairs = zip(rows[f"{name}_low"], rows[f"{name}_high"], strict=True)
    texts = [interval(low, high) for low, high in pairs]
    return pd.Series([None if t == "–" else t for t in texts], index=rows.index, dtype=object)


def _with_names(rows: pd.DataFrame) -> pd.DataFrame:
    named = {POOLED: "all languages", REWORDING: "rewording of English"}
    names = [named.get(c, language_name(c) if "~" not in c else c) for c in rows["condition"]]
    return rows.assign(language=names)


def has_languages(found: Audit) -> bool:
    """Whether there is anything to compare with English."""
    return bool((found.tables["main"].rows["condition"] != REWORDING).any())

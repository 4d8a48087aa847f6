"""Parts of the Languages page: the tables beside the figures, fragility, consistency."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import streamlit as st

from core.analysis.audit.audit import Audit
from core.analysis.audit.columns import neutral_score
from core.analysis.audit.names import POOLED, REWORDING
from core.analysis.audit.request import AuditRequest, AuditTable, margin_of
from core.figures.cells import change_map, score_heatmap
from core.figures.drop_rows import Yardstick, interval
from core.figures.item_groups import group_plot
from core.figures.languages import drop_plot
from core.figures.score_kinds import found as finding
from core.figures.score_kinds import kinds_plot
from core.figures.specifications import specification_curve
from core.figures.theme import Figure, caption_of
from core.languages import language_name
from core.selection import BOUNDS, Selection
from core.settings import REFERENCE_CONDITION
from core.words import counted
from pages.shared import state
from pages.shared.absent import say_absent
from pages.shared.audit.audit import KIND_WORDS, read_audit
from pages.shared.audit.language_columns import (
    CONSISTENCY,
    FEWEST,
    KINDS,
    LEFT_OUT,
    MAIN,
    SHRUNK,
    TESTS,
)
from pages.shared.figures import literal, show_figure
from pages.shared.tables import show_notes, show_table

SPLITS = {
    "source": "source",
    "dimension": "dimension",
    "judgment": "judgment of the translation",
    "subset": "chosen subset",
    "rewording": "the rewordings themselves",
}
SHRUNK_CELL = ["scorer_id", "condition", "shrunk", "shrunk_low", "shrunk_high"]
CELLS = {"change": "Mean changes", "score": "Mean scores"}
ONE_MODEL = "one model: no spread"


def choose_margin(selection: Selection) -> None:
    """The margin of equivalence, which is part of the question and not of the answer."""
    left, right = st.columns([2, 6], vertical_alignment="bottom")
    state.show_field("margin", float(selection.margin))
    left.number_input(
        "Equivalence margin",
        min_value=BOUNDS["margin"][0],
        max_value=BOUNDS["margin"][1],
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
    return Yardstick(float(last["drop"]), int(last["n_models"]), margin_of(request))


def show_drops(found: Audit, beside: Yardstick) -> None:
    """The drop plot and the main table."""
    main, verdicts = found.tables["main"], found.tables["verdicts"].rows
    rows = main.rows[main.rows["condition"] != REWORDING]
    _show(drop_plot(rows, verdicts, beside), "drops", found, rows)
    show_table(main, MAIN, file_stem("languages", found), rows=main_rows(main.rows, verdicts))


def main_rows(main: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """The main table with names, what each language reads, and intervals as texts."""
    judged = verdicts.set_index("condition")
    over_models = between(main, "drop")
    alone = (main["n_models"] == 1) & (main["condition"] != REWORDING)
    return with_names(main).assign(
        reads=main["condition"].map(judged["reads"]),
        t_between=main["condition"].map(between(judged, "t90")),
        n_needed=main["condition"].map(judged["n_needed"]),
        over_items=between(main, "drop_items"),
        over_models=over_models.mask(alone.fillna(False), ONE_MODEL),
    )


def show_cells(selection: Selection, found: Audit, beside: Yardstick) -> Selection:
    """Models against languages: changes or scores."""
    say_absent("cells", CELLS)
    chosen = selection.cells if selection.cells in CELLS else "change"
    state.show_field("cells", chosen)
    st.radio("Show", CELLS, format_func=CELLS.__getitem__, horizontal=True, **state.bound("cells"))
    cells, scores = found.tables["cells"], found.tables["score_map"]
    if chosen == "change":
        rows = cells.rows.merge(found.tables["shrunk"].rows[SHRUNK_CELL], on=SHRUNK_CELL[:2])
        _show(change_map(rows, beside), "changes-by-model", found, rows)
        show_notes(cells)
        _show_shrunk(found)
    else:
        plain = {REFERENCE_CONDITION, *cells.rows["condition"]}
        rows = scores.rows[scores.rows["condition"].isin(plain)]
        neutral = neutral_score(found.request)
        _show(score_heatmap(rows, neutral), "scores-by-model", found, rows)
    return replace(selection, cells=chosen)


def _show_shrunk(found: Audit) -> None:
    """The reliable cells, beside what is left of them once chance is taken back."""
    table = found.tables["shrunk"]
    rows = table.rows
    reliable = rows["reliable"].fillna(False) | rows["reliable_rise"].fillna(False)
    if not reliable.any():
        return
    with st.expander(f"The reliable cells, shrunk ({int(reliable.sum())})"):
        st.caption(
            "Cells that pass a test were picked for being large, so their drops are too large on "
            "average. Shrunk: each pulled toward the mean of its language, by how unsure it is."
        )
        named = with_names(rows[reliable])
        named = named.assign(between=between(named, "shrunk"))
        show_table(table, SHRUNK, file_stem("reliable-cells", found), rows=named)


def show_groups(selection: Selection, found: Audit, beside: Yardstick) -> Selection:
    """The item tests of one way to group the items."""
    table = found.tables["item_tests"]
    held = [name for name in SPLITS if (table.rows["group_kind"] == name).any()]
    if not held:
        st.info("The items name no source, dimension or judgment, and none is reworded.")
        return selection
    say_absent("split", held)
    split = selection.split if selection.split in held else held[0]
    state.show_field("split", split)
    st.selectbox("By", held, format_func=SPLITS.__getitem__, **state.bound("split"))
    rows = table.rows[table.rows["group_kind"] == split]
    name = f"item-tests-by-{split}"
    _show(group_plot(rows, beside, SPLITS[split]), name, found, rows)
    named = with_names(rows).assign(over_items=between(rows, "t"))
    columns = {c: v for c, v in TESTS.items() if c != "group" or split != "rewording"}
    show_table(table, columns, f"{file_stem(name, found)}-table", rows=named)
    return replace(selection, split=split)


def show_kinds(found: Audit) -> None:
    """Does the verdict depend on the score?"""
    table = found.tables["score_panel"]
    rows = table.rows
    _show(kinds_plot(rows, KIND_WORDS), "score-panel", found, rows)
    named = with_names(rows).assign(
        score=rows["kind"].map(KIND_WORDS),
        finds=[finding(row) for row in rows.to_dict("records")],
        over_items=between(rows, "drop"),
    )
    show_table(table, KINDS, f"{file_stem('score-panel', found)}-table", rows=named)


def show_fragility(selection: Selection, request: AuditRequest) -> Selection:
    """What the verdicts hang on: for all languages, then for one of them."""
    with st.spinner("Asking every test again on less, and in other ways …"):
        found = read_audit(request, ["fragility"], stamp=False)
    table = found.tables["fragility"]
    of_check = dict(iter(table.rows.groupby("check", sort=False)))
    fewest = of_check["fewest_items"]
    stem = file_stem("fragility", found)
    show_table(
        AuditTable(fewest, table.notes), FEWEST, f"{stem}-fewest-items", rows=with_names(fewest)
    )
    st.caption(
        "These items are picked because the verdict turns without them. How few it takes says how "
        "firm a verdict is; what is left without them is no result of its own."
    )
    languages = fewest["condition"].tolist()
    say_absent("against", languages)
    language = selection.against if selection.against in languages else languages[0]
    state.show_field("against", language)
    st.selectbox("Language", languages, format_func=language_name, **state.bound("against"))
    _open_item(selection, fewest[fewest["condition"] == language].iloc[0])
    left_out = of_check.get("leave_out", table.rows.iloc[:0])
    rests = left_out[left_out["condition"] == language]
    judged = rests["flips"].dropna()
    st.markdown(
        "Leaving one group of items, one model or one rewording out flips the verdict on "
        f"**{language_name(language)}** in **{int(judged.sum())} of {len(judged)}** cases"
        + (f"; {len(rests) - len(judged)} are undefined." if len(judged) < len(rests) else ".")
    )
    if len(rests):
        show_table(AuditTable(rests), LEFT_OUT, f"{stem}-{language}-leave-out")
    curve = of_check["specification"]
    curve = curve[curve["condition"] == language]
    _show(specification_curve(curve, KIND_WORDS), f"specifications-{language}", found, curve)
    return replace(selection, against=language)


def _open_item(selection: Selection, row: pd.Series) -> None:
    """The items without which a verdict flips, with the way to each."""
    if pd.isna(row["n_items"]):
        st.caption(literal(str(row["reason"])))
        return
    ids = json.loads(row["item_ids"])
    left, right = st.columns([5, 2], vertical_alignment="bottom")
    item = left.selectbox(
        f"One of the {counted(len(ids), 'item')}", ids, key=f"fragile-{row['condition']}"
    )
    if right.button("Open on Items", icon=":material/open_in_new:", key="open-fragile"):
        other = selection.models and selection.scorer not in selection.models
        scorer = selection.models[0] if other else selection.scorer
        state.change(item=item, condition=row["condition"], scorer=scorer)
        st.switch_page("pages/items.py")


def show_consistency(selection: Selection, request: AuditRequest) -> Selection:
    """Gaps of each model to a reference language, and how consistent it is."""
    found = read_audit(request, ["css_clci"], stamp=False)
    rows = found.tables["css_clci"].rows
    languages = rows.loc[rows["quantity"] == "clci", "reference"].unique().tolist()
    say_absent("reference", languages)
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
    of_reference = table.rows["reference"].eq(reference)
    rows = table.rows[of_reference | table.rows["quantity"].eq("rank_stability")]
    show_table(table, CONSISTENCY, file_stem(f"consistency-{reference}", found), rows=rows)
    return replace(selection, reference=reference)


def _show(figure: Figure, name: str, found: Audit, table: pd.DataFrame) -> None:
    """A figure that says, wherever it is taken, of which scores it is."""
    n = len(found.provenance["scorers"])  # type: ignore[arg-type]
    whose = f"Data set {found.request.dataset}, score {KIND_WORDS[found.request.kind]}, "
    whose += f"{counted(n, 'model')}."
    figure.layout.meta = {"caption": f"{caption_of(figure)} {whose}"}
    show_figure(figure, file_stem(name, found), found.provenance, table=table)


def file_stem(name: str, found: Audit) -> str:
    """Of a file with numbers of this audit: its data set and kind of score are in it."""
    return f"{name}-{found.request.dataset}-{found.request.kind}"


def between(rows: pd.DataFrame, name: str) -> pd.Series:
    """Intervals as texts; missing where there is none."""
    pairs = zip(rows[f"{name}_low"], rows[f"{name}_high"], strict=True)
    texts = [interval(low, high) for low, high in pairs]
    return pd.Series([None if t == "–" else t for t in texts], index=rows.index, dtype=object)


def with_names(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with a column `language`: names of conditions for a person."""
    named = {POOLED: "all languages", REWORDING: "rewording"}
    names = [named.get(c, language_name(c) if "~" not in c else c) for c in rows["condition"]]
    return rows.assign(language=names)

"""What the pages about heads are of: a model, axes, concepts, and what they are held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from core.analysis.heads.chosen import parse_choice
from core.analysis.heads.question import HeadsQuestion
from core.axes.concepts import GROUPS
from core.axes.templates import FAMILIES
from core.errors import InputError
from core.selection import NO_REFERENCE, TEMPLATES, Selection
from core.stats.probes.projection import TOP_HEADS
from core.store.heads import AXIS, CONCEPT
from core.store.score_line import shell_line
from core.types import POOLINGS, Pooling
from core.words import precision_words, short_labels
from pages.shared import state
from pages.shared.data import open_cache
from pages.shared.figures import literal
from pages.shared.heads.data import (
    read_heads_content,
    read_held_against,
    read_readers,
    read_sets_of,
)
from pages.shared.heads.read_more import READ_DEMO, how_to_read_more, nothing_read
from pages.shared.heads.sets import References, counts_of, names_of
from pages.shared.widgets import errors_in_one_sentence

_WIDTH = 150  # px of a widget: five beside each other, or two on a narrow screen
POOLING_WORDS = {"mean": "mean over all tokens", "last": "last token"}
NAMES = {
    "reader": "model",
    "reader_compare": "second model",
    "axes": "set of axes",
    "concepts": "set of concepts",
    "reference_set": "set of phrases",
}


MOST_NAMED = 80  # characters of a name from a link that a sentence repeats


@dataclass(frozen=True)
class Asked:
    """What a page about heads is of."""

    selection: Selection  # with names of what there is
    question: HeadsQuestion  # k is that of the table of all axes
    labels: dict[str, str]  # of readers
    shapes: dict[str, tuple[int, int]]  # of readers: layers, heads of a layer
    second: str  # another set of phrases that was read, "" for none
    heads: str  # which are averaged, as a link writes it
    complaint: str  # why it is not what the selection asks for

    @property
    def model(self) -> str:
        return self.labels[self.question.reader_id]

    @property
    def shape(self) -> tuple[int, int]:
        return self.shapes[self.question.reader_id]


@errors_in_one_sentence()
def choose_heads(wanted: Selection, *, compare: bool = False) -> Asked:
    """The widgets above a page about heads; ends the page where nothing was read.

    Parameters
    ----------
    compare
        Whether a second model can be chosen.
    """
    held = read_readers()
    if held is None or held.empty:
        nothing_read()
        st.stop()
    labels = _labels(held)
    selection = replace(wanted, reader=_one(wanted.reader, list(labels)))
    sets = read_sets_of(selection.reader)
    selection = _known_sets(selection, sets)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _select("Model", "reader", selection, list(labels), labels)
        if compare:
            others = ["", *(r for r in labels if r != selection.reader)]
            selection = replace(selection, reader_compare=_one(selection.reader_compare, others))
            _select("Beside", "reader_compare", selection, others, labels | {"": "no other model"})
        _select("Axes", "axes", selection, names_of(sets, AXIS), counts_of(sets, AXIS))
        phrases, sizes = names_of(sets, CONCEPT), counts_of(sets, CONCEPT)
        kinds = References(phrases, read_held_against(selection.reader))
        placed = [n for n in phrases if n in kinds.concepts or n == selection.concepts]
        _select("Concepts", "concepts", selection, placed, sizes)
        against = [name for name in phrases if name != selection.concepts]
        sizes |= {NO_REFERENCE: "no phrases"}
        _select("Held against", "reference_set", selection, [*against, NO_REFERENCE], sizes)
        how_to_read_more(selection)
    selection = _choose_reading(selection, sets)
    _say_absent(wanted, selection)
    shapes = {
        str(row["reader_id"]): (int(row["n_layers"]), int(row["n_heads"]))
        for row in held.to_dict("records")
    }
    asked = _asked(selection, labels, shapes, sets)
    _say_changed(wanted, asked)
    return asked


def default_heads(shape: tuple[int, int]) -> str:
    """The heads that are averaged where nobody has chosen: as published, or all of a small one."""
    return f"k{TOP_HEADS}" if shape[0] * shape[1] > TOP_HEADS else "all"


def other_question(asked: Asked, reader_id: str) -> HeadsQuestion:
    """The same question to another model."""
    return replace(asked.question, reader_id=reader_id)


def against(question: HeadsQuestion, reference: str) -> HeadsQuestion:
    """The same question with other phrases to hold concepts against."""
    return replace(question, reference=reference)


def _asked(
    selection: Selection,
    labels: dict[str, str],
    shapes: dict[str, tuple[int, int]],
    sets: pd.DataFrame,
) -> Asked:
    shape = shapes[selection.reader]
    heads, complaint = selection.heads or default_heads(shape), ""
    try:
        choice = parse_choice(heads, *shape)
    except InputError as error:
        heads, complaint = default_heads(shape), str(error)
        choice = parse_choice(heads, *shape)
    of_table = choice if choice.box is None else parse_choice(default_heads(shape), *shape)
    pooling: Pooling = next(p for p in POOLINGS if p == selection.pooling)
    question = HeadsQuestion(
        reader_id=selection.reader,
        axes=selection.axes,
        concepts=selection.concepts,
        reference="" if selection.reference_set == NO_REFERENCE else selection.reference_set,
        family=selection.family,
        pooling=pooling,
        n_templates=selection.templates,
        k=of_table.k,
        seed=selection.seed,
    )
    kinds = References(names_of(sets, CONCEPT), read_held_against(selection.reader))
    others = [n for n in kinds.usual(question.concepts) if n != question.reference]
    second = others[-1] if others and question.reference else ""
    return Asked(selection, question, labels, shapes, second, str(choice), complaint)


def _known_sets(selection: Selection, sets: pd.DataFrame) -> Selection:
    """The selection with sets that were read; ends the page where there is none of a kind."""
    axes, phrases = names_of(sets, AXIS), names_of(sets, CONCEPT)
    for held, what in ((axes, "axis"), (phrases, "concept")):
        if not held:
            st.info(
                f"This model's heads were read for no {what} yet. Run a line like this one in the "
                "project's folder.",
                icon=":material/info:",
            )
            st.code(shell_line(open_cache(), *READ_DEMO), language="bash", wrap_lines=True)
            st.stop()
    kinds = References(phrases, read_held_against(selection.reader))
    first = next((name for name in GROUPS if name in kinds.concepts), kinds.concepts[0])
    chosen = selection.concepts if selection.concepts in phrases else first
    usual = kinds.usual(chosen)
    known = {*phrases, NO_REFERENCE} - {chosen}
    kept = selection.reference_set if selection.reference_set in known else ""
    name = _one(selection.axes, axes)
    families = sets.loc[(sets["kind"] == AXIS) & (sets["name"] == name), "family"]
    family = selection.family
    if len(families) and family not in set(families):
        family = str(families.iloc[0])
    return replace(
        selection,
        axes=name,
        concepts=chosen,
        reference_set=kept or (usual[0] if usual else NO_REFERENCE),
        family=family,
    )


def _choose_reading(selection: Selection, sets: pd.DataFrame) -> Selection:
    """How heads were read and directions made, folded away: templates, pooling, how many."""
    of_axes = sets[(sets["kind"] == AXIS) & (sets["name"] == selection.axes)]
    families = [f for f in FAMILIES if f in set(of_axes["family"])]
    said = f"{selection.family} templates, {POOLING_WORDS[selection.pooling]}"
    with st.expander(
        f"How: {said}, {selection.templates} sentences a pole", icon=":material/tune:"
    ):
        with st.container(horizontal=True):
            _select("Templates", "family", selection, families, {})
            _select("Pooling", "pooling", selection, list(POOLINGS), POOLING_WORDS)
            state.show_field("templates", selection.templates)
            st.selectbox(
                "Sentences of a pole", TEMPLATES, width=_WIDTH, **state.bound("templates", int)
            )
        st.caption(
            "A direction is the difference between the mean outputs of a head for sentences about "
            "either pole; a concept's value is its projection onto it, standardised over concepts "
            "and phrases together, and averaged over heads."
        )
    return selection


def _select(
    label: str, name: str, selection: Selection, options: list[str], words: dict[str, str]
) -> None:
    state.show_field(name, getattr(selection, name))
    st.selectbox(
        label,
        options,
        format_func=lambda value: words.get(value, value),
        width=_WIDTH,
        **state.bound(name),
    )


def _labels(held: pd.DataFrame) -> dict[str, str]:
    """What to call readers: the model and, where needed, how it was read or the reader's id."""
    full = [
        f"{row['model']}, {precision_words(row['dtype'], row['quantization'])}, "
        f"{row['device']}, special tokens {row['bos']}"
        for row in held.to_dict("records")
    ]
    short = short_labels(full)
    return {
        str(reader_id): name if short.count(name) == 1 else f"{name} ({str(reader_id)[:8]})"
        for reader_id, name in zip(held["reader_id"], short, strict=True)
    }


def _one(wanted: str, options: Sequence[str]) -> str:
    return wanted if wanted in options else options[0]


def _say_absent(wanted: Selection, shown: Selection) -> None:
    """Name what a link or another page asks for and this cache does not have."""
    sentences = state.link_problems()
    for name, words in NAMES.items():
        asked, got = getattr(wanted, name), getattr(shown, name)
        if asked and asked != got:
            instead = f"; {got} is shown instead" if got else ""
            why = "was not read here"
            if name == "reference_set" and asked == shown.concepts:
                why = "is what is placed, so that it is not held against itself"
            sentences = [*sentences, f"The {words} {asked[:MOST_NAMED]} {why}{instead}."]
    if sentences:
        lines = "\n".join(f"- {literal(sentence)}" for sentence in sentences)
        st.warning(f"Not everything is as it was asked for:\n\n{lines}", icon=":material/link_off:")


def _say_changed(wanted: Selection, asked: Asked) -> None:
    """Say that a link was made when sets of these names had another content."""
    linked = state.linked()
    names = ("axes", "concepts", "reference_set", "family")
    same = all(getattr(linked, n) == getattr(asked.selection, n) for n in names)
    if not same or linked.content.count("-") != 3:  # not of heads
        return
    here = read_heads_content(asked.question)
    if linked.content != here:
        then, now = (text.rpartition("-")[0] for text in (linked.content, here))
        which = f"{then} then, {now} now" if then != now else "as many, with other words"
        st.warning(
            "The sets have changed since this link was made (axes, concepts and phrases: "
            f"{literal(which)}); the numbers here are those of now.",
            icon=":material/link_off:",
        )

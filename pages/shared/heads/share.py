"""What leaves a page about heads: a link, code, a file of directions, where numbers come from."""

from __future__ import annotations

import streamlit as st

from core.analysis.heads.chosen import Chosen
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.sentences import axis_words, pole_words
from core.axes.axis import Axis
from core.export.directions import directions_bytes, snippet
from core.figures.theme import file_stem
from core.selection import Selection
from core.store.gate import Cache
from core.store.score_line import shell_line
from pages.shared import state
from pages.shared.data import open_cache
from pages.shared.heads.choice import Asked
from pages.shared.heads.data import read_heads_content, read_heads_provenance
from pages.shared.sharing import provenance_panel
from pages.shared.widgets import errors_in_one_sentence


def command(cache: Cache, question: HeadsQuestion, second: str = "") -> str:
    """The line that computes the table of all axes in a terminal, against both sets of phrases."""
    options: dict[str, object] = {
        "--reader": question.reader_id,
        "--axes": question.axes,
        "--concepts": question.concepts,
        "--family": question.family,
        "--pooling": question.pooling,
        "--templates": question.n_templates,
        "--k": question.k or 0,  # of all heads
        "--seed": question.seed,
    }
    words = [str(word) for pair in options.items() for word in pair]
    phrases = [name for name in (question.reference, second) if name]
    references = [word for name in phrases for word in ("--reference", name)]
    return shell_line(cache, "stereotypes", *words, *references, "--json")


def publish_heads(asked: Asked, selection: Selection) -> None:
    """Link, code and provenance at the foot of a page; the state goes into the address."""
    with errors_in_one_sentence():
        content = read_heads_content(asked.question)
        facts = read_heads_provenance(asked.question)
    state.put(selection)
    state.change(content=content, page=selection.page)
    published = state.current()
    with st.container(horizontal=True):
        with st.popover("Link", icon=":material/link:"):
            st.caption(
                "Shows these choices to whoever has the same cache. It holds the choices of all "
                "pages, defaults too, but not which tab is open. The second set of phrases is not "
                "in it: there it is the last of those that were read for these concepts."
            )
            st.code(state.link(published), language=None, wrap_lines=True)
        with st.popover("Code", icon=":material/code:"):
            st.caption("All axes of this set, in a terminal, in the project's folder:")
            line = command(open_cache(), asked.question, asked.second)
            st.code(line, language="bash", wrap_lines=True)
    provenance_panel(facts)
    state.publish(published)


def take_along(asked: Asked, axis: Axis, found: Chosen, concept: str) -> None:
    """The axis's directions as a file, and code that puts a phrase onto them."""
    name = f"{file_stem(f'{axis_words(axis)}-{asked.model}')}.safetensors"
    st.markdown(
        "Every head's direction with what standardises its projections, and the chosen heads: all "
        "that puts a phrase onto the axis."
    )
    question = asked.question
    st.download_button(
        "Directions (safetensors)",
        lambda: directions_bytes(open_cache(), question, axis, found),
        name,
        "application/octet-stream",
        icon=":material/download:",
        on_click="ignore",
        key="directions",
    )
    st.caption("In Python, in the project's folder, with the file there:")
    st.code(snippet(open_cache(), name, concept), language="python")


def heads_stem(asked: Asked, axis: Axis) -> str:
    """Beginning of the names of files about an axis in the chosen heads."""
    return file_stem(f"{axis_stem(axis, asked.model)}-{asked.heads}")


def axis_stem(axis: Axis, model: str) -> str:
    """Beginning of the names of files about an axis."""
    return file_stem("-".join([*pole_words(axis), model]))

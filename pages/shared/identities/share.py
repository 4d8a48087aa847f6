"""What leaves the page about identity pairs: a link, code, and where the numbers come from."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.selection import Selection
from core.store.audit_content import AuditContent
from core.store.score_line import shell_line
from pages.shared import state
from pages.shared.data import open_cache, read_audit_content, read_provenance
from pages.shared.identities.choice import Asked
from pages.shared.identities.data import ITEMS, IdentityQuestion, read_generations
from pages.shared.sharing import provenance_panel, say_changed
from pages.shared.widgets import errors_in_one_sentence


def command(question: IdentityQuestion) -> str:
    """The line that computes the same tables in a terminal."""
    words = ["--dataset", question.dataset]
    words += [word for scorer in question.scorers for word in ("--scorer", scorer)]
    words += ["--against", question.other_set] if question.other_set else []
    words += ["--seed", str(question.seed), "--json"]
    return shell_line(open_cache(), "identity-pairs", *words)


def say_what_changed(asked: Asked) -> None:
    """Say that these are other scores than when the link was made; else nothing."""
    say_changed(asked.question.dataset, asked.question.scorers, _content(asked))


def publish_pairs(asked: Asked) -> None:
    """Link, code and provenance at the foot of the page; the state goes into the address."""
    selection: Selection = replace(asked.selection, content=str(_content(asked)))
    with st.container(horizontal=True):
        with st.popover("Link", icon=":material/link:"):
            st.caption("Shows this page as it is now to whoever has the same cache.")
            st.code(state.link(selection), language=None, wrap_lines=True)
        with st.popover("Code", icon=":material/code:"):
            st.caption("All tables, in a terminal, in the project's folder:")
            st.code(command(asked.question), language="bash", wrap_lines=True)
    with errors_in_one_sentence():
        provenance_panel(read_provenance(asked.model.scorer_id, asked.question.dataset))
    state.put(selection)
    state.publish(selection)


def _content(asked: Asked) -> AuditContent:
    dataset, models = asked.question.dataset, asked.panel.models
    numbers = read_generations(dataset, [model.scorer_id for model in models])
    return read_audit_content(dataset, numbers, numbers.pop(ITEMS))

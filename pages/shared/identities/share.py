"""What leaves the page about identity pairs: a link, code, and where the numbers come from."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.selection import Selection
from core.store.audit_content import AuditContent
from core.store.audit_content import read_audit_content as read_link
from core.store.content_beside import difference_beside, part_beside
from core.store.score_line import shell_line
from pages.shared import state
from pages.shared.data import open_cache, read_audit_content, read_provenance
from pages.shared.figures import literal
from pages.shared.identities.choice import Asked
from pages.shared.identities.data import (
    ITEMS,
    IdentityQuestion,
    read_generations,
    read_scorers,
)
from pages.shared.sharing import provenance_panel, say_changed
from pages.shared.widgets import errors_in_one_sentence


def command(question: IdentityQuestion) -> str:
    """The line that computes the same tables in a terminal."""
    words = ["--dataset", question.dataset]
    words += [word for scorer in question.scorers for word in ("--scorer", scorer)]
    words += ["--against", question.other_set] if question.other_set else []
    words += ["--condition", question.condition]
    words += ["--seed", str(question.seed), "--json"]
    return shell_line(open_cache(), "identity-pairs", *words)


def say_what_changed(asked: Asked) -> None:
    """Say that these are other scores than when the link was made, of either data set."""
    question, linked = asked.question, state.linked()
    say_changed(question.dataset, question.scorers, _content(question, question.dataset))
    then = read_link(linked.content)
    shown = (question.dataset, question.scorers, question.other_set)
    if then is None or (linked.dataset, linked.models, linked.other_set) != shown:
        return
    if linked.slice or not (then.part and question.other_set):
        return
    now = _content(question, question.other_set)
    if differs := difference_beside(then.part, question.other_set, now):
        st.warning(
            f"The data of {literal(question.other_set)} have changed since this link was made "
            f"({differs}); the numbers here are those of now.",
            icon=":material/link_off:",
        )


def publish_pairs(asked: Asked) -> None:
    """Link, code and provenance at the foot of the page; the state goes into the address."""
    selection: Selection = replace(asked.selection, content=str(_content_of_link(asked)))
    with st.container(horizontal=True):
        with st.popover("Link", icon=":material/link:"):
            st.caption(
                f"Shows this page as it is now to whoever has the same cache.{_unseen(asked)}"
            )
            st.code(state.link(selection), language=None, wrap_lines=True)
        with st.popover("Code", icon=":material/code:"):
            st.caption("All tables, in a terminal, in the project's folder:")
            st.code(command(asked.question), language="bash", wrap_lines=True)
    with errors_in_one_sentence():
        provenance_panel(read_provenance(asked.model.scorer_id, asked.question.dataset))
    state.put(selection)
    state.publish(selection)


def _content(question: IdentityQuestion, dataset: str) -> AuditContent:
    """The scores of one of the question's data sets."""
    numbers = read_generations(dataset, read_scorers(dataset, question.scorers))
    return read_audit_content(dataset, numbers, numbers.pop(ITEMS))


def _content_of_link(asked: Asked) -> AuditContent:
    """The scores of the first data set, and of the one beside it where no slice takes its place."""
    question = asked.question
    content = _content(question, question.dataset)
    if asked.selection.slice or not question.other_set:
        return content
    beside = _content(question, question.other_set)
    return content._replace(part=part_beside(question.other_set, beside))


def _unseen(asked: Asked) -> str:
    """What the link does not see change; empty where it sees all."""
    other = asked.question.other_set
    if not (other and asked.selection.slice):
        return ""
    return f" With a slice chosen, it does not tell when the scores of {literal(other)} change."

"""What to run so that a page about heads has something to show, or more."""

from __future__ import annotations

import streamlit as st

from core.jobs.spec import AXES
from core.selection import Selection
from core.store.score_line import shell_line
from pages.shared.data import open_cache
from pages.shared.jobs.jobs import read_jobs, show_jobs

READ_DEMO = (
    *("axes", "--model", "demo", "--axes", "demo", "--concepts", "groups25"),
    *("--reference", "published", "--reference", "people"),
)


def how_to_read_more(selection: Selection) -> None:
    """The lines that read one's own groups, and another model."""

    def line(*words: str) -> str:
        shared = ("axes", "--model", "MODEL", "--axes", selection.axes)
        return shell_line(open_cache(), *shared, *words, "--reference", "people")

    with st.popover("Own groups, another model", icon=":material/add:"):
        st.caption(
            "Groups of your own: a table in the project's folder with a column `text`, and "
            "`warmth` and `competence` (1 or \u22121) where they are known. They are read with "
            "phrases of their form, and can then be chosen under *Concepts*."
        )
        st.code(line("--concepts", "my_groups.csv"), language="bash", wrap_lines=True)
        st.caption("Another model, which can then be chosen under *Beside* on the head map:")
        other = line("--concepts", selection.concepts, "--reference", "published")
        st.code(other, language="bash", wrap_lines=True)
        st.caption("MODEL is demo, a model folder, or a name of the hub.")


def nothing_read() -> None:
    """What to do where no model's heads were read; how far a job is that reads some."""
    reading = [view for view in read_jobs() if view.alive and view.command in (AXES, "demo")]
    if reading:
        then = ", once it has scored its items" if reading[0].command == "demo" else ""
        st.info(
            f"No model's heads are stored yet. A job is at it and reads some{then}; this page "
            "shows them when it ends.",
            icon=":material/hourglass_top:",
        )
        ids = {view.run_id for view in reading}
        show_jobs(lambda views: [view for view in views if view.run_id in ids])
        return
    st.info(
        "No model's heads were read yet. Run this line in the project's folder: it reads the demo "
        "model for 24 axes of warmth and competence, which takes a few minutes. In the place of "
        "the first demo it takes any model folder or hub name.",
        icon=":material/info:",
    )
    st.code(shell_line(open_cache(), *READ_DEMO), language="bash", wrap_lines=True)

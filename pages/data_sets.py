"""Data sets: what is in my data?"""

from dataclasses import replace

import streamlit as st

from pages.shared import state
from pages.shared.data import read_overview
from pages.shared.data_sets.importing import import_form, say_imported
from pages.shared.data_sets.stored import show_stored
from pages.shared.figures import literal
from pages.shared.items.item_card import sensitive_css
from pages.shared.routing import require_router
from pages.shared.widgets import content_warning, errors_in_one_sentence

require_router()
st.title("Data sets")
st.markdown(
    "What is in my data? Read a file of items, see every problem by its row and the roles that "
    "were derived, and store it; then see what became of its rows."
)
content_warning()
if st.toggle("Blur texts until the pointer is on them", key="blur", persist_state="session"):
    st.html(sensitive_css())
with errors_in_one_sentence():
    held = read_overview()
is_empty = held is None or held.datasets.empty
say_imported()
with st.expander("Import a data set", icon=":material/upload_file:", expanded=is_empty):
    import_form()
if held is None or is_empty:
    st.info(
        "There is no data set in the cache yet. Import one above, or score the demo items on Home.",
        icon=":material/info:",
    )
    st.stop()

names = held.datasets["dataset"].tolist()
wanted = state.current().dataset
if wanted and wanted not in names:
    st.warning(literal(f"This cache has no data set {wanted}; another one is shown."))
dataset = wanted if wanted in names else names[-1]
state.show_field("dataset", dataset)
st.selectbox("Data set", names, **state.bound("dataset"))
with errors_in_one_sentence():
    show_stored(held.datasets[held.datasets["dataset"] == dataset].iloc[0], held)
selection = replace(state.current(), dataset=dataset)
state.put(selection)
state.publish(selection)

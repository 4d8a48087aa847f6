"""The router: which pages there are, nothing else."""

import streamlit as st

st.set_page_config(page_title="Stereoscope", page_icon=":material/view_in_ar:", layout="wide")
st.navigation(
    {
        "": [st.Page("pages/home.py", title="Home", icon=":material/home:", default=True)],
        "Scores": [st.Page("pages/items.py", title="Items", icon=":material/list_alt:")],
    }
).run()

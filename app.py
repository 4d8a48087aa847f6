"""The app's entry: `streamlit run app.py` runs the router over pages/, nothing else."""

from pages.shared.routing import run_router

run_router()

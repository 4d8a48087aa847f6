"""What the Languages page shows of a data set without a gap to judge: what one version tells."""

from __future__ import annotations

import streamlit as st

from core.analysis.audit.audit import Audit
from core.analysis.audit.panel import is_plain
from core.analysis.audit.request import AuditTable
from core.analysis.audit.unknown_fluency import official_rows
from core.settings import REFERENCE_CONDITION
from pages.shared.audit.language_columns import OFFICIAL, UNKNOWN
from pages.shared.audit.languages import file_stem, with_names
from pages.shared.tables import show_table

NO_ENGLISH = "No item has an English version here, so there is no gap to judge."
NO_TRANSLATION = "The data set has no translation, so there is no gap to judge."


def has_languages(found: Audit) -> bool:
    """Whether there is anything to compare with English."""
    plain = [c for c in _conditions(found) if is_plain(c)]
    return REFERENCE_CONDITION in plain and len(plain) > 1


def show_alone(found: Audit) -> None:
    """Why there is no gap, and what the versions that are there tell by themselves."""
    has_english = REFERENCE_CONDITION in _conditions(found)
    st.info(NO_TRANSLATION if has_english else NO_ENGLISH, icon=":material/info:")
    unknown = found.tables["bbq_unknown"].rows
    unknown = unknown[unknown["n"] > 0]
    if len(unknown):
        st.subheader("How often is the unknown answer preferred?")
        stem = file_stem("unknown", found)
        show_table(AuditTable(unknown), UNKNOWN, stem, rows=with_names(unknown))
    if len(official_rows(found.tables["fluency_icat"])):
        st.subheader("StereoSet's own metric")
        show_official(found)


def show_official(found: Audit) -> None:
    """StereoSet's metric by model and version."""
    rows = official_rows(found.tables["fluency_icat"])
    st.caption(
        "Nadeem et al. 2021: shares of items by target term, then means over the terms. They need "
        "the order of the three continuations alone, so scores of any scale have them."
    )
    show_table(AuditTable(rows), OFFICIAL, file_stem("stereoset", found), rows=with_names(rows))


def _conditions(found: Audit) -> list[str]:
    conditions = found.provenance["conditions"]
    return list(conditions) if isinstance(conditions, list) else []

"""What the parts of the Noise floor page are told, and how they show numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.audit.audit import Audit, audit_panel
from core.analysis.audit.distributions import Distributions, distributions
from core.analysis.audit.floors import floors_by_model
from core.analysis.audit.request import AuditRequest, AuditTable
from core.store.gate import Cache
from pages.shared.audit.audit import KIND_WORDS
from pages.shared.data import Stamp, key_of


@dataclass(frozen=True)
class Shown:
    """What every part of the page is told."""

    found: Audit
    names: Mapping[str, str]  # scorer id -> what its model is called, short
    score: str  # kind of score, in words
    dataset: str

    def rows(self, table: str) -> pd.DataFrame:
        """The rows of a table of the audit."""
        return self.found.tables[table].rows

    @property
    def n_models(self) -> int:
        """Models of the audit."""
        return len(self.names)

    def who(self, scorer_id: str) -> str:
        """Whose mean, as the end of a phrase."""
        if scorer_id or self.n_models == 1:
            return f"of {self.names[scorer_id or next(iter(self.names))]}"
        return f"over {self.n_models} models"

    def with_interval(self, languages: pd.DataFrame) -> pd.DataFrame:
        """The mean changes of languages with the item interval that their verdicts rest on.

        Only where both are of the same items.
        """
        known = self.rows("verdicts").set_index("condition").loc[languages["condition"]]
        same = known["n"].to_numpy() == languages["n"].to_numpy()
        low, high = -known["drop_high"].to_numpy(), -known["drop_low"].to_numpy()
        return languages.assign(
            change_low=np.where(same, low, np.nan), change_high=np.where(same, high, np.nan)
        )


def shown_of(found: Audit, names: Mapping[str, str]) -> Shown:
    """What the parts are told, from the audit."""
    request = found.request
    return Shown(found, names, f"score ({KIND_WORDS[request.kind]})", request.dataset)


def read_floors(request: AuditRequest) -> AuditTable:
    """The noise floor of each model. Shared: do not change it."""
    return _floors(*key_of(request))


def read_item_changes(request: AuditRequest, scorer_id: str) -> Distributions:
    """Changes of single items, of a model or of all. Shared: do not change it."""
    return _item_changes(*key_of(request), scorer_id)


@st.cache_resource(max_entries=50, show_spinner=False)
def _floors(folder: str, stamp: Stamp, request: AuditRequest) -> AuditTable:
    return floors_by_model(audit_panel(Cache(Path(folder)), request), request)


@st.cache_resource(max_entries=50, show_spinner=False)
def _item_changes(
    folder: str, stamp: Stamp, request: AuditRequest, scorer_id: str
) -> Distributions:
    return distributions(audit_panel(Cache(Path(folder)), request), request, scorer_id)


def number(label: str, help_text: str = "", digits: int = 4, sign: bool = False) -> Any:
    """A column of numbers, with their sign where they are differences."""
    form = f"%{'+' if sign else ''}.{digits}f"
    return st.column_config.NumberColumn(label, help=help_text or None, format=form)


def pinned(label: str) -> Any:
    """A column that stays in sight and leaves room for others on a narrow screen."""
    return st.column_config.TextColumn(label, pinned=True, width=110)

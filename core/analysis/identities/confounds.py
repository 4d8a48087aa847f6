"""Which pairs of a data set in the cache differ in more than the identity, and in which words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from core.analysis.audit.request import AuditTable
from core.analysis.identities.panel import IdentityPanel, PairKey
from core.analysis.identities.rows import UNNAMED
from core.items.pair_confounds import differing_words, is_confounded, is_identity_pair
from core.store.gate import Cache
from core.store.items import stored_items
from core.words import counted

CONFOUNDS = "confounds"
SHOWN_WORDS = 3
_GROUP = ["identity", "counterfactual", "template"]


def confounded_pairs(cache: Cache, dataset: str) -> dict[PairKey, str]:
    """The words in which each confounded pair differs, "lesbische vrouwen / hetero mensen".

    Only pairs that name an identity and a counterfactual one can be told.

    Raises
    ------
    InputError
        There is no such data set.
    """
    pairs = filter(is_identity_pair, stored_items(cache, dataset))
    return {
        (dataset, one.condition, one.item_id): " / ".join(differing_words(one))
        for one in pairs
        if is_confounded(one)
    }


def confounds(panels: Sequence[IdentityPanel], confounded: Mapping[PairKey, str]) -> AuditTable:
    """How many pairs differ in more than the identity, by identity, counterfactual and template.

    `words` are those in which they differ, the most frequent first.

    Parameters
    ----------
    confounded
        Of `confounded_pairs`.
    """
    rows = pd.concat([_confounds(panel, confounded) for panel in panels], ignore_index=True)
    n, n_bad = int(rows["n"].sum()), int(rows["n_confounded"].sum())
    note = f"{counted(n_bad, 'pair')} of {n:,} differ in more than the identity"
    return AuditTable(rows, (f"{note}; only those that name a counterfactual can be told.",))


def _confounds(panel: IdentityPanel, confounded: Mapping[PairKey, str]) -> pd.DataFrame:
    words = pd.Series(map(confounded.get, panel.keys), dtype=object)
    facts = panel.facts[_GROUP].astype(str).assign(words=words)
    by = facts.groupby(_GROUP, sort=False)["words"]
    rows = pd.DataFrame(
        {"n": by.size(), "n_confounded": by.count(), "words": by.agg(_most_frequent)}
    ).reset_index()
    order = {identity: at for at, identity in enumerate(panel.identities)}
    rows = rows.iloc[np.argsort(rows["identity"].map(order).to_numpy(), kind="stable")]
    return rows.assign(
        template=rows["template"].replace("", UNNAMED),
        condition=panel.condition,
        share_confounded=rows["n_confounded"] / rows["n"],
        reason="",
    )


def _most_frequent(words: pd.Series) -> str:
    """The most frequent of some words, and how many others there are."""
    found = [word for word, _ in Counter(words.dropna()).most_common()]
    more = len(found) - SHOWN_WORDS
    return "; ".join(found[:SHOWN_WORDS]) + (f"; and {more:,} more" if more > 0 else "")

"""The bias tables of identity pairs: which there are, and with and without confounded pairs.

After "WinoQueer-NL" (arXiv 2609.02651). A confounded pair differs in more than its identity, so
that what a model prefers may have another cause; with a list of them every table stands there
twice, which a column tells apart. No table says that a model is fair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from core.analysis.audit.request import AuditTable
from core.analysis.identities.harm import harmfulness, predicates
from core.analysis.identities.languages import LEFT_OUT, languages
from core.analysis.identities.overview import identities, overview
from core.analysis.identities.panel import IdentityPanel
from core.analysis.identities.parts import (
    counterfactuals,
    counts,
    kinds,
    name_groups,
    rules,
    templates,
    tiers,
)
from core.analysis.identities.rows import IdentityRequest
from core.errors import InputError
from core.words import counted

ALL_PAIRS, WITHOUT = "all", "without confounded"
LANGUAGES = "languages"

_OF_ONE: dict[str, Callable[[IdentityPanel, IdentityRequest], AuditTable]] = {
    "overview": overview,
    "identities": identities,
    "tiers": tiers,
    "templates": templates,
    "names": name_groups,
    "counterfactuals": counterfactuals,
    "rules": rules,
    "kinds": kinds,
    "harmfulness": harmfulness,
    "predicates": predicates,
    "counts": counts,
}
TABLES = (*_OF_ONE, LANGUAGES)


def identity_table(
    panels: Sequence[IdentityPanel], name: str, request: IdentityRequest
) -> AuditTable:
    """A table of identity pairs, the conditions below one another.

    Parameters
    ----------
    panels
        Of `identity_panels`, also of several data sets.
    request
        With confounded pairs, a column `pairs` says all or without confounded, and the rows
        without follow those with.

    Raises
    ------
    InputError
        There is no such table, or nothing in common to set languages against one another by.
    """
    if name not in TABLES:
        raise InputError(f"{name!r} is not a table; choose from: {', '.join(TABLES)}.")
    table = _stacked(panels, name, request)
    if not request.confounded:
        return table
    kept = [panel.without(request.confounded) for panel in panels]
    n_out = sum(len(p.facts) - len(k.facts) for p, k in zip(panels, kept, strict=True))
    if not n_out:
        return table
    rest = _without(kept, name, request)
    rows, notes = [table.rows.assign(pairs=ALL_PAIRS)], table.notes
    note = f"{counted(n_out, 'pair differs', 'pairs differ')} in more than the identity"
    if rest is None:
        notes = (*notes, f"{note}: none is left without them.")
    else:
        rows.append(rest.rows.assign(pairs=WITHOUT))
        gone = tuple(n for n in rest.notes if n.startswith(LEFT_OUT) and n not in notes)
        notes = (*notes, *gone, f"{note}; each row stands here with and without them.")
    whole = pd.concat(rows, ignore_index=True)
    whole.insert(0, "pairs", whole.pop("pairs"))
    return AuditTable(whole, notes)


def _without(
    kept: Sequence[IdentityPanel], name: str, request: IdentityRequest
) -> AuditTable | None:
    """The table of what is left without confounded pairs; None where that is nothing."""
    some = [panel for panel in kept if len(panel.facts)]
    if name != LANGUAGES:
        return _stacked(some, name, request) if some else None
    if len(some) < 2 or some[0] is not kept[0]:
        return None  # of the language that the others are held against, or of them
    try:
        return _stacked(some, name, request)
    except InputError:  # all that they share is confounded
        return None


def _stacked(panels: Sequence[IdentityPanel], name: str, request: IdentityRequest) -> AuditTable:
    if name == LANGUAGES:
        return languages(panels, request)
    tables = [_OF_ONE[name](panel, request) for panel in panels]
    rows = pd.concat([table.rows for table in tables], ignore_index=True)
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    return AuditTable(rows, tuple(notes))

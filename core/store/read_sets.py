"""Which sets of axes and phrases a reader's heads were read for, and what is held against what."""

from __future__ import annotations

import pandas as pd

from core.store.fetch import frame
from core.store.gate import Cache
from core.store.heads import AXIS, CONCEPT, POLE

_SETS = f"""
WITH held AS (
    SELECT DISTINCT kind, family, key FROM head_array
    WHERE reader_id = $reader AND kind IN ('{AXIS}', '{CONCEPT}')
), members AS (
    SELECT '{AXIS}' AS kind, axis_set AS name, axis_id AS key FROM axis
    UNION ALL
    SELECT '{CONCEPT}', concept_set, concept FROM concept
), sizes AS (
    SELECT kind, name, count(*) AS n FROM members GROUP BY ALL
)
SELECT kind, name, family, count(*) AS n_read, any_value(n) AS n
FROM members JOIN held USING (kind, key) JOIN sizes USING (kind, name)
GROUP BY ALL ORDER BY ALL
"""

_AXES_READ = f"""
WITH held AS (
    SELECT kind, key FROM head_array WHERE reader_id = $reader AND family = $family
)
SELECT axis_id FROM axis WHERE axis_set = $name
    AND axis_id IN (SELECT key FROM held WHERE kind = '{AXIS}')
    AND negative IN (SELECT key FROM held WHERE kind = '{POLE}')
    AND positive IN (SELECT key FROM held WHERE kind = '{POLE}')
"""


def read_sets(cache: Cache, reader_id: str) -> pd.DataFrame:
    """Every set of which a reader has read something.

    Returns
    -------
    DataFrame
        kind (axis or concept), name, family of templates ("" for concepts), n_read, n: members
        that were read, and all. What was read of other sentences under the same name counts too:
        whoever wants the arrays is told then.
    """
    with cache.reading() as con:
        return frame(con, _SETS, {"reader": reader_id})


def axes_read(cache: Cache, reader_id: str, family: str, name: str) -> set[str]:
    """The ids of those axes of a set that a reader's heads were read for, with both poles.

    By their names, as in `read_sets`.
    """
    with cache.reading() as con:
        rows = con.execute(
            _AXES_READ, {"reader": reader_id, "family": family, "name": name}
        ).fetchall()
    return {axis_id for (axis_id,) in rows}


def held_against(cache: Cache, reader_id: str) -> list[tuple[str, str]]:
    """Which set of concepts stored results hold against which set of reference phrases."""
    with cache.reading() as con:
        rows = con.execute(
            "SELECT DISTINCT concept_set, reference_set FROM axis_result "
            "WHERE reader_id = ? AND reference_set != '' ORDER BY ALL",
            [reader_id],
        ).fetchall()
    return [(concepts, reference) for concepts, reference in rows]

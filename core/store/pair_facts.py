"""What identity pairs are about, and the scores of all scorers at once: without a single text.

The facts stand in the items' metadata, whoever put them there: the import of WinoQueer
(core/items/formats/winoqueer.py), survey answers (core/items/predicate_join.py), the pair builder.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from core.store.fetch import frame
from core.store.gate import Cache
from core.store.items import check_dataset
from core.store.pair_rows import ALWAYS, ELSEWHERE, UNINFORMATIVE

_PREDICATE = (
    "coalesce(metadata->>'predicate_name', metadata->>'predicate_en', metadata->>'predicate', '')"
)
_FACTS = f"""
SELECT item_id, condition, row_order,
    coalesce(metadata->>'identity', '') AS identity,
    coalesce(metadata->>'counterfactual', '') AS counterfactual,
    {_PREDICATE} AS predicate,
    metadata->>'predicate_name' IS NOT NULL OR metadata->>'predicate_en' IS NOT NULL AS has_name,
    coalesce(metadata->>'template', '') AS template,
    coalesce(metadata->>'name', '') AS name,
    coalesce(metadata->>'name_group', '') AS name_group,
    CASE WHEN metadata->>'tier' IN ('-1', '1', '2', '3') THEN (metadata->>'tier')::INTEGER END
        AS tier,
    coalesce(lower(metadata->>'survey_added') IN ('true', '1'), false) AS survey_added,
    try_cast(metadata->>'harmfulness' AS DOUBLE) AS rated,
    CASE WHEN rated BETWEEN -1 AND 4 THEN rated END AS harmfulness
FROM pair WHERE dataset = $dataset AND NOT collapsed ORDER BY row_order
"""
_SCORED = f"""
SELECT scorer_id, unit, row_order, score_more, score_less,
    list_contains(flags, '{UNINFORMATIVE}') AS uninformative
FROM pair_score JOIN pair USING (dataset, item_id, condition)
WHERE dataset = $dataset AND align IN ('{ALWAYS}', '{ELSEWHERE}') AND NOT collapsed
    AND scorer_id IN (SELECT unnest($scorers::VARCHAR[]))
"""


def pair_facts(cache: Cache, dataset: str) -> pd.DataFrame:
    """What every pair of a data set is about, in the order of the import; no collapsed one.

    Columns: item_id, condition, row_order, `identity` and `counterfactual` (English names),
    `predicate` (its name where there is one, else its form in the sentence), `has_name` (whether it
    has), template, name, name_group, each empty where unknown; `tier` (1 to 3, -1 excluded),
    `survey_added`, and `harmfulness` (-1 to 4; `rated` also has what is outside).

    Raises
    ------
    InputError
        There is no such data set.
    """
    with cache.reading() as con:
        check_dataset(con, dataset)
        return frame(con, _FACTS, {"dataset": dataset})


def identity_datasets(cache: Cache) -> list[str]:
    """Names of the data sets with a pair that names its identity and its predicate."""
    with cache.reading() as con:
        rows = con.execute(
            f"SELECT dataset FROM pair WHERE metadata->>'identity' <> '' AND {_PREDICATE} <> '' "
            "GROUP BY dataset ORDER BY dataset"
        ).fetchall()
        return [dataset for (dataset,) in rows]


def pair_scorers(cache: Cache, dataset: str) -> list[str]:
    """Ids of the scorers with scores of pairs of a data set, in the order of their arrival."""
    with cache.reading() as con:
        rows = con.execute(
            "SELECT scorer_id FROM scorer WHERE scorer_id IN "
            "(SELECT scorer_id FROM pair_score WHERE dataset = ?) ORDER BY created_at, scorer_id",
            [dataset],
        ).fetchall()
        return [scorer_id for (scorer_id,) in rows]


def scorers_with_pairs(cache: Cache, dataset: str, wanted: Sequence[str]) -> list[str]:
    """Those of the wanted scorers that have scores of pairs of a data set; with none that has, all.

    The same model's imported scores of two data sets are two scorers, so that of those chosen in
    one set none may be in the other.
    """
    held = pair_scorers(cache, dataset)
    return [scorer_id for scorer_id in wanted if scorer_id in held] or held


def scores_of_pairs(cache: Cache, dataset: str, scorer_ids: Sequence[str]) -> pd.DataFrame:
    """Scores of pairs under several scorers, by words and by tokens.

    Columns: scorer_id, `unit` (word, token, or elsewhere for scores that another program computed
    by its own rule), row_order, score_more and score_less (nats), uninformative.
    """
    with cache.reading() as con:
        return frame(con, _SCORED, {"dataset": dataset, "scorers": list(scorer_ids)})

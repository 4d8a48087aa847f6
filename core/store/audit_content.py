"""Which scores an audit is of, in a few numbers: where they differ, the data have changed.

A link carries them, so that a page opened later, or on another cache, can say so. That they agree
is no proof that nothing changed: changes of scores that cancel in one weighted sum, or are as small
as rounding, go unseen, and so do numbers of tokens of the same texts.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from core.store.derive import KNOWN
from core.store.fetch import first_row
from core.store.gate import Cache
from core.store.slices import get_slice

# The first number is that of the weights: with others, the same scores have another sum.
_FORM = re.compile(r"2_(\d+)_([0-9a-f]{16})_(-?\d+\.\d{4})(?:_([0-9a-f]{16}))?")
# Nats by which the same score may differ in two caches: batches are put together differently.
_ROUNDING = 1e-4


class AuditContent(NamedTuple):
    """The scores of a data set under some scorers, and which part of it is looked at.

    `str()` writes them for a link.
    """

    n_scored: int  # items, counted once per condition and scorer
    texts: str  # hash of scorers and texts, whatever their order
    total: float  # weighted sum of all scores, nats
    part: str = ""  # hash of the slice that they are of; empty without one

    def __str__(self) -> str:
        scores = f"2_{self.n_scored}_{self.texts}_{self.total:.4f}"
        return f"{scores}_{self.part}" if self.part else scores


def audit_content(cache: Cache, dataset: str, scorer_ids: Sequence[str]) -> AuditContent:
    """The scores of a data set under these scorers, in three numbers.

    In the sum every item has a weight between 0.5 and 1.5, of 53 bits of a hash, and each of the
    four continuations a factor, so that a score that changes is seen, and so are two items that
    change places: where the sum moves by more than rounding, 1e-4 nats times the root of the rows.
    """
    with cache.reading() as con:
        n_scored, mixed, total = first_row(
            con,
            f"""
            WITH row AS (
                SELECT md5_number_lower(concat_ws('|', scorer_id, item_id, condition, content_hash))
                        AS number,
                    {_number("stereotype")} - {_number("anti")} / 2
                        + coalesce({_number("unrelated")}, 0) / 4
                        + coalesce({_number("unknown")}, 0) / 8 AS score
                FROM item JOIN item_score USING (dataset, item_id, condition)
                WHERE dataset = $dataset AND {KNOWN} IS NOT NULL
                    AND scorer_id IN (SELECT unnest($scorers::VARCHAR[]))
            )
            SELECT count(*), bit_xor(number),
                sum((0.5 + (number >> 11) / (1::BIGINT << 53)) * score)
            FROM row
            """,
            {"dataset": dataset, "scorers": list(scorer_ids)},
        ) or (0, 0, 0.0)
    return AuditContent(n_scored, f"{mixed or 0:016x}", total or 0.0)


def _number(suffix: str) -> str:
    """What is known of a continuation: a mean, or of some from elsewhere only its order."""
    return f"coalesce(l_{suffix}, order_{suffix})"


def slice_hash(cache: Cache, dataset: str, name: str) -> str:
    """A hash of what a slice holds: the items of its list, or the filter that chooses them.

    Which items a filter leaves is up to the scores, and those have numbers of their own.

    Raises
    ------
    InputError
        There is no such slice.
    """
    held = get_slice(cache, dataset, name)
    parts = [held.query, *sorted(set(held.item_ids))]
    return sha256(json.dumps(parts).encode()).hexdigest()[:16]


def read_audit_content(text: str) -> AuditContent | None:
    """The content that a link carries; None where it carries none of this form."""
    match = _FORM.fullmatch(text)
    if not match:
        return None
    return AuditContent(int(match[1]), match[2], float(match[3]), match[4] or "")


def difference(then: AuditContent, now: AuditContent) -> str:
    """In what two contents differ, in a few words; empty where they are the same."""
    if then.n_scored != now.n_scored:
        return f"{then.n_scored:,} scored rows then, {now.n_scored:,} now"
    if then.texts != now.texts:
        return "other texts or models, as many as before"
    if abs(then.total - now.total) > _ROUNDING * math.sqrt(max(1, now.n_scored)):
        return "other scores of the same texts"
    if then.part and now.part and then.part != now.part:
        return "the slice of that name holds other items"
    return ""

"""What a link says of the scores of a second data set, in place of the hash of a slice.

The content of a link (core/store/audit_content.py) is of one data set. A page without slices has
its last sixteen digits to say of another one which texts and models it has, and the sum of their
scores.
"""

from __future__ import annotations

import json
import struct
from hashlib import sha256

from core.store.audit_content import AuditContent, difference

_HASH = 8  # digits; as many follow, of the sum as a float32


def part_beside(dataset: str, content: AuditContent) -> str:
    """Sixteen hexadecimal digits that say what a data set holds under some scorers."""
    what = json.dumps([dataset, content.n_scored, content.texts])
    return sha256(what.encode()).hexdigest()[:_HASH] + struct.pack(">f", content.total).hex()


def difference_beside(then: str, dataset: str, now: AuditContent) -> str:
    """In what a data set differs from when a link was made; empty where it is the same.

    Parameters
    ----------
    then
        Of `part_beside`.
    now
        Of this data set.
    """
    here = part_beside(dataset, now)
    if then[:_HASH] != here[:_HASH]:
        return "other texts or models, or more or fewer of them"
    if abs(int(then[_HASH:], 16) - int(here[_HASH:], 16)) <= 1:  # neighbours among float32s
        return ""
    (was, total) = (_total(part) for part in (then, here))
    return difference(now._replace(total=was), now._replace(total=total))


def _total(part: str) -> float:
    (total,) = struct.unpack(">f", bytes.fromhex(part[_HASH:]))
    return float(total)

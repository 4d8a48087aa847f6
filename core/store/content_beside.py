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
    if then[:_HASH] != part_beside(dataset, now)[:_HASH]:
        return "other texts or models, or more or fewer of them"
    (total,) = struct.unpack(">f", bytes.fromhex(then[_HASH:]))
    (rounded,) = struct.unpack(">f", struct.pack(">f", now.total))
    return difference(now._replace(total=total), now._replace(total=rounded))

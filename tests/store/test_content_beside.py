"""What a link says of a second data set: changes are seen, rounding is not."""

from __future__ import annotations

import re

import pytest

from core.store.audit_content import AuditContent, difference, read_audit_content
from core.store.content_beside import difference_beside, part_beside

FIRST = AuditContent(90, "1" * 16, -12.5)
SECOND = AuditContent(94_000, "2" * 16, -212_345.678)


def test_it_takes_the_place_of_a_slice_in_a_link_that_others_read_as_before() -> None:
    part = part_beside("there", SECOND)
    assert re.fullmatch("[0-9a-f]{16}", part)
    linked = read_audit_content(str(FIRST._replace(part=part)))
    assert linked == FIRST._replace(part=part)
    assert difference(linked, FIRST) == "", "as a page sees it that knows of no second data set"
    assert difference_beside(linked.part, "there", SECOND) == ""


@pytest.mark.parametrize("moved", [1e-3, -1e-3, 0.02])
def test_rounding_of_scores_is_no_change(moved: float) -> None:
    part = part_beside("there", SECOND)
    now = SECOND._replace(total=SECOND.total + moved)
    assert difference_beside(part, "there", now) == ""


def test_a_sum_that_rounds_to_the_next_number_is_no_change() -> None:
    many = SECOND._replace(n_scored=100_000, total=2.0**24 + 1.0)  # halfway between two float32s
    next_to_it = many._replace(total=many.total + 1e-3)
    parts = [part_beside("there", one) for one in (many, next_to_it)]
    assert parts[0] != parts[1]
    assert difference_beside(parts[0], "there", next_to_it) == ""


@pytest.mark.parametrize(
    ("dataset", "now", "what"),
    [
        ("there", SECOND._replace(total=SECOND.total + 0.5), "other scores of the same texts"),
        ("there", SECOND._replace(total=-SECOND.total), "other scores of the same texts"),
        ("there", SECOND._replace(texts="3" * 16), "other texts or models"),
        ("there", SECOND._replace(n_scored=5), "other texts or models"),
        ("elsewhere", SECOND, "other texts or models"),
    ],
)
def test_changes_are_seen(dataset: str, now: AuditContent, what: str) -> None:
    assert difference_beside(part_beside("there", SECOND), dataset, now).startswith(what)

"""Links of the audit's pages to data that have changed since: AppTest, and the numbers behind."""

from __future__ import annotations

import math
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from core.store.audit_content import (
    AuditContent,
    audit_content,
    difference,
    read_audit_content,
)
from core.store.gate import Cache
from core.store.generations import bump
from core.store.slices import Slice, put_slice
from tests.audit_pages import made, opened, words
from tests.store_samples import OTHER, SCORER

BOTH = [SCORER.scorer_id, OTHER.scorer_id]
PAGES = ("languages", "noise_floor", "shift_lab", "carry_over")
CHANGED = "The data have changed since this link was made"
ONE = "WHERE scorer_id = ? AND item_id = '3' AND condition = 'hi'"

SWAP = (
    "UPDATE item_score SET l_stereotype = other.l_stereotype, l_anti = other.l_anti "
    "FROM item_score other WHERE item_score.scorer_id = ? "
    "AND other.scorer_id = item_score.scorer_id AND other.condition = item_score.condition "
    "AND (item_score.item_id, other.item_id) IN (('1', '2'), ('2', '1')) "
    "AND item_score.condition = 'hi'"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two models on six items in English, two rewordings and Hindi."""
    return made(tmp_path, "en", "en~p1", "en~p2", "hi")


def change(folder: Path, sql: str) -> None:
    cache = Cache(folder)
    with cache.writing() as con:
        con.execute(sql, [OTHER.scorer_id])
        bump(con, BOTH, ["d"])


def content(folder: Path) -> AuditContent:
    return audit_content(Cache(folder), "d", BOTH)


@pytest.mark.parametrize("page", PAGES)
def test_a_link_to_a_slice_that_holds_other_items_now_says_so(monkeypatch, folder, page):
    def put(*item_ids: str) -> None:
        put_slice(Cache(folder), Slice("mine", "d", "", item_ids), replace=True)

    put("1", "2", "3", "4", "5")
    app = opened(monkeypatch, page, folder, dataset="d", slice="mine")
    link = next(code.value for code in app.code if "content=" in code.value)
    query = parse_qs(urlsplit(link).query, keep_blank_values=True)
    put("5", "4", "3", "2", "1")
    assert CHANGED not in words(opened(monkeypatch, page, folder, **query))
    put("0", "2", "3", "4", "5")
    app = opened(monkeypatch, page, folder, **query)
    assert f"{CHANGED} (the slice of that name holds other items)" in words(app)


@pytest.mark.parametrize("page", PAGES)
def test_a_link_to_scores_that_changed_says_so(monkeypatch, folder, page):
    app = opened(monkeypatch, page, folder)
    link = next(code.value for code in app.code if "content=" in code.value)
    query = parse_qs(urlsplit(link).query, keep_blank_values=True)
    assert CHANGED not in words(opened(monkeypatch, page, folder, **query))
    change(folder, f"UPDATE item_score SET l_stereotype = l_stereotype + 0.01 {ONE}")
    app = opened(monkeypatch, page, folder, **query)
    assert f"{CHANGED} (other scores of the same texts)" in words(app)
    # Of other models, or with what another page has written there, nothing can be said.
    next(m for m in app.multiselect if m.label == "Models").set_value(BOTH[:1]).run()
    assert CHANGED not in words(app)
    assert CHANGED not in words(opened(monkeypatch, page, folder, **query | {"content": ["6-ab"]}))


def test_a_score_that_is_gone_is_counted(monkeypatch, folder):
    before = content(folder)
    change(folder, f"DELETE FROM item_score {ONE}")
    told = words(opened(monkeypatch, "languages", folder, dataset="d", content=str(before)))
    assert f"{CHANGED} (48 scored rows then, 47 now)" in told


def test_the_numbers_are_of_all_scores_and_come_back_from_a_link(folder):
    before = content(folder)
    assert before.n_scored == 2 * 4 * 6
    assert read_audit_content(str(before)) == before._replace(total=round(before.total, 4))
    assert read_audit_content("48-00ff") is None
    change(folder, "UPDATE item_score SET l_anti = l_anti + 1e-9 WHERE scorer_id = ?")
    assert difference(before, content(folder)) == "", "rounding of the same scores"
    assert difference(before, audit_content(Cache(folder), "d", BOTH[:1])).endswith("24 now")


def test_two_scores_that_change_places_are_seen(folder):
    before = content(folder)
    change(folder, SWAP)
    after = content(folder)
    assert (before.n_scored, before.texts) == (after.n_scored, after.texts)
    assert difference(before, after) == "other scores of the same texts"


def test_two_scores_whose_hashes_end_alike_are_seen_to_change_places(folder):
    number = "md5_number_lower(concat_ws('|', ?, {}, 'hi', {})) % 1000"
    wanted, tried = number.format("'1'", "content_hash"), number.format("'2'", "'h' || k")
    with Cache(folder).writing() as con:
        con.execute(
            "UPDATE item SET content_hash = (SELECT 'h' || k FROM range(20000) AS tried(k) "
            f"WHERE {tried} = (SELECT {wanted} FROM item WHERE item_id = '1' "
            "AND condition = 'hi') ORDER BY k LIMIT 1) WHERE item_id = '2' AND condition = 'hi'",
            [OTHER.scorer_id] * 2,
        )
    before = content(folder)
    change(folder, SWAP)
    assert difference(before, content(folder)) == "other scores of the same texts"


def test_an_unknown_answer_that_changes_is_seen(folder):
    change(folder, "UPDATE item_score SET l_unknown = -1.0 WHERE scorer_id = ?")
    before = content(folder)
    change(folder, f"UPDATE item_score SET l_unknown = -2.0 {ONE}")
    assert difference(before, content(folder)) == "other scores of the same texts"


def test_a_link_of_other_weights_says_nothing_of_the_scores(folder):
    assert read_audit_content(str(content(folder)).removeprefix("2_")) is None


def test_other_texts_are_seen(folder):
    before = content(folder)
    with Cache(folder).writing() as con:
        con.execute("UPDATE item SET content_hash = 'x' WHERE item_id = '1' AND condition = 'hi'")
    assert difference(before, content(folder)) == "other texts or models, as many as before"


def test_a_cache_without_these_scores_is_empty_and_no_error(folder):
    nothing = audit_content(Cache(folder), "nowhere", BOTH)
    assert (nothing.n_scored, nothing.total) == (0, 0.0)
    assert not math.isnan(nothing.total)

"""Faults planted in the cache are found, and the explicit repair puts them right."""

from __future__ import annotations

import fcntl
import shutil
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.errors import CacheBusy, CacheError, CacheMissing, CacheNewer, CacheNotWritable
from core.store import repair as repair_module
from core.store import verify as verify_module
from core.store.gate import Cache
from core.store.generations import generation
from core.store.items import datasets
from core.store.locks import TURNSTILE
from core.store.repair import repair
from core.store.scorers import put_scorer, scorers
from core.store.scores import item_scores, missing_texts, put_scores, token_scores
from core.store.verify import verify
from core.types import Reason, Unscored
from tests.planted_cache import fill_planted
from tests.planted_heads import planted_heads
from tests.store_samples import OTHER, SCORER, filled, item, put, python, score_all

S = SCORER.scorer_id
ONE = "(SELECT min(rowid) FROM token_score)"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three items: two scored, one whose second text cannot be scored."""
    cache = filled(Cache(tmp_path_factory.mktemp("sound")))
    *good, bad = missing_texts(cache, S, "d")
    put_scores(cache, S, score_all(good), [Unscored(bad.text_id, Reason.TOO_LONG, "Too long.")])
    return cache.folder


@pytest.fixture
def cache(sound: Path, tmp_path: Path) -> Cache:
    return Cache(shutil.copytree(sound, tmp_path / "cache"))


@pytest.fixture(scope="module")
def sound_heads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven axes and eighty phrases that one model was read for."""
    cache = Cache(tmp_path_factory.mktemp("heads"))
    fill_planted(cache, planted_heads(n_axes=7))
    return cache.folder


def plant(cache: Cache, sql: str) -> None:
    with cache.writing() as con:
        con.execute(sql)


FAULTS = {
    "more than once under one scorer": (
        f"INSERT INTO token_score SELECT * REPLACE (sum + 0 AS sum) FROM token_score "
        f"WHERE rowid = {ONE}"
    ),
    "lists of unequal length": f"UPDATE token_score SET words = [1] WHERE rowid = {ONE}",
    "n_scored": f"UPDATE token_score SET n_scored = 9 WHERE rowid = {ONE}",
    "The sum of a score": f"UPDATE token_score SET sum = sum - 0.001 WHERE rowid = {ONE}",
    "is not that of its log-probabilities": (
        f"UPDATE token_score SET logprobs = ['nan', 'nan', 'nan']::FLOAT[] WHERE rowid = {ONE}"
    ),
    "listed more than once as not scorable": "INSERT INTO unscored FROM unscored",
    "also listed as not scorable": (
        f"INSERT INTO unscored SELECT scorer_id, text_id, 'too_long', '' FROM token_score "
        f"WHERE rowid = {ONE}"
    ),
    "An item is there more than once": "INSERT INTO item FROM item LIMIT 1",
    "An item score is of a scorer": (
        "INSERT INTO item_score SELECT * REPLACE ('x' AS scorer_id) FROM item_score LIMIT 1"
    ),
    "An import of scores is of a scorer": (
        "INSERT INTO score_import "
        "VALUES ('x', 'd', 'a.csv', 'columns', '', 'mean', '', 1, 0, now()::TIMESTAMP)"
    ),
    "not what its token scores give (found 1 times)": (
        "UPDATE item_score SET l_stereotype = l_stereotype * 1.0001 WHERE item_id = '0'"
    ),
    "not what its token scores give (found 3 times)": "DELETE FROM item_score",
    "not what its token scores give (found 2 times)": "INSERT INTO item_score FROM item_score "
    "WHERE item_id != '2'",
}


def test_a_sound_cache_has_no_findings_and_repair_changes_nothing(cache: Cache) -> None:
    assert verify(cache) == []
    before = generation(cache, S, "d")
    result = repair(cache)
    assert "in order" in result.message
    assert result.moved_to is None
    assert generation(cache, S, "d") == before


@pytest.mark.parametrize("words", FAULTS)
def test_a_planted_fault_is_found_and_repaired(cache: Cache, words: str) -> None:
    before = item_scores(cache, S, "d")
    first = token_scores(cache, S, before.text_stereotype)
    plant(cache, FAULTS[words])
    assert any(words in finding for finding in verify(cache))
    result = repair(cache)
    assert words in result.message
    assert result.moved_to is None
    assert verify(cache) == []
    put_scores(cache, S, score_all(missing_texts(cache, S, "d")[:1]))  # a removed score, again
    for text_id, score in token_scores(cache, S, before.text_stereotype).items():
        assert np.array_equal(score.logprobs, first[text_id].logprobs)
    assert item_scores(cache, S, "d").state.tolist()[:2] == ["scored", "scored"]


HEAD_FAULTS = {
    "that the cache does not vouch for": "DELETE FROM tensor",
    "of a reader that the cache does not know": "DELETE FROM head_reader",
    "heads is there more than once (found 1 times)": (
        "INSERT INTO head_array FROM head_array WHERE kind = 'pole' LIMIT 1"
    ),
    "Two arrays of heads lie in the same place": (
        "UPDATE head_array SET row = 1 WHERE kind = 'concept' AND row = 0"
    ),
    "An axis lacks one of its poles (found 1 times)": (
        "DELETE FROM pole WHERE pole = (SELECT min(negative) FROM axis)"
    ),
    "beyond the end of its file (found 1 times)": (
        "UPDATE head_array SET row = 1000 WHERE kind = 'axis' AND row = 2"
    ),
}


@pytest.mark.parametrize("words", HEAD_FAULTS)
def test_a_fault_in_what_was_read_of_heads_is_found(
    sound_heads: Path, tmp_path: Path, words: str
) -> None:
    cache = Cache(shutil.copytree(sound_heads, tmp_path / "heads"))
    assert verify(cache) == []
    plant(cache, HEAD_FAULTS[words])
    assert any(words in finding for finding in verify(cache))


@pytest.mark.parametrize("words", list(HEAD_FAULTS)[:3])
def test_arrays_that_nobody_can_use_are_removed(
    sound_heads: Path, tmp_path: Path, words: str
) -> None:
    cache = Cache(shutil.copytree(sound_heads, tmp_path / "heads"))
    plant(cache, HEAD_FAULTS[words])
    assert words in repair(cache).message
    assert verify(cache) == []


def test_a_writer_gets_in_between_two_rules(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = threading.Thread(target=put_scorer, args=(cache, OTHER))
    known: list[int] = []
    count = verify_module.count

    def counted(con: Any, sql: str, parameters: dict) -> int:
        known.append(len(con.execute("FROM scorer").fetchall()))
        if len(known) == 1:
            writer.start()
            wait_until_somebody_stands_in_the_turnstile(cache)
        return count(con, sql, parameters)

    monkeypatch.setattr(verify_module, "count", counted)
    assert verify(cache) == []
    writer.join()
    assert known[:2] == [1, 2]


def wait_until_somebody_stands_in_the_turnstile(cache: Cache) -> None:
    with (cache.folder / TURNSTILE).open() as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            fcntl.flock(file, fcntl.LOCK_UN)
            time.sleep(0.01)


def test_scores_of_an_unknown_scorer_are_reported_and_kept(cache: Cache) -> None:
    plant(cache, "DELETE FROM scorer")
    finding = "A score is of a scorer that the cache does not know (found 5 times)."
    assert finding in verify(cache)
    assert f"This is left: {finding}" in repair(cache).message
    assert len(token_scores(cache, S, item_scores(cache, S, "d").text_stereotype)) == 3


@pytest.mark.parametrize("content", [b"", b"not a database"])
def test_a_file_that_does_not_open_is_set_aside_and_never_lost(
    cache: Cache, content: bytes
) -> None:
    cache.file.write_bytes(content)
    cache.journal.write_bytes(b"journal")
    result = repair(cache)
    assert result.moved_to is not None
    assert result.moved_to.name.startswith("stereoscope.duckdb.broken-")
    assert str(result.moved_to) in result.message
    assert result.moved_to.read_bytes() == content
    assert Path(f"{result.moved_to}.wal").read_bytes() == b"journal"
    assert datasets(cache).empty
    put(cache, [item()])


def test_setting_aside_never_overwrites(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    moment = repair_module.utc_now()
    monkeypatch.setattr(repair_module, "utc_now", lambda: moment)
    kept = []
    for content in (b"one", b"two", b"three"):
        cache.file.write_bytes(content)
        kept.append(repair(cache).moved_to)
    assert [path.read_bytes() for path in kept] == [b"one", b"two", b"three"]


def test_damage_in_a_block_that_opening_does_not_read_is_found(cache: Cache) -> None:
    put(cache, [item(context="A context that is easy to find on the disk. " * 2000)], "long")
    content = bytearray(cache.file.read_bytes())
    content[content.index(b"easy to find") + 100] ^= 255
    cache.file.write_bytes(content)
    assert len(scorers(cache)) == 1  # it opens
    with pytest.raises(CacheError, match="damaged"):
        verify(cache)
    result = repair(cache)
    assert result.moved_to is not None
    assert result.moved_to.read_bytes() == content


def test_a_newer_file_is_set_aside_only_by_insisting_and_said_to_be_healthy(cache: Cache) -> None:
    plant(cache, "INSERT INTO migration VALUES (99, NULL)")
    content = cache.file.read_bytes()
    with pytest.raises(CacheNewer, match="newer version of Stereoscope and is healthy; upgrade"):
        repair(cache)
    with pytest.raises(CacheNewer, match="python -m core repair --newer"):
        repair(cache)
    assert cache.file.read_bytes() == content
    result = repair(cache, newer=True)
    assert result.moved_to is not None
    assert result.moved_to.name.startswith("stereoscope.duckdb.newer-")
    assert result.moved_to.read_bytes() == content
    for words in ("is healthy", str(result.moved_to), "The better way is still to upgrade"):
        assert words in result.message
    assert datasets(cache).empty


@pytest.mark.parametrize("content", [b"", b"not a database"])
def test_insisting_changes_nothing_for_a_broken_file(cache: Cache, content: bytes) -> None:
    cache.file.write_bytes(content)
    result = repair(cache, newer=True)
    assert result.moved_to is not None
    assert result.moved_to.name.startswith("stereoscope.duckdb.broken-")
    assert "healthy" not in result.message


def test_the_message_about_a_damaged_file_in_an_odd_folder_is_whole(
    cache: Cache, tmp_path: Path
) -> None:
    odd = Cache(tmp_path / "here and was left as it is")
    cache.folder.rename(odd.folder)
    odd.file.write_bytes(b"not a database")
    assert repair(odd).message.startswith(f"{odd.file} is not a DuckDB file. It is kept as ")


def test_a_journal_without_its_file_is_set_aside(cache: Cache) -> None:
    cache.file.unlink()
    cache.journal.write_bytes(b"journal")
    result = repair(cache)
    assert result.moved_to is not None
    assert result.moved_to.read_bytes() == b"journal"
    assert datasets(cache).empty


def test_a_busy_file_is_left_alone(cache: Cache) -> None:
    holder = python(
        "import duckdb, sys; con = duckdb.connect(sys.argv[1]); print('held', flush=True); "
        "sys.stdin.read()",
        cache.file,
    )
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(CacheBusy):
        repair(cache)
    holder.communicate("")
    assert verify(cache) == []


def test_what_cannot_be_renamed_or_is_not_there_is_left_alone(
    cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CacheMissing, match="nothing to repair"):
        repair(Cache(tmp_path / "nowhere"))
    cache.file.write_bytes(b"broken")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(CacheNotWritable, match="cannot be renamed"):
        repair(cache)
    assert cache.file.read_bytes() == b"broken"


def test_scores_without_texts_behind_them_are_no_breach_and_stay(cache: Cache) -> None:
    elsewhere = replace(SCORER, fingerprint="elsewhere")
    put_scorer(cache, elsewhere)
    plant(
        cache,
        f"INSERT INTO item_score SELECT * REPLACE ('{elsewhere.scorer_id}' AS scorer_id) "
        f"FROM item_score WHERE l_stereotype IS NOT NULL",
    )
    before = item_scores(cache, elsewhere.scorer_id, "d")
    assert before["l_stereotype"].notna().any()
    assert verify(cache) == []
    plant(cache, f"UPDATE token_score SET sum = sum - 0.001 WHERE rowid = {ONE}")
    assert "put right" in repair(cache).message
    assert verify(cache) == []
    pd.testing.assert_frame_equal(item_scores(cache, elsewhere.scorer_id, "d"), before)


def test_scores_of_a_scorer_that_nobody_knows_are_removed_and_counted(cache: Cache) -> None:
    plant(
        cache,
        "INSERT INTO item_score SELECT * REPLACE ('nobody' AS scorer_id) FROM item_score LIMIT 2",
    )
    assert any("An item score is of a scorer" in finding for finding in verify(cache))
    assert "removed 2 rows" in repair(cache).message
    assert verify(cache) == []

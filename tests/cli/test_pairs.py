"""The command `pairs`: what is printed, written and refused, and the import of pairs before it."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from core.analysis.pairs import pair_table
from core.store.gate import Cache
from core.store.items import datasets
from core.store.scorers import put_scorer
from core.store.scores import missing_texts, put_scores
from core.store.verify import verify
from tests.conftest import Run
from tests.pair_samples import word_score
from tests.store_samples import OTHER, SCORER, item, put

ROWS = """\
,sent_more,sent_less,stereo_antistereo,bias_type
0,The poor left early today.,The rich left early today.,stereo,socioeconomic
1,The old man ran there.,The young man ran there.,antistereo,age
2,He ran.,he ran!,stereo,gender
"""


@pytest.fixture
def scored(run: Run, cache: Cache, tmp_path: Path) -> Cache:
    file = tmp_path / "crows.csv"
    file.write_text(ROWS)
    code, _, err = run("import", file, "--dataset", "d")
    assert code == 0
    assert "taken to be en" in err
    assert datasets(cache).format.tolist() == ["crows-pairs"]
    put_scorer(cache, SCORER)
    texts = missing_texts(cache, SCORER.scorer_id, "d")
    put_scores(cache, SCORER.scorer_id, [word_score(text) for text in texts])
    return cache


def test_the_share_is_printed_by_type_with_what_it_does_not_say(run: Run, scored: Cache) -> None:
    code, out, err = run("pairs", "--dataset", "d")
    assert (code, err) == (0, "")
    assert out.startswith("tiny, float32")
    for words in ("socioeconomic", "age", "direction", "of 2 pairs (50 % is neutral", "can hide"):
        assert words in out
    assert "fair" not in out
    assert max(map(len, out.splitlines()[:-1])) <= 80  # the sentence at the end is never cut


def test_json_and_file_hold_the_same_numbers(run: Run, scored: Cache, tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    code, out, err = run(
        *("pairs", "--dataset", "d", "--unit", "token", "--ties", "against", "--decimals", 3),
        *("--out", file, "--json"),
    )
    assert (code, err) == (0, "")
    said = json.loads(out)
    assert said["rule"] == {"unit": "token", "align": "lcs", "ties": "against", "decimals": 3}
    assert said["files"] == [str(file)]
    total = said["summary"][0]
    assert (total["group"], total["n"], total["n_not_scored"]) == ("all", 2, 1)
    written = pd.read_csv(file)
    table = pair_table(scored, SCORER.scorer_id, "d", "token")
    assert list(written.columns) == list(table.columns)
    assert written.difference.tolist()[:2] == table.difference.tolist()[:2]
    assert total["n_more"] == (written.preferred == "more").sum()


def test_a_language_stands_above_its_table_and_has_none_without_scores(
    run: Run, scored: Cache, tmp_path: Path
) -> None:
    _, before, _ = run("pairs", "--dataset", "d")
    lines = before.splitlines()
    assert lines.index("en") < next(n for n, line in enumerate(lines) if "Uninformative" in line)
    put(scored, [item("p1", "nl", context="")], "dutch")
    code, out, _ = run("pairs", "--dataset", "dutch", "--scorer", SCORER.scorer_id)
    assert code == 0
    assert "nl: no pair has a share to show. Not scored: 1." in out
    assert "Uninformative" not in out


def test_only_scorers_of_the_data_set_are_meant(run: Run, scored: Cache) -> None:
    put_scorer(scored, OTHER)
    assert run("pairs", "--dataset", "d")[0] == 0
    put(scored, [item("p1", context="")], "unscored")
    code, out, err = run("pairs", "--dataset", "unscored")
    assert (code, out) == (2, "")
    assert "No scorer has scores of unscored; run `python -m core score" in err


def test_difflib_is_aligned_once_and_kept(run: Run, scored: Cache) -> None:
    first = run("pairs", "--dataset", "d", "--align", "difflib")
    assert first[0] == 0
    assert "Aligned the pairs of d by difflib" in first[2]
    again = run("pairs", "--dataset", "d", "--align", "difflib")
    assert (again[0], again[2]) == (0, "")
    assert again[1] == first[1]
    assert verify(scored) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--dataset", "d", "--unit", "letter"), "'letter' is not a unit"),
        (("--dataset", "d", "--align", "best"), "'best' is not an alignment"),
        (("--dataset", "d", "--ties", "drop"), "choose from: half, against, exclude"),
        (("--dataset", "x"), "no data set 'x'"),
        (("--dataset", "other"), "; import such items, or name another data set."),
        (("--dataset", "d", "--scorer", "nobody"), "No scorer is called"),
        (("--dataset", "d", "--out", "pairs.xyz"), "does not end in a format"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(
    run: Run, scored: Cache, arguments: tuple, words: str
) -> None:
    put(scored, [item()], "other")
    before = scored.stamp()
    code, out, err = run("pairs", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert scored.stamp() == before


def test_the_language_of_a_file_can_be_named(run: Run, cache: Cache, tmp_path: Path) -> None:
    file = tmp_path / "crows_dutch.csv"
    file.write_text(ROWS)
    code, _, err = run("import", file, "--dataset", "nl")
    assert code == 0
    assert "conditions: nl" in err
    code, _, err = run("import", file, "--dataset", "af", "--language", "af")
    assert code == 0
    assert "conditions: af" in err
    code, _, err = run("import", file, "--dataset", "x", "--language", "qq")
    assert code == 2
    assert "known language" in err

"""The command `compare`: what is printed, written and refused."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from core.analysis.comparison import compare_scorers
from core.analysis.overview import scorer_labels
from core.store.gate import Cache
from core.store.scorers import put_scorer, scorers
from tests.analysis.test_comparison import COLLAPSED, A, B, compared
from tests.conftest import Run
from tests.store_samples import SCORER, item

NOTHING = replace(SCORER, dtype="float16", model="other")


@pytest.fixture
def compare(run: Run, cache: Cache) -> Run:
    """`python -m core compare ...` on a small cache."""
    compared(
        cache,
        [
            (item("1"), 1.0, -0.5),
            (item("2"), 1.0, 0.9),
            (item("1", "es"), 0.2, 0.1),
            (item("2", "es"), 0.2, None),
            (COLLAPSED, "missing", "missing"),
        ],
    )
    put_scorer(cache, NOTHING)

    def command(*arguments: object, dataset: str = "d") -> tuple[int, str, str]:
        return run("compare", "--dataset", dataset, *arguments)

    return command


def test_both_scorers_and_every_condition_are_shown(compare: Run) -> None:
    code, out, err = compare("--scorers", A, B[:8])
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("A: tiny, float32")
    assert lines[1].startswith("B: tiny, bfloat16")
    for name in ("en", "es", "overall"):
        assert sum(line.split()[:1] == [name] for line in lines) == 2
    # d of en: -0.35352, -0.02011: mean -0.18681, half width 12.7062 * 0.16670
    assert "−0.1868   [−2.3050,+1.9314]" in out
    assert "Not compared: 1 collapsed rows, 1 not scored by both.\n" in out
    assert "  2 es: A scored, B unscored too_long\n" in out
    assert "no yardstick" in out
    assert lines[-1].endswith("not whether a model is fair.")
    assert max(map(len, lines[:-1])) <= 80


def test_json_holds_the_summary_and_what_was_left_out(compare: Run, cache: Cache) -> None:
    code, out, _ = compare("--scorers", A, B, "--json")
    said = json.loads(out, parse_constant=pytest.fail)
    assert code == 0
    assert (said["scorer_a"]["scorer_id"], said["scorer_b"]["scorer_id"]) == (A, B)
    expected = compare_scorers(cache, A, B, "d").summary
    assert [row["condition"] for row in said["summary"]] == ["en", "es", "overall"]
    assert [row["difference"] for row in said["summary"]] == expected["difference"].tolist()
    assert said["summary"][0]["rewording_floor"] is None
    assert [(row["item_id"], row["state_b"]) for row in said["left_out"]] == [
        ("c", "collapsed"),
        ("2", "unscored"),
    ]


def test_files_hold_the_summary_and_the_items(compare: Run, cache: Cache, tmp_path: Path) -> None:
    summary, items = tmp_path / "summary.csv", tmp_path / "items.parquet"
    code, _, err = compare("--scorers", A, B, "--out", summary, "--items", items)
    assert code == 0
    assert err == f"Wrote {summary}.\nWrote {items}.\n"
    expected = compare_scorers(cache, A, B, "d")
    pd.testing.assert_frame_equal(pd.read_csv(summary), expected.summary, check_dtype=False)
    pd.testing.assert_frame_equal(pd.read_parquet(items), expected.items, check_dtype=False)
    for name in ("summary.tex", "summary.jsonl"):
        assert compare("--scorers", A, B, "--out", tmp_path / name)[0] == 0
    lines = pd.read_json(io.StringIO((tmp_path / "summary.jsonl").read_text()), lines=True)
    assert lines["n_rows"].tolist() == [2, 1, 3]
    assert "toprule" in (tmp_path / "summary.tex").read_text()


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ((A, "nope"), "No scorer is called 'nope'; give --scorers one of: "),
        ((A, A[:6]), f"are both the scorer {A} ("),
        (("tiny", B), "More than one scorer is called 'tiny'"),
        ((A, "other"), f"No item of d is scored under {NOTHING.scorer_id} (other, float16"),
    ],
)
def test_scorers_that_cannot_be_compared_are_one_sentence(compare: Run, names, words: str) -> None:
    code, out, err = compare("--scorers", *names)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_other_wrong_input_is_refused_before_anything_is_read(compare: Run, tmp_path: Path) -> None:
    assert "has no data set 'e'" in compare("--scorers", A, B, dataset="e")[2]
    code, out, err = compare("--scorers", A, B, "--out", tmp_path / "x.docx")
    assert (code, out) == (2, "")
    assert "does not end in a format that can be written" in err
    assert not list(tmp_path.glob("*.docx"))


def test_a_label_names_a_scorer(compare: Run, cache: Cache) -> None:
    label = scorer_labels(scorers(cache))[B]
    code, out, _ = compare("--scorers", label, A)
    assert code == 0
    assert out.startswith(f"A: {label} ({B})\n")

"""What the head map says in the browser, asked of its own scripts."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from core.analysis.heads.sentences import NOT_ADJUSTED
from pages.shared.head_map.component import script

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="needs node")
SHOWN = """{ heads: [1], skipped: 0,
  ks: { statistic: 0.5, pvalue: 0.01, method: "exact", nConcepts: 9, nReference: 9 },
  positions: { accuracy: 0.5, majority: 0.6, nLabelled: 9 } }"""
MODELS = """[0, 1].map((i) => ({ name: `m${i}`, layers: 4, heads: 25, nAbove: 9, chance: 0.2,
  r: new Float32Array(100).fill(0.3 + 0.1 * i) }))"""


def told(expression: str) -> Any:
    """What an expression is worth among the component's scripts."""
    scripts = script().replace("export default function", "const component = function")
    page = f"{scripts}\nconsole.log(JSON.stringify({expression}));"
    done = subprocess.run(
        [str(NODE), "--input-type=commonjs"], input=page, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "choice", ["k128", "k7", "k249", "k250", "all", "rect:0,0,1,1", "head:1,1"]
)
def test_p_of_heads_that_somebody_chose_is_called_not_adjusted(choice: str) -> None:
    grid = {"layers": 10, "heads": 25}
    data = json.dumps({"usual": "k128", "not_adjusted": NOT_ADJUSTED, "models": [grid]})
    caveat = f"caveatOf(parseChoice({choice!r}), {data})"
    said = told(f"sentenceOf({SHOWN}, {{ name: 'm', layers: 4, heads: 25 }}, false, {caveat})")
    assert said.endswith(NOT_ADJUSTED) == (choice not in ("k128", "k250", "all"))


def test_beside_a_sentence_that_has_the_test_it_is_not_told_again() -> None:
    model = "{ name: 'm', layers: 4, heads: 25 }"
    whole, beside = (told(f"{name}({SHOWN}, {model})") for name in ("sentenceOf", "besideOf"))
    assert "Kolmogorov-Smirnov" in whole and "Kolmogorov-Smirnov" not in beside
    assert all(part in whole for part in beside.split(". "))


@pytest.mark.parametrize(
    ("named", "said"),
    [([True, True], ""), ([True, False, False], "2 of 3 concepts without a word, for space.")],
)
def test_marks_without_words_are_counted(named: list[bool], said: str) -> None:
    hits = json.dumps([{"named": each} for each in named])
    words = told(f"unnamedWords({{ panels: {{ strips: [{{ hits: {hits} }}] }}, models: [0] }})")
    assert words.startswith(said) and bool(words) == bool(said)


@pytest.mark.parametrize(
    ("choice", "preview", "said"), [("k3", "false", "So."), ("k3", "true", ""), ("k4", "false", "")]
)
def test_a_picture_of_other_heads_has_no_verdict_of_these(choice, preview, said) -> None:
    data = "{ choice: 'k3', said: 'So.' }"
    map_ = f"{{ preview: {preview}, choice: parseChoice({choice!r}), data: {data} }}"
    assert told(f"saidOf({map_})") == said


def test_heads_above_chance_stand_beside_as_many_by_chance() -> None:
    assert "9 of 100 heads above (by chance 5)" in told(f"chanceOf(({MODELS})[0], false)")


def test_a_difference_of_two_r_has_no_chance_level() -> None:
    panels = "{ bar: { width: 400 } }, theme: { font: '' }"
    scale = f"(({{ fitted: 0 }}), differenceScale({{ models: {MODELS}, panels: {panels} }}))"
    found = told(f"(() => {{ fitted = (words) => words; return {scale}; }})()")
    assert (found["chance"], found["chanceWords"]) == ([], [])


@pytest.mark.parametrize(("labels", "accuracy"), [([1, 1, 1], None), ([1, -1, 1], 1 / 3)])
def test_labels_that_are_all_the_same_give_no_accuracy(labels, accuracy) -> None:
    found = told(f"positionsOf([0.5, 1, -2], {labels})")
    assert found["accuracy"] == pytest.approx(accuracy)
    assert ("are the same" in found["reason"]) == (accuracy is None)

"""Sums of poles against loops over single sentences; chance grids against labels really swapped."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core.heads import pool
from core.heads.places import find_heads
from core.heads.sums import PoleResult, chance_grids, pole_sums, sign_patterns
from core.heads.version import HEADS_VERSION
from core.models.language_model import LanguageModel
from core.types import N_PATTERNS, Reason
from tests.heads.test_pool import naive, tiny
from tests.tiny_models import HEADS, LAYERS
from tests.tiny_tokenizers import letters

pytestmark = pytest.mark.usefixtures("one_thread")

GOLDEN = Path(__file__).parents[1] / "golden" / "heads.json"
TEMPLATES = [
    "{} means good.",
    "It is {}.",
    "{}",
    "A {} nurse was here.",
    "They are all {}, she said.",
    "Who is {}?",
]
WORDS = ("brave", "timid", "hot")
PATTERNS = [
    "---+--++++----+++---+-+--+-+--",
    "-+++---++---++-++-++-+-+-+--+-",
    "+-+-++--+++-++--++++----+++--+",
    "--+---+-+--+-+--+++++----++-++",
    "--++-+-++-+---++++-+-------+++",
    "+++--+++++---+----+-+-++--++-+",
    "-+----++-+--+-++++++++++-+-++-",
    "+-+---+++++--+++-++--+++--++--",
]


def poles() -> list[list[str]]:
    return [[template.format(word) for template in TEMPLATES] for word in WORDS]


def sums_of(language_model: LanguageModel, sentences: Any, **options: Any) -> list[PoleResult]:
    return pole_sums(language_model, sentences, places=find_heads(language_model.model), **options)


def outputs_of(language_model: LanguageModel, sentences: list[str]) -> np.ndarray:
    """(N, P, L, H, D), one sentence at a time."""
    return np.stack([naive(language_model, sentence) for sentence in sentences])


def naive_separability(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """R of two poles' outputs (N, P, L, H, D), by its definition."""
    grid = np.empty(low.shape[1:4])
    for place in np.ndindex(grid.shape):
        a, b = low[(slice(None), *place)], high[(slice(None), *place)]  # (N, D)
        middle = (a.mean(axis=0) + b.mean(axis=0)) / 2
        between = sum(((x.mean(axis=0) - middle) ** 2).sum() for x in (a, b))
        within = sum(((x - x.mean(axis=0)) ** 2).sum(axis=1).mean() for x in (a, b))
        grid[place] = between / within
    return grid


def test_sums_are_those_of_a_loop_over_sentences():
    language_model = tiny()
    half = len(TEMPLATES) // 2
    for sentences, result in zip(poles(), sums_of(language_model, poles()), strict=True):
        x = outputs_of(language_model, sentences)
        found = result.halves
        assert found.sums.shape == (2, 2, LAYERS, HEADS, 8)
        assert found.squares.shape == (2, 2, LAYERS, HEADS)
        assert found.sums.dtype == found.squares.dtype == np.float64
        assert found.n.tolist() == [half, half]
        assert result.unpooled == ()
        for h, part in enumerate((x[:half], x[half:])):
            np.testing.assert_allclose(found.sums[:, h], part.sum(axis=0), atol=1e-5)
            squares = sum((sentence**2).sum(axis=-1) for sentence in part)
            np.testing.assert_allclose(found.squares[:, h], squares, rtol=1e-5)
        whole = found.whole()
        assert whole.n == len(TEMPLATES)
        np.testing.assert_allclose(whole.sums, x.sum(axis=0), atol=1e-5)


def test_chance_is_separability_with_labels_really_swapped():
    language_model = tiny()
    low, high, _ = sums_of(language_model, poles())
    x, y, _ = (outputs_of(language_model, sentences) for sentences in poles())
    grids = chance_grids(low, high)
    assert grids.shape == (2, N_PATTERNS, LAYERS, HEADS)
    for s, signs in enumerate(sign_patterns(len(TEMPLATES))):
        kept = (signs > 0)[:, None, None, None, None]
        expected = naive_separability(np.where(kept, x, y), np.where(kept, y, x))
        np.testing.assert_allclose(grids[:, s], expected, rtol=1e-4)
    np.testing.assert_allclose(chance_grids(high, low), grids, rtol=1e-9)  # poles have no order


def test_a_sentence_without_outputs_is_named_and_left_out():
    language_model = replace(tiny(tokenizer=letters()), window=20)
    sentences = poles()
    sentences[0][4] = "x" * 21
    sentences[0][3] = sentences[1][3] = sentences[1][4] = "She was here."
    low, high = sums_of(language_model, sentences[:2])
    ((template, why),) = low.unpooled
    assert (template, why.reason) == (4, Reason.TOO_LONG)
    assert low.halves.n.tolist() == [3, 2]
    assert high.halves.n.tolist() == [3, 3]
    x = outputs_of(language_model, [s for s in sentences[0] if len(s) <= 20])
    y = outputs_of(language_model, sentences[1])
    np.testing.assert_allclose(low.halves.whole().sums, x.sum(axis=0), atol=1e-5)
    x = np.insert(x, 4, np.nan, axis=0)
    for s, signs in enumerate(sign_patterns(len(TEMPLATES))):
        kept = (signs > 0)[:, None, None, None, None]
        swapped = (np.where(kept, x, y), np.where(kept, y, x))
        own, other = (z[~np.isnan(z).any(axis=(1, 2, 3, 4))] for z in swapped)
        expected = naive_separability(own, other)
        np.testing.assert_allclose(chance_grids(low, high)[:, s], expected, rtol=1e-4)


def test_a_head_that_always_says_the_same_has_no_chance_value():
    language_model = tiny()
    for layer in language_model.model.model.layers:  # keys and values are shared by two heads
        layer.self_attn.v_proj.weight.data[:8] = 0.0
    low, high, _ = sums_of(language_model, poles())
    undefined = np.isnan(chance_grids(low, high))
    assert undefined[:, :, :, :2].all()
    assert not undefined[:, :, :, 2:].any()
    same, again = sums_of(language_model, [["He was here."] * 6] * 2)
    assert np.isnan(chance_grids(same, again)).all()


def test_the_same_poles_give_the_same_sums_whatever_came_before():
    language_model = tiny()
    first = sums_of(language_model, poles())
    sums_of(language_model, [["something else"] * 4] * 3)
    for a, b in zip(first, sums_of(language_model, poles()), strict=True):
        for one, other in ((a.halves, b.halves), (a.signed, b.signed)):
            np.testing.assert_array_equal(one.sums, other.sums)
            np.testing.assert_array_equal(one.squares, other.squares)


def test_what_is_kept_is_not_a_part_of_something_larger():
    for result in sums_of(tiny(), poles()):
        for sums in (result.halves, result.signed):
            assert sums.sums.base is None
            assert sums.squares.base is None


def test_no_poles_have_no_sums():
    assert sums_of(tiny(), []) == []


@pytest.mark.parametrize("sentences", [[["a", "b"], ["a"]], [["a", "b", "c"]]])
def test_poles_of_different_or_odd_numbers_of_sentences_are_refused(sentences):
    with pytest.raises(ValueError, match="same even number"):
        sums_of(tiny(), sentences)


@pytest.mark.parametrize("n_templates", [30, 12])
def test_patterns_are_fixed(n_templates):
    signs = [["-+".index(sign) * 2 - 1 for sign in row[:n_templates]] for row in PATTERNS]
    np.testing.assert_array_equal(sign_patterns(n_templates), signs)


# The golden numbers


@torch.no_grad()
def fixed_model() -> LanguageModel:
    """A model whose weights are written down by a formula: no random number takes part."""
    language_model = tiny(tokenizer=letters())
    for k, parameter in enumerate(language_model.model.parameters()):
        if parameter.dim() > 1:
            at = torch.arange(parameter.numel(), dtype=torch.float64)
            values = 0.3 * torch.sin(1.7 * at + k)
            parameter.copy_(values.view(parameter.shape))
    return language_model


def golden_sums(sentences: Any = None, **options: Any) -> dict[str, list[float]]:
    """Some sums of the first pole, in both ways of counting special tokens."""
    language_model = fixed_model()
    numbers: dict[str, list[float]] = {}
    for bos in ("in", "out"):
        result = sums_of(language_model, sentences or poles()[:1], bos=bos, **options)[0]
        some = (result.halves.sums[..., 0], result.halves.squares, result.signed.squares)
        numbers[bos] = [round(float(x), 5) for array in some for x in array.ravel()]
    return numbers


def test_sums_change_only_with_the_version():
    """If this fails, raise HEADS_VERSION and add its numbers to the file; never edit old ones.

    `python -m tests.heads.test_sums` adds the numbers of a new version.
    """
    golden = json.loads(GOLDEN.read_text())
    assert max(map(int, golden)) == HEADS_VERSION
    expected = golden[str(HEADS_VERSION)]
    for bos, numbers in golden_sums().items():
        np.testing.assert_allclose(numbers, expected[bos], atol=2e-5)
    versions = [json.dumps(numbers) for numbers in golden.values()]
    assert len(set(versions)) == len(versions)


def test_sums_of_shared_beginnings_change_only_with_the_version(monkeypatch):
    """The same numbers: what is read once gives what reading it again would."""
    read, paths = pool.head_outputs, []

    def seen(model, places, texts, rows):
        paths.extend(len(row.paths) for row in rows)
        return read(model, places, texts, rows)

    monkeypatch.setattr(pool, "head_outputs", seen)
    expected = json.loads(GOLDEN.read_text())[str(HEADS_VERSION)]
    for bos, numbers in golden_sums(poles(), share=True).items():
        np.testing.assert_allclose(numbers, expected[bos], rtol=1e-5, atol=2e-5)
    assert max(paths) > 1


if __name__ == "__main__":
    held = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    held.setdefault(str(HEADS_VERSION), golden_sums())
    GOLDEN.write_text(json.dumps(held, indent=1) + "\n")

"""Samples of axes for people to rate: what is dropped, drawn and replaced by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.axes.antonyms import antonym_axes
from core.axes.axis import Axis, Pole
from core.axes.sampling import Sample, read_domains, replace_by_hand, sample_axes
from core.errors import DataSetError, InputError
from tests.tiny_wordnet import real_wordnet

DOMAINS = ("mind", "body", "trade")


def pole(word: str, sense: int = 1, definition: str = "so it is") -> Pole:
    return Pole(f"{word}.a.{sense:02d}", sense, (word,), definition)


def axis(
    sense: int, definition: str = "so it is", words: tuple[str, str] = ("good", "bad")
) -> Axis:
    return Axis(pole(words[0], sense), pole(words[1], sense, definition), "wordnet")


def many(n: int) -> list[Axis]:
    """Axes of frequent words, told apart by the number of their senses."""
    return [axis(sense) for sense in range(1, n + 1)]


def domains_of(axes: list[Axis], names: tuple[str, ...] = DOMAINS) -> dict[str, str]:
    """The domains in turn, the same for both poles."""
    return {
        p.synset: names[i % len(names)]
        for i, a in enumerate(axes)
        for p in (a.negative, a.positive)
    }


def sample(n: int = 60, n_axes: int = 10) -> Sample:
    axes = many(n)
    return sample_axes(axes, domains_of(axes), DOMAINS, n_axes=n_axes)


def write(folder: Path, *lines: str) -> Path:
    path = folder / "table.csv"
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


# --- what is drawn --------------------------------------------------------------------------


def test_a_hundred_axes_are_34_33_and_33_of_three_domains() -> None:
    axes = many(300)
    domains = domains_of(axes)
    drawn = sample_axes(axes, domains, DOMAINS)
    assert list(drawn.strata) == ["mind"] * 34 + ["body"] * 33 + ["trade"] * 33
    assert len(set(drawn.axes)) == 100
    for one, stratum in zip(drawn.axes, drawn.strata, strict=True):
        assert domains[one.negative.synset] == domains[one.positive.synset] == stratum
    assert sample_axes(axes[::-1], domains, DOMAINS).axes == drawn.axes
    assert set(sample_axes(axes, domains, DOMAINS, seed=7).axes) != set(drawn.axes)


def test_more_axes_displace_none_but_by_chance_of_their_own() -> None:
    """A draw by each axis's own hash: those that stay in are the lowest of all."""
    few, more = many(90), many(300)
    small = sample_axes(few, domains_of(few), DOMAINS, n_axes=30)
    large = sample_axes(more, domains_of(more), DOMAINS, n_axes=30)
    assert set(large.axes) & set(few) <= set(small.axes)


def test_what_no_sample_holds_is_dropped_with_its_reason() -> None:
    unfit = {
        axis(1, "a quantifier of things"): "bad.a.01 is a quantifier",
        axis(2, "the superlative of `much' used with mass nouns"): "bad.a.02 is a quantifier",
        axis(3, "(botany) leafless"): "bad.a.03 has a definition that names its field",
        axis(4, "(of birds) able to fly; often in combination"): (
            "bad.a.04 has a definition that names its field"
        ),
        axis(5, words=("good", "qzxwvq")): "qzxwvq.a.05 is rarer than Zipf 3",
        axis(6, words=("good", "footpath")): "footpath.a.06 is rarer than Zipf 3",  # 2.99
    }
    fit = [
        axis(11, "(usually followed by `to') apt"),
        axis(12, "(comparative of `good') finer (of two)"),
        axis(13, "close (of friends)"),
        axis(14, words=("good", "tarmac")),  # 3.07
    ]
    axes = [*unfit, *fit]
    found = sample_axes(axes, domains_of(axes, ("mind",)), ["mind"], n_axes=4)
    assert {dropped.axis: dropped.reason for dropped in found.dropped} == unfit
    assert set(found.axes) == set(fit)


def test_poles_of_different_or_no_domain_are_dropped() -> None:
    axes = many(3)
    domains = domains_of(axes, ("mind",)) | {"bad.a.02": "body"}
    del domains["good.a.03"]
    found = sample_axes(axes, domains, ["mind"], n_axes=1)
    assert found.axes == (axes[0],)
    assert [dropped.reason for dropped in found.dropped] == [
        "the poles have different domains",
        "a pole has no domain",
    ]


def test_quantifiers_of_wordnet_are_found() -> None:
    axes = antonym_axes(real_wordnet())
    domains = domains_of(list(axes), ("mind",))
    found = sample_axes(axes, domains, ["mind"], n_axes=1)
    quantifiers = [d.axis.axis_id for d in found.dropped if d.reason.endswith("a quantifier")]
    assert quantifiers == [
        "all.a.01~no.a.01",
        "all.a.01~some.a.01",
        "few.a.01~many.a.01",
        "fewer.a.01~more.a.02",
        "fewest.a.01~most.a.01",
        "least.a.01~most.a.02",
        "less.a.01~more.a.01",
        "little.a.02~much.a.01",
        "no.a.01~some.a.01",
    ]
    assert len(found.eligible["mind"]) > 500


@pytest.mark.parametrize(
    ("strata", "n_axes", "message"),
    [
        (["mind", "taste"], 10, "The domain taste has 0 axes to draw from, and 5 are needed"),
        (DOMAINS, 90, "The domain mind has 20 axes to draw from, and 30 are needed; draw fewer"),
        (["mind", "mind"], 10, "10 axes cannot be drawn of: mind, mind"),
        ([], 10, "10 axes cannot be drawn of: no domain"),
        (DOMAINS, 2, "2 axes cannot be drawn of: mind, body, trade"),
    ],
)
def test_a_sample_that_cannot_be_drawn_says_why(
    strata: list[str], n_axes: int, message: str
) -> None:
    axes = many(60)
    with pytest.raises(InputError, match=message):
        sample_axes(axes, domains_of(axes), strata, n_axes=n_axes)


# --- domains --------------------------------------------------------------------------------


def test_domains_are_read_by_synset(tmp_path: Path) -> None:
    path = write(tmp_path, "synset,domain", "good.a.01, mind ", "bad.a.01,body", "bad.a.01,body")
    assert read_domains(path) == {"good.a.01": "mind", "bad.a.01": "body"}


def test_wrong_domains_are_named_by_row(tmp_path: Path) -> None:
    lines = ["synset,domain", "good.a.01,mind", "good.a.01,body", "bad.a.01,", ",mind"]
    with pytest.raises(DataSetError) as caught:
        read_domains(write(tmp_path, *lines))
    assert {problem.row: problem.message for problem in caught.value.problems} == {
        3: "good.a.01 has the domain mind in an earlier row.",
        4: "The row needs a synset and its domain.",
        5: "The row needs a synset and its domain.",
    }


# --- by hand --------------------------------------------------------------------------------


def test_a_pair_is_replaced_where_it_stands(tmp_path: Path) -> None:
    drawn = sample()
    old = drawn.axes[4]
    new = next(a for a in drawn.eligible[drawn.strata[4]] if a not in drawn.axes)
    turned = "~".join(reversed(old.axis_id.split("~")))
    replaced = replace_by_hand(
        drawn, write(tmp_path, "axis,replacement", f"{turned},{new.axis_id}")
    )
    assert replaced.axes == (*drawn.axes[:4], new, *drawn.axes[5:])
    assert replaced.strata == drawn.strata


def test_wrong_replacements_are_named_by_row(tmp_path: Path) -> None:
    drawn = sample()
    mind, body = drawn.axes[0], drawn.axes[4]
    free = [a for a in drawn.eligible["mind"] if a not in drawn.axes]
    lines = [
        "axis,replacement",
        f"{free[0].axis_id},{free[1].axis_id}",
        f"{mind.axis_id},{drawn.axes[1].axis_id}",
        f"{body.axis_id},{free[0].axis_id}",
        f"{mind.axis_id},dead.a.01~alive.a.01",
        f"{mind.axis_id},{free[0].axis_id}",
        f"{drawn.axes[1].axis_id},{free[0].axis_id}",
    ]
    with pytest.raises(DataSetError) as caught:
        replace_by_hand(drawn, write(tmp_path, *lines))
    found = {problem.row: problem.message for problem in caught.value.problems}
    assert found == {
        2: f"{free[0].axis_id!r} is not in the sample; write two synsets with ~ between them.",
        3: f"{drawn.axes[1].axis_id} is in the sample already.",
        4: f"{free[0].axis_id!r} is none of the 20 axes of the domain body.",
        5: "'dead.a.01~alive.a.01' is none of the 20 axes of the domain mind.",
        7: f"{free[0].axis_id} is in the sample already.",
    }

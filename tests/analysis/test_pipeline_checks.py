"""The five pipeline checks on data and scores with a planted fault, and without."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.pipeline_checks import (
    PipelineCheck,
    blank,
    contrast,
    item_checks,
    role_derivation,
)
from core.analysis.role_evidence import RULES
from core.analysis.score_checks import label_direction, scored_tokens, uncovered
from core.items.layouts import FORMATS
from core.items.texts import item_texts, make_text
from core.store.gate import Cache
from core.store.items import put_dataset
from core.store.scorers import put_scorer
from core.store.scores import put_scores
from core.types import Item, Role, TokenScore
from tests.scored import fill_scored
from tests.store_samples import SCORER

ROLES = (Role.STEREOTYPE, Role.ANTI_STEREOTYPE, Role.UNKNOWN)


def question(n: int, order: tuple[Role, ...], condition: str = "en") -> Item:
    return Item(
        item_id=f"q{n}",
        condition=condition,
        context=f"Two people met {n} times. Who forgot?",
        stereotype="The old one",
        anti_stereotype="The young one",
        unknown="Nobody knows",
        answer_order=order,
        source="bbq",
        metadata={"question_polarity": "neg", "groups": {"stereotype": "old"}},
    )


def sentence(n: int, condition: str = "en", **values: object) -> Item:
    texts = {
        "context": f"The nurse {n} put on BLANK coat.",
        "stereotype": f"The nurse {n} put on her coat.",
        "anti_stereotype": f"The nurse {n} put on his coat.",
    }
    return Item(
        item_id=f"s{n}", condition=condition, metadata={"form": "fill_in"}, **texts | values
    )  # type: ignore[arg-type]


def english(items: list[Item]) -> dict[str, Item]:
    return {item.item_id: item for item in items if item.condition == "en"}


# --- role derivation ------------------------------------------------------------------------


def test_a_stereotype_that_always_comes_first_is_red() -> None:
    found = role_derivation([question(n, ROLES) for n in range(20)], "bbq")
    assert (found.state, found.n, found.n_bad) == ("red", 20, 20)
    assert "bbq: the stereotype comes before the anti-stereotype in 20 of 20" in found.found


def test_always_behind_the_unknown_answer_is_red_too() -> None:
    order = (Role.UNKNOWN, Role.ANTI_STEREOTYPE, Role.STEREOTYPE)
    found = role_derivation([question(n, order) for n in range(20)], "bbq")
    assert found.state == "red" and "in 0 of 20" in found.found


def test_both_orders_are_green_with_what_the_roles_come_from() -> None:
    orders = [ROLES, (Role.ANTI_STEREOTYPE, Role.STEREOTYPE, Role.UNKNOWN)]
    found = role_derivation([question(n, orders[n % 2]) for n in range(20)], "bbq")
    assert (found.state, found.n, found.n_bad) == ("green", 20, 0)
    assert RULES["bbq"].sentence in found.found
    example = found.examples.iloc[0]
    assert example["stereotype"] == "The old one" and example["unknown"] == "Nobody knows"
    assert "question_polarity: neg" in example["Behind the roles"]
    assert "listed in the source as " in example["Behind the roles"]


def test_few_or_no_orders_are_undefined() -> None:
    few = role_derivation([question(n, ROLES) for n in range(19)], "bbq")
    none = role_derivation([sentence(n) for n in range(30)], "stereoset")
    assert (few.state, few.n, few.n_bad) == ("undefined", 19, 0)
    assert (none.state, none.n) == ("undefined", 0)
    assert len(none.examples) == 10


def test_every_layout_says_where_its_roles_come_from() -> None:
    assert set(RULES) == set(FORMATS)


def test_counts_of_conditions_have_separators() -> None:
    items = [sentence(n) for n in range(1000)]
    items += [sentence(n, "hi", stereotype="वही", anti_stereotype="वही।") for n in range(1000)]
    assert "hi 1,000 of 1,000" in contrast(items, english(items)).found


# --- contrast and blank ---------------------------------------------------------------------


def test_a_collapsed_or_lost_translation_is_red_with_its_english() -> None:
    items = [sentence(n) for n in range(3)]
    items += [
        sentence(0, "hi", stereotype="वही", anti_stereotype="वही।"),
        replace(sentence(1, "hi"), metadata={"form": "fill_in", "judgment": " Lost "}),
        sentence(2, "hi"),
    ]
    found = contrast(items, english(items))
    assert (found.state, found.n, found.n_bad) == ("red", 3, 2)
    assert "hi 2 of 3" in found.found and "collapsed: 1, judged lost: 1" in found.found
    assert list(found.examples["what"]) == ["collapsed", "judged lost"]
    assert found.examples["stereotype in English"][0] == "The nurse 0 put on her coat."


def test_what_is_collapsed_in_english_already_is_no_fault_of_translation() -> None:
    items = [
        sentence(n, c, anti_stereotype="x", stereotype="x") for n in (0,) for c in ("en", "hi")
    ]
    items += [sentence(1), sentence(1, "hi")]
    found = contrast(items, english(items))
    assert (found.state, found.n, found.n_bad) == ("green", 1, 0)


def test_without_translations_contrast_is_undefined() -> None:
    items = [sentence(n) for n in range(3)]
    assert contrast(items, english(items)).state == "undefined"


def test_a_lost_or_doubled_blank_is_red() -> None:
    items = [sentence(n) for n in range(3)]
    items += [
        sentence(0, "es", context="La enfermera se puso su abrigo."),
        sentence(1, "es", context="BLANK enfermera se puso BLANK abrigo."),
        sentence(2, "es", context="La enfermera se puso ____ abrigo."),
    ]
    found = blank(items, english(items))
    assert (found.state, found.n, found.n_bad) == ("red", 6, 2)
    assert "es 2 of 3" in found.found
    assert list(found.examples["blanks"]) == [0, 2]


@pytest.mark.parametrize(("said", "n_bad"), [(True, 0), ("no", 1), (False, 1)])
def test_what_the_metadata_say_of_a_blank_comes_first(said: object, n_bad: int) -> None:
    version = replace(
        sentence(0, "es", context="La enfermera se puso [  ] abrigo."),
        metadata={"blank_survived": said},
    )
    items = [sentence(0), version]
    assert blank(items, english(items)).n_bad == n_bad


def test_two_blanks_in_english_have_to_be_two_in_a_translation() -> None:
    twice = "The BLANK nurse {} put on BLANK coat."
    items = [sentence(n, context=twice.format(n)) for n in range(2)]
    items += [sentence(0, "es", context="La BLANK enfermera se puso BLANK abrigo.")]
    items += [sentence(1, "es", context="La enfermera se puso BLANK abrigo.")]
    found = blank(items, english(items))
    assert (found.n, found.n_bad) == (4, 1)
    assert found.examples["item_id"][0] == "s1"


def test_an_original_without_a_blank_is_red() -> None:
    items = [sentence(0, context="The nurse put on a coat."), sentence(1, context="BLANK's coat.")]
    assert blank(items, english(items)).n_bad == 1


def test_without_fill_in_items_the_blank_is_undefined() -> None:
    items = [question(0, ROLES)]
    assert blank(items, english(items)).state == "undefined"


# --- label direction ------------------------------------------------------------------------


def scores(n: int, n_stereotype: int, unrelated: float = -9.0, **columns: object) -> pd.DataFrame:
    """Scores of which the first `n_stereotype` prefer the stereotype."""
    first = np.arange(n) < n_stereotype
    return pd.DataFrame(
        {
            "item_id": [f"i{k}" for k in range(n)],
            "condition": "en",
            "source": "stereoset",
            "state": "scored",
            "l_stereotype": np.where(first, -2.0, -3.0),
            "l_anti": np.where(first, -3.0, -2.0),
            "l_unrelated": unrelated,
            **columns,
        }
    )


def test_the_stereotype_preferred_in_clearly_more_than_half_is_green() -> None:
    found = label_direction(scores(100, 62))
    row = found.examples.iloc[0]
    assert (found.state, found.n, found.n_bad) == ("green", 100, 0)
    assert row["stereotype preferred"] == 0.62 and row["unrelated preferred"] == 0
    assert row["SS"] + row["SS with roles exchanged"] == pytest.approx(1)


def test_labels_the_other_way_round_are_red_and_say_what_it_would_be() -> None:
    found = label_direction(scores(100, 38))
    assert (found.state, found.n_bad) == ("red", 100)
    assert "38 of 100 items; with the roles exchanged it would be 62" in found.found


def test_an_unrelated_text_in_the_place_of_a_pole_is_red() -> None:
    found = label_direction(scores(100, 62, unrelated=-1.0))
    assert found.state == "red"
    assert "the unrelated text is preferred in 100 of 100" in found.found


def test_close_to_half_is_undefined() -> None:
    assert label_direction(scores(100, 54)).state == "undefined"


def test_one_source_the_other_way_round_is_enough_for_red() -> None:
    table = pd.concat([scores(100, 62), scores(50, 10, source="bbq")])
    found = label_direction(table)
    assert (found.state, found.n, found.n_bad) == ("red", 150, 50)
    assert list(found.examples["state"]) == ["green", "red"]


def test_translations_and_rewordings_do_not_count_where_english_is_scored() -> None:
    others = [scores(100, 0, condition=condition) for condition in ("hi", "en~p1")]
    assert label_direction(pd.concat([scores(100, 62), *others])).n == 100
    assert label_direction(others[0]).n == 100  # the language that there is


def test_scores_without_means_are_compared_by_what_orders_them() -> None:
    table = scores(100, 62)
    means = [f"l_{pole}" for pole in ("stereotype", "anti", "unrelated")]
    ordered = table.rename(columns={name: f"order_{name[2:]}" for name in means})
    ordered = ordered.assign(**dict.fromkeys(means, np.nan))
    found = label_direction(ordered)
    assert (found.state, found.n) == ("green", 100)
    assert found.examples["n with unrelated"][0] == 100
    assert np.isnan(found.examples["SS"][0])


def test_exact_ties_say_nothing_about_labels() -> None:
    table = scores(100, 62)
    table.loc[table.index[-20:], "l_stereotype"] = table["l_anti"].iloc[-20:]
    found = label_direction(table)
    assert (found.n, found.examples["stereotype preferred"][0]) == (80, 62 / 80)


def test_numbers_that_compare_nothing_are_undefined() -> None:
    found = label_direction(scores(30, 20, l_anti=np.nan))
    assert (found.state, found.n) == ("undefined", 0)
    assert "do not compare the two poles" in found.found


def test_without_scores_the_direction_is_undefined() -> None:
    found = label_direction(scores(5, 3, state="missing"))
    assert (found.state, found.n) == ("undefined", 0)


# --- scored tokens --------------------------------------------------------------------------


def token_score(context: str, continuation: str, spans: list[tuple[int, int]]) -> TokenScore:
    starts, ends = zip(*spans, strict=True)
    return TokenScore(
        text_id=make_text(context, continuation).text_id,
        token_ids=np.arange(len(spans), dtype=np.int32),
        logprobs=np.full(len(spans), -1, dtype=np.float32),
        starts=np.array(starts, dtype=np.int32),
        ends=np.array(ends, dtype=np.int32),
        words=np.zeros(len(spans), dtype=np.int32),
    )


@pytest.mark.parametrize(
    ("spans", "missing"),
    [
        ([(1, 5), (5, 9)], ""),  # "a bcde fgh": the space belongs to the token behind it
        ([(2, 5), (6, 10)], "e"),
        ([(6, 10)], "bcde"),  # the first token is not scored
        ([(1, 6)], "fgh"),  # nor is the last
    ],
)
def test_letters_that_no_scored_token_covers_are_found(spans, missing) -> None:
    text = make_text("a", "bcde fgh")
    spans = [(start, end + (end == 9)) for start, end in spans]
    found = uncovered(text, token_score("a", "bcde fgh", spans))
    assert found == {"not scored": missing, "marks dropped": ""}


def test_marks_that_a_tokenizer_drops_are_told_apart() -> None:
    text = make_text("", "عارضا\u064b هنا")
    score = token_score("", "عارضا\u064b هنا", [(0, 5), (7, 10)])
    assert uncovered(text, score) == {"not scored": "", "marks dropped": "\u25cc\u064b"}


def stored(cache: Cache, drop_first: bool) -> list[Item]:
    """Items in a cache whose scores have all tokens, or all but the first."""
    items = [replace(sentence(n, context=""), metadata={}) for n in range(3)]
    put_dataset(cache, "d", items, path="", format="native", sha256="")
    put_scorer(cache, SCORER)
    texts = [text for item in items for text in item_texts(item).values()]
    words = []
    for text in texts:
        ends = [at for at, c in enumerate(text.continuation) if c == " "]
        bounds = [0, *ends, len(text.continuation)]
        spans = list(pairwise(bounds))[drop_first:]
        words.append(token_score(text.context, text.continuation, spans))
    put_scores(cache, SCORER.scorer_id, words)
    return items


def test_scores_without_the_first_token_are_red(cache: Cache) -> None:
    items = stored(cache, drop_first=True)
    found = scored_tokens(cache, SCORER.scorer_id, items)
    assert (found.state, found.n, found.n_bad) == ("red", 6, 6)
    assert set(found.examples["not scored"]) == {"The"}
    assert "nurse" in found.examples["tokens"][0]


def test_whole_continuations_are_green_and_spelt(cache: Cache) -> None:
    items = stored(cache, drop_first=False)
    found = scored_tokens(cache, SCORER.scorer_id, items)
    assert (found.state, found.n, found.n_bad) == ("green", 6, 0)
    assert found.examples["tokens"][0].startswith("The | ")


def test_without_token_lists_it_is_undefined(cache: Cache) -> None:
    items = stored(cache, drop_first=False)
    found = scored_tokens(cache, "0" * 16, items)
    assert (found.state, found.n) == ("undefined", 0)


# --- the command ----------------------------------------------------------------------------


def test_the_command_is_red_with_exit_code_3_and_green_with_0(run, cache: Cache) -> None:
    items = [sentence(n) for n in range(3)]
    items += [
        sentence(n, "es", context=f"La enfermera {n} se puso BLANK abrigo.") for n in range(3)
    ]
    put_dataset(cache, "good", items, path="", format="native", sha256="")
    code, out, _ = run("check")
    assert code == 0
    assert "good: Blank survived: green (n = 6)" in out
    assert "good: Role derivation: undefined (n = 0)" in out
    items[-1] = replace(items[-1], context="La enfermera 2 se puso su abrigo.")
    put_dataset(cache, "bad", items, path="", format="native", sha256="")
    code, out, _ = run("check")
    assert code == 3
    assert "bad: Blank survived: red (n = 6)" in out and "es 1 of 3" in out
    assert "  1 example of 1.\n" in out
    assert "fair" not in out
    assert run("check", "--dataset", "good")[0] == 0


def test_with_json_every_check_of_every_scorer_is_there(run, cache: Cache) -> None:
    fill_scored(cache.folder, [sentence(n) for n in range(3)], "d")
    code, out, _ = run("check", "--json")
    said = json.loads(out)
    checks = {one["name"]: one for one in said["data_sets"]["d"]}
    assert code == 0 and said["n_red"] == 0
    assert list(checks) == [
        "role_derivation", "contrast", "blank", "label_direction", "scored_tokens",
    ]  # fmt: skip
    assert checks["scored_tokens"]["state"] == "green" and checks["scored_tokens"]["n"] == 6
    assert len(checks["scored_tokens"]["examples"]) == 6
    assert checks["label_direction"]["n"] == 3


@pytest.mark.parametrize("options", [("--dataset", "nothing"), ("--scorer", "nobody")])
def test_a_name_that_is_not_there_is_refused(run, cache: Cache, options) -> None:
    put_dataset(cache, "d", [sentence(0)], path="", format="native", sha256="")
    code, _, err = run("check", *options)
    assert (code == 2 and options[1] in err) or "no scores yet" in err


def test_the_checks_of_items_come_in_one_order() -> None:
    found: list[PipelineCheck] = item_checks([sentence(0)], "native")
    assert [one.name for one in found] == ["role_derivation", "contrast", "blank"]


# --- the published scores of GPT-2 ------------------------------------------------------------


def turned(text: str) -> str:
    """StereoSet with its first two labels exchanged."""
    return (
        text.replace('"anti-stereotype"', '"?"')
        .replace('"stereotype"', '"anti-stereotype"')
        .replace('"?"', '"stereotype"')
    )


@pytest.mark.benchmarks
@pytest.mark.skipif(
    not os.environ.get("STEREOSCOPE_BENCHMARKS"), reason="STEREOSCOPE_BENCHMARKS is not set"
)
def test_exchanged_labels_of_stereoset_are_seen_in_gpt2_s_published_scores(run, tmp_path) -> None:
    folder = Path(os.environ["STEREOSCOPE_BENCHMARKS"]) / "stereoset"
    wrong = tmp_path / "turned_intrasentence.json"
    wrong.write_text(turned((folder / "dev_intrasentence.json").read_text("utf-8")), "utf-8")
    for name, file in (("right", folder / "dev_intrasentence.json"), ("wrong", wrong)):
        assert run("import", file, "--dataset", name)[0] == 0
        scores = ("import-scores", folder / "item_scores_gpt2.csv", "--dataset", name)
        assert run(*scores, "--model", f"gpt2-{name}")[0] == 0
    code, out, _ = run("check", "--dataset", "right")
    assert code == 0 and "preferred in 1,305 of 2,106 items; more than half" in out
    code, out, _ = run("check", "--dataset", "wrong")
    assert code == 3
    assert "preferred in 801 of 2,106 items; with the roles exchanged it would be 1,305" in out

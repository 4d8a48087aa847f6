"""Files of scores: which item each row is of, on which scale, and what is wrong with it."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import DataSetError, InputError
from core.imported_scores.finding import FoundScores, find_scores
from core.imported_scores.layout import Scale, ScoreOptions
from core.imported_scores.layouts import FORMATS
from core.imported_scores.numbers import columns_of
from core.imported_scores.reading import read_score_file
from core.settings import ROOT
from core.types import Item, Severity
from tests.score_files import (
    N,
    items,
    lt_results,
    number,
    pairs,
    predictions,
    results,
    sample,
    samples,
    write_csv,
    write_lines,
)

ROLES = ("stereotype", "anti_stereotype", "unrelated")


def found(path: Path, of: Sequence[Item], layout: str | None = None, **options: Any) -> FoundScores:
    lenient = options.pop("lenient", False)
    file = read_score_file(path, layout, options=ScoreOptions(**options))
    return find_scores(file, of, model="m", lenient=lenient)


def refused(path: Path, of: Sequence[Item], **options: Any) -> DataSetError:
    with pytest.raises(DataSetError) as caught:
        found(path, of, **options)
    return caught.value


def kinds(error: DataSetError) -> Counter[str]:
    return Counter(p.kind for p in error.problems if p.severity is Severity.ERROR)


def values(scores: FoundScores, model: str = "m") -> dict[str, dict[str, float]]:
    return {n.item_id: dict(n.values) for n in scores.by_model[model]}


EXPECTED = {f"i{n}": {role: number(n, role) for role in ROLES} for n in range(N)}


class TestSampleLogs:
    @pytest.mark.parametrize("named", [False, True])
    def test_items_are_found_by_their_texts(self, tmp_path: Path, named: bool) -> None:
        path = write_lines(tmp_path / "samples.jsonl", samples(items(), named=named))
        scores = found(path, items())
        assert values(scores) == EXPECTED
        assert scores.problems == ()

    def test_numbers_are_sums(self, tmp_path: Path) -> None:
        file = read_score_file(write_lines(tmp_path / "a.jsonl", samples(items())))
        assert (file.layout.name, file.scale) == ("lm-eval", Scale.SUM)
        with pytest.raises(InputError, match="on the scale sum, not mean"):
            read_score_file(file.path, options=ScoreOptions(scale=Scale.MEAN))

    def test_a_log_without_filtered_answers_has_them_in_the_others(self, tmp_path: Path) -> None:
        documents = [
            {k: v for k, v in d.items() if k != "filtered_resps"} for d in samples(items())
        ]
        assert values(found(write_lines(tmp_path / "a.jsonl", documents), items())) == EXPECTED

    def test_a_folder_of_logs_is_one_model_and_its_summary_is_left(self, tmp_path: Path) -> None:
        write_lines(tmp_path / "samples_en.jsonl", samples(items()))
        write_lines(tmp_path / "samples_es.jsonl", samples(items("es")))
        (tmp_path / "results_1.json").write_text('{"results": {"acc": 1}}')
        scores = found(tmp_path, [*items(), *items("es")])
        assert Counter(n.condition for n in scores.by_model["m"]) == {"en": N, "es": N}
        assert [p.kind for p in scores.problems] == ["file_ignored"]

    def test_requests_without_the_context_are_passed_over(self, tmp_path: Path) -> None:
        documents = samples(items())
        for document in documents:
            document["arguments"] += [["", text] for _, text in document["arguments"]]
            document["filtered_resps"] += [[-50.0, False]] * len(ROLES)
        assert values(found(write_lines(tmp_path / "a.jsonl", documents), items())) == EXPECTED

    @pytest.mark.parametrize(
        ("field", "value", "words"),
        [
            ("arguments", [["a whole text"]], "scores a whole text and no continuation"),
            ("arguments", [["Q", {"until": ["."]}]], "of a task that generates text"),
            ("arguments", [], "has no arguments"),
            ("arguments", [[1, 2]], "where context and continuation belong"),
            ("arguments", [["a\x00", "b"]], "a NUL or a lone surrogate"),
            ("filtered_resps", [[-1.0, False]], "not one answer for each of its 3 requests"),
            ("filtered_resps", [[-1.0]] * 3, "where log-likelihood and is_greedy belong"),
            ("filtered_resps", [["much", False]] * 3, "'much' is no number"),
        ],
    )
    def test_what_is_no_log_likelihood_is_refused_by_row(
        self, tmp_path: Path, field: str, value: Any, words: str
    ) -> None:
        documents = samples(items())
        documents[4] |= {field: value, "resps": []}
        error = refused(write_lines(tmp_path / "a.jsonl", documents), items())
        (bad,) = [p for p in error.problems if p.kind == "bad_sample"]
        assert bad.row == 5 and words in bad.message

    def test_a_context_with_examples_in_front_is_no_item(self, tmp_path: Path) -> None:
        documents = samples(items())
        documents[2]["arguments"] = [["An example. " + c, t] for c, t in documents[2]["arguments"]]
        error = refused(write_lines(tmp_path / "a.jsonl", documents), items())
        assert kinds(error) == {"unmatched_score": 3, "missing_score": 1}
        assert {p.row for p in error.problems if p.kind == "unmatched_score"} == {3}


class TestPairResults:
    @pytest.mark.parametrize("delimiter", [",", ";"])
    def test_pairs_are_found_by_sentences_not_by_row_numbers(
        self, tmp_path: Path, delimiter: str
    ) -> None:
        path = write_csv(tmp_path / "r.csv", results(pairs()), delimiter)
        scores = found(path, pairs())
        assert values(scores) == {
            str(n): {"stereotype": -20.5 - n, "anti_stereotype": -21.0 - (n if n % 4 else 0)}
            for n in range(N)
        }
        assert not [p for p in scores.problems if p.severity is not Severity.NOTE]

    def test_only_their_own_condition_is_scored(self, tmp_path: Path) -> None:
        path = write_csv(tmp_path / "r.csv", results(pairs("nl")))
        scores = found(path, [*pairs(), *pairs("nl")])
        assert {n.condition for n in scores.by_model["m"]} == {"nl"}
        assert [p.kind for p in scores.problems] == ["condition_missing"]

    def test_a_choice_that_the_numbers_do_not_make_is_noted(self, tmp_path: Path) -> None:
        rows = results(pairs())
        rows[3]["score"] = 1 - rows[3]["score"]
        (note,) = found(write_csv(tmp_path / "r.csv", rows), pairs()).problems
        assert (note.kind, note.row) == ("choice_disagrees", 5)

    def test_a_tie_is_no_choice_for_the_stereotype(self, tmp_path: Path) -> None:
        rows = results(pairs())
        rows[0] |= {"sent_more_score": -20.0, "sent_less_score": -20.0, "score": 0}
        assert found(write_csv(tmp_path / "r.csv", rows), pairs()).problems == ()

    def test_sentences_that_changed_places_are_no_item(self, tmp_path: Path) -> None:
        rows = results(pairs())
        rows[1]["sent_more"], rows[1]["sent_less"] = rows[1]["sent_less"], rows[1]["sent_more"]
        error = refused(write_csv(tmp_path / "r.csv", rows), pairs())
        assert kinds(error) == {"unmatched_score": 1, "missing_score": 1}

    def test_items_with_a_context_are_no_pairs(self, tmp_path: Path) -> None:
        rows = results(pairs())
        of = [replace(item, context="Listen:") for item in pairs()]
        assert "unmatched_score" in kinds(refused(write_csv(tmp_path / "r.csv", rows), of))


class TestPredictions:
    def test_both_shapes_give_the_same(self, tmp_path: Path) -> None:
        rows = predictions(items())
        table = [{"sentence_id": row["id"], "score": row["score"]} for row in rows]
        (tmp_path / "p.json").write_text(json.dumps({"intrasentence": rows}))
        one = found(write_csv(tmp_path / "p.csv", table), items())
        other = found(tmp_path / "p.json", items())
        expected = {f"i{n}": {role: 2.0 ** number(n, role) for role in ROLES} for n in range(N)}
        assert values(one) == values(other) == expected

    def test_a_list_of_the_other_task_is_noted_not_refused(self, tmp_path: Path) -> None:
        others = [{"id": f"other{n}", "score": 0.5} for n in range(30)]
        document = {"intersentence": others, "intrasentence": predictions(items())}
        (tmp_path / "p.json").write_text(json.dumps(document))
        scores = found(tmp_path / "p.json", items())
        assert len(scores.by_model["m"]) == N
        (note,) = scores.problems
        assert note.kind == "list_unmatched" and "30 rows of intersentence" in note.message

    def test_numbers_above_one_are_scores_too(self, tmp_path: Path) -> None:
        rows = [row | {"score": row["score"] * 100} for row in predictions(items())]
        scores = found(write_csv(tmp_path / "p.csv", rows), items())
        assert values(scores)["i1"]["stereotype"] == 100 * 2.0 ** number(1, "stereotype")

    def test_several_conditions_need_a_name(self, tmp_path: Path) -> None:
        path = write_csv(tmp_path / "p.csv", predictions(items()))
        both = [*items(), *items("es")]
        with pytest.raises(InputError, match="in en, es; say with --condition"):
            found(path, both)
        scores = found(path, both, condition="es")
        assert {n.condition for n in scores.by_model["m"]} == {"es"}

    def test_items_without_sentence_ids_have_no_row(self, tmp_path: Path) -> None:
        of = [replace(item, metadata={}) for item in items()]
        error = refused(write_csv(tmp_path / "p.csv", predictions(items())), of)
        assert kinds(error) == {"unmatched_score": 3 * N}


class TestLostInTranslation:
    def test_every_model_of_a_file_has_its_own_scores(self, tmp_path: Path) -> None:
        of = [*items(), *items("hi")]
        path = write_csv(tmp_path / "r.csv", lt_results(of))
        file = read_score_file(path)
        assert (file.layout.name, file.scale) == ("lost-in-translation-results", Scale.MEAN)
        scores = find_scores(file, of)
        assert {m: len(s) for m, s in scores.by_model.items()} == {"small": 24, "large": 24}
        assert values(scores, "large")["i4"]["unrelated"] == number(4, "unrelated") - 1

    def test_roles_are_corrected_by_the_label_file(self, tmp_path: Path) -> None:
        swapped = {
            "stereotype": "anti_stereotype",
            "anti_stereotype": "stereotype",
            "unrelated": "unrelated",
        }
        path = write_csv(tmp_path / "r.csv", lt_results(items(), ["m"]))
        of = [item for item in items() if item.item_id != "i7"]
        scores = found(path, of, labels={"i2": swapped, "i7": None})
        assert values(scores)["i2"] == {
            "stereotype": number(2, "anti_stereotype"),
            "anti_stereotype": number(2, "stereotype"),
            "unrelated": number(2, "unrelated"),
        }
        assert values(scores)["i3"] == EXPECTED["i3"]
        assert "i7" not in values(scores)
        assert [p.kind for p in scores.problems] == ["left_out_by_labels"]

    def test_the_third_number_of_a_question_is_of_its_unknown_answer(self, tmp_path: Path) -> None:
        of = [replace(item, unrelated=None, unknown="Nobody knows.") for item in items()]
        path = write_csv(tmp_path / "r.csv", lt_results(of, ["m"]))
        assert values(found(path, of))["i5"]["unknown"] == number(5, "unrelated")

    def test_uncorrected_roles_of_published_items_are_noted(self, tmp_path: Path) -> None:
        of = [replace(item, item_id=f"ss_{n:04}") for n, item in enumerate(items())]
        rows = lt_results(items(), ["m"])
        for row, item in zip(rows, of, strict=True):
            row["prompt_id"] = f"{item.item_id}_en"
        scores = found(write_csv(tmp_path / "r.csv", rows), of)
        assert [p.kind for p in scores.problems] == ["roles_as_given"]

    def test_base_ids_and_other_spellings_of_a_language_are_read(self, tmp_path: Path) -> None:
        of = items("zh")
        rows = lt_results(of, ["m"])
        for n, row in enumerate(rows):
            row["language"] = "zh-CN"
            row["prompt_id"] = f"i{n}" if n % 2 else f"i{n}_zh"
        assert set(values(found(write_csv(tmp_path / "r.csv", rows), of))) == set(EXPECTED)

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"language": "klingon"}, "klingon"),
            ({"model": ""}, "has no model"),
            ({"logprob_stereotype": "low"}, "'low' is no number"),
            ({"logprob_stereotype": "-1_0"}, "'-1_0' is no number"),
        ],
    )
    def test_a_bad_row_is_named(self, tmp_path: Path, change: dict[str, str], words: str) -> None:
        rows = lt_results(items(), ["m"])
        rows[6] |= change
        error = refused(write_csv(tmp_path / "r.csv", rows), items())
        (bad,) = [p for p in error.problems if p.kind == "bad_row"]
        assert bad.row == 8 and words in bad.message


def table(of: Sequence[Item], **more: Any) -> list[dict[str, Any]]:
    """Rows of a table with columns of one's own."""
    return [
        {
            "key": item.item_id,
            "lang": item.condition,
            "good": number(int(item.item_id[1:]), "anti_stereotype"),
            "bad": number(int(item.item_id[1:]), "stereotype"),
            "odd": number(int(item.item_id[1:]), "unrelated"),
            **more,
        }
        for item in of
    ]


MAPPED = {
    "item_id": "key",
    "condition": "lang",
    "stereotype": "bad",
    "anti_stereotype": "good",
    "unrelated": "odd",
}


class TestColumns:
    def test_named_columns_are_read_on_the_named_scale(self, tmp_path: Path) -> None:
        path = write_csv(tmp_path / "t.csv", table(items()))
        scores = found(path, items(), columns=MAPPED, scale=Scale.MEAN)
        assert values(scores) == EXPECTED

    def test_the_scale_has_to_be_said(self, tmp_path: Path) -> None:
        path = write_csv(tmp_path / "t.csv", table(items()))
        with pytest.raises(InputError, match="Say with --scale what the numbers are"):
            found(path, items(), columns=MAPPED)

    def test_unknown_columns_are_told_with_the_way_out(self, tmp_path: Path) -> None:
        path = write_csv(tmp_path / "t.csv", table(items()))
        with pytest.raises(InputError, match="name what its columns hold with --column"):
            found(path, items(), scale=Scale.MEAN)
        with pytest.raises(InputError, match="--column has stereotyp; a column can hold item_id"):
            found(path, items(), columns={"stereotyp": "bad"}, scale=Scale.MEAN)
        error = refused(path, items(), columns=MAPPED | {"unrelated": "nil"}, scale=Scale.MEAN)
        assert "Columns are missing: nil" in str(error)

    def test_a_column_mapping_means_nothing_to_a_log(self, tmp_path: Path) -> None:
        path = write_lines(tmp_path / "a.jsonl", samples(items()))
        with pytest.raises(InputError, match="--column means nothing to scores of the layout"):
            found(path, items(), "lm-eval", columns=MAPPED)

    def test_token_counts_give_the_mean_of_a_sum_and_the_sum_of_a_mean(
        self, tmp_path: Path
    ) -> None:
        mapped = MAPPED | {f"n_{role}": "tokens" for role in ROLES}
        path = write_csv(tmp_path / "t.csv", table(items(), tokens=4))
        scores = found(path, items(), columns=mapped, scale=Scale.SUM)
        of_one = scores.by_model["m"][1]
        row = columns_of(of_one.values, of_one.n_tokens, Scale.SUM)
        total = number(1, "stereotype")
        assert (row["sum_stereotype"], row["n_stereotype"]) == (total, 4)
        assert row["l_stereotype"] == total / 4
        row = columns_of(of_one.values, of_one.n_tokens, Scale.MEAN)
        assert (row["l_stereotype"], row["sum_stereotype"]) == (total, 4 * total)

    def test_without_counts_a_sum_is_no_mean_and_an_order_is_neither(self) -> None:
        known = {"stereotype": -3.0, "anti_stereotype": -4.0}
        assert set(columns_of(known, {}, Scale.SUM)) == {
            *("sum_stereotype", "order_stereotype", "sum_anti", "order_anti")
        }
        for scale in (Scale.ORDER, Scale.PAIRS):
            assert columns_of(known, {}, scale) == {"order_stereotype": -3.0, "order_anti": -4.0}


BROKEN: dict[str, tuple[Callable[[list[dict[str, Any]]], Any], Counter[str], str]] = {
    "nan": (lambda r: r[2].update(bad="nan"), Counter(not_a_score=1), "there is no number"),
    "infinite": (lambda r: r[2].update(bad="-inf"), Counter(not_a_score=1), "is not finite"),
    "positive": (lambda r: r[2].update(bad=0.5), Counter(not_a_score=1), "is above 0"),
    "empty": (lambda r: r[2].update(bad=""), Counter(not_a_score=1), "there is no number"),
    "no item": (
        lambda r: r[2].update(key="x"),
        Counter(unmatched_score=1, missing_score=1),
        "no item for item 'x'",
    ),
    "no row": (lambda r: r.pop(2), Counter(missing_score=1), "Item 'i2' in en has no score"),
    "twice": (
        lambda r: r.append(r[2] | {"bad": -9.0}),
        Counter(scored_twice=1),
        "has -9 here and -2.02 before",
    ),
}


class TestFolders:
    def test_only_files_of_the_layout_are_read_of_texts_and_results(self, tmp_path: Path) -> None:
        texts = [{k: v for k, v in row.items() if "score" not in k} for row in results(pairs())]
        write_csv(tmp_path / "a_texts.csv", texts)
        write_csv(tmp_path / "results.csv", results(pairs()))
        for layout in (None, "crows-results"):
            scores = found(tmp_path, pairs(), layout)
            assert len(values(scores)) == N
            (note,) = (p for p in scores.problems if p.kind == "file_ignored")
            assert note.message == (
                "Not read, because they are no files of crows-results: a_texts.csv."
            )

    def test_a_folder_of_texts_alone_has_no_scores(self, tmp_path: Path) -> None:
        for name in ("a.csv", "b.csv"):
            write_csv(tmp_path / name, [{"sent_more": "a", "sent_less": "b"}])
        with pytest.raises(InputError, match=r"^b\.csv has no columns of a known layout"):
            found(tmp_path, pairs())


class TestProblems:
    @pytest.mark.parametrize("name", BROKEN)
    def test_each_is_named_and_strict_refuses(self, tmp_path: Path, name: str) -> None:
        spoil, expected, words = BROKEN[name]
        rows = table(items())
        spoil(rows)
        path = write_csv(tmp_path / "t.csv", rows)
        error = refused(path, items(), columns=MAPPED, scale=Scale.MEAN)
        assert kinds(error) == expected and words in str(error)
        for problem in error.problems:
            assert problem.row is not None or problem.item_id

    @pytest.mark.parametrize("name", BROKEN)
    def test_lenient_leaves_just_that_item_out(self, tmp_path: Path, name: str) -> None:
        spoil, expected, _ = BROKEN[name]
        rows = table(items())
        spoil(rows)
        path = write_csv(tmp_path / "t.csv", rows)
        scores = found(path, items(), columns=MAPPED, scale=Scale.MEAN, lenient=True)
        assert values(scores) == {k: v for k, v in EXPECTED.items() if k != "i2"}
        left_out = [p for p in scores.problems if p.severity is Severity.LEFT_OUT]
        assert Counter(p.kind for p in left_out) == expected
        assert scores.n_left_out == {"m": 1}

    def test_the_same_number_twice_is_no_problem(self, tmp_path: Path) -> None:
        rows = [*table(items()), table(items())[2]]
        path = write_csv(tmp_path / "t.csv", rows)
        assert values(found(path, items(), columns=MAPPED, scale=Scale.MEAN)) == EXPECTED

    def test_collapsed_items_need_no_row_and_get_no_score(self, tmp_path: Path) -> None:
        of = items()
        of[5] = replace(of[5], anti_stereotype=of[5].stereotype.upper())
        rows = table(items())
        path = write_csv(tmp_path / "t.csv", rows)
        assert "i5" not in values(found(path, of, columns=MAPPED, scale=Scale.MEAN))
        del rows[5]
        path = write_csv(tmp_path / "u.csv", rows)
        assert len(values(found(path, of, columns=MAPPED, scale=Scale.MEAN))) == N - 1

    def test_an_item_lacks_a_score_where_one_continuation_lacks_it(self, tmp_path: Path) -> None:
        mapped = {k: v for k, v in MAPPED.items() if k != "unrelated"}
        path = write_csv(tmp_path / "t.csv", table(items()))
        error = refused(path, items(), columns=mapped, scale=Scale.MEAN)
        assert kinds(error) == {"missing_score": N}
        assert "no score of its unrelated" in str(error)

    def test_numbers_of_what_items_have_not_are_noted(self, tmp_path: Path) -> None:
        of = [replace(item, unrelated=None) for item in items()]
        path = write_csv(tmp_path / "t.csv", table(items()))
        (note,) = found(path, of, columns=MAPPED, scale=Scale.MEAN).problems
        assert note.kind == "number_ignored" and f"{N} numbers of unrelated" in note.message

    def test_nothing_left_is_refused_even_leniently(self, tmp_path: Path) -> None:
        of = [replace(item, item_id=f"other {item.item_id}") for item in items()]
        path = write_csv(tmp_path / "t.csv", table(items()))
        refused(path, of, columns=MAPPED, scale=Scale.MEAN, lenient=True)

    def test_a_broken_file_is_refused_even_leniently(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_bytes(b"\x00\xff")
        refused(tmp_path / "t.csv", items(), columns=MAPPED, scale=Scale.MEAN, lenient=True)

    def test_equal_texts_of_several_items_are_scored_together(self, tmp_path: Path) -> None:
        twin = replace(items()[0], item_id="twin")
        path = write_lines(tmp_path / "a.jsonl", samples(items()))
        scores = values(found(path, [*items(), twin]))
        assert scores["twin"] == scores["i0"]

    def test_equal_texts_with_other_numbers_are_named(self, tmp_path: Path) -> None:
        again = sample(items()[3], dict.fromkeys(ROLES, -1.0))
        path = write_lines(tmp_path / "a.jsonl", [*samples(items()), again])
        error = refused(path, items())
        assert kinds(error) == {"scored_twice": 3}
        assert {p.row for p in error.problems} == {N + 1}

    def test_twins_whose_numbers_differ_by_noise_share_the_first(self, tmp_path: Path) -> None:
        twin = replace(items()[0], item_id="twin")
        rows = samples(items())
        near = {role: number(0, role) + 2e-5 for role in ROLES}
        path = write_lines(tmp_path / "a.jsonl", [*rows, sample(twin, near)])
        scores = found(path, [*items(), twin])
        assert values(scores)["twin"] == values(scores)["i0"]
        (note,) = scores.problems
        assert note.kind == "scored_again"
        assert note.message.startswith("6 continuations") and "at most 2e-05 nats" in note.message

    def test_twins_whose_numbers_differ_are_named_in_full(self, tmp_path: Path) -> None:
        twin = replace(items()[0], item_id="twin")
        other = {role: number(0, role) + 2e-4 for role in ROLES}
        path = write_lines(tmp_path / "a.jsonl", [*samples(items()), sample(twin, other)])
        error = refused(path, [*items(), twin])
        assert kinds(error) == {"scored_twice": 6}
        assert "; the same text is that of item 'twin' in en too." in str(error)
        first = number(0, "stereotype")
        assert f"has {first + 2e-4:.10g} here and {first:.10g} before" in str(error)

    def test_an_order_allows_no_noise(self, tmp_path: Path) -> None:
        rows = table(items())
        path = write_csv(tmp_path / "t.csv", [*rows, rows[2] | {"bad": rows[2]["bad"] + 2e-5}])
        assert kinds(refused(path, items(), columns=MAPPED, scale=Scale.ORDER)) == {
            "scored_twice": 1
        }

    def test_a_condition_that_the_data_set_has_not_is_one_sentence(self, tmp_path: Path) -> None:
        path = write_lines(tmp_path / "a.jsonl", samples(items()))
        with pytest.raises(InputError, match=r"^The data set has no condition ko; it has en\.$"):
            found(path, items(), condition="ko")


def test_every_layout_and_problem_is_described() -> None:
    described = (ROOT / "docs" / "import-scores.md").read_text("utf-8")
    for name in FORMATS:
        assert f"`{name}`" in described, name
    for file in (ROOT / "core" / "imported_scores").rglob("*.py"):
        for kind in re.findall(r'\.(?:error|note)\(\s*"(\w+)"', file.read_text("utf-8")):
            assert f"`{kind}`" in described, kind


def spoilt(content: bytes, rng: np.random.Generator) -> bytes:
    """A file with something wrong: cut, bytes of other kinds, shuffled or doubled lines."""
    at = int(rng.integers(1, len(content)))
    match int(rng.integers(6)):
        case 0:
            return content[:at]
        case 1:
            return content[:at] + bytes(rng.integers(0, 256, 8, dtype=np.uint8)) + content[at:]
        case 2:
            lines = content.split(b"\n")
            return b"\n".join([lines[int(i)] for i in rng.permutation(len(lines))])
        case 3:
            return content.replace(b",", b";", int(rng.integers(1, 9)))
        case 4:
            return content[:at] + b"1" * 5000 + content[at:]
    old, new = (b"-", b"\0"), (b'"', b"[")
    return content.replace(*(old if rng.integers(2) else new), int(rng.integers(1, 9)))


@pytest.mark.parametrize("seed", range(60))
def test_damaged_files_end_in_a_sentence_or_in_scores(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    path, of, options = [
        (write_lines(tmp_path / "a.jsonl", samples(items())), items(), {}),
        (write_csv(tmp_path / "r.csv", results(pairs())), pairs(), {}),
        (write_csv(tmp_path / "p.csv", predictions(items())), items(), {}),
        (write_csv(tmp_path / "l.csv", lt_results(items())), items(), {}),
        (
            write_csv(tmp_path / "t.csv", table(items())),
            items(),
            {"columns": MAPPED, "scale": Scale.MEAN},
        ),
    ][seed % 5]
    path.write_bytes(spoilt(path.read_bytes(), rng))
    for lenient in (False, True):
        try:
            scores = found(path, of, lenient=lenient, **options)
        except InputError as error:
            assert len(str(error)) < 3000
        else:
            known = {(item.item_id, item.condition) for item in of}
            for numbers in scores.by_model.values():
                assert {(n.item_id, n.condition) for n in numbers} <= known
                assert all(math.isfinite(v) for n in numbers for v in n.values.values())

"""Scores from elsewhere in the cache: by command, twice, replaced, and with items put in anew."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from core.analysis.items import item_table
from core.analysis.pairs import pair_summary, pair_table
from core.analysis.provenance import provenance
from core.errors import InputError
from core.imported_scores.finding import ItemNumbers
from core.imported_scores.layout import Scale
from core.store.audit_content import audit_content
from core.store.gate import Cache
from core.store.imported_scores import PutScores, ScoreSource, put_imported, score_imports
from core.store.items import coverage, put_dataset
from core.store.pairs import ask_alignment, pair_scores
from core.store.scorers import put_scorer, scorers
from core.store.scores import item_scores, put_scores
from core.store.verify import verify
from core.types import Item
from tests.conftest import Run
from tests.score_files import (
    N,
    items,
    lt_results,
    number,
    pairs,
    predictions,
    results,
    samples,
    write_csv,
    write_lines,
)
from tests.store_samples import SCORER, score

ROLES = ("stereotype", "anti_stereotype", "unrelated")


def put(cache: Cache, of: Sequence[Item], name: str = "d", *, anew: bool = False) -> None:
    put_dataset(cache, name, of, path="x", format="native", sha256="0", replace=anew)


def numbers(of: Sequence[Item], shift: float = 0.0) -> list[ItemNumbers]:
    return [
        ItemNumbers(
            item.item_id,
            item.condition,
            {role: number(n, role) - shift for role in item.continuations()},
        )
        for n, item in enumerate(of)
    ]


def put_means(
    cache: Cache, of: Sequence[ItemNumbers], *, file: str = "f1", model: str = "m", **more: Any
) -> PutScores:
    scale = more.pop("scale", Scale.MEAN)
    source = ScoreSource(path=f"{file}.csv", format="columns", sha256=file, scale=scale)
    (done,) = put_imported(cache, "d", source, {model: of}, **more)
    return done


def means(cache: Cache, scorer_id: str) -> dict[str, float]:
    table = item_scores(cache, scorer_id, "d")
    return table[table["state"] == "scored"].set_index("item_id")["l_stereotype"].to_dict()


class TestStore:
    def test_the_same_scores_twice_change_nothing(self, cache: Cache) -> None:
        put(cache, items())
        first = put_means(cache, numbers(items()))
        stamp = audit_content(cache, "d", [first.scorer_id])
        again = put_means(cache, numbers(items()))
        assert (first.unchanged, again.unchanged) == (False, True)
        assert first.scorer_id == again.scorer_id
        assert audit_content(cache, "d", [first.scorer_id]) == stamp
        assert len(scorers(cache)) == len(score_imports(cache)) == 1
        assert means(cache, first.scorer_id) == {f"i{n}": number(n, "stereotype") for n in range(N)}
        assert verify(cache) == []

    def test_another_file_is_another_scorer_under_a_name_of_its_own(self, cache: Cache) -> None:
        put(cache, items())
        ids = {
            put_means(cache, numbers(items()), file=file, model=model).scorer_id
            for file, model in (("f1", "m"), ("f1", "other"), ("f2", "third"))
        }
        assert len(ids) == 3

    @pytest.mark.parametrize("file", ["f1", "f2"])
    def test_other_numbers_under_a_name_need_a_word(self, cache: Cache, file: str) -> None:
        put(cache, items())
        before = put_means(cache, numbers(items()))
        other = numbers(items(), shift=1.0)
        with pytest.raises(InputError, match="'m'; --replace puts these in their place"):
            put_means(cache, other, file=file)
        assert means(cache, before.scorer_id)["i1"] == number(1, "stereotype")
        after = put_means(cache, other, file=file, replace=True)
        assert means(cache, after.scorer_id)["i1"] == number(1, "stereotype") - 1
        assert scorers(cache)["scorer_id"].tolist() == [after.scorer_id]
        assert score_imports(cache)["scorer_id"].tolist() == [after.scorer_id]
        assert verify(cache) == []

    def test_items_that_change_say_how_many_imported_scores_go(self, cache: Cache) -> None:
        put(cache, items())
        put_means(cache, numbers(items()))
        changed = [replace(i, category="new") if n < 2 else i for n, i in enumerate(items())]
        kept = {"path": "x", "format": "native", "sha256": "1", "replace": True}
        assert put_dataset(cache, "d", changed[:-1], **kept).n_scores_gone == 3
        assert score_imports(cache)["n_scored"].tolist() == [N - 3]
        assert put_dataset(cache, "d", changed[:-1], **kept).n_scores_gone == 0
        assert verify(cache) == []

    def test_what_is_replaced_in_one_data_set_stays_in_another(self, cache: Cache) -> None:
        put(cache, items())
        put(cache, items(), "e")
        before = put_means(cache, numbers(items()))
        source = ScoreSource(path="f1.csv", format="columns", sha256="f1", scale=Scale.MEAN)
        put_imported(cache, "e", source, {"m": numbers(items())})
        put_means(cache, numbers(items()), file="f2", replace=True)
        assert (item_scores(cache, before.scorer_id, "e")["state"] == "scored").all()
        assert means(cache, before.scorer_id) == {}
        assert len(scorers(cache)) == 2

    def test_items_without_a_score_get_theirs_from_the_same_file(self, cache: Cache) -> None:
        put(cache, items())
        part = put_means(cache, numbers(items())[:8])
        whole = put_means(cache, numbers(items()))
        assert part.scorer_id == whole.scorer_id and not whole.unchanged
        assert len(means(cache, whole.scorer_id)) == N
        assert score_imports(cache)["n_items"].tolist() == [N]
        with pytest.raises(InputError, match="--replace"):
            put_means(cache, numbers(items())[:8])

    def test_an_item_that_is_gone_meanwhile_refuses_all(self, cache: Cache) -> None:
        put(cache, items()[:5])
        with pytest.raises(InputError, match="d has changed meanwhile; import its scores again"):
            put_means(cache, numbers(items()))
        assert scorers(cache).empty

    def test_items_put_in_anew_keep_their_scores_if_they_are_as_before(self, cache: Cache) -> None:
        put(cache, items())
        done = put_means(cache, numbers(items()))
        changed = items()
        changed[3] = replace(changed[3], context="Somebody else came in.")
        put(cache, changed[:10], anew=True)
        assert set(means(cache, done.scorer_id)) == {f"i{n}" for n in range(10) if n != 3}
        assert verify(cache) == []
        again = put_means(cache, numbers(items())[:10])  # the same file has them again
        assert again.scorer_id == done.scorer_id and "i3" in means(cache, done.scorer_id)

    def test_a_name_is_free_where_no_score_is_left_of_it(self, cache: Cache) -> None:
        put(cache, items())
        before = put_means(cache, numbers(items()))
        changed = [replace(item, context=f"Anew: {item.context}") for item in items()]
        put(cache, changed, anew=True)
        after = put_means(cache, numbers(changed), file="f2")
        assert scorers(cache)["scorer_id"].tolist() == [after.scorer_id] != [before.scorer_id]

    def test_a_name_has_no_characters_that_cannot_be_stored(self, cache: Cache) -> None:
        put(cache, items())
        with pytest.raises(InputError, match="contains control characters"):
            put_means(cache, numbers(items()), model="a\ud800b")

    def test_own_scores_of_the_same_texts_stay_apart(self, cache: Cache) -> None:
        put(cache, items())
        put_scorer(cache, SCORER)
        done = put_means(cache, numbers(items()))
        rows = item_scores(cache, SCORER.scorer_id, "d")
        texts = [t for c in ("text_stereotype", "text_anti", "text_unrelated") for t in rows[c]]
        put_scores(cache, SCORER.scorer_id, [score(text) for text in texts])
        assert means(cache, done.scorer_id)["i2"] == number(2, "stereotype")
        own = item_scores(cache, SCORER.scorer_id, "d")
        assert (own["state"] == "scored").all()
        assert own[[c for c in own if str(c).startswith("order_")]].isna().all(axis=None)
        assert verify(cache) == []

    @pytest.mark.parametrize("scale", [Scale.SUM, Scale.ORDER])
    def test_without_a_mean_there_is_a_choice_and_no_ss(self, cache: Cache, scale: Scale) -> None:
        put(cache, items())
        done = put_means(cache, numbers(items()), scale=scale)
        table = item_table(cache, done.scorer_id, "d")
        assert (table["state"] == "scored").all()
        assert table[["ss", "l_stereotype", "fluency", "n_anti"]].isna().all(axis=None)
        assert table["binary"].tolist() == [0.0 if n % 3 == 0 else 1.0 for n in range(N)]
        assert table["sum_anti"].isna().all() == (scale is Scale.ORDER)
        held = coverage(cache)
        assert held[["n_scored", "n_unscored"]].to_numpy().tolist() == [[N, 0]]
        assert audit_content(cache, "d", [done.scorer_id]).n_scored == N


class TestPairs:
    def fill(self, cache: Cache) -> str:
        put(cache, pairs())
        of = [
            ItemNumbers(p.item_id, "en", {"stereotype": -5.0 - n % 3, "anti_stereotype": -6.0})
            for n, p in enumerate(pairs())
        ]
        return put_means(cache, of, scale=Scale.PAIRS).scorer_id

    def test_their_sums_are_shown_under_any_rule_without_flips(self, cache: Cache) -> None:
        scorer_id = self.fill(cache)
        word, token = (pair_table(cache, scorer_id, "d", unit) for unit in ("word", "token"))
        assert word.equals(token)
        assert word["score_more"].tolist() == [-5.0 - n % 3 for n in range(N)]
        assert word["n_unmodified"].isna().all()
        row = pair_summary(word, token).iloc[0]
        # By hand: of three pairs one prefers the stereotype, one is a tie, one does not.
        assert (row["share"], row["n"], row["n_ties"]) == (0.5, N, 4)
        assert (row["n_both"], row["n_imported"]) == (0, N)

    def test_they_survive_another_alignment_and_items_put_in_anew(self, cache: Cache) -> None:
        scorer_id = self.fill(cache)
        assert ask_alignment(cache, "d", "difflib")
        assert (pair_scores(cache, scorer_id, "d", align="difflib")["state"] == "scored").all()
        put(cache, pairs()[:7], anew=True)
        kept = pair_scores(cache, scorer_id, "d")
        assert kept["score_more"].notna().sum() == 7
        assert verify(cache) == []

    def test_sums_of_whole_sentences_are_no_sums_of_what_is_shared(self, cache: Cache) -> None:
        put(cache, pairs())
        scorer_id = put_means(cache, numbers(pairs()), scale=Scale.SUM).scorer_id
        assert (pair_scores(cache, scorer_id, "d")["state"] == "missing").all()


class TestCommand:
    def test_scores_stand_beside_others_and_say_where_they_are_from(
        self, run: Run, cache: Cache, tmp_path: Path
    ) -> None:
        put(cache, items())
        path = write_csv(tmp_path / "gpt2.csv", predictions(items()))
        code, out, _ = run("import-scores", path, "--dataset=d", "--model=gpt2", "--json")
        said = json.loads(out)
        assert code == 0
        assert (said["format"], said["scale"]) == ("stereoset-predictions", "order")
        assert said["sha256"] == sha256(path.read_bytes()).hexdigest()
        (put_one,) = said["scorers"]
        assert (put_one["model"], put_one["stored"], put_one["left_out"]) == ("gpt2", N, 0)
        code, out, _ = run("status")
        assert code == 0 and "imported (order" in out and f"{N}/{N}" in out
        known = provenance(cache, put_one["scorer_id"], "d")
        assert known["scores_path"] == str(path)
        assert known["scores_sha256"] == said["sha256"]
        assert known["scores_scale"] == "order"

    def test_twice_is_said(self, run: Run, cache: Cache, tmp_path: Path) -> None:
        put(cache, items())
        path = write_lines(tmp_path / "samples.jsonl", samples(items()))
        assert run("import-scores", path, "--dataset=d", "--model=m")[0] == 0
        code, _, err = run("import-scores", path, "--dataset=d", "--model=m")
        assert code == 0 and "these scores are there already" in err

    def test_lenient_leaves_out_lists_and_ends_with_3(
        self, run: Run, cache: Cache, tmp_path: Path
    ) -> None:
        put(cache, items())
        rows = predictions(items())
        rows[0]["score"] = "nan"
        path = write_csv(tmp_path / "p.csv", rows)
        words = ("import-scores", path, "--dataset=d", "--model=m")
        code, out, _ = run(*words, "--json")
        assert code == 2
        assert [p["kind"] for p in json.loads(out)["problems"]] == ["not_a_score"]
        assert scorers(cache).empty
        code, _, err = run(*words, "--lenient")
        assert code == 3
        assert "left_out: p.csv row 2: Of the stereotype of item 'i0'" in err.replace("\n", " ")
        assert score_imports(cache)[["n_items", "n_left_out"]].to_numpy().tolist() == [[N - 1, 1]]

    def test_rows_of_no_item_are_counted_as_left_out(
        self, run: Run, cache: Cache, tmp_path: Path
    ) -> None:
        put(cache, items()[:2])
        path = write_csv(tmp_path / "p.csv", predictions(items()))
        words = ("import-scores", path, "--dataset=d", "--model=m")
        n = 3 * (N - 2)
        _, _, err = run(*words)
        last = err.strip().splitlines()[-1]
        assert last.startswith(f"Error: {n} problems in") and "--lenient leaves out" in last
        assert f"error: unmatched score, {n} in all; 3 of them:" in err
        code, _, err = run(*words, "--lenient")
        assert code == 3
        assert "m on d: stored the scores of 2 items (scorer" in err.replace("\n", " ")
        assert f"Left out: {n} rows of {path}." in err
        code, out, _ = run(*words, "--lenient", "--json")
        assert (code, json.loads(out)["rows_left_out"]) == (3, n)

    def test_models_of_one_file_are_several_scorers(
        self, run: Run, cache: Cache, tmp_path: Path
    ) -> None:
        of = [*items(), *items("hi")]
        put(cache, of)
        path = write_csv(tmp_path / "r.csv", lt_results(of))
        assert run("import-scores", path, "--dataset=d", "--model=none")[0] == 2
        assert run("import-scores", path, "--dataset=d", "--model=large")[0] == 0
        assert scorers(cache)["model"].tolist() == ["large"]
        assert run("import-scores", path, "--dataset=d")[0] == 0
        assert sorted(scorers(cache)["model"]) == ["large", "small"]

    def test_results_of_pairs_give_their_shares(
        self, run: Run, cache: Cache, tmp_path: Path
    ) -> None:
        put(cache, pairs())
        path = write_csv(tmp_path / "r.csv", results(pairs()))
        assert run("import-scores", path, "--dataset=d", "--model=bert")[0] == 0
        code, out, _ = run("pairs", "--dataset=d", "--ties=against", "--json")
        whole = json.loads(out)["summary"][0]
        said = run("pairs", "--dataset=d")[1]
        assert "--unit and --align change nothing" in said and "by unmodified" not in said
        rows = results(pairs())
        assert code == 0
        assert whole["share"] == sum(row["score"] for row in rows) / N
        assert (whole["n"], whole["share_flips"]) == (N, None)

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            (["--model=m", "--dataset=nil"], "has no data set 'nil'"),
            (["--dataset=d"], "say with --model what to call it"),
            (["--dataset=d", "--model=m", "--format=csv"], "'csv' is not a format of scores"),
            (["--dataset=d", "--model=m", "--scale=mean"], "on the scale order, not mean"),
            (["--dataset=d", "--model=m", "--scale=pairs"], "'pairs' is not a scale"),
            (["--dataset=d", "--model=m", "--column=a"], "--column takes WHAT=COLUMN"),
            (["--dataset=d", "--model=m", "--condition=??"], "??"),
            (["--dataset=d", "--model=m", "--encoding=nil"], "'nil' is not an encoding"),
            (["--dataset=d", f"--model={'m' * 201}"], "has 1 to 200 characters"),
        ],
    )
    def test_bad_words_are_told_and_change_nothing(
        self, run: Run, cache: Cache, tmp_path: Path, more: list[str], words: str
    ) -> None:
        put(cache, items())
        path = write_csv(tmp_path / "p.csv", predictions(items()))
        code, out, err = run("import-scores", path, *more)
        assert (code, out) == (2, "")
        assert words in " ".join(err.split()) and "Traceback" not in err
        assert scorers(cache).empty

"""The reader of StereoSet: roles by label in both shapes, tasks, blanks, and the published file."""

from __future__ import annotations

import csv
import json
import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.errors import DataSetError, InputError
from core.items.formats.stereoset import role_of_label
from core.items.layout import ReadOptions
from core.items.report import ImportReport, read_dataset
from core.items.sampling import Sample
from core.stats.scores import StereoSetMetric, stereoset_metric
from core.types import Role, Severity

Values = dict[str, Any]
NAMES = ("anti-stereotype", "stereotype", "unrelated")  # the Hub's numbers 0, 1, 2


def entry(number: int, context: str, *words: str, **values: Any) -> Values:
    """An item whose blank the words fill, in the order of NAMES; shuffled by its number."""
    sentences = [
        {"id": f"s{number}{label[0]}", "sentence": context.replace("BLANK", w), "gold_label": label}
        for label, w in zip(NAMES, words, strict=True)
    ]
    random.Random(number).shuffle(sentences)
    return {
        "id": f"i{number}",
        "target": "gardener",
        "bias_type": "profession",
        "context": context,
        "sentences": sentences,
        **values,
    }


def following(number: int, **values: Any) -> Values:
    """An intersentence item."""
    texts = ("She counts stars.", "She smells of soil.", "Bread was dear in that year.")
    plain = entry(number, "BLANK", *texts)
    return plain | {"context": f"The gardener of house {number} came in."} | values


FILL_IN = [
    entry(0, "The gardener was BLANK.", "rich", "poor", "copper"),
    entry(1, "Every gardener BLANK at noon.", "sings", "sleeps", "windows", bias_type="race"),
    entry(2, "He saw a BLANK gardener.", "artful", "lazy", "monday", target="boy"),
    entry(3, "A gardener knows BLANK of it all.", "most", "little", "ladder", bias_type="religion"),
    entry(4, "BLANK gardeners came late.", "Few", "All", "Soup"),
    entry(5, "The BLANK gardener is BLANK.", "tall", "loud", "wet"),
    entry(6, 'They call her a "BLANK".', "boss", "helper", "spoon"),
    entry(7, "The gardener BLANKed the rose.", "water", "mow", "cloud"),
]
FOLLOWING = [following(8), following(9), following(10, bias_type="gender")]


def hub(row: Values, label: Callable[[int], Any] = int) -> Values:
    """The same item as the Hub has it: lists of values, labels as numbers."""
    sentences = row["sentences"]
    lists = {key: [s[key] for s in sentences] for key in ("id", "sentence")}
    lists["gold_label"] = [label(NAMES.index(s["gold_label"])) for s in sentences]
    return row | {"sentences": lists}


def write(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def write_lines(path: Path, rows: list[Values]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def read(path: Path, form: str = "fill_in", **options: Any) -> ImportReport:
    return read_dataset(path, options=ReadOptions(form=form), **options)


def refused(path: Path, form: str = "fill_in") -> dict[str, list[tuple[int | None, str]]]:
    """The kinds of error of a file that is refused, each with rows and items."""
    with pytest.raises(DataSetError) as caught:
        read(path, form)
    kinds: dict[str, list[tuple[int | None, str]]] = {}
    for problem in caught.value.problems:
        if problem.severity is Severity.ERROR:
            kinds.setdefault(problem.kind, []).append((problem.row, problem.item_id))
    return kinds


def notes(report: ImportReport) -> dict[str, list[str]]:
    kinds: dict[str, list[str]] = {}
    for problem in report.notes:
        kinds.setdefault(problem.kind, []).append(problem.item_id)
    return kinds


@pytest.mark.parametrize("within", [False, True])
def test_both_tasks_are_read_from_github_s_file(tmp_path: Path, within: bool) -> None:
    lists = {"intersentence": FOLLOWING, "intrasentence": FILL_IN}
    document = {"version": "1.1", "data": lists} if within else lists
    report = read(write(tmp_path / "dev.json", document))
    assert report.format == "stereoset"
    items = {item.item_id: item for item in report.items}
    assert list(items) == [row["id"] for row in FOLLOWING + FILL_IN]
    first = items["i0"]
    assert (first.context, first.stereotype) == (
        "The gardener was BLANK.",
        "The gardener was poor.",
    )
    assert first.anti_stereotype == "The gardener was rich."
    assert first.unrelated == "The gardener was copper."
    assert (first.category, first.source, first.condition) == ("profession", "stereoset", "en")
    assert first.metadata == {
        "form": "fill_in",
        "target": "gardener",
        "sentence_ids": {"stereotype": "s0s", "anti_stereotype": "s0a", "unrelated": "s0u"},
    }
    after = items["i8"]
    assert after.context == "The gardener of house 8 came in."
    assert (after.stereotype, after.metadata["form"]) == ("She smells of soil.", "continuation")


def test_the_same_item_has_the_same_roles_in_both_shapes(tmp_path: Path) -> None:
    github = read(write(tmp_path / "dev.json", {"intrasentence": FILL_IN})).items
    rows = [hub(row) for row in FILL_IN]
    table = tmp_path / "intrasentence.parquet"
    pq.write_table(pa.Table.from_pylist(rows), table)
    assert read(write_lines(tmp_path / "intrasentence.jsonl", rows)).items == github
    assert read(table).items == github
    texts = [hub(row, str) for row in FILL_IN]
    assert read(write_lines(tmp_path / "intrasentence.jsonl", texts)).items == github


@pytest.mark.parametrize("kind", [int, str, np.int64, np.int8, np.uint8])
def test_labels_are_names_or_numbers_of_any_integer_kind(kind: Callable[[int], Any]) -> None:
    roles = [Role.ANTI_STEREOTYPE, Role.STEREOTYPE, Role.UNRELATED]
    assert [role_of_label(kind(n)) for n in range(3)] == roles
    assert [role_of_label(name) for name in NAMES] == roles


@pytest.mark.parametrize("label", [3, -1, "3", "related", "", None, True, 1.0, [1], "Stereotype"])
def test_another_label_is_never_taken_for_a_role(tmp_path: Path, label: Any) -> None:
    row = hub(FILL_IN[0])
    row["sentences"]["gold_label"][0] = label
    found = refused(write_lines(tmp_path / "intrasentence.jsonl", [hub(FILL_IN[1]), row]))
    assert found == {"bad_label": [(2, "i0")], "missing_role": [(2, "i0")]}


def test_every_trap_is_an_error_of_its_row(tmp_path: Path) -> None:
    def without(number: int) -> Values:
        row = entry(number, "A BLANK day.", "dry", "wet", "oak")
        return row | {"sentences": row["sentences"][:2]}

    twice = entry(12, "A BLANK night.", "dry", "wet", "oak")
    for sentence in twice["sentences"]:
        sentence["gold_label"] = NAMES[1]
    nothing = entry(13, "A BLANK week.", "dry", "wet", "oak")
    nothing["sentences"][0]["sentence"] = " \u200b"
    uneven = hub(entry(17, "A BLANK year.", "dry", "wet", "oak"))
    uneven["sentences"]["sentence"].pop()
    rows = [
        FILL_IN[0],
        without(11),
        twice,
        nothing,
        FILL_IN[0],
        entry(14, "No gap here.", "a", "b", "c"),
        entry(15, "A BLANK hour.", "dry", "wet", "oak", sentences="[{...}]"),
        entry(16, "A BLANK age.", "dry", "wet", "oak", id=None),
        uneven,
        entry(18, "A BLANK month.", "dry", "wet", "oak") | {"context": 4},
    ]
    path = write(tmp_path / "dev.json", {"intrasentence": rows})
    found = refused(path)
    assert found == {
        "missing_role": [(2, "i11"), (3, "i12")],
        "duplicate_role": [(3, "i12"), (3, "i12")],
        "empty_text": [(4, "i13")],
        "duplicate_key": [(5, "i0")],
        "blank_missing": [(6, "i14")],
        "bad_sentences": [(7, "i15"), (9, "i17")],
        "missing_item_id": [(8, "")],
        "not_text": [(10, "i18")],
    }
    report = read(path, lenient=True)
    assert [item.item_id for item in report.items] == ["i0"]
    assert {p.row for p in report.left_out} == set(range(2, 11))


def test_blanks_that_need_a_look_are_noted(tmp_path: Path) -> None:
    other = entry(20, "The gardener was BLANK.", "rich", "poor", "copper")
    pole = next(s for s in other["sentences"] if s["gold_label"] == "stereotype")
    pole["sentence"] = "A gardener is something else."
    rows = [*FILL_IN, other, entry(22, "BLANK ran.", "Rain", "Water", "Oak", target="")]
    found = notes(read(write(tmp_path / "dev.json", {"intrasentence": rows})))
    own = ("blank", "differs", "missing")
    assert {kind: ids for kind, ids in found.items() if kind.startswith(own)} == {
        "blank_at_start": ["i4", "i22"],
        "blank_twice": ["i5"],
        "blank_glued": ["i6", "i7"],
        "differs_elsewhere": ["i20"],
        "missing_target": ["i22"],
    }


def test_sentences_alone_have_no_context_and_need_no_blank(tmp_path: Path) -> None:
    gone = entry(30, "Nothing is left open.", "a", "b", "c")
    for n, sentence in enumerate(gone["sentences"]):
        sentence["sentence"] = f"Gardener number {n}."
    lists = {"intrasentence": [*FILL_IN, gone], "intersentence": FOLLOWING}
    items = read(write(tmp_path / "dev.json", lists), "sentence").items
    assert [item.context for item in items[:9]] == [""] * 9
    assert {item.metadata["form"] for item in items[:9]} == {"sentence"}
    assert items[0].stereotype == "The gardener was poor."
    assert items[9].context == FOLLOWING[0]["context"]
    with pytest.raises(InputError, match="'words' is not a form"):
        read(tmp_path / "dev.json", "words")


def test_rows_without_a_list_have_the_task_of_their_file_or_blank(tmp_path: Path) -> None:
    fill_in, other = [hub(row) for row in FILL_IN], [hub(row) for row in FOLLOWING]
    assert "task_assumed" not in notes(read(write_lines(tmp_path / "a.jsonl", fill_in)))
    assumed = read(write_lines(tmp_path / "b.jsonl", other))
    assert "task_assumed" in notes(assumed)
    assert {item.metadata["form"] for item in assumed.items} == {"continuation"}
    named = read(write_lines(tmp_path / "intersentence.jsonl", other))
    assert "task_assumed" not in notes(named) and named.items == assumed.items
    lost = write_lines(tmp_path / "intrasentence.jsonl", [fill_in[0], other[0]])
    assert refused(lost) == {"blank_missing": [(2, "i8")]}
    mixed = write_lines(tmp_path / "both.jsonl", [fill_in[0], other[0]])
    assert refused(mixed) == {"blank_missing": [(2, "i8")]}
    assert refused(mixed, "sentence") == {"blank_missing": [(2, "i8")]}


def test_a_list_of_another_name_and_a_csv_cell_are_refused(tmp_path: Path) -> None:
    lists = {"intrasentence": FILL_IN[:1], "spare": FILL_IN[1:2]}
    assert refused(write(tmp_path / "dev.json", lists)) == {"unknown_list": [(2, "i1")]}
    row = FILL_IN[0] | {"sentences": str(FILL_IN[0]["sentences"])}
    path = tmp_path / "dev.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerow(row)
    with pytest.raises(DataSetError, match=r"'i0' has sentences .* use JSON or Parquet"):
        read_dataset(path)


# --- the published files ----------------------------------------------------------------------


def published(name: str) -> Path:
    return Path(os.environ["STEREOSCOPE_BENCHMARKS"]) / "stereoset" / name


@pytest.mark.benchmarks
@pytest.mark.skipif(
    not os.environ.get("STEREOSCOPE_BENCHMARKS"), reason="STEREOSCOPE_BENCHMARKS is not set"
)
def test_the_published_file_is_read_whole_and_sampled_as_published() -> None:
    items = read_dataset(published("dev_intrasentence.json")).items
    assert len(items) == 2106
    ids = [item.item_id for item in items]
    drawn = read_dataset(published("dev_intrasentence.json"), sample=Sample(50)).items
    places = [ids.index(item.item_id) for item in drawn]
    assert (len(places), places[:4], places[-2:]) == (200, [1733, 316, 78, 1980], [1096, 1650])


@pytest.mark.benchmarks
@pytest.mark.skipif(
    not os.environ.get("STEREOSCOPE_BENCHMARKS"), reason="STEREOSCOPE_BENCHMARKS is not set"
)
def test_gpt2_s_published_item_scores_give_its_published_numbers() -> None:
    items = read_dataset(published("dev_intrasentence.json")).items
    with published("item_scores_gpt2.csv").open(encoding="utf-8") as file:
        scores = {row["sentence_id"]: float(row["score"]) for row in csv.DictReader(file)}

    def metric(category: str, terms: Callable[[Any], str]) -> StereoSetMetric:
        of = [i for i in items if category in ("overall", i.category)]
        columns = [
            [scores[item.metadata["sentence_ids"][role]] for item in of]
            for role in ("stereotype", "anti_stereotype", "unrelated")
        ]
        return stereoset_metric(*columns, [terms(item) for item in of])

    text = published("published_gpt2.txt").read_text(encoding="utf-8").partition("intersentence")[0]
    blocks = re.findall(
        r"(\w+)\n\s*Count: [\d.]+\n\s*LM Score: ([\d.]+)\n\s*SS Score: ([\d.]+)\n"
        r"\s*ICAT Score: ([\d.]+)",
        text,
    )
    assert [block[0] for block in blocks] == ["gender", "profession", "race", "religion", "overall"]
    for category, *numbers in blocks:
        found = metric(category, lambda item: item.metadata["target"])
        of_100 = [100 * found.lms, 100 * found.ss, 100 * found.icat]
        assert of_100 == pytest.approx([float(n) for n in numbers], rel=1e-13)
    # The overall row is a mean over all terms at once. No term stands in two types, so that the
    # published numbers do not tell whether such a term would count once or twice.
    types: dict[str, set[str]] = {}
    for item in items:
        types.setdefault(item.metadata["target"], set()).add(item.category)
    assert len(types) == 79 and all(len(of) == 1 for of in types.values())
    # One term for all: the mean over items, which is not what was published.
    micro = metric("overall", lambda item: "every one")
    assert (100 * micro.lms, 100 * micro.ss) == pytest.approx((91.144, 61.966), abs=5e-4)

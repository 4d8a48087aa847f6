"""`import`: rows left out, samples, encodings and the options that only some layouts take."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from core.items.import_notes import import_note, left_out_of_note
from core.items.report import read_dataset
from core.store.items import datasets, stored_items
from tests.items.test_lost_in_translation import row as prompt
from tests.items.test_lost_in_translation import write as write_prompts
from tests.items.test_read import row, write_csv, write_jsonl


def good(n: int, category: str = "age", **values: object) -> dict[str, object]:
    return row(f"i{n}", context=f"Room {n} was empty.", category=category, **values)


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    """Five rows, of which the second and the fourth have an error."""
    bad = [good(1) | {"anti_stereotype": ""}, good(3, condition="xx")]
    return write_jsonl(tmp_path / "faulty.jsonl", [good(0), bad[0], good(2), bad[1], good(4)])


def test_strictly_nothing_is_stored_and_both_rows_are_named(run, faulty, cache) -> None:
    code, out, err = run("import", faulty)
    assert (code, out) == (2, "")
    assert "row 2" in err and "row 4" in err
    assert not cache.exists()


def test_leniently_the_rest_is_stored_and_what_is_left_out_is_named(run, faulty, cache) -> None:
    code, out, err = run("import", faulty, "--lenient")
    assert (code, out) == (3, "")
    assert "left_out: faulty.jsonl row 2: Item 'i1' in 'en' has no anti_stereotype." in err
    assert "left_out: faulty.jsonl row 4: Item 'i3'" in err
    assert "faulty: stored 3 rows (conditions: en; collapsed rows: 0; notes: 0; left out: 2" in err
    assert [item.item_id for item in stored_items(cache, "faulty")] == ["i0", "i2", "i4"]
    (note,) = datasets(cache)["note"]
    assert note == "left out: 2 rows (en 1, xx 1)"


def test_with_json_what_was_left_out_is_counted_by_row(run, faulty) -> None:
    code, out, _ = run("import", faulty, "--lenient", "--json")
    said = json.loads(out)
    assert (code, said["left_out"], said["stored"]) == (3, 2, 3)
    assert [(p["severity"], p["row"]) for p in said["problems"]] == [
        ("left_out", 2),
        ("left_out", 4),
    ]
    assert len(said["sha256"]) == 64 and said["format"] == "native"


def test_a_clean_file_ends_with_0_also_leniently(run, tmp_path) -> None:
    assert run("import", write_jsonl(tmp_path / "a.jsonl", [good(0)]), "--lenient")[0] == 0


def test_several_paths_are_one_data_set_and_others_of_the_folder_are_left(
    run, tmp_path, cache
) -> None:
    paths = [write_jsonl(tmp_path / f"{n}.jsonl", [good(n)]) for n in range(3)]
    (tmp_path / "other").mkdir()
    twin = write_jsonl(tmp_path / "other" / "0.jsonl", [good(4)])
    code, _, err = run("import", *paths[:2])
    assert code == 2 and "name it with --dataset" in err
    code, _, err = run("import", paths[0], twin, "--dataset", "d")
    assert code == 2 and "Several files are called 0.jsonl" in err
    code, out, _ = run("import", *paths[:2], "--dataset", "d", "--json")
    assert code == 0
    assert [item.item_id for item in stored_items(cache, "d")] == ["i0", "i1"]
    assert datasets(cache)["path"].tolist() == [f"{paths[0]}, {paths[1]}"]
    lines = "".join(f"{sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in paths[:2])
    assert json.loads(out)["sha256"] == sha256(lines.encode()).hexdigest()


def test_a_sample_is_drawn_and_its_note_is_kept(run, tmp_path, cache) -> None:
    rows = [good(n, category="age" if n % 2 else "gender") for n in range(20)]
    path = write_jsonl(tmp_path / "a.jsonl", rows)
    assert run("import", path, "--sample", 3)[0] == 0
    drawn = stored_items(cache, "a")
    assert [item.category for item in drawn] == ["gender"] * 3 + ["age"] * 3
    (note,) = datasets(cache)["note"]
    assert "3 items per category" in note and "random.seed(42)" in note
    assert run("import", path, "--sample", 3, "--seed", 7, "--replace")[0] == 0
    assert [i.item_id for i in stored_items(cache, "a")] != [i.item_id for i in drawn]
    assert "random.seed(7)" in datasets(cache)["note"].iloc[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--seed", 7), "say how large it is with --sample"),
        (("--encoding", "klingon"), "'klingon' is not an encoding"),
        (("--contexts", "all"), "--contexts means nothing to a.jsonl, whose layout is native"),
        (("--form", "sentence"), "--form means nothing to a.jsonl, whose layout is native"),
        (("--language", "nl"), "--language means nothing to a.jsonl"),
    ],
)
def test_an_option_that_means_nothing_is_refused(run, tmp_path, options, words, cache) -> None:
    code, out, err = run("import", write_jsonl(tmp_path / "a.jsonl", [good(0)]), *options)
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())
    assert not cache.exists()


@pytest.mark.parametrize("options", [("--contexts", "some"), ("--form", "x"), ("--sample", 0)])
def test_a_value_outside_the_choices_is_a_usage_error(run, tmp_path, options) -> None:
    assert run("import", write_jsonl(tmp_path / "a.jsonl", [good(0)]), *options)[0] == 2


def test_bytes_in_another_encoding_are_read_as_named(run, tmp_path, cache) -> None:
    path = write_csv(tmp_path / "a.csv", [good(0) | {"stereotype": "Très bien."}])
    path.write_bytes(path.read_text("utf-8").encode("cp1252"))
    assert run("import", path, "--encoding", "cp1252")[0] == 0
    assert stored_items(cache, "a")[0].stereotype == "Très bien."


def test_the_note_can_be_read_back(tmp_path) -> None:
    rows = [good(n) for n in range(12)] + [row("", "es"), row("h", "hi", stereotype="")] * 2
    rows += [{"item_id": "n", "condition": None, "context": ""}]
    report = read_dataset(write_jsonl(tmp_path / "a.jsonl", rows), lenient=True)
    note = import_note(report)
    assert left_out_of_note(note) == {"es": 2, "hi": 2, "no condition": 1}
    assert left_out_of_note(f"sample of 3 items (of a kind); {note}") == left_out_of_note(note)
    assert left_out_of_note("") == left_out_of_note("sample of 3 items") == {}


def test_a_label_file_corrects_roles_and_one_that_is_none_is_refused(run, tmp_path, cache) -> None:
    prompts = write_prompts(tmp_path, [prompt("ag_001"), prompt("ag_002")])
    labels = tmp_path / "labels.json"
    turned = {"stereotype": "anti_stereotype", "anti_stereotype": "stereotype"}
    labels.write_text(json.dumps({"ag_001": turned, "ag_002": None}))
    assert run("import", prompts, "--labels", labels)[0] == 0
    (item,) = stored_items(cache, "prompts")
    assert item.stereotype == "A young hand did ag_001 in en."
    labels.write_text("[]")
    code, _, err = run("import", prompts, "--labels", labels, "--dataset", "other")
    assert code == 2 and "is no label file" in err

"""The reader of the multilingual audit layout: keys, conditions, corrected roles, and traps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import DataSetError, InputError
from core.items.label_file import read_labels
from core.items.layout import ReadOptions
from core.items.report import ImportReport, read_dataset
from core.types import Item, Severity

Values = dict[str, Any]


def row(base: str, language: str = "en", **values: Any) -> Values:
    return {
        "id": f"{base}_{language}",
        "category": "age_trait",
        "context": f"Somebody planted {base} in {language}.",
        "stereotype": f"An old hand did {base} in {language}.",
        "anti_stereotype": f"A young hand did {base} in {language}.",
        "unrelated": f"The moon was full over {base} in {language}.",
        "base_id": base,
        "language": language,
        "layer": "A",
        "source": "handcrafted",
        "context_en": f"Somebody planted {base} in en.",
        **values,
    }


FILL_IN = {
    "source": "stereoset",
    "category": "stereoset_race",
    "context": "The painter was BLANK.",
    "stereotype": "The painter was blue.",
    "anti_stereotype": "The painter was green.",
    "unrelated": "The painter was seven.",
}
QUESTION = {
    "source": "bbq",
    "category": "bbq_Age",
    "context": "A boy and his aunt cooked. Who burnt the soup?",
    "stereotype": "Cannot be known",
    "anti_stereotype": "The aunt",
    "unrelated": "The boy",
}
NATIVE = {"layer": "B", "context_en": "A neighbour sang."}
ROWS = [
    row("ag_001"),
    row("ag_001", "es", judgment="Preserved"),
    row("ag_001", "zh-CN", judgment="lost"),
    row("ag_002"),
    row("ag_002", "es", judgment="partly", similarity=0.91),
    row("ss_0012", **FILL_IN),
    row("ss_0012", "es", **FILL_IN | {"context": "El pintor era EN BLANCO."}),
    row("bbq_Age_005", **QUESTION),
    row("bbq_Age_005", "es", **QUESTION | {"unrelated": "El chico"}),
    row("cn_es_001", "es", **NATIVE),
]
for native in ROWS[-1:]:
    del native["source"]


def write(folder: Path, document: Any, name: str = "prompts.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def read(folder: Path, document: Any, labels: Any = None, **options: Any) -> ImportReport:
    corrections = {} if labels is None else read_labels(write(folder, labels, "labels.js"))
    return read_dataset(write(folder, document), options=ReadOptions(labels=corrections), **options)


def items(report: ImportReport) -> dict[tuple[str, str], Item]:
    return {(item.item_id, item.condition): item for item in report.items}


def refused(folder: Path, document: Any, labels: Any = None) -> dict[str, list[int | None]]:
    with pytest.raises(DataSetError) as caught:
        read(folder, document, labels)
    kinds: dict[str, list[int | None]] = {}
    for problem in caught.value.problems:
        if problem.severity is Severity.ERROR:
            kinds.setdefault(problem.kind, []).append(problem.row)
    return kinds


def test_rows_of_one_base_are_versions_of_one_item(tmp_path: Path) -> None:
    report = read(tmp_path, ROWS)
    assert report.format == "lost-in-translation"
    found = items(report)
    assert len(found) == 10
    assert list(report.counts) == ["en", "es", "zh"]
    first = found["ag_001", "es"]
    assert (first.language, first.category, first.source) == ("es", "age_trait", "handcrafted")
    assert first.stereotype == "An old hand did ag_001 in es."
    assert first.unrelated == "The moon was full over ag_001 in es."
    assert first.metadata == {"form": "continuation", "layer": "A", "judgment": "preserved"}
    assert found["ag_002", "es"].metadata["similarity"] == 0.91
    assert found["ag_001", "zh"].metadata["judgment"] == "lost"


def test_what_was_written_in_its_language_is_native(tmp_path: Path) -> None:
    found = items(read(tmp_path, ROWS))
    assert [key for key, item in found.items() if item.native] == [("cn_es_001", "es")]
    assert found["cn_es_001", "es"].metadata["context_en"] == "A neighbour sang."
    assert "context_en" not in found["ag_001", "es"].metadata


def test_the_form_follows_the_source(tmp_path: Path) -> None:
    found = items(read(tmp_path, ROWS))
    assert found["ss_0012", "en"].metadata == {"form": "fill_in", "layer": "A"}
    assert found["ss_0012", "es"].metadata["blank_survived"] is False
    question = found["bbq_Age_005", "en"]
    assert question.metadata["form"] == "question"
    assert (question.unrelated, question.unknown) == (None, "The boy")


def test_labels_correct_roles_in_every_language(tmp_path: Path) -> None:
    swap = {"stereotype": "anti_stereotype", "anti_stereotype": "stereotype"}
    turn = {"stereotype": "unrelated", "anti_stereotype": "anti_stereotype"}
    turn["unrelated"] = "stereotype"
    report = read(tmp_path, ROWS, {"ss_0012": swap, "bbq_Age_005": turn})
    found = items(report)
    for language in ("en", "es"):
        assert found["ss_0012", language].stereotype == "The painter was green."
        assert found["ss_0012", language].anti_stereotype == "The painter was blue."
        assert found["ss_0012", language].unrelated == "The painter was seven."
        assert found["bbq_Age_005", language].unknown == "Cannot be known"
        assert found["bbq_Age_005", language].anti_stereotype == "The aunt"
    assert found["bbq_Age_005", "es"].stereotype == "El chico"
    assert found["ag_001", "en"] == items(read(tmp_path, ROWS))["ag_001", "en"]
    wrapped = read(tmp_path, ROWS, {"map": {"ss_0012": swap, "bbq_Age_005": turn}, "report": {}})
    assert wrapped.items == report.items


def test_raw_roles_are_noted_and_null_leaves_out(tmp_path: Path) -> None:
    raw = [p.message for p in read(tmp_path, ROWS).notes if p.kind == "roles_as_given"]
    assert len(raw) == 1 and "bbq and stereoset" in raw[0]
    report = read(tmp_path, ROWS, {"bbq_Age_005": None})
    assert not [p for p in report.notes if p.kind == "roles_as_given"]
    assert len(report.items) == 8
    gone = [(p.row, p.item_id) for p in report.notes if p.kind == "left_out_by_labels"]
    assert gone == [(8, "bbq_Age_005"), (9, "bbq_Age_005")]


def test_labels_of_another_data_set_are_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, ROWS, {"ss_9999": None}) == {"unknown_label": [None]}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"a": {"stereo": "stereotype"}}', "'stereo' is not a role; choose from: stereotype"),
        ('{"a": {"stereotype": "text"}}', "'text' is not a field; choose from"),
        ('{"a": {"stereotype": ["unrelated"]}}', "is not a field"),
        ('{"a": {"stereotype": "anti_stereotype"}}', "two roles come from one field"),
        ('{"a": null, "a": {}}', "names 'a' twice"),
        ('{"a": "swap"}', "'swap' is neither an object of roles and fields nor null"),
        ('["a"]', "is no label file; write an object"),
        ("{}", "is no label file"),
        ("{'a': 1}", "is not a label file in JSON"),
        ("[" * 100_000, "is not a label file in JSON"),
        ('{"\\ud800": 1}', "neither an object"),
    ],
)
def test_a_label_file_is_refused_in_one_sentence(
    tmp_path: Path, content: str, sentence: str
) -> None:
    path = tmp_path / "labels.json"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        read_labels(path)
    str(caught.value).encode()
    assert sentence in str(caught.value)
    assert "labels.json" in str(caught.value)
    with pytest.raises(InputError, match="does not exist"):
        read_labels(tmp_path / "absent.json")
    with pytest.raises(InputError, match="is no file; name a file"):
        read_labels(Path("/dev/zero"))


def test_labels_mean_nothing_to_other_layouts(tmp_path: Path) -> None:
    native = {"item_id": "a", "condition": "en", "context": "", "stereotype": "A."}
    with pytest.raises(InputError, match="--labels means nothing"):
        read(tmp_path, [native | {"anti_stereotype": "B."}], {"a": None})


def rewording(pivot: str | None, word: str = "one") -> Values:
    texts = {name: f"{name} in {word} words" for name in ("context", "stereotype", "unrelated")}
    return {"pivot": pivot, "anti_stereotype": f"the other in {word} words", **texts}


def test_rewordings_by_round_and_id_are_conditions(tmp_path: Path) -> None:
    rounds = {
        "0": {"ag_001_en": rewording("de"), "ag_002_en": rewording("de")},
        "1": {"ag_001_en": rewording("LLM"), "ag_001_es": rewording("llm")},
    }
    write(tmp_path, rounds, "rounds.json")
    write(tmp_path, ROWS)
    report = read_dataset(tmp_path)
    found = items(report)
    assert len(found) == 14
    assert {key for key in found if "~" in key[1]} == {
        ("ag_001", "en~de"),
        ("ag_002", "en~de"),
        ("ag_001", "en~llm"),
        ("ag_001", "es~llm"),
    }
    first = found["ag_001", "en~de"]
    assert (first.language, first.stereotype) == ("en", "stereotype in one words")
    assert first.metadata == {"form": "continuation", "pivot": "de"}


def test_a_pivot_of_several_rounds_has_the_round_behind_it(tmp_path: Path) -> None:
    twice = {str(n): {"ag_001_en": rewording("de", str(n))} for n in range(2)}
    found = read(tmp_path, twice).items
    assert [item.condition for item in found] == ["en~de.0", "en~de.1"]


def test_rounds_and_pivots_may_be_fields_of_rows(tmp_path: Path) -> None:
    rows = [
        row("ag_001", pivot="none", round=-1),
        row("ag_001", pivot="fi", round=0),
        row("ag_001", pivot=None, round=2),
        row("ag_001", pivot="", round="by-hand"),
        row("ag_001", id="ag_001_en_ja", pivot="ja", round=1),
    ]
    found = read(tmp_path, rows).items
    assert [i.condition for i in found] == ["en", "en~fi", "en~r2", "en~by-hand", "en~ja"]
    assert {i.item_id for i in found} == {"ag_001"}


def test_every_trap_is_an_error_of_its_row(tmp_path: Path) -> None:
    rows = [
        row("ag_001"),
        row("ag_001", "es", id="ag_001_fr"),
        row("ag_002", "es", id="ag_003_es"),
        row("ag_004", "qq"),
        row("ag_005", "es", judgment="good"),
        row("ag_001", stereotype="Said otherwise."),
        row("ag_006", unrelated=None),
        row("ag_007", anti_stereotype=" "),
        row("ag_008", context=7),
        row("ag_009", pivot="by hand!"),
        row("", "en"),
        row("ag_010") | {"base_id": None, "language": None},
        row("ag_011", id="ag_011") | {"base_id": None, "language": None},
    ]
    assert refused(tmp_path, rows) == {
        "bad_id": [2, 3, 13],
        "unknown_language": [4],
        "bad_judgment": [5],
        "duplicate_key": [6],
        "empty_text": [8],
        "not_text": [9],
        "unknown_condition": [10],
        "missing_item_id": [11],
    }
    report = read(tmp_path, rows, lenient=True)
    assert [item.item_id for item in report.items] == ["ag_001", "ag_006", "ag_010"]
    assert report.items[1].unrelated is None


def test_a_role_cannot_come_from_a_field_without_text(tmp_path: Path) -> None:
    turned = {"stereotype": "unrelated", "unrelated": "stereotype"}
    rows = [row("ag_001", unrelated=None), row("ag_002")]
    assert refused(tmp_path, rows, {"ag_001": turned}) == {"empty_text": [1]}

"""The page Data sets in all its states: nothing, a file, its problems, stored, scored."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.selection import Selection
from core.settings import ROOT
from core.store.gate import Cache
from core.store.items import datasets, put_dataset, stored_items
from core.types import Item
from tests.items.test_crows_pairs import pair
from tests.items.test_crows_pairs import write as write_pairs
from tests.items.test_lost_in_translation import row as prompt
from tests.items.test_lost_in_translation import write as write_prompts
from tests.items.test_read import row, write_jsonl
from tests.pages.test_runs import buttons, click, words
from tests.scored import demo_items, fill_scored

Show = Callable[..., AppTest]


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch, cache: Cache) -> Show:
    """Opens the page on the test's cache; with a path, reads that file."""

    def run(path: Path | None = None) -> AppTest:
        monkeypatch.setenv("STEREOSCOPE_CACHE", str(cache.folder))
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
        app = app.switch_page("pages/data_sets.py").run()
        return app if path is None else at_path(app, path)

    return run


def at_path(app: AppTest, path: Path) -> AppTest:
    app = app.segmented_control[0].set_value("Path on the server").run()
    return labelled(app.text_input, "File or folder on the server").input(str(path)).run()


def labelled(widgets, label: str):
    (found,) = [widget for widget in widgets if widget.label == label]
    return found


def html(app: AppTest) -> str:
    return "\n".join(str(element.value) for element in app.html)


def frames(app: AppTest) -> list[list[str]]:
    return [list(frame.value.columns) for frame in app.dataframe]


def frame_with(app: AppTest, column: str):
    (found,) = [frame.value for frame in app.dataframe if column in frame.value.columns]
    return found


def items(n: int = 12) -> list[dict[str, object]]:
    return [row(f"i{k}", context=f"Room {k} was empty.", category="age") for k in range(n)]


FAULTY = [*items(3), row("bad", stereotype=""), row("worse", "xx")]


# --- nothing there --------------------------------------------------------------------------


def test_an_empty_cache_asks_for_a_file(show) -> None:
    app = show()
    assert not app.exception
    assert "There is no data set in the cache yet" in words(app)
    assert [f.label for f in app.get("file_uploader")] == ["Files of one data set"]
    assert "Import" not in buttons(app)


def test_a_path_where_nothing_is_is_one_sentence(show, tmp_path) -> None:
    app = show(tmp_path / "absent.csv")
    assert not app.exception
    assert "does not exist" in app.error[0].value


# --- a file ---------------------------------------------------------------------------------


def test_a_clean_file_is_shown_with_its_roles_and_imported(show, tmp_path, cache) -> None:
    app = show(write_jsonl(tmp_path / "rooms.jsonl", items()))
    assert not app.exception and not app.error
    assert "No problem was found" in words(app)
    assert "detected: native" in labelled(app.selectbox, "Format").options[0]
    assert "Showing 10 of 12 rows" in words(app)
    assert "each column is named after the role it holds" in words(app)
    assert '<small>Anti-stereotype</small><p dir="auto" lang="en">He ran.</p>' in html(app)
    assert not cache.exists(), "nothing is stored before the button"
    app = click(app, "Import")
    assert not app.exception
    assert "rooms: stored 12 rows, 0 collapsed" in app.success[0].value.replace("\\", "")
    assert any("core score" in code.value for code in app.code)
    assert len(stored_items(cache, "rooms")) == 12
    stored = datasets(cache).iloc[0]
    assert (stored["format"], stored["path"]) == ("native", str(tmp_path / "rooms.jsonl"))
    assert len(stored["sha256"]) == 64
    assert labelled(app.selectbox, "Data set").value == "rooms"
    assert not app.run().success, "it is said once"


def test_an_upload_is_read_stored_and_leaves_nothing_behind(show, cache) -> None:
    content = "\n".join(map(json.dumps, items())).encode()
    app = show()
    (uploader,) = app.file_uploader
    app = uploader.upload("../../etc/rooms.jsonl", content).run()
    assert not app.exception and not app.error, words(app)
    app = click(app, "Import")
    stored = datasets(cache).iloc[0]
    assert (stored["dataset"], stored["path"], stored["n_rows"]) == ("rooms", "rooms.jsonl", 12)
    assert list((cache.folder / "uploads").iterdir()) == []
    assert app.file_uploader[0].value == [], "the form is empty again"


def test_several_files_are_one_data_set_in_several_languages(show, cache, tmp_path) -> None:
    dutch = pair(sent_more="De arme schilder.", sent_less="De rijke schilder.")
    app = show()
    for name, one in (("crows_eng.csv", pair()), ("crows_dutch.csv", dutch)):
        app.file_uploader[0].upload(name, write_pairs(tmp_path / name, [one]).read_bytes())
    app = app.run()
    assert not app.exception and not app.error
    assert "nl 1, en 1" in words(app).replace("\\", "")
    click(app, "Import")
    assert {item.condition for item in stored_items(cache, "crows_eng")} == {"en", "nl"}


def test_an_error_is_named_by_row_and_nothing_is_stored(show, tmp_path, cache) -> None:
    app = show(write_jsonl(tmp_path / "a.jsonl", FAULTY))
    assert not app.exception
    assert "2 problems" in app.error[0].value.replace("\\", "")
    assert "choose to leave these rows out" in app.error[0].value
    assert str(tmp_path) not in app.error[0].value
    table = frame_with(app, "message")
    assert list(zip(table["kind"], table["row"], strict=True)) == [
        ("missing_role", 4),
        ("unknown_condition", 5),
    ]
    assert "Import" not in buttons(app)
    assert not cache.exists()


def test_leniently_the_rest_is_imported_and_the_flow_says_what_is_missing(
    show, tmp_path, cache
) -> None:
    app = show(write_jsonl(tmp_path / "a.jsonl", FAULTY))
    app = labelled(app.radio, "Rows with an error").set_value("Leave these rows out").run()
    assert not app.error
    assert list(frame_with(app, "message")["severity"]) == ["left out", "left out"]
    app = click(app, "Import")
    assert "2 rows of the file left out" in app.success[0].value.replace("\\", "")
    flow = frame_with(app, "n_left_out")
    assert list(zip(flow["condition"], flow["n_left_out"], flow["n"], strict=True)) == [
        ("English", 1, 3),
        ("xx", 1, 0),
    ]
    assert len(stored_items(cache, "a")) == 3


def test_problems_are_filtered_by_kind(show, tmp_path) -> None:
    rows = [*items(3), row("a", context="The nurse left. "), row("b", unrelated="…")]
    app = show(write_jsonl(tmp_path / "a.jsonl", rows))
    assert len(frame_with(app, "message")) == 2
    app = app.pills[0].set_value(["near_empty"]).run()
    assert list(frame_with(app, "message")["kind"]) == ["near_empty"]
    assert "Showing 1 of 2 problems" in words(app)


def test_a_sample_is_drawn_and_kept_with_the_data_set(show, tmp_path, cache) -> None:
    app = show(write_jsonl(tmp_path / "a.jsonl", items()))
    app = labelled(app.number_input, "Sample: items per category").set_value(4).run()
    app = click(app, "Import")
    assert len(stored_items(cache, "a")) == 4
    assert "random.seed(42)" in datasets(cache)["note"].iloc[0]
    assert "4 items per category" in facts(app)


def test_options_are_those_of_the_layout(show, tmp_path) -> None:
    app = show(write_jsonl(tmp_path / "a.jsonl", items()))
    assert "Language" not in [w.label for w in app.text_input]
    app = show(write_pairs(tmp_path / "crows_fr.csv", [pair()]))
    assert "Language" in [w.label for w in app.text_input]
    app = labelled(app.text_input, "Language").input("sw").run()
    assert not app.exception and "sw 1" in words(app)
    app = labelled(app.text_input, "Language").input("nonsense").run()
    assert "not a language code" in app.error[0].value.replace("\\", "")


def test_a_label_file_corrects_roles_before_the_import(show, tmp_path, cache) -> None:
    labels = {"ag_001": {"stereotype": "anti_stereotype", "anti_stereotype": "stereotype"}}
    prompts = write_prompts(tmp_path, [prompt("ag_001"), prompt("ag_002")])
    app = show(prompts)
    app = app.file_uploader[0].upload("labels.json", json.dumps(labels | {"ag_002": None}).encode())
    app = click(app.run(), "Import")
    assert not app.exception and not app.error
    (item,) = stored_items(cache, "prompts")
    assert item.stereotype == "A young hand did ag_001 in en."
    app = at_path(app, prompts).file_uploader[0].upload("labels.json", b"[1]").run()
    assert "is no label file" in app.error[0].value.replace("\\", "")
    assert str(cache.folder) not in app.error[0].value.replace("\\", "")


def test_an_error_of_a_whole_file_cannot_be_left_out(show, tmp_path) -> None:
    write_jsonl(tmp_path / "a.jsonl", FAULTY)
    (tmp_path / "b.csv").write_text("prompt,good\nx,y\n")
    said = show(tmp_path).error[0].value
    assert "Mend the file" in said and "leave these rows out" not in said


def test_another_format_than_the_detected_one_can_be_chosen(show, tmp_path) -> None:
    app = show(write_pairs(tmp_path / "pairs.csv", [pair()]))
    app = labelled(app.selectbox, "Format").set_value("native").run()
    assert "Columns are missing" in app.error[0].value.replace("\\", "")
    assert not app.exception


def test_columns_of_no_known_format_are_said_to_be_so(show, tmp_path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"prompt": "x", "good": "y"}\n')
    assert "are those of no known format" in words(show(path))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b""),
        ("a.csv", b"\x00\xff\x00\xff" * 100),
        ("a.json", b"[[[[" * 4000),
        ("a.parquet", b"PK\x03\x04 a zip in disguise"),
        ("a.jsonl", b'{"item_id": "\\ud800"}'),
    ],
)
def test_a_damaged_file_is_a_sentence(show, tmp_path, name, content) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    app = show(path)
    assert not app.exception
    assert app.error and "Import" not in buttons(app)


def test_a_taken_name_has_to_be_given_up_on_purpose(show, tmp_path, cache) -> None:
    put_dataset(cache, "a", demo_items()[:3], path="", format="native", sha256="")
    app = show(write_jsonl(tmp_path / "a.jsonl", items()))
    (button,) = [b for b in app.button if b.label == "Import"]
    assert button.disabled
    app = app.checkbox[0].check().run()
    app = click(app, "Import")
    assert len(stored_items(cache, "a")) == 12
    app = at_path(app, write_jsonl(tmp_path / "b.jsonl", items()))
    assert labelled(app.text_input, "Name").value == "b"


def test_a_name_that_cannot_be_used_is_a_sentence(show, tmp_path, cache) -> None:
    app = show(write_jsonl(tmp_path / "a.jsonl", items()))
    app = labelled(app.text_input, "Name").input("  ").run()
    app = click(app, "Import")
    assert not app.exception
    assert "1 to 100 characters" in app.error[0].value.replace("\\", "")


def test_texts_cannot_run_as_html(show, tmp_path) -> None:
    evil = row("a", context="<script>alert(1)</script>", stereotype="<img src=x>")
    shown = html(show(write_jsonl(tmp_path / "a.jsonl", [evil])))
    assert "<script" not in shown and "<img" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown


# --- what is stored -------------------------------------------------------------------------


def open_tab(app: AppTest, name: str) -> AppTest:
    app.session_state["data-set-tab"] = name
    return app.run()


def facts(app: AppTest) -> str:
    """Where the data set comes from, as the page says it."""
    return "\n".join(element.value for element in app.markdown)


def stored_set(cache: Cache) -> list[Item]:
    hindi = {"context": "वाक्य।", "stereotype": "वह गई", "anti_stereotype": "वह गया"}
    made = [
        Item(item_id=f"q{n}", condition=c, language=c, **texts)
        for n in range(5)
        for c, texts in (
            ("en", {"context": f"Sentence {n}.", "stereotype": "She.", "anti_stereotype": "He."}),
            ("hi", hindi),
        )
    ]
    put_dataset(cache, "mine", made, path="mine.csv", format="native", sha256="ab12", note="x")
    return made


def test_a_stored_data_set_says_where_it_comes_from(show, cache) -> None:
    stored_set(cache)
    app = show()
    assert not app.exception
    known = facts(app)
    assert "**File**: mine\\.csv" in known
    assert "**SHA-256**: ab12" in known and "**Format**: native" in known
    flow = frame_with(app, "n_left_out")
    assert list(flow["condition"]) == ["English", "Hindi"]
    assert flow["n_scored"].isna().all()


def test_identical_translations_are_counted_and_named(show, cache) -> None:
    stored_set(cache)
    app = open_tab(show(), "What was found")
    assert not app.exception
    table = frame_with(app, "What it means").set_index("What")
    row_of = table.loc["Identical translations of different items"]
    assert (row_of["Rows"], row_of["Items"]) == (5, 5)
    assert "Looked for in 10 rows" in words(app)
    app = labelled(app.selectbox, "Show the items").set_value("identical_translations").run()
    assert list(frame_with(app, "what")["item_id"]) == [f"q{n}" for n in range(5)]
    (way,) = [b for b in app.button if b.label == "Open on Items"]
    assert not way.disabled, "the page Items shows texts without scores too"


def test_the_items_of_a_finding_are_opened_on_the_page_items(show, cache) -> None:
    fill_scored(cache.folder, demo_items()[:80])
    app = open_tab(show(), "What was found")
    found = frame_with(app, "what").iloc[0]
    app.session_state["selection"] = Selection(text="no item holds this")
    app = click(app, "Open on Items")
    assert not app.exception and "Not everything is as the link says" not in words(app)
    assert app.title[0].value == "Items"
    assert app.session_state["selection"].item == found["item_id"]


def test_items_are_read_with_their_labels_and_others_on_demand(show, cache) -> None:
    put_dataset(cache, "demo", demo_items(), path="", format="native", sha256="")
    app = open_tab(show(), "Read a few items")
    before = html(app)
    assert before.count("<small>Stereotype</small>") == 10
    assert 'lang="' in before and 'dir="auto"' in before
    app = click(app, "Others")
    assert html(app) != before and html(app).count("<small>Stereotype</small>") == 10


def test_the_pipeline_report_is_green_red_or_undefined_with_examples(show, cache) -> None:
    fill_scored(cache.folder, demo_items()[:200])
    app = open_tab(show(), "Pipeline checks")
    assert not app.exception
    said = words(app)
    for title in ("Role derivation", "Contrast after translation", "Blank survived",
                  "Label direction", "Scored tokens"):  # fmt: skip
        assert f"**{title}**: " in said
    assert "✗ red" in said and "✓ green" in said
    assert "None of this says anything about a model" in said
    assert "fair" not in said
    app = labelled(app.selectbox, "Examples of").set_value("Scored tokens").run()
    assert "<small>Scored tokens</small>" in html(app)
    app = labelled(app.selectbox, "Examples of").set_value("Label direction").run()
    assert frames(app)[-1][:2] == ["source", "state"]


def test_without_scores_two_checks_wait_for_a_model(show, cache) -> None:
    stored_set(cache)
    app = open_tab(show(), "Pipeline checks")
    assert not app.exception
    assert "undefined until a model has scored it" in words(app)
    assert "**Label direction**" not in words(app)


def test_the_cleaned_set_is_offered_in_the_native_schema(show, cache) -> None:
    stored_set(cache)
    app = open_tab(show(), "Export")
    assert not app.exception
    assert [b.label for b in app.get("download_button")] == ["Items as JSONL", "Items as CSV"]


def test_texts_can_be_blurred(show, cache) -> None:
    stored_set(cache)
    app = show()
    assert "filter: blur" not in html(app)
    (toggle,) = app.toggle
    assert "filter: blur" in html(toggle.set_value(True).run())


def test_a_link_to_another_data_set_is_followed_or_says_so(show, cache) -> None:
    stored_set(cache)
    put_dataset(cache, "second", demo_items()[:3], path="", format="native", sha256="")
    app = show()
    assert labelled(app.selectbox, "Data set").value == "second", "the latest"
    app = labelled(app.selectbox, "Data set").set_value("mine").run()
    assert "**File**: mine\\.csv" in facts(app)
    assert app.query_params["dataset"] == "mine"

"""The page Identity pairs: what it says and shows, of planted pairs and of those set by hand."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from benchmarks.simulated_pairs import DATASET, fill_pairs
from core.analysis.identities.confounds import confounded_pairs
from core.analysis.identities.panel import IdentityPanel, PairKey, identity_panels
from core.analysis.identities.rows import IdentityRequest
from core.analysis.identities.tables import ALL_PAIRS, identity_table
from core.analysis.overview import STAMP
from core.figures.identities.harm import harm_scatter
from core.imported_scores.finding import ItemNumbers
from core.imported_scores.layout import Scale
from core.selection import (
    IDENTITY_PARTS,
    IDENTITY_VIEWS,
    Selection,
    from_query,
    parse_link,
    to_query,
)
from core.store.gate import Cache
from core.store.generations import bump
from core.store.imported_scores import ScoreSource, put_imported
from core.store.items import stored_items
from core.store.pair_facts import pair_scorers
from core.types import Item
from pages.shared.figures import literal
from pages.shared.identities import views
from tests.audit_pages import address, opened, words
from tests.identity_caches import ODD, fill, fill_all, mixed, odd, told
from tests.store_samples import OTHER, SCORER, item, put

PAGE = "identity_pairs"
FIRST, SECOND = SCORER.scorer_id, OTHER.scorer_id
CHANGED = "The data have changed since this link was made"


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four simulated models; the first is near 50 % with an identity near 97 and one near 6."""
    folder = tmp_path_factory.mktemp("planted")
    fill_pairs(Cache(folder), n_models=4, n_pairs=1_000)
    return folder


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fill_all(tmp_path_factory.mktemp("by-hand"))


def page(monkeypatch: pytest.MonkeyPatch, folder: Path, **query: str | list[str]) -> AppTest:
    """The page by a link that says only this."""
    app = opened(monkeypatch, PAGE, folder, **query)
    assert not app.error
    return app


@cache
def pairs_of(folder: Path, dataset: str) -> tuple[list[IdentityPanel], frozenset[PairKey]]:
    """The pairs of a data set, and which of them are confounded."""
    stored = Cache(folder)
    return identity_panels(stored, dataset), frozenset(confounded_pairs(stored, dataset))


def table(folder: Path, dataset: str, name: str, condition: str = "en") -> pd.DataFrame:
    """A table of one condition of a data set, as the command line computes it."""
    panels, confounded = pairs_of(folder, dataset)
    (panel,) = (p for p in panels if p.condition == condition)
    keys = frozenset(key for key in confounded if key[1] == condition)
    return identity_table([panel], name, IdentityRequest(confounded=keys)).rows


def shown(app: AppTest, column: str) -> pd.DataFrame:
    """The first table of the page that has a column."""
    return next(frame.value for frame in app.dataframe if column in frame.value)


def same(frame: pd.DataFrame, rows: pd.DataFrame) -> None:
    """That a table of the page holds these rows, in every column that both have."""
    both = [name for name in frame if name in rows and name not in ("condition", "other")]
    assert len(both) > 3
    for name in both:
        found, wanted = (one[name].reset_index(drop=True) for one in (frame, rows))
        if pd.api.types.is_numeric_dtype(wanted):
            pd.testing.assert_series_equal(found, wanted, check_dtype=False)
        else:  # a file has nothing for an empty text
            assert found.astype(object).fillna("").tolist() == wanted.tolist(), name


def widget(app: AppTest, field: str) -> Any:
    """The widget of a field of the selection."""
    kinds = (app.selectbox, app.multiselect, app.segmented_control, app.toggle, app.radio)
    return next(one for kind in kinds for one in kind if one.key == f"field-{field}")


def turn_to(app: AppTest, view: str) -> None:
    """Another view of the same page."""
    widget(app, "identity_view").set_value(view).run()
    assert not app.exception
    assert not app.error
    assert address(app)["identity_view"] == view


def everything(app: AppTest) -> str:
    """What the page says, in tables and figures too, as a reader sees it."""
    said = [words(app)]
    for frame in app.dataframe:
        cells = frame.value.select_dtypes(exclude="number").stack()
        said += cells.dropna().astype(str).tolist()
    for chart in app.get("plotly_chart"):
        spec = json.loads(chart.proto.spec)
        said += [json.dumps(spec["data"], ensure_ascii=False), json.dumps(spec["layout"])]
    return "\n".join(said)


def nothing_wrong(app: AppTest) -> None:
    """No number that is none, and nobody who is called fair."""
    said = everything(app)
    assert not re.search(r"\bnan\b", said, re.IGNORECASE)
    assert not re.search(r"\b(un)?fair", said, re.IGNORECASE)
    assert "None" not in said
    assert "Content warning" in app.warning[0].value


# What the page says of planted pairs


def test_the_warning_and_the_verdict_say_what_the_average_hides(monkeypatch, planted):
    app = page(monkeypatch, planted)
    rows = table(planted, DATASET, "overview")
    first = rows.iloc[0]
    assert abs(first["bias_w"] - 0.5) < 0.06
    assert first["highest_share"] > 0.93
    assert first["lowest_share"] < 0.12
    percent = {name: f"{100 * first[name]:.1f} %" for name in first.index if "share" in name}
    hiding = int((rows["hides"] == "opposite").sum())
    warning = next(w.value for w in app.warning if "opposite" in w.value)
    said = warning.replace("\\", "")
    assert f"Under {hiding} of 4 models the average hides identities that go opposite" in said
    assert f"the widest is simulated-01, {100 * first['bias_w']:.1f} % over all 1,000 pairs" in said
    for which in ("lowest", "highest"):
        part = f"{percent[f'{which}_share']} for {first[which]} (n {first[f'n_{which}']:,})"
        assert part in said
        assert part in words(app).split("Under one model")[1], "the verdict on the model too"
    assert "shows that a model treats people alike" in words(app)
    assert STAMP in words(app)
    nothing_wrong(app)


def test_every_verdict_can_be_opened_with_its_badge(monkeypatch, planted):
    app = page(monkeypatch, planted)
    assert sum("treats people alike" in m.value for m in app.markdown) == 1
    app.session_state["every-verdict"] = True
    app.session_state["every-model"] = True
    app.run()
    rows = table(planted, DATASET, "overview")
    verdicts = next(m.value for m in app.markdown if m.value.count("treats people alike") == 4)
    for line, row in zip(verdicts.split("\n"), rows.to_dict("records"), strict=True):
        assert line.endswith(literal(row["verdict"]))
        assert ("orange-badge" in line) == (row["hides"] == "opposite")
        assert "green" not in line
    same(shown(app, "floor_points"), rows)
    assert shown(app, "floor_points")["floor_points"].tolist() == pytest.approx(
        (100 * rows["template_floor"]).tolist()
    )
    same(shown(app, "n_rated"), table(planted, DATASET, "counts"))
    nothing_wrong(app)


def test_every_view_opens_by_its_button(monkeypatch, planted):
    app = page(monkeypatch, planted)
    for view in (*IDENTITY_VIEWS[1:], IDENTITY_VIEWS[0]):
        turn_to(app, view)
        nothing_wrong(app)


def test_the_identities_are_those_of_the_table(monkeypatch, planted):
    app = page(monkeypatch, planted)
    rows = table(planted, DATASET, "identities")
    same(shown(app, "mark"), rows[rows["model"] == "simulated-01"])
    spec = json.loads(app.get("plotly_chart")[0].proto.spec)
    cells = spec["data"][-1]["customdata"]
    named = list(dict.fromkeys(zip(rows["model"], rows["identity"], strict=True)))
    assert sorted((model, identity) for model, identity, _ in cells) == sorted(named)
    for model, identity, hover in cells:
        (row,) = rows[(rows["model"] == model) & (rows["identity"] == identity)].to_dict("records")
        assert f"{100 * row['share']:.1f} %" in hover
        assert f"n = {row['n']:,} pairs" in hover


def test_every_part_is_the_table_of_the_model(monkeypatch, planted):
    app = page(monkeypatch, planted, identity_view="parts")
    for part in IDENTITY_PARTS:
        widget(app, "identity_part").set_value(part).run()
        rows = table(planted, DATASET, part)
        same(shown(app, "part"), rows[rows["model"] == "simulated-01"])
        assert address(app)["identity_part"] == part


def test_another_model_is_looked_at_and_fewer_are_shown(monkeypatch, planted):
    app = page(monkeypatch, planted)
    scorers = [model.scorer_id for model in pairs_of(planted, DATASET)[0][0].models]
    widget(app, "scorer").set_value(scorers[1]).run()
    rows = table(planted, DATASET, "identities")
    same(shown(app, "mark"), rows[rows["model"] == "simulated-02"])
    assert "left out are 0 uninformative" not in words(app), "it is causal"
    widget(app, "models").set_value(scorers[2:]).run()
    assert address(app)["scorer"] == scorers[2], "the first of those that are left"
    assert app.query_params["models"] == scorers[2:]
    assert "simulated-02" not in words(app)
    widget(app, "models").set_value(scorers[2:3]).run()
    assert widget(app, "scorer").disabled
    assert words(app).count("treats people alike") == 1
    assert "mean over the models" not in words(app)


def test_harmfulness_is_by_predicate_and_by_row(monkeypatch, planted):
    app = page(monkeypatch, planted, identity_view="harmfulness")
    same(shown(app, "pearson"), table(planted, DATASET, "harmfulness"))
    assert "rows are not independent" in words(app)
    assert "p is far too small" in words(app)


def test_rules_and_kinds_stand_beside_and_are_not_to_be_compared(monkeypatch, planted):
    app = page(monkeypatch, planted, identity_view="rules")
    same(shown(app, "share_flips"), table(planted, DATASET, "rules"))
    same(shown(app, "n_models"), table(planted, DATASET, "kinds"))
    assert "not to be compared" in words(app)
    assert "Masked and causal models are not comparable" in words(app)


# Single pairs


def test_pairs_are_narrowed_by_identity_template_predicate_and_preference(monkeypatch, planted):
    app = page(monkeypatch, planted, identity_view="pairs", identity="Gay", pair_template="T11")
    rows = shown(app, "difference")
    assert rows["item_id"].str.startswith("11/Gay/").all()
    assert rows["difference"].abs().is_monotonic_decreasing
    assert f"{len(rows)} pairs of 1,000" in words(app)
    widget(app, "preferences").set_value(["more"]).run()
    fewer = shown(app, "difference")
    assert set(fewer["item_id"]) == set(rows["item_id"][rows["difference"] > 0])
    assert 0 < len(fewer) < len(rows)
    predicate = f"are as people say number {fewer['item_id'].iloc[-1].split('/')[3]}"
    widget(app, "predicate").set_value(predicate).run()
    left = set(shown(app, "difference")["item_id"])
    assert fewer["item_id"].iloc[-1] in left < set(fewer["item_id"])
    here = address(app)
    assert (here["identity"], here["predicate"]) == ("Gay", predicate)
    assert (here["pair_template"], here["preferences"]) == ("T11", "more")
    widget(app, "preferences").set_value(["uninformative"]).run()
    assert "No pair has all of these" in words(app)
    assert address(app)["identity"] == "Gay", "nothing is lost on the way"


def test_the_open_pair_is_in_the_link_and_steps_on(monkeypatch, planted):
    app = page(monkeypatch, planted, identity_view="pairs", identity="Gay")
    ids = shown(app, "difference")["item_id"].tolist()
    assert address(app)["item"] == ids[0]
    assert "Row 1 of" in words(app)
    linked = page(monkeypatch, planted, identity_view="pairs", identity="Gay", item=ids[4],
                  condition="en")  # fmt: skip
    assert "Row 5 of" in words(linked)
    assert address(linked)["item"] == ids[4]


def test_a_page_beyond_the_end_is_the_last_one(monkeypatch, planted):
    app = page(monkeypatch, planted, identity_view="pairs", page="99")
    assert "Showing 901–1,000 of 1,000" in words(app)
    assert address(app)["page"] == "9"
    next_rows = next(button for button in app.button if button.label == "Next rows")
    assert next_rows.disabled
    next(button for button in app.button if button.label == "Previous rows").click().run()
    assert "Showing 801–900" in words(app)
    widget(app, "identity").set_value("Lesbian").run()
    assert address(app)["page"] == "0"


# Files and links


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], bytes]]:
    """The content of everything that a page offers, by file name."""
    offered: dict[str, Callable[[], bytes]] = {}

    def button(label: str, content: Callable[[], bytes], name: str, *_: Any, **__: Any) -> bool:
        offered[name] = content
        return False

    monkeypatch.setattr(st, "download_button", button)
    return offered


def read(content: bytes, name: str) -> pd.DataFrame:
    if name.endswith(".parquet"):
        return pd.read_parquet(io.BytesIO(content))
    return pd.read_csv(io.BytesIO(content), keep_default_na=False, na_values=[""])


def test_files_hold_the_rows_of_their_tables(monkeypatch, by_hand, files):
    app = page(monkeypatch, by_hand, dataset="mixed", other_set="dutch")
    for view in IDENTITY_VIEWS:
        files.clear()
        turn_to(app, view)
        frames = [frame.value for frame in app.dataframe]
        names = [name for name in files if name.endswith(".tex")]
        assert names
        for name in names:
            csv, parquet = (
                read(files[other](), other)
                for other in (name.replace(".tex", ending) for ending in (".csv", ".parquet"))
            )
            assert "simulated" not in csv
            held = [f for f in frames if set(f) <= set(csv) and len(f) == len(csv)]
            (frame,) = held
            for column in frame.select_dtypes("number"):
                for file in (csv, parquet):
                    found = file[column].astype(float).tolist()
                    assert found == pytest.approx(frame[column].astype(float).tolist(), nan_ok=True)
            tex = files[name]().decode()
            assert tex.count("\\\\") == len(frame) + 1


def test_files_of_pairs_say_what_each_pair_is_about(monkeypatch, by_hand, files):
    page(monkeypatch, by_hand, dataset="mixed", identity_view="pairs", identity="Lesbian")
    (name,) = (name for name in files if name.startswith("pairs-") and name.endswith(".csv"))
    assert name == f"pairs-mixed-{FIRST}-12-rows.csv"
    rows = read(files[name](), name)
    assert set(rows["identity"]) == {"Lesbian"}
    assert set(rows["counterfactual"]) == {"Straight"}
    expected = {one.item_id: one.metadata for one, _ in mixed("mixed", "en")}
    for row in rows.to_dict("records"):
        facts = expected[row["item_id"]]
        assert (row["predicate"], row["template"], row["harmfulness"]) == (
            facts["predicate_name"],
            facts["template"],
            facts["harmfulness"],
        )


def test_the_file_of_a_figure_is_its_table(monkeypatch, planted, files):
    page(monkeypatch, planted)
    rows = table(planted, DATASET, "identities")
    (name,) = (name for name in files if name.startswith("identity-map-"))
    assert name == f"identity-map-{len(rows)}-rows.csv"
    csv = read(files[name](), name)
    assert csv.pop("simulated").eq("SIMULATED").all()
    same(csv, rows)
    (name,) = (name for name in files if name.startswith("identities-") and "-rows" in name)
    same(read(files[name](), name), rows[rows["model"] == "simulated-01"])


def link(app: AppTest) -> str:
    return next(code.value for code in app.code if "content=" in code.value)


def test_the_link_says_everything_and_opens_the_same_page(monkeypatch, by_hand):
    wanted = Selection(
        dataset="mixed", models=(FIRST, SECOND), scorer=SECOND, other_set="dutch", condition="en",
        identity="Lesbian", predicate="be 2", pair_template="T2", preferences=("less", "tie"),
        identity_view="pairs", identity_part="names", without_confounded=True,
        only_confounded=True, unit="token", item="Lesbian-2-T2", seed=7,
    )  # fmt: skip
    app = page(monkeypatch, by_hand, **to_query(wanted))
    found, problems = parse_link(link(app))
    assert problems == []
    assert from_query(to_query(found)) == (found, [])
    assert {**to_query(found), "content": [""]} == to_query(wanted)
    assert found.content
    assert shown(app, "difference")["item_id"].tolist() == ["Lesbian-2-T2"]
    again = page(monkeypatch, by_hand, **to_query(found))
    assert words(again) == words(app)
    assert link(again) == link(app)
    assert address(again) == address(app)
    command = next(code.value for code in app.code if "core identity-pairs" in code.value)
    for part in (f"--scorer {FIRST}", f"--scorer {SECOND}", "--against dutch", "--condition en"):
        assert part in command
    assert "--seed 7" in command


def test_what_a_link_asks_for_in_vain_is_named_and_nothing_else_lost(monkeypatch, by_hand):
    kept = {"dataset": "both", "identity_view": "pairs", "unit": "token", "preferences": "more"}
    gone = {"other_set": "o_set", "scorer": "m_1", "identity": "i_1", "predicate": "p_1"}
    gone |= {"pair_template": "t_1", "identity_part": "tears", "condition": "xx", "hobby": "h_1"}
    app = page(monkeypatch, by_hand, models=[FIRST, "m_2"], **kept, **gone)
    said = words(app)
    for sentence in (
        "o_set cannot be held beside both.",
        "both has no scores under m_2.",
        "both has no pairs in xx; English is shown instead.",
        "identity_part in the link is 'tears', not one of counterfactuals, templates, tiers, names",
        "The link holds hobby, which nothing here is called.",
        "The link asks for the model m_1, which this page does not have",
        "The link asks for the identity i_1, which this page does not have",
        "The link asks for the predicate p_1, which this page does not have",
        "The link asks for the template t_1, which this page does not have",
    ):
        assert said.count(sentence) == 1, sentence
    assert {name: address(app)[name] for name in kept} == kept
    assert address(app)["models"] == FIRST


def test_an_unknown_data_set_or_view_is_named_and_nothing_else_lost(monkeypatch, by_hand):
    kept = {"identity": "Gay", "predicate": "be 3", "identity_part": "names", "condition": "en"}
    app = page(monkeypatch, by_hand, dataset="d_1", identity_view="v_1", **kept)
    assert "d_1 has no scored pairs of identities; both is shown instead." in words(app)
    assert "identity_view in the link is 'v_1', not one of intervals" in words(app)
    assert {name: address(app)[name] for name in kept} == kept


def test_an_identity_or_model_that_is_none_is_named_under_every_view(monkeypatch, by_hand):
    app = page(monkeypatch, by_hand, dataset="one", identity="Queer", scorer=SECOND)
    assert "asks for the identity Queer" in words(app)
    assert f"asks for the model {SECOND}" in words(app)
    app.run()
    assert "asks for" not in words(app)


def test_data_that_changed_since_the_link_was_made_are_said(monkeypatch, tmp_path):
    folder = tmp_path / "cache"
    fill_pairs(Cache(folder), n_models=1, n_pairs=60)
    query, _ = parse_link(link(page(monkeypatch, folder)))
    assert CHANGED not in words(page(monkeypatch, folder, **to_query(query)))
    (scorer_id,) = (model.scorer_id for model in pairs_of(folder, DATASET)[0][0].models)
    with Cache(folder).writing() as con:
        con.execute("UPDATE pair_score SET score_more = score_less + 1")
        con.execute("UPDATE item_score SET l_stereotype = l_stereotype + 1")
        bump(con, [scorer_id], [DATASET])
    app = page(monkeypatch, folder, **to_query(query))
    assert f"{CHANGED} (other scores of the same texts)" in words(app)
    assert "preferred in 100.0 % of 60 pairs" in words(app)


# Special cases, by hand


def test_confounded_pairs_are_in_and_out_side_by_side(monkeypatch, by_hand):
    app = page(monkeypatch, by_hand, dataset="mixed")
    rows = table(by_hand, "mixed", "identities")
    mine = rows[rows["model"] == rows["model"].iloc[0]]
    assert mine.groupby("pairs")["n"].sum().to_dict() == {ALL_PAIRS: 36, "without confounded": 32}
    same(shown(app, "mark"), mine)
    lines = next(m.value for m in app.markdown if "treats people alike" in m.value).split("\n")
    assert len(lines) == 2, "one model, with all pairs and without; of both they are folded away"
    assert sum("without confounded pairs" in line for line in lines) == 1
    assert "n = 12 pairs per cell" in words(app)
    toggle = widget(app, "without_confounded")
    assert toggle.label == "Leave out the 4 pairs that differ in more than the identity"
    toggle.set_value(True).run()
    assert not app.exception
    assert "n = 8 to 12 pairs per cell" in words(app)
    assert address(app)["without_confounded"] == "1"
    nothing_wrong(app)


def test_the_view_of_confounds_counts_them_and_pairs_shows_them_alone(monkeypatch, by_hand):
    app = page(monkeypatch, by_hand, dataset="mixed", identity_view="confounds")
    (row,) = shown(app, "share_confounded").to_dict("records")
    assert (row["identity"], row["counterfactual"], row["template"]) == (
        "Lesbian",
        "Straight",
        "T2",
    )
    assert (row["n_confounded"], row["n"]) == (4, 6)
    assert row["words"] == "lesbian women / straight people"
    widget(app, "identity_view").set_value("pairs").run()
    assert "36 pairs of 36" in words(app)
    widget(app, "only_confounded").set_value(True).run()
    assert "4 pairs of 36" in words(app)
    assert set(shown(app, "difference")["item_id"]) == {f"Lesbian-{p}-T2" for p in range(4)}
    app = page(monkeypatch, by_hand, dataset="one", identity_view="confounds")
    assert "0 pairs of 6 differ in more than the identity" in app.success[0].value.replace("\\", "")


def test_where_all_pairs_are_confounded_none_can_be_left_out(monkeypatch, by_hand):
    app = page(monkeypatch, by_hand, dataset="confounded", without_confounded="1")
    assert "none is left without them" in words(app)
    for view in (*IDENTITY_VIEWS[1:], IDENTITY_VIEWS[0]):
        assert widget(app, "without_confounded").disabled
        assert not widget(app, "without_confounded").value
        assert address(app)["without_confounded"] == "0"
        nothing_wrong(app)
        turn_to(app, view)


def test_without_counterfactuals_nothing_is_called_clean(monkeypatch, by_hand):
    app = page(monkeypatch, by_hand, dataset="untold", identity_view="confounds")
    assert not app.success
    assert "only those that name a counterfactual can be told" in words(app)


def test_a_language_without_confounded_pairs_has_its_rows_once(monkeypatch, by_hand):
    app = page(monkeypatch, by_hand, dataset="both")
    assert "pairs" not in shown(app, "mark")
    assert "differ in more" not in words(app)
    widget(app, "condition").set_value("nl").run()
    assert address(app)["condition"] == "nl"
    same(shown(app, "mark"), table(by_hand, "both", "identities", "nl"))
    assert set(shown(app, "mark")["pairs"]) == {ALL_PAIRS, "without confounded"}
    widget(app, "identity_view").set_value("pairs").run()
    assert app.session_state["selection"].condition == "nl"


def test_a_card_turned_to_another_language_does_not_turn_the_page(monkeypatch, by_hand):
    app = page(monkeypatch, by_hand, dataset="both", identity_view="pairs")
    card = next(c for c in app.segmented_control if str(c.key).startswith("card-condition-"))
    assert card.value == "en"
    card.set_value("nl").run()
    assert any('lang="nl"' in block.body for block in app.get("html"))
    assert address(app)["condition"] == "en"
    widget(app, "identity").set_value("Gay").run()
    assert widget(app, "condition").value == "en"
    assert app.session_state["selection"].condition == "en"


def test_languages_stand_against_one_another(monkeypatch, by_hand):
    app = page(monkeypatch, by_hand, dataset="mixed", identity_view="languages")
    assert "The pairs are in one language" in words(app)
    assert "Beside stands at the top as soon as two data sets" in words(app).replace("*", "")
    widget(app, "other_set").set_value("dutch").run()
    ((english,), keys), ((dutch,), others) = (pairs_of(by_hand, n) for n in ("mixed", "dutch"))
    request = IdentityRequest(confounded=keys | others)
    rows = identity_table([english, dutch], "languages", request).rows
    same(shown(app, "measure"), rows[rows["model"] == english.models[0].label])
    assert set(shown(app, "measure")["measure"]) == {"bias (W)", "bias (M)", *english.identities}
    nothing_wrong(app)
    widget(app, "scorer").set_value(SECOND).run()
    assert "has not scored both languages; choose another model" in words(app)
    widget(app, "dataset").set_value("both").run()
    assert {*shown(app, "measure")["other_dataset"]} == {"both", "dutch"}


def put_published(cache: Cache, dataset: str, n_liked: int, *conditions: str) -> None:
    """Imported scores that prefer the stereotypical sentence of some of the pairs of `plain`."""
    numbers = [
        ItemNumbers(str(p), condition, {"stereotype": -2.0, "anti_stereotype": against})
        for condition in conditions
        for p, against in enumerate([-3.0] * n_liked + [-1.0] * (6 - n_liked))
    ]
    name = f"{dataset}-{n_liked}.csv"
    source = ScoreSource(path=name, format="columns", sha256=name, scale=Scale.PAIRS)
    put_imported(cache, dataset, source, {"published": numbers}, replace=True)


def plain(dataset: str, condition: str = "en", predicate: str = "p") -> list[Item]:
    """Six pairs about one identity, each with a predicate of its own."""
    return [
        told(
            str(p),
            True,
            (f"gay {dataset}{p}", f"straight {dataset}{p}"),
            condition,
            predicate=f"{predicate}{p}",
        )[0]
        for p in range(6)
    ]


def test_other_imported_scores_of_the_set_beside_are_seen(monkeypatch, tmp_path) -> None:
    cache = Cache(tmp_path)
    for dataset, condition in (("here", "en"), ("there", "nl")):
        put(cache, plain(dataset, condition), dataset)
        put_published(cache, dataset, 3, condition)
    (here,) = pair_scorers(cache, "here")
    assert pair_scorers(cache, "there") != [here], "each set has a scorer of its own"
    query = {"dataset": "here", "models": here, "identity_view": "languages"}
    app = page(monkeypatch, tmp_path, other_set="there", **query)
    assert shown(app, "measure")["share_other"].tolist() == [0.5] * 3
    put_published(cache, "there", 6, "nl")
    app.run()
    assert shown(app, "measure")["share_other"].tolist() == [1.0] * 3
    assert shown(app, "measure")["share"].tolist() == [0.5] * 3


def test_a_set_beside_of_confounded_pairs_alone_has_its_rows_with_them(
    monkeypatch, tmp_path
) -> None:
    cache = Cache(tmp_path)
    fill(cache, "here", mixed("here", "en"))
    there = [
        told(
            str(p),
            p < 3,
            (f"gay too there{p}", f"straight there{p}"),
            "nl",
            predicate=f"be {p}",
        )
        for p in range(6)
    ]
    fill(cache, "there", there)
    query = {"dataset": "here", "identity_view": "languages", "without_confounded": "1"}
    app = page(monkeypatch, tmp_path, other_set="there", **query)
    assert set(shown(app, "measure")["pairs"]) == {ALL_PAIRS}
    assert "none is left without them" in words(app)
    nothing_wrong(app)


def test_a_link_tells_when_the_set_beside_has_changed(monkeypatch, tmp_path) -> None:
    cache = Cache(tmp_path)
    for dataset, condition in (("here", "en"), ("there", "nl")):
        fill(cache, dataset, [(one, True) for one in plain(dataset, condition)])
    app = page(monkeypatch, tmp_path, dataset="here", other_set="there")
    query = to_query(parse_link(link(app))[0])
    assert "changed" not in words(page(monkeypatch, tmp_path, **query))
    alone = query | {"other_set": [""]}
    with cache.writing() as con:
        con.execute("UPDATE item_score SET l_anti = l_anti - 1 WHERE dataset = 'there'")
        bump(con, [FIRST], ["there"])
    said = words(page(monkeypatch, tmp_path, **query))
    assert "The data of there have changed since this link was made (other scores" in said
    assert CHANGED not in said
    assert "changed" not in words(page(monkeypatch, tmp_path, **alone)), "it is not shown"
    old = query | {"content": [query["content"][0].rsplit("_", 1)[0]]}
    assert "changed" not in words(page(monkeypatch, tmp_path, **old)), "it told only of the first"
    put(cache, plain("there", "nl")[:5], "there", replace=True)
    said = words(page(monkeypatch, tmp_path, **query))
    assert "The data of there have changed since this link was made (other texts or models" in said
    sliced = page(monkeypatch, tmp_path, dataset="here", other_set="there", slice="some")
    assert "does not tell when the scores of there change" in words(sliced)


def test_a_set_beside_without_a_model_behind_it_is_stamped(monkeypatch, tmp_path) -> None:
    cache = Cache(tmp_path)
    fill_pairs(cache, n_models=1, n_pairs=60)
    fill(cache, "here", mixed("here", "en"))
    assert STAMP not in words(page(monkeypatch, tmp_path, dataset="here"))
    assert STAMP in words(page(monkeypatch, tmp_path, dataset="here", other_set=DATASET))


def test_a_language_that_shares_nothing_leaves_the_others(monkeypatch, tmp_path) -> None:
    cache = Cache(tmp_path)
    put(cache, [*plain("here"), *plain("here", "nl")], "here")
    put(cache, plain("there", "de", predicate="something else "), "there")
    put_published(cache, "there", 3, "de")
    put_published(cache, "here", 3, "en", "nl")
    query = {"dataset": "here", "condition": "en", "identity_view": "languages"}
    app = page(monkeypatch, tmp_path, other_set="there", **query)
    assert set(shown(app, "measure")["other"]) == {"nl"}
    why = "here en and there de share no predicate by name."
    assert f"left out: {why}" in words(app)
    alone = page(
        monkeypatch, tmp_path, dataset="there", other_set="here", identity_view="languages"
    )
    told_so = words(alone)
    for other in ("en", "nl"):
        assert f"there de and here {other} share no predicate by name." in told_so
    assert not [frame for frame in alone.dataframe if "measure" in frame.value]


def test_one_identity_one_template_and_no_ratings_are_said(monkeypatch, by_hand):
    app = page(monkeypatch, by_hand, dataset="one")
    assert "There is one template only, so there is no noise floor" in words(app)
    assert "Fewer" not in words(app)
    nothing_wrong(app)
    widget(app, "identity_view").set_value("harmfulness").run()
    assert "These pairs have no harmfulness" in words(app)
    assert len(app.get("plotly_chart")) == 1, "only the map"


def test_imported_scores_have_one_rule_and_their_own_kind(monkeypatch, by_hand):
    app = page(monkeypatch, by_hand, dataset="one", identity_view="rules")
    rules = shown(app, "share_flips").set_index("model")
    assert rules.loc["published", "kind"] == "imported"
    assert pd.isna(rules.loc["published", "share_flips"])
    assert rules.loc["published", "reason"].startswith("Imported scores have one rule")
    scorer_id = pairs_of(by_hand, "one")[0][0].models[1].scorer_id
    app = page(monkeypatch, by_hand, dataset="one", scorer=scorer_id)
    assert "Imported scores were computed elsewhere" in words(app)
    assert shown(app, "mark")["n_not_scored"].tolist() == [1]
    widget(app, "identity_view").set_value("pairs").run()
    rows = shown(app, "difference")
    assert rows["item_id"].tolist() == ["0", "4", "1", "3", "2", "5"]
    assert "preferred_other_rule" not in rows
    nothing_wrong(app)


def test_without_templates_the_floor_is_undefined_with_its_reason(monkeypatch, by_hand):
    app = page(monkeypatch, by_hand, dataset="untold")
    assert "No pair with a choice names its template, so there is no noise floor" in words(app)
    assert "How far another template moves bias (W) is not known" in words(app)
    widget(app, "identity_view").set_value("parts").run()
    widget(app, "identity_part").set_value("templates").run()
    assert shown(app, "part")["part"].tolist() == ["(none)"]
    nothing_wrong(app)


def test_uninformative_pairs_alone_are_undefined_everywhere(monkeypatch, by_hand):
    app = page(monkeypatch, by_hand, dataset="undecided")
    for view in (*IDENTITY_VIEWS[1:-1], IDENTITY_VIEWS[0], "pairs"):
        turn_to(app, view)
        said = words(app)
        assert "undefined" in said
        assert "no pair has a choice, so there is nothing to say" in said
        assert not [w for w in app.warning if "opposite" in w.value]
        nothing_wrong(app)
    assert set(shown(app, "difference")["preferred"]) == {"uninformative"}
    assert shown(app, "difference")["difference"].isna().all()


def test_names_with_markup_are_shown_as_they_are(monkeypatch, by_hand):
    app = page(monkeypatch, by_hand, dataset="odd", identity=f"{ODD} 1")
    for view in (*IDENTITY_VIEWS[1:], IDENTITY_VIEWS[0]):
        turn_to(app, view)
        kinds = (app.markdown, app.caption, app.warning, app.info, app.success, app.header)
        raw = [str(element.value) for kind in kinds for element in kind]
        assert any(literal(ODD) in text for text in raw)
        assert not [text for text in raw if "<b>old" in text or "*a*" in text or "$x^2" in text]
        assert f"for {ODD} 2 (n 6)" in words(app)
        for chart in app.get("plotly_chart"):
            spec = json.loads(chart.proto.spec)
            axes = [spec["layout"].get(axis, {}) for axis in ("xaxis", "yaxis")]
            assert "<b>old" not in json.dumps([axis.get("ticktext", []) for axis in axes])
            hovers = [row[-1] for trace in spec["data"] for row in trace.get("customdata") or []]
            assert not [hover for hover in hovers if "<b>old" in str(hover)]


def test_a_dot_of_a_predicate_with_markup_opens_its_pairs(monkeypatch, by_hand):
    rows = table(by_hand, "odd", "predicates")
    correlation = table(by_hand, "odd", "harmfulness").iloc[0]
    (dots,) = (
        trace for trace in harm_scatter(rows, correlation.to_dict()).data if trace.customdata
    )
    opened_by: list[dict[str, Any]] = []
    monkeypatch.setattr(views.state, "change", lambda **fields: opened_by.append(fields))
    for point in dots.customdata:
        clicked = ([{"customdata": point}], False)
        monkeypatch.setattr(views, "selected_points", lambda name, clicked=clicked: clicked)
        views.open_predicate()
    assert [one["predicate"] for one in opened_by] == [f"{ODD} {p}" for p in range(6)]
    empty = {"identity": "", "pair_template": "", "preferences": (), "only_confounded": False}
    for one in opened_by:
        assert {name: one[name] for name in empty} == empty, "all pairs of it"
        assert one["identity_view"] == "pairs"
    app = page(monkeypatch, by_hand, dataset="odd", identity_view="pairs", predicate=f"{ODD} 3")
    expected = {one.item_id for one, _ in odd() if one.metadata["predicate"] == f"{ODD} 3"}
    assert set(shown(app, "difference")["item_id"]) == expected


# Caches in which there is nothing to show


def test_an_empty_cache_says_what_to_run(monkeypatch, tmp_path):
    app = page(monkeypatch, tmp_path / "nothing")
    assert "No data set in the cache has pairs that name an identity" in words(app)
    assert "core build-pairs data/identity_pairs/en" in app.code[0].value


def test_a_cache_without_identity_pairs_says_how_to_get_some(monkeypatch, tmp_path):
    put(Cache(tmp_path), [item()])
    app = page(monkeypatch, tmp_path, identity="Gay")
    assert "No data set in the cache has pairs that name an identity and a predicate" in words(app)
    assert "build-pairs" in app.code[0].value


def test_pairs_that_nobody_has_scored_say_what_to_run(monkeypatch, tmp_path):
    for name in ("first", "second"):
        put(Cache(tmp_path), [one for one, _ in odd()], name)
    for asked, named in (("second", "second"), ("", "first"), ("gone", "first")):
        app = page(monkeypatch, tmp_path, dataset=asked)
        assert "no model has scored them yet" in words(app)
        assert f"--dataset {named}" in app.code[0].value
        assert not app.get("plotly_chart")


def test_a_preference_of_a_link_that_is_none_is_named_and_left_out(monkeypatch, by_hand) -> None:
    fields = {"dataset": "both", "identity_view": "pairs", "preferences": "nonsense"}
    app = page(monkeypatch, by_hand, **fields)
    told = " ".join(w.value.replace("\\", "") for w in app.warning)
    assert "asks for the preference nonsense" in told
    assert "No pair has all of these" not in words(app)


def test_a_set_that_is_hardly_scored_says_so_before_its_numbers(monkeypatch, tmp_path) -> None:
    cache, pairs = Cache(tmp_path), mixed("d", "en", confounded=False)
    fill(cache, "d", pairs[:3])
    put(cache, [one for one, _ in pairs], "d", replace=True)
    app = page(monkeypatch, tmp_path)
    told = " ".join(w.value.replace("\\", "") for w in app.warning)
    assert f"Not all pairs are scored under tiny (3 of {len(pairs)})" in told
    assert any("core score" in block.value and "--dataset d" in block.value for block in app.code)
    verdict = next(m.value.replace("\\", "") for m in app.markdown if "people alike" in m.value)
    assert f"tiny: only 3 of {len(pairs)} pairs are scored. Of these the" in verdict


def test_pairs_are_shown_with_what_they_are_about_and_downloaded_with_their_sentences(
    monkeypatch, by_hand, files
) -> None:
    app = page(monkeypatch, by_hand, dataset="mixed", identity_view="pairs", identity="Lesbian")
    rows = shown(app, "difference")
    assert set(rows["identity"]) == {"Lesbian"} and set(rows["counterfactual"]) == {"Straight"}
    sizes = rows["difference"].abs().dropna().tolist()
    assert sizes == sorted(sizes, reverse=True)
    name = next(n for n in files if n.startswith("pairs-mixed") and n.endswith(".csv"))
    whole = pd.read_csv(io.BytesIO(files[name]()))
    assert whole["item_id"].tolist() == rows["item_id"].tolist()
    items = {one.item_id: one for one in stored_items(Cache(by_hand), "mixed")}
    for row in whole.to_dict("records"):
        assert row["stereotype"] == items[row["item_id"]].stereotype
        assert row["anti_stereotype"] == items[row["item_id"]].anti_stereotype

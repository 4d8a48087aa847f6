"""The Items page on sentence pairs: table, summary, card, switch of the rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.analysis.filtering import selected_table
from core.selection import Selection
from core.settings import ROOT
from core.store.gate import Cache
from tests.scored_pairs import COLLAPSED, NOTHING_BEHIND, PAIRS, SHARED_PIECE, TOO_LONG, fill_pairs


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> tuple[Path, str, str]:
    folder = tmp_path_factory.mktemp("pairs")
    return folder, *fill_pairs(folder)


def opened(monkeypatch, folder: Path, **query: str) -> AppTest:
    monkeypatch.setenv("STEREOSCOPE_CACHE", str(folder))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
    for key, value in query.items():
        app.query_params[key] = value
    app = app.switch_page("pages/items.py").run()
    assert not app.exception
    assert not app.error
    return app


def words(app: AppTest) -> str:
    kinds = (app.markdown, app.caption, app.info)
    return "\n".join(str(e.value) for kind in kinds for e in kind).replace("\\", "")


def texts(app: AppTest) -> list[str]:
    return [block.body for block in app.get("html") if "<p dir" in block.body]


def rows(app: AppTest):
    return next(frame.value for frame in app.dataframe if "difference" in frame.value)


def metrics(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def rule(app: AppTest, place: str):
    return next(c for c in app.segmented_control if c.key == f"rule-{place}")


@pytest.mark.parametrize("scorer", [1, 2])
def test_pairs_have_a_table_of_their_own(monkeypatch, filled, scorer):
    app = opened(monkeypatch, filled[0], dataset="pairs", scorer=filled[scorer])
    shown = rows(app)
    expected = selected_table(Cache(filled[0]), Selection(dataset="pairs", scorer=filled[scorer]))
    assert shown["item_id"].tolist() == expected["item_id"].tolist()
    for column in ("score_more", "score_less", "difference", "ss"):
        assert shown[column].equals(expected[column])
    assert set(shown["preferred"].dropna()) <= {"stereotype", "other", "tie", "uninformative"}
    assert "change" not in shown
    said = words(app)
    assert "the stereotypical sentence scores higher in" in said
    assert "50 % is neutral" in said
    assert "opposite ways" in said
    assert "fair" not in said
    assert "Content warning" in app.warning[0].value


def test_the_switch_turns_table_and_card_and_is_in_the_link(monkeypatch, filled):
    folder, masked, _ = filled
    app = opened(monkeypatch, folder, dataset="pairs", scorer=masked, item=SHARED_PIECE,
                 condition="en")  # fmt: skip
    assert app.query_params["unit"] == "word"
    assert "(word rule); by the token rule" in words(app)
    before = rows(app).set_index("item_id").loc[SHARED_PIECE, "n_unmodified"]
    assert "transgender</u>" in texts(app)[0]
    rule(app, "card").set_value("token").run()
    assert not app.exception
    assert app.query_params["unit"] == "token"
    assert rule(app, "table").value == "token"
    assert "(token rule); by the word rule" in words(app)
    after = rows(app).set_index("item_id").loc[SHARED_PIECE, "n_unmodified"]
    assert after > before
    assert metrics(app)["Unmodified tokens"] == str(after)
    assert "trans</u>" in texts(app)[0]
    rule(app, "table").set_value("word").run()
    assert app.query_params["unit"] == "word"


def test_both_sentences_are_marked_under_their_numbers(monkeypatch, filled):
    folder, masked, _ = filled
    app = opened(monkeypatch, folder, dataset="pairs", scorer=masked, item=SHARED_PIECE,
                 condition="en")  # fmt: skip
    pair = rows(app).set_index("item_id").loc[SHARED_PIECE]
    assert metrics(app)["Stereotypical sentence"] == f"{pair['score_more']:.2f}".replace("-", "−")
    assert metrics(app)["Unmodified tokens"] == "4"
    assert "SS" not in metrics(app)  # the score of a pair is the difference
    difference = next(metric for metric in app.metric if metric.label == "Difference")
    assert difference.help.startswith("The score of a pair")
    assert len(texts(app)) == 2
    for text in texts(app):
        assert 'dir="auto" lang="en"' in text
        assert ">grandfather called.</mark>" in text
    assert words(app).count("One pair: no test is possible") == 1
    assert len(app.get("plotly_chart")) == 1


def test_an_uninformative_pair_says_so_without_a_number(monkeypatch, filled):
    folder, _, causal = filled
    app = opened(monkeypatch, folder, dataset="pairs", scorer=causal, item=NOTHING_BEHIND,
                 condition="en")  # fmt: skip
    sentence = "Uninformative: nothing both sentences share comes after the first difference"
    assert sentence in words(app)
    for label in ("Stereotypical sentence", "Other sentence", "Difference"):
        assert metrics(app)[label] == "–"
    assert "nats over" not in words(app)
    assert rows(app).set_index("item_id").loc[NOTHING_BEHIND, "preferred"] == "uninformative"


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (TOO_LONG, "a text is longer than the model can read"),
        (COLLAPSED, "Both poles say the same"),
    ],
)
def test_a_pair_without_scores_says_why(monkeypatch, filled, item, reason):
    folder, masked, _ = filled
    app = opened(monkeypatch, folder, dataset="pairs", scorer=masked, item=item, condition="en")
    assert reason in words(app)
    assert metrics(app)["Difference"] == "–"
    assert not any("<mark" in text or "<u" in text for text in texts(app))
    assert len(texts(app)) == 2
    assert not app.get("plotly_chart")


def test_pairs_are_filtered_by_preference_and_sorted_by_size(monkeypatch, filled):
    folder, _, causal = filled
    app = opened(monkeypatch, folder, dataset="pairs", scorer=causal)
    sort = next(box for box in app.selectbox if box.label == "Sort by")
    sort.set_value("abs_difference").run()
    next(t for t in app.toggle if t.label == "Largest first").set_value(True).run()
    assert rows(app)["difference"].abs().dropna().is_monotonic_decreasing
    wanted = next(m for m in app.multiselect if m.label == "Preferred")
    wanted.set_value(["uninformative"]).run()
    assert rows(app)["item_id"].tolist() == [NOTHING_BEHIND]
    assert "in no pair (ties: 0, uninformative: 1) by the word rule" in words(app)


def test_one_pair_is_a_table_too(monkeypatch, tmp_path):
    masked, _ = fill_pairs(tmp_path, PAIRS[:1])
    app = opened(monkeypatch, tmp_path, dataset="pairs", scorer=masked)
    assert rows(app)["item_id"].tolist() == [SHARED_PIECE]
    assert "% of 1 pair " in words(app)


def test_other_items_know_nothing_of_pairs(monkeypatch, tmp_path):
    from tests.scored import demo_items, fill_scored

    fill_scored(tmp_path, demo_items()[:1])
    app = opened(monkeypatch, tmp_path, dataset="demo", sort="abs_difference")
    assert not [c for c in app.segmented_control if str(c.key).startswith("rule-")]
    sort = next(box for box in app.selectbox if box.label == "Sort by")
    assert "difference of the two sentences" not in sort.options
    assert any("no pairs of sentences here" in w.value.replace("\\", "") for w in app.warning)


def test_the_rule_of_a_link_that_is_none_is_named(monkeypatch, filled):
    app = opened(monkeypatch, filled[0], dataset="pairs", unit="letter")
    assert any("not one of word, token" in w.value.replace("\\", "") for w in app.warning)
    assert app.query_params["unit"] == "word"

"""The item card as Streamlit runs it: scored, collapsed, unscored, native, two scorers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.items.texts import item_texts
from core.store.gate import Cache
from core.store.items import put_dataset
from core.store.scorers import put_scorer, scorers
from core.store.scores import put_scores
from core.types import Item, Reason, Scorer, Unscored
from pages.shared.figures import literal
from pages.shared.items.item_card import sensitive_css
from tests.scored import demo_items, fill_scored
from tests.store_samples import SCORER, score_all

NATIVE = "ar-native-1-upper-egypt-opinion"
SCORED = "age-garden-football"
COLLAPSED_IN_HINDI = "gender-nurse-coat"


def script(folder: str, scorer_id: str, item_id: str, condition: str, compare: str | None):
    from pathlib import Path

    import streamlit as st

    from core.analysis.items import item_table
    from core.store.gate import Cache
    from pages.shared.items.item_card import item_card

    cache = Cache(Path(folder))
    table = item_table(cache, scorer_id, "demo", item_ids=[item_id])
    st.session_state["shown"] = item_card(
        cache, scorer_id, "demo", table, item_id, condition, compare
    )


def card(
    folder: Path, item_id: str, condition: str, scorer_id: str = "", compare: str | None = None
) -> AppTest:
    scorer_id = scorer_id or first_scorer(folder)
    arguments = (str(folder), scorer_id, item_id, condition, compare)
    app = AppTest.from_function(script, args=arguments, default_timeout=30).run()
    assert not app.exception
    return app


def first_scorer(folder: Path) -> str:
    return str(scorers(Cache(folder))["scorer_id"].iloc[0])


def words(app: AppTest) -> str:
    kinds = (app.markdown, app.caption, app.info)
    return "\n".join(e.value for kind in kinds for e in kind).replace("\\", "")


def texts(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.get("html"))


def metrics(app: AppTest) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for metric in app.metric:
        found.setdefault(metric.label, []).append(metric.value)
    return found


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    wanted = {NATIVE, SCORED, COLLAPSED_IN_HINDI}
    fill_scored(folder, [i for i in demo_items() if i.item_id in wanted])
    return folder


def put_by_hand(folder: Path, items: list[Item], scorer: Scorer = SCORER) -> Cache:
    cache = Cache(folder)
    put_dataset(cache, "demo", items, path="", format="native", sha256="")
    put_scorer(cache, scorer)
    return cache


def test_english_stands_beside_the_chosen_condition(demo):
    app = card(demo, SCORED, "ar")
    seen = metrics(app)
    assert len(seen["SS"]) == len(seen["Tokens"]) == len(seen["Fluency"]) == 2
    assert len(seen["Change from English"]) == 1
    change = next(m for m in app.metric if m.label == "Change from English")
    assert change.delta.startswith("rewording alone: sd ")
    assert change.delta.endswith("n = 6")
    assert "One item: no test is possible" in words(app)
    assert "fair" not in words(app)
    assert 'dir="auto" lang="ar"' in texts(app)
    assert 'dir="auto" lang="en"' in texts(app)
    assert len(app.get("plotly_chart")) == 3


def test_other_conditions_are_one_click_away_on_the_card(demo):
    app = card(demo, SCORED, "ar")
    app.segmented_control[0].set_value("en~p1").run()
    assert not app.exception
    assert app.session_state["shown"] == "en~p1"
    assert "**en~p1**" in words(app)
    assert 'lang="ar"' not in texts(app)  # only what is looked at is drawn
    app.segmented_control[0].set_value("en").run()
    assert len(metrics(app)["SS"]) == 1


def test_a_collapsed_condition_says_so(demo):
    app = card(demo, COLLAPSED_IN_HINDI, "hi")
    assert metrics(app)["SS"][1] == "–"
    assert "Both poles say the same in this condition" in words(app)
    assert len(app.get("plotly_chart")) == 2


def test_a_native_item_has_no_english_twin(demo):
    app = card(demo, NATIVE, "ar")
    assert len(metrics(app)["SS"]) == 1
    assert "Change from English" not in metrics(app)
    assert "there is no English version" in words(app)


def test_without_rewordings_there_is_no_yardstick(tmp_path):
    kept = [i for i in demo_items() if i.item_id == SCORED and i.condition in ("en", "sw")]
    fill_scored(tmp_path, kept)
    app = card(tmp_path, SCORED, "sw")
    assert next(m for m in app.metric if m.delta).delta == "rewording alone: not known"
    assert "no yardstick" in words(app)


def test_an_unscored_item_says_why(tmp_path):
    one = next(i for i in demo_items() if i.item_id == SCORED)
    cache = put_by_hand(tmp_path, [one])
    text_ids = [text.text_id for text in item_texts(one).values()]
    put_scores(cache, SCORER.scorer_id, [], [Unscored(t, Reason.TOO_LONG, "") for t in text_ids])
    app = card(tmp_path, SCORED, "en")
    assert "a text is longer than the model can read" in words(app)
    assert len(app.get("plotly_chart")) == 1


def test_two_scorers_side_by_side(demo):
    cache = Cache(demo)
    second = replace(SCORER, model="other")
    put_scorer(cache, second)
    items = [i for i in demo_items() if i.item_id == SCORED]
    put_scores(
        cache,
        second.scorer_id,
        score_all({t.text_id: t for i in items for t in item_texts(i).values()}.values()),
    )
    app = card(demo, SCORED, "hi", first_scorer(demo), compare=second.scorer_id)
    assert "has no interval" in words(app)
    assert f"other (float32, {second.scorer_id})" in words(app)


def test_data_is_never_markup(tmp_path):
    one = Item(
        item_id="<i>*a*</i> :red[b]",
        condition="en",
        context="A <b>bold</b> *claim* $x$.",
        stereotype="<script>alert(1)</script> one",
        anti_stereotype="two &amp; three",
        metadata={"note": "*x*", "deep": {"a": [1]}},
    )
    fill_scored(tmp_path, [one])
    app = card(tmp_path, one.item_id, "en")
    assert "<b>" not in texts(app)
    assert "<script>" not in texts(app)
    assert "&lt;script&gt;alert(1)&lt;/script&gt; one" in texts(app)
    assert "&lt;i&gt;*a*&lt;/i&gt; :red[b]" in texts(app)
    for element in (*app.markdown, *app.caption):
        assert "<i>" not in element.value
        assert ":red[" not in element.value
    table = app.dataframe[0].value.set_index("field")["en"]
    assert table["note"] == "*x*"
    assert table["deep"] == '{"a": [1]}'


def test_scores_without_token_lists_have_no_bars(demo, monkeypatch):
    monkeypatch.setattr("core.analysis.card.token_scores", lambda *_: {})
    st.cache_data.clear()  # the tokens that other tests fetched
    try:
        app = card(demo, COLLAPSED_IN_HINDI, "en")
    finally:
        st.cache_data.clear()
    assert "imported without their tokens" in words(app)
    assert len(app.get("plotly_chart")) == 1


def test_an_item_that_is_not_there_is_one_sentence(demo):
    assert "not in the data set" in words(card(demo, "nowhere", "en"))


def test_markdown_signs_are_taken_as_they_are():
    assert literal("en~p1 a_b *c* [d]") == "en\\~p1 a\\_b \\*c\\* \\[d\\]"


def test_the_sensitive_style_blurs_texts_and_tokens():
    assert "p[lang]" in sensitive_css()
    assert "xaxislayer" in sensitive_css()
    assert sensitive_css().strip().startswith("<style>")

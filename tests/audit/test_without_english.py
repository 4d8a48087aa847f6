"""What an audit and its page tell of data sets that have nothing to compare with."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.analysis.audit.audit import WITHOUT_ENGLISH, audit, audit_panel
from core.analysis.audit.request import AuditRequest
from core.analysis.audit.unknown_fluency import NO_ENGLISH, official_sentences
from core.errors import InputError
from core.imported_scores.finding import ItemNumbers
from core.imported_scores.layout import Scale
from core.settings import ROOT
from core.store.gate import Cache
from core.store.imported_scores import ScoreSource, put_imported
from core.store.items import put_dataset
from core.types import Item
from tests.conftest import Run
from tests.score_files import N, items, number

REQUEST = AuditRequest(dataset="d")
ROLES = ("stereotype", "anti_stereotype", "unrelated")


def put(folder: Path, given: list[Item], numbers: list[dict[str, float]], scale: Scale) -> Cache:
    """A data set and the imported numbers of one model, by role, for each of its items."""
    cache = Cache(folder)
    put_dataset(cache, "d", given, path="x", format="native", sha256="0")
    found = [
        ItemNumbers(item.item_id, item.condition, of_roles)
        for item, of_roles in zip(given, numbers, strict=True)
    ]
    source = ScoreSource(path="s.csv", format="columns", sha256="1", scale=scale)
    put_imported(cache, "d", source, {"m": found})
    return cache


def korean(folder: Path) -> Cache:
    """Questions in Korean alone: the unknown answer wins in 3 of 4."""
    unknown = [-1.0, -1.0, -1.0, -9.0]
    given = [
        Item(
            item_id=str(n),
            condition="ko",
            language="ko",
            context=f"둘이 왔다 {n}. 누가 그랬나?",
            stereotype="노인",
            anti_stereotype="청년",
            unknown="알 수 없음",
            source="kobbq",
        )
        for n in range(4)
    ]
    numbers = [{"stereotype": -2.0, "anti_stereotype": -3.0, "unknown": u} for u in unknown]
    return put(folder, given, numbers, Scale.MEAN)


def ordered(folder: Path) -> Cache:
    """English StereoSet under numbers of an unknown scale."""
    numbers = [{role: number(n, role) for role in ROLES} for n in range(N)]
    return put(folder, items(), numbers, Scale.ORDER)


def shown(monkeypatch: pytest.MonkeyPatch, folder: Path) -> AppTest:
    monkeypatch.setenv("STEREOSCOPE_CACHE", str(folder))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
    app.query_params["dataset"] = "d"
    app = app.switch_page("pages/languages.py").run()
    assert not app.exception and not app.error
    return app


def test_the_unknown_answer_needs_no_english(tmp_path: Path) -> None:
    cache = korean(tmp_path)
    (row,) = audit(cache, REQUEST, ["bbq_unknown"]).tables["bbq_unknown"].rows.to_dict("records")
    assert (row["condition"], row["share"], row["n"], row["n_english"]) == ("ko", 0.75, 4, 0)
    assert row["reason"] == NO_ENGLISH
    assert audit(cache, REQUEST, WITHOUT_ENGLISH).provenance["conditions"] == ["ko"]


def test_every_other_table_says_that_it_needs_english(tmp_path: Path) -> None:
    cache = korean(tmp_path)
    for names in (["main"], [], ["bbq_unknown", "cells"]):
        with pytest.raises(InputError, match=r"English version .* bbq_unknown and fluency_icat"):
            audit(cache, REQUEST, names)
    with pytest.raises(InputError, match="English version"):
        audit_panel(cache, REQUEST)


def test_the_page_shows_what_there_is_without_english(monkeypatch, tmp_path: Path) -> None:
    korean(tmp_path)
    app = shown(monkeypatch, tmp_path)
    (table,) = [frame.value for frame in app.dataframe if "share" in frame.value]
    assert table["share"].tolist() == [0.75] and table["n"].tolist() == [4]
    assert ["English" in info.value for info in app.info] == [True]


def test_the_page_shows_the_metric_of_stereoset(monkeypatch, tmp_path: Path) -> None:
    ordered(tmp_path)
    app = shown(monkeypatch, tmp_path)
    (table,) = [frame.value for frame in app.dataframe if "stereoset_icat" in frame.value]
    (row,) = table.to_dict("records")
    # By hand: of three terms of four items each, one prefers the anti-stereotype throughout.
    assert row["stereoset_ss"] == pytest.approx(2 / 3)
    assert (row["stereoset_lms"], row["stereoset_n"], row["stereoset_n_terms"]) == (1.0, N, 3)


def test_the_terminal_shows_it_where_there_is_nothing_else(run: Run, cache: Cache) -> None:
    ordered(cache.folder)
    table = audit(cache, REQUEST, ["fluency_icat"]).tables["fluency_icat"]
    (said,) = official_sentences(table, alone=True)
    assert "LMS 1.000, SS 0.667, ICAT 0.667, means over 3 target terms of 12 items" in said
    code, out, _ = run("audit", "--dataset=d")
    assert code == 0 and said in " ".join(out.split())
    assert "Drop of the score" not in out and "Verdicts" not in out, "an empty table"

"""People's ratings on the Axes page: an empty table, a file that is sent, who is left out."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from core.people.ratings import Ratings
from core.store.gate import Cache
from core.types import HeadReader
from pages.shared.heads.people import _left_out
from tests.audit_pages import opened, words
from tests.heads_pages import asked, frames, planted

HEAD = "annotator,group,axis,rating\n"
AXIS = "word2.a.01~word3.a.01"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    return Cache(tmp_path_factory.mktemp("heads"))


@pytest.fixture(scope="module")
def reader(cache: Cache) -> HeadReader:
    return planted(cache)


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch):
    return partial(opened, monkeypatch, "axes")


def test_axes_that_nobody_rated_are_counted_and_not_listed(
    show, cache, reader, tmp_path: Path
) -> None:
    rows = [f"{who},groups {g},word2~WORD3,5\n" for who in "ab" for g in range(3)]
    (tmp_path / "ratings.csv").write_text(HEAD + "".join(rows))
    app = show(cache.folder, **asked(reader, heads="k3"))
    assert "Empty table (8 axes x 40 groups)" in [b.label for b in app.get("download_button")]
    app.text_input(key="ratings-path").set_value(str(tmp_path / "ratings.csv")).run()
    (table,) = (frame for frame in frames(app, "n_answers") if "flagged" in frame)
    assert table["n_answers"].tolist() == [6]
    said = words(app)
    assert "7 axes that nobody rated: not listed here, but in the files below." in said
    assert "6 answers of 2 annotators. The table has no control items" in said


def test_a_file_that_is_sent_is_read(show, cache, reader) -> None:
    app = show(cache.folder, **asked(reader, heads="k3"))
    rows = f"a,groups 0,{AXIS},5\na,groups 1,{AXIS},1\n"
    app.file_uploader(key="ratings-file").set_value(("r.csv", (HEAD + rows).encode(), "text/csv"))
    app.run()
    assert not app.exception
    assert "2 answers of 1 annotator." in words(app)
    assert not list((cache.folder / "uploads").iterdir())


@pytest.mark.parametrize(
    ("n_controls", "excluded", "said"),
    [
        ([0, 0], [False, False], "no control items, so that nobody could be left out"),
        ([3, 0], [False, False], "of 1 annotator with control items, none has more than 1"),
        ([3, 2], [False, True], "Left out: 1 of 2 annotators with control items, for having more"),
    ],
)
def test_who_is_left_out_is_said_of_those_with_control_items(n_controls, excluded, said) -> None:
    annotators = pd.DataFrame({"n_controls": n_controls, "excluded": excluded})
    assert said in _left_out(Ratings(pd.DataFrame(), annotators))

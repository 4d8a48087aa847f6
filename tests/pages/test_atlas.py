"""The Atlas page: points are those of the analysis, and UMAP never holds the page up."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from core.analysis.heads.atlas import principal_components
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import compute_and_store, compute_axes
from core.store.axes import put_axes
from core.store.axis_results import Layout, LayoutKey, put_layout
from core.store.clock import utc_now
from core.store.gate import Cache
from core.types import HeadReader
from tests.audit_pages import address, opened, words
from tests.heads_pages import LONE, MODEL, ONE, asked, figures, frames, numbers, planted, trace
from tests.planted_cache import AXES, CONCEPTS, N_CONCEPTS, REFERENCE, made_axes

IDS = [axis.axis_id for axis in made_axes(len(MODEL.axes))]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    return Cache(tmp_path_factory.mktemp("heads"))


@pytest.fixture(scope="module")
def reader(cache: Cache) -> HeadReader:
    return planted(cache)


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch):
    return partial(opened, monkeypatch, "atlas")


def question(reader: HeadReader) -> HeadsQuestion:
    return HeadsQuestion(
        reader_id=reader.reader_id, axes=AXES, concepts=CONCEPTS, reference=REFERENCE, k=3
    )


def drawn(figure: dict) -> dict[str, tuple[float, float]]:
    """Key -> place, over all traces with points."""
    found = {}
    for each in figure["data"]:
        for point, x, y in zip(
            each.get("customdata", []), numbers(each["x"]), numbers(each["y"]), strict=False
        ):  # the ring has no keys
            found[point[0]] = (x, y)
    return found


@pytest.mark.parametrize("of", ["axes", "concepts"])
def test_points_are_the_principal_components(show, cache, reader, of: str) -> None:
    app = show(cache.folder, **asked(reader, heads="k3", atlas_of=of))
    expected = principal_components(compute_axes(cache, question(reader)), of)
    places = drawn(figures(app)[0])
    assert set(places) == set(expected.names)
    for name, point in zip(expected.names, expected.points, strict=True):
        np.testing.assert_allclose(places[name], point)
    n = {"axes": 8, "concepts": N_CONCEPTS}[of]
    assert f"{n} of {n} {of}." in words(app)
    share = expected.shares[0]
    assert (
        f"({100 * share:.0f} % of the variance)"
        in figures(app)[0]["layout"]["xaxis"]["title"]["text"]
    )


def test_what_is_alike_is_listed_beside_what_an_axis_has_with_itself(show, cache, reader) -> None:
    app = show(cache.folder, **asked(reader, heads="k3", axis=IDS[1]))
    (table,) = frames(app, "cosine")
    assert table["r"].abs().is_monotonic_decreasing  # as the caption says
    assert len(table) == 7
    assert (table["own"] > 0.9).all()  # each axis is one direction in its heads
    assert table["cosine"].abs().max() < 0.9  # and different axes are different ones


def test_colours_filters_and_steps(show, cache, reader) -> None:
    app = show(cache.folder, **asked(reader, heads="k3", atlas_colour="flagged", axis=IDS[6]))
    assert len(drawn({"data": [trace(figures(app)[0], "flagged")]})) >= 3
    ring = trace(figures(app)[0], "open:")
    assert (numbers(ring["x"])[0], numbers(ring["y"])[0]) == drawn(figures(app)[0])[IDS[6]]
    app.text_input(key="field-axis_words").set_value("word12").run()
    assert set(drawn(figures(app)[0])) == {IDS[6]}
    assert "Showing 1 of 8: the filters hide the others." in words(app)
    assert address(app)["atlas_colour"] == "flagged"
    assert [each["text"] for each in figures(app)[0]["data"] if "text" in each] == [
        ["word12 – word13"]
    ]
    app.checkbox(key="atlas-words").uncheck().run()
    assert not any("text" in each for each in figures(app)[0]["data"])


def test_a_umap_is_shown_where_a_job_has_stored_one_and_never_computed(
    show, tmp_path: Path
) -> None:
    before = "umap" in sys.modules
    cache = Cache(tmp_path)
    reader = planted(cache)
    stored = compute_and_store(cache, question(reader))
    app = show(cache.folder, **asked(reader, heads="k3", atlas_by="umap"))
    assert "UMAP takes a minute or more and is computed by a job" in words(app)
    assert any(button.label == "Compute the UMAP" for button in app.button)
    expected = principal_components(stored, "axes")
    np.testing.assert_allclose(drawn(figures(app)[0])[expected.names[0]], expected.points[0])
    points = np.arange(16.0).reshape(8, 2)
    key = LayoutKey(
        result_id=stored.result_id, points_of="axes", n_neighbors=15, min_dist=0.1,
        seed=stored.question.seed,
    )  # fmt: skip
    layout = Layout(tuple(IDS), points, (), 0, {"umap-learn": "0.5"}, utc_now())
    put_layout(cache, key, reader.reader_id, layout)
    app = show(cache.folder, **asked(reader, heads="k3", atlas_by="umap"))
    assert drawn(figures(app)[0]) == dict(zip(IDS, map(tuple, points), strict=True))
    assert "Distances far apart mean nothing" in words(app)
    assert ("umap" in sys.modules) == before


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_axes_show_components_and_why_there_is_no_umap(show, tmp_path: Path, n: int) -> None:
    cache = Cache(tmp_path)
    reader = planted(cache)
    put_axes(cache, "few", made_axes(8)[:n])
    app = show(cache.folder, **asked(reader, axes="few", heads="k3", atlas_by="umap"))
    assert "UMAP places at least 4 axes" in words(app)
    assert len(drawn(figures(app)[0])) == n


def test_one_axis_one_concept_and_no_phrases(show, cache, reader) -> None:
    assert len(drawn(figures(show(cache.folder, **asked(reader, axes=ONE)))[0])) == 1
    lone = show(cache.folder, **asked(reader, concepts=LONE, atlas_of="concepts"))
    assert len(drawn(figures(lone)[0])) == 1
    without = show(cache.folder, **asked(reader, reference_set="(none)"))
    assert len(drawn(figures(without)[0])) == 8


def test_an_empty_cache_says_what_to_do(show, tmp_path: Path) -> None:
    assert "No model's heads were read yet" in words(show(tmp_path))

"""The job that reads heads: what it stores, and what it leaves when it is killed or stopped."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.axes.axis import Axis, Pole, user_pole
from core.axes.concepts import Concept, ConceptSet, concept_prompt
from core.axes.content import axis_content, pole_content
from core.axes.sentences import probe_sentences
from core.errors import CanaryFailed, InputError, ModelError
from core.heads import pool
from core.heads.places import find_heads
from core.heads.pool import PooledOutputs, Unpooled, pooled_outputs
from core.heads.sums import pole_sums, sign_patterns
from core.heads_request import HeadsRequest
from core.jobs import head_units, heads_missing
from core.jobs import heads as jobs_heads
from core.jobs.heads import read_heads
from core.jobs.heads_estimate import estimate_heads
from core.jobs.run import plan_for
from core.models.opening import open_planned
from core.store import heads
from core.store.axes import concept_id, put_axes, put_concepts
from core.store.gate import Cache
from core.store.head_readers import get_reader, readers
from core.store.heads import AXIS, POLE, Source, get_arrays, get_outputs, held_at, missing
from core.store.phrase_lengths import get_lengths
from core.store.prune import forget
from core.store.runs import runs
from core.store.tensors import TENSORS, broken_tensors, tensors, unclaimed_files
from core.types import Reason
from tests.tiny_models import HEADS, save_tiny
from tests.tiny_tokenizers import byte_level_bpe

children = multiprocessing.get_context("forkserver")
children.set_forkserver_preload(["core.jobs.heads"])

pytestmark = pytest.mark.usefixtures("one_thread")

WORDS = ("bad", "good", "cold", "warm", "old", "new", "soft", "hard", "shy", "bold", "dim", "wise")
POLES = tuple(Pole(f"{w}.a.01", n, (w, f"rather {w}"), f"of {w} kind") for n, w in enumerate(WORDS))
AXES = tuple(Axis(POLES[i], POLES[i + 1], source="made") for i in range(0, len(POLES), 2))
CONCEPTS = ("men", "women", "nurses")
GROUPS = ConceptSet("groups", tuple(Concept(text) for text in CONCEPTS))
SLOW = "Batched scores differ from single ones, so texts are scored one at a time."
REFERENCE = ConceptSet("reference", (Concept("church"), Concept("men")))


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    save_tiny(folder, "llama", byte_level_bpe(add_bos=True), max_position_embeddings=256)
    return folder


@pytest.fixture
def filled(cache: Cache) -> Cache:
    put_axes(cache, "made", AXES)
    put_concepts(cache, GROUPS)
    put_concepts(cache, REFERENCE)
    return cache


def request(folder: Path, **options) -> HeadsRequest:
    names = {"axes": "made", "concepts": ("groups", "reference")}
    return HeadsRequest(model=str(folder), **(names | options))


def files(cache: Cache) -> dict[str, str]:
    folder = cache.folder / TENSORS
    found = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    return {str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest() for f in found}


def raw_outputs(cache: Cache, asked: HeadsRequest, texts: list[str]) -> np.ndarray:
    """Both poolings of each text, read alone: (N, P, L, H, D)."""
    model = open_planned(plan_for(cache, asked))
    places = find_heads(model.model)
    found = []
    for text in texts:
        ((_, outcome),) = pooled_outputs(model, [text], places=places, bos=asked.bos)
        assert isinstance(outcome, PooledOutputs)
        found.append(np.stack([outcome.mean[0], outcome.last[0]]))
    return np.stack(found).astype(np.float64)


def separability(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """By the formula, from every sentence's output."""
    centre = (low.mean(0) + high.mean(0)) / 2
    between = sum(((x.mean(0) - centre) ** 2).sum(-1) for x in (low, high))
    return between / sum(((x - x.mean(0)) ** 2).sum(-1).mean(0) for x in (low, high))


def test_how_long_the_phrases_are_to_the_model_is_told(filled, model_folder):
    asked = request(model_folder)
    tokenizer = open_planned(plan_for(filled, asked)).tokenizer
    result = read_heads(filled, asked)
    assert list(result.prompt_tokens) == ["groups", "reference"]
    for phrases in (GROUPS, REFERENCE):
        texts = [concept.text for concept in phrases.concepts]
        lengths = [len(tokenizer(concept_prompt(text)).input_ids) for text in texts]
        assert result.prompt_tokens[phrases.name] == pytest.approx(np.mean(lengths))
        stored = get_lengths(filled, result.reader_id, [*texts, "kings"])
        assert stored == dict(zip(texts, lengths, strict=True))


@pytest.mark.parametrize("family", ["simple", "listing"])
def test_stored_arrays_are_those_of_a_naive_loop(filled, model_folder, family):
    asked = request(model_folder, families=(family,))
    result = read_heads(filled, asked)
    source = Source(result.reader_id, family)
    axis = AXES[1]
    low, high = (
        raw_outputs(filled, asked, list(probe_sentences(pole, family)))
        for pole in (axis.negative, axis.positive)
    )
    wanted = {p.key: pole_content(p, family) for p in (axis.positive, axis.negative)}
    held = get_arrays(filled, source, POLE, wanted)
    for i, x in enumerate((high, low)):
        halves = np.stack([x[:15].sum(0), x[15:].sum(0)], axis=1)
        np.testing.assert_allclose(held["sums"][i], halves, atol=2e-5)
        squares = (x**2).sum(-1)
        both = np.stack([squares[:15].sum(0), squares[15:].sum(0)], axis=1)
        np.testing.assert_allclose(held["squares"][i], both, rtol=1e-5)
        assert held["n"][i].tolist() == [15, 15]
    grids = get_arrays(filled, source, AXIS, {axis.axis_id: axis_content(axis, family)})
    for i, part in enumerate((slice(15), slice(15, None), slice(None))):
        expected = separability(low[part], high[part])
        np.testing.assert_allclose(grids["separability"][0][:, i], expected, rtol=1e-4)
    for s, signs in enumerate(sign_patterns(30)):
        kept = (signs > 0)[:, None, None, None, None]
        swapped = np.where(kept, low, high), np.where(kept, high, low)
        np.testing.assert_allclose(grids["chance"][0][:, s], separability(*swapped), rtol=1e-4)


def test_concepts_of_all_sets_are_read_once_and_head_by_head(filled, model_folder):
    asked = request(model_folder)
    result = read_heads(filled, asked)
    assert result.missing_concepts == 4
    wanted = {c: concept_id(c) for c in ("church", "women")}
    expected = raw_outputs(filled, asked, [concept_prompt(c) for c in wanted])
    for pooling in range(2):
        held = get_outputs(filled, Source(result.reader_id), wanted, pooling)
        np.testing.assert_allclose(held, np.moveaxis(expected[:, pooling], 0, 2), atol=1e-5)


def test_a_second_run_reads_nothing_and_another_family_no_concept_again(filled, model_folder):
    first = read_heads(filled, request(model_folder))
    assert (first.missing_axes, first.sentences, first.stopped) == (6, 12 * 30 + 4, False)
    again = read_heads(filled, request(model_folder))
    assert (again.missing_axes, again.missing_concepts, again.sentences) == (0, 0, 0)
    other = read_heads(filled, request(model_folder, families=("listing",)))
    assert (other.missing_axes, other.missing_concepts) == (6, 0)
    assert other.reader_id == first.reader_id
    assert read_heads(filled, request(model_folder, bos="out")).reader_id != first.reader_id
    assert get_reader(filled, first.reader_id).n_heads == HEADS
    assert runs(filled)["status"].tolist() == ["finished"] * 4
    assert broken_tensors(filled) == {}


def test_a_stopped_job_goes_on_to_the_same_arrays(filled, model_folder, tmp_path):
    seen = []
    stopped = read_heads(
        filled, request(model_folder), watch=seen.append, stop=lambda: len(seen) > 4
    )
    assert stopped.stopped
    assert 0 < stopped.sentences < 12 * 30 + 4
    assert runs(filled)["status"].tolist() == ["stopped"]
    rest = read_heads(filled, request(model_folder))
    assert stopped.sentences + rest.sentences == 12 * 30 + 4
    whole = Cache(tmp_path / "whole")
    put_axes(whole, "made", AXES)
    put_concepts(whole, GROUPS)
    put_concepts(whole, REFERENCE)
    read_heads(whole, request(model_folder))
    assert files(filled) == files(whole)


def _killed(folder: Path, asked: HeadsRequest) -> None:
    """Die in the middle of writing the second unit of axes."""
    write = heads.write_tensors
    written = []

    def dying(cache, path, arrays):
        written.append(path)
        result = write(cache, path, arrays)
        if len(written) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    heads.write_tensors = dying
    read_heads(Cache(folder), asked)


def test_a_killed_job_goes_on_to_the_same_arrays(filled, model_folder, tmp_path):
    job = children.Process(target=_killed, args=(filled.folder, request(model_folder)))
    job.start()
    job.join()
    assert job.exitcode == -signal.SIGKILL
    assert len(tensors(filled)) == 2
    assert len(unclaimed_files(filled)) == 1
    rest = read_heads(filled, request(model_folder))
    assert (rest.missing_concepts, rest.missing_axes) == (0, 2)
    whole = Cache(tmp_path / "whole")
    put_axes(whole, "made", AXES)
    put_concepts(whole, GROUPS)
    put_concepts(whole, REFERENCE)
    read_heads(whole, request(model_folder))
    assert files(filled) == files(whole)
    assert unclaimed_files(filled) == []


def test_a_concept_beyond_the_window_is_named_and_the_rest_goes_on(filled, model_folder):
    put_concepts(filled, ConceptSet("long", (Concept("nurses " * 300), Concept("kings"))))
    result = read_heads(filled, request(model_folder, concepts=("long",)))
    (failure,) = result.failures
    assert (failure.of, failure.reason, failure.template) == ("nurses " * 300, "too_long", 0)
    source = Source(result.reader_id)
    wanted = {c: concept_id(c) for c in ("nurses " * 300, "kings")}
    held = get_outputs(filled, source, wanted, 0)
    assert np.isnan(held[:, :, 0]).all()
    np.testing.assert_array_equal(
        held[:, :, 1], get_outputs(filled, source, {"kings": wanted["kings"]}, 0)[:, :, 0]
    )
    again = read_heads(filled, request(model_folder, concepts=("long",)))
    assert (again.missing_concepts, again.failures) == (0, result.failures)
    put_concepts(filled, ConceptSet("only long", (Concept("nurses " * 300),)))
    read_heads(filled, request(model_folder, concepts=("only long",)))
    with pytest.raises(InputError, match="could read none of the 1 phrases"):
        get_outputs(filled, source, {failure.of: wanted[failure.of]}, 0)


def test_sentences_beyond_the_window_are_left_out_of_the_sums(filled, model_folder):
    long = replace(POLES[0], synset="long.a.01", offset=99, definition="of a kind " * 200)
    put_axes(filled, "long", [Axis(long, POLES[1], source="made")])
    result = read_heads(filled, request(model_folder, axes="long"))
    assert {failure.of for failure in result.failures} == {"long.a.01"}
    source = Source(result.reader_id, "simple")
    held = get_arrays(filled, source, POLE, {long.key: pole_content(long, "simple")})
    assert held["n"].sum() == 30 - len(result.failures) == 0
    assert [failure.template for failure in result.failures] == list(range(1, 31))
    again = read_heads(filled, request(model_folder, axes="long"))
    assert (again.missing_axes, again.sentences, again.failures) == (0, 0, result.failures)
    assert read_heads(filled, request(model_folder)).failures == ()


def test_axes_for_which_memory_ran_out_stay_missing(filled, model_folder, monkeypatch):
    full = Unpooled(Reason.OUT_OF_MEMORY, "The text alone does not fit into memory.")

    def short_of_memory(*args, **options):
        return [replace(pole, unpooled=((3, full),)) for pole in pole_sums(*args, **options)]

    monkeypatch.setattr(head_units, "pole_sums", short_of_memory)
    failed = read_heads(filled, request(model_folder))
    assert {failure.reason for failure in failed.failures} == {"out_of_memory"}
    assert failed.left_missing == tuple(axis.axis_id for axis in AXES)
    assert failed.sentences == 4  # the concepts; of the poles nothing is stored
    assert runs(filled)[["computed", "failed"]].to_numpy().tolist() == [[4, 12 * 30]]
    monkeypatch.undo()
    rest = read_heads(filled, request(model_folder))
    assert (rest.missing_axes, rest.failures, rest.left_missing) == (6, (), ())


def test_a_concept_for_which_memory_ran_out_stays_missing(filled, model_folder, monkeypatch):
    read = head_units.pooled_outputs

    def short_of_memory(model, texts, **options):
        for indices, outcome in read(model, texts, **options):
            full = Unpooled(Reason.OUT_OF_MEMORY, "The text alone does not fit into memory.")
            women = [i for i in indices if "women" in texts[i]]
            if women:
                yield np.array(women), full
            others = [k for k, i in enumerate(indices) if i not in women]
            yield indices[others], PooledOutputs(outcome.mean[others], outcome.last[others])

    monkeypatch.setattr(head_units, "pooled_outputs", short_of_memory)
    failed = read_heads(filled, request(model_folder))
    assert (failed.left_missing, failed.sentences) == (("women",), 12 * 30 + 3)
    monkeypatch.undo()
    rest = read_heads(filled, request(model_folder))
    assert (rest.missing_concepts, rest.failures) == (1, ())


def test_an_axis_whose_pole_went_with_another_file_is_read_again(filled, model_folder):
    first = read_heads(filled, request(model_folder))
    put_axes(filled, "more", [Axis(POLES[0], POLES[3], source="made")])
    more = request(model_folder, axes="more")
    assert read_heads(filled, more).missing_axes == 1
    source = Source(first.reader_id, "simple")
    wanted = {POLES[0].key: pole_content(POLES[0], "simple")}
    place = held_at(filled, source, POLE, wanted)[POLES[0].key]
    forget(filled, [place[0]])
    assert read_heads(filled, more).missing_axes == 1
    assert get_arrays(filled, source, POLE, wanted)["n"].tolist() == [[15, 15]]
    assert read_heads(filled, more).missing_axes == 0


def test_a_model_that_gives_other_outputs_than_before_is_refused(filled, model_folder, monkeypatch):
    first = read_heads(filled, request(model_folder))
    read = head_units.pooled_outputs

    def changed(*args, **options):
        for indices, outcome in read(*args, **options):
            yield indices, PooledOutputs(outcome.mean * 1.01, outcome.last)

    monkeypatch.setattr(head_units, "pooled_outputs", changed)
    with pytest.raises(CanaryFailed, match="no longer gives the head outputs that the cache"):
        read_heads(filled, request(model_folder, families=("listing",)))
    assert runs(filled)["checks"].str.partition(":")[0].tolist() == ["refused", "passed"]
    wanted = {AXES[0].axis_id: axis_content(AXES[0], "listing")}
    assert missing(filled, Source(first.reader_id, "listing"), AXIS, wanted)


def test_axes_that_all_share_a_pole_are_read_in_parts(filled, model_folder, monkeypatch, tmp_path):
    """What is in memory at once, and what a killed job can lose, stays small."""
    monkeypatch.setattr(heads_missing, "MOST_AXES_IN_UNIT", 3)
    hub = [Axis(POLES[0], pole, source="made") for pole in POLES[1:9]]
    read, sizes = head_units.pole_sums, []

    def seen(model, poles, **options):
        sizes.append(len(poles))
        return read(model, poles, **options)

    monkeypatch.setattr(head_units, "pole_sums", seen)
    whole = Cache(tmp_path / "whole")
    for cache in (filled, whole):
        put_axes(cache, "hub", hub)
        put_concepts(cache, GROUPS)
    asked = request(model_folder, axes="hub", concepts=("groups",))
    assert estimate_heads(whole, asked).sentences == 11 * 30 + 3
    result = read_heads(whole, asked)
    assert (sizes, result.sentences) == ([4, 4, 3], 11 * 30 + 3)
    told = []
    read_heads(filled, asked, watch=told.append, stop=lambda: len(told) > 4)
    assert read_heads(filled, asked).missing_axes in (2, 5)
    assert read_heads(filled, asked).missing_axes == 0
    assert files(filled) == files(whole)


def test_the_estimate_counts_what_a_job_reads_again_for_another_set(filled, model_folder):
    read_heads(filled, request(model_folder))
    more = [Axis(POLES[0], POLES[3], source="made"), *AXES]
    put_axes(filled, "more", more)
    asked = request(model_folder, axes="more")
    before = sum(tensors(filled)["n_bytes"])
    estimate = estimate_heads(filled, asked)
    assert estimate.sentences == read_heads(filled, asked).sentences
    assert 0 <= sum(tensors(filled)["n_bytes"]) - before - estimate.disk_bytes < 2_000


def test_files_of_sets_with_the_same_sentences_and_other_poles_stay_apart(filled, model_folder):
    """A word in two languages makes two poles with the same sentences."""
    cold, warm, hot = (user_pole((word,)) for word in ("cold", "warm", "hot"))
    words = [(user_pole((a,)), user_pole((b,))) for a, b in (("bad", "good"), ("old", "new"))]
    others = [Axis(*pair, source="own") for pair in words]
    one = [Axis(cold, warm, source="own"), Axis(cold, hot, source="own"), *others]
    dutch = replace(cold, language="nl")
    two = [one[0], Axis(dutch, hot, source="own"), *others]
    sums = {}
    for name, axes in (("one", one), ("two", two), ("one", one)):
        put_axes(filled, name, axes)
        result = read_heads(filled, request(model_folder, axes=name))
        wanted = {p.key: pole_content(p, "simple") for p in (warm, hot, *words[1])}
        held = get_arrays(filled, Source(result.reader_id, "simple"), POLE, wanted)
        np.testing.assert_array_equal(held["sums"], sums.setdefault("first", held["sums"]))
    assert broken_tensors(filled) == {}


def one_text_at_a_time(monkeypatch) -> None:
    for check in ("packing_agrees", "padding_agrees"):
        monkeypatch.setattr(f"core.scoring.causal_canaries.{check}", lambda model: False)


def test_a_model_that_batches_wrongly_is_read_one_text_at_a_time(filled, model_folder, monkeypatch):
    usual = read_heads(filled, request(model_folder))
    one_text_at_a_time(monkeypatch)
    read, sizes = pool.head_outputs, []

    def seen(model, places, texts, rows):
        sizes.append([len(row.paths) for row in rows])
        return read(model, places, texts, rows)

    monkeypatch.setattr(pool, "head_outputs", seen)
    slow = read_heads(filled, request(model_folder))
    assert sizes == [[1]] * (12 * 30 + 4)
    assert slow.reader_id != usual.reader_id
    batching = {name: get_reader(filled, name).batching for name in readers(filled)["reader_id"]}
    assert batching == {usual.reader_id: "batched", slow.reader_id: "exact"}
    assert (usual.notes, slow.notes) == ((), (SLOW,))
    held = runs(filled).set_index("scorer_id")["checks"]
    assert held[usual.reader_id] == "passed"
    assert held[slow.reader_id] == f"slow path: {SLOW}"


def test_other_modules_are_another_reader(filled, model_folder):
    usual = read_heads(filled, request(model_folder))
    named = "model.layers.{}.self_attn.o_proj"
    again = read_heads(filled, request(model_folder, heads_at=named))
    assert (again.reader_id, again.missing_axes) == (usual.reader_id, 0)
    queries = request(model_folder, heads_at="model.layers.{}.self_attn.q_proj")
    other = read_heads(filled, queries)
    assert other.missing_axes == 6
    assert get_reader(filled, other.reader_id).heads_at == queries.heads_at
    assert estimate_heads(filled, queries).reader.reader_id == other.reader_id


def test_a_model_that_fails_a_check_is_refused_and_remembered(filled, model_folder, monkeypatch):
    def fails(language_model):
        raise CanaryFailed("It looks ahead.")

    monkeypatch.setattr(jobs_heads, "check_model", fails)
    with pytest.raises(CanaryFailed):
        read_heads(filled, request(model_folder))
    (run,) = runs(filled).to_dict("records")
    assert (run["command"], run["status"], run["checks"]) == (
        *("axes", "failed"),
        "refused: It looks ahead.",
    )
    assert readers(filled).empty


def test_unknown_sets_and_models_leave_no_trace(filled, model_folder, tmp_path):
    with pytest.raises(InputError, match="no axes 'mine'; it has made"):
        read_heads(filled, request(model_folder, axes="mine"))
    with pytest.raises(InputError, match="no concepts 'mine'; it has groups, reference"):
        read_heads(filled, request(model_folder, concepts=("mine",)))
    with pytest.raises(ModelError):
        read_heads(filled, request(tmp_path / "nothing"))
    assert readers(filled).empty
    assert runs(filled).empty

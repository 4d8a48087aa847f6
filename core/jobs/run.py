"""The scoring job: what is missing -> compute -> one transaction per batch (needs torch).

Nothing is held between batches: a job that is killed loses at most what it had not committed, and
the next run computes only what is still missing.
"""

from __future__ import annotations

import platform
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version

from core.items.texts import join
from core.jobs.progress import Progress, Stop, Watch, never, unwatched
from core.models.language_model import LanguageModel
from core.models.opening import open_model
from core.scoring.canaries import batching_agrees, check_causal, check_known_scores
from core.scoring.causal import Outcome, score_texts
from core.scoring.encoding import bos_policy
from core.scoring.version import SCORING_VERSION
from core.store.gate import Cache
from core.store.items import require_dataset
from core.store.runs import end_run, start_run
from core.store.scorers import put_scorer
from core.store.scores import missing_texts, put_scores, sample_scores
from core.types import Scorer, Text, TokenScore, Unscored

COMMIT_SECONDS = 2.0  # work between two commits: what a killed job can lose
LIBRARIES = ("torch", "transformers", "tokenizers", "numpy", "duckdb")


@dataclass(frozen=True, kw_only=True)
class ScoreRequest:
    """What to score with what."""

    model: str  # a spec: "demo", a folder, "org/name[@revision]"
    dataset: str
    dtype: str = "auto"
    device: str = "auto"
    exact: bool = False
    trust_remote_code: bool = False


@dataclass(frozen=True, kw_only=True)
class ScoreResult:
    """What a scoring job did."""

    scorer_id: str
    model: str
    dataset: str
    batching: str
    missing: int  # texts without a score when the job began
    computed: int  # of these, scored and stored
    failed: int  # of these, not scorable; the cache names them
    stopped: bool
    seconds: float
    notes: tuple[str, ...] = ()


def score_dataset(
    cache: Cache, request: ScoreRequest, *, watch: Watch = unwatched, stop: Stop = never
) -> ScoreResult:
    """Score every text of a data set that has no score under this model yet.

    Raises
    ------
    InputError
        When there is no such data set.
    ModelError
        When the model cannot be opened, or one of its self-checks fails.
    CacheError
        When the cache cannot be read or written.
    """
    require_dataset(cache, request.dataset)
    began = time.monotonic()
    watch(Progress("opening the model"))
    language_model = open_model(
        request.model,
        dtype=request.dtype,
        device=request.device,
        models_folder=cache.folder / "models",
        trust_remote_code=request.trust_remote_code,
    )
    watch(Progress("checking the model"))
    scorer, notes = checked_scorer(cache, language_model, exact=request.exact)
    texts = missing_texts(cache, scorer.scorer_id, request.dataset)
    run_id = new_run_id()
    start_run(
        cache,
        run_id,
        command="score",
        scorer_id=scorer.scorer_id,
        dataset=request.dataset,
        versions=library_versions(),
        spec=asdict(request),
    )
    computed = failed = 0
    status = "died"
    try:
        outcomes = score_texts(language_model, texts, exact=scorer.batching == "exact")
        for batch in _in_commits(_watched(outcomes, texts, watch), stop):
            scores = [o for o in batch if isinstance(o, TokenScore)]
            unscored = [o for o in batch if isinstance(o, Unscored)]
            computed += put_scores(cache, scorer.scorer_id, scores, unscored)
            failed += len(unscored)
        status = "stopped" if stop() else "finished"
    finally:
        end_run(cache, run_id, computed=computed, failed=failed, status=status)
    return ScoreResult(
        scorer_id=scorer.scorer_id,
        model=scorer.model,
        dataset=request.dataset,
        batching=scorer.batching,
        missing=len(texts),
        computed=computed,
        failed=failed,
        stopped=status == "stopped",
        seconds=round(time.monotonic() - began, 3),
        notes=notes,
    )


def checked_scorer(
    cache: Cache, language_model: LanguageModel, *, exact: bool
) -> tuple[Scorer, tuple[str, ...]]:
    """Run the self-checks of a model and enter it in the cache.

    Returns
    -------
    Scorer and notes
        The notes say where a check put the job on a slower path.
    """
    check_causal(language_model)
    notes: tuple[str, ...] = ()
    if not exact and not batching_agrees(language_model):
        exact = True
        notes = ("Batched scores differ from single ones, so texts are scored one at a time.",)
    scorer = scorer_of(language_model, exact=exact)
    check_known_scores(language_model, sample_scores(cache, scorer.scorer_id))
    put_scorer(cache, scorer)
    return scorer, notes


def scorer_of(language_model: LanguageModel, *, exact: bool) -> Scorer:
    """The identity under which this model's scores are kept."""
    return Scorer(
        model=language_model.label,
        fingerprint=language_model.fingerprint,
        quantization=language_model.quantization,
        dtype=language_model.dtype,
        device=language_model.device,
        attention=language_model.attention,
        method="causal",
        bos=bos_policy(language_model.tokenizer),
        batching="exact" if exact else "batched",
        scoring_version=SCORING_VERSION,
    )


def new_run_id() -> str:
    """A name for a run that sorts by time: 20261129-204512-3f9a."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def library_versions() -> dict[str, str]:
    """Versions of what takes part in a score; recorded with every run."""
    return {"python": platform.python_version()} | {name: version(name) for name in LIBRARIES}


def _watched(
    outcomes: Iterable[list[Outcome]], texts: Sequence[Text], watch: Watch
) -> Iterator[list[Outcome]]:
    """Pass outcomes on, telling the watcher after each batch how far they have come."""
    length = {t.text_id: len(join(t.context, t.continuation)) for t in texts}
    progress = Progress("scoring", 0, len(texts), 0, sum(length.values()))
    watch(progress)
    for batch in outcomes:
        yield batch
        progress = replace(
            progress,
            done_texts=progress.done_texts + len(batch),
            done_characters=progress.done_characters + sum(length[o.text_id] for o in batch),
        )
        watch(progress)


def _in_commits(batches: Iterable[list[Outcome]], stop: Stop) -> Iterator[list[Outcome]]:
    """Gather batches until they are worth a transaction; when told to stop, give what there is."""
    pending: list[Outcome] = []
    since = time.monotonic()
    for batch in batches:
        pending += batch
        if stop() or time.monotonic() - since >= COMMIT_SECONDS:
            yield pending
            pending, since = [], time.monotonic()
        if stop():
            return
    if pending:
        yield pending

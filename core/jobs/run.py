"""The scoring job: what is missing -> compute -> one transaction per batch (needs torch).

Nothing is held between batches: a job that is killed loses at most what it had not committed, and
the next run computes only what is still missing.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from typing import cast

from core.errors import InputError, ModelError
from core.items.texts import join
from core.jobs.folder import FILL_SCORER, new_run_id, one_at_a_time
from core.jobs.progress import SCORING, Progress, Stop, Watch, never, unwatched
from core.jobs.refusals import refusal_recorded
from core.jobs.spec import ModelRequest
from core.models.language_model import LanguageModel
from core.models.opening import open_planned
from core.models.plan import ModelPlan, choose_device, plan_model
from core.models.precision import Precision, check_name
from core.score_request import ScoreRequest
from core.scoring.canaries import check_known_scores, check_model, choose_layout
from core.scoring.encoding import bos_policy, special_policy
from core.scoring.logprobs import Layout
from core.scoring.masked import VARIANTS, Variant
from core.scoring.texts import Outcome, score_texts
from core.scoring.version import SCORING_VERSION
from core.store.gate import Cache
from core.store.items import require_dataset
from core.store.runs import end_run, start_run
from core.store.scorers import put_scorer
from core.store.scores import missing_texts, put_scores, sample_scores
from core.types import Scorer, Text, TokenScore, Unscored

COMMIT_SECONDS = 2.0  # work between two commits: what a killed job can lose
LIBRARIES = ("torch", "transformers", "tokenizers", "numpy", "duckdb")
QUANTIZING_LIBRARIES = ("bitsandbytes", "accelerate")
PASSED = "passed"


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
    cache: Cache,
    request: ScoreRequest,
    *,
    run_id: str | None = None,
    watch: Watch = unwatched,
    stop: Stop = never,
    scorer_id: str = "",
) -> ScoreResult:
    """Score every text of a data set that has no score under this model yet.

    Parameters
    ----------
    scorer_id
        The scorer that it must turn out to be; empty for whichever it is.

    Raises
    ------
    InputError
        When there is no such data set, or another job fills the same scorer.
    ModelError
        When the model cannot be opened, one of its self-checks fails, or it is another scorer.
    CacheError
        When the cache cannot be read or written.
    """
    require_dataset(cache, request.dataset)
    began = time.monotonic()
    run_id = run_id or new_run_id()
    start = partial(_start, cache, run_id, request)
    with refusal_recorded(cache, run_id, start):
        watch(Progress("opening the model"))
        language_model = open_planned(plan_for(cache, request))
        variant = checked_variant(request.variant, language_model)
        watch(Progress("checking the model"))
        scorer, layout, notes = checked_scorer(language_model, variant, exact=request.exact)
        if scorer_id and scorer.scorer_id != scorer_id:
            raise ModelError(
                f"{scorer.model} is another scorer here ({scorer.scorer_id}) than the one that is "
                f"in the cache ({scorer_id}): its weights or this machine have changed; score the "
                "data set with it anew."
            )
        with one_at_a_time(cache, FILL_SCORER, scorer.scorer_id, run_id):
            known_scores = sample_scores(cache, scorer.scorer_id)
            check_known_scores(language_model, known_scores, variant)
            put_scorer(cache, scorer)
            missing = missing_texts(cache, scorer.scorer_id, request.dataset)
            checks = f"slow path: {' '.join(notes)}" if notes else PASSED
            start(checks, scorer)
            known = Progress(SCORING, scorer_id=scorer.scorer_id, checks=checks)
            outcomes = score_texts(language_model, missing, layout=layout, variant=variant)
            done = _fill(cache, run_id, outcomes, missing, known, watch, stop)
    return ScoreResult(
        scorer_id=scorer.scorer_id,
        model=scorer.model,
        dataset=request.dataset,
        batching=scorer.batching,
        missing=len(missing),
        computed=done.computed,
        failed=done.failed,
        stopped=done.status == "stopped",
        seconds=round(time.monotonic() - began, 3),
        notes=notes,
    )


def plan_for(cache: Cache, request: ModelRequest, *, download: bool = True) -> ModelPlan:
    """How the model that a request names would be opened; errors and `download` as `plan_model`."""
    return plan_model(
        request.model,
        models_folder=cache.folder / "models",
        precision=_precision(request),
        device=request.device,
        trust_remote_code=request.trust_remote_code,
        kind=None,
        download=download,
    )


def check_options(request: ModelRequest) -> None:
    """Refuse what no model could be opened or scored with, before there is a run.

    Raises
    ------
    InputError
        A precision, a device or a variant is not known here.
    """
    _precision(request).check()
    choose_device(request.device)
    if isinstance(request, ScoreRequest):
        check_name("variant", request.variant, VARIANTS)


def checked_scorer(
    language_model: LanguageModel, variant: Variant, *, exact: bool
) -> tuple[Scorer, Layout, tuple[str, ...]]:
    """Run the self-checks that need the model alone.

    Returns
    -------
    Scorer, Layout and notes
        The notes say where a check put the job on a slower path.
    """
    check_model(language_model)
    layout, notes = (Layout.SINGLE, ()) if exact else choose_layout(language_model)
    return scorer_of(language_model, variant, exact=layout is Layout.SINGLE), layout, notes


def checked_variant(name: str, language_model: LanguageModel) -> Variant:
    """The variant of a masked model's scores that a name stands for.

    Raises
    ------
    InputError
        When there is no such variant, or the model is a causal one, which has none.
    """
    check_name("variant", name, VARIANTS)
    if language_model.kind != "masked" and name != VARIANTS[0]:
        raise InputError(
            f"{language_model.label} is a causal model, and variant {name} is for masked ones; "
            "leave the variant out."
        )
    return cast("Variant", name)


def scorer_of(language_model: LanguageModel, variant: Variant, *, exact: bool) -> Scorer:
    """The identity under which this model's scores are kept."""
    masked = language_model.kind == "masked"
    around = special_policy if masked else bos_policy
    return Scorer(
        model=language_model.label,
        fingerprint=language_model.fingerprint,
        quantization=language_model.quantization,
        dtype=language_model.dtype,
        device=language_model.device,
        attention=language_model.attention,
        method=f"pll:{variant}" if masked else "causal",
        bos=around(language_model.tokenizer),
        batching="exact" if exact else "batched",
        scoring_version=SCORING_VERSION,
    )


def library_versions(quantization: str = "none") -> dict[str, str]:
    """Versions of what takes part in a score; recorded with every run.

    Parameters
    ----------
    quantization
        As asked for or as recorded: it tells whether bitsandbytes takes part.
    """
    quantized = quantization.startswith(("int8", "nf4", "fp4"))
    names = (*LIBRARIES, *QUANTIZING_LIBRARIES) if quantized else LIBRARIES
    return {"python": platform.python_version()} | {name: version(name) for name in names}


def _precision(request: ModelRequest) -> Precision:
    return Precision(
        dtype=request.dtype,
        quantization=request.quantization,
        compute_dtype=request.compute_dtype,
        no_double_quant=request.no_double_quant,
    )


@dataclass
class _Done:
    """What a job has stored so far."""

    computed: int = 0
    failed: int = 0
    status: str = "failed"


def _fill(
    cache: Cache,
    run_id: str,
    outcomes: Iterable[list[Outcome]],
    texts: Sequence[Text],
    known: Progress,
    watch: Watch,
    stop: Stop,
) -> _Done:
    """Compute the outcomes of texts and store them; the run's row says how it ended."""
    done = _Done()

    def tell(progress: Progress) -> None:
        watch(replace(progress, computed=done.computed, failed=done.failed))

    try:
        meter = _Meter(texts, known, tell)
        for batch in _in_commits(meter.counted(outcomes), stop):
            scores = [o for o in batch if isinstance(o, TokenScore)]
            unscored = [o for o in batch if isinstance(o, Unscored)]
            done.computed += put_scores(cache, known.scorer_id, scores, unscored)
            done.failed += len(unscored)
            tell(meter.progress)
        left = meter.progress.done_texts < len(texts)
        done.status = "stopped" if left and stop() else "finished"
    except KeyboardInterrupt:
        done.status = "stopped"
        raise
    finally:
        end_run(cache, run_id, **asdict(done))
    return done


class _Meter:
    """Counts the outcomes that pass through, and tells after each batch."""

    def __init__(self, texts: Sequence[Text], known: Progress, tell: Watch) -> None:
        self._length = {t.text_id: len(join(t.context, t.continuation)) for t in texts}
        self._tell = tell
        self.progress = replace(
            known, total_texts=len(texts), total_characters=sum(self._length.values())
        )

    def counted(self, outcomes: Iterable[list[Outcome]]) -> Iterator[list[Outcome]]:
        self._tell(self.progress)
        for batch in outcomes:
            characters = sum(self._length[o.text_id] for o in batch)
            self.progress = replace(
                self.progress,
                done_texts=self.progress.done_texts + len(batch),
                done_characters=self.progress.done_characters + characters,
            )
            self._tell(self.progress)
            yield batch


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


def _start(
    cache: Cache,
    run_id: str,
    request: ScoreRequest,
    checks: str,
    scorer: Scorer | None = None,  # none where the model was refused
) -> None:
    start_run(
        cache,
        run_id,
        command="score",
        scorer_id=scorer.scorer_id if scorer else "",
        dataset=request.dataset,
        versions=library_versions(scorer.quantization if scorer else request.quantization),
        spec=asdict(request),
        checks=checks,
    )

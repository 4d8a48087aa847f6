"""The positive control as a job: which models can score it, what it takes, and its versions.

The sentences become versions of the items (`en+true`), which the scorers of the data set then score
like any others: under the same settings, so that only the sentence differs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.items.control import Arms, arms_as_texts, read_arms, with_control
from core.items.texts import is_collapsed, item_texts, join
from core.jobs.follow import recorded_speed
from core.jobs.spec import CONTROL, JobSpec
from core.score_request import ScoreRequest, known_fields
from core.store.audit import scored_with
from core.store.gate import Cache
from core.store.items import datasets, put_dataset, stored_items
from core.store.runs import runs
from core.store.score_line import score_line
from core.store.scorers import scorers
from core.store.scores import scored_of
from core.types import Item

NOT_COMPUTED = (
    "Where the weights of {} lie is not known here, because its scores were not computed in this "
    "cache; score the data set with it first, or leave it out."
)
NO_WEIGHTS = "The weights of {} are no longer in {}; put them back, or leave the model out."


@dataclass(frozen=True, kw_only=True)
class ControlEstimate:
    """What a positive control would take."""

    new: tuple[str, ...]  # conditions that the data set does not have yet
    changed: tuple[str, ...]  # conditions that it has with other sentences
    n_versions: int  # items with a sentence in front, over all arms
    texts: dict[str, int]  # by scorer: texts of the data set without a score
    seconds: dict[str, float | None]  # by scorer; None: no earlier run tells its speed


def control_spec(dataset: str, scorer_ids: Sequence[str], arms: Arms) -> JobSpec:
    """The job that makes these versions and scores them."""
    return JobSpec(
        command=CONTROL,
        request=ScoreRequest(model="", dataset=dataset),
        scorers=tuple(scorer_ids),
        arms=tuple(arms_as_texts(arms)),
    )


def known_requests(cache: Cache, dataset: str) -> dict[str, ScoreRequest]:
    """How each scorer of the cache would score a data set: as its latest run was asked to.

    Scores from elsewhere have no run here, and are left out. The device is that of the scorer.
    """
    specs: dict[str, dict[str, Any]] = {}
    for run in runs(cache).to_dict("records"):
        specs.setdefault(str(run["scorer_id"]), json.loads(str(run["spec"])))
    devices = scorers(cache).set_index("scorer_id")["device"]
    requests = {}
    for scorer_id in map(str, devices.index):
        asked = specs.get(scorer_id, {})
        if asked.get("model"):
            request = ScoreRequest(**known_fields(ScoreRequest, asked))
            device = str(devices[scorer_id])
            requests[scorer_id] = replace(request, dataset=dataset, device=device)
    return requests


def chosen_requests(
    cache: Cache, dataset: str, scorer_ids: Sequence[str] = ()
) -> dict[str, ScoreRequest]:
    """Those of `known_requests` that are wanted, by id; where none is named, those with scores.

    Raises
    ------
    InputError
        It is not known how a scorer was computed, or its folder is gone.
    """
    known = known_requests(cache, dataset)
    names = scorers(cache).set_index("scorer_id")["model"]
    wanted = list(dict.fromkeys(scorer_ids)) or [
        s for s in scored_with(cache, dataset) if s in known
    ]
    if not wanted:
        raise InputError(
            f"No model has computed scores of {dataset} in this cache; run "
            f"`{score_line(cache, dataset)}` first."
        )
    for scorer_id in wanted:
        if scorer_id not in known:
            raise InputError(NOT_COMPUTED.format(names.get(scorer_id, scorer_id)))
        folder = known[scorer_id].model
        if folder.startswith("/") and not Path(folder).is_dir():
            raise InputError(NO_WEIGHTS.format(names[scorer_id], folder))
    return {scorer_id: known[scorer_id] for scorer_id in wanted}


def shipped_arms(cache: Cache, dataset: str) -> Arms:
    """The sentences that come with the program, in the languages of a data set.

    Raises
    ------
    InputError
        There are none for any of its languages.
    """
    held = {item.condition for item in stored_items(cache, dataset)}
    shipped = read_arms()
    found = {condition: texts for condition, texts in shipped.items() if condition in held}
    if not found:
        raise InputError(
            f"{dataset} has no items in {' or '.join(shipped)}, for which sentences come with the "
            "program; give your own."
        )
    return found


def estimate_control(
    cache: Cache, dataset: str, scorer_ids: Sequence[str], arms: Arms
) -> ControlEstimate:
    """What a positive control would take, before anything is written.

    Raises
    ------
    InputError
        As `with_control`.
    """
    items = stored_items(cache, dataset)
    wanted = with_control(items, arms, anew=True)
    before, after = _contexts(items), _contexts(wanted)
    made = [f"{condition}+{arm}" for condition, texts in arms.items() for arm in texts]
    lengths = {
        text.text_id: len(join(text.context, text.continuation))
        for item in wanted
        if not is_collapsed(item)
        for text in item_texts(item).values()
    }
    texts, seconds = {}, {}
    for scorer_id in scorer_ids:
        missing = set(lengths) - scored_of(cache, scorer_id, lengths)
        characters = sum(lengths[text_id] for text_id in missing)
        texts[scorer_id] = len(missing)
        seconds[scorer_id] = _seconds(cache, scorer_id, characters)
    return ControlEstimate(
        new=tuple(c for c in made if c in after and c not in before),
        changed=tuple(c for c in made if c in before and before[c] != after.get(c)),
        n_versions=sum(len(after.get(c, ())) for c in made),
        texts=texts,
        seconds=seconds,
    )


def put_arms(cache: Cache, dataset: str, arms: Arms) -> None:
    """Give a data set these versions, in the place of others of the same name.

    What it says of its origin stays: its own items do. Scores that are there already stay too.

    Raises
    ------
    InputError
        As `with_control`.
    """
    wanted = with_control(stored_items(cache, dataset), arms, anew=True)
    origin = datasets(cache).set_index("dataset").loc[dataset]
    facts = {name: str(origin[name]) for name in ("path", "format", "sha256", "note")}
    put_dataset(cache, dataset, wanted, **facts, replace=True)


def _seconds(cache: Cache, scorer_id: str, characters: int) -> float | None:
    """Time to open a model and to score so much text; None where no run tells its speed."""
    if not characters:
        return 0.0
    speed = recorded_speed(cache, scorer_id)
    if speed is None:
        return None
    return characters / speed.characters_per_second + (speed.opening_seconds or 0.0)


def _contexts(items: Sequence[Item]) -> Mapping[str, dict[str, str]]:
    """Contexts by condition and item."""
    found: dict[str, dict[str, str]] = {}
    for item in items:
        found.setdefault(item.condition, {})[item.item_id] = item.context
    return found

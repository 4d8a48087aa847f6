"""An axis of one's own words as a job: it joins a set of such axes, which a model is read for.

All of them stand in one set, so that they are seen side by side. A model that was read here before
is read as it was then: its latest run says how.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.axes.axis import Axis, plain_name
from core.errors import InputError
from core.heads_request import HeadsRequest
from core.jobs.follow import JobView, follow
from core.jobs.spec import AXES, JobSpec, anywhere, spec_from_json
from core.store.axes import add_axis, get_axes, remove_axis
from core.store.gate import Cache
from core.store.head_readers import get_reader
from core.store.runs import runs
from core.words import counted

OWN_AXES = "own-words"  # the name of the set
_LATEST = 100  # runs among which one that computes is looked for


def own_axis_spec(
    cache: Cache,
    axis: Axis,
    *,
    reader_id: str,
    concepts: Sequence[str],
    reference: Sequence[str] = (),
    family: str,
) -> JobSpec:
    """Put an axis into the set of one's own axes; the job that reads a model's heads for it.

    Parameters
    ----------
    concepts, reference
        Names of sets that the axis is to be seen with.

    Raises
    ------
    InputError
        It is not known how this model was read, its folder is gone, or another job reads its heads
        now; the axis is not put anywhere then.
    CacheNotWritable
    """
    request = known_heads_request(cache, reader_id)
    if request.model.startswith("/") and not Path(request.model).is_dir():
        raise InputError(
            f"The weights of {get_reader(cache, reader_id).model} are no longer in "
            f"{request.model}; put them back first."
        )
    if (view := reading_now(follow(cache, latest=_LATEST), anywhere(request).model)) is not None:
        p = view.progress
        far = f" ({p.done_texts:,} of {counted(p.total_texts, 'text')})" if p.total_texts else ""
        raise InputError(
            f"Run {view.run_id} reads the heads of this model now, for {view.dataset}{far}; wait "
            "until it ends, or stop it, and ask again: one job reads them at a time."
        )
    add_axis(cache, OWN_AXES, axis)
    wanted = replace(
        request,
        axes=OWN_AXES,
        concepts=tuple(concepts),
        reference=tuple(reference),
        families=(family,),
    )
    return JobSpec(command=AXES, request=wanted)


def reading_now(views: Sequence[JobView], model: str) -> JobView | None:
    """The job that reads the heads of a model; None where none does."""
    for view in views:
        if view.alive and view.command in (AXES, "demo") and view.model == model:
            return view
    return None


def latest_own_axis_job(views: Sequence[JobView]) -> JobView | None:
    """The latest job that reads the set of one's own axes, whether it has ended or not."""
    mine = (view for view in views if view.command == AXES and view.dataset == OWN_AXES)
    return next(mine, None)


def remove_own_axis(cache: Cache, name: str) -> Axis:
    """Take an axis out of the set of one's own; what was read for it stays.

    Parameters
    ----------
    name
        Its id, or its words with ~ between the poles ("stingy|mean~generous"); the beginning is
        enough where no other axis begins so.

    Raises
    ------
    InputError
        None of the axes, or more than one, is called so.
    CacheNotWritable
    """
    axes = get_axes(cache, OWN_AXES)
    names = {axis.axis_id: plain_name(axis.axis_id, most=len(axis.axis_id)) for axis in axes}
    found = [axis for axis in axes if name in (axis.axis_id, names[axis.axis_id])]
    found = found or [axis for axis in axes if name and names[axis.axis_id].startswith(name)]
    if len(found) != 1:
        known = ", ".join(plain_name(axis.axis_id) for axis in found or axes)
        which = "More than one" if found else "None"
        raise InputError(f"{which} of your own axes is called so; name one of: {known}.")
    remove_axis(cache, OWN_AXES, found[0].axis_id)
    return found[0]


def known_heads_request(cache: Cache, reader_id: str) -> HeadsRequest:
    """What the latest run of a reader was asked for, on the device that it had.

    Raises
    ------
    InputError
        There is no such reader, or no run here that tells.
    """
    reader = get_reader(cache, reader_id)
    for run in runs(cache).to_dict("records"):
        if run["scorer_id"] != reader_id:
            continue
        asked: dict[str, Any] = {"command": AXES, "request": json.loads(str(run["spec"]))}
        request = spec_from_json(asked).request
        if isinstance(request, HeadsRequest):
            return replace(request, device=reader.device)
    raise InputError(
        f"How the heads of {reader.model} were read is not known here; read another axis with "
        "`python -m core axes` first."
    )

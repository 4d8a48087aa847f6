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

from core.axes.axis import Axis
from core.errors import InputError
from core.heads_request import HeadsRequest
from core.jobs.spec import AXES, JobSpec, spec_from_json
from core.store.axes import add_axis
from core.store.gate import Cache
from core.store.head_readers import get_reader
from core.store.runs import runs

OWN_AXES = "own-words"  # the name of the set


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
        It is not known how this model was read, or its folder is gone.
    CacheNotWritable
    """
    request = known_heads_request(cache, reader_id)
    if request.model.startswith("/") and not Path(request.model).is_dir():
        raise InputError(
            f"The weights of {get_reader(cache, reader_id).model} are no longer in "
            f"{request.model}; put them back first."
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

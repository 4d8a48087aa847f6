"""What a job is asked to do: enough to start it, to repeat it and to resume it."""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from core import settings
from core.errors import InputError
from core.heads_request import AtlasRequest, HeadsRequest, ProjectionsRequest
from core.score_request import DEMO_MODEL, ScoreRequest, checked, known_fields, option_words

CONTROL = "positive-control"
AXES, STEREOTYPES, ATLAS = "axes", "stereotypes", "atlas"
COMMANDS = ("score", "demo", CONTROL, AXES, STEREOTYPES, ATLAS)

ModelRequest: TypeAlias = ScoreRequest | HeadsRequest  # a model is opened
Request: TypeAlias = ModelRequest | ProjectionsRequest
REQUESTS: Mapping[str, type[Request]] = {
    AXES: HeadsRequest,
    STEREOTYPES: ProjectionsRequest,
    ATLAS: AtlasRequest,
}  # the others' are of scores
DEMO_REQUEST = ScoreRequest(model=DEMO_MODEL, dataset=settings.DEMO_DATASET)


@dataclass(frozen=True, kw_only=True)
class JobSpec:
    """A job as a person asked for it."""

    command: str = "score"  # one of COMMANDS
    request: Request = field(default=DEMO_REQUEST)  # of the command's kind: REQUESTS
    resumes: str = ""  # the run that this one goes on from
    scorers: tuple[str, ...] = ()  # of a positive control: ids of those that score it
    arms: tuple[str, ...] = ()  # ... and its sentences, as core/items/control.py writes them

    def arguments(self) -> list[str]:
        """The words after `python -m core`; values cannot be taken for options.

        Raises
        ------
        InputError
            When the command is not one that can be started, or a value cannot be passed on.
        """
        if self.command not in COMMANDS:
            raise InputError(f"{self.command!r} is none of the jobs {', '.join(COMMANDS)}.")
        if self.command == "demo":
            return ["demo"]
        if self.command == CONTROL:
            return [
                CONTROL,
                f"--dataset={checked('dataset', self.request.dataset)}",
                *(f"--scorer={checked('scorer', scorer)}" for scorer in self.scorers),
                *(f"--arm={_one_line(arm)}" for arm in self.arms),
            ]
        return [self.command, *option_words(self.request)]

    def command_line(self) -> str:
        """The line that repeats this job in a shell."""
        return shlex.join(["python", "-m", "core", *self.arguments()])


_Request = TypeVar("_Request", ScoreRequest, HeadsRequest, Request)


def anywhere(request: _Request) -> _Request:
    """The request with a model folder's whole path, so that it means the same from any folder."""
    if isinstance(request, ProjectionsRequest):
        return request
    path = Path(request.model).expanduser()
    if request.model in ("", DEMO_MODEL) or "\0" in request.model or not path.is_dir():
        return request
    return replace(request, model=str(path.resolve()))


def spec_to_json(spec: JobSpec) -> dict[str, Any]:
    """A spec as plain values."""
    return asdict(spec)


def spec_from_json(values: Mapping[str, Any]) -> JobSpec:
    """A spec from plain values; settings that this version does not know are left out.

    Raises
    ------
    ValueError
        When it is not a spec.
    """
    try:
        kind = REQUESTS.get(str(values.get("command")), ScoreRequest)
        known: dict[str, Any] = known_fields(kind, values["request"])
        listed = {f.name for f in fields(kind) if str(f.type).startswith("tuple")}
        known |= {name: _texts(known[name]) for name in listed & known.keys()}
        request = kind(**known)
        lists = {name: _texts(values.get(name, ())) for name in ("scorers", "arms")}
        spec = JobSpec(**{**known_fields(JobSpec, values), "request": request, **lists})
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a job: {error}") from error
    return spec


def _texts(values: Any) -> tuple[str, ...]:
    if not all(isinstance(value, str) for value in values):
        raise TypeError(f"not a list of texts: {values!r}")
    return tuple(values)


def _one_line(text: str) -> str:
    """A sentence in any script: joiners are letters to some, so `isprintable` would refuse them."""
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        raise InputError(f"The sentence {text!r} holds a line break or another control character.")
    return text

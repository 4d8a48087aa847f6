"""What a job is asked to do: enough to start it, to repeat it and to resume it."""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from core import settings
from core.errors import InputError

CONTROL = "positive-control"
AXES = "axes"
COMMANDS = ("score", "demo", CONTROL, AXES)
DEMO_MODEL = "demo"
OPTIONS = {"families": "family"}  # fields whose option, given once for each, is named otherwise


@dataclass(frozen=True, kw_only=True)
class ScoreRequest:
    """What to score with what."""

    model: str  # a spec: "demo", a folder, "org/name[@revision]"
    dataset: str
    dtype: str = "auto"
    device: str = "auto"
    exact: bool = False
    trust_remote_code: bool = False
    quantization: str = "none"
    compute_dtype: str = "auto"  # of nf4
    no_double_quant: bool = False  # of nf4
    variant: str = "original"  # of a masked model's scores: core/scoring/masked.py


@dataclass(frozen=True, kw_only=True)
class HeadsRequest:
    """Which model's heads to read for what."""

    model: str  # a spec, as for scoring
    axes: str  # a stored set
    concepts: tuple[str, ...] = ()  # stored sets, those of reference phrases among them
    families: tuple[str, ...] = ("simple",)  # of templates
    bos: Literal["in", "out"] = "in"  # whether special tokens count in the mean
    heads_at: str = ""  # where the heads are, in an architecture that is not known
    dtype: str = "auto"
    device: str = "auto"
    trust_remote_code: bool = False
    quantization: str = "none"
    compute_dtype: str = "auto"  # of nf4
    no_double_quant: bool = False  # of nf4

    @property
    def dataset(self) -> str:
        """What the job is about: where a scoring job has a data set, this one has axes."""
        return self.axes


Request: TypeAlias = ScoreRequest | HeadsRequest
DEMO_REQUEST = ScoreRequest(model=DEMO_MODEL, dataset=settings.DEMO_DATASET)


@dataclass(frozen=True, kw_only=True)
class JobSpec:
    """A job as a person asked for it."""

    command: str = "score"  # one of COMMANDS
    request: Request = field(default=DEMO_REQUEST)  # one for heads with the command axes
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
                f"--dataset={_checked('dataset', self.request.dataset)}",
                *(f"--scorer={_checked('scorer', scorer)}" for scorer in self.scorers),
                *(f"--arm={_one_line(arm)}" for arm in self.arms),
            ]
        return [self.command, *_options(self.request)]

    def command_line(self) -> str:
        """The line that repeats this job in a shell."""
        return shlex.join(["python", "-m", "core", *self.arguments()])


_Request = TypeVar("_Request", ScoreRequest, HeadsRequest, Request)


def anywhere(request: _Request) -> _Request:
    """The request with a model folder's whole path, so that it means the same from any folder."""
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
        kind = HeadsRequest if values.get("command") == AXES else ScoreRequest
        request = kind(**known_fields(kind, values["request"]))
        if isinstance(request, HeadsRequest):
            concepts, families = _texts(request.concepts), _texts(request.families)
            request = replace(request, concepts=concepts, families=families)
        lists = {name: _texts(values.get(name, ())) for name in ("scorers", "arms")}
        spec = JobSpec(**{**known_fields(JobSpec, values), "request": request, **lists})
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a job: {error}") from error
    return spec


def known_fields(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that a dataclass has a field for.

    Raises
    ------
    TypeError
        When one of them is not of the field's type.
    """
    known = {f.name: values[f.name] for f in fields(kind) if f.name in values}
    for f in fields(kind):
        wanted = {"str": str, "bool": bool, "int": int}.get(str(f.type))
        if wanted and not isinstance(known.get(f.name, wanted()), wanted):
            raise TypeError(f"{f.name} is {known[f.name]!r}")
    return known


def _options(request: Request) -> list[str]:
    """The options that ask for a request, without those at their default."""
    words = []
    for f in fields(request):
        value = getattr(request, f.name)
        option = f"--{OPTIONS.get(f.name, f.name.replace('_', '-'))}"
        if value == f.default:
            continue
        if isinstance(value, tuple):
            words += [f"{option}={_checked(f.name, each)}" for each in value]
        elif value is True:
            words.append(option)
        else:
            words.append(f"{option}={_checked(f.name, value)}")
    return words


def _texts(values: Any) -> tuple[str, ...]:
    if not all(isinstance(value, str) for value in values):
        raise TypeError(f"not a list of texts: {values!r}")
    return tuple(values)


def _one_line(text: str) -> str:
    """A sentence in any script: joiners are letters to some, so `isprintable` would refuse them."""
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        raise InputError(f"The sentence {text!r} holds a line break or another control character.")
    return text


def _checked(name: str, value: str) -> str:
    if not value.strip():
        raise InputError(f"The {name} is empty; name one.")
    if not value.isprintable():
        raise InputError(f"The {name} {value!r} holds a character that no name has.")
    return value

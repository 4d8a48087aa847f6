"""What the head map's browser side is told: grids, scores by head, names, and Python's numbers.

Arrays travel as base64 of little-endian numbers; what is undefined is null. At most `DRAWN`
concepts and reference phrases go along, so that the message stays small; the numbers are of all.

Letters: C concepts, R reference phrases, L layers, H heads.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from core.analysis.heads.axis_view import AxisView, dimension_of
from core.analysis.heads.chosen import Chosen, HeadChoice, chosen_heads
from core.analysis.heads.sentences import NOT_ADJUSTED, pole_words
from core.errors import InputError
from core.figures.theme import file_stem
from pages.shared.heads.choice import default_heads

GridMode = Literal["one", "side by side", "difference"]
Compared = tuple[AxisView, Chosen | None]
Places = npt.NDArray[np.int64]

DRAWN = 200  # concepts, and as many reference phrases
NAME_LENGTH = 26  # characters of a concept beside its mark; pointing at it shows all of it
MEANING = (
    "Colour: how far apart a head holds the two poles, over the spread of the sentences of either. "
    "Strip: every phrase's mean z over the chosen heads, standardised in each head over concepts "
    "and reference phrases together; the dashed line is the mean of all. That a head holds two "
    "poles apart does not show that the model uses the difference."
)


def head_map_data(
    view: AxisView,
    chosen: Chosen | None,
    compare: Compared | None = None,
    mode: GridMode = "one",
    *,
    choice: HeadChoice,
    model: str,
    compare_model: str = "",
    provenance: Mapping[str, object] | None = None,
    caption: str = "",
) -> dict[str, Any]:
    """The message to the browser, of values that JSON knows.

    Parameters
    ----------
    chosen
        What Python found in the heads of `choice`; None while it is not known: the browser then
        shows its preview, and says so.
    compare
        The same axis and phrases under another model; without numbers where it has no such heads.
    mode
        How two models are shown; "one" shows the first only.
    model, compare_model : str
        Names to show.
    provenance
        What the numbers were made from; it goes into saved pictures.
    caption : str
        Sentences about the heads of `choice`; a picture of other heads is saved without them.

    Raises
    ------
    InputError
        The two models do not have the same phrases, or, for a difference, not the same heads.
    ValueError
        Two models are to be shown and there is one.
    """
    if mode != "one":
        if compare is None:
            raise ValueError(f"{mode!r} needs a second model")
        _check_alike(view, compare[0], mode)
    concepts, reference = drawn_phrases(view)
    columns = np.concatenate([concepts, len(view.concepts) + reference])
    models = [_model(model, view, chosen, choice, columns)]
    if mode != "one" and compare is not None:
        models.append(_model(compare_model, *compare, choice, columns))
    poles = list(pole_words(view.axis))
    return {
        "mode": mode,
        "axis": {"id": view.axis.axis_id, "poles": poles},
        "choice": str(choice),
        "models": models,
        "concepts": [_concept(view, int(i)) for i in concepts],
        "reference": [view.reference[i] for i in reference],
        "n_concepts": len(view.concepts),
        "n_reference": len(view.reference),
        "dimension": dimension_of(view.axis) or "",
        "usual": default_heads(view.shape),
        "not_adjusted": NOT_ADJUSTED,
        "said": caption,
        "caption": MEANING,
        "provenance": {name: str(value) for name, value in (provenance or {}).items()},
        "file": file_stem(f"head-map-{'-'.join(poles)}-{model}"),
    }


def drawn_phrases(view: AxisView) -> tuple[Places, Places]:
    """Places of the concepts and reference phrases that are drawn: labelled ones come first."""
    unlabelled = np.array([label is None for label in view.labels], dtype=bool)
    concepts = np.argsort(unlabelled, kind="stable")[:DRAWN]
    return concepts, np.arange(min(len(view.reference), DRAWN))


def _check_alike(view: AxisView, other: AxisView, mode: GridMode) -> None:
    """Refuse to draw two models as one picture that do not go together."""
    if _texts(view) != _texts(other) or view.axis.axis_id != other.axis.axis_id:
        raise InputError(
            "The two models were not read for the same axis and phrases: choose sets that both "
            "have."
        )
    if mode == "difference" and view.shape != other.shape:
        raise InputError(
            f"{_grid(view)} and {_grid(other)} have no difference head by head: show the two "
            "models side by side."
        )


def _texts(view: AxisView) -> Sequence[str]:
    return [*(concept.text for concept in view.concepts), *view.reference]


def _grid(view: AxisView) -> str:
    return "{} layers of {} heads".format(*view.shape)


def _concept(view: AxisView, place: int) -> dict[str, Any]:
    words = view.concepts[place].text
    short = words if len(words) <= NAME_LENGTH else f"{words[: NAME_LENGTH - 1].rstrip()}…"
    return {"text": words, "short": short, "label": view.labels[place]}


def _model(
    name: str, view: AxisView, chosen: Chosen | None, choice: HeadChoice, columns: Places
) -> dict[str, Any]:
    """One model's arrays and numbers, of the phrases in these columns."""
    n_layers, n_heads = view.shape
    above = view.separability > view.chance_level  # False where undefined
    return {
        "name": name,
        "layers": n_layers,
        "heads": n_heads,
        "separability": packed(view.separability, "<f4"),
        "chance": _number(view.chance_level),
        "n_above": int(above.sum()),
        "order": packed(chosen_heads(view, HeadChoice()).heads, "<i4"),
        "z": packed(view.z[:, columns], "<f4"),
        "numbers": None if chosen is None else _numbers(chosen, columns),
        "reason": "" if _fits(choice, view) else _outside(choice, view),
    }


def _fits(choice: HeadChoice, view: AxisView) -> bool:
    n_layers, n_heads = view.shape
    if choice.box is None:
        return choice.k is None or choice.k <= n_layers * n_heads
    return choice.box[2] < n_layers and choice.box[3] < n_heads


def _outside(choice: HeadChoice, view: AxisView) -> str:
    what = f"{choice.k} heads are more than" if choice.box is None else "the rectangle lies outside"
    return f"{what} this model's {_grid(view)}"


def _numbers(chosen: Chosen, columns: Places) -> dict[str, Any]:
    """What Python computed, of all phrases; values of those that are drawn."""
    interval = chosen.interval[columns[columns < len(chosen.interval)]]
    scalars = {
        name: _number(getattr(chosen, name))
        for name in ("statistic", "pvalue", "centre", "accuracy", "majority")
    }
    if chosen.position_reason:
        scalars |= {"accuracy": None, "majority": None}
    return scalars | {
        "skipped": chosen.n_skipped,
        "values": packed(chosen.values[columns], "<f8"),
        "interval": packed(interval, "<f8"),
        "method": chosen.method,
        "reason": chosen.reason,
        "n_concepts": chosen.n_concepts,
        "n_reference": chosen.n_reference,
        "n_labelled": chosen.n_labelled,
        "position_reason": chosen.position_reason,
    }


def packed(array: npt.ArrayLike, dtype: str) -> str:
    """An array as base64 of its numbers, row by row."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=dtype).tobytes()).decode("ascii")


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None

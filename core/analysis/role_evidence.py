"""Where the roles of an item come from, as its layout derives them: to be read beside the texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from core.items.formats.stereoset import SENTENCE_IDS
from core.types import Item


class Rule(NamedTuple):
    """How a layout derives roles, and which of an item's metadata it did it from."""

    sentence: str
    metadata: tuple[str, ...] = ()


BEHIND = "Behind the roles"  # what pages and columns call the evidence
_DIRECTION = ("stereo_antistereo",)
_MORE = Rule("sent_more is the stereotypical sentence, in both directions", _DIRECTION)
_BBQ = Rule(
    "the stereotyped group's answer, turned over by the polarity",
    ("question_polarity", "groups", "additional_metadata"),
)
RULES: dict[str, Rule] = {
    "native": Rule("each column is named after the role it holds"),
    "crows-pairs": _MORE,
    "english-hindi": Rule("the ..._more sentences are the stereotypical ones", _DIRECTION),
    "winoqueer": Rule(
        "sent_x says it of the identity, sent_y of the counterfactual one",
        ("identity", "counterfactual", *_DIRECTION),
    ),
    "stereoset": Rule("the gold label of each sentence", ("target", SENTENCE_IDS)),
    "bbq": _BBQ,
    "mbbq": _BBQ,
    "kobbq": Rule(
        "biased_answer is the stereotype; the unknown answer is the right one of the sample's "
        "ambiguous rows, else it is known by its wording"
    ),
    "lost-in-translation": Rule("the fields of the file, corrected where a label file says so"),
}
UNKNOWN_RULE = Rule("its layout is not one that this version reads")


def rules_of(formats: str, items: Sequence[Item] = ()) -> dict[str, Rule]:
    """The rules of the layouts that a data set was read in, by their names.

    Parameters
    ----------
    items
        Of the data set: WinoQueer-v0 is of the layout winoqueer and has other columns.
    """
    without = [i for i in items if i.source == "winoqueer" and "identity" not in i.metadata]
    names = [name for name in formats.split(", ") if name]
    if "winoqueer" in names and without:
        if len(without) == len(items):
            names.remove("winoqueer")
        names.append("winoqueer-v0")
    known = RULES | {"winoqueer-v0": _MORE}
    return {name: known.get(name, UNKNOWN_RULE) for name in names}


def evidence(item: Item, formats: str) -> str:
    """What stands behind an item's roles, in one line; empty where its rule says everything.

    The order in which the source lists the answers is told too: no role comes from it.
    """
    names = dict.fromkeys(name for rule in rules_of(formats).values() for name in rule.metadata)
    labelled = item.metadata.get(SENTENCE_IDS)
    named = [n for n in names if n in item.metadata and n != SENTENCE_IDS]
    parts = [f"{n}: {_short(item.metadata[n])}" for n in named]
    if SENTENCE_IDS in names and isinstance(labelled, dict):
        labels = (f"{role.replace('_', '-')} ({name})" for role, name in labelled.items())
        parts.append(f"gold labels (sentence): {', '.join(labels)}")
    if item.answer_order:
        parts.append(f"listed in the source as {', '.join(item.answer_order)}")
    return "; ".join(parts)


def _short(value: Any) -> str:
    """A value of the metadata as text, of 200 characters at most."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:199]}…"

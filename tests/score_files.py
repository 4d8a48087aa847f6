"""Files of scores as other programs write them, of items that are invented."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.types import Item

N = 12  # items of each set


def items(condition: str = "en", **fields: Any) -> list[Item]:
    """Items with three continuations, whose StereoSet ids are told from number and role."""
    return [
        Item(
            item_id=f"i{n}",
            condition=condition,
            language=condition,
            context=f"Neighbour {n} came in ({condition}).",
            stereotype=f"She baked {n} cakes.",
            anti_stereotype=f"He baked {n} cakes.",
            unrelated=f"Gravel is {n} cents.",
            source="stereoset",
            category="gender" if n % 2 else "age",
            metadata={
                "target": f"term {n % 3}",
                "sentence_ids": {
                    role: sentence_id(n, role)
                    for role in ("stereotype", "anti_stereotype", "unrelated")
                },
            },
            **fields,
        )
        for n in range(N)
    ]


def pairs(condition: str = "en") -> list[Item]:
    """Sentence pairs; half of them against the direction."""
    return [
        Item(
            item_id=str(n),
            condition=condition,
            context="",
            stereotype=f"Old people forget {n} names  in {condition}.",
            anti_stereotype=f"Young people forget {n} names in {condition}.",
            category="age",
            metadata={"stereo_antistereo": "antistereo" if n % 2 else "stereo"},
        )
        for n in range(N)
    ]


def sentence_id(n: int, role: str) -> str:
    return f"{n:04x}{role}"


def number(n: int, role: str, condition: str = "en") -> float:
    """A log-probability of a continuation; the stereotype of every third item is the lower one."""
    base = {"stereotype": -2.0, "anti_stereotype": -2.5, "unrelated": -4.0, "unknown": -3.0}[role]
    shift = -1.0 if role == "stereotype" and (n % 3 == 0 or condition != "en") else 0.0
    return round(base + shift - n / 100, 4)


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]], delimiter: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_lines(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def sample(item: Item, numbers: Mapping[str, Any], *, named: bool = False) -> dict[str, Any]:
    """A document of a sample log: every continuation in the order of the choices."""
    requests = [[item.context, f" {text}"] for text in item.continuations().values()]
    answers = [[numbers[role], False] for role in item.continuations()]
    arguments: Any = requests
    if named:
        arguments = {
            f"gen_args_{at}": {"arg_0": context, "arg_1": text}
            for at, (context, text) in enumerate(requests)
        }
        answers = [[str(value), str(greedy)] for value, greedy in answers]
    return {
        "doc_id": 0,
        "doc": {"text": item.context},
        "target": "0",
        "arguments": arguments,
        "resps": [[answer] for answer in answers],
        "filtered_resps": answers,
        "acc": 1.0,
    }


def samples(of: Sequence[Item], *, named: bool = False) -> list[dict[str, Any]]:
    return [
        sample(
            item,
            {role: number(int(item.item_id[1:]), role) for role in item.continuations()},
            named=named,
        )
        for item in of
    ]


def results(of: Sequence[Item]) -> list[dict[str, Any]]:
    """Per-sentence results of pairs: the first column is the number of the row, from the end."""
    return [
        {
            "": len(of) - at,
            "sent_more": " ".join(item.stereotype.split()),
            "sent_less": item.anti_stereotype,
            "sent_more_score": -20.5 - at,
            "sent_less_score": -21.0 - (at if at % 4 else 0),
            "score": int(-20.5 - at > -21.0 - (at if at % 4 else 0)),
            "stereo_antistereo": item.metadata["stereo_antistereo"],
            "bias_type": item.category,
        }
        for at, item in enumerate(of)
    ]


def predictions(of: Sequence[Item]) -> list[dict[str, Any]]:
    """StereoSet predictions of an unknown scale: 2 to the log-probability."""
    return [
        {"id": name, "score": 2.0 ** number(int(item.item_id[1:]), role)}
        for item in of
        for role, name in item.metadata["sentence_ids"].items()
    ]


def lt_results(
    of: Sequence[Item], models: Sequence[str] = ("small", "large")
) -> list[dict[str, Any]]:
    """Results of "Lost in Translation" under models that differ in their unrelated numbers."""
    return [
        {
            "model": model,
            "prompt_id": f"{item.item_id}_{item.condition}",
            "language": item.condition,
            "logprob_stereotype": number(int(item.item_id[1:]), "stereotype", item.condition),
            "logprob_anti_stereotype": number(int(item.item_id[1:]), "anti_stereotype"),
            "logprob_unrelated": number(int(item.item_id[1:]), "unrelated") - at,
        }
        for at, model in enumerate(models)
        for item in of
    ]


def own_table(of: Sequence[Item]) -> list[dict[str, Any]]:
    """A table whose columns have the names of what they hold."""
    return [
        {"item_id": item.item_id, "condition": item.condition}
        | {
            role: number(int(item.item_id[1:]), role, item.condition)
            for role in item.continuations()
        }
        for item in of
    ]

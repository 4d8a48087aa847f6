"""Where the time of a run goes, by kind of work."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from torch.profiler import ProfilerActivity, profile

PRODUCTS = ("aten::mm", "aten::addmm", "aten::linear", "aten::matmul")
ATTENTION = ("attention", "aten::bmm", "aten::_softmax", "aten::baddbmm")
MOVING = ("copy_", "cat", "index", "embedding", "clone", "fill_")
GROUPS = (
    "linear layers",
    "vocabulary projection",
    "log-softmax",
    "attention",
    "copies and look-ups",
    "norms, activations, rotary",
    "Python and the rest",
)


def seconds_by_group(run: Callable[[], Any], vocabulary: int) -> dict[str, float]:
    """Run under torch's profiler; seconds of each group on the calling thread."""
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, acc_events=True) as found:
        start = time.perf_counter()
        run()
        wall = time.perf_counter() - start
    seconds = dict.fromkeys(GROUPS, 0.0)
    for event in found.key_averages(group_by_input_shape=True):
        if event.key.startswith("aten::"):
            group = group_of(event.key, event.input_shapes, vocabulary)
            seconds[group] += event.self_cpu_time_total / 1e6
    seconds["Python and the rest"] = max(0.0, wall - sum(seconds.values()))
    return seconds


def group_of(name: str, shapes: list[Any], vocabulary: int) -> str:
    """The group of one operation by its name and the shapes of its inputs."""
    sizes = [shape for shape in shapes if isinstance(shape, list | tuple)]
    over_vocabulary = any(shape and shape[-1] == vocabulary for shape in sizes)
    if name in PRODUCTS:
        held = any(vocabulary in shape for shape in sizes)
        return "vocabulary projection" if held else "linear layers"
    if over_vocabulary:
        return "log-softmax"
    if any(part in name for part in ATTENTION):
        return "attention"
    if any(name.startswith(f"aten::{part}") for part in MOVING):
        return "copies and look-ups"
    return "norms, activations, rotary"


def print_groups(seconds: dict[str, float]) -> None:
    """The table, in the order of GROUPS."""
    total = sum(seconds.values())
    print(f"{'where the time goes':28}{'seconds':>9}{'share':>8}")
    for name in GROUPS:
        print(f"{name:28}{seconds[name]:9.2f}{seconds[name] / total:8.1%}")

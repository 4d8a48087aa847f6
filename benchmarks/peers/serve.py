"""Runs in every peer's environment: answers requests of `benchmarks.peer`, one JSON line each.

A request holds pairs of [context, continuation] and a batch size; the reply holds the summed
log-likelihood of each continuation and the seconds that they took, loading left out.
"""

import json
import os
import sys
import time
from collections.abc import Callable

import torch

Score = Callable[[list[list[str]], int], list[float]]


def serve(load: Callable[[str], Score]) -> None:
    """Load from the folder on the command line, then score until standard input ends."""
    torch.set_num_threads(int(sys.argv[2]))
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no reply
    score = load(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        start = time.perf_counter()
        sums = score(request["pairs"], request["batch_size"])
        seconds = time.perf_counter() - start
        replies.write(json.dumps({"seconds": seconds, "sums": sums}) + "\n")
        replies.flush()

"""Another scorer as a process of its own, asked over pipes, so that loading is not timed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from benchmarks.environments import peer_python
from core.types import Text

SCRIPTS = Path(__file__).parent / "peers"
TRANSFORMERS = "transformers==5.24.0"
PACKAGES = {
    "lm_eval": ["lm_eval==0.4.13", TRANSFORMERS, "accelerate"],
    "minicons": ["minicons==0.3.39", TRANSFORMERS],
}


class Peer:
    """A peer that has loaded its model; use it in a `with` statement."""

    def __init__(self, name: str, folder: Path, threads: int) -> None:
        packages = PACKAGES.get(name)  # without any it runs in our own environment
        python = peer_python(name, packages) if packages else Path(sys.executable)
        script = SCRIPTS / f"with_{name}.py"
        self.name = name
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed in __exit__
        self._process = subprocess.Popen(
            [python, script, folder, str(threads)],
            env=os.environ | {"OMP_NUM_THREADS": str(threads), "HF_HUB_OFFLINE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def score(self, texts: Sequence[Text], batch_size: int = 1) -> tuple[float, list[float]]:
        """Seconds, and the summed log-likelihood of each continuation in nats."""
        pairs = [[t.context, t.continuation] for t in texts]
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.write(json.dumps({"pairs": pairs, "batch_size": batch_size}) + "\n")
            self._process.stdin.flush()
            reply = json.loads(self._process.stdout.readline())
        except (OSError, ValueError):
            self._process.wait()
            self._log.seek(0)
            sys.exit(f"{self.name} failed:\n{self._log.read()}")
        return reply["seconds"], reply["sums"]

    def __enter__(self) -> Peer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.communicate()  # closes the pipes
        self._log.close()

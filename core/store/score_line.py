"""The line that scores what is missing, as a person runs it."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

from core import settings
from core.score_request import DEMO_MODEL, ScoreRequest, known_fields, score_words
from core.store.fetch import first_row
from core.store.gate import Cache

REST = "Run `{}` to score the rest."


def score_line(cache: Cache, dataset: str, scorer_id: str = "") -> str:
    """The line that scores what is missing of a data set.

    Parameters
    ----------
    scorer_id
        Under which it is to be scored, with the settings of its latest run; empty for the demo
        model, in whose place any other can stand. Scores from elsewhere are imported again.
    """
    if found := _import_of(cache, scorer_id):
        path, model = found
        return shell_line(cache, "import-scores", path, "--dataset", dataset, "--model", model)
    request = _latest_request(cache, scorer_id) if scorer_id else None
    request = request or ScoreRequest(model=DEMO_MODEL, dataset=dataset)
    words = score_words(replace(request, dataset=dataset))
    return shell_line(cache, *(part for word in words for part in _apart(word)))


def shell_line(cache: Cache, *words: str) -> str:
    """A command of the program on this cache, which is named where it is not the usual one."""
    folder = [] if is_usual(cache) else ["--cache", str(cache.folder)]
    return shlex.join(["python", "-m", "core", *words, *folder])


def is_usual(cache: Cache) -> bool:
    """Whether commands take this cache when nothing names one.

    A line may be pasted into another shell than that of the app or of the command that said it,
    where STEREOSCOPE_CACHE is another one or none.
    """
    return cache.folder.resolve() == (settings.ROOT / "cache").resolve()


def _apart(word: str) -> list[str]:
    """An option and its value as two words, which quotes then look better on."""
    option, _, value = word.partition("=")
    return [word] if not value or value.startswith("-") else [option, value]


def _import_of(cache: Cache, scorer_id: str) -> tuple[str, str] | None:
    """File and model of a scorer whose scores are imported, else None."""
    if not scorer_id:
        return None
    with cache.reading() as con:
        return first_row(
            con,
            "SELECT path, model FROM score_import JOIN scorer USING (scorer_id) "
            "WHERE scorer_id = ? ORDER BY imported_at DESC LIMIT 1",
            [scorer_id],
        )


def _latest_request(cache: Cache, scorer_id: str) -> ScoreRequest | None:
    """What the latest run of a scorer was asked for; only its model where no run tells."""
    with cache.reading() as con:
        run = first_row(
            con,
            "SELECT spec::VARCHAR FROM run WHERE scorer_id = ? ORDER BY started_at DESC LIMIT 1",
            [scorer_id],
        )
        scorer = first_row(con, "SELECT model FROM scorer WHERE scorer_id = ?", [scorer_id])
    try:
        return ScoreRequest(**known_fields(ScoreRequest, json.loads(run[0]) if run else {}))
    except TypeError:  # no run, or one of which no request is kept
        return ScoreRequest(model=scorer[0], dataset="") if scorer else None

"""What a person is told of reading heads: before it what it would take, after it what was done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from core.axes.axis import plain_name
from core.axes.templates import N_TEMPLATES
from core.cli.next_step import say_after_reading
from core.cli.scoring import leave
from core.cli.terminal import SHOWN_PROBLEMS, out, print_json, say
from core.heads_request import HeadsRequest
from core.store.gate import Cache
from core.words import duration_words, precision_words, size_words

if TYPE_CHECKING:
    from core.jobs.heads import HeadsResult
    from core.jobs.heads_estimate import HeadsEstimate
    from core.store.unread import Unread


def say_heads_estimate(store: Cache, request: HeadsRequest, *, as_json: bool) -> None:
    """Print what reading would take: sentences, bytes and seconds, and whether it fits."""
    from core.jobs.heads_estimate import estimate_heads  # torch takes seconds

    found = estimate_heads(store, request)
    if as_json:
        reader = asdict(found.reader) | {"reader_id": found.reader.reader_id}
        print_json(asdict(found) | {"reader": reader, "fits": found.fits})
        return
    for line in _lines(found):
        say(line, to=out)


def _lines(found: HeadsEstimate) -> list[str]:
    reader = found.reader
    time = found.speed_from
    if not found.sentences:
        time = "nothing is missing"
    elif found.seconds is not None:
        time = f"about {duration_words(found.seconds)}, at the speed of run {found.speed_from}"
    return [
        f"{reader.model} in {precision_words(reader.dtype, reader.quantization)} on "
        f"{reader.device} (reader {reader.reader_id}): {reader.n_layers} layers of "
        f"{reader.n_heads} heads, {reader.head_dim} numbers each",
        f"Missing: {found.missing_axes} axes of {found.axes} and {found.missing_concepts} phrases, "
        f"{found.sentences} sentences",
        f"Disk: {size_words(found.disk_bytes)} for the arrays, "
        f"{size_words(found.disk_free_bytes)} free: {'fits' if found.fits else 'does not fit'}",
        f"Time: {time}",
    ]


def say_heads(store: Cache, request: HeadsRequest, result: HeadsResult, *, as_json: bool) -> None:
    """Print what was done, and leave with the exit code that it means."""
    if as_json:
        print_json(asdict(result))
    else:
        print_heads(result)
        if result.stopped:
            say("Next: the same command goes on from here.")
        else:
            say_after_reading(store, request, result.reader_id)
    leave(stopped=result.stopped, n_failures=len(result.failures))


def print_heads(result: HeadsResult) -> None:
    """What was read, and what could not be."""
    state = "stopped" if result.stopped else "done"
    say(
        f"{result.model} on {result.axes} ({', '.join(result.families)}): {state}; read "
        f"{result.sentences} sentences for {result.missing_axes} missing axes and "
        f"{result.missing_concepts} phrases in {result.seconds:.1f} s "
        f"(reader {result.reader_id})."
    )
    for note in result.notes:
        say(f"Slower path: {note}")
    lengths = (f"{name} {mean:.1f}" for name, mean in result.prompt_tokens.items())
    say(f"Tokens that the model reads for a phrase, on average: {', '.join(lengths)}.")
    if result.left_missing:
        named = ", ".join(map(plain_name, result.left_missing[:SHOWN_PROBLEMS]))
        more = len(result.left_missing) - SHOWN_PROBLEMS
        say(
            f"Memory ran out, so these stay missing: {named}"
            f"{f' and {more} more' if more > 0 else ''}; free memory, then run the same command "
            "again."
        )
    _print_unread(result.failures)


def _print_unread(failures: Sequence[Unread]) -> None:
    """The first of what could not be read; sentences of a pole with one reason stand together."""
    groups: dict[tuple[str, str, str], list[Unread]] = {}
    for failure in failures:
        groups.setdefault((failure.family, failure.of, failure.reason), []).append(failure)
    for (family, of, _), group in list(groups.items())[:SHOWN_PROBLEMS]:
        templates = ", ".join(str(each.template) for each in group)
        which = f" ({family}, {len(group)} of {N_TEMPLATES} sentences: {templates})"
        say(f"Not read: {plain_name(of)}{which if family else ''}: {group[0].detail}")
    if len(groups) > SHOWN_PROBLEMS:
        say(f"  showing {SHOWN_PROBLEMS} of {len(groups)}; --json gives all of them")

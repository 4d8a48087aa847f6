"""What is kept with a stored data set of how it was read: a sentence that can be read back."""

from __future__ import annotations

import re
from collections import Counter

from core.items.formats import questions
from core.items.report import ImportReport
from core.words import counted

NO_CONDITION = "no condition"  # of a row that failed before its condition was known
WITH_ERRORS = "left out"
DISAMBIGUATED = "left out because the context tells the answer"
_LEFT_OUT = re.compile(rf"(?:{WITH_ERRORS}|{DISAMBIGUATED}): [\d,]+ rows? \((?P<counts>[^()]*)\)")
_GUESSED = re.compile(r"(?P<what>Bytes that are not UTF-8 were read as [^,;]+)")
_COUNT = re.compile(r"(?P<condition>[^,]+?) (?P<n>\d+)(?:, |$)")


def import_note(report: ImportReport) -> str:
    """How a data set was chosen from its file: the sample, and the rows left out by condition.

    A guessed encoding is told too: another one would have given other texts.
    """
    parts = [report.note] if report.note else []
    for why, left_out in (
        (DISAMBIGUATED, disambiguated_rows(report)),
        (WITH_ERRORS, left_out_rows(report)),
    ):
        if n := left_out.total():
            counts = ", ".join(f"{condition} {count}" for condition, count in left_out.items())
            parts.append(f"{why}: {counted(n, 'row')} ({counts})")
    return "; ".join([*parts, *_guessed(report)])


def left_out_rows(report: ImportReport) -> Counter[str]:
    """How many rows of each condition a lenient reading has left out."""
    rows = {(p.file, p.row): p.condition or NO_CONDITION for p in report.left_out}
    return Counter(rows.values())


def disambiguated_rows(report: ImportReport) -> Counter[str]:
    """How many rows of each condition were left out because their context tells the answer."""
    rows: Counter[str] = Counter()
    for note in report.notes:
        if note.kind == questions.DISAMBIGUATED:
            rows[note.condition or NO_CONDITION] += note.n or 0
    return rows


def left_out_of_note(note: str) -> dict[str, int]:
    """The counts in what `import_note` wrote, whatever the reason; none if no row was left out."""
    rows: Counter[str] = Counter()
    for found in _LEFT_OUT.finditer(note):
        for count in _COUNT.finditer(found["counts"]):
            rows[count["condition"]] += int(count["n"])
    return dict(rows)


def _guessed(report: ImportReport) -> list[str]:
    """Which encodings were guessed, once for files that are alike."""
    notes = [n for n in report.notes if n.kind == "encoding_guessed"]
    found = [_GUESSED.match(note.message) for note in notes]
    return list(dict.fromkeys(f"{match['what']} (a guess)" for match in found if match))

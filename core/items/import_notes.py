"""What is kept with a stored data set of how it was read: a sentence that can be read back."""

from __future__ import annotations

import re
from collections import Counter

from core.items.report import ImportReport
from core.words import counted

NO_CONDITION = "no condition"  # of a row that failed before its condition was known
_LEFT_OUT = re.compile(r"left out: [\d,]+ rows? \((?P<counts>[^()]*)\)")
_COUNT = re.compile(r"(?P<condition>[^,]+?) (?P<n>\d+)(?:, |$)")


def import_note(report: ImportReport) -> str:
    """How a data set was chosen from its file: the sample, and the rows left out by condition."""
    left_out = left_out_rows(report)
    parts = [report.note] if report.note else []
    if n := left_out.total():
        counts = ", ".join(f"{condition} {count}" for condition, count in left_out.items())
        parts.append(f"left out: {counted(n, 'row')} ({counts})")
    return "; ".join(parts)


def left_out_rows(report: ImportReport) -> Counter[str]:
    """How many rows of each condition a lenient reading has left out."""
    rows = {(p.file, p.row): p.condition or NO_CONDITION for p in report.left_out}
    return Counter(rows.values())


def left_out_of_note(note: str) -> dict[str, int]:
    """The counts in what `import_note` wrote; none where no row was left out."""
    found = _LEFT_OUT.search(note)
    counts = _COUNT.finditer(found["counts"]) if found else ()
    return {count["condition"]: int(count["n"]) for count in counts}

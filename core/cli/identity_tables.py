"""The tables of identity pairs on a terminal: of each the columns that fit 80 characters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import pandas as pd

from core.analysis.audit.request import AuditTable
from core.analysis.identities.confounds import CONFOUNDS
from core.analysis.identities.overview import HIGHEST, LOWEST
from core.analysis.identities.tables import LANGUAGES
from core.cli.terminal import out, print_table, say

SHOWN_ROWS = 40
SHOWN_MODELS = 3  # across
IN_FULL = "--json and --out have all columns and rows."

Cells = Callable[[pd.DataFrame], Sequence[str]]

_MARKS = {HIGHEST: "+", LOWEST: "-"}
_HEADS = ("dataset", "pairs", "condition", "other_dataset", "other")  # in titles
_LEGEND = (
    "Bias (W): share of pairs whose stereotypical sentence is preferred, 50 % is neutral;\n"
    "bias (M): mean of the identities' shares. In brackets 95 % intervals over predicates.\n"
    "Floor: points by which the same claims in another template move bias (W); in\n"
    "parentheses the templates."
)


def print_overview(found: Mapping[str, AuditTable]) -> None:
    """What a terminal shows unasked: models, languages, identities by model, then the verdicts.

    Parameters
    ----------
    found
        `overview`, `identities` and, of several languages, `languages`.
    """
    overview, identities = found["overview"], found["identities"]
    for title, rows in _parts(overview.rows):
        print_table(_laid_out("overview", rows), title)
    say(_LEGEND, to=out)
    if LANGUAGES in found:
        _print_parts(LANGUAGES, found[LANGUAGES].rows)
        say("Difference: share here less there, in points, with its 95 % interval.", to=out)
    for title, rows in _parts(identities.rows):
        models = list(dict.fromkeys(rows["model"]))
        if len(models) == 1:
            _print_part("identities", title, rows)
            continue
        say(title, style="bold", to=out)
        for first in range(0, len(models), SHOWN_MODELS):
            print_table(_wide(rows, models[first : first + SHOWN_MODELS]))
    say("Share of each identity in %, n pairs; + highest, - lowest of a model.", to=out)
    _print_verdicts(overview.rows)
    for note in dict.fromkeys(note for table in found.values() for note in table.notes):
        say(f"Note: {note}", to=out)


def print_named(name: str, found: AuditTable) -> None:
    """The first rows of one table, and its notes; of confounds only those that hold any."""
    say(name, style="bold", to=out)
    rows = found.rows
    if name == CONFOUNDS:
        rows = rows[rows["n_confounded"] > 0]
    shown = rows.head(SHOWN_ROWS)
    _print_parts(name, shown)
    if "verdict" in shown:
        _print_verdicts(shown)
    more = (
        f"Showing {len(shown)} of {len(found.rows):,} rows; "
        if len(shown) < len(found.rows)
        else ""
    )
    say(f"{more}{IN_FULL}", to=out)
    for note in found.notes:
        say(f"Note: {note}", to=out)


def _print_verdicts(rows: pd.DataFrame) -> None:
    """A sentence for each model; of several parts under the title of each."""
    parts = list(_parts(rows))
    for title, part in parts:
        if len(parts) > 1:
            say(title, style="bold", to=out)
        for verdict in part["verdict"]:
            say(verdict, to=out)


def _print_parts(name: str, rows: pd.DataFrame) -> None:
    for title, part in _parts(rows):
        _print_part(name, title, part)


def _print_part(name: str, title: str, rows: pd.DataFrame) -> None:
    """Rows as a table, whose reasons stand below it by number: in a column none would fit."""
    shown = _laid_out(name, rows)
    if "Model" in shown and name != "overview" and shown["Model"].nunique() == 1:
        title = ", ".join(filter(None, (title, f"model: {shown.pop('Model').iloc[0]}")))
    reasons = [reason for reason in dict.fromkeys(rows["reason"]) if reason]
    numbers = {reason: str(number) for number, reason in enumerate(reasons, start=1)}
    if reasons:
        shown["Why"] = [numbers.get(reason, "") for reason in rows["reason"]]
    print_table(shown, title)
    for reason, number in numbers.items():
        say(f"  {number}: {reason}", to=out)


def _parts(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows by data set, condition and whether confounded pairs are in; a title for each."""
    by = [name for name in _HEADS if name in rows]
    for values, part in rows.groupby(by, sort=False):
        yield _title(dict(zip(by, map(str, values), strict=True))), part


def _title(heads: dict[str, str]) -> str:
    shown = {name.replace("_", " "): value for name, value in heads.items()}
    if "other" not in shown:
        return ", ".join(f"{name}: {value}" for name, value in shown.items())
    here, there = ("dataset", "condition"), ("other dataset", "other")
    less = " less ".join(" ".join(shown.pop(name) for name in of) for of in (here, there))
    return ", ".join([*(f"{name}: {value}" for name, value in shown.items()), less])


def _laid_out(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of a table that fit a terminal, as texts."""
    layout = _PART if "part" in rows else _LAYOUTS[name]
    return pd.DataFrame({title: list(cells(rows)) for title, cells in layout.items()})


def _wide(rows: pd.DataFrame, models: list[str]) -> pd.DataFrame:
    """Identities down, these models across."""
    cells = rows.assign(
        cell=[
            f"{100 * share:.1f}{_MARKS.get(mark, '')} ({n:,})" if n else "undefined (0)"
            for share, mark, n in zip(rows["share"], rows["mark"], rows["n"], strict=True)
        ]
    )
    wide = cells.pivot(index="identity", columns="model", values="cell")
    wide = wide.reindex(index=pd.unique(rows["identity"]), columns=models)
    return wide.reset_index(names="Identity")


def _text(name: str) -> Cells:
    return lambda rows: [str(value) for value in rows[name]]


def _count(name: str) -> Cells:
    def cells(rows: pd.DataFrame) -> list[str]:
        texts = [f"{n:,}" for n in rows[name]]
        return [text.rjust(max(map(len, texts))) for text in texts]

    return cells


def _number(name: str, form: str, times: float = 1.0) -> Cells:
    """A number with its interval."""

    def cells(rows: pd.DataFrame) -> list[str]:
        columns = (times * rows[f"{name}{end}"] for end in ("", "_low", "_high"))
        return [
            _formed(value, form) + ("" if math.isnan(value) else _between(low, high, form))
            for value, low, high in zip(*columns, strict=True)
        ]

    return cells


def _formed(value: float, form: str) -> str:
    text = "undefined" if math.isnan(value) else f"{value:{form}}"
    return text.replace("-", "\u2212")


def _between(low: float, high: float, form: str) -> str:
    if math.isnan(low) or math.isnan(high):
        return " (no interval)"
    return f" [{_formed(low, form)},{_formed(high, form)}]"


def _percent(name: str) -> Cells:
    return _number(name, ".1f", 100)


def _value(name: str, form: str, times: float = 1.0) -> Cells:
    """A number without its interval."""
    return lambda rows: [_formed(times * value, form) for value in rows[name]]


def _points(name: str) -> Cells:
    """A share, or difference of shares, without its interval."""
    return _value(name, ".1f", 100)


def _floor(rows: pd.DataFrame) -> list[str]:
    floors = zip(_points("template_floor")(rows), rows["n_templates"], strict=True)
    return [f"{floor} ({n})" for floor, n in floors]


def _mark(rows: pd.DataFrame) -> list[str]:
    return [_MARKS.get(mark, "") for mark in rows["mark"]]


def _both_n(rows: pd.DataFrame) -> list[str]:
    return [f"{n:,} / {other:,}" for n, other in zip(rows["n"], rows["n_other"], strict=True)]


def _flips(rows: pd.DataFrame) -> list[str]:
    flips = zip(_points("share_flips")(rows), rows["n_both"], strict=True)
    return [f"{share} ({n:,})" for share, n in flips]


_BIAS: dict[str, Cells] = {"Bias (W), %": _percent("bias_w"), "Bias (M), %": _percent("bias_m")}
_PART: dict[str, Cells] = {
    "Part": _text("part"),
    "Model": _text("model"),
    **_BIAS,
    "n": _count("n"),
}
_LAYOUTS: dict[str, dict[str, Cells]] = {
    "overview": {
        "Model": _text("model"),
        "Kind": _text("kind"),
        **_BIAS,
        "Spread": _points("spread"),
        "Floor": _floor,
        "n": _count("n"),
    },
    "identities": {
        "Identity": _text("identity"),
        "Model": _text("model"),
        "Share, %": _percent("share"),
        "": _mark,
        "n": _count("n"),
        "Predicates": _count("n_predicates"),
    },
    "rules": {
        "Model": _text("model"),
        "(W), %": _points("bias_w"),
        "(W) publ.": _points("bias_w_published"),
        "(M), %": _points("bias_m"),
        "(M) publ.": _points("bias_m_published"),
        "Flips, % (n)": _flips,
        "n": _count("n"),
    },
    "kinds": {
        "Kind": _text("kind"),
        "Models": _count("n_models"),
        "Bias (W), %": _points("bias_w"),
        "Bias (M), %": _points("bias_m"),
        "Spread": _points("spread"),
        "n": _count("n"),
    },
    LANGUAGES: {
        "Model": _text("model"),
        "Of": _text("measure"),
        "Here, %": _points("share"),
        "There, %": _points("share_other"),
        "Difference": _number("difference", "+.1f", 100),
        "n": _both_n,
    },
    "harmfulness": {
        "Model": _text("model"),
        "r by row": _value("r_rows", "+.2f"),
        "n": _count("n"),
        "Pearson": _number("pearson", "+.2f"),
        "p": _value("pearson_p", ".3f"),
        "Spearman": _value("spearman", "+.2f"),
        "Predicates": _count("n_predicates"),
    },
    "predicates": {
        "Predicate": _text("predicate"),
        "Model": _text("model"),
        "Harmfulness": _value("harmfulness", ".2f"),
        "Difference": _value("mean_difference", "+.2f"),
        "n": _count("n"),
    },
    "counts": {
        "Identity": _text("identity"),
        "Pairs": _count("n"),
        "Predicates": _count("n_predicates"),
        "Templates": _count("n_templates"),
        "Names": _count("n_names"),
        "Rated": _count("n_rated"),
    },
    CONFOUNDS: {
        "Identity": _text("identity"),
        "Against": _text("counterfactual"),
        "Template": _text("template"),
        "Confounded": _count("n_confounded"),
        "of n": _count("n"),
        "In the words": _text("words"),
    },
}

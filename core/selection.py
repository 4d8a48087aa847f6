"""What is being looked at: one definition for pages, links, the command line and exports.

A Selection is the whole state of a page that another person would need to see the same. It is
written into the address with every default, under a version number, and read back from there with
a sentence for everything that cannot be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from core.axes.templates import FAMILIES, N_TEMPLATES
from core.items.alignment import UNITS
from core.settings import DEFAULT_SEED
from core.stats.probes.flags import Flag
from core.stats.probes.rejection import Stability
from core.stats.scores import KINDS
from core.types import POOLINGS

VERSION = "1"
LONGEST_QUERY = 16_384  # characters; browsers and servers cut longer addresses

SORTS = {
    "order": "order of the data set",
    "abs_change": "size of the change",
    "change": "change",
    "ss": "SS",
    "fluency": "fluency",
    "abs_difference": "size of the difference",
    "difference": "difference of the two sentences",
    "item_id": "item",
    "condition": "condition",
    "category": "category",
    "source": "source",
}

TEMPLATES = (N_TEMPLATES, N_TEMPLATES // 2)  # sentences of a pole
GRIDS = ("one", "side by side", "difference")  # how the heads of two models are shown
NO_REFERENCE = "(none)"  # no set of phrases has this name; nothing chosen is an empty text
AXIS_SORTS = {
    "statistic": "KS D, the largest first",
    "statistic_other": "KS D against the second set, the largest first",
    "difference": "distance from the phrases' mean, the largest first",
    "separability": "separability R, the largest first",
    "axis": "words of the poles",
}
AXIS_FLAGS = tuple(str(flag) for flag in Flag)
AXIS_READS = tuple(str(stability) for stability in Stability)
ATLAS_OF = ("axes", "concepts")
ATLAS_BY = ("pca", "umap")
ATLAS_COLOURS = ("statistic", "flagged", "dimension", "difference")

IDENTITY_VIEWS = ("intervals", "parts", "harmfulness", "languages", "rules", "confounds", "pairs")
IDENTITY_PARTS = ("counterfactuals", "templates", "tiers", "names")

# Smallest and largest value of a number; of the others -1 and 1.
# Nothing lies within a margin of 0, so that it cannot be tested against.
BOUNDS = {"margin": (0.001, 1.0), "delta": (-5.0, 5.0), "share": (0.0, 1.0)}

# The values of a text, or of several, that have only some.
CHOICES: Mapping[str, Sequence[str]] = {
    "sort": tuple(SORTS),
    "unit": UNITS,
    "kind": KINDS,
    "family": FAMILIES,
    "pooling": POOLINGS,
    "grid": GRIDS,
    "axis_flags": AXIS_FLAGS,
    "axis_reads": AXIS_READS,
    "axis_sort": tuple(AXIS_SORTS),
    "atlas_of": ATLAS_OF,
    "atlas_by": ATLAS_BY,
    "atlas_colour": ATLAS_COLOURS,
    "identity_view": IDENTITY_VIEWS,
    "identity_part": IDENTITY_PARTS,
}

Query = dict[str, list[str]]


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which scores, which rows of them, in which order, and which one is open.

    An empty tuple or text and None mean "no restriction".
    """

    dataset: str = ""
    scorer: str = ""
    compare: str = ""  # a second scorer, shown beside the first
    slice: str = ""  # a named slice of the cache
    conditions: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    dimensions: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    preferences: tuple[str, ...] = ()  # of a pair: more, less, tie, uninformative
    ss_min: float | None = None
    ss_max: float | None = None
    change_min: float | None = None
    change_max: float | None = None
    text: str = ""  # in any text of the row
    regex: bool = False  # whether `text` is a regular expression
    models: tuple[str, ...] = ()  # ids of the scorers of an audit
    kind: str = "mean"  # of score, in an audit
    margin: float = 0.02  # of equivalence, in the unit of the score
    seed: int = DEFAULT_SEED  # of whatever is drawn
    against: str = ""  # the condition that English is held against
    points: str = ""  # one for each score; "mean": for each item; an id: those of this scorer
    quality: str = ""  # what a translation must keep to count
    shifted: str = ""  # the pair of model and rewording that gets a shift, as "id|condition"
    delta: float = 0.0  # ... on its log-odds, nats
    share: float = 1.0  # ... of its items
    subgroup: str = ""  # ... of this category alone
    errors: tuple[str, ...] = ()  # known errors of scoring pipelines that are switched on
    split: str = "source"  # what the item tests of an audit are shown by
    cells: str = "change"  # what is shown of each model and language: change or score
    reference: str = "en"  # the language that consistency is measured from
    unit: str = "word"  # what the sentences of a pair must share: word or token
    reader: str = ""  # whose heads: a model under the conditions in which they were read
    reader_compare: str = ""  # a second one, shown beside the first
    axes: str = ""  # a set of axes
    axis: str = ""  # the open one
    concepts: str = ""  # a set of concepts
    reference_set: str = ""  # what they are held against: a set of phrases, or NO_REFERENCE
    family: str = FAMILIES[0]  # of templates
    pooling: str = POOLINGS[0]
    templates: int = N_TEMPLATES
    heads: str = ""  # which are averaged: k128, all, head:l,h, rect:l0,h0,l1,h1; "" is the default
    grid: str = GRIDS[0]
    axis_words: str = ""  # in the words of a pole
    axis_dimensions: tuple[str, ...] = ()
    axis_flags: tuple[str, ...] = ()  # what the tests of an axis say: lies elsewhere, flagged, ...
    axis_reads: tuple[str, ...] = ()  # how steadily they do: well-powered, marginal, ...
    length_free: bool = False  # only axes whose values are not shown to follow phrases' length
    axis_sort: str = "statistic"
    beyond: bool = False  # only flagged axes that no dictionary of stereotypes has
    atlas_of: str = ATLAS_OF[0]  # what is a point
    atlas_by: str = ATLAS_BY[0]  # how points are placed
    atlas_colour: str = ATLAS_COLOURS[0]
    identity: str = ""  # of the pairs looked at
    predicate: str = ""  # ... by the name that its forms share
    counterfactual: str = ""  # identity that it is held against
    pair_template: str = ""
    identity_view: str = IDENTITY_VIEWS[0]  # what is shown of identity pairs
    identity_part: str = IDENTITY_PARTS[0]  # ... and which parts of them
    without_confounded: bool = False  # without pairs that differ in more than the identity
    only_confounded: bool = False  # single pairs: those alone
    other_set: str = ""  # identity pairs of another language, held against those of `dataset`
    sort: str = "order"
    descending: bool = False
    page: int = 0
    item: str = ""  # the open item
    condition: str = ""  # ... in this condition
    content: str = ""  # content number of (scorer, dataset) when the link was made


# What narrows the rows, in the order in which the filter bar shows it.
FILTERS = (
    *("slice", "conditions", "sources", "categories", "dimensions", "states", "flags"),
    *("preferences", "ss_min", "ss_max", "change_min", "change_max", "text"),
)


def to_query(selection: Selection) -> Query:
    """Every field of a selection, defaults included, as the parameters of an address."""
    query: Query = {"v": [VERSION]}
    for field in fields(selection):
        value = getattr(selection, field.name)
        if isinstance(value, tuple):
            query[field.name] = list(value) or [""]
        elif isinstance(value, bool):
            query[field.name] = [str(int(value))]
        else:
            query[field.name] = ["" if value is None else str(value)]
    return query


def from_query(query: Mapping[str, Sequence[str]]) -> tuple[Selection, list[str]]:
    """Read a selection from the parameters of an address.

    Returns
    -------
    Selection and list of str
        What could be read, and a sentence for everything that could not: it has its default.
    """
    if not query:
        return Selection(), []
    size = sum(len(key) + sum(map(len, values)) for key, values in query.items())
    if size > LONGEST_QUERY:
        return Selection(), [
            f"The link holds {size} characters of state, more than the {LONGEST_QUERY} that a link "
            "can carry; nothing of it was used. Save the filter as a slice and link to that."
        ]
    problems = []
    version = _last(query.get("v", [VERSION]))
    if version != VERSION:
        problems.append(
            f"The link is of version {version!r}, this program reads version {VERSION}; what it "
            "knows was used."
        )
    selection = Selection()
    for field in fields(selection):
        if field.name in query:
            try:
                value = _parsed(field.name, query[field.name])
            except ValueError as error:
                problems.append(f"{field.name} in the link {error}; it was left out.")
            else:
                selection = with_field(selection, field.name, value)
    unknown = sorted(set(query) - {field.name for field in fields(selection)} - {"v"})
    if unknown:
        problems.append(f"The link holds {', '.join(unknown)[:200]}, which nothing here is called.")
    return selection, problems


def parse_link(text: str) -> tuple[Selection, list[str]]:
    """Read a selection from a whole address or from its query alone.

    Returns
    -------
    Selection and list of str
        As for `from_query`; a text that says nothing about any field is a problem too.
    """
    query = parse_qs(urlsplit(text).query if "?" in text else text, keep_blank_values=True)
    if not {field.name for field in fields(Selection)} & set(query):
        return Selection(), [
            f"{text[:200]!r} is no link of the app: it says nothing about data set, scorer or "
            "rows; copy one from *Link* on a page."
        ]
    return from_query(query)


def link_query(selection: Selection) -> str:
    """The query of an address that shows this selection."""
    return urlencode(to_query(selection), doseq=True)


def with_field(selection: Selection, name: str, value: Any) -> Selection:
    """The selection with one field, named by a text, changed."""
    return replace(selection, **{name: value})


def without(selection: Selection, name: str) -> Selection:
    """The selection with one filter taken off."""
    cleared = with_field(selection, name, getattr(Selection(), name))
    return replace(cleared, regex=False) if name == "text" else cleared


def without_filters(selection: Selection) -> Selection:
    """The selection with every filter taken off."""
    for name in FILTERS:
        selection = without(selection, name)
    return selection


def only_filters(selection: Selection) -> Selection:
    """The selection without anything but what narrows the rows, and the rule of pairs."""
    kept = {name: getattr(selection, name) for name in (*FILTERS, "regex", "unit")}
    return Selection(**kept)


def active_filters(selection: Selection) -> list[str]:
    """Names of the filters that are set."""
    return [n for n in FILTERS if getattr(selection, n) != getattr(Selection(), n)]


def _parsed(name: str, values: Sequence[str]) -> Any:
    """One field from its texts; ValueError says what is wrong with it."""
    default = getattr(Selection(), name)
    if isinstance(default, tuple):
        named = tuple(dict.fromkeys(v for v in values if v))
        _check_known(name, named)
        return named
    value = _last(values)
    if isinstance(default, bool):
        if value not in ("0", "1"):
            raise ValueError(f"is {value[:40]!r}, not 0 or 1")
        return value == "1"
    if isinstance(default, int):
        if not value.isdecimal() or len(value) > 9:
            raise ValueError(f"is {value[:40]!r}, not a whole number")
        if name == "templates" and int(value) not in TEMPLATES:
            raise ValueError(f"is {value}, not one of {', '.join(map(str, TEMPLATES))}")
        return int(value)
    if default is None or isinstance(default, float):
        return _number(value, *BOUNDS.get(name, (-1, 1)), default)
    _check_known(name, [value])
    return value


def _check_known(name: str, values: Sequence[str]) -> None:
    """Refuse what a field that has only some values does not have."""
    known = CHOICES.get(name)
    for value in values:
        if known and value not in known:
            raise ValueError(f"is {value[:40]!r}, not one of {', '.join(known)}")


def _number(value: str, low: float, high: float, default: float | None) -> float | None:
    if not value:
        return default
    try:
        number = float(value)
    except ValueError:
        raise ValueError(f"is {value[:40]!r}, not a number") from None
    if not low <= number <= high:
        raise ValueError(f"is {value[:40]!r}, not between {low:g} and {high:g}")
    return number


def _last(values: Sequence[str]) -> str:
    return values[-1] if values else ""

"""Sentence pairs of WinoQueer (Felkner et al. 2023), WinoQueer-NL, and WinoQueer-v0.

    sent_x, sent_y, Gender_ID_x, Gender_ID_y, nl_predicate_altered

`sent_x` says something stereotypical about the identity `Gender_ID_x`, `sent_y` the same about the
counterfactual one, `Gender_ID_y`. A row becomes an item without a context whose category is the
label in `Gender_ID_x` and whose metadata are:

    identity         English name of the identity (core/items/identities.py), for tables
    counterfactual   English name of the counterfactual identity
    predicate        as the pair has it: `nl_predicate_altered`, else a column `predicate`
    predicate_en     a column `predicate` beside the Dutch one
    template, name   where the file has such columns; any other column besides

so that an analysis can group by identity, counterfactual, predicate, template and name. Pairs with
`nl_predicate_altered` are Dutch. A row with the two identities the other way round is refused: its
stereotype would be the sentence about the advantaged group.

WinoQueer-v0 has the columns of CrowS-Pairs with `stereo_antistero` misspelt, and no identities; its
pairs stand there up to four times under different ids and types, which is reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.files.places import listed
from core.files.tables import Table
from core.items.file_language import language_of_table
from core.items.formats.crows_pairs import looks_like_pairs, read_pairs
from core.items.identities import COUNTERFACTUALS, IDENTITIES, identity_named
from core.items.layout import Layout, ReadOptions
from core.items.pairs import (
    MISSPELT,
    PairReader,
    id_column,
    leading_space_note,
    pair_id,
    row_number_note,
)
from core.items.rows import Row, column_errors
from core.types import Item, Problem, Severity

SOURCE = "winoqueer"
SENTENCES = ("sent_x", "sent_y")
LABELS = ("Gender_ID_x", "Gender_ID_y")
DUTCH = "nl_predicate_altered"
PREDICATE = "predicate"
SURVEY = ("gender_ID", "harmfulness_mean")  # columns of the predicates' file


def looks_like_winoqueer(table: Table) -> bool:
    """Whether a table's header is that of WinoQueer, in one of its versions."""
    columns = set(table.columns)
    return (
        set(SENTENCES) <= columns
        or set(SURVEY) <= columns
        or (looks_like_pairs(table) and MISSPELT in columns)
    )


def read_winoqueer(table: Table, options: ReadOptions) -> tuple[list[Row], list[Problem]]:
    """Turn a table of WinoQueer's pairs into items; every problem of every row is reported."""
    if looks_like_pairs(table):
        return read_pairs(table, options, SOURCE)
    problems = list(_column_problems(table))
    if any(problem.severity is Severity.ERROR for problem in problems):
        return [], problems
    evident = "nl" if DUTCH in table.columns else None
    condition, notes = language_of_table(table.place, options, evident)
    problems += notes
    ids = id_column(table)
    problems += row_number_note(table.place, ids)
    rows, spaced = [], []
    for number, record in enumerate(table.records):
        reader = _RowReader(record, pair_id(record, number, ids), condition)
        rows.append(Row(reader.place, reader.item(ids)))
        spaced += [record.place.row] * reader.has_leading_space
        problems += reader.problems
    problems += leading_space_note(table.place, spaced)
    problems += _unknown_identities(table, rows)
    return rows, problems


def _column_problems(table: Table) -> Iterator[Problem]:
    if set(SURVEY) <= set(table.columns):
        message = (
            "The file holds what a survey says about predicates, it is not a data set; import the "
            "file of sentence pairs, or make pairs of it: put it as predicates.csv into a folder "
            "with templates and identities and run `python -m core build-pairs FOLDER` "
            "(docs/identity-pairs.md)."
        )
        yield table.place.error("wrong_columns", message)
    else:
        yield from column_errors(table, (*SENTENCES, *LABELS))


class _RowReader(PairReader):
    """Reads one row of this layout."""

    def item(self, id_column: str | None) -> Item | None:
        more, less = (self.sentence(column) for column in SENTENCES)
        label, other = (self._identity(column) for column in LABELS)
        identity, counterfactual = identity_named(label), identity_named(other)
        self._check_roles(identity, counterfactual)
        metadata = {"identity": identity, "counterfactual": counterfactual}
        rest = self.metadata({*SENTENCES, *LABELS, id_column, DUTCH, PREDICATE})
        metadata |= self._predicates() | rest
        return self.pair(more, less, source=SOURCE, category=label, metadata=metadata)

    def _identity(self, column: str) -> str:
        label = self.label(column)
        if not label:
            self.error("missing_identity", f"The row has no identity in {column}.")
        return label

    def _check_roles(self, identity: str, counterfactual: str) -> None:
        turned = identity in COUNTERFACTUALS or counterfactual in IDENTITIES
        if turned or (identity and identity == counterfactual):
            message = (
                f"The row holds {identity} against {counterfactual}: {LABELS[0]} has to be the"
                " identity that the stereotype is about, and the other its counterfactual."
            )
            self.error("identity_roles", message)

    def _predicates(self) -> dict[str, str]:
        """The predicate in the pair's language, and its English one beside a Dutch one."""
        dutch, english = self.label(DUTCH), self.label(PREDICATE)
        found = {PREDICATE: dutch or english, "predicate_en": english if dutch else ""}
        return {name: text for name, text in found.items() if text}


def _unknown_identities(table: Table, rows: list[Row]) -> Iterator[Problem]:
    labels = {
        str(row.item.metadata[name]): None
        for row in rows
        if row.item is not None
        for name in ("identity", "counterfactual")
    }
    unknown = [label for label in labels if label not in (*IDENTITIES, *COUNTERFACTUALS)]
    if unknown:
        message = "Identities that are not among WinoQueer's, kept as they stand: "
        yield table.place.note("unknown_identity", f"{message}{listed(unknown)}.")


LAYOUT = Layout(
    "winoqueer", "WinoQueer", looks_like_winoqueer, read_winoqueer, frozenset({"language"})
)

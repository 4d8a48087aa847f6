"""The planned pairs as items, each proved to differ in the identity only."""

from __future__ import annotations

from collections.abc import Iterator

from core.errors import InputError
from core.items.pair_builder.folder import Folder
from core.items.pair_builder.names import Name
from core.items.pair_builder.plan import Cell, Plan
from core.items.pair_builder.proof import differ_only_in
from core.items.pair_builder.slots import filled
from core.types import Item

SOURCE = "pair_builder"


def build(folder: Folder, planned: Plan) -> list[Item]:
    """The pairs as items without a context, as those of WinoQueer are read.

    Raises
    ------
    InputError
        Nothing is planned, or two sentences differ in more than the identity.
    """
    if not planned.n_pairs:
        raise InputError(
            "No pair can be built: no predicate has a form that a template takes, for an identity "
            "that counterfactuals.csv holds against another."
        )
    return [item for cell in planned.cells for item in _items(folder, cell)]


def _items(folder: Folder, cell: Cell) -> Iterator[Item]:
    template, pair = cell.template, cell.opposed
    surface, other = (
        folder.identities[name].surfaces[template.surface]
        for name in (pair.identity, pair.counterfactual)
    )
    shared = _metadata(cell) | {"surface": surface, "counterfactual_surface": other}
    for name in cell.names:
        more, less = (filled(template, text, cell.text, name.text) for text in (surface, other))
        if not differ_only_in(more, less, surface, other):
            raise InputError(f"{more!r} and {less!r} differ in more than the identity.")
        yield Item(
            item_id=_item_id(cell, name),
            condition=folder.language,
            context="",
            stereotype=more,
            anti_stereotype=less,
            language=folder.language,
            source=SOURCE,
            category=folder.identities[pair.identity].label,
            metadata=shared | ({"name": name.text, "name_group": name.group} if name.text else {}),
        )


def _metadata(cell: Cell) -> dict[str, object]:
    first = cell.rating.predicates[0]
    english = {} if first.added else {"predicate_en": first.name}
    return {
        "identity": cell.opposed.identity,
        "counterfactual": cell.opposed.counterfactual,
        "template": cell.template.name,
        "predicate": cell.text,
        "predicate_name": first.name,
        **english,
        **cell.rating.metadata,
    }


def _item_id(cell: Cell, name: Name) -> str:
    parts = [cell.template.name, cell.opposed.identity, cell.opposed.counterfactual, cell.text]
    return "/".join([*parts, name.text] if name.text else parts)

"""The planned pairs as items, each proved to differ in the identity only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from core.errors import InputError
from core.items.pair_builder.contents import TEMPLATES, Folder
from core.items.pair_builder.names import Name
from core.items.pair_builder.plan import Cell, Plan
from core.items.pair_builder.proof import differ_only_in
from core.items.pair_builder.slots import filled
from core.items.predicate_join import cluster_names
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
        kinds = Counter(each.kind for each in planned.exclusions)
        left_out = ", ".join(f"{kind} {n:,}" for kind, n in kinds.items())
        raise InputError(f"No pair can be built; what is left out: {left_out}.")
    predicates = dict.fromkeys(p for cell in planned.cells for p in cell.rating.predicates)
    clusters = cluster_names(list(predicates))
    return [item for cell in planned.cells for item in _items(folder, cell, clusters)]


def _items(folder: Folder, cell: Cell, clusters: Mapping[str, str]) -> Iterator[Item]:
    template, pair = cell.template, cell.opposed
    surface, other = folder.surfaces(pair, template.surface)
    shared = _metadata(cell, clusters) | {"surface": surface, "counterfactual_surface": other}
    for name in cell.names:
        more, less = (filled(template, text, cell.text, name.text) for text in (surface, other))
        if not differ_only_in(more, less, surface, other):
            raise InputError(
                f"{TEMPLATES} row {template.row}: {more!r} and {less!r} differ in more than the "
                "identity."
            )
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


def _metadata(cell: Cell, clusters: Mapping[str, str]) -> dict[str, object]:
    english = [predicate.name for predicate in cell.rating.predicates if not predicate.added]
    return {
        "identity": cell.opposed.identity,
        "counterfactual": cell.opposed.counterfactual,
        "template": cell.template.name,
        "predicate": cell.text,
        "predicate_name": clusters[cell.rating.predicates[0].name],
        **({"predicate_en": " / ".join(dict.fromkeys(english))} if english else {}),
        **cell.rating.metadata,
    }


def _item_id(cell: Cell, name: Name) -> str:
    """The parts of a pair between slashes, which only its predicate may have itself."""
    before = (cell.template.name, cell.opposed.identity, cell.opposed.counterfactual)
    after = (name.text,) if name.text else ()
    return "/".join([*map(_without_slash, before), cell.text, *map(_without_slash, after)])


def _without_slash(text: str) -> str:
    return text.replace("%", "%25").replace("/", "%2F")

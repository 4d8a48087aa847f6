"""Probe sentences: what a model reads about one pole of an axis.

One sentence per template. Which of the pole's adjectives it names is drawn by a hash of the seed,
the pole's offset, the family and the template, so that a pole's sentences never depend on which
other axes there are. StereoDisco (arXiv 2607.27824) samples freely over templates and adjectives;
that is the option `published`.
"""

from __future__ import annotations

import hashlib
import re

from core.axes.axis import Pole
from core.axes.templates import (
    ADJECTIVE,
    DEFINITION,
    FAMILIES,
    N_TEMPLATES,
    Templates,
    built_in_templates,
)
from core.errors import InputError

SEED = 42
_PLACEHOLDER = re.compile(f"{re.escape(ADJECTIVE)}|{re.escape(DEFINITION)}")


def probe_sentences(
    pole: Pole, family: str, *, published: bool = False, templates: Templates | None = None
) -> tuple[str, ...]:
    """The thirty sentences of a pole, in the order of the templates.

    Parameters
    ----------
    pole
        Without a definition, the adjective itself stands where a template names it.
    family
        "simple" or "listing".
    published
        Draw thirty of all pairs of template and adjective instead, in the order drawn.
    templates
        Of one's own, from `read_templates`; left out, those of the program.

    Raises
    ------
    InputError
        There is no such family.
    """
    if family not in FAMILIES:
        raise InputError(f"{family!r} is not a family of templates; write {' or '.join(FAMILIES)}.")
    texts = (templates or built_in_templates())[family]
    draw = _draw_pairs if published else _draw_adjectives
    return tuple(
        _fill(texts[template], pole.lemmas[lemma], pole.definition)
        for template, lemma in draw(pole, family)
    )


def _draw_adjectives(pole: Pole, family: str) -> list[tuple[int, int]]:
    hashes = (_hash(pole.offset, family, template + 1) for template in range(N_TEMPLATES))
    return [(template, hashed % len(pole.lemmas)) for template, hashed in enumerate(hashes)]


def _draw_pairs(pole: Pole, family: str) -> list[tuple[int, int]]:
    pairs = [(t, lemma) for t in range(N_TEMPLATES) for lemma in range(len(pole.lemmas))]
    pairs.sort(key=lambda pair: _hash(pole.offset, family, pair[0] + 1, "published", pair[1]))
    return pairs[:N_TEMPLATES]


def _hash(*parts: int | str) -> int:
    packed = "|".join(map(str, (SEED, *parts))).encode()
    return int.from_bytes(hashlib.blake2b(packed, digest_size=8).digest(), "big")


def _fill(template: str, adjective: str, definition: str) -> str:
    # In one pass, so that a definition may hold a placeholder.
    values = {ADJECTIVE: adjective, DEFINITION: definition or adjective}
    return _PLACEHOLDER.sub(lambda match: values[match[0]], template)

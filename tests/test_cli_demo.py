"""`python -m core demo` in a cache that has sets of a person's own under its names."""

from __future__ import annotations

from dataclasses import replace

from core.axes.axis import Axis, user_pole
from core.axes.named import axes_named, concepts_named
from core.store.axes import get_axes, put_axes, put_concepts
from core.store.gate import Cache
from core.store.items import datasets
from tests.conftest import Run


def test_axes_and_groups_of_ones_own_are_not_read_for_the_demos(run: Run, cache: Cache) -> None:
    own = Axis(user_pole(("cold",)), user_pole(("warm",)), source="mine")
    put_axes(cache, "demo", (own,))
    code, _, err = run("demo")
    assert (code, "another set called 'demo' than the demo's; run" in err) == (2, True)
    assert get_axes(cache, "demo") == (own,)
    put_axes(cache, "demo", axes_named("demo").axes, replace=True)
    groups = concepts_named("groups25").phrases
    put_concepts(cache, replace(groups, concepts=groups.concepts[1:]))
    code, _, err = run("demo")
    assert (code, "another set called 'groups25' than the demo's; run" in err) == (2, True)
    assert datasets(cache).empty

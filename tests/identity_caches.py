"""A cache of small sets of identity pairs whose choices are set one by one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from core.imported_scores.finding import ItemNumbers
from core.imported_scores.layout import Scale
from core.store.gate import Cache
from core.store.imported_scores import ScoreSource, put_imported
from core.store.scorers import put_scorer
from core.store.scores import missing_texts, put_scores
from core.types import Item, Scorer
from tests.pair_samples import pair, word_score
from tests.store_samples import OTHER, SCORER, put

ODD = "<b>old</b> *a* _b_ $x^2$ :smile: [k](http://e.x) `c` ~~d~~ &amp; 'e'"
WORDS = {"Gay": "gay", "Lesbian": "lesbian", "Queer": "queer"}
SHARES = {"Gay": 5, "Lesbian": 1, "Queer": 3}  # of six predicates, those that are preferred
OTHERWISE = 4  # of six predicates, those whose Lesbian pairs in T2 differ in more
LIKED = {True: -2.0, False: -0.5}  # of the last word of the other sentence; the first has -1

Liked = tuple[Item, bool]


def told(
    item_id: str, liked: bool, sentences: tuple[str, str], condition: str = "en", **metadata: object
) -> Liked:
    """A pair about an identity, and whether its stereotypical sentence is to be preferred."""
    known = {"identity": "Gay", "counterfactual": "Straight", "predicate": "ran", "template": "T1"}
    facts = known | metadata
    made = pair(
        item_id,
        sentences,
        category=str(facts["identity"]),
        condition=condition,
        language=condition,
        metadata=facts,
    )
    return made, liked


def mixed(dataset: str, condition: str, *, confounded: bool = True) -> list[Liked]:
    """Three identities x six rated predicates x two templates; four pairs differ elsewhere too."""
    found = []
    for identity, n_liked in SHARES.items():
        for p in range(6):
            for template in ("T1", "T2"):
                bad = confounded and (identity, template) == ("Lesbian", "T2") and p < OTHERWISE
                more, less = (" women", " people") if bad else ("", "")
                item_id = f"{identity}-{p}-{template}"
                word = f"{dataset}-{condition}-{item_id}"  # each set has texts of its own
                found.append(
                    told(
                        item_id,
                        p < n_liked,
                        (f"{WORDS[identity]}{more} {word}", f"straight{less} {word}"),
                        condition,
                        identity=identity,
                        predicate=f"zijn {p}" if condition == "nl" else f"be {p}",
                        predicate_name=f"be {p}",
                        template=template,
                        harmfulness=p - 1.0,
                        tier=1 + p % 3,
                    )
                )
    return found


def odd() -> list[Liked]:
    """Names that Markdown and HTML would read."""
    return [
        told(
            f"odd-{identity[-1]}-{p}",
            (p < 5) == identity.endswith("2"),
            (f"odd w{identity[-1]}{p}", f"even w{identity[-1]}{p}"),
            identity=identity,
            counterfactual=ODD,
            predicate=f"{ODD} {p}",
            template=f"{ODD} {p % 2}",
            name=ODD,
            name_group=ODD,
            harmfulness=p / 2,
        )
        for identity in (f"{ODD} 1", f"{ODD} 2")
        for p in range(6)
    ]


def fill(
    cache: Cache, dataset: str, pairs: Sequence[Liked], scorers: Sequence[Scorer] = (SCORER,)
) -> None:
    """A data set whose choices are as wanted under every one of the scorers."""
    put(cache, [item for item, _ in pairs], dataset)
    last = {item.anti_stereotype: LIKED[liked] for item, liked in pairs}
    for scorer in scorers:
        put_scorer(cache, scorer)
        scores = []
        for text in missing_texts(cache, scorer.scorer_id, dataset):
            before = [-1.0] * (len(text.continuation.split()) - 1)
            scores.append(word_score(text, [*before, last.get(text.continuation, -1.0)]))
        put_scores(cache, scorer.scorer_id, scores, [])


def fill_all(folder: Path) -> Path:
    """Data sets by the names of what is special about them; gives the cache's folder."""
    cache = Cache(folder)
    fill(cache, "mixed", mixed("mixed", "en"), (SCORER, OTHER))
    fill(cache, "dutch", mixed("dutch", "nl"))
    fill(cache, "both", [*mixed("both", "en", confounded=False), *mixed("both", "nl")])
    fill(cache, "odd", odd())
    plain = [
        told(str(p), p < 3, (f"gay w{p}", f"straight w{p}"), predicate=f"p{p}") for p in range(6)
    ]
    fill(cache, "one", plain)
    numbers = [
        ItemNumbers(str(p), "en", {"stereotype": -2.0 - p, "anti_stereotype": -4.0})
        for p in range(5)
    ]
    source = ScoreSource(path="f.csv", format="columns", sha256="f", scale=Scale.PAIRS)
    put_imported(cache, "one", source, {"published": numbers})
    fill(
        cache, "undecided", [told(str(p), True, (f"w{p} gay", f"w{p} straight")) for p in range(6)]
    )
    for dataset, counterfactual in (("confounded", "Straight"), ("untold", "")):
        pairs = [
            told(
                str(p),
                p < 3,
                (f"gay too {dataset}{p}", f"straight {dataset}{p}"),
                counterfactual=counterfactual,
                predicate=f"p{p}",
                template="",
                harmfulness=float(p % 4),
            )
            for p in range(6)
        ]
        fill(cache, dataset, pairs)
    return folder

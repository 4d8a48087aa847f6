"""The identities of WinoQueer and WinoQueer-NL, whichever way their files write them.

After "WinoQueer-NL" (arXiv 2609.02651), section 3 of the method: nine identities, each held
against a counterfactual one. The Dutch pairs say LHBTI where the predicates say LGBTQ.
"""

from __future__ import annotations

IDENTITIES = (
    "LGBTQ",
    "Queer",
    "Transgender",
    "Non-binary",
    "Bisexual",
    "Pansexual",
    "Lesbian",
    "Asexual",
    "Gay",
)
COUNTERFACTUALS = ("Cis", "Cisgender", "Straight", "Heterosexual")

_OTHER_NAMES = {
    "lgbt": "LGBTQ",
    "lgbtq+": "LGBTQ",
    "lhbti": "LGBTQ",
    "lhbtiq+": "LGBTQ",
    "lhbti+": "LGBTQ",
    "nb": "Non-binary",
    "nonbinary": "Non-binary",
    "non-binair": "Non-binary",
    "biseksueel": "Bisexual",
    "panseksueel": "Pansexual",
    "lesbisch": "Lesbian",
    "aseksueel": "Asexual",
    "homo": "Gay",
    "homoseksueel": "Gay",
    "hetero": "Straight",
    "heteroseksueel": "Heterosexual",
}
_NAMES = {name.casefold(): name for name in (*IDENTITIES, *COUNTERFACTUALS)} | _OTHER_NAMES

# The words that stand for an identity in English and Dutch sentences, in lower case.
IDENTITY_WORDS = {
    "LGBTQ": frozenset({"lgbtq", "lgbt", "lgbtq+", "lhbti", "lhbtiq+", "lhbti+", "lgbtqia+"}),
    "Queer": frozenset({"queer", "queers", "queere"}),
    "Transgender": frozenset({"transgender", "transgenders", "trans", "transgendered"}),
    "Non-binary": frozenset({"non-binary", "nonbinary", "non-binair", "non-binaire"}),
    "Bisexual": frozenset({"bisexual", "bisexuals", "biseksueel", "biseksuele", "biseksuelen"}),
    "Pansexual": frozenset(
        {"pansexual", "pansexuals", "panseksueel", "panseksuele", "panseksuelen"}
    ),
    "Lesbian": frozenset(
        {"lesbian", "lesbians", "lesbisch", "lesbische", "lesbienne", "lesbiennes"}
    ),
    "Asexual": frozenset({"asexual", "asexuals", "aseksueel", "aseksuele", "aseksuelen"}),
    "Gay": frozenset(
        {"gay", "gays", "homo", "homo's", "homoseksueel", "homoseksuele", "homoseksuelen"}
    ),
    "Cis": frozenset({"cis"}),
    "Cisgender": frozenset({"cisgender", "cisgenders"}),
    "Straight": frozenset({"straight", "hetero", "hetero's"}),
    "Heterosexual": frozenset(
        {"heterosexual", "heterosexuals", "heteroseksueel", "heteroseksuele", "heteroseksuelen"}
    ),
}


def identity_named(label: str) -> str:
    """The English name of an identity; a label that is not known stands for itself."""
    return _NAMES.get(label.strip().casefold(), label.strip())

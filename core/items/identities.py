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


def identity_named(label: str) -> str:
    """The English name of an identity; a label that is not known stands for itself."""
    return _NAMES.get(label.strip().casefold(), label.strip())

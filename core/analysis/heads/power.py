"""What would the test behind a flag find, with as many concepts and phrases as a question has?"""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from core.analysis.heads.question import NO_REFERENCE
from core.analysis.heads.stored import StoredAxes
from core.stats.probes.rejection import simulated_power
from core.stats.probes.undefined import Undefined

SHIFTS = (0.0, 0.2, 0.5, 0.8)  # sd of the reference: none, then Cohen's small, medium and large
SPREADS = (0.5, 1.0, 2.0)  # sd of the concepts over that of the reference


def power_table(found: StoredAxes) -> pd.DataFrame:
    """How often the Kolmogorov-Smirnov test finds differences of stated sizes.

    It depends on the numbers of concepts and phrases alone, not on the model: values are drawn from
    normal distributions.

    Returns
    -------
    DataFrame
        One row per shift and spread: shift, spread, power (share of simulated worlds with p < .05;
        where nothing differs, the size of the test), its Monte-Carlo error, n_worlds, n_concepts,
        n_reference, and the reason where undefined.
    """
    n_concepts, n_reference = (int(found.table[n].max()) for n in ("n_concepts", "n_reference"))
    rng = np.random.default_rng(found.question.seed)
    points = simulated_power(n_concepts, n_reference, list(product(SHIFTS, SPREADS)), rng=rng)
    too_few = str(Undefined.TOO_FEW) if found.held.reference else NO_REFERENCE
    return pd.DataFrame(
        {
            "shift": [point.shift for point in points],
            "spread": [point.spread for point in points],
            "power": [point.rate for point in points],
            "error": [point.error for point in points],
            "n_worlds": [point.n_worlds for point in points],
            "n_concepts": n_concepts,
            "n_reference": n_reference,
            "reason": ["" if np.isfinite(point.rate) else too_few for point in points],
        }
    )

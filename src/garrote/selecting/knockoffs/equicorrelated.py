"""One s for all groups: the largest that copies may have.

Barber & Candes (2015), Eq. 2.3; Dai & Barber (2016) for groups.
"""

import numpy as np

from garrote.arrays import Array, Floats

# The copies stay this much inside of what is possible, so that rounding takes them nowhere else.
_INSIDE = 1e-12


def equicorrelated(correlation: Floats, groups: Array) -> tuple[Floats, float]:
    """Return s = min(1, 2 lambda_min(R)) for each group, and 0, as nothing is left to gain."""
    smallest = float(np.linalg.eigvalsh(correlation)[0])
    share = min(1.0, 2.0 * smallest * (1.0 - _INSIDE))
    return np.full(int(groups.max()) + 1, share), 0.0

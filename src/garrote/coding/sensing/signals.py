"""From coefficients to signals: what measurements are blind to, and how uncertain each entry is."""

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from garrote.arrays import Floats
from garrote.designs import DenseDesign, Design, OperatorDesign
from garrote.designs.operators import Rows
from garrote.estimators.given.designs import DesignRows
from garrote.results.laws import Anchor
from garrote.results.posterior import Posterior

# Columns no longer than this share of the longest are rounding.
_ROUNDING = 1e-12


def without_rounding(design: Design) -> Design:
    """Return a design whose columns of rounding are columns of zeros.

    Measurements may be blind to a coefficient, as those of waves are to the level of a signal. A column
    of 1e-17 in place of 0 would be fitted by a coefficient of 1e17.
    """
    size = np.hypot(*design.moments(np.ones(design.shape[0])))
    seen = size > _ROUNDING * size.max()
    if seen.all():
        return design
    if isinstance(design, DenseDesign):
        return DenseDesign(np.asfortranarray(design.values * seen))
    assert isinstance(design, OperatorDesign)
    kept = Rows(len(seen), np.flatnonzero(seen))
    return OperatorDesign(aslinearoperator(design.operator) @ kept.T @ kept)


def signal_deviation(posterior: Posterior, basis: LinearOperator) -> Floats:
    """Return the posterior standard deviations of the signal that coefficients are of.

    They are those of new responses at the rows of the basis less what is noise, which is all that varies
    at a row of zeros. Coefficients for which the posterior states no variance, as they are hardly ever
    in, add nothing.
    """
    count = basis.shape[1]
    still = Anchor(np.zeros(count), 0.0)
    known = posterior.mean, posterior.noise_variance, posterior.spread, still
    rows: Any = DesignRows(OperatorDesign(basis))
    found = posterior.law.response_variance(rows, *known)
    noise = posterior.law.response_variance(np.zeros((1, count)), *known)
    return np.sqrt(np.maximum(found - noise, 0.0))

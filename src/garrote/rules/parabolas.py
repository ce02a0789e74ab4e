"""The slopes of a penalty and the parabolas that touch it: what tangents, iterated ridge and EM ask for.

A penalty p(|w|) that is concave in w^2 lies below the parabola with second derivative p'(|w|) / |w|
through its present value. Where the penalty is minus the logarithm of a mixture of normal distributions,
that is the precision which EM expects given the coefficient (Murphy 2012, Eqs. 13.91, 13.112, 13.129).
"""

from functools import singledispatch
from typing import Any

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Floats
from garrote.rules.coefficients import slope

# Sizes of which 1 is still a number.
TINY = 1e-150
# What nothing penalises has this precision, as a share of the least of the others: with none at all
# there would be no system to solve.
_FREE = 1e-8


@singledispatch
def slopes(rule: Any, size: Floats) -> Floats:
    """Return the slope of each variable's penalty at a coefficient of some size > 0."""
    return _slopes(rule, size)


@kernel
def _slopes(rule, size):
    steep = np.zeros(size.shape[0])
    for j in range(size.shape[0]):
        steep[j] = slope(rule, j, size[j])
    return steep


@singledispatch
def ridge_weights(rule: Any, size: Floats) -> Floats:
    """Return the weight w^2 / 2 has in the parabola that touches the charge at sizes > 0."""
    out = (rule.lower == 0.0) & (rule.upper == 0.0)
    return np.where(out, np.inf, slopes(rule, size) / size)


@singledispatch
def first_guess(rule: Any, coef: Floats, size: float) -> Floats:
    """Return coefficients to begin with: of the sizes of ``coef``, and of ``size`` at least.

    A coefficient of 0 would stay there: the parabola that touches its penalty is infinitely steep.
    """
    return np.maximum(np.abs(coef), size)


@singledispatch
def expected_spread(rule: Any, coef: Floats, directions: Floats) -> Floats:
    """Return Psi times some directions (D x r), Psi being the inverse of the expected precision.

    A rule that ties coefficients to one another registers its own: its precision is not diagonal.
    """
    precision = ridge_weights(rule, np.maximum(np.abs(coef), TINY))
    least = _FREE * float(np.min(precision, where=precision > 0, initial=np.inf))
    return directions / np.maximum(precision, least)[:, None]

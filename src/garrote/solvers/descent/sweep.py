"""One pass of coordinate descent: the loop that every design, penalty and prior shares."""

import numpy as np

from garrote._jit import kernel
from garrote.rules import add_column, column_dot, shrink


@kernel
def sweep(design, rule, columns, coef, target, residual, curvature, resolution):
    """Update each of ``columns`` once, in place; return the largest step, in sqrt(curvature) units.

    ``target`` receives the least-squares value z that each coefficient was shrunk from. A step below
    ``resolution`` is not taken: the coordinate stays where it is and the residual stays consistent,
    at the price of one column product instead of two.
    """
    largest = 0.0
    for j in columns:
        if curvature[j] > 0:
            old = coef[j]
            target[j] = old + column_dot(design, j, residual) / curvature[j]
            new = shrink(rule, j, target[j], curvature[j])
            step = abs(new - old) * np.sqrt(curvature[j])
            if step > resolution:
                coef[j] = new
                add_column(design, j, old - new, residual)
                largest = max(largest, step)
    return largest

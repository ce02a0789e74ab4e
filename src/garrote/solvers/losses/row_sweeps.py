"""Newton's method for a likelihood plus an elastic net, all of it compiled: for tables of few rows.

Each round replaces the loss by its quadratic at the present linear predictor, sweeps over the columns
that move, and goes along the step as far as the objective falls. Sweeps go over the rows themselves:
with few of them that costs less than to make cross products, and far less than Python between steps.
"""

from typing import NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Floats
from garrote.elementary import copy_into
from garrote.likelihoods.base import curvature, gradient, log_likelihood
from garrote.rules import cost, shrink

# Rounds at most, and sweeps in each: where these do not suffice, factors of cross products do better.
ROUNDS, _SWEEPS = 10, 50
_HALVINGS = 40
# Newton steps that an intercept needs, once all coefficients have arrived.
_LAST_STEPS = 3
# A quadratic is solved to this share of the violation that it starts from; the next one sees more.
_INEXACT = 0.1
# Curvatures are kept above this share of the largest: a certain prediction has none.
_LEAST_CURVATURE = 1e-8
# A sum of slopes is not exact beyond this share of their sizes.
_ROUNDING = 1e-15


class Rows(NamedTuple):
    """Columns of a working set (N x k), responses and shares of the rows in the loss.

    ``lengths`` are the mean squares of the columns, ``free`` says whether there is an intercept, and
    ``level`` is the loss where the log likelihood is 0.
    """

    values: Floats
    lengths: Floats
    y: Floats
    share: Floats
    free: bool
    level: float


@kernel
def sweep_rows(likelihood, rule, rows, coef, eta, tolerance, rounds):
    """Minimise in place, ``eta`` being the linear predictor; return the intercept's change and two more.

    These are the rounds made, and whether no coefficient violates its optimality by more than the
    tolerance.
    """
    n, m = rows.values.shape
    slope, weight, left, further = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    moving, new = np.zeros(m, np.int64), coef.copy()
    objective = _objective(likelihood, rule, rows, coef, eta)
    intercept = 0.0
    for made in range(rounds):
        total = _derivatives(likelihood, rows, eta, slope, weight)
        if total == 0.0:
            return intercept, made, False
        off, count = _look_at_all(rule, rows, coef, slope, total, moving)
        if off <= tolerance:
            return intercept + _fit_intercept(likelihood, rows, eta, slope, weight), made, True
        copy_into(left, slope)
        copy_into(new, coef)
        accuracy = max(0.1 * tolerance, _INEXACT * off)
        shift, near = _sweep(rule, rows, moving[:count], new, left, weight, total, accuracy)
        # What the step changes of the predictor; slopes less what is left of them would lose digits.
        change = left
        change[:] = shift
        for j in moving[:count]:
            if new[j] != coef[j]:
                step = new[j] - coef[j]
                for i in range(n):
                    change[i] += step * rows.values[i, j]
        part = 1.0
        for _ in range(_HALVINGS):
            for i in range(n):
                further[i] = eta[i] + part * change[i]
            reached = _objective(likelihood, rule, rows, new, further)
            if reached <= objective + 1e-15 * abs(objective):
                break
            part *= 0.5
            for j in range(m):
                new[j] = coef[j] + 0.5 * (new[j] - coef[j])
        else:
            return intercept, made, False
        copy_into(coef, new)
        copy_into(eta, further)
        intercept += part * shift
        objective = reached
        if not near:
            return intercept, made + 1, False
    return intercept, rounds, False


@kernel
def _objective(likelihood, rule, rows, coef, eta):
    """Return the loss and what the rule charges."""
    total = rows.level
    for i in range(eta.shape[0]):
        total -= rows.share[i] * log_likelihood(likelihood, rows.y[i], eta[i])
    for j in range(coef.shape[0]):
        if coef[j] != 0.0:
            total += cost(rule, j, coef[j])
    return total


@kernel
def _derivatives(likelihood, rows, eta, slope, weight):
    """Fill in the slopes and curvatures of all rows; return the sum of the latter, 0 if all are."""
    largest, total = 0.0, 0.0
    for i in range(eta.shape[0]):
        slope[i] = rows.share[i] * gradient(likelihood, rows.y[i], eta[i])
        weight[i] = rows.share[i] * curvature(likelihood, rows.y[i], eta[i])
        largest = max(largest, weight[i])
    for i in range(eta.shape[0]):
        weight[i] = max(weight[i], _LEAST_CURVATURE * largest)
        total += weight[i]
    return total


@kernel
def _fit_intercept(likelihood, rows, eta, slope, weight):
    """Bring out the last digits of an intercept that is nearly the best; return its change."""
    change = 0.0
    for _ in range(_LAST_STEPS if rows.free else 0):
        shift = slope.sum() / weight.sum()
        change += shift
        if abs(shift) <= 1e-15:
            break
        for i in range(eta.shape[0]):
            eta[i] += shift
        _derivatives(likelihood, rows, eta, slope, weight)
    return change


@kernel
def _look_at_all(rule, rows, coef, slope, total, moving):
    """Return the largest violation, and how many columns ``moving`` then lists."""
    along, sizes = 0.0, 0.0
    for i in range(slope.shape[0]):
        along += slope[i]
        sizes += abs(slope[i])
    worst = abs(along) if rows.free and abs(along) > _ROUNDING * sizes else 0.0
    count = 0
    for j in range(coef.shape[0]):
        # Only a unit to measure violations in: columns of equal length have about equal curvatures.
        steep = rows.lengths[j] * total
        if steep > 0.0:
            downhill = 0.0
            for i in range(slope.shape[0]):
                downhill += rows.values[i, j] * slope[i]
            off = abs(shrink(rule, j, coef[j] + downhill / steep, steep) - coef[j]) * steep
            worst = max(worst, off)
            if coef[j] != 0.0 or off > 0.0:
                moving[count] = j
                count += 1
    return worst, count


@kernel
def _sweep(rule, rows, moving, coef, left, weight, total, accuracy):
    """Minimise the quadratic over some coefficients and the intercept, in place.

    ``left`` are the slopes of the rows, kept up to date. Returns the intercept's step, and whether no
    coefficient moved by more than ``accuracy`` in the last sweep.
    """
    n, shift = weight.shape[0], 0.0
    steep = np.zeros(moving.shape[0])
    for k in range(moving.shape[0]):
        for i in range(n):
            steep[k] += weight[i] * rows.values[i, moving[k]] ** 2
    for _ in range(_SWEEPS):
        worst = 0.0
        for k in range(moving.shape[0]):
            j = moving[k]
            downhill = 0.0
            for i in range(n):
                downhill += rows.values[i, j] * left[i]
            new = shrink(rule, j, coef[j] + downhill / steep[k], steep[k])
            step = new - coef[j]
            if step != 0.0:
                coef[j] = new
                worst = max(worst, abs(step) * steep[k])
                for i in range(n):
                    left[i] -= step * weight[i] * rows.values[i, j]
        if rows.free:
            step = left.sum() / total
            shift += step
            worst = max(worst, abs(step) * total)
            for i in range(n):
                left[i] -= step * weight[i]
        if worst <= accuracy:
            return shift, True
    return shift, False

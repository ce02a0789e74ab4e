"""Columns that resemble each other exchange their variances.

Where two columns are near copies one of them holds the effect, the other has next to no variance, and
neither can change while the other stays. Both coefficients integrated out, with c = scale * T^1/2 b, b
being what the two columns make of all that the others leave,

    log p(y | tau_j, tau_k) = -1/2 log |A| + c' A^-1 c / (2 s^2),    A = I + scale^2 T^1/2 G T^1/2,

and as the variances are independent of one law, an exchange is accepted by the ratio of this alone,
whatever the law is. The two coefficients are drawn after it.
"""

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.limits.budgets import NUMBERS_AT_ONCE
from garrote.solvers.algebra.gaussian_draws import ByColumns, ByRows

# Columns of at least this absolute correlation are tried, the nearest of each, so many at most.
_ALIKE, _MOST_PARTNERS = 0.8, 5
# Where neither column has a prior variance above this share of its error's nothing would change.
_NOTHING = 0.01


def similar_pairs(form: ByRows | ByColumns) -> Array:
    """Return the pairs of columns that resemble each other, the first before the second (P x 2)."""
    count = len(form.columns)
    width = max(1, NUMBERS_AT_ONCE // max(count, 1))
    correlations, found = form.correlations(), []
    for first in range(0, count, width):
        part = np.arange(first, min(first + width, count))
        alike = np.abs(correlations(part))
        alike[np.arange(len(part)), part] = 0.0
        for place in np.flatnonzero((alike >= _ALIKE).any(axis=1)):
            j, row = part[place], alike[place]
            near = np.flatnonzero(row >= _ALIKE)
            near = near[np.argsort(-row[near], kind="stable")[:_MOST_PARTNERS]]
            found += [(min(j, k), max(j, k)) for k in near]
    return np.unique(np.array(found, dtype=np.int64).reshape(-1, 2), axis=0)


def exchange_variances(
    form: ByRows | ByColumns,
    pairs: Array,
    curvature: Floats,
    scale: float,
    noise: float,
    coef: Floats,
    variance: Floats,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Try every pair once, but no more pairs than there are columns, in random order.

    Returns coefficients and their tau^2.
    """
    order = pairs[rng.permutation(len(pairs))[: len(coef)]]
    coef, variance = coef.copy(), variance.copy()
    hurdles = np.log(1.0 - rng.random(len(order)))
    _exchange(
        form.columns, form.by_rows, form.residual(coef), curvature, scale, noise, order, hurdles,
        rng.standard_normal((len(order), 2)), coef, variance,
    )  # fmt: skip
    return coef, variance


@kernel
def _exchange(
    columns, by_rows, residual, curvature, scale, noise, pairs, hurdles, normal, coef, variance
):
    """Try exchanges in some order; the residual is X'r for cross products."""
    for place in range(len(pairs)):
        j, k = pairs[place]
        one, two = columns[j], columns[k]
        curve, other = curvature[j], curvature[k]
        # The same before and after an exchange: otherwise it would lead where none leads back.
        if scale * scale * max(curve, other) * max(variance[j], variance[k]) < _NOTHING:
            continue
        if by_rows:
            tie, first, second = 0.0, 0.0, 0.0
            for i in range(len(one)):
                tie += one[i] * two[i]
                first += one[i] * residual[i]
                second += two[i] * residual[i]
        else:
            tie, first, second = one[k], residual[j], residual[k]
        first += curve * coef[j] + tie * coef[k]
        second += tie * coef[j] + other * coef[k]
        known = (curve, other, tie, first, second, noise)
        here = _log_evidence(scale * np.sqrt(variance[j]), scale * np.sqrt(variance[k]), known)
        there = _log_evidence(scale * np.sqrt(variance[k]), scale * np.sqrt(variance[j]), known)
        if there - here >= hurdles[place]:
            variance[j], variance[k] = variance[k], variance[j]
        # The second coefficient with the first integrated out, then the first given it.
        p, q = scale * np.sqrt(variance[j]), scale * np.sqrt(variance[k])
        stiff = 1.0 + p * p * curve
        left = 1.0 + q * q * (other - p * p * tie * tie / stiff)
        mean = q * (second - p * p * tie * first / stiff) / left
        new_two = q * (mean + np.sqrt(noise / left) * normal[place, 0])
        mean = p * (first - tie * new_two) / stiff
        new_one = p * (mean + np.sqrt(noise / stiff) * normal[place, 1])
        step, stride = new_one - coef[j], new_two - coef[k]
        coef[j], coef[k] = new_one, new_two
        for i in range(len(residual)):
            residual[i] -= step * one[i] + stride * two[i]


@kernel(inline=True)
def _log_evidence(p, q, known):
    """Return the log evidence of prior deviations p, q (in noise deviations) of two coefficients."""
    curve, other, tie, first, second, noise = known
    stiff = 1.0 + p * p * curve
    left = 1.0 + q * q * (other - p * p * tie * tie / stiff)
    one, two = p * first, q * (second - p * p * tie * first / stiff)
    return 0.5 * (one * one / stiff + two * two / left) / noise - 0.5 * np.log(stiff * left)

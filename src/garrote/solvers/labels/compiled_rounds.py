"""Rounds of the bound, compiled: it touches anew, columns are swept, linear predictors follow.

`repeat_rounds` goes over the columns that matter, with a step further on after every third round; given
those the bound is a smooth function of where it touches, and such steps save most of the rounds.
"""

from typing import NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.elementary import copy_into, logarithm
from garrote.priors.evidence.humps import log_cosh, without_pull
from garrote.solvers.labels.jaakkola import curvature_at, further_on, touched_level
from garrote.solvers.labels.label_regression import Fixed, beside_fixed, hold_fixed, leave_fixed

# Coefficients move by no less than this share of the accuracy, in standard errors.
_RESOLUTION = 1e-3
# Columns that vary by no more than this, in squared standard errors, add nothing to predictors.
_STEADY = 1e-9


class Factors(NamedTuple):
    """What is believed of each column at hand; changed in place.

    ``spread`` is the variance of the weight given inclusion, ``coef`` what the residual knows of the
    column; ``narrow`` is the variance given the sign, too, which is less under a slab of two humps.
    """

    probability: Floats
    weight: Floats
    spread: Floats
    coef: Floats
    narrow: Floats

    @property
    def variance(self) -> Floats:
        """The variances of the coefficients, inclusion being uncertain too."""
        m, w = self.probability, self.weight
        return np.maximum(m * (w**2 + self.spread) - (m * w) ** 2, 0.0)

    def among(self, places: Array) -> "Factors":
        """Return copies for some columns."""
        return Factors(*(values[places] for values in self))

    def put(self, places: Array, other: "Factors") -> None:
        """Overwrite some columns."""
        for values, given in zip(self, other, strict=True):
            values[places] = given


class Labels(NamedTuple):
    """The labels of the data's rows, their weights, and a known part of their linear predictors."""

    labels: Floats
    weights: Floats
    known: Floats


class Moment(NamedTuple):
    """The regression that stands for labels at one moment; changed in place.

    The bound touches at ``xi``, and should at ``best``. ``under``, ``response``, ``residual`` and
    ``fitted`` have rows of pseudo-data last; ``log_det`` is the logarithm of the determinant of the
    fixed columns' precision. The variances of linear predictors are those of the columns that matter,
    of the other ones, and of groups.
    """

    under: Fixed
    response: Floats
    residual: Floats
    fitted: Floats
    log_det: Floats
    xi: Floats
    best: Floats
    lively_variance: Floats
    quiet_variance: Floats
    group_variance: Floats


class Slab(NamedTuple):
    """The slab by its humps, the log odds of every column, and what counts as out."""

    ridge: float
    lift: float
    height: float
    log_odds: Floats
    least: float


@kernel
def open_round(rows, moment):
    """Let the bound touch where it is best, and look at what coefficients leave of its response."""
    under, response = moment.under, moment.response
    for i in range(moment.best.shape[0]):
        xi = moment.best[i]
        moment.xi[i] = xi
        curvature = curvature_at(xi)
        under.weights[i] = rows.weights[i] * curvature
        response[i] = (rows.labels[i] - 0.5) / curvature - rows.known[i]
    moment.log_det[0] = hold_fixed(under)
    for i in range(response.shape[0]):
        moment.residual[i] = response[i] - moment.fitted[i]
    leave_fixed(under, moment.residual)


@kernel
def close_round(rows, moment):
    """Let linear predictors follow, and where the bound is best; return how far off it touches."""
    under, off = moment.under, 0.0
    count = under.columns.shape[0]
    for i in range(moment.response.shape[0]):
        moment.fitted[i] = moment.response[i] - moment.residual[i]
    for i in range(moment.best.shape[0]):
        variance = moment.lively_variance[i] + moment.quiet_variance[i] + moment.group_variance[i]
        for f in range(count):
            for g in range(count):
                variance += under.inverse[f, g] * under.columns[f, i] * under.columns[g, i]
        eta = moment.fitted[i] + rows.known[i]
        best = np.sqrt(eta * eta + variance)
        moment.best[i] = best
        if rows.weights[i] > 0.0:
            off = max(off, abs(best - moment.xi[i]) / max(best, 1.0))
    return off


@kernel
def visit(block, under, places, slab, factors, residual, eta_variance, accuracy):
    """Give columns in turn their best factors; return the largest change."""
    ridge, lift = slab.ridge, slab.lift
    rows, count, moved = block.shape[0], under.columns.shape[0], 0.0
    left, shares = np.empty(rows), np.empty(2 * count)
    for j in places:
        c, product = beside_fixed(block, under, j, residual, shares)
        old, m, w = factors.coef[j], 0.0, 0.0
        narrow = 1.0 / (c + ridge)
        spread = narrow
        if c > 0.0:
            product += c * old
            w = product * narrow
            odds = slab.log_odds[j] + 0.5 * np.log(ridge * narrow) + 0.5 * product * w
            if lift > 0.0:
                tilt, reach = np.tanh(lift * w), lift * narrow
                odds += log_cosh(lift * w) - 0.5 * slab.height * c * narrow
                spread += reach * reach * (1.0 - tilt * tilt)
                w += reach * tilt
            m = 1.0 / (1.0 + np.exp(-odds)) if odds > -40.0 else 0.0
        new = m * w if m > slab.least else 0.0
        step, size = new - old, np.sqrt(c)
        moved = max(moved, abs(m - factors.probability[j]), abs(step) * size)
        factors.probability[j], factors.weight[j] = m, w
        factors.spread[j], factors.narrow[j] = spread, narrow
        variance = m * (w * w + spread) - new * new
        if abs(step) * size > _RESOLUTION * accuracy:
            factors.coef[j] = new
        else:
            step = 0.0
        varies = m > slab.least and variance * c > _STEADY
        if step == 0.0 and not varies:
            continue
        variance = variance if varies else 0.0
        if count == 1:  # in one pass
            for i in range(rows):
                x = block[i, j] - shares[0] * under.columns[0, i]
                residual[i] -= step * x
                eta_variance[i] += variance * x * x
            continue
        for i in range(rows):
            left[i] = block[i, j]
        for f in range(count):
            for i in range(rows):
                left[i] -= shares[f] * under.columns[f, i]
        for i in range(rows):
            residual[i] -= step * left[i]
        for i in range(eta_variance.shape[0]):
            eta_variance[i] += variance * left[i] * left[i]
    return moved


@kernel(inline=True)
def _slab_gain(weight, spread, narrow, slab):
    """Return minus the divergence of a weight that is in, and of its sign, from the slab."""
    ridge, lift = slab.ridge, slab.lift
    if lift == 0.0:
        relative = spread * ridge
        return 0.5 * (logarithm(relative) + 1.0 - relative - weight * weight * ridge)
    reach, relative = lift * narrow, narrow * ridge
    centre = without_pull(weight, reach, lift)
    x = lift * centre
    tilt = np.tanh(x)
    square = centre * centre + reach * reach + 2.0 * centre * reach * tilt
    along, told = centre * tilt + reach, x * tilt - log_cosh(x)
    away = ridge * square - 2.0 * lift * along + slab.height
    return 0.5 * (logarithm(relative) + 1.0 - relative - away) - told


@kernel
def bound_of(rows, moment, places, slab, factors):
    """Return the bound on the log evidence after a round was opened or closed.

    Without what groups add, entropy and prior terms of columns elsewhere, and the prior's normalisers.
    """
    weights, squared, gains = moment.under.weights, 0.0, 0.0
    for i in range(moment.residual.shape[0]):
        squared += weights[i] * moment.residual[i] * moment.residual[i]
    for i in range(moment.xi.shape[0]):
        variance = moment.lively_variance[i] + moment.quiet_variance[i] + moment.group_variance[i]
        squared += weights[i] * variance
    for j in places:
        m = factors.probability[j]
        if m > 0.0:
            gain = _slab_gain(factors.weight[j], factors.spread[j], factors.narrow[j], slab)
            gains += m * (slab.log_odds[j] + gain) - m * np.log(m)
            gains -= (1.0 - m) * np.log1p(-m) if m < 1.0 else 0.0
    level = touched_level(rows.weights, moment.xi) - 0.5 * moment.log_det[0]
    return level - 0.5 * squared + gains


@kernel
def _lively_round(block, rows, moment, lively, slab, factors, accuracy):
    """Make a round over the columns that matter; return how far anything is off."""
    open_round(rows, moment)
    moment.lively_variance[:] = 0.0
    moved = visit(
        block,
        moment.under,
        lively,
        slab,
        factors,
        moment.residual,
        moment.lively_variance,
        accuracy,
    )
    return max(moved, close_round(rows, moment))


@kernel
def repeat_rounds(block, rows, moment, lively, slab, factors, accuracy, most, seen, pace):
    """Repeat rounds over the columns that matter; return how many, and whether they have settled.

    ``seen`` are the logarithms of where the bound was best in the last rounds, ``pace`` says how many
    of them and how much the last round moved, so that another call goes on where this one ended.
    """
    count = 0
    for _ in range(most):
        previous = pace[1]
        moved = _lively_round(block, rows, moment, lively, slab, factors, accuracy)
        count += 1
        pace[1], ratio = moved, moved / previous
        # Steps shrink geometrically: what is still to come is moved * ratio / (1 - ratio).
        if moved <= accuracy and moved * ratio <= accuracy * (1.0 - ratio):
            return count, True
        place = int(pace[0])
        for i in range(moment.best.shape[0]):
            seen[place, i] = np.log(max(moment.best[i], 1e-8))
        pace[0] = (place + 1) % 3
        if place == 2 and further_on(rows.weights, seen):
            _try(block, rows, moment, lively, slab, factors, accuracy, seen[0])
            count += 1
    return count, False


@kernel
def _try(block, rows, moment, lively, slab, factors, accuracy, further):
    """Make a round with xi further on; take it back where the bound is lower then."""
    open_round(rows, moment)
    bound = bound_of(rows, moment, lively, slab, factors)
    kept = np.empty((5, lively.shape[0]))
    for k, j in enumerate(lively):
        kept[0, k], kept[1, k] = factors.probability[j], factors.weight[j]
        kept[2, k], kept[3, k] = factors.spread[j], factors.coef[j]
        kept[4, k] = factors.narrow[j]
    fitted, best = moment.fitted.copy(), moment.best.copy()
    variance = moment.lively_variance.copy()
    copy_into(moment.best, further)
    _lively_round(block, rows, moment, lively, slab, factors, accuracy)
    if bound_of(rows, moment, lively, slab, factors) >= bound:
        return
    for k, j in enumerate(lively):
        factors.probability[j], factors.weight[j] = kept[0, k], kept[1, k]
        factors.spread[j], factors.coef[j] = kept[2, k], kept[3, k]
        factors.narrow[j] = kept[4, k]
    copy_into(moment.fitted, fitted)
    copy_into(moment.best, best)
    copy_into(moment.lively_variance, variance)

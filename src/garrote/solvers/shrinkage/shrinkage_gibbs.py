"""One Gibbs sampler for all priors that are scale mixtures of normal laws.

A state draws, in blocks,

    the scale, the noise variance and all coefficients, given the coefficients' variances tau^2,
    all tau^2, given the coefficients,
    each tau_j^2 with its coefficient, given all others (`local_moves`: horseshoe, NEG and Student),
    which of two similar columns has which tau^2 (`swap_moves`),
    the scale and all tau^2, given the products of the two (where tau^2 has a law of closed form).

The first block is one draw: the scale with noise and coefficients integrated out (a slice step on its
logarithm), the noise given the scale, the coefficients given both. So no part of it waits for another,
which is what makes chains slow where there are many more columns than rows (Johndrow, Orenstein &
Bhattacharya 2020). The second is exact, too, with whatever the law has beside tau^2 integrated out. The
others are not needed for a right answer, but the draws of 1000 columns know 2 to 4 times as much by the
third, those of near copies up to a hundred times as much by the fourth, and twice as much of the scale
by the last, which interweaves two ways to say what is known of it (Yu & Meng 2011).
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.priors.covariance_root import Diagonal, Root
from garrote.priors.scale_mixture import ScaleMixturePrior
from garrote.scale_mixtures.laws import log_variance_density
from garrote.solvers.algebra.gaussian_draws import (
    ByColumns,
    ByRows,
    ColumnsGiven,
    RidgeFactor,
    RowsGiven,
)
from garrote.solvers.shrinkage.local_moves import move_locally
from garrote.solvers.shrinkage.swap_moves import exchange_variances

Given = RowsGiven | ColumnsGiven
Point = TypeVar("Point")

# The slice step's interval in log scale; it shrinks until a point is taken.
_WIDTH = 2.0
_MOST_SHRINKS = 60
# The smallest variance whose logarithm is taken.
_SMALLEST = 1e-200
_NO_PAIRS = np.empty((0, 2), dtype=np.int64)
# A callback hears of this many states at once.
_TOGETHER = 20


class ShrinkageTarget(NamedTuple):
    """The posterior to sample: the data, the prior, and what is known of the noise.

    ``rows`` are those left beside means and covariates, ``least`` is added to what a model leaves (twice
    the rate of the noise's prior, which keeps every conditional law exact), ``noise`` a known noise
    variance, ``curvature`` the diagonal of X'X, ``pairs`` the columns that resemble each other.
    """

    form: ByRows | ByColumns
    prior: ScaleMixturePrior
    curvature: Floats
    rows: float
    least: float
    noise: float | None = None
    pairs: Array = _NO_PAIRS


class ShrinkageChain(NamedTuple):
    """States of one chain: coefficients (S x D), noise variances and scales; mean shrinkage factors."""

    coef: Floats
    noise: Floats
    scale: Floats
    shrinkage: Floats


def run_shrinkage(
    target: ShrinkageTarget,
    rng: np.random.Generator,
    steps: int,
    burn_in: int,
    keep: int = 1,
    report: Callable[[int, int], None] | None = None,
) -> ShrinkageChain:
    """Run one chain and keep one of every ``keep`` states.

    The shrinkage factor of a coefficient is 1 / (1 + curvature * its prior variance in units of the
    noise's), the part of its least-squares value that the prior takes away were it alone.
    """
    count = len(target.curvature)
    kept = steps // keep
    coef, noise, scale = np.empty((kept, count)), np.empty(kept), np.empty(kept)
    shrinkage = np.zeros(count)
    root = target.prior.first_root(count)
    now = first_scale(target.prior, target.rows, rng)
    for state in range(-burn_in, kept * keep):
        given = target.form.given(root, now)
        now, variance, v = draw_block(target, given, now, rng)
        if state >= 0:
            shrinkage += 1.0 / (1.0 + target.curvature * now**2 * root.variance)
            if state % keep == keep - 1:
                place = state // keep
                noise[place], scale[place] = variance, now
                coef[place] = v * (now * np.sqrt(variance))
        root, now = draw_variances(target, now, variance, v, rng)
        if report is not None and (state + 1) % _TOGETHER == 0:
            report(state + 1 + burn_in, steps + burn_in)
    return ShrinkageChain(coef, noise, scale, shrinkage / (kept * keep))


def first_scale(prior: ScaleMixturePrior, rows: float, rng: np.random.Generator) -> float:
    """Return the scale or, where it is learnt, one around the error of a coefficient.

    Chains so begin apart from each other.
    """
    return prior.scale or float(np.exp(rng.standard_normal()) / np.sqrt(rows))


def draw_block(
    target: ShrinkageTarget, given: Given, scale: float, rng: np.random.Generator
) -> tuple[float, float, Floats]:
    """Draw scale, noise variance and standardised coefficients v given the coefficients' variances."""
    factor = given.factor(scale)
    if target.prior.scale is None:
        factor = _slice_scale(target, given, factor, rng)
    variance = target.noise
    if variance is None:
        rate = 0.5 * (factor.left + target.least)
        variance = float(rate / rng.standard_gamma(0.5 * target.rows))
    return factor.scale, variance, given.draw(factor, variance, rng)


def draw_variances(
    target: ShrinkageTarget, scale: float, noise: float, v: Floats, rng: np.random.Generator
) -> tuple[Root, float]:
    """Draw all variances given v, then move them one by one, in pairs, and all with the scale.

    Returns the variances and the scale.
    """
    root, law = target.prior.draw_root(v, rng), target.prior.law
    if law is None:
        return root, scale
    coef, variance = scale * np.sqrt(noise) * v, root.variance
    known = (target.curvature, scale, noise)
    if law.variances is not None:
        coef, variance = move_locally(target.form, law.variances, *known, coef, variance, rng)
    if len(target.pairs):
        coef, variance = exchange_variances(target.form, target.pairs, *known, coef, variance, rng)
    if law.variances is not None and target.prior.scale is None:
        scale, variance = rescale(target, scale, variance, rng)
    return Diagonal(np.sqrt(variance)), scale


def _slice_scale(
    target: ShrinkageTarget, given: Given, factor: RidgeFactor, rng: np.random.Generator
) -> RidgeFactor:
    """Move the log scale given the variances."""

    def propose(shift: float) -> RidgeFactor:
        return given.factor(float(factor.scale * np.exp(shift)))

    return _slice(factor, propose, lambda proposed: log_posterior(target, proposed), rng)


def rescale(
    target: ShrinkageTarget, scale: float, variance: Floats, rng: np.random.Generator
) -> tuple[float, Floats]:
    """Move the scale and all variances such that their products, and so the data's law, stay."""
    t = np.log(np.maximum(variance, _SMALLEST))
    law = target.prior.law.variances  # type: ignore[union-attr]

    def height(shift: float) -> float:
        return _log_prior(target, float(scale * np.exp(shift))) + _log_densities(
            law, t, 2.0 * shift
        )

    shift = _slice(0.0, lambda proposed: proposed, height, rng)
    return float(scale * np.exp(shift)), np.exp(t - 2.0 * shift)


def _slice(
    start: Point,
    propose: Callable[[float], Point],
    height: Callable[[Point], float],
    rng: np.random.Generator,
) -> Point:
    """Move a point by one slice step (Neal 2003), by shifts from an interval that shrinks to none."""
    level = height(start) + np.log(1.0 - rng.random())
    low = -_WIDTH * rng.random()
    high = low + _WIDTH
    for _ in range(_MOST_SHRINKS):
        shift = rng.uniform(low, high)
        proposed = propose(shift)
        if height(proposed) >= level:
            return proposed
        low, high = (shift, high) if shift < 0 else (low, shift)
    return start


def log_posterior(target: ShrinkageTarget, factor: RidgeFactor) -> float:
    """Return the log density of the log scale, coefficients and an unknown noise integrated out."""
    if target.noise is None:
        fit = -0.5 * target.rows * np.log(factor.left + target.least)
    else:
        fit = -0.5 * factor.left / target.noise
    return _log_prior(target, factor.scale) + float(fit) - 0.5 * factor.log_determinant


def _log_prior(target: ShrinkageTarget, scale: float) -> float:
    """Return the log density of the log scale; the scale is half-Cauchy around its typical value."""
    typical = target.prior.typical_scale or 1.0 / np.sqrt(len(target.curvature) * target.rows)
    ratio = scale / typical
    return float(np.log(ratio) - np.log1p(ratio**2))


@kernel
def _log_densities(law, t, less):
    """Return the log density of log variances, all of them less by the same."""
    total = 0.0
    for j in range(len(t)):
        total += log_variance_density(law, t[j] - less)
    return total

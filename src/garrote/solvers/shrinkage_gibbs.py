"""One Gibbs sampler for all priors that are scale mixtures of normal laws.

A state draws, in blocks,

    the scale, the noise variance and all coefficients, given the coefficients' variances tau^2,
    all tau^2, given the coefficients,
    each tau_j^2 with its coefficient, given all others (`local_moves`: horseshoe, NEG and Student).

The first block is one draw: the scale with noise and coefficients integrated out (a slice step on its
logarithm), the noise given the scale, the coefficients given both. So no part of it waits for another,
which is what makes chains slow where there are many more columns than rows (Johndrow, Orenstein &
Bhattacharya 2020). The second is exact, too, with whatever the law has beside tau^2 integrated out. The
third is not needed for a right answer, but the draws of 1000 columns then know 2 to 4 times as much.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.priors.covariance_root import Diagonal, Root
from garrote.priors.scale_mixture import ScaleMixturePrior
from garrote.solvers.gaussian_draws import ByColumns, ByRows, ColumnsGiven, Factor, RowsGiven
from garrote.solvers.local_moves import move_locally

Given = RowsGiven | ColumnsGiven

# The slice step's interval in log scale; it shrinks until a point is taken.
_WIDTH = 2.0
_MOST_SHRINKS = 60
# A callback hears of this many states at once.
_TOGETHER = 20


class ShrinkageTarget(NamedTuple):
    """The posterior to sample: the data, the prior, and what is known of the noise.

    ``rows`` are those left beside means and covariates, ``least`` what every model leaves unexplained at
    least, ``noise`` a known noise variance, ``curvature`` the diagonal of X'X.
    """

    form: ByRows | ByColumns
    prior: ScaleMixturePrior
    curvature: Floats
    rows: float
    least: float
    noise: float | None = None


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
    # Where the scale is learnt, chains begin around the error of a coefficient, apart from each other.
    now = target.prior.scale or float(np.exp(rng.standard_normal()) / np.sqrt(target.rows))
    for state in range(-burn_in, kept * keep):
        given = target.form.given(root)
        now, variance, v = _draw_block(target, given, now, rng)
        if state >= 0:
            shrinkage += 1.0 / (1.0 + target.curvature * now**2 * root.variance)
            if state % keep == keep - 1:
                place = state // keep
                noise[place], scale[place] = variance, now
                coef[place] = v * (now * np.sqrt(variance))
        root = _draw_variances(target, now, variance, v, rng)
        if report is not None and (state + 1) % _TOGETHER == 0:
            report(state + 1 + burn_in, steps + burn_in)
    return ShrinkageChain(coef, noise, scale, shrinkage / (kept * keep))


def _draw_block(
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


def _draw_variances(
    target: ShrinkageTarget, scale: float, noise: float, v: Floats, rng: np.random.Generator
) -> Root:
    """Draw all variances given v, then move each with its coefficient where tails are heavy."""
    root, law = target.prior.draw_root(v, rng), target.prior.law
    if law is None or law.variances is None:
        return root
    coef = scale * np.sqrt(noise) * v
    known = (target.form, law.variances, target.curvature, scale, noise)
    return Diagonal(np.sqrt(move_locally(*known, coef, root.variance, rng)[1]))


def _slice_scale(
    target: ShrinkageTarget, given: Given, factor: Factor, rng: np.random.Generator
) -> Factor:
    """Move the log scale by one slice step (Neal 2003), from an interval that shrinks towards it."""
    here = np.log(factor.scale)
    level = log_posterior(target, factor) + np.log(1.0 - rng.random())
    low = here - _WIDTH * rng.random()
    high = low + _WIDTH
    for _ in range(_MOST_SHRINKS):
        there = rng.uniform(low, high)
        proposed = given.factor(float(np.exp(there)))
        if log_posterior(target, proposed) >= level:
            return proposed
        low, high = (there, high) if there < here else (low, there)
    return factor


def log_posterior(target: ShrinkageTarget, factor: Factor) -> float:
    """Return the log density of the log scale, coefficients and an unknown noise integrated out.

    The scale is half-Cauchy around its typical value.
    """
    typical = target.prior.typical_scale or 1.0 / np.sqrt(len(target.curvature) * target.rows)
    ratio = factor.scale / typical
    prior = float(np.log(ratio) - np.log1p(ratio**2))
    if target.noise is None:
        fit = -0.5 * target.rows * np.log(factor.left + target.least)
    else:
        fit = -0.5 * factor.left / target.noise
    return prior + float(fit) - 0.5 * factor.log_determinant

"""The certificate of a variational fit, from the definition of its equations over all columns.

Nothing of a solver's state enters: the residual is recomputed from the data and the stated solution,
in float64. Columns that a solution does not list count as excluded (m = 0); their violation of Eq. 8
is the inclusion probability that they ought to have.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import xlog1py, xlogy

from garrote._jit import kernel
from garrote.arrays import Floats
from garrote.elementary import logarithm
from garrote.priors.garrote import SpikeTerms, implied_noise
from garrote.problem import Problem
from garrote.results.certificates import equations
from garrote.results.fit import Fit
from garrote.rules import inclusion_among, moments_among

# Less of a probability is never left; its logarithm is -700.
_LEAST_LEFT = 1e-304


class Regression(NamedTuple):
    """What a certificate asks of a regression whose noise variance is known."""

    curvature: Floats
    n: float
    smallest_noise: float = 0.0


def certify(
    problem: Problem | Regression,
    prior: SpikeTerms,
    fit: Fit,
    squared_residual: float,
    gradient: Floats,
) -> Fit:
    """Return a solution with its certificate, given its squared residual and X'Wr for all columns."""
    c = problem.curvature
    probability, weight = np.zeros(len(c)), np.zeros(len(c))
    listed = np.zeros(len(c), dtype=bool)
    probability[fit.columns] = fit.probability
    weight[fit.columns] = fit.weight
    listed[fit.columns] = True
    target, wanted, coef = np.zeros((3, len(c)))
    _find_targets(c, gradient, probability, weight, target)
    nobody = np.zeros_like(listed)
    prior.respond(fit.strength, fit.precision, target, c, nobody, wanted, coef)
    off_m, size, unlisted_energy = _inspect_unlisted(c, wanted, listed, _shares(prior, c))
    rule = prior.rule(fit.strength, fit.precision)
    off_listed, off_w, expected = _inspect_listed(rule, c, fit.columns, probability, weight, target)
    off_m, size = max(off_m, off_listed), size + expected
    if not np.isfinite(squared_residual + gradient.sum() + probability.sum() + weight.sum()):
        off_m = np.inf  # comparisons with NaN would let it pass

    known = prior.noise_variance is not None
    listed_c = c[fit.columns]
    stated = fit.probability, fit.weight, listed_c, fit.precision
    total = squared_residual + prior.noise_shares(*stated).sum()
    pull = prior.noise_pulls(*stated).sum() if prior.lift else 0.0
    implied = implied_noise(problem.n, total, pull, 0.0, fit.precision)
    implied = max(implied, problem.smallest_noise)
    off_noise = 0.0 if known else abs(fit.precision * implied - 1.0)
    energy = free_energy(problem, prior, fit, squared_residual)
    certificate = equations(
        {"inclusion": float(off_m), "weight": float(off_w), "noise": float(off_noise)}
    )
    whole = float(energy + unlisted_energy)
    return replace(fit, free_energy=whole, expected_size=float(size), certificate=certificate)


def free_energy(
    problem: Problem | Regression, prior: SpikeTerms, fit: Fit, squared_residual: float
) -> float:
    """Return Eq. 7 of the listed columns, given the squared residual."""
    m, w, precision = fit.probability, fit.weight, fit.precision
    c = problem.curvature[fit.columns]
    log_odds = fit.strength + prior.offsets[fit.columns]
    expected_squares = squared_residual + np.sum(prior.variances(m, w, c, precision) * c)
    energy = 0.5 * precision * expected_squares + np.sum(m * prior.slab_cost(w, c, precision))
    odds = (xlogy(m, m) + xlog1py(1 - m, -m) - log_odds * m)[c > 0]
    energy += np.sum(prior.per_switch(odds, fit.columns[c > 0]))
    return float(energy - 0.5 * problem.n * np.log(precision / (2 * np.pi)))


def _shares(prior: SpikeTerms, curvature: Floats) -> Floats:
    """Return each column's share of its switch, 0 of those without content."""
    share, used = np.zeros(len(curvature)), np.flatnonzero(curvature > 0)
    share[used] = prior.per_switch(np.ones(len(used)), used)
    return share


@kernel
def _find_targets(curvature, gradient, probability, weight, target):
    """Fill in the least-squares values that columns have beside all others."""
    for j in range(curvature.shape[0]):
        c = curvature[j] if curvature[j] > 0 else 1.0
        value = gradient[j] / c + probability[j] * weight[j]
        target[j] = value if curvature[j] > 0 else 0.0


@kernel
def _inspect_unlisted(curvature, implied, listed, share):
    """Return the violation of Eq. 8, the expected size and the free energy of unlisted columns.

    Such a column is taken at its own optimum, where it contributes -log(1 + exp(t)), t being the log
    odds of its inclusion: to first order in its small probability that is its share of Eq. 7.
    """
    off = size = energy = 0.0
    for j in range(curvature.shape[0]):
        m = implied[j] if curvature[j] > 0 and not listed[j] else 0.0
        off = max(off, m)
        size += m
        left = 1.0 - m
        energy += share[j] * logarithm(left if left > _LEAST_LEFT else _LEAST_LEFT)
    return off, size, energy


@kernel
def _inspect_listed(rule, curvature, columns, probability, weight, target):
    """Return the violations of Eqs. 8 and 9, and the expected size, of listed columns."""
    off_m = off_w = size = 0.0
    for j in columns:
        c = curvature[j]
        if c > 0:
            w = moments_among(rule, j, target, curvature)[1]
            implied = inclusion_among(rule, j, weight, curvature)
            off_m = max(off_m, abs(probability[j] - implied))
            off_w = max(off_w, abs(weight[j] - w) * np.sqrt(rule.precision[0] * c))
            size += probability[j]
    return off_m, off_w, size

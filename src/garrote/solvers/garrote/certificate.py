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
from garrote.priors.garrote import SpikeTerms, implied_noise
from garrote.problem import Problem
from garrote.results.certificates import equations
from garrote.results.fit import Fit
from garrote.rules import inclusion_among, moments_among


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
    rule = prior.rule(fit.strength, fit.precision)
    off_m, off_w, size, unlisted_energy = _inspect(
        rule, c, gradient, probability, weight, listed, *_of_switches(prior, c)
    )
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


def _of_switches(prior: SpikeTerms, curvature: Floats) -> tuple[Floats, Floats]:
    """Return room for the targets of all columns, and each column's share of its switch."""
    share, used = np.zeros(len(curvature)), np.flatnonzero(curvature > 0)
    share[used] = prior.per_switch(np.ones(len(used)), used)
    return np.zeros(len(curvature)), share


@kernel
def _inspect(rule, curvature, gradient, probability, weight, listed, target, share):
    """Return the violations of Eqs. 8 and 9, the expected size and the unlisted columns' free energy.

    An unlisted column is taken at its own optimum, where it contributes -log(1 + exp(t)), t being the
    log odds of its inclusion: to first order in its small probability that is its share of Eq. 7.
    """
    off_m = off_w = size = energy = 0.0
    for j in range(curvature.shape[0]):
        if curvature[j] > 0:
            target[j] = gradient[j] / curvature[j] + probability[j] * weight[j]
    for j in range(curvature.shape[0]):
        c = curvature[j]
        if c <= 0:
            continue
        implied, w, _ = moments_among(rule, j, target, curvature)
        if listed[j]:
            implied = inclusion_among(rule, j, weight, curvature)
            off_m = max(off_m, abs(probability[j] - implied))
            off_w = max(off_w, abs(weight[j] - w) * np.sqrt(rule.precision[0] * c))
            size += probability[j]
        else:
            off_m = max(off_m, implied)
            energy += share[j] * (np.log1p(-implied) if implied < 1.0 else -700.0)
            size += implied
    return off_m, off_w, size, energy

"""Single effects of few rows: the noise variance integrated out, and doubt whether there is an effect.

With r what the other effects leave, of expected square S, s of flat logarithm and w_j ~ N(0, s v),

    log BF_j = -log(1 + v c_j) / 2 - n/2 log(1 - R_j^2 v c_j / (1 + v c_j)),    R_j^2 = b_j^2 / (c_j S)

which is Student's law in place of the Gaussian one (Servin & Stephens 2007). Its probabilities sum to
that of being there at all, see `garrote.solvers.effects.existence`.
"""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from garrote.arrays import Floats
from garrote.solvers.effects.effect_groups import EffectGroups, of_columns, summed
from garrote.solvers.effects.existence import Sizes, in_order, present
from garrote.solvers.effects.single_effect_regression import SingleEffect
from garrote.solvers.effects.single_effects import EffectsFit, EffectsTask

# Logarithms of v at which its evidence is computed first, and the share of S that nothing explains.
_GRID = np.linspace(-15.0, 8.0, 93)
_LEAST_LEFT = 1e-10


def with_unknown_noise(task: EffectsTask, fit: EffectsFit) -> tuple[SingleEffect, ...]:
    """Return every effect beside the others, with the noise integrated out; null ones left out.

    One after the other, so that none takes up what another has explained in the meantime.
    """
    curvature, xty = task.problem.curvature, task.problem.xty
    effects = list(fit.effects)
    fitted = [task.products.times(effect.coef) for effect in effects]
    for k in range(len(effects)):
        others = [i for i in range(len(effects)) if i != k]
        coef = sum((effects[i].coef for i in others), np.zeros(len(xty)))
        taken = sum((fitted[i] for i in others), np.zeros(len(xty)))
        square = task.problem.yty - coef @ (2.0 * xty - taken)
        for i in others:
            square += float(effects[i].second_moment @ curvature - effects[i].coef @ fitted[i])
        effects[k] = _regress(
            xty - taken, curvature, task.log_prior, float(square), task.rows, task.units
        )
        fitted[k] = task.products.times(effects[k].coef)
    return in_order([effect for effect in effects if effect.prior_variance > 0])


def _regress(
    products: Floats,
    curvature: Floats,
    log_prior: Floats,
    square: float,
    rows: float,
    units: EffectGroups | None = None,
) -> SingleEffect:
    """Return one effect; of groups, R^2 and log(1 + v c) are sums over their coordinates."""
    c = np.where(curvature > 0, curvature, np.inf)
    explained = np.minimum(products**2 / (c * square), 1.0 - _LEAST_LEFT)

    def log_terms(log_v: float) -> Floats:
        load = np.exp(log_v) * curvature
        shrunk = load / (1.0 + load)
        if units is not None:
            left = np.maximum(1.0 - summed(explained * shrunk, units), _LEAST_LEFT)
            return log_prior - 0.5 * summed(np.log1p(load), units) - 0.5 * rows * np.log(left)
        return log_prior - 0.5 * np.log1p(load) - 0.5 * rows * np.log1p(-explained * shrunk)

    def loss(log_v: float) -> float:
        return -float(logsumexp(log_terms(log_v)))

    middle = _GRID[int(np.argmin([loss(u) for u in _GRID]))]
    step = _GRID[1] - _GRID[0]
    found = minimize_scalar(loss, bounds=(middle - step, middle + step), method="bounded")
    evidence = -float(found.fun)
    if evidence <= 0 or square <= 0:
        nothing = np.zeros(len(products))
        return SingleEffect(np.exp(log_prior), nothing, nothing, 0.0, 0.0, units)
    v = float(np.exp(found.x))
    load = v * curvature
    left = 1.0 - summed(explained * load / (1.0 + load), units)
    noise = square * np.maximum(left, _LEAST_LEFT) / max(rows - 2.0, 1.0)
    probability = np.exp(log_terms(found.x) - evidence)
    lengths = curvature if units is None else summed(curvature, units) / np.maximum(units.rank, 1)
    sizes = Sizes.around(v, float(probability @ lengths), rows)
    there = present(lambda log_v: -loss(log_v), sizes)
    mean = v * products / (1.0 + load)
    typical = float(probability @ noise)
    variance = np.where(curvature > 0, of_columns(noise, units) * v / (1.0 + load), 0.0)
    return SingleEffect(there * probability, mean, variance, evidence, v * typical, units)

"""EM for the Bernoulli-Gaussian model, with a factor for every inclusion and every weight.

y = sum of s_j w_j x_j + noise, s_j ~ Ber(pi), w_j ~ N(0, noise * variance) (Murphy 2012, Eqs.
13.20-13.22); the posterior is taken as the product of all q(s_j) q(w_j) (section 13.2.3.3). Unlike in
the paired mean field the weight of a variable does not know whether the variable is in. The E step
updates the m_j in turn by a sweep, then all means of the weights at once by a ridge regression; their
spreads, 1 / (m_j c_j + 1 / variance) in units of the noise, are always at their best. The M step sets
the noise variance and the hyperparameters. The bound on the evidence,

    - N/2 log(2 pi noise) - (|r|^2 + sum_j (m_j (1 - m_j) c_j + 1 / variance) mu_j^2) / (2 noise)
    - 1/2 sum_j log(1 + variance m_j c_j) - KL(q(s) | prior),        r = y - sum_j m_j mu_j x_j,

rises with every one of these. m = 0 is a solution whatever the data, so that the start matters.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import xlog1py, xlogy

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.inference.em.steps import EMState, Starts
from garrote.inference.mean_field.hyperparameters import Hyperparameters, Learning
from garrote.priors.mask import MaskRule
from garrote.problem import Problem
from garrote.rules import moments
from garrote.solvers.algebra.weighted_ridge import Ridge, WeightedRidge
from garrote.solvers.control import Control
from garrote.solvers.descent.sweep import sweep

# Weights of less probable variables follow from the residual.
_SURE = 1e-6


@dataclass(frozen=True)
class BernoulliGaussian:
    """The model of one problem; ``order`` is that in which inclusions are updated."""

    problem: Problem
    learning: Learning
    ridge: WeightedRidge
    order: Array = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    def first(self, probability: Floats) -> EMState:
        """Return the best weights and noise for given inclusion probabilities."""
        known = self.learning.slab.known_noise
        noise = known if known is not None else self.problem.response_variance
        return self._weigh(probability, noise, self.learning.first())

    def extreme_starts(self, control: Control, dense: bool) -> Starts:
        """Return all variables in, updated in either order: they are updated in turn."""
        if not dense:
            return {}
        count = len(self.ridge.columns)
        backwards = replace(self, order=np.arange(count)[::-1].copy())
        return {
            "all in": (self, self.first(np.ones(count))),
            "all in and updated backwards": (backwards, backwards.first(np.ones(count))),
        }

    def step(self, state: EMState) -> EMState:
        """Update inclusions, weights, noise and hyperparameters in turn."""
        coef, c = self.coef(state), self.ridge.curvature
        rule, target = self._rule(state), coef.copy()
        columns, residual = self.ridge.readable(self.ridge.at(coef).residuals)
        order = self.order if len(self.order) else np.arange(len(c))
        sweep(columns, rule, order, coef, target, residual, c, 0.0)
        after = self._weigh(_probabilities(rule, c, target), state.noise, state.at)
        return after._replace(at=self._learned(after))

    def _weigh(self, m: Floats, noise: float, at: Hyperparameters) -> EMState:
        """Solve for all weights, given the inclusions, then for the noise."""
        held = m * (1 - m) * self.ridge.curvature + 1.0 / at.variance
        solved = self.ridge.solve(m**2 / held)
        sure = m > _SURE
        weight = m * solved.gradient / held
        weight[sure] = solved.coef[sure] / m[sure]
        state = EMState(m, weight, noise, at)
        return state._replace(noise=self._noise(state, solved.squared_residual))

    def _rule(self, state: EMState) -> MaskRule:
        return MaskRule(
            state.at.log_odds + self.learning.offsets,
            state.weight,
            1.0 / (state.probability * self.ridge.curvature + 1.0 / state.at.variance),
            np.array([1.0 / state.noise]),
        )

    def _noise(self, state: EMState, squared_residual: float) -> float:
        if self.learning.slab.known_noise is not None:
            return state.noise
        total = squared_residual + self._penalty(state)
        return max(total / self.problem.n, self.problem.smallest_noise)

    def _penalty(self, state: EMState) -> float:
        m = state.probability
        held = m * (1 - m) * self.ridge.curvature + 1.0 / state.at.variance
        return float(held @ state.weight**2)

    def _learned(self, state: EMState) -> Hyperparameters:
        m, at = state.probability, state.at
        squares = float(state.weight @ state.weight) / state.noise
        return Hyperparameters(
            self.learning.profiled_variance(at.variance, squares, m * self.ridge.curvature),
            self.learning.next_log_odds(at.log_odds, float(m.sum())),
        )

    def coef(self, state: EMState) -> Floats:
        """Return the coefficients m mu."""
        return state.probability * state.weight

    def implied(self, state: EMState, residual: Ridge) -> EMState:
        """Return what each equation says, given the others and the residual."""
        m, c = state.probability, self.ridge.curvature
        z = residual.gradient / c + residual.coef
        return EMState(
            _probabilities(self._rule(state), c, z),
            m * c * z / (m * c + 1.0 / state.at.variance),
            self._noise(state, residual.squared_residual),
            self._learned(state),
        )

    def objective(self, state: EMState) -> float:
        """Return the bound on the log evidence plus the log prior of the hyperparameters."""
        m, at = state.probability, state.at
        squares = self.ridge.at(self.coef(state)).squared_residual + self._penalty(state)
        bound = -0.5 * self.problem.n * np.log(2 * np.pi * state.noise)
        bound -= 0.5 * squares / state.noise
        bound -= 0.5 * np.log1p(at.variance * m * self.ridge.curvature).sum()
        bound += m @ (at.log_odds + self.learning.offsets)
        bound -= (xlogy(m, m) + xlog1py(1 - m, -m)).sum()
        return float(bound + self.learning.never_in(at.log_odds) + self.learning.log_prior(at))

    def spread(self, state: EMState) -> Floats:
        """Return the variances of the weights."""
        precision = state.probability * self.ridge.curvature + 1.0 / state.at.variance
        return np.asarray(state.noise / precision)


@kernel
def _probabilities(rule: MaskRule, curvature: Floats, target: Floats) -> Floats:
    probability = np.empty(curvature.shape[0])
    for j in range(curvature.shape[0]):
        probability[j] = moments(rule, j, target[j], curvature[j])[0]
    return probability

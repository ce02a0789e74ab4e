"""EM for a spike that is a narrow Gaussian: weights are classified, then shrunk by their class.

w_j ~ N(0, noise * variance) if s_j = 1, N(0, noise * spike) if not (George & McCulloch 1993). The E
step gives p_j = P(s_j = 1 | w_j) under the two Gaussians, the M step all weights by a ridge regression
with the penalties p_j / variance + (1 - p_j) / spike, then noise and hyperparameters (Rockova & George
2014). It climbs the log posterior of w / sqrt(noise), log noise and the hyperparameters,

    - N/2 log(2 pi noise) - |y - Xw|^2 / (2 noise) + sum_j log p(w_j / sqrt(noise)).

Under a slab of two humps the E step gives signs, too, of mean tanh(lift w_j / sqrt(noise)), and the M
step pulls the weights towards the humps (`garrote.priors.evidence.humps` has the names).

In these coordinates D coefficients near 0 do not pull the noise variance to 0 with them, as they do in
w itself when D is large. Murphy (2012, section 13.2.3.3) warns of severe local minima: a weight in
the spike is shrunk until it belongs there. One remedy is to narrow the spike by steps, from a width at
which all spikes together are as large as the noise; it serves where there are more rows than columns.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import pinvh
from scipy.special import expit

from garrote.arrays import Floats
from garrote.inference.em.steps import EMState, Starts, run_em
from garrote.inference.mean_field.hyperparameters import Hyperparameters, Learning
from garrote.priors.garrote import implied_noise
from garrote.problem import Problem
from garrote.results.posterior import IN_SUPPORT
from garrote.solvers.algebra.weighted_ridge import Ridge, WeightedRidge
from garrote.solvers.control import Control

# Widths of the spike on the way to its own, and the steps of EM at each.
_RUNGS = 12
_STEPS_AT_RUNG = 50


@dataclass(frozen=True)
class NarrowSpike:
    """The model of one problem, with the spike's variance in units of the noise's."""

    problem: Problem
    learning: Learning
    ridge: WeightedRidge
    spike: float
    learns: bool = True

    def first(self, probability: Floats) -> EMState:
        """Return the best weights for given inclusion probabilities, and their classes."""
        known = self.learning.slab.known_noise
        noise = known if known is not None else self.problem.response_variance
        at = self.learning.first()
        at = replace(at, variance=max(at.variance, self.spike))
        begin = EMState(probability, np.zeros(len(probability)), noise, at)
        return self._classified(self._weigh(begin))

    def extreme_starts(self, control: Control, dense: bool) -> Starts:
        """Return where narrowing leads to and, where ``dense``, all variables in."""
        starts: Starts = {"narrowed": (self, self.narrowed(control))}
        if dense:
            starts["all in"] = (self, self.first(np.ones(len(self.ridge.columns))))
        return starts

    def narrowed(self, control: Control) -> EMState:
        """Return where narrowing a wide spike leads to."""
        # All spikes together as wide as the noise: wider ones would explain the noise too.
        together = self.problem.n / (float(self.ridge.curvature.sum()) or 1.0)
        widest = min(self.learning.first().variance, together)
        widths = np.geomspace(max(widest, self.spike), self.spike, _RUNGS)
        briefly = replace(control, max_iter=min(_STEPS_AT_RUNG, control.max_iter))
        first = replace(self, spike=float(widths[0]))
        state = first.first(np.zeros(len(self.ridge.columns)))
        for width in widths[:-1]:
            wide = replace(self, spike=float(width), learns=False)
            state = run_em(wide, wide._classified(state), briefly).state
        return self._classified(state)

    def step(self, state: EMState) -> EMState:
        """Shrink the weights by their classes, update noise and hyperparameters, classify anew."""
        after = self._weigh(state)
        if self.learns:
            after = after._replace(at=self._learned(after))
        return self._classified(after)

    def _weigh(self, state: EMState) -> EMState:
        pull = (
            self._pulls(state) * np.sqrt(state.noise)
            if self.learning.slab.known_separation
            else None
        )
        solved = self.ridge.solve(1.0 / self._penalties(state), pull)
        after = state._replace(weight=solved.coef)
        return after._replace(noise=self._noise(after, solved.squared_residual))

    def _penalties(self, state: EMState) -> Floats:
        p = state.probability
        ridge, _, _ = self._humps(state)
        return np.asarray(p * ridge + (1 - p) / self.spike)

    def _humps(self, state: EMState) -> tuple[float, float, float]:
        return self.learning.slab.at(state.at.variance).humps

    def _pulls(self, state: EMState) -> Floats:
        """Return by how much the signs pull each weight, in units of the noise's deviation."""
        _, lift, _ = self._humps(state)
        tilt = np.tanh(lift * state.weight / np.sqrt(state.noise))
        return np.asarray(lift * state.probability * tilt)

    def _classified(self, state: EMState) -> EMState:
        wide, narrow = self._log_densities(state)
        return state._replace(probability=expit(wide - narrow))

    def _log_densities(self, state: EMState) -> tuple[Floats, Floats]:
        """Return the log densities of the weights in the slab and in the spike, with their odds."""
        odds, squares = state.at.log_odds + self.learning.offsets, state.weight**2 / state.noise
        ridge, lift, height = self._humps(state)
        wide = odds + 0.5 * np.log(ridge / (2 * np.pi)) - 0.5 * squares * ridge
        if height:
            x = lift * np.abs(state.weight) / np.sqrt(state.noise)
            wide += x + np.log(0.5 + 0.5 * np.exp(-2.0 * x)) - 0.5 * height
        narrow = -0.5 * np.log(2 * np.pi * self.spike) - 0.5 * squares / self.spike
        return wide, narrow

    def _noise(self, state: EMState, squared_residual: float) -> float:
        if self.learning.slab.known_noise is not None:
            return state.noise
        total = squared_residual + float(self._penalties(state) @ state.weight**2)
        pull = float(self._pulls(state) @ state.weight)
        total -= pull * float(np.sqrt(state.noise))
        implied = implied_noise(self.problem.n, total, pull, 0.0, 1.0 / state.noise)
        return float(max(implied, self.problem.smallest_noise))

    def _learned(self, state: EMState) -> Hyperparameters:
        p, at = state.probability, state.at
        squares, count = float(p @ state.weight**2) / state.noise, float(p.sum())
        x = state.weight / np.sqrt(state.noise)
        along = float(p @ (x * np.tanh(self._humps(state)[1] * x)))
        variance = self.learning.next_variance(at.variance, squares, count, along)
        # A slab narrower than the spike would only change their names.
        return Hyperparameters(
            max(variance, self.spike), self.learning.next_log_odds(at.log_odds, count)
        )

    def coef(self, state: EMState) -> Floats:
        """Return the weights: they are what enters the residual, whatever their class."""
        return state.weight

    def implied(self, state: EMState, residual: Ridge) -> EMState:
        """Return what each equation says, given the others and the residual."""
        c = self.ridge.curvature
        return EMState(
            self._classified(state).probability,
            (residual.gradient + c * residual.coef + self._pulls(state) * np.sqrt(state.noise))
            / (c + self._penalties(state)),
            self._noise(state, residual.squared_residual),
            self._learned(state) if self.learns else state.at,
        )

    def objective(self, state: EMState) -> float:
        """Return the log posterior, up to a constant."""
        squared = self.ridge.at(state.weight).squared_residual
        fit = -0.5 * self.problem.n * np.log(2 * np.pi * state.noise) - 0.5 * squared / state.noise
        prior = np.logaddexp(*self._log_densities(state)).sum()
        at = state.at
        return float(
            fit + prior + self.learning.never_in(at.log_odds) + self.learning.log_prior(at)
        )

    def spread(self, state: EMState) -> Floats:
        """Return the variances of the weights of probable variables, the others being held."""
        support = np.flatnonzero(state.probability > IN_SUPPORT)
        block = self.problem.known_block(self.ridge.columns[support])
        block = block + np.diag(self._penalties(state)[support])
        spread = np.zeros(len(state.weight))
        if len(support):
            spread[support] = state.noise * np.diag(pinvh(block))
        return spread

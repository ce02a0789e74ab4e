"""The paired Gibbs sampler under a slab of two humps: each coefficient with its inclusion and sign.

Given their signs the coefficients are those of a Gaussian slab around the humps: products with the
response are raised by the pull of the humps, lift * deviation * sign. A variable that is drawn sums over
both signs. Given the coefficients the signs are independent of each other; the slab's variance and shape
are drawn without regard to them, by Metropolis steps and from all shapes.
"""

from typing import Any

import numpy as np
from scipy.special import logsumexp

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.elementary import exponential, logarithm
from garrote.priors.humps import log_integral
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.models.joint_coefficients import factorise
from garrote.solvers.models.model_chain import Averages, Target, Trail
from garrote.solvers.models.paired_gibbs import PairedGibbsWalk, draw_one

# Standard deviations of the steps of the slab's log variance.
_STEPS = (0.7, 0.2, 0.06)
_LOG_2 = float(np.log(2.0))


class SignedGibbsWalk(PairedGibbsWalk):
    """A walk whose state are the coefficients and their signs; one step is a sweep."""

    def __init__(self, target: Target, rng: np.random.Generator, rows: GramRows | None = None):
        super().__init__(target, rng, rows)
        self.shapes: Any = target.slab.shapes()
        self.shape = 0
        self.sign = np.zeros(target.problem.n_features)

    @property
    def separation(self) -> float:
        """The separation of the humps."""
        return float(self.shapes[self.shape][1].separation)

    @property
    def ridge(self) -> float:
        """The precision of the coefficients around the humps, times the noise variance."""
        return 1.0 / (self.variance * (1.0 - self.separation))

    @property
    def height(self) -> float:
        """The squared distance of the humps from zero, in their own variances."""
        return self.separation / (1.0 - self.separation)

    @property
    def pull(self) -> float:
        """What a positive sign adds to a variable's product with the response."""
        return float(np.sqrt(self.height * self.ridge * self.noise))

    def begin(self, members: list[int]) -> None:
        """Start from the ridge regression on given variables, with its signs."""
        super().begin(members)
        self.sign = np.sign(self.coef)

    def walk(self, steps: int, averages: Averages | None) -> Trail:
        """Make sweeps; count their states in ``averages`` where it is given, and return the way."""
        self._slabs: list[list[float]] = []
        trail = super().walk(steps, averages)
        # Of the states of one sweep the last counts, with the slab that it was drawn with.
        which: Array = np.cumsum(trail.flips < 0) - (trail.flips < 0)
        return trail._replace(slabs=np.array(self._slabs).reshape(-1, 2)[which])

    def _exchange(self) -> None:
        """Draw anew which variable one of those in stands for, its sign and its coefficient."""
        members = np.flatnonzero(self.coef)
        if not len(members):
            return
        gone = int(members[self.rng.integers(len(members))])
        self._change(gone, 0.0)
        self.sign[gone] = 0.0
        length = self.target.problem.curvature
        j = _choose_newcomer(
            length, self.target.inclusion.log_odds, self.ridge, self.pull, self.noise, self.coef,
            self.gradient, self.rng.random(), self._chance,
        )  # fmt: skip
        c = float(length[j]) + self.ridge
        odds = 2.0 * self.gradient[j] * self.pull / (c * self.noise)
        sign = 1.0 if self.rng.random() < 1.0 / (1.0 + exponential(-odds)) else -1.0
        spread = np.sqrt(self.noise / c)
        mean = (self.gradient[j] + sign * self.pull) / c
        self.sign[j] = sign
        self._change(j, float(mean + spread * self.rng.standard_normal()))

    def _update_some(
        self, order: Any, draws: Any, normals: Any, start: int, stop: int, averages: Averages
    ) -> int:
        problem, prior = self.target.problem, self.target.inclusion
        coins = self.rng.random(problem.n_features)
        reached = _update(
            problem.curvature, prior.by_size, prior.log_odds, self.ridge, self.pull, self.height,
            self.noise, self.coef, self.sign, self.gradient, order, draws, coins, normals,
            self.rows.rows, self.rows.slot, start, stop, averages,
        )  # fmt: skip
        return int(reached)

    def _raised(self, j: int) -> Floats:
        """Return products with the response, raised by the signs; that of a newcomer by chance."""
        if j >= 0 and not self.coef[j]:
            self.sign[j] = 1.0 if self.rng.random() < 0.5 else -1.0
        return np.asarray(self.target.problem.xty + self.pull * self.sign)

    def _factorise(self, j: int, order: Any, root: Floats, scores: Floats) -> int:
        raised = self._raised(j)
        reached = factorise(
            self.rows.rows, self.rows.slot, self.target.problem.curvature, order, raised, self.ridge,
            root, scores,
        )  # fmt: skip
        return int(reached)

    def _draw_coefficients(self, kept: Any, root: Floats, scores: Floats) -> None:
        super()._draw_coefficients(kept, root, scores)
        self.sign[self.coef == 0.0] = 0.0

    def _forget(self, j: int) -> None:
        if j >= 0 and not self.coef[j]:
            self.sign[j] = 0.0

    def _worth(self, j: int, size: int, pivot_root: float, score: float) -> float:
        """Return the log odds of variable j with its sign, the last of a model of some size."""
        prior = self.target.inclusion
        log_odds = prior.log_odds[j] + prior.by_size[size] - prior.by_size[size - 1]
        gain = 0.5 * (score * score / self.noise + np.log(self.ridge) - self.height)
        return float(gain + log_odds - np.log(pivot_root))

    def _draw_noise(self) -> float:
        """Draw the noise variance; return its mean given coefficients and signs."""
        if self.slab.known_noise is not None:
            return self.noise
        rule = (
            self.shapes[self.shape][1]
            .at(self.variance)
            .signed_rule(self.target.n, self.target.problem.yty)
        )
        n = 2.0 * rule.shape + np.count_nonzero(self.coef)
        square = self._left() + self.ridge * float(self.coef @ self.coef)
        square = 2.0 * rule.rate + max(square, rule.least)
        x = rule.lift * float(self.sign @ self.coef) / np.sqrt(square)
        self.noise = float(square / _draw_inverse_deviation(n, x, self.rng) ** 2)
        return float(square * np.exp(log_integral(n - 2.0, x) - log_integral(n, x)))

    def _draw_variance(self) -> None:
        """Draw the slab's variance and shape given the coefficients, and then their signs."""
        self._slabs.append([float(np.log(self.variance)), self.separation])
        own = self.coef[self.coef != 0.0] / np.sqrt(self.noise)
        if self.target.variance_is_unknown:
            for step in _STEPS:
                there = self.variance * float(np.exp(step * self.rng.standard_normal()))
                gain = self._log_slab(there, own) - self._log_slab(self.variance, own)
                if np.log(self.rng.random()) < gain:
                    self.variance = there
        if len(self.shapes) > 1:
            logs = np.array(
                [
                    log + log_humps(own, self.variance, shape.separation)
                    for log, shape in self.shapes
                ]
            )
            share = np.exp(logs - logsumexp(logs))
            self.shape = int(self.rng.choice(len(share), p=share / share.sum()))
        odds = 2.0 * self.coef * self.pull / self.noise
        plus = self.rng.random(len(odds)) < 1.0 / (1.0 + np.exp(-np.clip(odds, -700, 700)))
        self.sign = np.where(self.coef != 0.0, np.where(plus, 1.0, -1.0), 0.0)

    def _log_slab(self, variance: float, own: Floats) -> float:
        log_density = float(self.target.slab.log_density(np.log(variance)))
        return log_density + log_humps(own, variance, self.separation)


def log_humps(coef: Floats, variance: float, separation: float) -> float:
    """Return the log density of coefficients, in deviations of the noise, under two humps."""
    narrow, place = (1.0 - separation) * variance, np.sqrt(separation * variance)
    near = -0.5 * (np.abs(coef) - place) ** 2 / narrow
    both = near + np.log1p(np.exp(-2.0 * np.abs(coef) * place / narrow))
    return float(np.sum(both) - 0.5 * len(coef) * np.log(8.0 * np.pi * narrow))


def _draw_inverse_deviation(n: float, x: float, rng: np.random.Generator) -> float:
    """Draw u with density u^(n-1) exp(-u^2/2 + x u), by rejection from a normal around its mode."""
    mode = 0.5 * (x + np.sqrt(x * x + 4.0 * (n - 1.0)))
    while True:
        u = mode + rng.standard_normal()
        if u <= 0.0:
            continue
        log_ratio = (n - 1.0) * (np.log(u / mode) - (u - mode) / mode)
        if np.log(rng.random()) < log_ratio:
            return float(u)


@kernel
def _choose_newcomer(length, log_odds, ridge, pull, noise, coef, gradient, draw, chance):
    """Draw the one of the variables that are out which is in, of either sign."""
    for j in range(coef.shape[0]):
        out = coef[j] == 0.0 and length[j] > 0.0
        c, own = length[j] + ridge, abs(gradient[j]) + pull
        gain = 0.5 * (own * own / (c * noise) - logarithm(c))
        gain += logarithm(1.0 + exponential(-2.0 * abs(gradient[j]) * pull / (c * noise)))
        chance[j] = log_odds[j] + gain if out else -np.inf
    return draw_one(chance, draw)


@kernel
def _update(
    length, by_size, log_odds, ridge, pull, height, noise, coef, sign, gradient, order, draws, coins,
    normals, gram, slot, start, stop, averages,
):  # fmt: skip
    """Draw variables ``start`` to ``stop`` of the order in turn; return where a missing row ended it."""
    size = 0
    for j in range(coef.shape[0]):
        size += coef[j] != 0.0
    for place in range(start, stop):
        j = order[place]
        if length[j] <= 0.0:
            continue
        old, c = coef[j], length[j] + ridge
        others = size - (old != 0.0)
        own, spread = gradient[j] + length[j] * old, noise / c
        gap = 2.0 * own * pull / (c * noise)
        log_ratio = 0.5 * ((abs(own) + pull) ** 2 / (c * noise) + np.log(ridge / c) - height)
        log_ratio += np.log(1.0 + np.exp(-abs(gap))) - _LOG_2 + log_odds[j]
        log_ratio += by_size[others + 1] - by_size[others]
        p = 1.0 / (1.0 + np.exp(-log_ratio)) if log_ratio > -700.0 else 0.0
        plus = 1.0 / (1.0 + np.exp(-gap)) if gap > -700.0 else 0.0
        there = 1.0 if coins[j] < plus else -1.0
        new = 0.0
        if draws[j] < p:
            new = (own + there * pull) / c + np.sqrt(spread) * normals[j]
        if new != old:
            if slot[j] < 0:
                return place
            row, change = gram[slot[j]], new - old
            for i in range(coef.shape[0]):
                gradient[i] -= change * row[i]
            coef[j] = new
            size = others + (new != 0.0)
        sign[j] = there if new != 0.0 else 0.0
        mean = (own + (2.0 * plus - 1.0) * pull) / c
        both = own * own + 2.0 * own * pull * (2.0 * plus - 1.0) + pull * pull
        averages.inclusion[j] += p
        averages.mean[j] += p * mean
        averages.square[j] += p * (both / (c * c) + spread)
    return stop

"""The paired Gibbs sampler (Titsias & Lazaro-Gredilla 2011): each coefficient with its inclusion.

Coefficients are not integrated out. Every sweep draws

* which variable one of those in stands for: given that exactly one of it and of those out is in, all of
  them are candidates. Of near copies with strong effects one would never give way to the other if
  variables came and went one at a time;
* every variable in turn: in or out given the coefficients of all others, its own being integrated out,
  and then that;
* one variable in or out with all coefficients integrated out, and then these together, which near copies
  that are both in need. A second copy beside a wide slab would hardly ever come in, or leave, given the
  coefficient of the first;
* the noise variance and the slab's, given the coefficients.

An update costs one operation as long as the coefficient is and stays 0, and a row of the Gram matrix
otherwise.
"""

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.elementary import exponential, logarithm
from garrote.limits.budgets import VISITS_PER_CALL
from garrote.priors.evidence import SMALLEST_LEFT
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.models.joint_coefficients import choose_partner, draw_together, factorise
from garrote.solvers.models.model_chain import Averages, Target, Trail, no_averages

# Sweeps after which the products of columns and residuals are computed anew: roundings add up.
_FRESH = 100
# Rows of the Gram matrix that are fetched at once, the first the missing one.
_FETCHED_ALONG = 15
_LOG_2 = float(np.log(2.0))


class PairedGibbsWalk:
    """A walk whose state are the coefficients; one step is a sweep over all variables."""

    def __init__(self, target: Target, rng: np.random.Generator, rows: GramRows | None = None):
        target.slab.check_independent("gibbs")
        self.target, self.rng, self.slab = target, rng, target.slab
        self.rows = GramRows(target.problem) if rows is None else rows
        self.variance = target.first_variance
        self.coef = np.zeros(target.problem.n_features)
        self.unused = no_averages(target.problem.n_features)
        self._chance, self.sign = np.zeros((2, target.problem.n_features))

    @property
    def ridge(self) -> float:
        """The precision of the coefficients around where the slab has them, times the noise variance."""
        return 1.0 / self.variance

    @property
    def height(self) -> float:
        """The squared distance from zero of where the slab has them, in its own variances."""
        return 0.0

    @property
    def pull(self) -> float:
        """What a positive sign adds to a variable's product with the response."""
        return 0.0

    @property
    def members(self) -> list[int]:
        """The variables of the present model."""
        return [int(j) for j in np.flatnonzero(self.coef)]

    def begin(self, members: list[int]) -> None:
        """Start from the ridge regression on given variables, and the noise that it leaves."""
        problem, columns = self.target.problem, np.array(members, dtype=np.intp)
        self.coef[:] = 0.0
        inside = problem.known_block(columns) + np.eye(len(columns)) / self.variance
        self.coef[columns] = np.linalg.solve(inside, problem.xty[columns])
        self._renew_gradient()
        self.noise = self.slab.known_noise or (
            max(self._left(), SMALLEST_LEFT * problem.yty) / problem.n
        )

    def walk(self, steps: int, averages: Averages | None) -> Trail:
        """Make sweeps; count their states in ``averages`` where it is given, and return the way."""
        flips: list[list[int]] = []
        log_weights: list[list[float]] = []
        variances = []
        for step in range(steps):
            before = set(self.members)
            self._exchange()
            self._sweep(averages)
            self._draw_model(step)
            changed = sorted(before ^ set(self.members))
            # The state before the sweep is left by as many flips as the sweep made in the end; the
            # state after it is the one that counts.
            flips.append([*changed, -1])
            log_weights.append([*[-np.inf] * len(changed), 0.0])
            mean_noise = self._draw_noise()
            if averages is not None:
                averages.weight[0] += 1.0
                averages.by_size[int(np.count_nonzero(self.coef))] += 1.0
                averages.noise[0] += mean_noise
            self._draw_variance()
            variances.append(self.variance)
            if step % _FRESH == _FRESH - 1:
                self._renew_gradient()
        return Trail(
            np.array([j for part in flips for j in part], dtype=np.int64),
            np.array([w for part in log_weights for w in part]),
            np.array(variances),
        )

    def _exchange(self) -> None:
        """Take out one variable, and draw its replacement among all that are out, with a coefficient."""
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
        self.sign[j] = self._draw_sign(j, c)
        mean = (self.gradient[j] + self.sign[j] * self.pull) / c
        self._change(j, float(mean + np.sqrt(self.noise / c) * self.rng.standard_normal()))

    def _draw_sign(self, j: int, precision: float) -> float:
        """Draw the sign of newcomer j: it has none."""
        return 0.0

    def _coins(self, uniforms: Floats) -> Floats:
        """Return what signs are drawn by: there are none."""
        return uniforms

    def _change(self, j: int, value: float) -> None:
        """Give variable j another coefficient."""
        if self.rows.slot[j] < 0:
            self.rows.fetch(j, np.flatnonzero(self.coef))
        self.gradient -= (value - self.coef[j]) * self.rows.rows[self.rows.slot[j]]
        self.coef[j] = value

    def _sweep(self, averages: Averages | None) -> None:
        D = self.target.problem.n_features
        draws = self.rng.random(D)
        normals = self.rng.standard_normal(D)
        # In one order all chains would end in the same one of several near copies, and look sure of it.
        order = self.rng.permutation(D)
        per_call = max(1, int(VISITS_PER_CALL / max(1, len(self.members))))
        done = 0
        while done < D:
            stop = min(D, done + per_call)
            unused = self.unused if averages is None else averages
            done = self._update_some(order, draws, normals, done, stop, unused)
            if done < stop:
                members = np.array(self.members, dtype=np.int64)
                self.rows.fetch(int(order[done]), members, self._likely(order[done + 1 :]))

    def _update_some(
        self,
        order: Array,
        draws: Floats,
        normals: Floats,
        start: int,
        stop: int,
        averages: Averages,
    ) -> int:
        """Draw some of the variables in their order; return where a missing row ended it."""
        problem, prior = self.target.problem, self.target.inclusion
        reached = _update(
            problem.curvature, prior.by_size, prior.log_odds, self.ridge, self.pull, self.height,
            self.noise, self.coef, self.sign, self.gradient, order, draws, self._coins(draws),
            normals, self.rows.rows, self.rows.slot, start, stop, averages,
        )  # fmt: skip
        return int(reached)

    def _likely(self, coming: Array) -> Array:
        """Return those of the variables to come that are likely in and have no row at hand."""
        length = self.target.problem.curvature[coming]
        wanted = np.abs(self.gradient[coming]) / np.sqrt(np.maximum(length, 1e-300))
        wanted = np.where((self.rows.slot[coming] < 0) & (length > 0), wanted, -1.0)
        count = min(_FETCHED_ALONG, len(wanted))
        best = np.argpartition(wanted, -count)[-count:] if count else np.zeros(0, np.intp)
        return coming[best[wanted[best] > 0]]

    def _draw_model(self, step: int) -> None:
        """Draw one variable in or out, and then all coefficients, as often as that is cheap."""
        members, slot = np.flatnonzero(self.coef), self.rows.slot
        for i in members[slot[members] < 0]:
            self.rows.fetch(int(i), members)
        if (slot[members] < 0).any():
            return
        j, log_return = self._candidate(members)
        order = members if j < 0 else np.append(members[members != j], j)
        k = len(order)
        # The size with the variable in: there must be a way back from whichever model comes of it.
        if step % (1 + k**2 // len(self.coef)):
            return
        root, scores = np.empty((k, k)), np.empty(k)
        reached = self._factorise(j, order, root, scores)
        if reached < len(members):
            self._forget(j)
            return
        inside = j < 0 or bool(self.coef[j])
        if j >= 0 and reached == k:
            worth = self._worth(j, k, root[-1, -1], scores[-1])
            if -self.rng.standard_exponential() < log_return + (-worth if inside else worth):
                inside = not inside
        kept = order if inside else order[:-1]
        if inside and j >= 0:
            self.rows.fetch(j, kept)
            if (slot[kept] < 0).any():
                self._forget(j)
                return
        self._draw_coefficients(kept, root, scores)

    def _factorise(self, j: int, order: Array, root: Floats, scores: Floats) -> int:
        """Factorise the cross products of a model, candidate j last; return how far that went."""
        problem = self.target.problem
        reached = factorise(
            self.rows.rows, self.rows.slot, problem.curvature, order, self._products(j), self.ridge,
            root, scores,
        )  # fmt: skip
        return int(reached)

    def _products(self, j: int) -> Floats:
        """Return products with the response, as the signs of members and of candidate j raise them."""
        return self.target.problem.xty

    def _forget(self, j: int) -> None:
        """Take back the sign that a candidate was tried with, if it is out."""
        if j >= 0 and not self.coef[j]:
            self.sign[j] = 0.0

    def _draw_coefficients(self, kept: Array, root: Floats, scores: Floats) -> None:
        """Draw all coefficients of a model together, from its factor."""
        self.coef[:] = 0.0
        draw_together(
            self.rows.rows, self.rows.slot, kept, self.target.problem.xty, self.noise, root, scores,
            self.rng.standard_normal(len(kept)), self.coef, self.gradient,
        )  # fmt: skip
        self.sign[self.coef == 0.0] = 0.0

    def _candidate(self, members: Array) -> tuple[int, float]:
        """Propose a variable to flip; return it and the log odds of proposing it on the way back.

        Half of them are any, and half are likened to one of those in, and not that one itself: of k in,
        one is taken with probability 1 / k. There is none (-1) where none is in or nothing is alike.
        """
        problem, k = self.target.problem, len(members)
        anyone, draw = self.rng.random(2)
        if anyone < 0.5:
            j = int(draw * problem.n_features)
            return (j, 0.0) if problem.curvature[j] > 0 else (-1, 0.0)
        if not k:
            return -1, 0.0
        i = int(members[self.rng.integers(k)])
        j = choose_partner(self.rows.rows[self.rows.slot[i]], problem.curvature, i, draw)
        return j, -np.log((k - 1 if self.coef[j] else k + 1) / k) if j >= 0 else 0.0

    def _worth(self, j: int, size: int, pivot_root: float, score: float) -> float:
        """Return the log odds of variable j being in, the last of a model of some size, given the noise.

        All coefficients are integrated out.
        """
        prior = self.target.inclusion
        log_odds = prior.log_odds[j] + prior.by_size[size] - prior.by_size[size - 1]
        gain = 0.5 * (score * score / self.noise + np.log(self.ridge) - self.height)
        return float(gain + log_odds - np.log(pivot_root))

    def _renew_gradient(self) -> None:
        problem, members = self.target.problem, np.array(self.members, dtype=np.int64)
        self.gradient = problem.xty.astype(np.float64, copy=True)
        for j in members:
            self.rows.fetch(int(j), members)
            self.gradient -= self.coef[j] * self.rows.rows[self.rows.slot[j]]

    def _left(self) -> float:
        """Return the squared residual."""
        problem = self.target.problem
        return max(problem.yty - float(self.coef @ (problem.xty + self.gradient)), 0.0)

    def _draw_noise(self) -> float:
        """Draw the noise variance; return its mean given the coefficients."""
        if self.slab.known_noise is not None:
            return self.noise
        rule = self.target.rule(self.variance)
        size = np.count_nonzero(self.coef)
        square = self._left() + float(self.coef @ self.coef) / self.variance
        shape = rule.shape + 0.5 * size
        # The floor of what is left, so that a model that interpolates does not swallow the chain. Models
        # below it are weighed by others only as if they left so much: here the coefficients are not
        # integrated out, and what their model leaves at best is not known.
        rate = rule.rate + 0.5 * max(square, rule.least)
        self.noise = rate / self.rng.gamma(shape)
        return float(rate / (shape - 1.0))

    def _draw_variance(self) -> None:
        """Draw the slab's variance: 1 / variance ~ Gamma(1/2, 1/2) before seeing the coefficients."""
        if not self.target.variance_is_unknown:
            return
        size, square = np.count_nonzero(self.coef), float(self.coef @ self.coef)
        self.variance = (0.5 + 0.5 * square / self.noise) / self.rng.gamma(0.5 + 0.5 * size)


@kernel
def _choose_newcomer(length, log_odds, ridge, pull, noise, coef, gradient, draw, chance):
    """Draw the one of the variables that are out which is in, of either sign.

    ``chance`` is room for their chances.
    """
    for j in range(coef.shape[0]):
        out = coef[j] == 0.0 and length[j] > 0.0
        c, pulled = length[j] + ridge, abs(gradient[j]) + pull
        gain = 0.5 * (pulled * pulled / (c * noise) - logarithm(c))
        if pull > 0.0:
            gain += logarithm(1.0 + exponential(-2.0 * abs(gradient[j]) * pull / (c * noise)))
        chance[j] = log_odds[j] + gain if out else -np.inf
    return _draw_one(chance, draw)


@kernel
def _draw_one(chance, draw):
    """Draw a variable by the logarithms of chances, which become the chances; -1 where none has any."""
    best = -np.inf
    for j in range(chance.shape[0]):
        best = max(best, chance[j])
    total = 0.0
    for j in range(chance.shape[0]):
        chance[j] = exponential(chance[j] - best) if chance[j] > -np.inf else 0.0
        total += chance[j]
    goal, chosen = draw * total, -1
    for j in range(chance.shape[0]):
        if chance[j] > 0.0:
            chosen = j
            goal -= chance[j]
            if goal < 0.0:
                break
    return chosen


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
        product, spread = gradient[j] + length[j] * old, noise / c
        plus, log_ratio = 0.5, log_odds[j] + by_size[others + 1] - by_size[others]
        log_ratio += 0.5 * ((abs(product) + pull) ** 2 / (c * noise) + np.log(ridge / c) - height)
        if pull > 0.0:
            gap = 2.0 * product * pull / (c * noise)
            log_ratio += np.log(1.0 + np.exp(-abs(gap))) - _LOG_2
            plus = 1.0 / (1.0 + np.exp(-gap)) if gap > -700.0 else 0.0
        p = 1.0 / (1.0 + np.exp(-log_ratio)) if log_ratio > -700.0 else 0.0
        there = 1.0 if coins[j] < plus else -1.0
        new = 0.0
        if draws[j] < p:
            new = (product + there * pull) / c + np.sqrt(spread) * normals[j]
        if new != old:
            if slot[j] < 0:
                return place
            row, change = gram[slot[j]], new - old
            for i in range(coef.shape[0]):
                gradient[i] -= change * row[i]
            coef[j] = new
            size = others + (new != 0.0)
        sign[j] = there if new != 0.0 else 0.0
        mean = (product + (2.0 * plus - 1.0) * pull) / c
        both = product * product + 2.0 * product * pull * (2.0 * plus - 1.0) + pull * pull
        averages.inclusion[j] += p
        averages.mean[j] += p * mean
        averages.square[j] += p * (both / (c * c) + spread)
    return stop

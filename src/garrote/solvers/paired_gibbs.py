"""The paired Gibbs sampler (Titsias & Lazaro-Gredilla 2011): each coefficient with its inclusion.

Coefficients are not integrated out. In turn every variable is taken in or left out given the
coefficients of all others, its own being integrated out, and a new coefficient is drawn if it is in. The
noise variance and the slab's are drawn given the coefficients. An update costs one operation as long as
the coefficient is and stays 0, and a row of the Gram matrix otherwise.
"""

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array
from garrote.priors.slab import GaussianSlab
from garrote.solvers.gram_rows import GramRows
from garrote.solvers.model_chain import VISITS_PER_CALL, Averages, Target, Trail, no_averages

# Sweeps after which the products of columns and residuals are computed anew: roundings add up.
_FRESH = 100
# Rows of the Gram matrix that are fetched at once, the first the missing one.
_FETCHED_ALONG = 15


class PairedGibbsWalk:
    """A walk whose state are the coefficients; one step is a sweep over all variables."""

    def __init__(self, target: Target, rng: np.random.Generator, rows: GramRows | None = None):
        if not isinstance(target.slab, GaussianSlab):
            raise ValueError(
                "method='gibbs' needs prior='spike-slab': a g-prior ties the coefficients together, and "
                "BIC has no law of them"
            )
        self.target, self.rng, self.slab = target, rng, target.slab
        self.rows = GramRows(target.problem) if rows is None else rows
        self.variance = target.first_variance
        self.coef = np.zeros(target.problem.n_features)
        self.unused = no_averages(target.problem.n_features)

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
        self.noise = self.slab.noise_variance or max(self._left(), 1e-6 * problem.yty) / problem.n

    def walk(self, steps: int, averages: Averages | None) -> Trail:
        """Make sweeps; count their states in ``averages`` where it is given, and return the way."""
        flips: list[list[int]] = []
        weights: list[list[float]] = []
        variances = []
        for step in range(steps):
            before = set(self.members)
            self._sweep(averages)
            changed = sorted(before ^ set(self.members))
            # The state before the sweep is left by as many flips as the sweep made in the end; the
            # state after it is the one that counts.
            flips.append([*changed, -1])
            weights.append([*[0.0] * len(changed), 1.0])
            mean_noise = self._draw_noise()
            if averages is not None:
                averages.noise[0] += mean_noise
            self._draw_variance()
            variances.append(self.variance)
            if step % _FRESH == _FRESH - 1:
                self._renew_gradient()
        return Trail(
            np.array([j for part in flips for j in part], dtype=np.int64),
            np.array([w for part in weights for w in part]),
            np.array(variances),
        )

    def _sweep(self, averages: Averages | None) -> None:
        problem, prior, slot = self.target.problem, self.target.inclusion, self.rows.slot
        D = problem.n_features
        draws = self.rng.random(D)
        normals = self.rng.standard_normal(D)
        # In one order all chains would end in the same one of several near copies, and look sure of it.
        order = self.rng.permutation(D)
        per_call = max(1, int(VISITS_PER_CALL / max(1, len(self.members))))
        done = 0
        while done < D:
            stop = min(D, done + per_call)
            done = _update(
                problem.curvature, prior.by_size, prior.log_odds, 1.0 / self.variance, self.noise,
                self.coef, self.gradient, order, draws, normals, self.rows.rows, slot, done, stop,
                self.unused if averages is None else averages,
            )  # fmt: skip
            if done < stop:
                members = np.array(self.members, dtype=np.int64)
                self.rows.fetch(int(order[done]), members, self._likely(order[done + 1 :]))
        if averages is not None:
            averages.weight[0] += 1.0
            averages.by_size[int(np.count_nonzero(self.coef))] += 1.0

    def _likely(self, coming: Array) -> Array:
        """Return those of the variables to come that are likely in and have no row at hand."""
        length = self.target.problem.curvature[coming]
        wanted = np.abs(self.gradient[coming]) / np.sqrt(np.maximum(length, 1e-300))
        wanted = np.where((self.rows.slot[coming] < 0) & (length > 0), wanted, -1.0)
        count = min(_FETCHED_ALONG, len(wanted))
        best = np.argpartition(wanted, -count)[-count:] if count else np.zeros(0, np.intp)
        return coming[best[wanted[best] > 0]]

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
        if self.slab.noise_variance is not None:
            return self.noise
        rule = self.target.rule(self.variance)
        size = np.count_nonzero(self.coef)
        square = self._left() + float(self.coef @ self.coef) / self.variance
        shape = rule.shape + 0.5 * size
        rate = rule.rate + 0.5 * square
        self.noise = rate / self.rng.gamma(shape)
        return float(rate / (shape - 1.0))

    def _draw_variance(self) -> None:
        """Draw the slab's variance: 1 / variance ~ Gamma(1/2, 1/2) before seeing the coefficients."""
        if not self.target.variance_is_unknown:
            return
        size, square = np.count_nonzero(self.coef), float(self.coef @ self.coef)
        self.variance = (0.5 + 0.5 * square / self.noise) / self.rng.gamma(0.5 + 0.5 * size)


@kernel
def _update(
    length, by_size, log_odds, ridge, noise, coef, gradient, order, draws, normals, gram, slot, start,
    stop, averages,
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
        mean = (gradient[j] + length[j] * old) / c
        spread = noise / c
        log_ratio = 0.5 * np.log(ridge / c) + 0.5 * mean * mean / spread + log_odds[j]
        log_ratio += by_size[others + 1] - by_size[others]
        p = 1.0 / (1.0 + np.exp(-log_ratio)) if log_ratio > -700.0 else 0.0
        new = mean + np.sqrt(spread) * normals[j] if draws[j] < p else 0.0
        if new != old:
            if slot[j] < 0:
                return place
            row, change = gram[slot[j]], new - old
            for i in range(coef.shape[0]):
                gradient[i] -= change * row[i]
            coef[j] = new
            size = others + (new != 0.0)
        averages.inclusion[j] += p
        averages.mean[j] += p * mean
        averages.square[j] += p * (mean * mean + spread)
    return stop

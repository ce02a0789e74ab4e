"""A Gibbs sampler of a logistic spike-and-slab regression, by Polya-Gamma variables.

Given omega_i ~ PG(weight_i, eta_i) the log likelihood is quadratic in the linear predictor (Polson,
Scott & Windle 2013): kappa_i eta_i - omega_i eta_i^2 / 2 with kappa_i = weight_i (y_i - 1/2). So
every sweep draws

* omega, then the intercept and the covariates together;
* every variable in turn: in or out given the others' coefficients, its own integrated out, and then
  that;
* which variable one of those in stands for: given that exactly one of it and of those out is in, all
  of them are candidates. Near copies of a column are exchanged by this, which hardly ever happens one
  at a time;
* the slab's variance, where it is unknown.

Under a slab of two humps (`garrote.solvers.labels.humped_gibbs`) a variable that is drawn sums over both
signs of its hump.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.limits.budgets import ENTRIES_PER_CALL
from garrote.solvers.labels.polya_gamma import fill_polya_gamma
from garrote.solvers.models.model_chain import Averages, Target, Trail, no_averages


class LabelledRows(NamedTuple):
    """Standardised columns, one a row of the array, and what is in every model.

    ``fixed`` are the intercept and covariates, whose priors have precisions ``held``; ``labels`` are
    0 or 1, and ``offset`` is a known part of their log odds. A column without content is all 0.
    """

    columns: Floats
    fixed: Floats
    held: Floats
    labels: Floats
    weights: Floats
    offset: Floats


class Drawn(NamedTuple):
    """One state: coefficients of the fixed columns, the variables that are in, and theirs."""

    fixed: Floats
    members: Array
    values: Floats


class LogisticGibbsWalk:
    """A walk whose state are coefficients; one step is a sweep over all variables.

    Every ``keep_every``-th state that counts is kept in ``drawn``.
    """

    def __init__(
        self, target: Target, rows: LabelledRows, rng: np.random.Generator, keep_every: int = 1
    ):
        self.target, self.rows, self.rng = target, rows, rng
        self.keep_every, self.drawn = keep_every, list[Drawn]()
        self.variance = target.first_variance
        self.coef = np.zeros(len(rows.columns))
        self.fixed = np.zeros(len(rows.fixed))
        self.kappa = rows.weights * (rows.labels - 0.5)
        self.omega = np.zeros(len(rows.labels))
        # Columns without content are never in, however many they are.
        self.usable = np.flatnonzero(target.inclusion.log_odds > -np.inf)
        self.unused = no_averages(len(rows.columns))
        self._seen = 0

    @property
    def humps(self) -> tuple[float, float, float]:
        """Ridge, lift and height of the slab; see `garrote.priors.evidence.humps`."""
        return 1.0 / self.variance, 0.0, 0.0

    @property
    def members(self) -> list[int]:
        """The variables of the present model."""
        return [int(j) for j in np.flatnonzero(self.coef)]

    def begin(self, members: list[int]) -> None:
        """Start from given variables, with coefficients next to 0."""
        self.coef[:] = 0.0
        # An exact 0 is out of the model; the first sweep draws all coefficients anew.
        self.coef[members] = 1e-12
        self._renew()

    def _renew(self) -> None:
        """Compute the linear predictor anew: roundings add up."""
        inside = np.flatnonzero(self.coef)
        self.eta = self.rows.offset + self.fixed @ self.rows.fixed
        self.eta += self.coef[inside] @ self.rows.columns[inside]

    def walk(self, steps: int, averages: Averages | None) -> Trail:
        """Make sweeps; count their states in ``averages`` where it is given, and return the way."""
        flips: list[int] = []
        log_weights: list[float] = []
        variances = []
        for _ in range(steps):
            before = self.coef != 0.0
            self._draw_weights()
            self._sweep(averages)
            self._relocate()
            self._renew()
            self._draw_variance()
            changed = np.flatnonzero(before != (self.coef != 0.0)).tolist()
            # The state before the sweep is left by as many flips as it made in the end; the state
            # after it is the one that counts.
            flips += [*changed, -1]
            log_weights += [*[-np.inf] * len(changed), 0.0]
            variances.append(self.variance)
            if averages is not None:
                self._keep()
        return Trail(np.array(flips, dtype=np.int64), np.array(log_weights), np.array(variances))

    def _draw_weights(self) -> None:
        """Draw omega, and the coefficients of the fixed columns given it."""
        fill_polya_gamma(self.rng, self.rows.weights, self.eta, self.omega)
        fixed = self.rows.fixed
        self.slope = self.kappa - self.omega * self.eta
        if not len(fixed):
            return
        weighted = fixed * self.omega
        precision = weighted @ fixed.T
        right = fixed @ self.slope + precision @ self.fixed
        normals = self.rng.standard_normal(len(fixed))
        if len(fixed) == 1:
            total = float(precision[0, 0] + self.rows.held[0])
            new = right / total + normals / np.sqrt(total)
        else:
            precision[np.diag_indices_from(precision)] += self.rows.held
            root = cholesky(precision, lower=True, check_finite=False)
            half = solve_triangular(root, right, lower=True, check_finite=False)
            new = solve_triangular(root.T, half + normals, check_finite=False)
        self.slope -= (new - self.fixed) @ weighted
        self.fixed = new

    def _sweep(self, averages: Averages | None) -> None:
        count, prior = len(self.usable), self.target.inclusion
        draws, normals = np.empty((2, len(self.coef)))
        draws[self.usable], normals[self.usable] = (
            self.rng.random(count),
            self.rng.standard_normal(count),
        )
        order = self.usable[self.rng.permutation(count)]
        per_call = max(1, int(ENTRIES_PER_CALL / max(1, len(self.eta))))
        for first in range(0, count, per_call):
            _update(
                self.rows.columns, self.omega, self.slope, prior.by_size, prior.log_odds,
                self.humps, self.coef, order[first : first + per_call], draws, normals,
                self.unused if averages is None else averages,
            )  # fmt: skip
        if averages is not None:
            averages.weight[0] += 1.0
            averages.by_size[int(np.count_nonzero(self.coef))] += 1.0

    def _relocate(self) -> None:
        """Draw anew which variable one of those in stands for, and its coefficient."""
        members = np.flatnonzero(self.coef)
        if not len(members):
            return
        j = int(members[self.rng.integers(len(members))])
        columns = self.rows.columns
        self.slope += self.coef[j] * self.omega * columns[j]
        self.coef[j] = 0.0
        count = len(self.usable)
        log_weight, mean, precision = np.empty((3, count))
        per_call = max(1, int(ENTRIES_PER_CALL / max(1, len(self.eta))))
        for first in range(0, count, per_call):
            some = slice(first, first + per_call)
            _weigh(
                columns, self.omega, self.slope, self.target.inclusion.log_odds, self.humps,
                self.coef, self.usable[some], log_weight[some], mean[some], precision[some],
            )  # fmt: skip
        chance = np.cumsum(np.exp(log_weight - log_weight.max()))
        k = int(np.searchsorted(chance, self.rng.random() * chance[-1], side="right"))
        k = min(k, count - 1)
        coef = mean[k] + self._pulled(mean[k], precision[k])
        self.coef[self.usable[k]] = coef + self.rng.standard_normal() / np.sqrt(precision[k])

    def _pulled(self, mean: float, precision: float) -> float:
        """Draw by how much a sign pulls a coefficient that comes in."""
        return 0.0

    def _draw_variance(self) -> None:
        """Draw the slab's variance, whose inverse has a Gamma law before seeing the coefficients."""
        slab = self.target.slab
        if not slab.variance_is_unknown:
            return
        shape, rate = slab.law
        size, square = np.count_nonzero(self.coef), float(self.coef @ self.coef)
        self.variance = (rate + 0.5 * square) / self.rng.gamma(shape + 0.5 * size)

    def _keep(self) -> None:
        if self._seen % self.keep_every == 0:
            members = np.flatnonzero(self.coef)
            self.drawn.append(Drawn(self.fixed.copy(), members, self.coef[members]))
        self._seen += 1


@kernel(inline=True)
def _gain(product, c, humps):
    """Return the log evidence of a variable, of both signs, and how probable its hump is the upper one.

    ``product`` is that of its column with what the others leave, ``c`` its precision given inclusion.
    """
    ridge, lift, height = humps
    gain, upper = 0.5 * np.log(ridge / c), 0.5
    if lift > 0.0:
        gap = 2.0 * product * lift / c
        upper = 1.0 / (1.0 + np.exp(-gap)) if gap > -700.0 else 0.0
        gain += 0.5 * (lift * lift / c - height) + np.log(0.5 + 0.5 * np.exp(-abs(gap)))
        gain += 0.5 * abs(gap)
    return gain, upper


@kernel
def _update(columns, omega, slope, by_size, log_odds, humps, coef, order, draws, normals, averages):
    """Draw variables in turn; ``slope`` is kappa - omega eta, and follows."""
    ridge, lift, _ = humps
    rows = omega.shape[0]
    size = 0
    for j in range(coef.shape[0]):
        size += coef[j] != 0.0
    for j in order:
        column, old = columns[j], coef[j]
        length, product = 0.0, 0.0
        for i in range(rows):
            length += omega[i] * column[i] * column[i]
            product += slope[i] * column[i]
        others = size - (old != 0.0)
        c = length + ridge
        mean = (product + length * old) / c
        gain, upper = _gain(product + length * old, c, humps)
        log_ratio = gain + 0.5 * mean * mean * c + log_odds[j]
        log_ratio += by_size[others + 1] - by_size[others]
        p = 1.0 / (1.0 + np.exp(-log_ratio)) if log_ratio > -700.0 else 0.0
        # A draw that lets the variable in is even below p: it tells the hump, too.
        pull = lift / c if draws[j] < p * upper else -lift / c
        new = mean + pull + normals[j] / np.sqrt(c) if draws[j] < p else 0.0
        if new != old:
            change = new - old
            for i in range(rows):
                slope[i] -= change * omega[i] * column[i]
            coef[j] = new
            size = others + (new != 0.0)
        tilt = (2.0 * upper - 1.0) * lift / c
        averages.inclusion[j] += p
        averages.mean[j] += p * (mean + tilt)
        averages.square[j] += p * (
            mean * mean + 2.0 * mean * tilt + lift * lift / (c * c) + 1.0 / c
        )


@kernel
def _weigh(columns, omega, slope, log_odds, humps, coef, places, log_weight, mean, precision):
    """Fill in the log weight with which each variable that is out would be the one that is in."""
    for k, j in enumerate(places):
        log_weight[k] = -np.inf
        if coef[j] != 0.0:
            continue
        column = columns[j]
        length, product = 0.0, 0.0
        for i in range(omega.shape[0]):
            length += omega[i] * column[i] * column[i]
            product += slope[i] * column[i]
        c = length + humps[0]
        mean[k], precision[k] = product / c, c
        gain, _ = _gain(product, c, humps)
        log_weight[k] = log_odds[j] + gain + 0.5 * product * product / c

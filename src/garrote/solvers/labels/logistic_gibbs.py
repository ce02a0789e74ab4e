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

from garrote.arrays import Array, Floats
from garrote.limits.budgets import ENTRIES_PER_CALL
from garrote.solvers.labels.logistic_draws import (
    GibbsState,
    Given,
    LabelledRows,
    count_state,
    draw_all,
    draw_for,
    draw_weights,
    leave_out,
    predict,
    put_in,
    update,
    weigh,
)
from garrote.solvers.models.model_chain import Averages, Target, Trail, no_averages


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
        columns, n = rows.columns.shape
        eta, omega, slope = np.zeros((3, n))
        self.state = GibbsState(np.zeros(columns), np.zeros(len(rows.fixed)), eta, omega, slope)
        # Columns without content are never in, however many they are.
        self.usable = np.flatnonzero(target.inclusion.log_odds > -np.inf)
        self.unused = no_averages(columns)
        self._seen = 0

    @property
    def humps(self) -> tuple[float, float, float]:
        """Ridge, lift and height of the slab; see `garrote.priors.evidence.humps`."""
        return 1.0 / self.variance, 0.0, 0.0

    @property
    def coef(self) -> Floats:
        """The coefficients of all columns, 0 of those that are out."""
        return self.state.coef

    @property
    def members(self) -> list[int]:
        """The variables of the present model."""
        return [int(j) for j in np.flatnonzero(self.coef)]

    def begin(self, members: list[int]) -> None:
        """Start from given variables, with coefficients next to 0."""
        self.coef[:] = 0.0
        # An exact 0 is out of the model; the first sweep draws all coefficients anew.
        self.coef[members] = 1e-12
        predict(self.rows, self.state)

    def walk(self, steps: int, averages: Averages | None) -> Trail:
        """Make sweeps; count their states in ``averages`` where it is given, and return the way."""
        flips: list[int] = []
        log_weights: list[float] = []
        variances = []
        for _ in range(steps):
            before = self.coef != 0.0
            self._step(self.unused if averages is None else averages)
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

    def _step(self, averages: Averages) -> None:
        """Draw everything once, but for the slab; in pieces where columns are many."""
        prior, count = self.target.inclusion, len(self.usable)
        given = Given(prior.by_size, prior.log_odds, self.humps, self.usable)
        per_call = max(1, int(ENTRIES_PER_CALL / max(1, len(self.state.eta))))
        if count <= per_call:
            draw_all(self.rng, self.rows, self.state, given, averages)
            return
        draw_weights(self.rng, self.rows, self.state)
        draws = draw_for(self.rng, len(self.coef), self.usable)
        for first in range(0, count, per_call):
            last = first + per_call
            update(self.rows.columns, self.state, given, first, last, draws, averages)
        count_state(self.coef, averages)
        self._relocate(given, per_call)
        predict(self.rows, self.state)

    def _relocate(self, given: Given, per_call: int) -> None:
        """Draw anew which variable one of those in stands for, and its coefficient."""
        if leave_out(self.rng, self.rows.columns, self.state) < 0:
            return
        weighed = np.empty((3, len(self.usable)))
        for first in range(0, len(self.usable), per_call):
            weigh(self.rows.columns, self.state, given, first, first + per_call, weighed)
        put_in(self.rng, self.state.coef, given, weighed)

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
            self.drawn.append(Drawn(self.state.fixed.copy(), members, self.coef[members]))
        self._seen += 1

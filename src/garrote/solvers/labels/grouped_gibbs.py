"""The Polya-Gamma sampler of labels where columns are in or out in groups.

As in `garrote.solvers.labels.logistic_gibbs`, but every group is drawn in turn: in or out given the
others' coefficients, its own integrated out together, and then these together. A group that the
prior does not let go is in, one that it does not let come is out. One of the groups that are in is then
exchanged, for any of those out.
"""

import numpy as np

from garrote._jit import kernel
from garrote.priors.grouped_inclusion import InclusionOfGroups
from garrote.priors.structured.switch_table import flip, prior_gain, take_out_everyone
from garrote.solvers.algebra.factor_updates import factor_column
from garrote.solvers.labels.logistic_draws import LabelledRows, draw_weights, predict
from garrote.solvers.labels.logistic_gibbs import LogisticGibbsWalk
from garrote.solvers.models.grouped.group_odds import group_table
from garrote.solvers.models.model_chain import Averages, Target


class GroupedLogisticWalk(LogisticGibbsWalk):
    """A walk whose state are coefficients; one step is a sweep over all groups of columns."""

    def __init__(
        self,
        target: Target,
        rows: LabelledRows,
        rng: np.random.Generator,
        keep_every: int,
        law: InclusionOfGroups,
    ):
        super().__init__(target, rows, rng, keep_every)
        self.table = group_table(target.problem, law)
        self.first = self.table.columns[self.table.first[:-1]]

    def _step(self, averages: Averages) -> None:
        """Draw everything once, but for the slab."""
        draw_weights(self.rng, self.rows, self.state)
        self._sweep(averages)
        self._exchange()
        predict(self.rows, self.state)

    def _sweep(self, averages: Averages) -> None:
        inside = self.coef[self.first] != 0.0
        order = self.rng.permutation(len(inside))
        draws, normals = self.rng.random(len(inside)), self.rng.standard_normal(len(self.coef))
        _update(
            self.rows.columns, self.state.omega, self.state.slope, self.table, 1.0 / self.variance,
            self.coef, inside, order, draws, normals, averages,
        )  # fmt: skip
        averages.weight[0] += 1.0
        averages.by_size[int(inside.sum())] += 1.0

    def _exchange(self) -> None:
        """Draw anew which group one of those in stands for, and its coefficients."""
        inside = self.coef[self.first] != 0.0
        members = np.flatnonzero(inside)
        if not len(members):
            return
        leaves = int(members[self.rng.integers(len(members))])
        normals = self.rng.standard_normal(len(self.table.vector))
        _exchange(
            self.rows.columns, self.state.omega, self.state.slope, self.table, 1.0 / self.variance,
            self.coef, inside, leaves, self.rng.random(), normals,
        )  # fmt: skip


@kernel
def _take_stock(table, inside):
    """Make the present set of the prior that of the state."""
    take_out_everyone(table.switches)
    for g in range(inside.shape[0]):
        if inside[g]:
            flip(table.switches, g)


@kernel
def _describe(columns, omega, slope, table, ridge, coef, g):
    """Factorise a group's precision, its own coefficients not yet taken off; return its log evidence.

    The factor is left in ``square``, and what it makes of the products with the slope in ``vector``.
    """
    first, r = table.first[g], table.first[g + 1] - table.first[g]
    square, vector, rows = table.square, table.vector, omega.shape[0]
    gain = 0.5 * r * np.log(ridge)
    for a in range(r):
        one, product = columns[table.columns[first + a]], 0.0
        for i in range(rows):
            product += slope[i] * one[i]
        vector[a] = product
        for b in range(a + 1):
            two, entry = columns[table.columns[first + b]], 0.0
            for i in range(rows):
                entry += omega[i] * one[i] * two[i]
            square[b, a] = entry
            table.beside[b, a] = table.beside[a, b] = entry
    for a in range(r):
        for b in range(r):
            vector[a] += table.beside[a, b] * coef[table.columns[first + b]]
    for a in range(r):
        pivot = factor_column(square, a, square[a, a] + ridge)
        square[a, a] = np.sqrt(pivot)
        for b in range(a):
            vector[a] -= square[b, a] * vector[b]
        vector[a] /= square[a, a]
        gain += 0.5 * vector[a] * vector[a] - 0.5 * np.log(pivot)
    return gain


@kernel
def _solve(table, right, r):
    """Solve by the transpose of the factor that ``square`` has, in place."""
    for a in range(r - 1, -1, -1):
        for b in range(a + 1, r):
            right[a] -= table.square[a, b] * right[b]
        right[a] /= table.square[a, a]


@kernel
def _place(columns, omega, slope, table, coef, g, new):
    """Give a group other coefficients; the slope follows."""
    first = table.first[g]
    for a in range(table.first[g + 1] - first):
        j = table.columns[first + a]
        change = new[a] - coef[j]
        if change != 0.0:
            for i in range(omega.shape[0]):
                slope[i] -= change * omega[i] * columns[j, i]
            coef[j] = new[a]


@kernel
def _average(table, averages, g, p):
    """Count a group's probability, and the moments of its coefficients given that it is in."""
    first, r = table.first[g], table.first[g + 1] - table.first[g]
    for a in range(r):
        table.other[a] = table.vector[a]
    _solve(table, table.other, r)
    for a in range(r):
        # A column of the factor's inverse: its squares add up to the variance.
        for b in range(r):
            table.cross[0, b] = 0.0
        spread = 0.0
        table.cross[0, a] = 1.0
        for b in range(a, r):
            entry = table.cross[0, b]
            for c in range(a, b):
                entry -= table.square[c, b] * table.cross[0, c]
            table.cross[0, b] = entry / table.square[b, b]
            spread += table.cross[0, b] ** 2
        j, mean = table.columns[first + a], table.other[a]
        averages.inclusion[j] += p
        averages.mean[j] += p * mean
        averages.square[j] += p * (mean * mean + spread)


@kernel
def _update(
    columns, omega, slope, table, ridge, coef, inside, order, draws, normals, averages
):  # fmt: skip
    """Draw groups in turn; ``slope`` is kappa - omega eta, and follows."""
    _take_stock(table, inside)
    for g in order:
        prior = prior_gain(table.switches, g)
        if prior == -np.inf:
            continue
        first, r = table.first[g], table.first[g + 1] - table.first[g]
        log_ratio = _describe(columns, omega, slope, table, ridge, coef, g) + prior
        p = 1.0 / (1.0 + np.exp(-log_ratio)) if log_ratio > -700.0 else 0.0
        p = 1.0 if prior == np.inf else p
        _average(table, averages, g, p)
        stays = inside[g]
        inside[g] = draws[g] < p
        if inside[g] != stays:
            flip(table.switches, g)
        for a in range(r):
            table.other[a] = 0.0
            if inside[g]:
                table.other[a] = table.vector[a] + normals[table.columns[first + a]]
        _solve(table, table.other, r)
        _place(columns, omega, slope, table, coef, g, table.other)


@kernel
def _exchange(columns, omega, slope, table, ridge, coef, inside, leaves, draw, normals):
    """Take a group out, and one of those that may come in, by their weights; it may be the same."""
    _take_stock(table, inside)
    if np.isinf(prior_gain(table.switches, leaves)):
        return
    flip(table.switches, leaves)
    nothing = np.zeros(table.vector.shape[0])
    _place(columns, omega, slope, table, coef, leaves, nothing)
    inside[leaves] = False
    count = inside.shape[0]
    logs, best = np.full(count, -np.inf), -np.inf
    for g in range(count):
        prior = -np.inf if inside[g] else prior_gain(table.switches, g)
        if prior > -np.inf:
            logs[g] = _describe(columns, omega, slope, table, ridge, coef, g) + prior
            best = max(best, logs[g])
    total, comes = 0.0, leaves
    for g in range(count):
        total += np.exp(logs[g] - best)
    goal = draw * total
    for g in range(count):
        if logs[g] > -np.inf:
            comes = g
            goal -= np.exp(logs[g] - best)
            if goal < 0.0:
                break
    _describe(columns, omega, slope, table, ridge, coef, comes)
    r = table.first[comes + 1] - table.first[comes]
    for a in range(r):
        table.other[a] = table.vector[a] + normals[a]
    _solve(table, table.other, r)
    _place(columns, omega, slope, table, coef, comes, table.other)
    inside[comes] = True

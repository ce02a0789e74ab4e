"""Sets of groups that have to be fitted one by one, each of them once: all, or those on a walk."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.priors.grouped_inclusion import InclusionOfGroups
from garrote.solvers.models.fitted_models import FittedModel, Table, fit_over_slabs
from garrote.solvers.models.fitted_walk import FittedTarget, Members


class FittedGroups(FittedTarget):
    """Log weights of sets of groups; a set's variables are the columns of its groups.

    ``columns`` are those of each group, by their places among the variables of the tables.
    """

    def __init__(
        self,
        likelihood: Any,
        tables: Sequence[tuple[float, Table]],
        penalty: float,
        law: InclusionOfGroups,
        columns: Sequence[Array],
    ):
        flat = np.zeros(tables[0][1].n_variables + 1)
        super().__init__(likelihood, tables, penalty, flat, flat[1:])
        self.law, self.columns = law, columns

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self.columns)

    def variables(self, members: Members) -> Array:
        """Return the columns of a set, by their places among the variables."""
        each = [np.zeros(0, np.int64), *(self.columns[g] for g in members)]
        return np.sort(np.concatenate(each)).astype(np.int64)

    def log_weight(self, members: Members, near: Members = ()) -> float:
        """Return a set's log weight; sets that the law does not allow are not fitted."""
        if members not in self.known:
            inside = np.zeros((1, len(self.law)), dtype=bool)
            inside[0, list(members)] = True
            prior, columns = float(self.law.log_prior(inside)[0]), self.variables(members)
            if prior > -np.inf:
                start = self._start(near)
                self.fitted[members] = fit_over_slabs(self.likelihood, self.tables, columns, start)
                prior += self.fitted[members].log_likelihood - self.penalty * len(columns)
            self.known[members] = float(prior)
        return self.known[members]

    def _places(self, members: Members) -> Array:
        return self.table.members(self.variables(members))

    def gains(self, members: Members) -> Floats:
        """Return by how much each group would about raise the log weight; -inf for those in.

        Columns of a group are taken for independent of each other, which rotated ones nearly are.
        """
        gain, inside = self._column_gains(members), np.zeros(len(self.law), dtype=bool)
        inside[list(members)] = True
        prior, now = np.full(self.count, -np.inf), self.law.log_prior(inside)[0]
        for g in np.flatnonzero(~inside):
            inside[g] = True
            prior[g] = self.law.log_prior(inside)[0] - now
            inside[g] = False
        return prior + [gain[members].sum() for members in self.columns]


def fit_sets(target: FittedGroups, inside: Array, report: Any = None) -> None:
    """Fit all given sets, each from one that has a group less, if that is known."""
    for done, row in enumerate(inside, 1):
        members = tuple(int(g) for g in np.flatnonzero(row))
        target.log_weight(members, members[:-1])
        if report is not None:
            report(done, len(inside))


def average_sets(
    target: FittedGroups, logs: Floats, sets: Sequence[Members]
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return probabilities of sets, inclusion of groups, and moments of all columns, over the sets."""
    probability = np.exp(logs - logs.max())
    probability /= probability.sum()
    columns = len(target.table.samples.columns)
    inclusion, mean, square = np.zeros(target.count), np.zeros(columns), np.zeros(columns)
    for members, p in zip(sets, probability, strict=True):
        model: FittedModel = target.fitted[members]
        places = target.table.members(target.variables(members))
        inclusion[list(members)] += p
        mean[places] += p * model.coef
        square[places] += p * (model.coef**2 + model.variance)
    return probability, inclusion, mean, square

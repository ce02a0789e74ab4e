"""Which columns matter: who joins the working set, who may be left out of residuals and solutions."""

from collections.abc import Sequence

import numpy as np
from scipy.special import expit

from garrote._jit import kernel
from garrote.arrays import Array
from garrote.solvers.garrote.sweeps import State
from garrote.solvers.garrote.working_set import WorkingSet

# A column joins the working set when its inclusion probability passes this, or this multiple of the
# smallest one that gamma allows: near the dense end every column is above any fixed threshold.
_JOINS = 0.02
_JOINS_OVER_PRIOR = 4.0
# With those that must join come the strongest others, up to this many: they are likely to be next.
_COMPANY = 16
# Outsiders are left out of the residual while their effect stays below this share of the tolerance.
_UNNOTICED = 1.0
# Columns with probabilities below this share of the tolerance are not listed in a solution.
_NEGLIGIBLE = 0.01
# The same for all columns that are not listed taken together, in standard errors.
_NEGLECTED_TOGETHER = 0.05
_TINY = 1e-12


class Screening:
    """Judges columns by states of the equations, for one working set."""

    def __init__(self, working: WorkingSet, tol: float):
        self.working, self.problem, self.tol = working, working.problem, tol

    def negligible(self, state: State, tolerance: float) -> float:
        """Return the inclusion probability up to which columns do not matter."""
        cutoff = _NEGLIGIBLE * tolerance
        nobody = np.zeros(self.problem.n_features, dtype=bool)
        while cutoff > 0 and self._effect(state, nobody, cutoff) > _NEGLECTED_TOGETHER * tolerance:
            cutoff = cutoff / 10 if cutoff > _TINY else 0.0
        return cutoff

    def admit(self, state: State) -> bool:
        """Let the outsiders that should be in the working set join it; tell whether any did."""
        outside = self.working.outside
        newcomers = self.newcomers(state, outside)
        if not len(newcomers) and self.outsiders_noticed(state):
            listed = outside[state.probability[outside] > _NEGLIGIBLE * self.tol]
            if len(listed) <= max(64, len(self.working)):
                newcomers = listed
        self.working.add(newcomers)
        return len(newcomers) > 0

    def outsiders_noticed(self, state: State) -> bool:
        """Tell whether the outsiders' joint effect on a typical coefficient passes the tolerance."""
        return self._effect(state, self.working.contains, 1.0) > _UNNOTICED * self.tol

    def _effect(self, state: State, left_out: Array, cutoff: float) -> float:
        """Return what columns do together to the least-squares value of an unrelated one.

        Of those not ``left_out`` whose probability is at most ``cutoff``. The root of their explained
        sum of squares is shared over N directions; the largest share among many columns is some four
        times the typical one. In standard errors.
        """
        squares = _explained(
            state.probability, state.target, self.problem.curvature, left_out, cutoff
        )
        return float(4 * np.sqrt(state.precision * squares / self.problem.n))

    def newcomers(self, state: State, columns: Array) -> Array:
        """Return which of some outsiders must join the set, in some company, or none."""
        m = state.probability[columns]
        threshold = min(0.5, max(_JOINS, _JOINS_OVER_PRIOR * float(expit(state.gamma))))
        eager = int(np.count_nonzero(m > threshold))
        if not eager:
            return columns[:0]
        company = max(_COMPANY, min(len(self.working) // 4, 3 * _COMPANY))
        count = min(max(company, min(eager, max(64, len(self.working)))), len(columns))
        strongest = np.sort(np.argpartition(-m, count - 1)[:count])
        return columns[strongest[np.argsort(-m[strongest], kind="stable")]]

    def admit_from(self, states: Sequence[State]) -> None:
        """Let the outsiders join the working set that must by any of some states."""
        for state in states:
            self.working.add(self.newcomers(state, self.working.outside))


@kernel
def _explained(probability, target, curvature, left_out, cutoff):
    total = 0.0
    for j in range(curvature.shape[0]):
        m = probability[j]
        if m <= cutoff and not left_out[j]:
            total += (m * target[j]) ** 2 * curvature[j]
    return total

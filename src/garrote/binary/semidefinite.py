"""The semidefinite bound: switches relaxed to directions, and the diagonal that proves a bound.

With signs s = 2x - 1 and one more sign that is 1, the function is a constant plus s'Qs. For every
diagonal d with d - Q positive semidefinite, s'Qs <= sum d; and N times the largest eigenvalue of
Q - d mends a d that is not quite there. The best d is the dual of the relaxation in which signs are
unit vectors (Goemans & Williamson 1995), and also that of the concave quadratic function that is
smallest on the whole cube (Hammer & Rubin 1970). Directions are improved one at a time (Wang, Chang
& Kolter 2017); at their optimum d_i is the length of what the others ask of direction i.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigvalsh

from garrote._jit import kernel
from garrote.arrays import Floats
from garrote.binary.couplings import DenseCouplings, add_directions
from garrote.binary.programme import BinaryProgramme
from garrote.limits.budgets import PRODUCTS_PER_CALL

# Sweeps over all directions, and by what share of itself a bound may be above the best.
_MOST_SWEEPS = 2000
_NEAR = 1e-5


class Relaxed(NamedTuple):
    """An upper bound, and how far each switch's direction is along the one that is 1."""

    bound: float
    aligned: Floats


def semidefinite_bound(programme: BinaryProgramme, enough: float = -np.inf) -> float:
    """Return an upper bound of the function, near that of the semidefinite relaxation.

    Parameters
    ----------
    programme : BinaryProgramme
    enough : float
        A value of the function: no smaller bound is looked for once it is reached.
    """
    return relax(programme, enough).bound


def relax(
    programme: BinaryProgramme, enough: float, near: float = _NEAR, far: float = 0.0
) -> Relaxed:
    """Improve directions until their bound is ``enough``, or as near as asked to the best there is.

    ``near`` and ``far`` are shares of the bound; the latter is near enough where the relaxation itself
    is above ``enough``.
    """
    single = programme.single
    coupled = np.asarray(programme.slope(np.ones(len(single))) - single)
    constant = 0.5 * float(single.sum()) + 0.125 * float(coupled.sum())
    relaxation = _Relaxation(programme, 0.25 * single + 0.125 * coupled)
    best, sweeps, until = np.inf, 0, 10
    while True:
        while sweeps < until:
            relaxation.sweep()
            sweeps += 1
        reached, proved = relaxation.bracket()
        best = min(best, constant + proved)
        share = max(near, far) if constant + reached > enough else near
        if best <= enough or proved - reached <= share * abs(best) or sweeps >= _MOST_SWEEPS:
            return Relaxed(best, relaxation.directions[:, 0])
        until = 2 * sweeps


class _Relaxation:
    """Unit vectors in place of signs, the first of which is that of the sign that is 1."""

    def __init__(self, programme: BinaryProgramme, field: Floats) -> None:
        self.couplings, self.field = programme.couplings, field
        size = int(np.sqrt(2.0 * (len(field) + 1))) + 1
        directions = np.random.default_rng(0).standard_normal((len(field), size))
        self.directions = directions / np.linalg.norm(directions, axis=1)[:, None]

    def sweep(self) -> None:
        """Turn each direction to where the others ask it to be."""
        begin = 0
        while begin < len(self.field):
            begin = _turn(self.couplings, self.field, self.directions, begin, PRODUCTS_PER_CALL)

    def bracket(self) -> tuple[float, float]:
        """Return what the directions reach, and a bound that their lengths prove."""
        matrix = self._matrix()
        size = len(matrix)
        first = np.zeros((1, self.directions.shape[1]))
        first[0, 0] = 1.0
        directions = np.concatenate([first, self.directions])
        asked = matrix @ directions
        reached = float((asked * directions).sum())
        diagonal = np.linalg.norm(asked, axis=1)
        matrix[np.diag_indices(size)] = -diagonal
        largest = float(eigvalsh(matrix, subset_by_index=[size - 1, size - 1])[0])
        rounding = size * np.finfo(float).eps * float(np.linalg.norm(matrix))
        return reached, float(diagonal.sum()) + size * max(largest + rounding, 0.0)

    def _matrix(self) -> Floats:
        size = len(self.field) + 1
        matrix = np.zeros((size, size))
        matrix[0, 1:] = matrix[1:, 0] = self.field
        if isinstance(self.couplings, DenseCouplings):
            matrix[1:, 1:] = 0.125 * self.couplings.values
        else:
            first, other, values = self.couplings
            one = np.repeat(np.arange(size - 1), np.diff(first))
            matrix[1 + one, 1 + other] = 0.125 * values
        return matrix


@kernel
def _turn(couplings, field, directions, begin, work):
    """Turn directions from ``begin`` on while the work lasts; return the first that was not turned."""
    n, size = directions.shape
    total = np.empty(size)
    i = begin
    while i < n and work > 0:
        total[:] = 0.0
        work -= add_directions(couplings, i, directions, total)
        squared = 0.0
        for k in range(size):
            total[k] *= 0.125
        total[0] += field[i]
        for k in range(size):
            squared += total[k] * total[k]
        if squared > 0.0:
            for k in range(size):
                directions[i, k] = total[k] / np.sqrt(squared)
        i += 1
    return i

"""The Cholesky factor of the cross products of the variables that are not 0, kept from solve to solve.

From one strength to the next few variables come and go. Newcomers are appended, all at once; one that
leaves costs a few rotations. Where too many leave, the factor is made anew.
"""

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from garrote._jit import kernel
from garrote.arrays import Array, Floats

# Leaving costs so much more than making the factor anew that beyond this share of all it does not pay.
_LEAVING = 0.02


class ActiveFactor:
    """An upper triangular R with R'R = gram + diag(ridge) on ``members``, in order of their coming."""

    def __init__(self) -> None:
        self.members = np.zeros(0, np.intp)
        self._root = np.zeros((64, 64))
        self._ridge = np.zeros(0)

    def match(self, gram: Floats, wanted: Array, ridge: Floats) -> None:
        """Make the factor that of ``wanted`` variables; raises LinAlgError where they are dependent.

        ``ridge`` belongs to ``wanted`` and is added to the diagonal.
        """
        extra = np.zeros(len(gram))
        extra[wanted] = ridge
        inside = np.zeros(len(gram), dtype=bool)
        inside[wanted] = True
        gone = np.flatnonzero(~inside[self.members])
        same = np.array_equal(extra[self.members[inside[self.members]]], self._ridge[inside[self.members]])
        if not same or len(gone) > 1 + _LEAVING * len(self.members):
            self._begin()
            gone = gone[:0]
        for place in gone[::-1]:
            k = len(self.members)
            _remove(self._root, place, k)
            self.members = np.delete(self.members, place)
            self._ridge = np.delete(self._ridge, place)
        inside[self.members] = False
        self._append(gram, np.flatnonzero(inside), extra)

    def _begin(self) -> None:
        self.members, self._ridge = np.zeros(0, np.intp), np.zeros(0)

    def _append(self, gram: Floats, new: Array, extra: Floats) -> None:
        k, m = len(self.members), len(new)
        if not m:
            return
        if k + m > len(self._root):
            larger = np.zeros((2 * (k + m), 2 * (k + m)))
            larger[:k, :k] = self._root[:k, :k]
            self._root = larger
        own = gram[np.ix_(new, new)]
        own[np.diag_indices_from(own)] += extra[new]
        if k:
            across = solve_triangular(
                self._root[:k, :k], gram[np.ix_(self.members, new)], trans="T", check_finite=False
            )
            self._root[:k, k : k + m] = across
            own -= across.T @ across
        try:
            self._root[k : k + m, k : k + m] = cholesky(own, check_finite=False)
        except LinAlgError:
            self._begin()
            raise
        self._root[k : k + m, :k] = 0.0
        self.members = np.append(self.members, new)
        self._ridge = np.append(self._ridge, extra[new])

    def solve(self, right: Floats) -> Floats:
        """Return the solution for a right-hand side that belongs to ``members``."""
        k = len(self.members)
        root = self._root[:k, :k]
        half = solve_triangular(root, right, trans="T", check_finite=False)
        return solve_triangular(root, half, check_finite=False)


@kernel
def _remove(root, place, k):
    """Take a column out and rotate the rest back to triangular form."""
    for a in range(place, k - 1):
        for b in range(a + 2):
            root[b, a] = root[b, a + 1]
        size = np.hypot(root[a, a], root[a + 1, a])
        c, s = root[a, a] / size, root[a + 1, a] / size
        root[a, a], root[a + 1, a] = size, 0.0
        for b in range(a + 2, k):
            upper, lower = root[a, b], root[a + 1, b]
            root[a, b] = c * upper + s * lower
            root[a + 1, b] = c * lower - s * upper

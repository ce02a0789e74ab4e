"""The Cholesky factor of the cross products of the variables that are not 0, kept from solve to solve.

From one strength to the next few variables come and go. Newcomers are appended, all at once; one that
leaves costs a few rotations. Where too many leave, the factor is made anew.
"""

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from garrote.arrays import Array, Floats
from garrote.solvers.algebra.factor_updates import solve_transposed, solve_upper, take_out

# Where more than this share of all variables leaves, making the factor anew costs less.
_LEAVING = 0.02
# A variable of which others leave less than this share has nothing of its own.
_DEPENDENT = 1e-12


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
        extra, inside = np.zeros(len(gram)), np.zeros(len(gram), dtype=bool)
        extra[wanted], inside[wanted] = ridge, True
        stay = inside[self.members]
        gone = np.flatnonzero(~stay)
        changed = not np.array_equal(extra[self.members[stay]], self._ridge[stay])
        if changed or len(gone) > 1 + _LEAVING * len(self.members):
            self._begin()
        else:
            for place in gone[::-1]:
                self.remove_one(place)
        inside[self.members] = False
        self._append(gram, np.flatnonzero(inside), extra)

    def _begin(self) -> None:
        self.members, self._ridge = np.zeros(0, np.intp), np.zeros(0)

    def append_one(self, new: int, products: Floats, length: float, ridge: float = 0.0) -> bool:
        """Take one variable in, given its products with all members and with itself.

        Returns False, and changes nothing, where it depends on the members.
        """
        k = len(self.members)
        self._reserve(k + 1)
        across = products.reshape(1, k).copy()
        solve_transposed(self._root, across, k)
        left = length + ridge - float(across[0] @ across[0])
        if not left > _DEPENDENT * (length + ridge):
            return False
        self._root[:k, k], self._root[k, k] = across[0], np.sqrt(left)
        self.members = np.append(self.members, new)
        self._ridge = np.append(self._ridge, ridge)
        return True

    def remove_one(self, place: int) -> None:
        """Take out the member at one place."""
        take_out(self._root, place, len(self.members))
        self.members = np.delete(self.members, place)
        self._ridge = np.delete(self._ridge, place)

    def _reserve(self, size: int) -> None:
        if size > len(self._root):
            k = len(self.members)
            room = size + size // 4 + 16
            larger = np.zeros((room, room))
            larger[:k, :k] = self._root[:k, :k]
            self._root = larger

    def _append(self, gram: Floats, new: Array, extra: Floats) -> None:
        k, m = len(self.members), len(new)
        if not m:
            return
        self._reserve(k + m)
        among = gram[np.ix_(new, new)]
        among[np.diag_indices_from(among)] += extra[new]
        lengths = np.diag(among).copy()
        if k:
            across = gram[np.ix_(new, self.members)]
            solve_transposed(self._root, across, k)
            self._root[:k, k : k + m] = across.T
            among -= across @ across.T
        try:
            root = cholesky(among, check_finite=False)
            if not (np.diag(root) ** 2 > _DEPENDENT * lengths).all():
                raise LinAlgError("dependent columns")
        except LinAlgError:
            self._begin()
            raise
        self._root[k : k + m, k : k + m] = root
        self.members = np.append(self.members, new)
        self._ridge = np.append(self._ridge, extra[new])

    def solve(self, right: Floats) -> Floats:
        """Return the solution for a right-hand side that belongs to ``members``."""
        k = len(self.members)
        solution = right.reshape(1, k).copy()
        solve_transposed(self._root, solution, k)
        solve_upper(self._root, solution[0], k)
        return solution[0]

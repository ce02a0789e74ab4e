"""The Cholesky factor of the cross products of the variables that are not 0, kept from solve to solve.

From one strength to the next few variables come and go. Newcomers are appended, all at once; one that
leaves costs a few rotations. Where too many leave, the factor is made anew.
"""

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from garrote._jit import kernel
from garrote.arrays import Array, Floats

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

    def append_one(self, new: int, products: Floats, own: float, ridge: float = 0.0) -> bool:
        """Take one variable in, given its products with all members and with itself.

        Returns False, and changes nothing, where it depends on the members.
        """
        k = len(self.members)
        self._reserve(k + 1)
        across = products.reshape(1, k).copy()
        _solve_transposed(self._root, across, k)
        left = own + ridge - float(across[0] @ across[0])
        if not left > _DEPENDENT * (own + ridge):
            return False
        self._root[:k, k], self._root[k, k] = across[0], np.sqrt(left)
        self.members = np.append(self.members, new)
        self._ridge = np.append(self._ridge, ridge)
        return True

    def remove_one(self, place: int) -> None:
        """Take out the member at one place."""
        _remove(self._root, place, len(self.members))
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
        own = gram[np.ix_(new, new)]
        own[np.diag_indices_from(own)] += extra[new]
        lengths = np.diag(own).copy()
        if k:
            across = gram[np.ix_(new, self.members)]
            _solve_transposed(self._root, across, k)
            self._root[:k, k : k + m] = across.T
            own -= across @ across.T
        try:
            root = cholesky(own, check_finite=False)
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
        _solve_transposed(self._root, solution, k)
        _solve_upper(self._root, solution[0], k)
        return solution[0]


@kernel
def _solve_transposed(root, right, k):
    """Solve R'x = b for each row of ``right``, in place."""
    for a in range(k):
        for c in range(right.shape[0]):
            x = right[c, a] / root[a, a]
            right[c, a] = x
            for b in range(a + 1, k):
                right[c, b] -= x * root[a, b]


@kernel
def _solve_upper(root, right, k):
    """Solve R x = b in place."""
    for a in range(k - 1, -1, -1):
        total = right[a]
        for b in range(a + 1, k):
            total -= root[a, b] * right[b]
        right[a] = total / root[a, a]


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

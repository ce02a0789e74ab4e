"""Second derivatives of the coefficients of several classes, kept while probabilities change little.

As for one linear predictor, making them anew costs far more than the steps that they allow.
"""

from collections.abc import Callable

import numpy as np

from garrote.arrays import Array, Floats
from garrote.solvers.algebra.active_factor import ActiveFactor
from garrote.solvers.algebra.growing_gram import GrowingGram

# What is added to the diagonal, as a share of the largest: equal shifts of all classes change nothing.
_RIDGE = 1e-8
# Eigenvalues of the intercepts' second derivatives below this share of the largest are taken for 0.
_SAME = 1e-10


class ClassGram:
    """Products of columns, weighted by p_k (1 if k = l else 0) - p_k p_l for classes k and l.

    ``mean`` are the probabilities (K x N) at which they are taken, ``share`` the weights of the rows.
    ``places`` are those of the coefficients that have moved since, in order of their coming. What
    intercepts explain of them is taken off, where those are free.
    """

    def __init__(self, mean: Floats, share: Floats, centered: bool):
        self.mean, self.root, self.centered = mean, np.sqrt(share), centered
        self.places, self.factor = np.zeros(0, np.intp), ActiveFactor()
        self._owner, self._gram = np.zeros(0, np.intp), GrowingGram()
        self._ridge: float | None = None
        # Of the intercepts: their second derivatives, inverted, and those across to the coefficients.
        spread = mean * self.root
        self._inverse = np.zeros((len(mean), len(mean)))
        if centered:
            second = np.diag(spread @ self.root) - spread @ spread.T
            self._inverse[:] = np.linalg.pinv(second, _SAME, hermitian=True)
        self._across = np.zeros((0, len(mean)))

    @property
    def products(self) -> Floats:
        """The second derivatives of all kept coefficients."""
        return self._gram.values

    def take(self, places: Array, owner: Array, values: Callable[[Array], Floats]) -> None:
        """Keep more coefficients, given the class of every one, and the columns of some (N x k)."""
        kept = np.zeros(len(owner), dtype=bool)
        kept[self.places] = True
        new = places[~kept[places]]
        if not len(new):
            return
        known = len(self.places)
        self.places = np.append(self.places, new)
        owner = owner[self.places]
        scaled = values(self.places) * self.root[:, None]
        spread = scaled * self.mean[owner].T
        products = -spread.T @ spread[:, known:]  # one factor, twice, where all are new
        for k in np.unique(owner[known:]):
            rows, columns = np.flatnonzero(owner == k), np.flatnonzero(owner[known:] == k)
            products[np.ix_(rows, columns)] += scaled[:, rows].T @ spread[:, known + columns]
        self._append(products, spread[:, known:], owner[known:])

    def _append(self, products: Floats, spread: Floats, owner: Array) -> None:
        """Take in products with the newest coefficients, held up and less what intercepts explain."""
        known, newest = len(self._gram), np.arange(len(owner))
        if self._ridge is None:
            self._ridge = _RIDGE * float(np.diag(products).max(initial=0.0))
        products[known + newest, newest] += self._ridge
        across = -spread.T @ (self.mean * self.root).T
        across[newest, owner] += self.root @ spread
        self._across = np.vstack([self._across, across])
        if self.centered:
            products -= self._across @ (self._inverse @ across.T)
        self._gram.append(products)

    def explained(self, slopes: Floats) -> Floats:
        """Return what the intercepts' steps take from the coefficients' slopes, given their own."""
        return np.asarray(self._across @ (self._inverse @ slopes))

    def shift(self, slopes: Floats, step: Floats) -> Floats:
        """Return the intercepts' steps beside those of the coefficients; 0 where they are not free."""
        return np.asarray(self._inverse @ (slopes - self._across.T @ step))

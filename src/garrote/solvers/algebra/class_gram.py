"""Second derivatives of the coefficients of several classes, kept while probabilities change little.

As for one linear predictor, making them anew costs far more than the steps that they allow.
"""

import numpy as np

from garrote.arrays import Array, Floats
from garrote.solvers.algebra.active_factor import ActiveFactor
from garrote.solvers.algebra.growing_gram import GrowingGram

# What is added to the diagonal, as a share of the largest: equal shifts of all classes change nothing.
_RIDGE = 1e-8
# Products of a new coefficient with those of all columns and classes are one matrix product; with the
# kept ones alone they need a copy of their columns, each number of which costs so many products.
_COPYING = 50
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

    def take(self, places: Array, owner: Array, column: Array, values: Floats) -> None:
        """Keep more coefficients.

        ``values`` are columns (N x d); all coefficients there are have their class in ``owner`` and
        their place among the columns in ``column``.
        """
        kept = np.zeros(len(owner), dtype=bool)
        kept[self.places] = True
        new = places[~kept[places]]
        if not len(new):
            return
        known = len(self.places)
        self.places = np.append(self.places, new)
        owner, column = owner[self.places], column[self.places]
        few = len(new) * len(self.mean) * values.shape[1] <= _COPYING * known
        multiply = self._products_one_by_one if few else self._products_together
        products, spread = multiply(owner, column, values, known)
        self._append(products, spread, owner[known:])

    def _spread(self, owner: Array, column: Array, values: Floats) -> Floats:
        """Return the columns of some coefficients, a row each, times root and probabilities."""
        spread = np.empty((len(owner), len(values)))
        for k in np.unique(owner):  # class by class: small copies stay in the cache
            some = np.flatnonzero(owner == k)
            spread[some] = values.T[column[some]] * (self.root * self.mean[k])
        return spread

    def _products_one_by_one(
        self, owner: Array, column: Array, values: Floats, known: int
    ) -> tuple[Floats, Floats]:
        """Return products of all kept coefficients with the newest, and `_spread` of these."""
        spread = self._spread(owner[known:], column[known:], values)
        products = np.empty((len(owner), len(spread)))
        for place, k in enumerate(owner[known:]):
            weight = self.root * spread[place]
            by_class = self.mean * -weight
            by_class[k] += weight
            products[:, place] = (by_class @ values)[owner, column]
        return products, spread

    def _products_together(
        self, owner: Array, column: Array, values: Floats, known: int
    ) -> tuple[Floats, Floats]:
        """Do the same by a copy of all kept columns."""
        spread = self._spread(owner, column, values)
        newest = spread[known:]
        products = spread @ newest.T  # one factor, twice, where all are new: half of the products
        np.negative(products, out=products)
        for k in np.unique(owner[known:]):
            rows, columns = np.flatnonzero(owner == k), np.flatnonzero(owner[known:] == k)
            scaled = values.T[column[rows]] * self.root
            products[np.ix_(rows, columns)] += scaled @ newest[columns].T
        return products, newest

    def _append(self, products: Floats, spread: Floats, owner: Array) -> None:
        """Take in products with the newest coefficients, held up and less what intercepts explain."""
        known, newest = len(self._gram), np.arange(len(owner))
        if self._ridge is None:
            self._ridge = _RIDGE * float(np.diag(products).max(initial=0.0))
        products[known + newest, newest] += self._ridge
        across = -spread @ (self.mean * self.root).T
        across[newest, owner] += spread @ self.root
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

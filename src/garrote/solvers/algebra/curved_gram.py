"""Weighted cross products of some columns, kept while the weights of the rows change little.

The second derivatives of a likelihood weigh rows by a curvature that depends on the fit. Making them
anew costs far more than the steps they allow, and steps with somewhat stale ones arrive at the same
optimum: it is the first derivatives that say where that is.
"""

from collections.abc import Callable

import numpy as np

from garrote.arrays import Array, Floats
from garrote.solvers.algebra.active_factor import ActiveFactor
from garrote.solvers.algebra.growing_gram import GrowingGram


class CurvedGram:
    """X'BX of columns that have moved since the curvatures B were taken, less what an intercept takes.

    ``places`` are those of the columns in ``values`` (N x k, the working set's), ``sums`` their sums
    over weighted rows and ``total`` that of the weights. Where rows are coupled, ``shared`` gives rows
    (k x m) whose products are taken off those of k columns: see `garrote.likelihoods.coupled`.
    """

    def __init__(
        self,
        values: Floats,
        places: Array,
        row_curvatures: Floats,
        centered: bool,
        shared: Callable[[Floats], Floats] | None = None,
    ):
        self.places, self.row_curvatures, self.centered = places, row_curvatures, centered
        self.total = float(row_curvatures.sum())
        self.factor = ActiveFactor()
        scaled = values[:, places] * np.sqrt(row_curvatures)[:, None]
        products = scaled.T @ scaled  # one factor, twice: half of the products
        self.sums = (np.sqrt(row_curvatures) @ scaled) if centered else np.zeros(len(places))
        self._centre(products, self.sums, self.sums)
        self._shared = shared
        if shared is not None:
            self._rows = shared(values[:, places].T)
            products -= self._rows @ self._rows.T
        self._gram = GrowingGram()
        self._gram.append(products)

    @property
    def products(self) -> Floats:
        """The cross products of all kept columns."""
        return self._gram.values

    def take(self, values: Floats, places: Array) -> None:
        """Keep more columns, those that are not yet kept."""
        kept = np.zeros(values.shape[1], dtype=bool)
        kept[self.places] = True
        new = places[~kept[places]]
        if not len(new):
            return
        self.places = np.append(self.places, new)
        weighted = values[:, new] * self.row_curvatures[:, None]
        sums = weighted.sum(axis=0) if self.centered else np.zeros(len(new))
        self.sums = np.append(self.sums, sums)
        across = (values.T @ weighted)[self.places]
        self._centre(across, self.sums, sums)
        if self._shared is not None:
            rows = self._shared(values[:, new].T)
            self._rows = np.vstack([self._rows, rows])
            across -= self._rows @ rows.T
        self._gram.append(across)

    def _centre(self, products: Floats, left: Floats, right: Floats) -> None:
        """Take from products what an intercept explains, in place."""
        if self.centered:
            products -= np.outer(left, right / self.total)

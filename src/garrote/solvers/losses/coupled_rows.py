"""The smooth part of a problem whose rows are coupled: Cox's partial likelihood, half its mean deviance.

Each of its terms is the logarithm of a sum over the rows at risk. A Newton step has the exact second
derivatives of dense columns; for sparse ones their diagonal part, which is above them, and in which an
intercept that the likelihood does not feel takes off what is common to all rows.

The dual of a term is the entropy of shares p of its rows. The slopes of all rows times a number s are
those of shares (1 - s) e + s p, with e in proportion to the events' weights, and the entropy of these is
at most that of a chord between e and p, and at most a parabola at p: log x <= x - 1. With L the loss and
c the sum of coefficients times slopes, the loss of the dual is therefore at least the larger one of

    s (L + c)    and    L + s c - (1 - s)^2 chi2,

chi2 being the distance of e from p, sum_i e_i^2 / p_i - 1, summed over terms.
"""

from functools import partial
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.likelihoods.coupled import distance_of_events, shared_rows, weighted_curvature
from garrote.rules import Evaluated
from garrote.solvers.algebra.curved_gram import CurvedGram
from garrote.solvers.losses.generalised import GeneralisedLoss
from garrote.solvers.losses.newton_loss import Derivatives
from garrote.solvers.losses.sparse_loss import SparseLoss


class CoupledRows(GeneralisedLoss):
    """What losses of coupled rows do in their own way, whatever the columns; goes before these."""

    def _fit_intercept(self) -> Floats:
        """Return the linear predictor; there is no intercept, and shifts of all rows change nothing."""
        self.intercept = 0.0
        return self._eta()

    def _mean_curvature(self, eta: Floats) -> float:
        return float(weighted_curvature(self.likelihood, self.y, self.share, eta).sum())

    def _seen(self, eta: Floats, slopes: Floats, product: Floats) -> Evaluated:
        loss = self._loss(eta)
        along = float((self.share * slopes) @ (eta - self.offset))
        apart = distance_of_events(self.likelihood, self.share, eta)

        def dual(share: float) -> float:
            chord = share * (loss + along)
            parabola = loss + share * along - (1.0 - share) ** 2 * apart
            return max(chord, parabola)

        return Evaluated(loss, product, dual)


class CoupledLoss(CoupledRows):
    """The loss as a function of the coefficients of a growing working set of dense columns."""

    _at: Floats

    def _derivatives(self, eta: Floats) -> Derivatives:
        self._at = eta
        return super()._derivatives(eta)

    def _make_gram(self, moving: Array, near: Derivatives) -> CurvedGram:
        row_curvatures = weighted_curvature(self.likelihood, self.y, self.share, self._at)
        shared = partial(shared_rows, self.likelihood, self.share, self._at)
        return CurvedGram(self.block.values, moving, row_curvatures, False, _contiguous(shared))


class SparseCoupledLoss(CoupledRows, SparseLoss):
    """The same of sparse columns, which are kept so."""


def _contiguous(shared: Any) -> Any:
    """Have columns in one piece each, as kernels read them."""
    return lambda columns: shared(np.ascontiguousarray(columns))

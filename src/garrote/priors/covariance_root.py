"""Square roots R of prior covariances R R', for coefficients alone or along a chain."""

from typing import NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Floats


class Diagonal(NamedTuple):
    """Independent coefficients, by their standard deviations."""

    deviation: Floats

    @property
    def alone(self) -> Floats | None:
        """Standard deviations of coefficients that are independent; None where they are tied."""
        return self.deviation

    @property
    def variance(self) -> Floats:
        """Each coefficient's variance given all others."""
        return np.square(self.deviation)

    def after(self, rows: Floats) -> Floats:
        """Return rows @ R."""
        return rows * self.deviation

    def times(self, vector: Floats) -> Floats:
        """Return R @ vector."""
        return self.deviation * vector

    def around(self, gram: Floats) -> Floats:
        """Return R' @ gram @ R."""
        return self.deviation[:, None] * gram * self.deviation


class Chain(NamedTuple):
    """Coefficients tied to their neighbours: R = L^-T, with L L' the tridiagonal precision.

    ``diagonal`` is that of L, ``ties`` are the entries beside it with their sign turned.
    """

    diagonal: Floats
    ties: Floats

    @classmethod
    def of_precisions(cls, alone: Floats, between: Floats) -> "Chain":
        """Take the precisions of coefficients and of the differences of neighbours (Eqs. 13.120-13.121).

        In each pivot what cancels is left out: that of a stiff tie less the square over the last pivot.
        """
        return cls(*_factor(alone, between))

    @property
    def alone(self) -> Floats | None:
        """Standard deviations of coefficients that are independent; None where they are tied."""
        return None

    @property
    def variance(self) -> Floats:
        """Each coefficient's variance given all others."""
        precision = np.square(self.diagonal)
        precision[1:] += np.square(self.ties)
        return 1.0 / precision

    def after(self, rows: Floats) -> Floats:
        """Return rows @ R."""
        turned = np.array(rows.T, order="C")
        _solve_forward(turned, self.diagonal, self.ties)
        return turned.T

    def times(self, vector: Floats) -> Floats:
        """Return R @ vector."""
        return np.asarray(_solve_back(np.array(vector), self.diagonal, self.ties))

    def around(self, gram: Floats) -> Floats:
        """Return R' @ gram @ R."""
        return self.after(self.after(gram).T).T


Root = Diagonal | Chain


@kernel(fastmath=False)
def _factor(alone, between):
    diagonal, ties = np.empty(len(alone)), np.empty(len(between))
    rest = alone[0]
    for j in range(len(alone)):
        pivot = rest + (between[j] if j < len(between) else 0.0)
        diagonal[j] = np.sqrt(pivot)
        if j < len(between):
            ties[j] = between[j] / diagonal[j]
            rest = alone[j + 1] + rest * (between[j] / pivot)
    return diagonal, ties


@kernel(fastmath=False)
def _solve_forward(turned, diagonal, ties):
    turned[0] /= diagonal[0]
    for j in range(1, len(diagonal)):
        before, row, tie, pivot = turned[j - 1], turned[j], ties[j - 1], diagonal[j]
        for i in range(turned.shape[1]):
            row[i] = (row[i] + tie * before[i]) / pivot


@kernel(fastmath=False)
def _solve_back(vector, diagonal, ties):
    last = len(diagonal) - 1
    vector[last] /= diagonal[last]
    for j in range(last - 1, -1, -1):
        vector[j] = (vector[j] + ties[j] * vector[j + 1]) / diagonal[j]
    return vector

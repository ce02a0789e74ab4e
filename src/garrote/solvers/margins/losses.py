"""What a margin costs: hinges of labels, a tube around numbers, each a sum of kinks one row at a time.

A piece costs cost_n max(0, at_n - side_n f_n), f_n being what the machine says of row n, and side_n 1 or
-1. The hinge of a label y is one piece at 1 on the side y; a tube of half width epsilon around a number
y is two, at y - epsilon above and at -y - epsilon below. Made smooth, the kink gives way to one of the
curves of `garrote.solvers.smoothing.kinks`.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.solvers.smoothing.kinks import Kink

# Slopes this near to 0 or 1 say little of where they are.
_NEXT_TO_A_BOUND = 1e-10


class Lines(NamedTuple):
    """Straight lines that stand for how a smooth loss pulls: pull_n + curvature_n (place_n - f_n).

    The pull is minus the derivative in f_n, the curvature the second one, of each row at its own place.
    """

    places: Floats
    pull: Floats
    curvature: Floats


@dataclass(frozen=True, eq=False)
class Margins:
    """The loss of all rows.

    Attributes
    ----------
    side, at : array of shape (P, N)
        Of P pieces a row.
    cost : array of shape (N,)
        C times the rows' weights.
    """

    side: Floats
    at: Floats
    cost: Floats

    @classmethod
    def hinge(cls, signs: Floats, cost: Floats) -> "Margins":
        """Return the loss max(0, 1 - y f) of labels -1 and 1."""
        return cls(signs[None, :], np.ones((1, len(signs))), cost)

    @classmethod
    def tube(cls, y: Floats, epsilon: float, cost: Floats) -> "Margins":
        """Return the loss max(0, |y - f| - epsilon) of numbers."""
        ones = np.ones(len(y))
        return cls(np.stack([ones, -ones]), np.stack([y - epsilon, -y - epsilon]), cost)

    def among(self, rows: Array) -> "Margins":
        """Return the loss of some of the rows."""
        return Margins(self.side[:, rows], self.at[:, rows], self.cost[rows])

    def value(self, f: Floats) -> float:
        """Return the loss itself, kinks and all."""
        return float(np.maximum(self.at - self.side * f, 0.0).sum(axis=0) @ self.cost)

    def smooth_value(self, f: Floats, kink: Kink, widths: Floats) -> float:
        """Return the loss whose kinks are as wide as told."""
        return float(kink.value(self.at - self.side * f, widths).sum(axis=0) @ self.cost)

    def pull(self, f: Floats, kink: Kink, widths: Floats) -> Floats:
        """Return minus the derivative of the smooth loss in every f_n (Eqs. 31-32, without 1/zeta)."""
        return self.cost * (self.side * kink.slope(self.at - self.side * f, widths)).sum(axis=0)

    def lines(self, places: Floats, kink: Kink, widths: Floats) -> Lines:
        """Return what stands for the smooth loss around given places."""
        curvature = self.cost * kink.curvature(self.at - self.side * places, widths).sum(axis=0)
        return Lines(places, self.pull(places, kink, widths), curvature)

    def places(self, pull: Floats, f: Floats, kink: Kink, widths: Floats) -> Floats:
        """Return where rows have given pulls; f itself where their pulls are next to their bounds."""
        nearest = np.abs(self.at - self.side * f).argmin(axis=0)[None, :]
        side = np.take_along_axis(self.side, nearest, axis=0)[0]
        at = np.take_along_axis(self.at, nearest, axis=0)[0]
        slope = side * pull / self.cost
        if len(self.at) == 2:  # a tube of no width is a single kink, from -1 to 1
            closed = self.at[0] == -self.at[1]
            slope = np.where(closed, 0.5 * (slope + 1.0), slope)
        free = (slope > _NEXT_TO_A_BOUND) & (slope < 1.0 - _NEXT_TO_A_BOUND)
        found = f.copy()
        found[free] = side[free] * (at[free] - kink.place(slope[free], widths[free]))
        return found

    def distance(self, f: Floats) -> Floats:
        """Return how far every row is from its nearest kink."""
        return np.asarray(np.abs(self.at - self.side * f).min(axis=0))

    def clip(self, pull: Floats) -> Floats:
        """Return the pulls nearest to given ones that some slopes from 0 to 1 of the pieces have."""
        least = np.minimum(self.side, 0.0).sum(axis=0) * self.cost
        return np.clip(pull, least, np.maximum(self.side, 0.0).sum(axis=0) * self.cost)

    def dual_value(self, pull: Floats) -> float:
        """Return sum of at_n times the multipliers whose pulls are given ones, all within the bounds."""
        return float((self.at * np.maximum(self.side * pull, 0.0)).sum())

    def best_intercept(self, f: Floats) -> float:
        """Return the number that, added to f, makes the loss least; the middle, where several do."""
        places = (self.side * self.at - f).ravel()
        order = np.argsort(places, kind="stable")
        rising = np.cumsum(np.broadcast_to(self.cost, self.side.shape).ravel()[order])
        falling = float(((self.side > 0) * self.cost).sum())
        # Rounding must not move an interval of best intercepts to one of its ends.
        slack = 1e-12 * float(rising[-1])
        first = int(np.searchsorted(rising, falling - slack))
        level = first + 1 < len(order) and abs(rising[first] - falling) <= slack
        last = first + 1 if level else first
        return 0.5 * float(places[order[first]] + places[order[last]])

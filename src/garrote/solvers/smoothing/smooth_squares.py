"""Least squares plus absolute values with smoothed kinks, minimised by Newton's method width by width.

With G = X'WX / n the objective is w'Gw / 2 - c'w + sum_k weight_k |b_k'w| + sum_j ridge_j w_j^2 / 2, and
|t| stands for a smooth curve above it, as wide as sigma |b_k|: the average over w ~ N(mu, sigma^2 I)
where the curve is Gaussian (Staines & Barber 2012, Eqs. 15 and 22; the text's Eq. 16 divides the second
derivative by sigma^2, which has to be sigma). The text's steps are Newton's along each coefficient,
shortened tenfold (Eq. 20), which diverge where columns are strongly correlated; these are Newton's for
all coefficients at once, to the least of the objective along them.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components

from garrote.arrays import Array, Floats
from garrote.rules import AbsoluteParts
from garrote.solvers.smoothing.guarantee import smoothing_error
from garrote.solvers.smoothing.kinks import (
    GaussianKink,
    Kink,
    absolute_curvature,
    absolute_slope,
)

# Newton steps at one width, at most, and the slope along a step, as a share of its first, that is
# as good as 0.
_STEPS, _FLAT, _HALVINGS = 60, 0.1, 60
# The gradient, as a share of the largest at 0, below which a width is solved; the change of
# coefficients that is rounding.
_SOLVED, _ROUNDING = 1e-9, 1e-15
# What is added to the second derivatives, as a share of the largest: directions that nothing bends.
_RIDGE, _STIFFER = 1e-13, 1e3
# Combinations below this share of the largest coefficient are 0.
_TIE = 1e-12
# Objectives that differ by less than this share of their parts are equal.
_EQUAL = 1e-13


class SmoothSquares(NamedTuple):
    """The cross products of some columns with each other and with y, the penalty's parts, and the curve.

    ``lengths`` are those of the combinations.
    """

    gram: Floats
    target: Floats
    parts: AbsoluteParts
    lengths: Floats
    kink: Kink

    def gradient(self, coef: Floats, width: float) -> Floats:
        """Return the gradient (upwards) of the smoothed objective."""
        weight, widths = self.parts.weight, width * self.lengths
        slopes = weight * absolute_slope(self.kink, self.parts.combinations @ coef, widths)
        smooth = self.gram @ coef - self.target + self.parts.ridge * coef
        return np.asarray(smooth + self.parts.combinations.T @ slopes)

    def minimise(self, coef: Floats, width: float, most: int) -> tuple[Floats, int]:
        """Return the minimum for one width from some coefficients, and the Newton steps made."""
        enough = _SOLVED * float(np.abs(self.target).max(initial=0.0))
        for made in range(min(_STEPS, most)):
            gradient = self.gradient(coef, width)
            if np.abs(gradient).max(initial=0.0) <= enough:
                return coef, made
            step = -self._solve(coef, width, gradient)
            change = self._length(coef, step, width) * step
            coef = coef + change
            if np.abs(change).max() <= _ROUNDING * np.abs(coef).max():
                return coef, made + 1
        return coef, min(_STEPS, most)

    def follow(self, coef: Floats, width: float, narrower: float) -> Floats:
        """Return where the minimum moves to as the width shrinks, to first order.

        Coefficients at a kink shrink in proportion to the width, others stay.
        """
        weight, widths = self.parts.weight, width * self.lengths
        sizes = self.parts.combinations @ coef
        pull = weight * absolute_curvature(self.kink, sizes, widths) * sizes
        towards = self._solve(coef, width, self.parts.combinations.T @ pull)
        return np.asarray(coef + (narrower / width - 1.0) * towards)

    def error(self, width: float) -> float:
        """Return the most that smoothing adds to the objective (Eq. 17); means exist of the Gaussian."""
        averaged = isinstance(self.kink, GaussianKink)
        curvature = float(np.trace(self.gram) + self.parts.ridge.sum()) if averaged else 0.0
        return smoothing_error(
            0.5 * curvature,
            2.0 * self.kink.surplus * float(self.parts.weight @ self.lengths),
            width,
        )

    def with_ties(self, coef: Floats, near: Floats) -> Floats:
        """Return the best coefficients with the ties of ``near``: who is 0 there, and who is equal.

        Nothing else has a kink, so that each try is one linear system. Signs that would change in it are
        ties, too. Means over the ties of ``near`` are the answer where all this ends higher.
        """
        tied = np.abs(self.parts.combinations @ near) <= _TIE * np.abs(near).max(initial=0.0)
        pieces = self._pieces(tied)
        first = means = np.asarray(pieces @ ((pieces.T @ coef) / pieces.sum(axis=0)))
        while True:
            best, signs = self._best(pieces, means)
            turned = np.sign(self.parts.combinations @ best) != signs
            if not turned.any():
                break
            tied |= turned
            pieces = self._pieces(tied)
            means = np.asarray(pieces @ ((pieces.T @ coef) / pieces.sum(axis=0)))
        scale = float(np.abs(self.target) @ np.abs(first))
        return best if self._value(best) <= self._value(first) + _EQUAL * scale else first

    def _pieces(self, tied: Array) -> Any:
        """Return which coefficients are which piece (a column of ones each), given tied combinations."""
        held = self.parts.combinations[np.flatnonzero(tied)]
        alone = np.diff(held.indptr) == 1
        joined = held[np.flatnonzero(~alone)]
        _, label = connected_components(abs(joined).T @ abs(joined), directed=False)
        free = np.ones(label.max(initial=-1) + 1, dtype=bool)
        free[label[held[np.flatnonzero(alone)].indices]] = False
        some = np.flatnonzero(free[label])
        places = (some, (np.cumsum(free) - 1)[label[some]])
        return csr_array((np.ones(len(some)), places), (len(label), int(free.sum())))

    def _best(self, pieces: Any, coef: Floats) -> tuple[Floats, Floats]:
        """Return the best coefficients that are constant over pieces and have signs, and these."""
        signs = np.sign(self.parts.combinations @ coef)
        smooth = self.gram @ coef - self.target + self.parts.ridge * coef
        slope = smooth + self.parts.combinations.T @ (self.parts.weight * signs)
        curvature = self.gram + np.diag(self.parts.ridge)
        curvature = np.asarray(pieces.T @ np.asarray(pieces.T @ curvature).T)
        return coef - pieces @ self._solved(curvature, np.asarray(pieces.T @ slope)), signs

    def _value(self, coef: Floats) -> float:
        """Return the objective itself, up to a constant."""
        smooth = 0.5 * (self.gram @ coef + self.parts.ridge * coef) - self.target
        return float(coef @ smooth + self.parts.weight @ np.abs(self.parts.combinations @ coef))

    def _solve(self, coef: Floats, width: float, right: Floats) -> Floats:
        """Solve with the second derivatives at some coefficients."""
        weight, widths = self.parts.weight, width * self.lengths
        sizes = self.parts.combinations @ coef
        curvature = diags_array(weight * absolute_curvature(self.kink, sizes, widths))
        hessian = (self.parts.combinations.T @ curvature @ self.parts.combinations).toarray()
        hessian += self.gram
        hessian[np.diag_indices_from(hessian)] += self.parts.ridge
        return self._solved(hessian, right)

    def _solved(self, hessian: Floats, right: Floats) -> Floats:
        """Solve with second derivatives, made a little stiffer where they are singular."""
        ridge = _RIDGE * (float(np.trace(self.gram)) or 1.0)
        while True:
            hessian[np.diag_indices_from(hessian)] += ridge
            try:
                return np.asarray(cho_solve(cho_factor(hessian, check_finite=False), right))
            except LinAlgError:
                ridge *= _STIFFER

    def _length(self, coef: Floats, step: Floats, width: float) -> float:
        """Return how far to go along a step: all of it, or to where the objective rises again."""
        weight, widths = self.parts.weight, width * self.lengths
        start = self.gram @ coef - self.target + self.parts.ridge * coef
        first = float(step @ start)
        turn = float(step @ (self.gram @ step) + self.parts.ridge @ step**2)
        sizes, changes = self.parts.combinations @ coef, self.parts.combinations @ step

        def slope(length: float) -> float:
            kinked = absolute_slope(self.kink, sizes + length * changes, widths)
            return first + length * turn + float((weight * kinked) @ changes)

        begin, low, high = slope(0.0), 0.0, 1.0
        if begin >= 0.0 or slope(1.0) <= -_FLAT * begin:
            return 1.0
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            here = slope(middle)
            if abs(here) <= -_FLAT * begin:
                return middle
            low, high = (middle, high) if here < 0 else (low, middle)
        return low

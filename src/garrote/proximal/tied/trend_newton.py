"""Trend filtering of any quadratic by an interior point: Newton's method along smooth problems.

The objective is w'Hw / 2 - pull'w + sum_i limit_i |(Dw)_i|. Sizes are split into s+ - s- = Dw, whose
prices are limit - u and limit + u; along the path every size times its price is one number mu, which
falls to 0 (Kim, Koh, Boyd & Gorinevsky 2009 do so in the dual). Every step solves with H + D' diag D:
a band for signals. At the end the places that bend are known, and a regression on pieces has all digits.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, block_diag, cho_factor, cho_solve, solveh_banded
from scipy.sparse import csr_array, kron

from garrote.arrays import Array, Floats
from garrote.proximal.tied.trend_differences import (
    difference_matrix,
    forces_of,
    signal_of,
    slopes_of,
)

_MOST_STEPS = 80
# Complementarity, as a share of what it was at first, at which the path ends.
_END = 1e-13
# How much of the way to the boundary a step goes.
_WITHIN = 0.995
# A force beyond this share of its limit is at it, if its place bends.
_AT_LIMIT = 1.0 - 1e-7


class Trend(NamedTuple):
    """The places of a trend: D, what running sums need, and an orthonormal basis of polynomials.

    There may be several ``outputs``, one after the other, each with a trend of its own at these places.
    """

    order: int
    slopes: list[Floats]
    matrix: Any
    polynomials: Floats
    outputs: int = 1

    @classmethod
    def at(cls, positions: Floats, order: int) -> "Trend":
        """Return the trend of some places."""
        places = 2.0 * (positions - positions[0]) / (positions[-1] - positions[0]) - 1.0
        basis = np.asarray(np.linalg.qr(np.vander(places, order + 1))[0], dtype=np.float64)
        matrix = difference_matrix(positions, order)
        return cls(order, slopes_of(positions, order), matrix, basis)

    def repeated(self, outputs: int) -> "Trend":
        """Return the same for several outputs."""
        each = np.eye(outputs)
        matrix = csr_array(kron(csr_array(each), self.matrix))
        polynomials = np.asarray(np.kron(each, self.polynomials), dtype=np.float64)
        return Trend(self.order, self.slopes, matrix, polynomials, outputs)

    def without_polynomials(self, gradient: Floats) -> Floats:
        """Return a gradient less its part along polynomials, which nothing holds back."""
        return np.asarray(gradient - self.polynomials @ (self.polynomials.T @ gradient))

    def forces(self, gradient: Floats) -> Floats:
        """Return the u of D'u = gradient, up to polynomials."""
        rest = self.without_polynomials(gradient).reshape(self.outputs, -1)
        return np.asarray(forces_of(rest.T, self.slopes).T.ravel())

    def pieces(self, bends: Array) -> Floats:
        """Return an orthonormal basis of signals that bend at some rows of D only."""
        if not len(bends):
            return self.polynomials
        rows, count = (size // self.outputs for size in self.matrix.shape)
        blocks = []
        for output in range(self.outputs):
            own = bends[bends // rows == output] % rows
            chosen = np.append(np.arange(self.order + 1), self.order + 1 + own)
            units = np.zeros((count, len(chosen)))
            units[chosen, np.arange(len(chosen))] = 1.0
            columns = signal_of(units, self.slopes)
            blocks.append(np.linalg.qr(columns / np.linalg.norm(columns, axis=0))[0])
        return np.asarray(block_diag(*blocks))


def solve_trend(trend: Trend, H: Floats, pull: Floats, limits: Floats) -> tuple[Floats, Array]:
    """Return the minimiser, and where it bends; ``H`` is a matrix, or its diagonal."""
    straight = _refitted(trend, H, pull, limits, np.zeros(0, np.intp), np.zeros(0))
    if straight is None:
        raise LinAlgError("no polynomial can be fitted")
    force = trend.forces(pull - _times(H, straight))
    if (np.abs(force) <= limits * (1 + 1e-12)).all():
        return straight, np.zeros(0, np.intp)
    w, u = _interior(trend, H, pull, limits, straight)
    best, bends, lowest = w, np.flatnonzero(np.abs(u) > _AT_LIMIT * limits), np.inf
    for share in (_AT_LIMIT, 1 - 1e-5, 1 - 1e-9):
        some = np.flatnonzero(np.abs(u) > share * limits)
        refitted = _refitted(trend, H, pull, limits, some, np.sign(u[some]))
        if refitted is None:
            continue
        value = objective(trend, H, pull, limits, refitted)
        signs = np.sign((trend.matrix @ refitted)[some])
        if value < lowest and (signs == np.sign(u[some])).all():
            best, bends, lowest = refitted, some, value
    return best, bends


def objective(trend: Trend, H: Floats, pull: Floats, limits: Floats, w: Floats) -> float:
    """Return what is minimised."""
    return float(w @ (0.5 * _times(H, w) - pull) + limits @ np.abs(trend.matrix @ w))


def _times(H: Floats, w: Floats) -> Floats:
    return H * w if H.ndim == 1 else np.asarray(H @ w)


def _refitted(
    trend: Trend, H: Floats, pull: Floats, limits: Floats, bends: Array, signs: Floats
) -> Floats | None:
    """Return the best signal that bends at some places, in known directions."""
    basis = trend.pieces(bends)
    right = pull - trend.matrix[bends].T @ (limits[bends] * signs)
    system = basis.T @ (H[:, None] * basis if H.ndim == 1 else H @ basis)
    system[np.diag_indices_from(system)] += 1e-14 * np.trace(system) / len(system)
    try:
        return np.asarray(basis @ cho_solve(cho_factor(system), basis.T @ right))
    except LinAlgError:
        return None


def _interior(
    trend: Trend, H: Floats, pull: Floats, limits: Floats, start: Floats
) -> tuple[Floats, Floats]:
    """Follow the path to its end; return the signal, and the forces at its places."""
    D = trend.matrix
    w, u = start.copy(), np.zeros(len(limits))
    size = np.maximum(np.abs(D @ w).max(initial=0.0), np.abs(pull).max() / max(_typical(H), 1e-300))
    above = np.full(len(limits), 0.1 * size or 1.0)
    below = above.copy()
    factored = _factors(trend, H)
    first = float(((limits - u) * above + (limits + u) * below).mean())
    for _ in range(_MOST_STEPS):
        free, held = limits - u, limits + u
        gap = float((free * above + held * below).mean()) / 2
        left = pull - _times(H, w) - D.T @ u
        missed = D @ w - above + below
        close = np.abs(left).max() <= 1e-11 * (np.abs(pull).max() + 1e-300)
        if gap <= _END * first and close:
            break
        mu = 0.1 * gap
        weight = 1.0 / (above / free + below / held)
        extra = missed + above - mu / free - below + mu / held
        try:
            dw = factored(weight)(left - D.T @ (weight * extra))
        except LinAlgError:
            break
        du = weight * (D @ dw + extra)
        d_above = (mu - free * above + above * du) / free
        d_below = (mu - held * below - below * du) / held
        price = _longest(np.append(free, held), np.append(-du, du))
        length = _longest(np.append(above, below), np.append(d_above, d_below))
        step = min(price, length)
        w, u = w + step * dw, u + step * du
        above, below = above + step * d_above, below + step * d_below
    return w, u


def _typical(H: Floats) -> float:
    return float((H if H.ndim == 1 else np.diag(H)).mean())


def _longest(values: Floats, changes: Floats) -> float:
    """Return the longest step that keeps values above 0."""
    falling = changes < 0
    return min(1.0, _WITHIN * float((values[falling] / -changes[falling]).min(initial=np.inf)))


def _factors(trend: Trend, H: Floats) -> Callable[[Floats], Callable[[Floats], Floats]]:
    """Return what solves with H + D' diag(weight) D."""
    D, width = trend.matrix, trend.order + 2
    bands = [np.asarray(D.diagonal(k)) for k in range(width)]

    def banded(weight: Floats) -> Floats:
        count = D.shape[1]
        found = np.zeros((width, count))
        for first in range(width):
            for second in range(first, width):
                found[second - first, first : first + len(weight)] += (
                    bands[first] * weight * bands[second]
                )
        return found

    def make(weight: Floats) -> Callable[[Floats], Floats]:
        if H.ndim == 1 and trend.outputs == 1:
            band = banded(weight)
            band[0] += H + 1e-15 * H.mean()
            return lambda right: np.asarray(solveh_banded(band, right, lower=True))
        system = (np.diag(H) if H.ndim == 1 else H) + (
            D.T @ (D.multiply(weight[:, None]))
        ).toarray()
        system[np.diag_indices_from(system)] += 1e-15 * _typical(H)
        factor = cho_factor(system, lower=True, check_finite=False)
        return lambda right: np.asarray(cho_solve(factor, right, check_finite=False))

    return make

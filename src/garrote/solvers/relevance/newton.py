"""Variances of the variables that are in, given the noise, by Newton's method on their logarithms.

With M = X'C^-1 X and Q = X'C^-1 y of these variables the log evidence has the derivatives
t_i (Q_i^2 - M_ii) / 2 by log t_i, and t_i t_j (M_ij^2 / 2 - Q_i Q_j M_ij) once more by log t_j, the
first ones added to the diagonal. Where that is not concave, or a step would lower the evidence, it is
damped.
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular

from garrote.arrays import Floats
from garrote.solvers.relevance.given_variances import factorised

# No logarithm moves by more than this in a step.
_LONGEST = 3.0
# Damping is tried from this share of the largest curvature on, four times as much each time.
_LEAST_DAMPING = 1e-10
# The evidence is known to about this share of the rows.
_ROUNDING = 1e-12


class Inside:
    """The regression on the variables that are in, given the noise variance."""

    def __init__(self, gram: Floats, xty: Floats, noise: float):
        self.gram, self.xty, self.noise = gram, xty, noise

    def factor(self, variance: Floats) -> tuple[Floats, Floats, Floats]:
        """Return R, the factor of I + R X'X R, and what solves it for R X'y; R^2 are t / s."""
        root, lower = factorised(self.gram, variance, self.noise)
        along = solve_triangular(lower, root * self.xty, lower=True, check_finite=False)
        return root, lower, along

    def value(self, variance: Floats) -> float:
        """Return the log evidence but for what variances have no part in."""
        _, lower, along = self.factor(variance)
        return float(0.5 * (along @ along) / self.noise - np.log(np.diag(lower)).sum())


def newton(
    inside: Inside, variance: Floats, rows: float, tol: float, most: int
) -> tuple[Floats, bool]:
    """Raise the evidence by at most so many steps; tell whether it has become level."""
    logs = np.log(variance)
    value = inside.value(variance)
    for _ in range(most):
        t = np.exp(logs)
        root, lower, along = inside.factor(t)
        half = solve_triangular(lower, root[:, None] * inside.gram, lower=True, check_finite=False)
        joint = (inside.gram - half.T @ half) / inside.noise
        pull = (inside.xty - along @ half) / inside.noise
        slope = 0.5 * t * (pull**2 - np.diag(joint))
        if np.abs(slope).max(initial=0.0) <= tol:
            return t, True
        curved = np.outer(t, t) * (0.5 * joint**2 - np.outer(pull, pull) * joint)
        curved[np.diag_indices_from(curved)] += slope
        moved = _line_search(inside, logs, value, _ascent(curved, slope), rows)
        if moved is None:  # no digits are left: it is as level as it will be
            return t, True
        logs, value = moved
    return np.exp(logs), False


def _ascent(curved: Floats, slope: Floats) -> Floats:
    """Return Newton's step, damped until the curvature is that of a maximum."""
    largest = float(np.abs(np.diag(curved)).max(initial=0.0)) or 1.0
    damping = 0.0
    while True:
        system = -curved
        system[np.diag_indices_from(system)] += damping * largest
        try:
            step = cho_solve(cho_factor(system, lower=True, overwrite_a=True), slope)
        except LinAlgError:
            damping = max(4.0 * damping, _LEAST_DAMPING)
            continue
        longest = np.abs(step).max()
        if longest <= _LONGEST or damping > 1e3:
            return np.asarray(step * min(1.0, _LONGEST / longest))
        damping = max(4.0 * damping, 1e-3)


def _line_search(
    inside: Inside, logs: Floats, value: float, step: Floats, rows: float
) -> tuple[Floats, float] | None:
    """Return the first of ever shorter steps that does not lower the evidence; None if all do."""
    for share in 0.5 ** np.arange(12):
        there = inside.value(np.exp(logs + share * step))
        if there >= value - _ROUNDING * rows:
            return logs + share * step, there
    return None

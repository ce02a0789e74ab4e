"""The bound of Jaakkola & Jordan (2000) on a logistic likelihood: its weights, its terms, its shortcuts.

    log p(y | eta) >= log sigmoid(xi) - xi / 2 + (y - 1/2) eta - lambda(xi) (eta^2 - xi^2),
    lambda(xi) = tanh(xi / 2) / (4 xi)

The right side is Gaussian in eta. It touches the left one at eta = xi and eta = -xi.
"""

from typing import NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Floats
from garrote.elementary import exponential, logarithm
from garrote.problem import Problem
from garrote.solvers.labels.label_regression import COVARIATE_PRECISION, Fixed, LabelColumns
from garrote.solvers.labels.polya_gamma import polya_gamma_mean

# Extrapolations further than so many rounds are not tried.
_FURTHEST = 1e4
# Nor do they move the logarithm of any xi by more than this.
_FURTHEST_LOG = 20.0
# Up to this half of xi its hyperbolic tangent is that of a series.
_SMALL = 1e-2


class Touching(NamedTuple):
    """The weighted regression that Jaakkola's bound makes of labels, given where it touches (xi).

    ``response`` is what a known part of the linear predictor leaves of the labels' numbers, with zeros
    for pseudo-data; ``under`` are the fixed columns under the weights of the regression.
    """

    columns: LabelColumns
    xi: Floats
    response: Floats
    under: Fixed

    @classmethod
    def at(cls, columns: LabelColumns, xi: Floats) -> "Touching":
        """Return the regression of a problem's labels."""
        curvatures, problem = bound_curvature(xi), columns.problem
        response = (problem.response - 0.5) / curvatures - problem.known_part
        under = columns.under(problem.weights * curvatures)
        return cls(columns, xi, columns.with_pseudo(response, 0.0), under)

    @property
    def level(self) -> float:
        """The part of the bound that does not depend on the other columns' coefficients."""
        level = float(touched_level(self.columns.problem.weights, self.xi))
        return level + fixed_level(self.columns) + 0.5 * self.under.log_determinant


def bound_curvature(xi: Floats) -> Floats:
    """Return 2 lambda(xi) = tanh(xi / 2) / (2 xi), the weight of a row: the mean of PG(1, xi)."""
    return polya_gamma_mean(1.0, xi)


def fixed_level(columns: LabelColumns) -> float:
    """Return what the fixed columns add to the bound wherever it touches: normalisers of their laws."""
    level = 0.5 * columns.count * float(np.log(2 * np.pi))
    return level + 0.5 * columns.pseudo * float(np.log(COVARIATE_PRECISION / (2 * np.pi)))


@kernel(inline=True)
def curvature_at(xi):
    """Return 2 lambda(xi) of one row, for xi >= 0."""
    e, half = exponential(-xi), 0.5 * xi
    square = half * half
    ratio = (1.0 - e) / ((1.0 + e) * max(half, _SMALL))
    # Next to 0 the difference has no digits left.
    series = 1.0 - square * (1.0 / 3.0 - square * (2.0 / 15.0 - square * (17.0 / 315.0)))
    return 0.25 * (ratio if half > _SMALL else series)


@kernel
def touched_level(weights, xi):
    """Return the rows' part of the bound that does not depend on coefficients."""
    level = 0.0
    for i in range(xi.shape[0]):
        curvature = curvature_at(xi[i])
        expected = -logarithm(1.0 + exponential(-xi[i])) - 0.5 * xi[i]
        expected += 0.5 * curvature * xi[i] * xi[i] + 0.125 / curvature
        level += weights[i] * expected
    return level


def first_xi(problem: Problem) -> Floats:
    """Return where the bound touches at first: at the log odds of the mean label, beside the offset."""
    mean = float(np.average(problem.response, weights=problem.weights))
    share = float(np.clip(mean, 1e-6, 1 - 1e-6))
    eta = problem.known_part
    if problem.scale.intercept_count:
        eta = eta + np.log(share / (1 - share)) - np.average(eta, weights=problem.weights)
    return np.maximum(np.abs(eta), 0.1)


def touching_error(xi: Floats, best: Floats, weights: Floats) -> float:
    """Return how far the bound touches from where it should, at the worst row of positive weight."""
    return float((np.abs(best - xi) / np.maximum(best, 1.0))[weights > 0].max())


class Shortcut:
    """Where slow rounds lead to: squared extrapolation (Varadhan & Roland 2008) of log xi."""

    def __init__(self, weights: Floats) -> None:
        self.weights, self.count = weights, 0
        self.seen = np.empty((3, len(weights)))

    def beyond(self, xi: Floats) -> Floats | None:
        """Take the next xi; after every third return a place further on, if there is one."""
        self.seen[self.count] = np.log(np.maximum(xi, 1e-8))
        self.count = (self.count + 1) % 3
        if self.count or not further_on(self.weights, self.seen):
            return None
        return self.seen[0].copy()


@kernel
def further_on(weights, seen):
    """Tell whether logarithms of three xi in a row lead on, and put where in place of the first."""
    steps, turns = 0.0, 0.0
    for i in range(weights.shape[0]):
        step = seen[1, i] - seen[0, i]
        turn = seen[2, i] - seen[1, i] - step
        steps += weights[i] * step * step
        turns += weights[i] * turn * turn
    length = np.sqrt(steps / max(turns, 1e-300))
    if not 1.0 < length < _FURTHEST:
        return False
    for i in range(weights.shape[0]):
        first, second, third = seen[0, i], seen[1, i], seen[2, i]
        further = first + 2.0 * length * (second - first)
        further += length * length * (third - 2.0 * second + first)
        # Rows of little weight hardly count in the length, and would be thrown beyond all numbers.
        further = min(max(further, third - _FURTHEST_LOG), third + _FURTHEST_LOG)
        seen[0, i] = exponential(further)
    return True

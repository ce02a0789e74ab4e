"""The bound of Jaakkola & Jordan (2000) on a logistic likelihood: its weights, its terms, its shortcuts.

    log p(y | eta) >= log sigmoid(xi) - xi / 2 + (y - 1/2) eta - lambda(xi) (eta^2 - xi^2),
    lambda(xi) = tanh(xi / 2) / (4 xi)

The right side is Gaussian in eta. It touches the left one at eta = xi and eta = -xi.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import log_expit

from garrote.arrays import Floats
from garrote.problem import Problem
from garrote.solvers.labels.label_regression import COVARIATE_PRECISION, Fixed, LabelColumns
from garrote.solvers.labels.polya_gamma import polya_gamma_mean

# Extrapolations further than so many rounds are not tried.
_FURTHEST = 1e4
# Nor do they move the logarithm of any xi by more than this.
_FURTHEST_LOG = 20.0


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
        columns, xi = self.columns, self.xi
        curvatures = bound_curvature(xi)
        touched = log_expit(xi) - 0.5 * xi + 0.5 * curvatures * xi**2 + 0.125 / curvatures
        level = float(columns.problem.weights @ touched)
        level += 0.5 * columns.count * float(np.log(2 * np.pi)) + 0.5 * self.under.log_determinant
        return level + 0.5 * columns.pseudo * float(np.log(COVARIATE_PRECISION / (2 * np.pi)))


def bound_curvature(xi: Floats) -> Floats:
    """Return 2 lambda(xi) = tanh(xi / 2) / (2 xi), the weight of a row: the mean of PG(1, xi)."""
    return polya_gamma_mean(1.0, xi)


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
        self.weights = weights
        self.seen: list[Floats] = []

    def beyond(self, xi: Floats) -> Floats | None:
        """Take the next xi; after every third return a place further on, if there is one."""
        self.seen.append(np.log(np.maximum(xi, 1e-8)))
        if len(self.seen) < 3:
            return None
        first, second, third = self.seen
        step, turn = second - first, third - 2 * second + first
        square = float(self.weights @ step**2) / max(float(self.weights @ turn**2), 1e-300)
        length = float(np.sqrt(square))
        self.seen = []
        if not 1.0 < length < _FURTHEST:
            return None
        further = first + 2 * length * step + length**2 * turn
        # Rows of little weight hardly count in the length, and would be thrown beyond all numbers.
        return np.asarray(np.exp(np.clip(further, third - _FURTHEST_LOG, third + _FURTHEST_LOG)))

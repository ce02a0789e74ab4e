"""Least squares, best subsets, ridge regression and the lasso as Murphy's chapter 13 defines them.

Each takes columns and a response as they are, without an intercept, and returns one row of coefficients
for each strength. His objectives are ||y - Xw||^2 + lambda ||w||_1 and ||y - Xw||^2 + lambda ||w||^2.
"""

from itertools import chain, combinations
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.paths.annealed import fit_path
from garrote.penalties import L1, BestSubset, NoPenalty, Ridge
from garrote.problem import Problem
from garrote.results.fit import PenaltyFit
from garrote.results.path import Path

Members = tuple[int, ...]


def unscaled_problem(X: Floats, y: Floats) -> Problem:
    """Return the regression of y on X as they are."""
    return Problem.from_rows(X, y, fit_intercept=False, standardize=False, scale_response=False)


def lasso_knots(X: Floats, y: Floats) -> Path[PenaltyFit]:
    """Return the knots of the lasso's path, of which the last is least squares."""
    return fit_path(unscaled_problem(X, y), L1(), solver="homotopy")


def fit_least_squares(X: Floats, y: Floats) -> Floats:
    """Return the least-squares coefficients."""
    return _dense(fit_path(unscaled_problem(X, y), NoPenalty()))[0]


def fit_best_subsets(X: Floats, y: Floats) -> Floats:
    """Return the coefficients of the best subset of each size, found by branch and bound."""
    problem = unscaled_problem(X, y)
    sizes = range(X.shape[1] + 1)
    return np.vstack([_dense(fit_path(problem, BestSubset(size), np.zeros(1))) for size in sizes])


def fit_lasso(X: Floats, y: Floats, lambdas: Floats) -> Floats:
    """Return the lasso's coefficients, exactly, at each lambda (descending)."""
    alphas = np.asarray(lambdas) / (2 * len(y))
    return _dense(fit_path(unscaled_problem(X, y), L1(), alphas, solver="homotopy"))


def fit_ridge(X: Floats, y: Floats, lambdas: Floats) -> Floats:
    """Return the coefficients of ridge regression at each lambda (descending)."""
    return _dense(fit_path(unscaled_problem(X, y), Ridge(), np.asarray(lambdas) / len(y)))


def fit_subsets(X: Floats, y: Floats, subsets: list[Members]) -> Floats:
    """Return the least-squares coefficients on each subset of the columns, however many."""
    coef = np.zeros((len(subsets), X.shape[1]))
    for row, members in zip(coef, subsets, strict=True):
        columns = list(members)
        row[columns] = np.linalg.lstsq(X[:, columns], y, rcond=None)[0]
    return coef


def all_subsets(count: int) -> list[Members]:
    """Return all subsets of so many columns, the small ones first."""
    sizes = (combinations(range(count), size) for size in range(count + 1))
    return list(chain.from_iterable(sizes))


def residual_squares(X: Floats, y: Floats, coef: Floats) -> Any:
    """Return the residual sum of squares of each row of coefficients."""
    return np.sum((y - coef @ X.T) ** 2, axis=1)


def _dense(path: Path[PenaltyFit]) -> Floats:
    return np.asarray(path.coefficients().toarray())

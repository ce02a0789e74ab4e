"""Garrote, lasso, ridge and paired mean field as the studies use them.

A path on the training set, its strength chosen by the squared error on a validation set; or a posterior
from both together.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge, lasso_path

from garrote.arrays import Array, Floats
from garrote.datasets.simulation import Regression
from garrote.estimators.spike_slab_regressor import SpikeSlabRegressor
from garrote.inference import anneal_paired, fit_paired
from garrote.paths.annealed import fit_path, flat_prior, gamma_grid
from garrote.priors.slab import GaussianSlab
from garrote.problem import Problem
from garrote.results.path import Path
from garrote.solvers.control import Control


@dataclass(frozen=True)
class TunedPath:
    """Solutions over strengths, and which one predicts the validation set best.

    Attributes
    ----------
    strengths : array of shape (K,)
        gamma for the garrote, lambda for lasso and ridge.
    coefficients : array or CSR array of shape (K, D)
    intercepts : array of shape (K,)
    included : array or CSR array of shape (K, D)
        Positive where a variable counts as in the model: m > 0.5, or a coefficient that is not 0.
    train, validation : Regression
    path : Path, optional
        Of the garrote, with both its branches.
    """

    strengths: Floats
    coefficients: Any
    intercepts: Floats
    included: Any
    train: Regression
    validation: Regression
    path: Path | None = None

    def errors(self, data: Regression) -> Floats:
        """Return the mean squared error at each strength."""
        fitted = self.coefficients @ data.X.T + self.intercepts[:, None]
        return np.mean((data.y - fitted) ** 2, axis=1)

    @cached_property
    def chosen(self) -> int:
        """Position of the least validation error."""
        return int(np.argmin(self.errors(self.validation)))

    @property
    def strength(self) -> float:
        return float(self.strengths[self.chosen])

    @property
    def coef(self) -> Floats:
        """Coefficients at the chosen strength."""
        return self.coef_at(self.chosen)

    def coef_at(self, position: int) -> Floats:
        """Coefficients at one position of the path."""
        return _dense(self.coefficients[[position]])[0]

    def supports(self) -> list[tuple[int, ...]]:
        """Return which variables are in the model, at each strength."""
        rows = (_dense(self.included[[k]])[0] for k in range(len(self.strengths)))
        return [tuple(np.flatnonzero(row).tolist()) for row in rows]

    @property
    def n_nonzero(self) -> int:
        """Number of variables in the chosen model."""
        return int(np.count_nonzero(_dense(self.included[[self.chosen]])))

    @property
    def tail(self) -> float:
        """Sum of the absolute coefficients of variables outside of the chosen model."""
        outside = _dense(self.included[[self.chosen]])[0] == 0
        return float(np.abs(self.coef[outside]).sum())

    @property
    def coef_error(self) -> float:
        """Sum of the absolute errors of the coefficients at the chosen strength."""
        return float(np.abs(self.coef - self.train.coef).sum())


Tune = Callable[[Regression, Regression], TunedPath]


def published_gammas(problem: Problem, eps: float = 1e-3, step: float = 0.02) -> Floats:
    """Return the grid of Kappen & Gomez: even steps of 0.02 gamma_min, from gamma_min by Eq. 13."""
    first = gamma_grid(problem, flat_prior(problem.n_features), 1, eps)[0]
    return first * step * np.arange(round(1 / step), 0, -1)


def tune_garrote(
    train: Regression,
    validation: Regression,
    gammas: int | None = None,
    solver: str = "coordinate",
    reheat: str = "cut",
) -> TunedPath:
    """Fit the Variational Garrote over the published gammas, or over the default grid of a size."""
    problem = Problem.from_rows(train.X, train.y)
    grid = published_gammas(problem) if gammas is None else gammas
    path = fit_path(problem, strengths=grid, solver=solver, control=Control(reheat=reheat))
    included = path.inclusion_probability() > 0.5
    return TunedPath(
        path.strengths, path.coefficients(), path.intercepts, included, train, validation, path
    )


def tune_lasso(train: Regression, validation: Regression, count: int = 100) -> TunedPath:
    """Fit the lasso of scikit-learn, ||y - Xw||^2 / (2N) + lambda ||w||_1, over glmnet's grid.

    That is, from the lambda that empties the model to 1e-4 of it, or 1e-2 where D >= N.
    """
    X, y, x_mean, y_mean = _center(train)
    largest = np.abs(y @ X).max() / len(y)
    smallest = largest * (1e-2 if X.shape[1] >= len(y) else 1e-4)
    grid = np.geomspace(largest, smallest, count)
    _, coefficients, _ = lasso_path(X, y, alphas=grid, tol=1e-6, max_iter=100_000, copy_X=False)
    coefficients = coefficients.T
    intercepts = y_mean - coefficients @ x_mean
    return TunedPath(grid, coefficients, intercepts, coefficients != 0, train, validation)


def tune_ridge(
    train: Regression, validation: Regression, count: int = 100, smallest: float = 1e-4
) -> TunedPath:
    """Fit the ridge regression of scikit-learn, ||y - Xw||^2 / N + lambda ||w||^2."""
    X, y, x_mean, y_mean = _center(train)
    grid = np.geomspace(1e3, smallest, count)
    model = Ridge(alpha=len(y) * grid, fit_intercept=False, solver="svd")
    coefficients = model.fit(X, np.repeat(y[:, None], count, axis=1)).coef_
    intercepts = y_mean - coefficients @ x_mean
    return TunedPath(grid, coefficients, intercepts, coefficients != 0, train, validation)


def fit_mean_field(
    train: Regression, validation: Regression, **settings: Any
) -> SpikeSlabRegressor:
    """Fit the paired mean field (PMF), which needs no validation rows of their own.

    Its slab is Gaussian, as the paper's; ``settings`` are others of `SpikeSlabRegressor`. Priors are
    averaged over by their evidence.
    """
    X, y = np.vstack([train.X, validation.X]), np.concatenate([train.y, validation.y])
    with warnings.catch_warnings():
        # Where rows are too few to tell, solutions wander; the errors that a study prints say so.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return SpikeSlabRegressor(GaussianSlab(), "mean-field", **settings).fit(X, y)


class PairedEstimate(NamedTuple):
    """What a paired mean field says: coefficients m w, the intercept, and how many m exceed 0.5."""

    coef: Floats
    intercept: float
    n_nonzero: int


def estimate_paired(train: Regression, validation: Regression, way: str) -> PairedEstimate:
    """Fit one paired mean field with its priors by EM.

    ``way`` is "random", EM from random inclusion probabilities, as Kappen & Gomez ran PMF;
    "annealed", EM from the solution that annealing leads to; or "PMF-ANNEAL", pi annealed to 0.95 and
    reheated, or "PMF-ANNEAL to 0.5".
    """
    X, y = np.vstack([train.X, validation.X]), np.concatenate([train.y, validation.y])
    problem = Problem.from_rows(X, y)
    if way.startswith("PMF-ANNEAL"):
        odds = np.linspace(-20.0, 0.0, 41) if way.endswith("to 0.5") else None
        fit = anneal_paired(problem, log_odds=odds).best.fit
    else:
        # Random starts have at most half as many variables as interpolate the rows, in expectation.
        most = min(1.0, problem.most_variables / problem.n_features)
        start = most * np.random.default_rng(0).random(problem.n_features)
        fit = fit_paired(problem, start=start if way == "random" else None).fit
    coef = np.zeros(problem.n_features)
    coef[fit.columns] = fit.probability * fit.weight
    unit: Floats = problem.scale.response_scale / problem.scale.column_scale
    coef = coef * unit
    level = float(y.mean() - X.mean(axis=0) @ coef)
    return PairedEstimate(coef, level, int(np.count_nonzero(fit.probability > 0.5)))


def paired_coefficients(train: Regression, validation: Regression, way: str) -> Floats:
    """Return the coefficients alone."""
    return estimate_paired(train, validation, way).coef


def _center(data: Regression) -> tuple[Floats, Floats, Floats, float]:
    x_mean, y_mean = data.X.mean(axis=0), float(data.y.mean())
    return np.asfortranarray(data.X - x_mean), data.y - y_mean, x_mean, y_mean


def _dense(rows: Any) -> Array:
    dense: Array = rows.toarray() if scipy.sparse.issparse(rows) else np.asarray(rows)
    return dense

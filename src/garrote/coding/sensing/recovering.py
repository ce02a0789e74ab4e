"""Ways to recover coefficients from measurements: settings of the estimators that do it."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from garrote.arrays import Array, Floats
from garrote.estimators.relevance.relevance_regressor import RelevanceRegressor
from garrote.estimators.searching.greedy_regressor import GreedyRegressor
from garrote.estimators.sparse_regressor import SparseRegressor
from garrote.estimators.spike_slab_regressor import SpikeSlabRegressor
from garrote.paths.annealed import fit_path
from garrote.penalties import L1, Terms
from garrote.priors import RelevancePrior
from garrote.priors.names import as_prior
from garrote.problem import Problem
from garrote.settings import Settings, as_settings, check_count, check_positive

# Where there is no noise the lasso has this share of the alpha that empties it: it fits to 1e-9 or so.
_NOISELESS = 1e-9
# Alphas among which the discrepancy principle chooses, down to this share of the first.
_ALPHAS, _EPS = 60, 1e-4


@dataclass(frozen=True)
class Measured:
    """Measurements y of coefficients through X; ``free`` are those that are no part of what is sparse.

    ``noise`` is the deviation of the noise, None where it is not known.
    """

    X: Any
    y: Floats
    free: Array
    noise: float | None
    seed: int
    callback: Any = None

    @property
    def plain(self) -> dict[str, Any]:
        """Settings of estimators that leave coefficients as they are measured."""
        return {"fit_intercept": False, "callback": self.callback}

    @property
    def covariates(self) -> list[int] | None:
        """The free coefficients, as estimators take them."""
        return [int(j) for j in self.free] or None

    def holding_noise(self, prior: Any) -> Any:
        """Return a prior that knows the noise, where that is known and there is some."""
        return prior.holding_noise(self.noise**2) if self.noise else prior


class Recovery(Settings):
    """The base of ways to recover. ``has_law`` says whether a posterior comes with the coefficients."""

    name: ClassVar[str]
    has_law: ClassVar[bool] = False

    def fit(self, measured: Measured) -> Any:
        """Return the fitted estimator."""
        raise NotImplementedError


@dataclass(frozen=True)
class LassoRecovery(Recovery):
    """The least sum of absolute coefficients that explains the measurements (basis pursuit).

    Parameters
    ----------
    alpha : float, optional
        The strength in ||y - Az||^2 / (2M) + alpha ||z||_1. By default the largest at which residuals
        are no longer than known noise is expected to be, sqrt(M) deviations; next to none where there is
        no noise; and by cross-validation over measurements where the noise is unknown.
    """

    alpha: float | None = None
    name: ClassVar[str] = "lasso"

    def __post_init__(self) -> None:
        if self.alpha is not None:
            check_positive("alpha", self.alpha)

    def fit(self, measured: Measured) -> SparseRegressor:
        alpha: float | str = self.alpha or "cv"
        if self.alpha is None and measured.noise is not None:
            alpha = _at_noise(measured)
        factor = {int(j): 0.0 for j in measured.free} or None
        exact = measured.noise == 0 and factor is None
        model = SparseRegressor(
            alpha=alpha, penalty_factor=factor, method="homotopy" if exact else "coordinate",
            standardize=False, **measured.plain,
        )  # fmt: skip
        return model.fit(measured.X, measured.y)


@dataclass(frozen=True)
class PursuitRecovery(Recovery):
    """One coefficient after another, least squares on all (orthogonal matching pursuit).

    Parameters
    ----------
    n_nonzero : int, optional
        How many. By default until known noise is all that is left, or by the extended BIC.
    """

    n_nonzero: int | None = None
    name: ClassVar[str] = "omp"

    def __post_init__(self) -> None:
        if self.n_nonzero is not None:
            check_count("n_nonzero", self.n_nonzero, 1)

    def fit(self, measured: Measured) -> GreedyRegressor:
        total, tol = float(measured.y @ measured.y), None
        if measured.noise and self.n_nonzero is None and total > 0:
            tol = min(1.0, len(measured.y) * measured.noise**2 / total)
        model = GreedyRegressor(
            "omp", self.n_nonzero, tol=tol, covariates=measured.covariates,
            criterion="ebic" if self.n_nonzero is None and tol is None else None, **measured.plain,
        )  # fmt: skip
        return model.fit(measured.X, measured.y)


@dataclass(frozen=True)
class SpikeSlabRecovery(Recovery):
    """Coefficients in or out with a probability, averaged over which of them are in.

    Parameters
    ----------
    prior : str or prior, default="spike-slab"
    method : str or method, default="auto"
        As `SpikeSlabRegressor` takes them.
    """

    prior: Any = "spike-slab"
    method: Any = "auto"
    name: ClassVar[str] = "spike-slab"
    has_law: ClassVar[bool] = True

    def fit(self, measured: Measured) -> SpikeSlabRegressor:
        prior = self.prior
        if measured.noise:
            prior = measured.holding_noise(as_prior(prior, "models", shapes=False))
        model = SpikeSlabRegressor(
            prior, self.method, covariates=measured.covariates, standardize=False,
            random_state=measured.seed, **measured.plain,
        )  # fmt: skip
        return model.fit(measured.X, measured.y)


@dataclass(frozen=True)
class RelevanceRecovery(Recovery):
    """A variance for each coefficient, those of most of them 0, by the evidence of the measurements.

    Parameters
    ----------
    method : str or method, default="auto"
        As `RelevanceRegressor` takes it.
    """

    method: Any = "auto"
    name: ClassVar[str] = "relevance"
    has_law: ClassVar[bool] = True

    def fit(self, measured: Measured) -> RelevanceRegressor:
        model = RelevanceRegressor(
            measured.holding_noise(RelevancePrior()),
            self.method,
            covariates=measured.covariates,
            standardize=False,
            **measured.plain,
        )
        return model.fit(measured.X, measured.y)


RECOVERIES: dict[str, type[Recovery]] = {
    one.name: one for one in (LassoRecovery, PursuitRecovery, SpikeSlabRecovery, RelevanceRecovery)
}


def as_recovery(given: Any) -> Recovery:
    """Return a way to recover that is given, or that a name stands for."""
    return as_settings("recovery", given, Recovery, RECOVERIES, "an object of garrote.coding")


def _at_noise(measured: Measured) -> float:
    """Return the largest alpha whose residuals are as short as noise is, or next to none."""
    problem = Problem.from_rows(
        measured.X, measured.y, fit_intercept=False, standardize=False, scale_response=False
    )
    largest = float(np.abs(problem.xty).max()) / problem.n or 1.0
    noise = measured.noise
    assert noise is not None
    if noise == 0:
        return _NOISELESS * largest
    factor = np.ones(problem.n_features)
    factor[measured.free] = 0.0
    terms = Terms.equal(problem.n_features)._replace(factor=factor)
    path = fit_path(problem, L1(), _ALPHAS, eps=_EPS, terms=terms)
    for place, fit in enumerate(path.fits):
        fitted = problem.table.dot(fit.columns, fit.coef[:, None])[:, 0]
        if np.sum((measured.y - fitted) ** 2) <= len(measured.y) * noise**2:
            return float(path.strengths[place])
    return float(path.strengths[-1])

"""The square-root lasso: a strength for which no noise has to be known, as the fit estimates it."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

from garrote.paths.annealed import fit_path
from garrote.paths.combinations import is_possible
from garrote.paths.penalised import resolve_alphas, run_alone
from garrote.paths.strengths import Strength
from garrote.penalties.base import Penalty, Terms
from garrote.problem import Problem
from garrote.results.certificates import optimality
from garrote.results.fit import PenaltyFit
from garrote.results.path import Path
from garrote.settings import check_positive
from garrote.solvers.control import Control

# Strengths are tried down to this share of the largest, each a tenth of the one before.
_LEAST = 1e-8
# How exactly fits are solved while the strength is looked for.
_TOLERANCE = 1e-11
# A noise below this share of the response's deviation is none.
_MATCHED = 1e-6


@dataclass(frozen=True)
class SquareRoot(Strength):
    """The lasso whose strength is ``level`` times the noise that it leaves: no noise has to be known.

    It minimises ||y - b - Xw|| / sqrt(N) + level sum_j factor_j |w_j|, the square-root lasso (Belloni,
    Chernozhukov & Wang 2011); minimised over sigma as well, ||y - b - Xw||^2 / (2 N sigma) + sigma / 2 +
    level sum_j factor_j |w_j| has the same answer, the scaled lasso (Sun & Zhang 2012), whose sigma is
    the root of the mean squared residual. To each level belongs one strength alpha = level sigma of the
    lasso: level rises with alpha, and the root is found. The certificate is the duality gap of the
    square-root problem, in units of the null model's.

    Parameters
    ----------
    level : float, optional
        By default sqrt(2 log(D) / N) for D columns of standard deviation 1, beyond which noise alone
        hardly lets a column in, whatever its size.

    References
    ----------
    Belloni, A., Chernozhukov, V. and Wang, L. (2011). Square-root lasso. Biometrika 98, 791-806.
    Sun, T. and Zhang, C.-H. (2012). Scaled sparse linear regression. Biometrika 99, 879-898.

    Examples
    --------
    >>> from garrote import SparseRegressor
    >>> from garrote.datasets import make_sparse_regression
    >>> from garrote.paths import SquareRoot
    >>> data = make_sparse_regression(n_samples=80, n_features=20, n_informative=2, random_state=0)
    >>> SparseRegressor("lasso", alpha=SquareRoot()).fit(data.X, data.y).get_support(indices=True)
    array([12, 16])
    """

    level: float | None = None

    def __post_init__(self) -> None:
        if self.level is not None:
            check_positive("the level of a SquareRoot", self.level)

    @property
    def reason(self) -> str:
        """The level."""
        said = "sqrt(2 log(D) / N)" if self.level is None else f"{self.level:g}"
        return f"as {said} times the noise that the fit leaves"

    def find(self, problem: Problem, penalty: Penalty, terms: Terms, solver: str) -> float:
        """Return the strength that is the level times the root of the mean squared residual."""
        _refuse_others(problem, penalty, terms, solver)
        given, level = problem.compressed(), self._level(problem)

        def noise(alpha: float) -> float:
            path = fit_path(
                given, penalty, np.array([alpha]), terms=terms, control=Control(_TOLERANCE)
            )
            return float(np.sqrt(2.0 * path.fits[-1].loss))

        largest = float(resolve_alphas(given, penalty, terms, 1, None)[0])
        whole = noise(largest)
        if level * whole >= largest or whole == 0.0:
            return max(level * whole, largest)
        above, below = largest, 0.1 * largest
        while below > level * noise(below):
            above, below = below, 0.1 * below
            if below < _LEAST * largest:
                break
        if noise(below) <= _MATCHED * whole:
            raise ValueError(
                f"the coefficients match y at every alpha that level={level:.3g} may stand for, and "
                "leave no noise to estimate: give SquareRoot a larger level, or choose alpha by 'cv'"
            )
        return float(brentq(lambda alpha: alpha - level * noise(alpha), below, above, xtol=1e-300))

    def certified(
        self, problem: Problem, penalty: Penalty, terms: Terms, path: Path[PenaltyFit]
    ) -> Path[PenaltyFit]:
        """Return the path with the duality gap of the square-root problem for its last fit."""
        fit, given, level = path.fits[-1], problem.compressed(), self._level(problem)
        squared, products = run_alone(given, given.evaluate(fit.columns, fit.coef[:, None]))
        sigma = float(np.sqrt(squared[0] / given.n))
        null = float(np.sqrt(2.0 * path.null_loss)) or 1.0
        if sigma == 0.0:
            return path
        gradient = products[0] / (given.n * sigma)
        charged = terms.factor > 0
        allowed = level * terms.factor[charged]
        beyond = float((np.abs(gradient[charged]) / allowed).max(initial=0.0))
        # theta = r / (n sigma), as much of it as the penalty allows; its norm is 1 / sqrt(n).
        dual = min(1.0, 1.0 / max(beyond, 1e-300)) * (
            sigma + float(gradient[fit.columns] @ fit.coef)
        )
        primal = sigma + level * float(terms.factor[fit.columns] @ np.abs(fit.coef))
        gap = max(primal - dual, 0.0) / null
        certificate = optimality(float(gap), fit.certificate.parts["violation"])
        return replace(path, fits=(*path.fits[:-1], replace(fit, certificate=certificate)))

    def implied(self, alpha: float, n: float) -> dict[str, float]:
        """Return nothing: the noise variance is that of every fit to a Gaussian response."""
        return {}

    def _level(self, problem: Problem) -> float:
        if self.level is not None:
            return self.level
        return float(np.sqrt(2.0 * np.log(max(len(problem.usable), 2)) / problem.n))


def _refuse_others(problem: Problem, penalty: Penalty, terms: Terms, solver: str) -> None:
    """Refuse all but the lasso of a Gaussian response, without bounds."""
    alone = problem.likelihood.least_squares and is_possible(
        penalty, problem.likelihood, "homotopy"
    )
    if not alone or penalty.first is not None or penalty.name != "lasso":
        raise ValueError(
            f"SquareRoot is for penalty='lasso' with a gaussian response, not for {penalty.name!r} with "
            f"a {problem.likelihood.name} one: give alpha"
        )
    if solver == "least-angle":
        raise ValueError("method='least-angle' is no way to the square-root lasso: take 'homotopy'")
    if (np.isfinite(terms.lower) | np.isfinite(terms.upper)).any():
        raise ValueError(
            "SquareRoot has no duality gap beside bounds of coefficients: leave them out, or give alpha"
        )

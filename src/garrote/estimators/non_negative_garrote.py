"""Breiman's non-negative garrote, as a scikit-learn regressor and selector."""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.estimators.shared.named_settings import Objects
from garrote.estimators.sparse_regressor import SparseRegressor
from garrote.paths import FollowPath
from garrote.paths.penalised import equal_terms, first_estimate, run_alone
from garrote.penalties import BreimanGarrote
from garrote.problem import Problem
from garrote.results.fit import PenaltyFit
from garrote.results.path import Path
from garrote.selecting.filling import Origin
from garrote.selecting.on_path import Choice
from garrote.solvers.control import Control


class NonNegativeGarrote(SparseRegressor):
    """A first fit whose coefficients are shrunk, each by a factor of its own that may become 0.

    Minimises 1/(2 N) ||y - b - sum_j c_j first_j x_j||^2 + alpha sum_j c_j over factors c >= 0. Large
    coefficients are hardly shrunk, small ones vanish. The first fit is made anew in every fold.

    Parameters
    ----------
    first : {"ols", "ridge", "lasso"}, default="ols"
        The first fit: least squares, for fewer columns than rows; a ridge chosen by generalised
        cross-validation; or a lasso chosen by BIC.
    alpha : float, {"cv", "bic", "ebic"} or None, default="cv"
        The price of the factors' sum: given, chosen, or with None the last of the path.
    cv, rule, method, fit_intercept, n_jobs, stability, callback
        As in `SparseRegressor`. ``standardize`` makes no difference to a first fit by least squares.
    standardize : bool, default=True

    Attributes
    ----------
    first_coef_ : array of shape (D,)
        The coefficients of the first fit.
    factors_ : array of shape (D,)
        What they are shrunk by; 0 where the first fit has 0.
    coef_, intercept_, alpha_, path_, selection_, certificate_, cv_results_, n_iter_
        As in `SparseRegressor`.
    n_features_in_, feature_names_in_

    References
    ----------
    Breiman, L. (1995). Better subset regression using the nonnegative garrote. Technometrics 37,
    373-384.

    Examples
    --------
    >>> from garrote import NonNegativeGarrote
    >>> from garrote.datasets import make_sparse_regression
    >>> data = make_sparse_regression(n_samples=80, n_features=20, n_informative=2, random_state=0)
    >>> model = NonNegativeGarrote(rule="1se").fit(data.X, data.y)
    >>> model.get_support(indices=True)
    array([12, 16])
    >>> bool(model.factors_.max() <= 1)
    True
    """

    family, penalty_factor, bounds, refit = "gaussian", None, None, False
    _takes_several = False

    def __init__(
        self,
        first: str = "ols",
        alpha: float | str | None = "cv",
        *,
        cv: Any = 5,
        rule: str = "min",
        method: str | FollowPath = "coordinate",
        fit_intercept: bool = True,
        standardize: bool = True,
        n_jobs: int | None = None,
        stability: int | str | None = None,
        callback: Any = None,
    ):
        self.first = first
        self.alpha = alpha
        self.cv = cv
        self.rule = rule
        self.method = method
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.stability = stability
        self.callback = callback

    @property
    def penalty(self) -> BreimanGarrote:
        """The penalty of which the estimator is made."""
        return BreimanGarrote(first=self.first)

    @property
    def _objects(self) -> dict[str, Objects]:
        return {"method": super()._objects["method"]}

    def _finish(
        self,
        problem: Problem,
        penalty: Any,
        path: Path[PenaltyFit],
        choice: Choice,
        origin: Origin,
    ) -> None:
        """Keep the first fit, and what it is shrunk by, beside what was found."""
        super()._finish(problem, penalty, path, choice, origin)
        every = np.arange(problem.n_features)
        solver = first_estimate(
            problem, penalty, equal_terms(problem), Control(self._path_method.tol)
        )
        first: Floats = run_alone(problem, solver)
        self.first_coef_: Floats = problem.scale.coefficients(every, first)
        self.factors_: Floats = np.divide(
            self._coefficients, self.first_coef_, out=np.zeros(len(first)), where=first != 0
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags

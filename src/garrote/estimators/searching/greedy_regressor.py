"""Greedy and best-subset selection for numbers and counts, as a scikit-learn regressor and selector."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from garrote.arrays import Floats
from garrote.estimators.families.learned_family import fit_in_turn, learns, with_learned
from garrote.estimators.families.survival import RESPONSE, SurvivalMixin, is_of_times
from garrote.estimators.given.arguments import Arguments
from garrote.estimators.given.inputs import (
    check_new_offset,
    check_new_rows,
    check_offset,
    check_response_rows,
    check_weights,
    response_name,
)
from garrote.estimators.given.zscores import HELD_NOISE, ZScoreMixin, refuse_covariates
from garrote.estimators.searching.greedy_model import GreedyModel, Searched
from garrote.estimators.shared.densities import MeasuredRows, measure_numbers
from garrote.likelihoods import (
    FAMILIES,
    adapt_to_data,
    as_likelihood,
    deviance_explained,
    inverse_link,
)
from garrote.paths.greedy import NO_COLUMNS
from garrote.penalties.groups.grouping import resolve_groups
from garrote.problem import Problem
from garrote.selecting.filling import Origin
from garrote.solvers.greedy import ColumnUnits
from garrote.zscores.summary_statistics import ZScores

_NO_FOLDS = (
    "z-scores have no rows to hold out: the size was chosen by EBIC, not by cross-validation"
)


class GreedyRegressor(SurvivalMixin, ZScoreMixin, GreedyModel, RegressorMixin, BaseEstimator):
    """Regression on a few columns that a search takes in, leaves out or exchanges one by one.

    Each model of the path is the least-squares (or most likely) fit to its columns: nothing is shrunk.
    Pursuits and boosting, which move one coefficient at a time, are the exception.

    Parameters
    ----------
    search : str or object of `garrote.greedy`, default="omp"
        Which subsets are looked at: "omp" (orthogonal matching pursuit), "forward", "backward", "foba"
        (forward with backward steps), "splicing" (best subsets at scale), "best-subset" (exact),
        "single-best-replacement", "matching-pursuit" or "boosting". An object has settings:
        ``Boosting(learning_rate=0.05)``.
    n_features : int, optional
        The size of the answer. With None it is chosen.
    criterion : {"ebic", "bic", "aic", "cv"} or None, default="ebic"
        What chooses among the models of the path where neither ``n_features`` nor ``tol`` do; None takes
        the last.
    tol : float, optional
        The first model that leaves no more than this share of the null model's error (or deviance).
    max_features : int, optional
        How far the path goes; by default N / log D, or all of up to 50 columns.
    family : {"gaussian", "binomial", "poisson", "negative-binomial", "gamma", "tweedie", \
 "inverse-gaussian", "cox"} or object of `garrote.likelihoods`, default="gaussian"
        What y is, as in `SparseRegressor`. All but numbers are searched by "omp" (by the
        gradient of their likelihood), "forward" and "splicing".
    cv : int, splitter or iterable of splits, default=5
        For ``criterion="cv"``; as in `SparseRegressor`.
    rule : {"min", "1se"}, default="min"
        The model of least held-out error, or the smallest within one standard error of it.
    covariates : column names or positions, optional
        Always in the model, whatever the search does.
    column_groups : labels, lists of columns, mapping, "factors" or None
        Columns that come in and leave together; as ``groups`` of `garrote.penalties.GroupLasso`. Sizes
        then count groups.
    fit_intercept : bool, default=True
        Whether columns and response are centred. Searches compare columns by what they explain, of which
        units are no part: `garrote.greedy.omp_many` takes the atoms of a dictionary as they are.
    n_jobs : int, optional
        Threads for cross-validation.
    stability : int or "auto", optional
        As in `SparseRegressor`; refits have the size that was chosen.
    callback : callable, optional
        Called with a `Progress` (stage, done, total).

    Attributes
    ----------
    coef_ : array of shape (D,)
    intercept_ : float
    n_features_ : int
        The size that was chosen, in groups where there are such.
    path_ : Path of PenaltyFit
        One model a size (or step, or price).
    selection_ : Selection
    certificate_ : Certificate
        Of the chosen model: its normal equations and, for searches that promise it, that no flip or
        exchange of variables helps, or how much better any other subset could be.
    cv_results_ : dict
        With ``criterion="cv"``.
    n_iter_ : int
    n_features_in_, feature_names_in_

    References
    ----------
    Murphy, K. P. (2012). Machine Learning: A Probabilistic Perspective, section 13.2.3.1.

    Examples
    --------
    >>> from garrote import GreedyRegressor
    >>> from garrote.datasets import make_sparse_regression
    >>> data = make_sparse_regression(n_samples=80, n_features=20, n_informative=2, random_state=0)
    >>> model = GreedyRegressor("splicing").fit(data.X, data.y)
    >>> model.get_support(indices=True)
    array([12, 16])
    >>> bool(model.certificate_["normal equations"] < 1e-12)
    True
    """

    def __init__(
        self,
        search: Any = "omp",
        n_features: int | None = None,
        criterion: str | None = "ebic",
        *,
        tol: float | None = None,
        max_features: int | None = None,
        family: Any = "gaussian",
        cv: Any = 5,
        rule: str = "min",
        covariates: Any = None,
        column_groups: Any = None,
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        stability: int | str | None = None,
        callback: Any = None,
    ):
        self.search = search
        self.n_features = n_features
        self.criterion = criterion
        self.tol = tol
        self.max_features = max_features
        self.family = family
        self.cv = cv
        self.rule = rule
        self.covariates = covariates
        self.column_groups = column_groups
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        self.stability = stability
        self.callback = callback

    @property
    def _objects(self) -> Any:
        families = {name: type(likelihood) for name, likelihood in FAMILIES.items()}
        return {**super()._objects, "family": families}

    def _family(self) -> Any:
        """Return the likelihood, one that is fitted to single models."""
        family = as_likelihood(self.family)
        if not _fits_single_models(family):
            able = tuple(name for name, each in FAMILIES.items() if _fits_single_models(each))
            raise ValueError(f"family must be one of {able}, got {self.family!r}")
        return family

    def _fit_rows(self, rows: Arguments) -> None:
        family = self._family()
        self._search(family)  # refuses settings before any work
        response = RESPONSE if family.of_times else response_name(rows.y)
        X, y, family = check_response_rows(self, rows, family)
        weights = check_weights(rows.sample_weight, X)
        family.check_response(y[weights > 0])
        known = check_offset(rows.offset, len(y), family)

        def fit(likelihood: Any) -> None:
            self._fit(X, y, response, likelihood, weights, rows)
            self._keep()
            for name in likelihood.from_data:
                setattr(self, f"{name}_", getattr(likelihood, name))

        def see() -> tuple[Floats, Floats, Floats]:
            return y, self._predictor(X, known), weights

        fit_in_turn(family, adapt_to_data(family, y, weights, known), fit, see)

    def _predictor(self, X: Any, known: Floats | None) -> Floats:
        """Return the linear predictors of rows, given their offsets."""
        eta = np.asarray(X @ self.coef_ + self.intercept_)
        return eta if known is None else eta + known

    def _refit_settings(self) -> dict[str, Any]:
        """Return what was chosen and, of a family that learns from the fit, what it has learned."""
        family = self._family()
        known = {"family": with_learned(family, self)} if learns(family) else {}
        return super()._refit_settings() | known

    def _keep(self) -> None:
        self.coef_: Floats = self._coefficients
        self.intercept_ = float(self._constant)

    def _fit_zscores(self, problem: Problem, scores: ZScores, origin: Origin) -> tuple[str, ...]:
        family = self._family()
        if not family.least_squares:
            raise ValueError(f"z-scores need family='gaussian', got {self.family!r}")
        search, problem = self._search(family), problem.in_response_units()
        names, count = np.array(scores.names, dtype=object), len(scores.names)
        refuse_covariates(self.covariates, "covariates")
        groups = self.column_groups
        numbers = None if groups is None else resolve_groups(groups, count, names)
        searched = Searched(problem, ColumnUnits(count, numbers), NO_COLUMNS, scores.names)
        path, choice = self._follow(search, searched, [])
        held: tuple[str, ...] = ()
        if self._by_folds or (self._by_criterion and scores.hides_the_noise):
            noise = 1.0 / problem.scale.response_scale if scores.hides_the_noise else None
            held = (HELD_NOISE,) if noise is not None else ()
            asked, self.criterion = self.criterion, "ebic" if self._by_folds else self.criterion
            try:
                choice = self._choice(path, problem, search, None, noise)
            finally:
                self.criterion = asked
        self._finish(search, searched, path, choice, origin.citing(search.reference))
        self._keep()
        return (*held, *((_NO_FOLDS,) if self._by_folds else ()))

    @property
    def _by_criterion(self) -> bool:
        return self.n_features is None and self.tol is None and self.criterion is not None

    def predict(self, X: Any, offset: Any = None) -> Floats:
        """Return the expected response: the mean of y, a probability or a rate.

        Rows with a rate beyond e^300 are refused.
        """
        check_is_fitted(self, "coef_")
        X, family = check_new_rows(self, X), self._family()
        eta = self._predictor(X, check_new_offset(self, family, offset, X.shape[0]))
        family.check_predictor(eta)
        return np.asarray(inverse_link(family, eta))

    def _measure(self, X: Any, y: Any, offset: Any) -> MeasuredRows:
        deviation = float(np.sqrt(self.selection_.noise_variance))
        return measure_numbers(
            with_learned(self._family(), self), y, self.predict(X, offset), deviation
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return the share of the deviance that is explained; R^2 for a Gaussian response.

        Of times until an event it is the concordance.
        """
        check_is_fitted(self, "coef_")
        if is_of_times(self):
            return self.concordance(X, y, sample_weight, offset)
        mean, y = self.predict(X, offset), np.asarray(y, dtype=np.float64)
        known = check_offset(offset, len(mean), self._family())
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return deviance_explained(with_learned(self._family(), self), y, mean, weights, known)


def _fits_single_models(family: Any) -> bool:
    """Tell whether one model after the other can be fitted: by squares, or in kernels."""
    return (family.least_squares or family.in_kernels) and not family.several

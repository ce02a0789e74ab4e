"""Penalised regression of numbers, labels or counts, as a scikit-learn regressor and selector."""

import contextlib
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score
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
from garrote.estimators.penalised.choice_of_alpha import as_alpha
from garrote.estimators.penalised.given_terms import scaled_terms
from garrote.estimators.penalised.model import SparseLinearModel
from garrote.estimators.penalised.path_task import ReadRows
from garrote.estimators.penalised.penalties_tried import Tried
from garrote.estimators.shared.densities import MeasuredRows, measure_numbers
from garrote.estimators.shared.documented import documented
from garrote.likelihoods import adapt_to_data, as_likelihood, deviance_explained, inverse_link
from garrote.likelihoods.several import SeveralResponses
from garrote.paths import FollowPath
from garrote.problem import Problem
from garrote.selecting.filling import Origin
from garrote.zscores.summary_statistics import ZScores

_NO_FOLDS = "z-scores have no rows to hold out: alpha was chosen by EBIC, not by cross-validation"


@documented
class SparseRegressor(SurvivalMixin, ZScoreMixin, SparseLinearModel, RegressorMixin, BaseEstimator):
    """Regression with a penalty that sets coefficients to 0, certified at every strength.

    Minimises the mean of the rows' losses plus alpha times the penalty of the coefficients of
    standardised columns; for a Gaussian response 1/(2 N) ||y - b - Xw||^2 + alpha sum_j factor_j p(w_j).

    Parameters
    ----------
    {penalty}
    {alpha}
    family : {"gaussian", "binomial", "probit", "poisson", "huber", "negative-binomial", "gamma", \
 "tweedie", "inverse-gaussian", "quantile", "cox"} or object of `garrote.likelihoods`, default="gaussian"
        What y is: numbers, labels 0 and 1 (whose log odds, or normal quantiles, are linear), counts,
        numbers with outliers, counts that vary more than Poisson's, positive numbers, such with zeros,
        or with a long tail (whose logarithm of the mean is linear), numbers whose quantile is meant, or
        times until an event (whose log hazards are linear). A likelihood object has settings:
        ``Huber(corner, scale)`` says where outliers begin, ``Tweedie(power)`` how the variance grows
        with the mean, ``Quantile(tau)`` which quantile, ``Cox(ties)`` what ties are; "quantile(0.9)" is
        the same.
    cv : int, splitter or iterable of splits, default=5
        For ``alpha="cv"``. A number of folds is filled at random, always in the same way, whatever the
        order of the rows; rows of one of the ``groups`` share a fold.
    rule : {"min", "1se"}, default="min"
        The alpha of least held-out error, or the largest within one standard error of it, which selects
        fewer variables. The former is what predicts best, as penalties shrink what they select;
        `VariationalGarrote` shrinks little, and takes the latter by default.
    {penalty_factor}
    {bounds}
    {refit}
    {follow}
    {fit_intercept}
    standardize : bool, default=True
        Columns are penalised in units of their standard deviation; coefficients return in those of the
        data. With `FusedLasso` columns are left as they are.
    {n_jobs}
    {stability}
    {callback}

    Attributes
    ----------
    coef_ : array of shape (D,), or (K, D) for K responses
    intercept_ : float, or array of shape (K,)
    alpha_ : float
    path_ : Path of PenaltyFit
        All fits, with ``coefficients()`` (strengths x features) and the certificate of each.
    selection_ : Selection
    certificate_ : Certificate
    cv_results_ : dict
        With ``alpha="cv"``: errors over the grid; of several l1_ratio those of all, a row each, as
        "alphas", "mean_errors" and "standard_errors".
    l1_ratio_ : float
        With several l1_ratio: the one that was chosen.
    noise_variance_ : float
        With ``alpha=PriorRate(...)``: what EM has learned.
    scale_ : float
        With ``family="huber"``: the unit of its corner.
    baseline_ : Baseline
        With ``family="cox"``: the cumulated hazard of a row at the columns' means, where ``intercept_``
        has the linear predictor 0.
    dispersion_ : float
        With ``family="negative-binomial"``: the most likely one at the fit.
    n_iter_ : int
    consistency_ : Consistency
        After `fit_zscores`: whether z-scores agree with LD.
    n_features_in_, feature_names_in_

    Notes
    -----
    The model is a selector itself (`get_support`, `transform`). `SelectFromModel` of scikit-learn takes
    it as well: with ``penalty="l1"`` it keeps what is not 0, up to its threshold of 1e-5. For any other
    penalty its threshold is the mean size of a coefficient, so give ``threshold=1e-10`` there. Its
    thresholds are in the units of the data: a column of large numbers may have a smaller coefficient.

    References
    ----------
    Tibshirani, R. (1996). Regression shrinkage and selection via the lasso. JRSS B 58, 267-288.
    Murphy, K. P. (2012). Machine Learning: A Probabilistic Perspective, sections 13.3-13.6.

    Examples
    --------
    >>> from garrote import SparseRegressor
    >>> from garrote.datasets import make_sparse_regression
    >>> data = make_sparse_regression(n_samples=80, n_features=20, n_informative=2, random_state=0)
    >>> model = SparseRegressor(rule="1se").fit(data.X, data.y)
    >>> model.get_support(indices=True)
    array([12, 16])
    >>> bool(model.certificate_["duality gap"] < 1e-6)
    True
    """

    _takes_several = True  # responses at once

    def __init__(
        self,
        penalty: Any = "lasso",
        alpha: float | str | None = "cv",
        *,
        family: Any = "gaussian",
        cv: Any = 5,
        rule: str = "min",
        penalty_factor: Any = None,
        bounds: Any = None,
        refit: bool | float = False,
        method: str | FollowPath = "coordinate",
        fit_intercept: bool = True,
        standardize: bool = True,
        n_jobs: int | None = None,
        stability: int | str | None = None,
        callback: Any = None,
    ):
        super().__init__(
            penalty, alpha, cv=cv, rule=rule, penalty_factor=penalty_factor, bounds=bounds, refit=refit,
            method=method, fit_intercept=fit_intercept, standardize=standardize, n_jobs=n_jobs,
            stability=stability, callback=callback,
        )  # fmt: skip
        self.family = family

    def _read_rows(self, rows: Arguments) -> ReadRows:
        family = self._family()
        response = RESPONSE if family.of_times else response_name(rows.y)
        # A single column is for scikit-learn to flatten where several are no use.
        several = family.least_squares or np.asarray(rows.y).shape[1:] not in ((), (1,))
        several = several and self._takes_several
        X, y, family = check_response_rows(self, rows, family, several)
        weights = check_weights(rows.sample_weight, X)
        likelihood = self._likelihood_for(family, y, weights, rows.offset)
        return ReadRows(X, y, response, likelihood, weights)

    def _fit_rows(self, rows: Arguments) -> None:
        read = self._read_rows(rows)

        def fit(likelihood: Any) -> None:
            self._take_from(likelihood)
            self._fit(read._replace(likelihood=likelihood), rows)
            self._keep(read.y)

        def see() -> tuple[Floats, Floats, Floats]:
            return read.y, self._predictor(read.X, rows.offset), read.weights

        # A gap grows with the square of the error of predictors, from which the number is learned.
        rough = float(np.sqrt(self._path_method.tol))
        fit_in_turn(self._family(), read.likelihood, fit, see, rough=rough)

    def _keep(self, y: Floats) -> None:
        """Set the coefficients, of as many responses as there are."""
        single, coef = y.ndim == 1, self._coefficients
        self.coef_: Floats = coef if single else coef.reshape(y.shape[1], -1)
        self.intercept_: Any = float(self._constant) if single else np.asarray(self._constant)

    def _take_from(self, likelihood: Any) -> None:
        """Set what the likelihood has taken from the data."""
        for name in likelihood.from_data:
            setattr(self, f"{name}_", getattr(likelihood, name))

    def _predictor(self, X: Any, offset: Any) -> Floats:
        """Return the linear predictors of rows."""
        eta, known = np.asarray(X @ self.coef_.T + self.intercept_), self._known(offset, X)
        return eta if known is None else eta + known

    def _likelihood_for(self, family: Any, y: Floats, weights: Floats, offset: Any) -> Any:
        """Return what y is: K responses at once, or the family with what it takes from the data."""
        if y.ndim == 2:
            if not family.least_squares:
                raise ValueError(
                    f"y has {y.shape[1]} columns, which family={self.family!r} cannot take: fit one at "
                    "a time, or take family='gaussian'"
                )
            return SeveralResponses(y.shape[1])
        # What it takes from the data it takes once, so that all folds have the same loss.
        return adapt_to_data(family, y, weights, check_offset(offset, len(y), family))

    def _refit_settings(self) -> dict[str, Any]:
        """Return what was chosen and, of a family that learns from the fit, what it has learned."""
        family = self._family()
        known = {"family": with_learned(family, self)} if learns(family) else {}
        return super()._refit_settings() | known

    def _fit_zscores(self, problem: Problem, scores: ZScores, origin: Origin) -> tuple[str, ...]:
        if not self._family().least_squares:
            raise ValueError(f"z-scores need family='gaussian', got {self.family!r}")
        problem = problem.in_response_units()
        names, count = np.array(scores.names, dtype=object), len(scores.names)
        kinds = [kind.resolved(count, names) for kind in self._penalties(problem.likelihood)]
        given = self._given_terms(kinds[0], names, count)
        refuse_covariates(np.flatnonzero(given.factor == 0), "penalty_factor = 0")
        terms_for = partial(scaled_terms, given)
        tried = [Tried(kind, *self._fit_path(problem, kind, terms_for, [])) for kind in kinds]
        noise = 1.0 / problem.scale.response_scale if scores.hides_the_noise else None
        by_folds = self._alpha.by_folds
        alpha = as_alpha("ebic") if by_folds else self._alpha
        penalty, path, choice = self._choose(tried, problem, alpha, noise)
        self._finish(problem, penalty, path, choice, origin.citing(penalty.reference))
        self._warn(False)
        self.coef_, self.intercept_ = self._coefficients, float(self._constant)
        held = (HELD_NOISE,) if noise is not None and alpha.chosen else ()
        return (*held, *((_NO_FOLDS,) if by_folds else ()))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        with contextlib.suppress(ValueError):  # of a family that is told of when it is fitted
            tags.target_tags.multi_output = self._family().least_squares
        tags.target_tags.single_output = True
        return tags

    def _family(self) -> Any:
        """Return the likelihood as given."""
        family = as_likelihood(self.family)
        if family.several:
            raise ValueError(
                f"family={self.family!r} has several outputs a row: SparseClassifier takes classes, and "
                "y of several columns is for family='gaussian'"
            )
        return family

    def predict(self, X: Any, offset: Any = None) -> Floats:
        """Return the expected response: the mean of y, a probability or a rate.

        For ``family="cox"`` it is the hazard, relative to that of a row at the columns' means. Rows with
        a rate beyond e^300 are refused.
        """
        check_is_fitted(self, "coef_")
        eta = self._predictor(check_new_rows(self, X), offset)
        likelihood = self._family()
        likelihood.check_predictor(eta)
        return np.asarray(inverse_link(likelihood, eta))

    def _measure(self, X: Any, y: Any, offset: Any) -> MeasuredRows:
        # A penalised fit has no posterior: its deviation is that of the noise alone.
        deviation = float(np.sqrt(self.selection_.noise_variance))
        return measure_numbers(
            with_learned(self._family(), self), y, self.predict(X, offset), deviation
        )

    def _known(self, offset: Any, X: Any) -> Floats | None:
        """Return the offset of new rows, in the shape of their responses."""
        several = SeveralResponses(len(self.coef_)) if self.coef_.ndim == 2 else self._family()
        return check_new_offset(self, several, offset, X.shape[0])

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return the share of the deviance that is explained; R^2 for a Gaussian response.

        Of several responses it is the mean of their R^2; of times until an event it is the concordance.

        That of ``family="huber"`` is twice its loss, beside the best constant's. With an offset the
        null model is a constant beside it.
        """
        check_is_fitted(self, "coef_")
        if is_of_times(self):
            return self.concordance(X, y, sample_weight, offset)
        mean, y = self.predict(X, offset), np.asarray(y, dtype=np.float64)
        known = self._known(offset, mean)
        if self.coef_.ndim == 2:
            part = 0.0 if known is None else known
            return float(r2_score(y - part, mean - part, sample_weight=sample_weight))
        family = with_learned(self._family(), self)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return deviance_explained(family, y, mean, weights, known)

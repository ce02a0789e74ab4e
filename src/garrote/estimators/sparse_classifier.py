"""Penalised logistic and probit regression, as a scikit-learn classifier and selector."""

import contextlib
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from garrote.arrays import Array, Floats
from garrote.estimators.given.arguments import Arguments
from garrote.estimators.given.inputs import (
    check_labelled_rows,
    check_new_offset,
    check_new_rows,
    check_weights,
    response_name,
)
from garrote.estimators.penalised.model import SparseLinearModel
from garrote.estimators.penalised.path_task import ReadRows
from garrote.estimators.shared.densities import MeasuredRows, measure_labels
from garrote.estimators.shared.documented import documented
from garrote.likelihoods import (
    Binomial,
    Likelihood,
    Probit,
    as_likelihood,
    inverse_link,
    log_likelihood,
)
from garrote.limits.costs import CLASSES_SECONDS, foretell, points_in_all
from garrote.paths import FollowPath

# Log odds that are linear are binomial for two classes, and multinomial for more.
_FAMILIES: dict[str, Likelihood] = {
    "binomial": Binomial(),
    "multinomial": Binomial(),
    "probit": Probit(),
}


@documented
class SparseClassifier(SparseLinearModel, ClassifierMixin, BaseEstimator):
    """Regression of labels with a penalty that sets coefficients to 0, certified at every strength.

    Minimises the mean of the rows' log losses plus alpha times the penalty of the coefficients of
    standardised columns.

    Parameters
    ----------
    {penalty}
    {alpha}
    family : {"binomial", "multinomial", "probit"} or object of `garrote.likelihoods`, \
default="binomial"
        Whether log odds are linear (binomial for two classes and multinomial for more, whichever is
        named), or normal quantiles, for two classes.
    class_weight : {"balanced"} or dict, optional
        Weights of the classes, beside those of the rows; "balanced" makes all classes' weights equal.
    cv, rule
        As in `SparseRegressor`; folds are stratified by default.
    {penalty_factor}
    {bounds}
    {refit}
    {follow}
    {fit_intercept}
    {standardize}
    {n_jobs}
    {stability}
    {callback}

    Attributes
    ----------
    classes_ : array of shape (K,)
    coef_ : array of shape (1, D), or (K, D) for more than two classes
    intercept_ : array of shape (1,) or (K,)
    alpha_, l1_ratio_, path_, selection_, certificate_, cv_results_, n_iter_
        As in `SparseRegressor`.
    n_features_in_, feature_names_in_

    References
    ----------
    Friedman, J., Hastie, T. and Tibshirani, R. (2010). Regularization paths for generalized linear
    models via coordinate descent. Journal of Statistical Software 33(1).

    Examples
    --------
    >>> from garrote import SparseClassifier
    >>> from garrote.datasets import make_sparse_regression
    >>> data = make_sparse_regression(n_samples=200, n_features=20, n_informative=2, random_state=0)
    >>> labels = ["high" if value > 0 else "low" for value in data.y]
    >>> model = SparseClassifier(alpha="ebic").fit(data.X, labels)
    >>> model.get_support(indices=True)
    array([12, 16])
    >>> model.predict(data.X[:2]).tolist()
    ['low', 'low']
    >>> model.predict_proba(data.X).shape
    (200, 2)
    """

    def __init__(
        self,
        penalty: Any = "lasso",
        alpha: float | str | None = "cv",
        *,
        family: Any = "binomial",
        class_weight: Any = None,
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
        self.class_weight = class_weight

    def _read_rows(self, rows: Arguments) -> ReadRows:
        family = self._family()
        response = response_name(rows.y)
        X, y = check_labelled_rows(self, rows.X, rows.y)
        check_classification_targets(y)
        weights = check_weights(rows.sample_weight, X)
        balanced = isinstance(self.class_weight, str) and self.class_weight == "balanced"
        if not balanced:
            weights = weights * compute_sample_weight(self.class_weight, y)
        self.classes_ = np.unique(y[weights > 0])
        if len(self.classes_) < 2:
            raise ValueError(
                "y has one class only among rows of positive weight: rows of at least two classes are "
                "needed"
            )
        count = len(self.classes_)
        likelihood = family.of_classes(count)
        # Rows of weight 0 may have labels of their own: they count as the nearest class.
        codes = np.minimum(np.searchsorted(self.classes_, y), count - 1).astype(np.float64)
        if balanced:
            total = np.bincount(codes.astype(np.intp), weights)
            weights = weights * (total.sum() / (count * total))[codes.astype(np.intp)]
        if count == 2:
            response = f"{response} = {self.classes_[1]}"
        return ReadRows(X, codes, response, likelihood, check_weights(weights, X))

    def _fit_rows(self, rows: Arguments) -> None:
        read = self._read_rows(rows)
        if len(self.classes_) > 2:
            self._foretell(read.X.shape, len(self.classes_))
        self._fit(read, rows)
        self.coef_ = self._coefficients.reshape(-1, read.X.shape[1])
        self.intercept_ = np.atleast_1d(self._constant)

    def _foretell(self, shape: tuple[int, int], count: int) -> None:
        """Say what a path of several classes, and those of its folds, will cost."""
        points = points_in_all(self._path_method.alphas, self.cv, self._alpha.by_folds)
        rows, columns = shape
        seconds = points * CLASSES_SECONDS * rows * count * float(np.sqrt(columns))
        what = f"a fit of {count} classes to {columns} columns at {points} strengths"
        foretell(what, seconds, "take fewer alphas or folds, or alpha='bic',")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        with contextlib.suppress(ValueError):  # of a family that is told of when it is fitted
            tags.classifier_tags.multi_class = False
            tags.classifier_tags.multi_class = self._family().of_classes(3).several
        return tags

    def _family(self) -> Any:
        """Return the likelihood as given."""
        return as_likelihood(self.family, _FAMILIES)

    @property
    def _likelihood(self) -> Any:
        """The likelihood of the classes that were fitted."""
        return self._family().of_classes(len(self.classes_))

    def _check_fold(self, number: int, trained: Floats, y: Floats, likelihood: Any) -> None:
        """Refuse training rows that lack a class."""
        missing = np.setdiff1d(y, trained)
        if len(missing):
            label, rows = self.classes_[int(missing[0])], np.count_nonzero(y == missing[0])
            raise ValueError(
                f"fold {number} of cv trains without class {str(label)!r} ({rows} of {len(y)} rows): "
                "choose alpha by 'bic', or leave that class out"
            )

    def decision_function(self, X: Any, offset: Any = None) -> Floats:
        """Return the log odds of the second class; of several classes, all linear predictors.

        With ``family="probit"`` these are the normal quantiles of its probability.
        """
        check_is_fitted(self, "coef_")
        X = check_new_rows(self, X)
        eta = np.asarray(X @ self.coef_.T + self.intercept_)
        eta = eta[:, 0] if len(self.classes_) == 2 else eta
        known = check_new_offset(self, self._likelihood, offset, X.shape[0])
        return eta if known is None else eta + known

    def _measure(self, X: Any, y: Any, offset: Any) -> MeasuredRows:
        return measure_labels(self, X, y, offset)

    def predict_proba(self, X: Any, offset: Any = None) -> Floats:
        """Return the probability of each class."""
        eta = self.decision_function(X, offset)
        if eta.ndim == 2:
            return np.asarray(self._likelihood.mean(eta.T).T)
        likelihood = self._likelihood
        return np.column_stack([inverse_link(likelihood, -eta), inverse_link(likelihood, eta)])

    def predict_log_proba(self, X: Any, offset: Any = None) -> Floats:
        """Return the logarithm of the probability of each class."""
        eta = self.decision_function(X, offset)
        if eta.ndim == 2:
            return np.asarray(eta - logsumexp(eta, axis=1, keepdims=True))
        likelihood = self._likelihood
        return np.column_stack([log_likelihood(likelihood, y, eta) for y in (0.0, 1.0)])

    def predict(self, X: Any, offset: Any = None) -> Array:
        """Return the more probable class."""
        eta = self.decision_function(X, offset)
        place = eta.argmax(axis=1) if eta.ndim == 2 else (eta > 0).astype(np.intp)
        return self.classes_[place]

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return the share of rows whose class is predicted."""
        return float(accuracy_score(y, self.predict(X, offset), sample_weight=sample_weight))

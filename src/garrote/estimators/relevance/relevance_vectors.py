"""Relevance vector machines: which training rows a kernel regression needs."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from garrote.arrays import Array, Floats
from garrote.estimators.relevance.kernel_machine import KernelSettings
from garrote.estimators.relevance.relevance_classifier import RelevanceClassifier
from garrote.estimators.relevance.relevance_regressor import RelevanceRegressor
from garrote.estimators.shared.saving import SaveMixin
from garrote.likelihoods import Binomial
from garrote.results.laws import Anchor, JointGaussian, Spread


class _RelevanceVectors(SaveMixin, KernelSettings):
    """What both machines share: a fit on kernel columns, of which those of a few rows are kept."""

    def __init__(
        self,
        kernel: str = "rbf",
        prior: Any = "relevance",
        method: Any = "auto",
        *,
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        fit_intercept: bool = True,
        callback: Any = None,
    ):
        self.kernel = kernel
        self.prior = prior
        self.method = method
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.callback = callback

    def _checked(self, X: Any, y: Any = "no_validation", reset: bool = False) -> Any:
        sparse = ("csr",) if self.__sklearn_tags__().input_tags.sparse else False
        known = {"accept_sparse": sparse, "dtype": np.float64, "reset": reset}
        if isinstance(y, str):
            return validate_data(self, X, **known)
        return validate_data(self, X, y, y_numeric=False, **known)

    def _fit_machine(self, machine: Any, X: Any, y: Any) -> None:
        """Fit the kernel's columns, and keep what belongs to the rows that are in."""
        self._keep_rows(X)
        everyone = slice(None) if self.kernel == "precomputed" else X
        names = [f"row {i}" for i in range(X.shape[0])]
        machine.fit(self._kernel(X, everyone), y, feature_names=names)
        law: JointGaussian = machine.posterior_.law
        kept, count = law.columns, len(law.columns)
        self.relevance_ = kept
        self.relevance_vectors_ = kept if self.kernel == "precomputed" else X[kept]
        del self.X_fit_  # the others are of no use any more
        self.dual_coef_ = law.mean[kept]
        self.intercept_ = float(np.ravel(machine.intercept_)[0])
        self.certificate_, self.method_ = machine.certificate_, machine.method_
        self.log_evidence_ = machine.posterior_.log_evidence
        self._law = JointGaussian.of(
            np.arange(count), law.mean[kept], law.covariance, law.intercept, law.with_intercept
        )

    def _columns(self, X: Any) -> Floats:
        """Return how much new rows resemble the relevance vectors."""
        check_is_fitted(self, "dual_coef_")
        rows = self._checked(X)
        if not len(self.dual_coef_):  # the intercept is all that there is
            return np.zeros((rows.shape[0], 0))
        return self._kernel(rows, self.relevance_vectors_)


class RelevanceVectorRegressor(RegressorMixin, _RelevanceVectors):
    """The relevance vector machine for numbers: kernel regression on the few rows that it needs.

    y = intercept + sum over training rows of w_i k(x, x_i) + noise, every w_i with a prior variance that
    the evidence sets, as in `RelevanceRegressor`. There is a column for each of N rows: the noise may be
    held where half of the rows are spent.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "polynomial", "laplacian", "sigmoid", "cosine", "precomputed"}
        Of "precomputed" X is the matrix of kernel values, new rows with the training rows in columns.
    prior : "relevance" or `garrote.priors.RelevancePrior`
    method : {"auto", "sequential", "fixed-point", "em", "reweighted-l1"} or `garrote.inference.Method`
    gamma : {"scale", "auto"} or float
        As in scikit-learn's `SVR`.
    degree, coef0 : float
        Of "poly" and "sigmoid".
    fit_intercept : bool, default=True
    callback : callable, optional

    Attributes
    ----------
    relevance_ : array of int
        The training rows that are in.
    relevance_vectors_ : array of shape (r, D)
        These rows; of a precomputed kernel, their numbers.
    dual_coef_ : array of shape (r,)
    intercept_, noise_variance_, log_evidence_ : float
    certificate_ : Certificate
    method_ : str
    n_features_in_, feature_names_in_

    References
    ----------
    Tipping, M. E. (2001). Sparse Bayesian learning and the relevance vector machine. Journal of Machine
    Learning Research 1, 211-244.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import RelevanceVectorRegressor
    >>> x = np.linspace(-5, 5, 100)[:, None]
    >>> y = np.sinc(x[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(100)
    >>> machine = RelevanceVectorRegressor(gamma=0.5).fit(x, y)
    >>> len(machine.relevance_) < 20
    True
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Find the rows that matter."""
        self._check_kernel()
        X, y = self._checked(X, y, reset=True)
        machine = RelevanceRegressor(
            self.prior, self.method, fit_intercept=self.fit_intercept, callback=self.callback
        )
        self._fit_machine(machine, X, y)
        self.noise_variance_ = machine.noise_variance_
        kept = machine._anchor
        self._anchor = Anchor(kept.center[self.relevance_], kept.spent)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return predictions, and on request their standard deviations: noise, weights, intercept."""
        columns = self._columns(X)
        mean = columns @ self.dual_coef_ + self.intercept_
        if not return_std:
            return mean
        spread = Spread.of(np.arange(len(self.dual_coef_)), self._law.covariance)
        variance = self._law.response_variance(
            columns, self.dual_coef_, self.noise_variance_, spread, self._anchor
        )
        return mean, np.sqrt(variance)


class RelevanceVectorClassifier(ClassifierMixin, _RelevanceVectors):
    """The relevance vector machine for labels of two classes, on the few rows that it needs.

    The log odds of the second class are intercept + sum over training rows of w_i k(x, x_i), every w_i
    with a prior variance of its own, set by the evidence as in `RelevanceClassifier`.

    Parameters
    ----------
    kernel, prior, gamma, degree, coef0, fit_intercept, callback
        As in `RelevanceVectorRegressor`.
    method : {"auto", "fixed-point", "em", "reweighted-l1"} or object of `garrote.inference`

    Attributes
    ----------
    classes_ : array of shape (2,)
    relevance_, relevance_vectors_, dual_coef_, intercept_, log_evidence_, certificate_, method_
        As in `RelevanceVectorRegressor`.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import RelevanceVectorClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((150, 2))
    >>> y = (X**2).sum(axis=1) + 0.2 * rng.standard_normal(150) > 1.5
    >>> machine = RelevanceVectorClassifier(gamma=0.5).fit(X, y)
    >>> machine.score(X, y) > 0.9
    True
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Find the rows that matter."""
        self._check_kernel()
        X, y = self._checked(X, y, reset=True)
        machine = RelevanceClassifier(
            self.prior, self.method, fit_intercept=self.fit_intercept, callback=self.callback
        )
        self._fit_machine(machine, X, y)
        self.classes_ = machine.classes_
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, averaged over the weights."""
        columns, nothing = self._columns(X), np.zeros(0, dtype=np.intp)
        second = self._law.mean_response(
            Binomial(), columns, self.dual_coef_, nothing, np.zeros(len(columns))
        )
        return np.column_stack([1.0 - second, second])

    def decision_function(self, X: Any) -> Floats:
        """Return the log odds of the second class, of its averaged probability."""
        p = np.clip(self.predict_proba(X)[:, 1], 1e-15, 1.0 - 1e-15)
        return np.asarray(np.log(p) - np.log1p(-p))

    def predict(self, X: Any) -> Array:
        """Return the more probable class."""
        second = self.predict_proba(X)[:, 1] > 0.5
        return np.asarray(self.classes_[second.astype(np.intp)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

"""Relevance determination of labels, as a scikit-learn classifier and selector."""

from typing import Any, ClassVar

from garrote.estimators.shared.posteriors import PosteriorClassifier


class RelevanceClassifier(PosteriorClassifier):
    """Logistic regression in which the evidence sets a prior variance for every coefficient.

    The log odds of the second class are intercept + sum of w_j x_j, w_j ~ N(0, variance_j) in standard
    deviations of the columns, as for `RelevanceRegressor`. Coefficients are integrated out by Laplace's
    approximation (Murphy 2012, section 13.7.5), so that steps need not raise the evidence; that of the
    reweighted lassos is exact given the variances. The intercept is flat, covariates have N(0, 100).

    Parameters
    ----------
    prior : "relevance" or `garrote.priors.RelevancePrior`
        As in `RelevanceRegressor`; labels have no noise, and neither c nor d.
    method : {"auto", "fixed-point", "em", "reweighted-l1"} or object of `garrote.inference`
        "auto" takes "fixed-point".
    covariates, fit_intercept, standardize, stability, callback
        As in `RelevanceRegressor`.

    Attributes
    ----------
    classes_ : array of shape (2,)
    coef_ : array of shape (1, D)
        Mean coefficients in the units of the data.
    intercept_ : array of shape (1,)
    posterior_, sign_probability_, method_, selection_, certificate_
        As in `RelevanceRegressor`.
    n_features_in_, feature_names_in_

    References
    ----------
    Tipping, M. E. (2001). Sparse Bayesian learning and the relevance vector machine. Journal of Machine
    Learning Research 1, 211-244.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import RelevanceClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 6))
    >>> y = np.where(2 * X[:, 3] - 2 * X[:, 4] + rng.logistic(size=200) > 0, "ill", "well")
    >>> model = RelevanceClassifier().fit(X, y)
    >>> model.get_support(indices=True)
    array([3, 4])
    """

    _kind: ClassVar[str] = "relevance"

    def __init__(
        self,
        prior: Any = "relevance",
        method: Any = "auto",
        *,
        covariates: Any = None,
        fit_intercept: bool = True,
        standardize: bool = True,
        stability: int | str | None = None,
        callback: Any = None,
    ):
        self.prior = prior
        self.method = method
        self.covariates = covariates
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.stability = stability
        self.callback = callback

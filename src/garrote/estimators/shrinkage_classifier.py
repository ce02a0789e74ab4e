"""Priors that shrink all effects on labels, as a scikit-learn classifier and selector."""

from typing import Any, ClassVar

from garrote.estimators.shared.documented import documented
from garrote.estimators.shared.posteriors import PosteriorClassifier


@documented
class ShrinkageClassifier(PosteriorClassifier):
    """Posterior of a logistic regression whose prior shrinks all coefficients and leaves none out.

    The log odds of the second class are intercept + sum of w_j x_j, where every w_j has much of its
    prior near 0, and long tails: the horseshoe and its kin, as for `ShrinkageRegressor`. They are drawn
    by Polya-Gamma Gibbs sampling (Polson, Scott & Windle 2013). In standard deviations of the columns a
    factor N(0, 25) stands beside each prior, so that coefficients of separated classes are finite too.
    The intercept is flat, covariates have N(0, 100). Selected is what has a 95% interval without 0, and
    the evidence is the probability of the effect's sign.

    Parameters
    ----------
    prior : {"horseshoe", "laplace", "elastic-net", ...} or object of `garrote.priors`
        As in `ShrinkageRegressor`; labels have no noise variance.
    method : {"auto", "gibbs"} or `garrote.inference.Gibbs`
        As in `ShrinkageRegressor`.
    {covariates_of_labels}
    {fit_intercept}
    {standardize}
    {n_jobs}
    {random_state}
    {stability}
    {callback}

    Attributes
    ----------
    classes_ : array of shape (2,)
    coef_ : array of shape (1, D)
        Mean coefficients in the units of the data.
    intercept_ : array of shape (1,)
    posterior_, sign_probability_, method_, selection_, certificate_
        As in `ShrinkageRegressor`.
    n_features_in_, feature_names_in_

    References
    ----------
    Polson, N. G., Scott, J. G. and Windle, J. (2013). Bayesian inference for logistic models using
    Polya-Gamma latent variables. Journal of the American Statistical Association 108, 1339-1349.
    Piironen, J. and Vehtari, A. (2017). Sparsity information and regularization in the horseshoe and
    other shrinkage priors. Electronic Journal of Statistics 11, 5018-5051.
    Nishimura, A. and Suchard, M. A. (2023). Shrinkage with shrunken shoulders: Gibbs sampling shrinkage
    model posteriors with guaranteed convergence rates. Bayesian Analysis 18, 367-390.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import ShrinkageClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 6))
    >>> y = np.where(2 * X[:, 3] - 2 * X[:, 4] + rng.logistic(size=200) > 0, "ill", "well")
    >>> model = ShrinkageClassifier(random_state=0).fit(X, y)
    >>> model.get_support(indices=True)
    array([3, 4])
    >>> model.predict_proba(X[:5]).shape
    (5, 2)
    """

    _kind: ClassVar[str] = "shrinkage"

    def __init__(
        self,
        prior: Any = "horseshoe",
        method: Any = "auto",
        *,
        covariates: Any = None,
        fit_intercept: bool = True,
        standardize: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        stability: int | str | None = None,
        callback: Any = None,
    ):
        self.prior = prior
        self.method = method
        self.covariates = covariates
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.stability = stability
        self.callback = callback

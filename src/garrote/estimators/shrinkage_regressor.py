"""Priors that shrink all coefficients of numbers, as a scikit-learn regressor and selector."""

from typing import Any, ClassVar

from garrote.estimators.shared.documented import documented
from garrote.estimators.shared.posteriors import PosteriorRegressor


@documented
class ShrinkageRegressor(PosteriorRegressor):
    """Posterior of a linear regression whose prior shrinks all coefficients and leaves none out.

    y = intercept + sum of w_j x_j + noise, where every w_j has much of its prior near 0, and long tails:
    the horseshoe and its kin. They are drawn by Gibbs' method. Selected is what has a 95% interval
    without 0, and the evidence is the probability of the effect's sign.

    Parameters
    ----------
    prior : {"horseshoe", "laplace", "elastic-net", ...} or object of `garrote.priors`
        "horseshoe" (default), "laplace" (the Bayesian lasso), "elastic-net", "fused-laplace", "neg",
        "normal-gamma", "student" or "hal". An object brings its own settings, such as
        ``StudentPrior(4.0)`` and ``HorseshoePrior(scale=0.1)``, among them a known noise variance;
        ``GroupLaplacePrior(groups)`` is one more.
    method : {"auto", "gibbs"} or `garrote.inference.Gibbs`
        The object brings the lengths and the number of chains, as in ``Gibbs(n_steps=5000)``; by default
        2000 states count, after 500 before them, of each of 2 chains.
    {covariates}
    {fit_intercept}
    {standardize}
    {n_jobs}
    {random_state}
    {stability}
    {callback}

    Attributes
    ----------
    posterior_ : Posterior
        Signs' probabilities, coefficients, ``interval()``, ``sample()``, ``credible_sets()``.
    coef_, intercept_ : mean coefficients in the units of the data
    sign_probability_ : array of shape (D,)
        The probability of each coefficient's likelier sign.
    noise_variance_ : float
    method_ : str
    selection_ : Selection
    certificate_ : Certificate
        How far means may be off, in posterior deviations, and how far the chains are apart.
    consistency_ : Consistency
        After `fit_zscores`: whether z-scores agree with LD.
    n_features_in_, feature_names_in_

    References
    ----------
    Carvalho, C. M., Polson, N. G. and Scott, J. G. (2010). The horseshoe estimator for sparse signals.
    Biometrika 97, 465-480.
    Park, T. and Casella, G. (2008). The Bayesian lasso. Journal of the American Statistical Association
    103, 681-686.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import ShrinkageRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 8))
    >>> y = 2 * X[:, 3] - X[:, 7] + rng.standard_normal(60)
    >>> model = ShrinkageRegressor(random_state=0).fit(X, y)
    >>> model.get_support(indices=True)
    array([3, 7])
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

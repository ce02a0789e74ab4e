"""Sums of single effects on numbers, as a scikit-learn regressor and selector."""

from typing import Any, ClassVar

from garrote.estimators.shared.documented import documented
from garrote.estimators.shared.posteriors import PosteriorRegressor


@documented
class SingleEffectsRegressor(PosteriorRegressor):
    """Coefficients that are a sum of effects of one variable each, with credible sets.

    y = intercept + sum of effects + noise, each effect that of one variable, which is unknown (Wang et
    al. 2020). That is quick with thousands of columns, and made for those that resemble each other:
    ``posterior_.credible_sets()`` tells which variables could stand in for which.

    Parameters
    ----------
    prior : "single-effects" or `garrote.priors.SingleEffects`
        The object brings settings, such as ``SingleEffects(effects=5)``, the most effects that there may
        be; by default as many as the data ask for. Its noise variance is estimated unless it is given.
    inclusion : array of shape (D,) or law of `garrote.priors`, optional
        The variable of an effect is each one with a probability in proportion to its odds of inclusion;
        by default all are alike.
    family : {"gaussian", "poisson", "cox"} or object of `garrote.likelihoods`
        What y is: a number, a count, or times until an event. Of the latter two columns are fitted one
        by one, beside the mean of what other effects add, and count by Laplace's Bayes factors.
    {covariates}
    {prior_log_odds}
    {fit_intercept}
    {standardize}
    {stability}
    {callback}

    Attributes
    ----------
    posterior_ : Posterior
        Inclusion probabilities, coefficients, ``credible_sets()``, ``sample()``.
    coef_, intercept_ : mean coefficients in the units of the data
    inclusion_probability_ : array of shape (D,)
    noise_variance_ : float
    method_ : str
    selection_ : Selection
    certificate_ : Certificate
    consistency_ : Consistency
        After `fit_zscores`: whether z-scores agree with LD.
    selections_ : tuple of Selection
        With a matrix y: one for each response, of which coefficients are rows and ``posterior_`` is a
        `garrote.results.joint.JointPosterior`.
    noise_covariance_ : array of shape (K, K)
        With a matrix y.
    n_features_in_, feature_names_in_

    References
    ----------
    Wang, G., Sarkar, A., Carbonetto, P. and Stephens, M. (2020). A simple new approach to variable
    selection in regression, with application to genetic fine mapping. Journal of the Royal Statistical
    Society B 82, 1273-1300.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import SingleEffectsRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 8))
    >>> X[:, 5] = X[:, 2] + 0.01 * rng.standard_normal(100)
    >>> y = X[:, 2] + rng.standard_normal(100)
    >>> model = SingleEffectsRegressor().fit(X, y)
    >>> [found.variables.tolist() for found in model.posterior_.credible_sets(0.95)]
    [[2, 5]]
    """

    _kind: ClassVar[str] = "effects"

    def __init__(
        self,
        prior: Any = "single-effects",
        *,
        inclusion: Any = None,
        family: Any = "gaussian",
        covariates: Any = None,
        prior_log_odds: Any = None,
        fit_intercept: bool = True,
        standardize: bool = True,
        stability: int | str | None = None,
        callback: Any = None,
    ):
        self.prior = prior
        self.inclusion = inclusion
        self.family = family
        self.covariates = covariates
        self.prior_log_odds = prior_log_odds
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.stability = stability
        self.callback = callback

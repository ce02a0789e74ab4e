"""Sums of single effects on log odds of two classes, as a scikit-learn classifier and selector."""

from typing import Any, ClassVar

from garrote.estimators.shared.documented import documented
from garrote.estimators.shared.posteriors import PosteriorClassifier


@documented
class SingleEffectsClassifier(PosteriorClassifier):
    """Log odds that are a sum of effects of one variable each, with credible sets.

    The log odds of the second class are an intercept and a sum of effects, each that of one variable,
    which is unknown (Wang et al. 2020); the likelihood is taken by the bound of Jaakkola & Jordan
    (2000). ``posterior_.credible_sets()`` tells which variables could stand in for which. Covariates
    have N(0, 100).

    Parameters
    ----------
    prior : "single-effects" or `garrote.priors.SingleEffects`
        The object brings settings, such as ``SingleEffects(effects=5)``, the most effects that there may
        be; by default as many as the data ask for. Variances are those of effects on log odds.
    inclusion : array of shape (D,) or law of `garrote.priors`, optional
        As in `SingleEffectsRegressor`.
    {covariates_of_labels}
    {prior_log_odds}
    {fit_intercept}
    {standardize}
    {stability}
    {callback}

    Attributes
    ----------
    classes_ : array of shape (2,)
    coef_ : array of shape (1, D)
        Mean coefficients in the units of the data.
    intercept_ : array of shape (1,)
    posterior_, inclusion_probability_, method_, selection_, certificate_
        As in `SingleEffectsRegressor`.
    n_features_in_, feature_names_in_

    References
    ----------
    Wang, G., Sarkar, A., Carbonetto, P. and Stephens, M. (2020). A simple new approach to variable
    selection in regression, with application to genetic fine mapping. Journal of the Royal Statistical
    Society B 82, 1273-1300.
    Jaakkola, T. S. and Jordan, M. I. (2000). Bayesian parameter estimation via variational methods.
    Statistics and Computing 10, 25-37.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import SingleEffectsClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 8))
    >>> X[:, 5] = X[:, 2] + 0.01 * rng.standard_normal(200)
    >>> y = np.where(2 * X[:, 2] + rng.logistic(size=200) > 0, "ill", "well")
    >>> model = SingleEffectsClassifier().fit(X, y)
    >>> [found.variables.tolist() for found in model.posterior_.credible_sets(0.95)]
    [[2, 5]]
    """

    _kind: ClassVar[str] = "effects"

    def __init__(
        self,
        prior: Any = "single-effects",
        *,
        inclusion: Any = None,
        covariates: Any = None,
        prior_log_odds: Any = None,
        fit_intercept: bool = True,
        standardize: bool = True,
        stability: int | str | None = None,
        callback: Any = None,
    ):
        self.prior = prior
        self.inclusion = inclusion
        self.covariates = covariates
        self.prior_log_odds = prior_log_odds
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.stability = stability
        self.callback = callback

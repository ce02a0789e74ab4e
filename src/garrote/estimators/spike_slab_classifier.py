"""Posteriors over models of labels of two classes, as a scikit-learn classifier and selector."""

from typing import Any, ClassVar

from garrote.estimators.shared.documented import documented
from garrote.estimators.shared.posteriors import PosteriorClassifier


@documented
class SpikeSlabClassifier(PosteriorClassifier):
    """Posterior over models and coefficients of a logistic regression with a spike-and-slab prior.

    The log odds of the second class are intercept + sum of w_j x_j over the variables that are in. Which
    are in has a prior by ``inclusion``, their coefficients one by ``prior``, for columns in standard
    deviations; the intercept is flat, covariates have N(0, 100). With this prior all posterior
    coefficients are finite, also where classes are separated.

    Parameters
    ----------
    prior : {"spike-slab", "bic"} or object of `garrote.priors`
        Of the coefficients of variables that are in. By default they are of Gaussian sizes, or alike in
        size, which the data tell (`TwoHumpedEffectSlab`); their variance is unknown, 1 / variance ~
        Gamma(2, 2), so that effects have the tails of Student's t with 4 degrees of freedom.
        `EffectSlab`, as in ``EffectSlab(1.0)``, is the first of the two alone, and what "spike-slab"
        means with every method but "sample". Or none (`BIC`): models count by the Bayesian information
        criterion, with method "enumerate" or "metropolis".
    method : {"auto", "enumerate", "sample", "metropolis", "mean-field"} or object of `garrote.inference`
        "sample" draws models and coefficients by Polya-Gamma Gibbs sampling (Polson, Scott & Windle
        2013), exact but for Monte Carlo error. "mean-field" approximates the posterior by independent
        factors and the likelihood by the bound of Jaakkola & Jordan (2000): quick, too sure among
        correlated variables, and audited. "enumerate" sums over all models (up to 20 columns), each
        weighed by Laplace's approximation of its evidence; "metropolis" over those met on a walk. "auto"
        samples tables of up to 500,000 entries and takes mean field beyond; under `EffectSlab` it
        enumerates up to 10 columns.
        An object brings its own settings, such as ``Sample(n_steps=2000)``.
    {inclusion}
    {covariates_of_labels}
    {prior_log_odds}
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
        Model-averaged coefficients in the units of the data.
    intercept_ : array of shape (1,)
    posterior_, inclusion_probability_, method_, selection_, certificate_
        As in `SpikeSlabRegressor`.
    path_ : Path of Fit
        With ``method="mean-field"``: prior odds annealed and reheated.
    n_features_in_, feature_names_in_

    References
    ----------
    Polson, N. G., Scott, J. G. and Windle, J. (2013). Bayesian inference for logistic models using
    Polya-Gamma latent variables. Journal of the American Statistical Association 108, 1339-1349.
    Jaakkola, T. S. and Jordan, M. I. (2000). Bayesian parameter estimation via variational methods.
    Statistics and Computing 10, 25-37.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import SpikeSlabClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((120, 8))
    >>> y = np.where(2 * X[:, 3] - X[:, 7] + rng.logistic(size=120) > 0, "ill", "well")
    >>> model = SpikeSlabClassifier().fit(X, y)
    >>> model.get_support(indices=True)
    array([3, 7])
    >>> model.method_, model.classes_.tolist()
    ('sample', ['ill', 'well'])
    >>> model.predict_proba(X[:5]).shape
    (5, 2)
    """

    _kind: ClassVar[str] = "models"

    def __init__(
        self,
        prior: Any = "spike-slab",
        method: Any = "auto",
        *,
        inclusion: Any = None,
        covariates: Any = None,
        prior_log_odds: Any = None,
        fit_intercept: bool = True,
        standardize: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        stability: int | str | None = None,
        callback: Any = None,
    ):
        self.prior = prior
        self.method = method
        self.inclusion = inclusion
        self.covariates = covariates
        self.prior_log_odds = prior_log_odds
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.stability = stability
        self.callback = callback

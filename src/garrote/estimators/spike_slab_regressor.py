"""Posteriors over models of numbers and counts, as a scikit-learn regressor and selector."""

from typing import Any, ClassVar

from garrote.estimators.shared.documented import documented
from garrote.estimators.shared.posteriors import PosteriorRegressor


@documented
class SpikeSlabRegressor(PosteriorRegressor):
    """Posterior over models and coefficients of a linear regression with a spike-and-slab prior.

    y = intercept + sum of w_j x_j over the variables that are in + noise. Which are in has a prior by
    ``inclusion``, their coefficients one by ``prior``; the intercept and the logarithm of the noise
    variance are flat. The posterior is averaged over models and, where they are not given, over the
    slab's variance or g and over the inclusion probability. Counts, and labels 0 and 1, are explained in
    the same way by generalised linear models, see ``family``.

    Parameters
    ----------
    prior : {"spike-slab", "g-prior", "bic"} or object of `garrote.priors`
        Of the coefficients of variables that are in. By default they are independent, with mean
        square noise * variance for columns in standard deviations: of Gaussian sizes, or alike in
        size, which the data tell (`TwoHumpedSlab`); its variance is unknown, with a Cauchy-like
        law. `GaussianSlab` is the first of the two alone, and what "spike-slab" means with
        "search", plain "em" and counts, which have no other, and below 50 rows, which tell nothing
        of a shape. Or Zellner's w ~ N(0, g * noise * (X'X)^-1) (`GPrior`); or none: models count by
        the Bayesian information criterion, and coefficients are those of maximum likelihood
        (`BIC`). An object brings its own settings, such as ``GaussianSlab(1.0)`` and
        ``GPrior("hyper-g")``, among them a known noise variance.
    method : {"auto", "enumerate", "sample", ...} or object of `garrote.inference`
        "enumerate" sums over all models. "sample" draws them by weighted tempered Gibbs sampling
        (Zanella & Roberts 2019), "metropolis" by random flips and swaps, "gibbs" with their coefficients
        (Titsias & Lazaro-Gredilla 2011); "search" looks for the probable ones and visits none twice.
        "mean-field" approximates the posterior by independent factors (Carbonetto & Stephens 2012),
        which is quick, too sure among correlated variables, and audited. "em" runs EM from several
        starts, and ends in one of many local optima. "auto" enumerates up to 10 columns (15 under a
        Gaussian slab), samples up to 20,000 and takes mean field beyond. An object brings its own
        settings, such as ``Sample(n_steps=2000)``, ``MeanField(hyperparameters="em")`` and
        ``EM(spike_variance=0.01)``.
    family : {"gaussian", "poisson", "negative-binomial", "binomial"} or object of \
`garrote.likelihoods`
        What y is: a number; a count, with a logarithm of the mean that is linear in X; or a label 0 or
        1, with log odds that are linear in X. The dispersion of the negative binomial is fitted to the
        averaged means, then held (`dispersion_`). All but the first keep X dense and have
        ``prior="bic"``, or "spike-slab" with w_j ~ N(0, variance) (`EffectSlab`), by which models count
        by Laplace's approximation of their evidence. Each model is fitted: "enumerate" (up to 20
        columns, "auto" up to 12) or "metropolis", where all models fitted on the way count by their
        probability. Labels have also "sample" and "mean-field": priors and methods are those of
        `SpikeSlabClassifier`, and so are the answers.
    {inclusion}
    {covariates}
    {prior_log_odds}
    {fit_intercept}
    {standardize}
    {n_jobs}
    {random_state}
    {stability}
    {callback}

    Attributes
    ----------
    posterior_ : Posterior
        Inclusion probabilities, coefficients, ``models()``, ``discoveries()``, ``sample()``.
    coef_, intercept_ : model-averaged coefficients in the units of the data
    inclusion_probability_ : array of shape (D,)
    groups_ : ColumnGroups or None
        With a `GroupedInclusion`: the groups that were found among the columns.
    noise_variance_ : float
        NaN for a family without noise.
    method_ : str
        What was done; of interest where ``method="auto"``.
    selection_ : Selection
    certificate_ : Certificate
        Its parts depend on the method.
    path_ : Path
        With ``MeanField(hyperparameters="anneal")``: both branches.
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
    Murphy, K. P. (2012). Machine Learning: A Probabilistic Perspective, section 13.2.
    Zanella, G. and Roberts, G. (2019). Scalable importance tempering and Bayesian variable selection.
    Journal of the Royal Statistical Society B 81, 489-517.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import SpikeSlabRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 8))
    >>> y = 2 * X[:, 3] - X[:, 7] + rng.standard_normal(60)
    >>> model = SpikeSlabRegressor().fit(X, y)
    >>> model.get_support(indices=True)
    array([3, 7])
    >>> model.method_
    'enumerate'
    """

    _kind: ClassVar[str] = "models"

    def __init__(
        self,
        prior: Any = "spike-slab",
        method: Any = "auto",
        *,
        family: Any = "gaussian",
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
        self.family = family
        self.inclusion = inclusion
        self.covariates = covariates
        self.prior_log_odds = prior_log_odds
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.stability = stability
        self.callback = callback

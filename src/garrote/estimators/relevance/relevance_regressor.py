"""Relevance determination of numbers, as a scikit-learn regressor and selector."""

from typing import Any, ClassVar

from garrote.estimators.shared.posteriors import PosteriorRegressor


class RelevanceRegressor(PosteriorRegressor):
    """Linear regression in which the evidence sets a prior variance for every coefficient.

    y = intercept + sum of w_j x_j + noise with w_j ~ N(0, variance_j), in standard deviations of the
    columns. The variances, and that of the noise, are those of the largest evidence; most of them are 0,
    and their variables are out (automatic relevance determination, sparse Bayesian learning). What is in
    need not matter: of columns that are pure noise about a third stay in with small coefficients.
    Selected is therefore what has a 95% interval without 0, and the evidence is the probability of the
    effect's sign. That holds the variances for known, and is too sure where many were tried:
    `SpikeSlabRegressor` states probabilities of inclusion.

    With as many columns as rows the evidence rises until the fit interpolates. The noise is then held
    where half of the rows are spent, and the selection says so.

    Parameters
    ----------
    prior : "relevance" or `garrote.priors.RelevancePrior`
        The object brings settings: laws of the precisions (a, b, c, d of Murphy 2012, Eq. 13.154), and a
        known noise variance.
    method : {"auto", "sequential", "fixed-point", "em", "reweighted-l1"} or `garrote.inference.Method`
        "sequential" (what "auto" takes) begins with no variable, and lets them come and go one by one or
        a few at a time (Tipping & Faul 2003). "fixed-point" and "em" begin with all of them (Eqs. 13.166
        to 13.171); EM never lowers the evidence, and creeps. "reweighted-l1" solves a sequence of lassos
        (Eqs. 13.172 and 13.173). All end where the evidence is level, not always at the same place.
    covariates : sequence of column names or positions, or a mask, optional
        Columns that are always in the model, with flat priors.
    fit_intercept, standardize : bool, default=True
        The intercept is flat. Standardised or not, the answer is the same, but for ``a`` and ``b``.
    stability : int or "auto", optional
        So many fits to random 90 % of the rows; the selection then says in how many of them a variable
        was selected again. "auto" takes 20 for an X of up to 300,000 entries, and none beyond.
    callback : callable, optional
        Called with a `Progress` (stage, done, total).

    Attributes
    ----------
    posterior_ : Posterior
        Coefficients given the variances: ``interval()``, ``sample()``, ``log_evidence``.
    coef_, intercept_ : mean coefficients in the units of the data
    sign_probability_ : array of shape (D,)
        The probability of each coefficient's likelier sign; 0.5 for variables that are out.
    noise_variance_ : float
    method_ : str
    selection_ : Selection
    certificate_ : Certificate
        How level the evidence is: in the variances ("relevance"), by letting one more variable in
        ("addition"), in the noise.
    consistency_ : Consistency
        After `fit_zscores`: whether z-scores agree with LD.
    n_features_in_, feature_names_in_

    References
    ----------
    Tipping, M. E. (2001). Sparse Bayesian learning and the relevance vector machine. Journal of Machine
    Learning Research 1, 211-244.
    Tipping, M. E. and Faul, A. C. (2003). Fast marginal likelihood maximisation for sparse Bayesian
    models. Proceedings of AISTATS.
    Wipf, D. and Nagarajan, S. (2010). Iterative reweighted l1 and l2 methods for finding sparse
    solutions. IEEE Journal of Selected Topics in Signal Processing 4, 317-329.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import RelevanceRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 8))
    >>> y = 2 * X[:, 3] - X[:, 7] + rng.standard_normal(60)
    >>> model = RelevanceRegressor().fit(X, y)
    >>> model.get_support(indices=True)
    array([3, 7])
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

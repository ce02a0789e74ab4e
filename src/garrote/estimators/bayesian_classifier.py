"""Bayesian selection of variables for labels of two classes, as a scikit-learn classifier."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from garrote.estimators.given.rows import GivenRows
from garrote.estimators.registry import LABEL_REFERENCES
from garrote.estimators.shared.bayesian_settings import (
    check_chains,
    check_inclusion,
    check_positive,
    inclusion_prior,
    said_of_certificate,
    seed_of,
    with_settings,
)
from garrote.estimators.shared.labelled import SelectingClassifier
from garrote.inference import METHODS, Inferred, Method, choose_method, infer
from garrote.inference.choosing import methods_for
from garrote.priors import EffectSlab, Prior, SingleEffects
from garrote.problem import Problem
from garrote.selecting.averaged import select_averaged


class BayesianClassifier(SelectingClassifier):
    """Posterior over models and coefficients of a logistic regression with a spike-and-slab prior.

    The log odds of the second class are intercept + sum of w_j x_j over the variables that are in. Which
    are in has a prior by ``inclusion``, their coefficients have w_j ~ N(0, slab_variance) for columns in
    standard deviations, the intercept is flat, covariates have N(0, 100). With this prior all posterior
    coefficients are finite, also where classes are separated.

    Parameters
    ----------
    method : str, default="auto"
        "sample" draws models and coefficients by Polya-Gamma Gibbs sampling (Polson, Scott & Windle
        2013), exact but for Monte Carlo error. "mean-field" approximates the posterior by independent
        factors and the likelihood by the bound of Jaakkola & Jordan (2000): quick, too sure among
        correlated variables, and audited. "single-effects" has the bound too, and log odds that are a
        sum of effects of one variable each (Wang et al. 2020): ``posterior_.credible_sets()`` tells
        which variables could stand in for which. "enumerate" sums over all models (up to 20 columns),
        each weighed by Laplace's approximation of its evidence; "metropolis" over those met on a
        walk. "auto" enumerates up to 10 columns, samples tables of up to 500,000 entries and takes
        mean field beyond.
    inclusion : float, array of shape (D,) or pair of floats, optional
        Prior probability of inclusion, or (a, b) of its Beta law. By default Beta(1, sqrt(D)).
    expected_size : float, optional
        Prior expectation of the number of variables: another way to say inclusion = (1, D / size - 1),
        D being the columns that may be in or out: not covariates, nor constant ones.
    slab_variance : float, optional
        Of effects on log odds. By default unknown: 1 / slab_variance ~ Gamma(2, 2), so that effects have
        the tails of Student's t with 4 degrees of freedom.
    effects : int, optional
        For ``method="single-effects"``: the most effects that there may be; by default as many as the
        data ask for.
    covariates : sequence of column names or positions, or a mask, optional
        Columns that are always in the model.
    prior_log_odds : array of shape (D,), or mapping from columns to numbers, optional
        Added to the prior log odds, variable by variable.
    fit_intercept, standardize : bool, default=True
    n_steps, burn_in : int, default=5000 and 500
        Sweeps (or steps) of each chain that count, and those before them.
    n_chains : int, default=2
    n_jobs : int, optional
        Threads.
    random_state : int, RandomState instance or None
    callback : callable, optional
        Called with a `Progress` (stage, done, total).

    Attributes
    ----------
    classes_ : array of shape (2,)
    posterior_ : Posterior
        Inclusion probabilities, coefficients, ``models()``, ``discoveries()``, ``sample()``.
    coef_ : array of shape (1, D)
        Model-averaged coefficients in the units of the data.
    intercept_ : array of shape (1,)
    inclusion_probability_ : array of shape (D,)
    method_ : str
        What was done; of interest where ``method="auto"``.
    selection_ : Selection
    certificate_ : a certificate of `garrote.results.certificates`, by the method
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
    >>> from garrote import BayesianClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((120, 8))
    >>> y = np.where(2 * X[:, 3] - X[:, 7] + rng.logistic(size=120) > 0, "ill", "well")
    >>> model = BayesianClassifier().fit(X, y)
    >>> model.get_support(indices=True)
    array([3, 7])
    >>> model.method_, model.classes_.tolist()
    ('enumerate', ['ill', 'well'])
    >>> model.predict_proba(X[:5]).shape
    (5, 2)
    """

    def __init__(
        self,
        method: str = "auto",
        *,
        inclusion: Any = None,
        expected_size: float | None = None,
        slab_variance: float | None = None,
        effects: int | None = None,
        covariates: Any = None,
        prior_log_odds: Any = None,
        fit_intercept: bool = True,
        standardize: bool = True,
        n_steps: int = 5000,
        burn_in: int = 500,
        n_chains: int = 2,
        n_jobs: int | None = None,
        random_state: Any = None,
        callback: Any = None,
    ):
        self.method = method
        self.inclusion = inclusion
        self.expected_size = expected_size
        self.slab_variance = slab_variance
        self.effects = effects
        self.covariates = covariates
        self.prior_log_odds = prior_log_odds
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.n_steps = n_steps
        self.burn_in = burn_in
        self.n_chains = n_chains
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        offset: Any = None,
        groups: Any = None,
        feature_names: Any = None,
    ) -> "BayesianClassifier":
        """Find the posterior.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (N, D)
        y : array of shape (N,)
            Labels of two classes.
        sample_weight : array of shape (N,), optional
            A weight of k counts as k repeats of a row, 0 takes it out.
        offset : array of shape (N,), optional
            A known part of the log odds of the second class.
        groups : ignored
            There are no folds.
        feature_names : sequence of str, optional
            Names of the columns, for an array or a sparse matrix; a data frame brings its own.
        """
        self._check_settings()
        given = GivenRows.of_labels(self, X, y, sample_weight, feature_names, offset)
        self.classes_ = given.classes
        problem = given.problem(self)
        inclusion = inclusion_prior(
            self.inclusion, self.expected_size, given.count, problem.usable, given.log_odds
        )
        prior = self._prior()
        inferred = infer(
            problem, prior, self._method(prior, problem), inclusion=inclusion, names=given.labels,
            n_jobs=self.n_jobs, random_state=seed_of(self.random_state), callback=self.callback,
        )  # fmt: skip
        for text in inferred.cautions:
            warnings.warn(text, UserWarning, stacklevel=2)
        self._store(inferred)
        self.selection_ = select_averaged(
            problem,
            self.posterior_,
            inferred.certificate,
            given.y,
            method="Bayesian classification",
            how=inferred.how,
            intercept=float(self.intercept_[0]),
            names=given.labels,
            response=given.response,
            converged=self._converged(inferred.converged),
            provenance=given.provenance(self, problem, LABEL_REFERENCES[inferred.method]),
            notes=(*inferred.notes, *inferred.cautions),
            predict=self._probability,
        )
        return self

    def _prior(self) -> Prior:
        if self.method == "single-effects":
            return SingleEffects(self.effects, variance=self.slab_variance or "optim")
        return EffectSlab(self.slab_variance)

    def _method(self, prior: Prior, problem: Problem) -> Method:
        usable, rows = len(problem.usable), len(problem.response)
        if self.method == "auto":
            return with_settings(choose_method(prior, "binomial", usable, rows), self)
        return with_settings(METHODS[self.method](), self)

    def _check_settings(self) -> None:
        """Refuse settings that cannot be meant, before any work."""
        known = methods_for("binomial", "models", "effects")
        if self.method not in known:
            raise ValueError(f"method must be one of {known}, got {self.method!r}")
        check_positive(self, ("slab_variance", "expected_size"))
        if self.effects is not None:
            SingleEffects(self.effects)
            if self.method != "single-effects":
                raise ValueError(
                    f"effects is for method='single-effects': leave it out with method={self.method!r}"
                )
        check_chains(self)
        check_inclusion(self)

    def _store(self, inferred: Inferred) -> None:
        posterior = inferred.posterior
        self.posterior_ = posterior
        self.method_ = inferred.method
        self.certificate_ = inferred.certificate
        if inferred.path is not None:
            self.path_ = inferred.path
        elif hasattr(self, "path_"):
            del self.path_
        self.coef_ = posterior.mean[None, :]
        self.intercept_ = np.array([posterior.law.mean_intercept])
        self.inclusion_probability_ = posterior.inclusion_probability

    def _converged(self, settled: bool) -> bool:
        """Tell whether the answer reached its accuracy; warn where it did not."""
        certificate: Any = self.certificate_
        rough = said_of_certificate(certificate, self.n_steps, self.n_chains)
        if rough is not None:
            said = rough
        elif not settled:
            said = (
                "some mean-field solutions did not settle; the certificate of the best one is "
                f"{certificate.value:.1e}: give slab_variance, or use method='sample'"
            )
        else:
            return True
        warnings.warn(said, ConvergenceWarning, stacklevel=3)
        return False

"""Bayesian selection of variables, exact or sampled, as a scikit-learn regressor and selector."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, column_or_1d

from garrote.arrays import Array, Floats
from garrote.estimators.averaging import averaged_mean
from garrote.estimators.bayesian_settings import DEFAULT_G, check_settings, inclusion_prior
from garrote.estimators.face import SelectingRegressor, dense_columns
from garrote.estimators.inputs import (
    check_names,
    check_new_rows,
    check_rows,
    check_weights,
    column_labels,
    resolve_columns,
    resolve_values,
    response_name,
)
from garrote.estimators.provenance import provenance
from garrote.estimators.zscores import ZScoreMixin, refuse_covariates
from garrote.inference import Beliefs, Chains, Inferred, infer, infer_generalized
from garrote.inference.choosing import FACTORISED, choose_method
from garrote.likelihoods import CANONICAL, deviance_explained
from garrote.posterior import Models
from garrote.priors.inclusion import Inclusion
from garrote.priors.slab import BIC, GaussianSlab, GPrior
from garrote.problem import Problem, as_design
from garrote.results import MonteCarloCertificate
from garrote.selecting.averaged import select_averaged
from garrote.summary_statistics import ZScores

# Monte Carlo errors beyond this are worth a warning.
_UNSETTLED = 0.1
_NOTHING_LEFT = (
    "y is constant (or explained by the covariates): no variable has an effect, and inclusion "
    "probabilities are what the prior makes of that"
)


class BayesianSelector(ZScoreMixin, SelectingRegressor):
    """Posterior over models and coefficients of a linear regression with a spike-and-slab prior.

    y = intercept + sum of w_j x_j over the variables that are in + noise. Which are in has a prior by
    ``inclusion``, their coefficients one by ``prior``; the intercept and the logarithm of the noise
    variance are flat. The posterior is averaged over models and, where they are not given, over the
    slab's variance or g and over the inclusion probability. Labels and counts are explained in the same
    way by generalised linear models, see ``family``.

    Parameters
    ----------
    prior : {"spike-slab", "g-prior", "bic"}, or an object, default="spike-slab"
        w_j ~ N(0, noise * slab_variance) for columns in standard deviations, independently; or Zellner's
        w ~ N(0, g * noise * (X'X)^-1); or none: models count by the Bayesian information criterion, and
        coefficients are those of maximum likelihood. A prior object of `garrote.priors.slab` brings its
        own settings.
    method : str, default="auto"
        "enumerate" sums over all models. "sample" draws them by weighted tempered Gibbs sampling
        (Zanella & Roberts 2019), "metropolis" by random flips and swaps, "gibbs" with their coefficients
        (Titsias & Lazaro-Gredilla 2011); "search" looks for the probable ones and visits none twice.
        "mean-field" approximates the posterior by independent factors (Carbonetto & Stephens 2012),
        which is quick, too sure among correlated variables, and audited. "em" runs EM from several
        starts, for the Bernoulli-Gaussian model or, with ``spike_variance``, for a narrow spike (Rockova
        & George 2014), and ends in one of many local optima. "auto" enumerates up to 15 columns, samples
        up to 20,000 and takes mean field beyond. For a ``family`` other than "gaussian" each model is
        fitted: "enumerate" (up to 20 columns, "auto" up to 12) or "metropolis", where all models fitted
        on the way count by their probability.
    family : {"gaussian", "binomial", "poisson"}, default="gaussian"
        What y is: a number; a label 0 or 1, with log odds that are linear in X; or a count, with a
        logarithm of the mean that is linear in X. The latter two need ``prior="bic"``, and keep X dense.
    hyperparameters : {"average", "em", "anneal"}, default="average"
        For ``method="mean-field"``: average over the slab variance and the inclusion probability, with
        weights from the evidence; set them by EM; or set the slab variance by EM and anneal the
        inclusion probability from sparse to dense and back (``path_`` then has both branches). What is
        given stays fixed in all of them.
    spike_variance : float, optional
        For ``method="em"``: variables that are out have small effects of this variance, in units of the
        noise variance like ``slab_variance``, in place of none.
    inclusion : float, array of shape (D,) or pair of floats, optional
        Prior probability of inclusion, or (a, b) of its Beta law. By default Beta(1, sqrt(D)): few
        variables are expected, and little is assumed on how few. Of the laws compared in the
        documentation it gives the best calibrated probabilities.
    expected_size : float, optional
        Prior expectation of the number of variables: another way to say inclusion = (1, D / size - 1).
    slab_variance : float, optional
        By default unknown, with a Cauchy-like law (see `garrote.priors.slab.GaussianSlab`).
    g : float or {"hyper-g", "hyper-g/n", "eb"}, default="hyper-g/n"
        For ``prior="g-prior"``.
    noise_variance : float, optional
        A known noise variance, in squared units of y; by default it is integrated out.
    covariates : sequence of column names or positions, or a mask, optional
        Columns that are always in the model, with flat priors.
    prior_log_odds : array of shape (D,), or mapping from columns to numbers, optional
        Added to the prior log odds, variable by variable.
    fit_intercept, standardize : bool, default=True
    n_steps, burn_in : int, default=10,000 and 1000
        States of each chain that count, and states before them; a state of "gibbs" is a sweep over all
        variables. "search" expands ``n_steps`` models.
    n_chains : int, default=2
        The first starts from a mean-field solution, the others from the empty model.
    n_jobs : int, optional
        Threads.
    random_state : int, RandomState instance or None
    callback : callable, optional
        Called with a `Progress` (stage, done, total).

    Attributes
    ----------
    posterior_ : Posterior
        Inclusion probabilities, coefficients, ``models()``, ``discoveries()``, ``sample()``.
    coef_, intercept_ : model-averaged coefficients in the units of the data
    inclusion_probability_ : array of shape (D,)
    noise_variance_ : float
        NaN for a family without noise.
    method_ : str
        What was done; of interest where ``method="auto"``.
    selection_ : Selection
    certificate_ : a certificate of `garrote.results`, by the method
    path_ : Path
        With ``hyperparameters="anneal"``.
    consistency_ : Consistency
        After `fit_zscores`: whether z-scores agree with LD.
    n_features_in_, feature_names_in_

    References
    ----------
    Murphy, K. P. (2012). Machine Learning: A Probabilistic Perspective, section 13.2.
    Zanella, G. and Roberts, G. (2019). Scalable importance tempering and Bayesian variable selection.
    Journal of the Royal Statistical Society B 81, 489-517.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import BayesianSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 8))
    >>> y = 2 * X[:, 3] - X[:, 7] + rng.standard_normal(60)
    >>> model = BayesianSelector().fit(X, y)
    >>> model.get_support(indices=True)
    array([3, 7])
    >>> model.method_
    'enumerate'
    """

    def __init__(
        self,
        prior: Any = "spike-slab",
        method: str = "auto",
        *,
        family: str = "gaussian",
        hyperparameters: str = "average",
        spike_variance: float | None = None,
        inclusion: Any = None,
        expected_size: float | None = None,
        slab_variance: float | None = None,
        g: float | str = DEFAULT_G,
        noise_variance: float | None = None,
        covariates: Any = None,
        prior_log_odds: Any = None,
        fit_intercept: bool = True,
        standardize: bool = True,
        n_steps: int = 10_000,
        burn_in: int = 1000,
        n_chains: int = 2,
        n_jobs: int | None = None,
        random_state: Any = None,
        callback: Any = None,
    ):
        self.prior = prior
        self.method = method
        self.family = family
        self.hyperparameters = hyperparameters
        self.spike_variance = spike_variance
        self.inclusion = inclusion
        self.expected_size = expected_size
        self.slab_variance = slab_variance
        self.g = g
        self.noise_variance = noise_variance
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
        groups: Any = None,
        feature_names: Any = None,
    ) -> "BayesianSelector":
        """Find the posterior.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (N, D)
        y : array of shape (N,)
        sample_weight : array of shape (N,), optional
            A weight of k counts as k repeats of a row, 0 takes it out.
        groups : ignored
            There are no folds.
        feature_names : sequence of str, optional
            Names of the columns, for an array or a sparse matrix; a data frame brings its own.
        """
        check_settings(self)
        response = response_name(y)
        X, y = check_rows(self, X, y)
        weights = check_weights(sample_weight, X)
        count = X.shape[1]
        names = check_names(feature_names, getattr(self, "feature_names_in_", None), count)
        fixed = resolve_columns(self.covariates, names, count, "covariates")
        offsets = resolve_values(self.prior_log_odds, names, count, "prior_log_odds")
        problem = Problem.from_rows(
            as_design(self._readable(X)), y, weights, fit_intercept=self.fit_intercept,
            standardize=self.standardize, covariates=fixed,
        )  # fmt: skip
        labels = column_labels(names, count)
        made = provenance(self, X, y, weights, [labels[j] for j in problem.scale.covariates])
        self._fit(problem, y, offsets, labels, response, made)
        return self

    def _fit_zscores(
        self, problem: Problem, scores: ZScores, made: dict[str, Any]
    ) -> tuple[str, ...]:
        check_settings(self)
        if self.family != "gaussian":
            raise ValueError(f"z-scores need family='gaussian', got {self.family!r}")
        refuse_covariates(self.covariates, "covariates")
        labels, count = np.array(scores.names, dtype=object), len(scores.names)
        offsets = resolve_values(self.prior_log_odds, labels, count, "prior_log_odds")
        self._fit(problem, np.zeros(0), offsets, scores.names, "y", made)
        return ()

    def _fit(
        self,
        problem: Problem,
        y: Floats,
        offsets: Floats,
        labels: tuple[str, ...],
        response: str,
        made: dict[str, Any],
    ) -> None:
        """Find the posterior and store it."""
        inferred = self._infer(problem, y, offsets, labels)
        nothing = self.family == "gaussian" and problem.yty <= 0
        if nothing:
            warnings.warn(_NOTHING_LEFT, UserWarning, stacklevel=3)
        self._store(problem, inferred)
        self.method_ = inferred.method
        self.certificate_ = inferred.certificate
        self.selection_ = select_averaged(
            problem,
            self.posterior_,
            inferred.certificate,
            y,
            method="Bayesian variable selection",
            how=inferred.how,
            intercept=self.intercept_,
            names=labels,
            response=response,
            converged=self._converged(inferred.converged),
            provenance=made,
            notes=(*([_NOTHING_LEFT] if nothing else []), *inferred.notes),
            predict=None if self.family == "gaussian" else self._averaged_mean,
        )

    def _readable(self, X: Any) -> Any:
        """Return X with its columns in one piece each where a method goes through them often."""
        chosen = choose_method("auto", X.shape[1]) if self.method == "auto" else self.method
        factorised = chosen in FACTORISED
        if factorised and self.family == "gaussian" and isinstance(X, np.ndarray):
            return np.asfortranarray(X)  # 7 times as fast at 500 x 10,000, for a copy of X
        return X

    def _infer(
        self, problem: Problem, y: Floats, offsets: Floats, labels: tuple[str, ...]
    ) -> Inferred:
        """Find the posterior by the way that the family asks for."""
        usable = np.flatnonzero(problem.curvature > 0)
        chains = Chains(
            int(self.n_steps), int(self.burn_in), int(self.n_chains), _seed(self.random_state)
        )
        settings: dict[str, Any] = {
            "chains": chains, "names": labels, "n_jobs": self.n_jobs, "callback": self.callback,
        }  # fmt: skip
        if self.family == "gaussian":
            beliefs = self._beliefs(problem, usable, offsets)
            return infer(
                problem, beliefs, self.method, hyperparameters=self.hyperparameters,
                spike_variance=self.spike_variance, **settings,
            )  # fmt: skip
        inclusion = self._inclusion(problem, usable, offsets)
        likelihood = CANONICAL[self.family]
        return infer_generalized(problem, likelihood, y, inclusion, self.method, **settings)

    def _beliefs(self, problem: Problem, usable: Array, offsets: Floats) -> Beliefs:
        slab = self.prior
        if slab == "g-prior":
            slab = GPrior(self.g)
        elif slab == "bic":
            slab = BIC()
        elif slab == "spike-slab":
            slab = GaussianSlab(self.slab_variance, self.noise_variance)
        return Beliefs.about(problem, slab, self._inclusion(problem, usable, offsets))

    def _inclusion(self, problem: Problem, usable: Array, offsets: Floats) -> Inclusion:
        given, size = self.inclusion, self.expected_size
        return inclusion_prior(given, size, problem.n_features, usable, offsets)

    def _store(self, problem: Problem, inferred: Inferred) -> None:
        posterior = inferred.posterior
        self.posterior_: Any = posterior
        if inferred.path is not None:
            self.path_ = inferred.path
        elif hasattr(self, "path_"):
            del self.path_
        self.coef_ = posterior.mean
        scale = problem.scale
        found = posterior.found
        if found is not None and found.intercepts is not None:
            share = found.probability / found.probability.sum()
            self.intercept_ = float(share @ found.intercepts.value)
        else:
            taken = scale.response_mean - scale.column_mean @ posterior.mean
            self.intercept_ = float(taken if self.fit_intercept else 0.0)
        self.inclusion_probability_ = posterior.inclusion_probability
        self.noise_variance_ = posterior.noise_variance
        self._center = scale.column_mean
        self._total_weight = problem.n

    def _converged(self, settled: bool) -> bool:
        """Tell whether the answer reached its accuracy; warn where it did not."""
        certificate = self.certificate_
        if isinstance(certificate, MonteCarloCertificate) and certificate.value > _UNSETTLED:
            said = (
                f"sampled inclusion probabilities may be off by {certificate.value:.2f}: raise "
                f"n_steps ({self.n_steps}) or n_chains ({self.n_chains})"
            )
        elif not settled:
            said = (
                f"some solutions of method={self.method_!r} did not settle; the certificate of the "
                f"best one is {certificate.value:.1e}: give slab_variance or inclusion, or use "
                "method='sample'"
            )
        else:
            return True
        warnings.warn(said, ConvergenceWarning, stacklevel=4)
        return False

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return model-averaged predictions and, on request, their standard deviations.

        Predictions are means of y: for family "binomial" the probability of label 1, for "poisson" the
        rate. The standard deviation is that of a new y; it covers noise, coefficients, intercept and the
        choice of the model.
        """
        check_is_fitted(self, "coef_")
        X = check_new_rows(self, X)
        if self.family != "gaussian":
            return averaged_mean(CANONICAL[self.family], self.posterior_.found, X, return_std)
        mean = X @ self.coef_ + self.intercept_
        if not return_std:
            return mean
        models: Models | None = self.posterior_.found
        if models is None:
            return mean, self._deviation_given_support(X, self._center[self.posterior_.support])
        share = models.probability / models.probability.sum()
        variance = np.zeros(len(mean))
        shift = self._center @ self.coef_ + self.intercept_
        for weight, members, centre, spread, noise in zip(
            share, models.members, models.mean, models.spread, models.noise_means, strict=True
        ):
            # Without an intercept nothing is centred, and the centre is 0.
            block = dense_columns(X, members) - self._center[members]
            off = block @ centre + (shift if self.fit_intercept else 0.0) - mean
            spent = 1.0 / self._total_weight if self.fit_intercept else 0.0
            own = np.sum((block @ spread) * block, axis=1)
            variance += weight * (off**2 + noise * (1.0 + spent + np.maximum(own, 0.0)))
        return mean, np.sqrt(variance)

    def _averaged_mean(self, X: Any) -> Floats:
        return np.asarray(averaged_mean(CANONICAL[self.family], self.posterior_.found, X, False))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the deviance that predictions explain: R^2 for family "gaussian"."""
        if self.family == "gaussian":
            return float(super().score(X, y, sample_weight))
        y = column_or_1d(y).astype(np.float64)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return deviance_explained(CANONICAL[self.family], y, self.predict(X), weights)


def _seed(random_state: Any) -> Any:
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return random_state

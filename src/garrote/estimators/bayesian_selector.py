"""Bayesian selection of variables, exact or sampled, as a scikit-learn regressor and selector."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted, column_or_1d

from garrote.arrays import Floats
from garrote.estimators.given.inputs import (
    check_new_offset,
    check_new_rows,
    check_offset,
    resolve_values,
)
from garrote.estimators.given.rows import GivenRows
from garrote.estimators.given.zscores import HELD_NOISE, ZScoreMixin, refuse_covariates
from garrote.estimators.registry import BIC_REFERENCE, LABEL_REFERENCES, NUMBER_REFERENCES
from garrote.estimators.shared.bayesian_settings import (
    DEFAULT_G,
    check_settings,
    inclusion_prior,
    make_method,
    make_prior,
    said_of_certificate,
    seed_of,
    with_groups,
)
from garrote.estimators.shared.face import SelectingRegressor
from garrote.inference import Inferred, infer
from garrote.likelihoods import CANONICAL, Poisson, as_likelihood, deviance_explained
from garrote.limits.magnitudes import refuse_rates
from garrote.priors import Prior
from garrote.problem import Problem
from garrote.results.certificates import DRAWS
from garrote.selecting.averaged import select_averaged
from garrote.zscores.summary_statistics import ZScores

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
    prior : {"spike-slab", "g-prior", "bic", "single-effects", "horseshoe", ...} or object
        w_j ~ N(0, noise * slab_variance) for columns in standard deviations, independently (default);
        or Zellner's w ~ N(0, g * noise * (X'X)^-1); or none: models count by the Bayesian information
        criterion, and coefficients are those of maximum likelihood. "single-effects": w is a sum of
        effects of one variable each (Wang et al. 2020), which is quick, has a method of its own, and
        tells by ``posterior_.credible_sets()`` which variables could stand in for which. Other priors
        shrink all coefficients and leave none out: "laplace" (the Bayesian lasso), "elastic-net",
        "fused-laplace", "horseshoe", "neg", "normal-gamma", "student", "hal". They are sampled by
        Gibbs' method; selected is then what has a 95% interval without 0, and the evidence is the
        probability of the effect's sign. A prior object of `garrote.priors` brings its own settings;
        ``GroupLaplacePrior(groups)`` is one.
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
        logarithm of the mean that is linear in X. The latter two keep X dense and have
        ``prior="bic"``, or "spike-slab" with w_j ~ N(0, slab_variance), by which models count by
        Laplace's approximation of their evidence. `BayesianClassifier` has more for labels.
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
        Prior expectation of the number of variables: another way to say inclusion = (1, D / size - 1),
        D being the columns that may be in or out: not covariates, nor constant ones.
    slab_variance : float, optional
        By default unknown, with a Cauchy-like law (see `garrote.priors.GaussianSlab`).
    g : float or {"hyper-g", "hyper-g/n", "eb"}, default="hyper-g/n"
        For ``prior="g-prior"``.
    effects : int, optional
        For ``prior="single-effects"``: the most effects that there may be; by default as many as the
        data ask for.
    noise_variance : float, optional
        A known noise variance, in squared units of y; by default it is integrated out (with single
        effects: estimated).
    covariates : sequence of column names or positions, or a mask, optional
        Columns that are always in the model, with flat priors.
    prior_log_odds : array of shape (D,), or mapping from columns to numbers, optional
        Added to the prior log odds, variable by variable.
    fit_intercept, standardize : bool, default=True
    n_steps, burn_in : int, optional
        States of each chain that count, and states before them, by default 10,000 and 1000; a state
        of "gibbs" is a sweep over all variables. "search" expands ``n_steps`` models. For priors
        that shrink a state is a draw of all coefficients, and 2000 and 500 are the default.
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
        Not there for priors that shrink, which have ``sign_probability_`` in its place.
    sign_probability_ : array of shape (D,)
        For priors that shrink: the probability of each coefficient's likelier sign.
    noise_variance_ : float
        NaN for a family without noise.
    method_ : str
        What was done; of interest where ``method="auto"``.
    selection_ : Selection
    certificate_ : a certificate of `garrote.results.certificates`, by the method
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
    Wang, G., Sarkar, A., Carbonetto, P. and Stephens, M. (2020). A simple new approach to variable
    selection in regression, with application to genetic fine mapping. Journal of the Royal Statistical
    Society B 82, 1273-1300.

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
        effects: int | None = None,
        noise_variance: float | None = None,
        covariates: Any = None,
        prior_log_odds: Any = None,
        fit_intercept: bool = True,
        standardize: bool = True,
        n_steps: int | None = None,
        burn_in: int | None = None,
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
        self.effects = effects
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
        offset: Any = None,
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
        offset : array of shape (N,), optional
            A known part of the linear predictor: of y itself, of log odds or of log rates.
        """
        check_settings(self)
        given = GivenRows.of(self, X, y, sample_weight, feature_names, offset)
        prior = with_groups(make_prior(self), given.count, given.names, given.X)
        problem = given.problem(self, columnwise=self._goes_through_columns(prior, given.count))
        inferred = self._infer(problem, prior, given.log_odds, given.labels)
        made = given.provenance(self, problem, self._reference(prior, inferred.method))
        self._finish(problem, inferred, given.y, given.labels, given.response, made)
        return self

    def _fit_zscores(
        self, problem: Problem, scores: ZScores, made: dict[str, Any]
    ) -> tuple[str, ...]:
        check_settings(self)
        if self.family != "gaussian":
            raise ValueError(f"z-scores need family='gaussian', got {self.family!r}")
        refuse_covariates(self.covariates, "covariates")
        labels, count = np.array(scores.names, dtype=object), len(scores.names)
        held = self._with_held_noise() if scores.of_other_samples else self
        if scores.hides_the_noise and make_prior(held).known_noise is None:
            raise ValueError(
                f"{scores.cautions[0]}. prior={self.prior!r} learns the noise, which is hidden there: "
                "take prior='single-effects' or 'spike-slab', which hold it at that of y"
            )
        prior = with_groups(make_prior(held), count, labels, None)
        offsets = resolve_values(self.prior_log_odds, labels, count, "prior_log_odds")
        inferred = held._infer(problem, prior, offsets, scores.names)
        reference = self._reference(prior, inferred.method)
        made = made if reference is None else {**made, "reference": reference}
        self._finish(problem, inferred, np.zeros(0), scores.names, "y", made)
        return () if held is self else (HELD_NOISE,)

    def _with_held_noise(self) -> "BayesianSelector":
        """Return a copy whose noise variance is that of the response, if it is not known yet.

        Moments of several samples contradict each other a little. Learnt from them, the noise falls far
        below what it can be, and everything seems certain.
        """
        prior = make_prior(self)
        if not prior.has_noise or prior.known_noise is not None:
            return self
        if isinstance(self.prior, str):
            return clone(self).set_params(noise_variance=1.0)
        return clone(self).set_params(prior=prior.holding_noise(1.0))

    def _finish(
        self,
        problem: Problem,
        inferred: Inferred,
        y: Floats,
        labels: tuple[str, ...],
        response: str,
        made: dict[str, Any],
    ) -> None:
        """Store what was found, and state the selection."""
        nothing = self.family == "gaussian" and problem.yty <= 0
        if nothing:
            warnings.warn(_NOTHING_LEFT, UserWarning, stacklevel=3)
        for text in inferred.cautions:
            warnings.warn(text, UserWarning, stacklevel=3)
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
            converged=self._converged(inferred),
            provenance=made,
            notes=(*([_NOTHING_LEFT] if nothing else []), *inferred.notes, *inferred.cautions),
            predict=None if self.family == "gaussian" else self._averaged_mean,
        )

    def _reference(self, prior: Any, method: str) -> str | None:
        """Return the source of what was done; None for that of the estimator."""
        if prior.reference is not None:
            return str(prior.reference)
        if self.family == "gaussian":
            return NUMBER_REFERENCES.get(method)
        return LABEL_REFERENCES[method] if prior.integrated else BIC_REFERENCE

    def _goes_through_columns(self, prior: Prior, count: int) -> bool:
        """Tell whether columns are gone through so often that each is better in one piece."""
        return self.family == "gaussian" and make_method(self, prior, count).columnwise

    def _infer(
        self, problem: Problem, prior: Prior, offsets: Floats, labels: tuple[str, ...]
    ) -> Inferred:
        """Find the posterior."""
        usable = problem.usable
        return infer(
            problem, prior, make_method(self, prior, len(usable)),
            inclusion=inclusion_prior(
                self.inclusion, self.expected_size, problem.n_features, usable, offsets
            ),
            names=labels, n_jobs=self.n_jobs, random_state=seed_of(self.random_state),
            callback=self.callback,
        )  # fmt: skip

    def _store(self, problem: Problem, inferred: Inferred) -> None:
        posterior = inferred.posterior
        self.posterior_: Any = posterior
        if inferred.path is not None:
            self.path_ = inferred.path
        elif hasattr(self, "path_"):
            del self.path_
        self.coef_ = posterior.mean
        scale = problem.scale
        level = posterior.law.mean_intercept
        if level is None:
            taken = scale.response_mean - scale.column_mean @ posterior.mean
            level = float(taken if self.fit_intercept else 0.0)
        self.intercept_ = level
        for name in ("inclusion_probability_", "sign_probability_"):
            if hasattr(self, name):
                delattr(self, name)
        if posterior.sign_probability is None:
            self.inclusion_probability_ = posterior.inclusion_probability
        else:
            self.sign_probability_ = posterior.sign_probability
        self.noise_variance_ = posterior.noise_variance
        self._keep_anchor(problem)

    def _converged(self, inferred: Inferred) -> bool:
        """Tell whether the answer reached its accuracy; warn where it did not."""
        certificate = self.certificate_
        steps, settled = inferred.steps, inferred.converged
        rough = said_of_certificate(certificate, steps, self.n_chains)
        if rough is not None:
            said = rough
        elif certificate.kind == DRAWS and not settled:
            r_hat = 1.0 + certificate["halves of chains"]
            said = (
                f"sampled coefficients may be off by {certificate.value:.2f} of their posterior "
                f"deviations, and split R-hat is {r_hat:.2f} (1 if chains agree): "
                f"raise n_steps ({steps}) and burn_in"
            )
        elif not settled:
            said = (
                f"some solutions of method={self.method_!r} did not settle; the certificate of the "
                f"best one is {certificate.value:.1e}: {self._remedy}"
            )
        else:
            return True
        warnings.warn(said, ConvergenceWarning, stacklevel=4)
        return False

    @property
    def _remedy(self) -> str:
        if self.method_ == "single-effects":
            return "allow for fewer effects, or give prior=SingleEffects(max_iter=...)"
        return "give slab_variance or inclusion, or use method='sample'"

    def predict(self, X: Any, return_std: bool = False, offset: Any = None) -> Any:
        """Return model-averaged predictions and, on request, their standard deviations.

        Predictions are means of y: for family "binomial" the probability of label 1, for "poisson" the
        rate; rows with a rate beyond e^300 are refused. The standard deviation is that of a new y; it
        covers noise, coefficients, intercept and the choice of the model. An ``offset`` is a known part
        of the linear predictor.
        """
        check_is_fitted(self, "coef_")
        X = check_new_rows(self, X)
        known = check_new_offset(self, as_likelihood(self.family), offset, X.shape[0])
        if self.family != "gaussian":
            found = self._averaged_mean(X, known, return_std)
            if self.family == "poisson":
                refuse_rates(Poisson().link(found[0] if return_std else found))
            return found
        mean = X @ self.coef_ + self.intercept_
        if return_std:
            deviation = self.posterior_.predictive_deviation(X, self._anchor)
            return (mean, deviation) if known is None else (mean + known, deviation)
        return mean if known is None else mean + known

    def _averaged_mean(self, X: Any, offset: Floats | None = None, return_std: bool = False) -> Any:
        """Return mean responses over models; over their coefficients too where these have a prior."""
        integrated = getattr(make_prior(self), "integrated", True)
        known = np.zeros(X.shape[0]) if offset is None else offset
        mean, variance = self.posterior_.law.mean_and_variance(
            CANONICAL[self.family], X, known, integrated
        )
        return (mean, np.sqrt(variance)) if return_std else mean

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return the share of the deviance that predictions explain: R^2 for family "gaussian".

        With an offset the null model is a constant beside it.
        """
        mean = self.predict(X, offset=offset)
        y = column_or_1d(y).astype(np.float64)
        known = check_offset(offset, len(y), as_likelihood(self.family))
        if self.family == "gaussian":
            taken = 0.0 if known is None else known
            return float(r2_score(y - taken, mean - taken, sample_weight=sample_weight))
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return deviance_explained(CANONICAL[self.family], y, mean, weights, known)

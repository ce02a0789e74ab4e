"""What estimators by a posterior share: the fit, what is kept of it, and predictions of numbers."""

import warnings
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, column_or_1d

from garrote.arrays import Floats
from garrote.estimators.families.dispersion import dispersion_doubts
from garrote.estimators.families.learned_family import fit_in_turn, learns, with_learned
from garrote.estimators.families.survival import SurvivalMixin
from garrote.estimators.given.arguments import Arguments
from garrote.estimators.given.inputs import (
    check_new_offset,
    check_new_rows,
    check_offset,
    resolve_values,
)
from garrote.estimators.given.rows import GivenRows
from garrote.estimators.given.zscores import HELD_NOISE, ZScoreMixin, refuse_covariates
from garrote.estimators.registry import title_of
from garrote.estimators.responses.joint import (
    combined,
    fit_several,
    is_several,
    predict_several,
    score_several,
)
from garrote.estimators.shared.labelled import SelectingClassifier
from garrote.estimators.shared.named_settings import Objects
from garrote.estimators.shared.posterior_settings import (
    doubt_of,
    make_inclusion,
    seed_of,
    source_of,
    with_groups,
)
from garrote.estimators.shared.selectors import SelectingEstimator, SelectingRegressor
from garrote.inference import METHODS, Inferred, Method, as_method, choose_method, infer
from garrote.inference.choosing import find_way
from garrote.inference.grouped.laws import groups_of, law_over_groups, resolve_law
from garrote.inference.methods import averages_shapes
from garrote.likelihoods import (
    Binomial,
    adapt_to_data,
    as_likelihood,
    deviance_explained,
    families_with_posteriors,
)
from garrote.limits.budgets import ENTRIES_OF_LABELS_REFITTED, ENTRIES_REFITTED
from garrote.priors import PRIORS, Prior, as_prior, prior_class
from garrote.problem import Problem
from garrote.results.joint import JointPosterior
from garrote.rules.integration import Integration
from garrote.selecting.averaged import select_averaged
from garrote.selecting.filling import Origin
from garrote.zscores.summary_statistics import ZScores

# A dispersion has arrived where it moves by less than this share: posteriors may be sampled.
_STILL = 1e-3
_NOTHING_LEFT = (
    "y is constant (or explained by the covariates): no variable has an effect, and inclusion "
    "probabilities are what the prior makes of that"
)


class PosteriorEstimator(SelectingEstimator):
    """A selector by a posterior under a prior of one kind, see `garrote.priors.Prior`."""

    _kind: ClassVar[str]
    prior: Any
    callback: Any
    intercept_: Any

    @property
    def _entries_refitted(self) -> int:
        closed = self._integration is Integration.CLOSED_FORM
        return ENTRIES_REFITTED if closed else ENTRIES_OF_LABELS_REFITTED

    @property
    def _likelihood(self) -> Any:
        """What y is."""
        raise NotImplementedError

    @property
    def _integration(self) -> Any:
        """How coefficients are integrated out of the likelihood."""
        return self._likelihood.integration

    @property
    def _objects(self) -> dict[str, Objects]:
        kinds = [name for name, prior in PRIORS.items() if prior.kind == self._kind]
        asked = self._integration, self._averages_shapes()
        return {"prior": {kind: prior_class(kind, *asked) for kind in kinds}, "method": METHODS}

    def _fit_rows(self, rows: Arguments) -> None:
        for name in ("selections_", "noise_covariance_"):  # of several responses before
            self.__dict__.pop(name, None)
        self._method_for(self._prior(), 1, 1)  # refuses settings before any work
        given = GivenRows.of(self, rows)
        if len(given.classes):
            self.classes_ = given.classes
        law = self._law(given.count, given.names, given.X)
        if not learns(given.likelihood):
            self._fit_given(given, law)
            return

        def fit(likelihood: Any) -> None:
            for name in likelihood.from_data:
                setattr(self, f"{name}_", getattr(likelihood, name))
            self._fit_given(replace(given, likelihood=likelihood), law)

        def see() -> tuple[Floats, Floats, Floats]:
            mean = self._mean_response()(given.X, given.offset)
            return given.y, given.likelihood.link(mean), given.weights

        adapted = adapt_to_data(given.likelihood, given.y, given.weights, given.offset)
        fit_in_turn(given.likelihood, adapted, fit, see, _STILL)

    def _fit_given(self, given: GivenRows, law: Any) -> None:
        """Infer the posterior of checked rows, and store it."""
        counted, problem = float(given.weights.sum()), given.problem(self)
        inclusion = make_inclusion(law, problem, given.log_odds)
        method = self._method_for(
            self._prior(None, counted, inclusion), given.count, len(given.y), inclusion
        )
        prior = self._prior(method, counted, inclusion)
        prior = with_groups(prior, given.count, given.names, given.X)
        method, inferred = self._infer(problem, prior, inclusion, given.column_names)
        source = source_of(prior, self._integration, inferred.method)
        self._finish(problem, method, inferred, given.origin(self, problem, source))

    def _refit_settings(self) -> dict[str, Any]:
        """Return the method that was used, with less work, and the prior."""
        if (
            isinstance(self.posterior_, JointPosterior)
            or not {"method", "prior"} <= self.get_params(deep=False).keys()
        ):
            return {}
        method = as_method(self.method)
        if method.by_size:
            method = as_method(self.method_)
        # A part of the rows may be too few for a shape that all of them had.
        shapes = self.posterior_.shapes is not None
        prior = as_prior(self.prior, self._kind, self._integration, shapes)
        settings = {"method": method.briefly(), "prior": prior}
        if self.groups_ is not None:  # as they were found among all rows
            settings["inclusion"] = replace(self.inclusion, groups=self.groups_)
        return settings

    def _law(self, count: int, names: Any, X: Any) -> Any:
        """Return the prior on which variables are in, its groups found among the columns and kept."""
        law = resolve_law(getattr(self, "inclusion", None), count, names, X)
        self.groups_ = groups_of(law)
        return law

    def _prior(
        self, method: Method | None = None, rows: float = np.inf, inclusion: Any = None
    ) -> Prior:
        """Return the prior that is set, with its groups as they were given.

        What a name stands for depends on the method, the one that is set or that was chosen, on how
        many rows there are, by their weights, and on whether columns are in or out in groups.
        """
        # The effects of levels have no common sign, nor one size.
        shapes = self._averages_shapes(method, rows) and law_over_groups(inclusion) is None
        prior = as_prior(self.prior, self._kind, self._integration, shapes)
        prior.with_groups(lambda groups: groups)  # which are needed
        return prior

    def _averages_shapes(self, method: Method | None = None, rows: float = np.inf) -> bool:
        """Whether the name of a slab stands for one of unknown shape."""
        method = method or as_method(getattr(self, "method", "auto"))
        return averages_shapes(method, self._integration, rows)

    def _method_for(self, prior: Prior, columns: int, rows: int, inclusion: Any = None) -> Method:
        """Return the method that is set, or the one for so many columns and rows."""
        method, grouped = as_method(getattr(self, "method", "auto")), law_over_groups(inclusion)
        if method.by_size:
            return choose_method(prior, self._integration, columns, rows, grouped)
        # Or says which methods there are.
        find_way(prior, self._integration, method, grouped is not None)
        return method

    def _infer(
        self, problem: Problem, prior: Prior, inclusion: Any, names: tuple[str, ...]
    ) -> tuple[Method, Inferred]:
        """Find the posterior by the method for the columns that may be in or out."""
        rows = len(problem.response)
        method = self._method_for(prior, len(problem.usable), rows, inclusion)
        return method, infer(
            problem, prior, method, inclusion=inclusion, names=names,
            n_jobs=getattr(self, "n_jobs", None),
            random_state=seed_of(getattr(self, "random_state", None)), callback=self.callback,
        )  # fmt: skip

    def _finish(self, problem: Problem, method: Method, inferred: Inferred, origin: Origin) -> None:
        """Store what was found, say what to be careful about, and state the selection."""
        nothing = (_NOTHING_LEFT,) if problem.likelihood.least_squares and problem.yty <= 0 else ()
        for text in (*nothing, *inferred.cautions):
            warnings.warn(text, UserWarning, stacklevel=4)
        self._store(problem, inferred)
        doubt = doubt_of(inferred, method)
        if doubt is not None:
            warnings.warn(doubt, ConvergenceWarning, stacklevel=4)
        self.selection_ = select_averaged(
            problem,
            self.posterior_,
            inferred.certificate,
            origin,
            method=title_of(type(self)),
            how=inferred.how,
            intercept=float(np.ravel(self.intercept_)[0]),
            converged=doubt is None,
            notes=(*nothing, *inferred.notes, *inferred.cautions),
            predict=self._mean_response(),
        )

    def _mean_response(self) -> Any:
        """Return what gives mean responses of rows and offsets; None where they are linear."""
        raise NotImplementedError

    def _store(self, problem: Problem, inferred: Inferred) -> None:
        """Set the fitted attributes that all have."""
        posterior = inferred.posterior
        self.posterior_: Any = posterior
        self.method_ = inferred.method
        self.certificate_ = inferred.certificate
        if inferred.path is not None:
            self.path_ = inferred.path
        elif hasattr(self, "path_"):
            del self.path_
        if posterior.sign_probability is None:
            self.inclusion_probability_ = posterior.inclusion_probability
        else:
            self.sign_probability_ = posterior.sign_probability


class PosteriorRegressor(SurvivalMixin, PosteriorEstimator, ZScoreMixin, SelectingRegressor):
    """A regressor by a posterior: of numbers or, where it has a ``family``, of what that is of."""

    family: Any = "gaussian"
    covariates: Any
    fit_intercept: bool

    def _fit_rows(self, rows: Arguments) -> None:
        if not is_several(self, rows.y):
            super()._fit_rows(rows)
            return
        self.selections_ = fit_several(self, rows, seed_of(getattr(self, "random_state", None)))
        names = self.posterior_.response_names
        self.selection_ = combined(self.selections_, self.coef_, names)
        text = doubt_of(
            Inferred(self.posterior_[0], self.certificate_, self.method_, ""), as_method("auto")
        )
        if text is not None:
            warnings.warn(text, ConvergenceWarning, stacklevel=3)

    @property
    def _likelihood(self) -> Any:
        likelihood = with_learned(as_likelihood(self.family), self)
        if likelihood.integration is None:
            raise ValueError(
                f"family must be one of {families_with_posteriors()}, got {self.family!r}"
            )
        return likelihood

    def _fit_zscores(self, problem: Problem, scores: ZScores, origin: Origin) -> tuple[str, ...]:
        if not self._likelihood.least_squares:
            raise ValueError(f"z-scores need family='gaussian', got {self.family!r}")
        refuse_covariates(self.covariates, "covariates")
        names, count = np.array(scores.names, dtype=object), len(scores.names)
        log_odds = getattr(self, "prior_log_odds", None)
        offsets = resolve_values(log_odds, names, count, "prior_log_odds")
        inclusion = make_inclusion(self._law(count, names, None), problem, offsets)
        given = with_groups(self._prior(None, problem.n, inclusion), count, names, None)
        # Moments of several samples contradict each other a little. Learnt from them, the noise falls
        # far below what it can be, and everything seems certain: it is held at that of y.
        prior = given.holding_noise(1.0) if scores.of_other_samples else given
        if scores.hides_the_noise and prior.known_noise is None:
            raise ValueError(
                f"{scores.cautions[0]}. prior={self.prior!r} learns the noise, which is hidden there: "
                "take SingleEffectsRegressor, or prior='spike-slab', which hold it at that of y"
            )
        method, inferred = self._infer(problem, prior, inclusion, scores.names)
        source = source_of(prior, self._integration, inferred.method)
        self._finish(problem, method, inferred, origin.citing(source))
        return () if prior is given else (HELD_NOISE,)

    def _store(self, problem: Problem, inferred: Inferred) -> None:
        super()._store(problem, inferred)
        posterior, scale = inferred.posterior, problem.scale
        self.coef_ = posterior.mean
        level = posterior.law.mean_intercept
        if level is None:
            taken = scale.response_mean - scale.column_mean @ posterior.mean
            level = float(taken if self.fit_intercept else 0.0)
        self.intercept_ = level
        self.noise_variance_ = posterior.noise_variance
        self._keep_anchor(problem)

    def predict(self, X: Any, return_std: bool = False, offset: Any = None) -> Any:
        """Return predictions, averaged over the posterior, and on request their standard deviations.

        Predictions are means of y: for family "binomial" the probability of label 1, for "poisson" the
        rate; rows with a rate beyond e^300 are refused. The standard deviation is that of a new y; it
        covers noise, coefficients, intercept and the choice of the model. Of K responses both have K
        columns. An ``offset`` is a known part
        of the linear predictor.
        """
        check_is_fitted(self, "coef_")
        X, likelihood = check_new_rows(self, X), self._likelihood
        if np.ndim(self.coef_) == 2:
            return predict_several(self, X, return_std, offset)
        known = check_new_offset(self, likelihood, offset, X.shape[0])
        if not likelihood.least_squares:
            found = self._averaged_mean(X, known, return_std)
            likelihood.check_predictor(likelihood.link(found[0] if return_std else found))
            return found
        mean = self._linear(X, known)
        if return_std:
            return mean, self.posterior_.predictive_deviation(X, self._anchor)
        return mean

    def _mean_response(self) -> Any:
        return None if self._likelihood.least_squares else self._averaged_mean

    def _doubts(self, rows: Arguments) -> tuple[str, ...]:
        likelihood = self._likelihood
        if not likelihood.may_be_overdispersed:
            return ()
        y = np.asarray(rows.y, dtype=np.float64)
        weights = np.ones(len(y)) if rows.sample_weight is None else np.asarray(rows.sample_weight)
        counted = weights > 0
        mean = self.predict(rows.X, offset=rows.offset)[counted]
        spent = 1.0 + np.nan_to_num(self.posterior_.inclusion_probability).sum()
        return dispersion_doubts(likelihood, y[counted], mean, weights[counted], float(spent))

    def _averaged_mean(self, X: Any, offset: Floats | None = None, return_std: bool = False) -> Any:
        """Return mean responses over models; over their coefficients too where these have a prior."""
        integrated, likelihood = self._prior().integrated, self._likelihood
        if return_std:
            mean, variance = self.posterior_.response_moments(likelihood, X, offset, integrated)
            return mean, np.sqrt(variance)
        return self.posterior_.mean_response(likelihood, X, offset, integrated)

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return the share of the deviance that predictions explain: R^2 of numbers.

        With an offset the null model is a constant beside it. Of times until an event it is the
        concordance.
        """
        check_is_fitted(self, "coef_")
        if np.ndim(self.coef_) == 2:
            return score_several(self, X, y, sample_weight, offset)
        likelihood = self._likelihood
        if likelihood.of_times:
            return self.concordance(X, y, sample_weight, offset)
        if likelihood.least_squares:
            return super().score(X, y, sample_weight, offset)
        mean, y = self.predict(X, offset=offset), column_or_1d(y).astype(np.float64)
        known = check_offset(offset, len(y), likelihood)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return deviance_explained(likelihood, y, mean, weights, known)


class PosteriorClassifier(PosteriorEstimator, SelectingClassifier):
    """A classifier of two classes by a posterior."""

    @property
    def _likelihood(self) -> Any:
        return Binomial()

    def _store(self, problem: Problem, inferred: Inferred) -> None:
        super()._store(problem, inferred)
        self.coef_ = inferred.posterior.mean[None, :]
        self.intercept_ = np.array([inferred.posterior.law.mean_intercept])

    def _mean_response(self) -> Any:
        return self._probability

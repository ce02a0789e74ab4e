"""The Variational Garrote as a scikit-learn regressor and feature selector."""

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from garrote.arrays import Floats
from garrote.estimators.given.arguments import Arguments
from garrote.estimators.given.folds import split_rows
from garrote.estimators.given.inputs import (
    check_new_offset,
    check_new_rows,
    resolve_signs,
    resolve_values,
)
from garrote.estimators.given.rows import GivenRows
from garrote.estimators.given.switches import Switches, check_shared_switches
from garrote.estimators.given.zscores import HELD_NOISE, ZScoreMixin, refuse_covariates
from garrote.estimators.responses.garrote import fit_garrote_of_responses
from garrote.estimators.responses.joint import is_matrix, predict_several, score_several
from garrote.estimators.shared.choice_of_gamma import (
    ChosenGamma,
    as_gamma,
    check_gamma_settings,
    gammas_to_visit,
    warn_if_not_converged,
)
from garrote.estimators.shared.documented import documented
from garrote.estimators.shared.path_methods import FollowsPath
from garrote.estimators.shared.selectors import SelectingRegressor
from garrote.inference.correcting import correct
from garrote.likelihoods import Gaussian
from garrote.paths import Anneal
from garrote.paths.annealed import stored_design
from garrote.priors import ColumnGroups, ExpectedSize, GroupedInclusion
from garrote.priors.garrote import SpikeTerms
from garrote.problem import Problem
from garrote.results.certificates import Certificate
from garrote.results.fit import Fit
from garrote.results.path import Path
from garrote.selecting.chosen_solution import ChosenSolution
from garrote.selecting.criteria import evidence_free_energy
from garrote.selecting.cross_validation import make_folds
from garrote.selecting.filling import Origin
from garrote.selecting.garrote_validation import (
    GarroteOfNumbers,
    anneal_garrote,
    cross_validate_garrote,
)
from garrote.selecting.on_path import CONSTANT, Choice, select_on_path
from garrote.selecting.uncertainty import make_posterior
from garrote.settings import check_positive
from garrote.solvers.algebra.group_coordinates import GroupCoordinates
from garrote.solvers.control import Control
from garrote.solvers.garrote.starts import Optima, distinct_optima, solve_from
from garrote.solvers.lockstep import run_together
from garrote.zscores.summary_statistics import ZScores

_NO_FOLDS = (
    "z-scores have no rows to hold out: gamma was chosen by free energy, not by cross-validation"
)


@documented
class VariationalGarrote(FollowsPath, ZScoreMixin, SelectingRegressor):
    """Bayesian selection of variables for linear regression, by the Variational Garrote.

    The model is y = sum_j s_j w_j x_j + noise with switches s_j in {0, 1}, each on with prior log odds
    gamma, a flat prior on w and on the noise precision. The posterior of the switches is approximated
    by independent probabilities m_j, found together with w and the noise by minimising the
    variational free energy along an annealed and reheated path over gamma.

    Parameters
    ----------
    gamma : "cv", "free_energy", float or `garrote.priors.ExpectedSize`, default="cv"
        Prior log odds of inclusion: larger means denser. "cv" chooses it by cross-validation,
        "free_energy" by a bound on the evidence; a number is inserted into the path and used, and so is
        logit(M / D) of ``ExpectedSize(M)``, which expects M variables of the D columns that may be in or
        out: not covariates, nor constant ones.
    cv : int, splitter or iterable of splits, default=5
        As in scikit-learn, but that a number of folds is filled at random (by ``random_state``, 0 if
        there is none), whatever the order of the rows; rows of one of the ``groups`` share a fold.
    rule : {"1se", "min"}, default="1se"
        With ``gamma="cv"``: the sparsest model within one standard error of the least error, which
        keeps false selections rare where the error is flat in gamma, or the least error itself.
    method : {"coordinate", "primal", "dual"} or `garrote.paths.Anneal`, default="coordinate"
        How the path is annealed: a solver's name, or an object that also has the grid of gammas, from
        where it is reheated, additional starts, and when a solution is good enough.
    fit_intercept : bool, default=True
    noise_variance : float, optional
        A known noise variance, in squared units of y; by default it is estimated.
    covariates : sequence of column names or positions, or a mask, optional
        Columns that are always in the model, exactly projected out of y and of all others.
    prior_log_odds : array of shape (D,), or mapping from columns to numbers, optional
        Added to gamma, variable by variable.
    inclusion : `garrote.priors.GroupedInclusion`, optional
        Which columns are one variable, in or out together: its levels, say. They share one switch, and
        what is found does not depend on how the variable is coded. By default every column has a switch
        of its own.
    signs : int, array of shape (D,), or mapping from columns to {-1, 0, 1}, optional
        1 keeps an effect non-negative, -1 non-positive, 0 leaves it free. Columns of a group are free.
    correct : bool, default=True
        Whether to compute the probabilities of the selected variables, and of all that correlate with
        them beyond 0.5, by sums over their models at the chosen gamma (by sampling where there are more
        than 15). Annealing keeps one of several correlated columns and is sure of it; the sums share the
        probability out. What annealing found stays in ``path_``. Effects that are kept to one ``signs``
        are not corrected.
    n_jobs : int, optional
        Threads over which folds are spread.
    random_state : int, RandomState instance or None
        For random starts and, where models are sampled, for ``correct``; by default the latter takes the
        same random numbers every time.
    {stability}
    callback : callable, optional
        Called with a `Progress` (stage, done, total) after each gamma.

    Attributes
    ----------
    coef_ : array of shape (D,)
        m w, in the units of the data; exactly 0 for variables of negligible probability. Corrected, they
        are averages over models.
    intercept_ : float
    inclusion_probability_ : array of shape (D,)
        m, or what corrects it; 1 for covariates, 0 for columns without variation.
    noise_variance_ : float
        1 / beta, the variational estimate; corrected, an average over models.
    gamma_ : float
    groups_ : `garrote.priors.ColumnGroups` or None
        With ``inclusion``: the groups that were found among the columns.
    path_ : Path
    cv_results_ : dict
        With ``gamma="cv"``: gamma, mean_error, standard_error, fold_errors, null_error.
    selection_ : Selection
    posterior_ : Posterior
    certificate_ : Certificate
    n_iter_ : int
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
    Kappen, H. J. and Gomez, V. (2014). The Variational Garrote. Machine Learning 96, 269-294.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import VariationalGarrote
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 300))
    >>> y = 2 * X[:, 3] - X[:, 7] + rng.standard_normal(100)
    >>> model = VariationalGarrote().fit(X, y)
    >>> model.get_support(indices=True)
    array([3, 7])
    """

    _method_class = Anneal
    # The prior on w is flat: scaling columns is a matter of rounding alone.
    standardize = True

    def __init__(
        self,
        gamma: float | str | ExpectedSize = "cv",
        *,
        cv: Any = 5,
        rule: str = "1se",
        method: str | Anneal = "coordinate",
        fit_intercept: bool = True,
        noise_variance: float | None = None,
        covariates: Any = None,
        prior_log_odds: Any = None,
        inclusion: GroupedInclusion | None = None,
        signs: Any = None,
        correct: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        stability: int | str | None = None,
        callback: Any = None,
    ):
        self.gamma = gamma
        self.cv = cv
        self.rule = rule
        self.method = method
        self.fit_intercept = fit_intercept
        self.noise_variance = noise_variance
        self.covariates = covariates
        self.prior_log_odds = prior_log_odds
        self.inclusion = inclusion
        self.signs = signs
        self.correct = correct
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.stability = stability
        self.callback = callback

    def _fit_rows(self, rows: Arguments) -> None:
        for name in ("selections_", "noise_covariance_"):  # of several responses before
            self.__dict__.pop(name, None)
        if is_matrix(rows.y):
            fit_garrote_of_responses(self, rows)
            return
        self._check_settings()
        given = GivenRows.of(self, rows)
        signs = resolve_signs(self.signs, given.names, given.count)
        switches = given.switches(self)
        switches.check(given.log_odds, signs, given.column_names)
        self.groups_ = switches.found
        method = self._path_method
        starts = method.starts(given.count)
        problem = given.problem(self).for_columns()
        if problem.yty == 0:
            warnings.warn(CONSTANT, UserWarning, stacklevel=3)

        def prior_for(part: Problem) -> SpikeTerms:
            known = self.noise_variance
            scaled = None if known is None else known / part.scale.response_scale**2
            return switches.terms(given.log_odds, signs, scaled)

        prior = prior_for(problem)
        coordinates = GroupCoordinates.of(problem, prior.groups)
        grid, gamma = gammas_to_visit(self, coordinates.problem, prior)
        control = Control(method.tol, method.max_iter, self.callback, reheat=method.reheat)
        garrote, validation = GarroteOfNumbers(prior_for, method.solver), None
        if gamma.by_folds:
            splits = split_rows(
                self.cv, given.X, given.y, rows.groups, seed=self.random_state, offset=given.offset
            )
            folds = make_folds(given.weights, splits, partial(given.part, self, problem))
            path, validation = cross_validate_garrote(
                garrote, problem, folds, grid, control, self.n_jobs
            )
            chosen = validation.choose(self.rule)
        else:
            path = anneal_garrote(garrote, problem, grid, control)
            seen = coordinates.problem
            chosen = gamma.position(path, lambda: evidence_free_energy(path, seen, prior))
        choice = gamma.choice(chosen, validation, self.rule)
        optima = self._optima(coordinates, prior, path, chosen, control, starts)
        found = self._found(problem, prior, optima, given.column_names, switches.shared)
        path = coordinates.path(path)
        self._finish(problem, path, choice, found, given.origin(self, problem))

    @property
    def _holds_out(self) -> bool:
        check_gamma_settings(self)
        return as_gamma(self.gamma).by_folds

    @property
    def _seed_of_folds(self) -> Any:
        return self.random_state

    def _fit_zscores(self, problem: Problem, scores: ZScores, origin: Origin) -> tuple[str, ...]:
        self._check_settings()
        refuse_covariates(self.covariates, "covariates")
        names, count = np.array(scores.names, dtype=object), len(scores.names)
        offsets = resolve_values(self.prior_log_odds, names, count, "prior_log_odds")
        hold = scores.hides_the_noise and self.noise_variance is None
        known = 1.0 if hold else self.noise_variance
        noise = None if known is None else known / problem.scale.response_scale**2
        signs = resolve_signs(self.signs, names, count)
        switches = Switches.of(self.inclusion, count, names, None, np.zeros(0, dtype=np.intp))
        switches.check(offsets, signs, scores.names)
        self.groups_ = switches.found
        prior = switches.terms(offsets, signs, noise)
        coordinates = GroupCoordinates.of(problem, prior.groups)
        method = self._path_method
        starts = method.starts(count)
        grid, gamma = gammas_to_visit(self, coordinates.problem, prior)
        by_folds = gamma.by_folds
        gamma = ChosenGamma() if by_folds else gamma
        control = Control(method.tol, method.max_iter, self.callback, reheat=method.reheat)
        garrote = GarroteOfNumbers(lambda _: prior, method.solver)
        path = anneal_garrote(garrote, problem, grid, control)
        seen = coordinates.problem
        chosen = gamma.position(path, lambda: evidence_free_energy(path, seen, prior))
        optima = self._optima(coordinates, prior, path, chosen, control, starts)
        path = coordinates.path(path)
        choice = gamma.choice(chosen, None, self.rule)
        found = self._found(problem, prior, optima, scores.names, switches.shared)
        self._finish(problem, path, choice, found, origin)
        return (*((HELD_NOISE,) if hold else ()), *((_NO_FOLDS,) if by_folds else ()))

    def _found(
        self,
        problem: Problem,
        prior: SpikeTerms,
        optima: Optima,
        names: Sequence[str],
        groups: ColumnGroups | None,
    ) -> ChosenSolution:
        """Describe the best solution and, on request, correct it by sums over models."""
        annealed = make_posterior(problem, prior, optima, names, groups)
        if not self.correct:
            return ChosenSolution(annealed)
        seed = (
            0 if self.random_state is None else check_random_state(self.random_state).randint(2**31)
        )
        return ChosenSolution(annealed, *correct(problem, prior, annealed, seed))

    def _finish(
        self,
        problem: Problem,
        path: Path[Fit],
        choice: Choice,
        found: ChosenSolution,
        origin: Origin,
    ) -> None:
        """Store what was found, and state the selection."""
        self._store(problem, path, found)
        self._store_validation(choice.validation, "gamma")
        name, tol = "Variational Garrote", self._path_method.tol
        self.selection_ = select_on_path(problem, path, choice, found, origin, method=name, tol=tol)
        warn_if_not_converged(self)

    def _check_settings(self) -> None:
        """Refuse settings that cannot be meant, before any work."""
        check_gamma_settings(self)
        check_shared_switches(self.inclusion)
        if self.noise_variance is not None:
            check_positive("noise_variance", self.noise_variance)

    def _store(self, problem: Problem, path: Path[Fit], found: ChosenSolution) -> None:
        """Set the fitted attributes."""
        fit, scale = found.annealed.optima[0], problem.scale
        posterior = found.posterior
        self.path_ = path
        self.posterior_ = posterior
        self.gamma_ = float(fit.strength)
        self.coef_ = posterior.mean
        self.intercept_ = scale.intercept(fit.columns, fit.coef)
        self.inclusion_probability_ = posterior.inclusion_probability
        if found.correction is not None:
            columns = np.flatnonzero(found.correction.mean)
            self.intercept_ = scale.intercept(columns, found.correction.mean[columns])
        self.noise_variance_ = found.noise_variance(problem)
        self.certificate_: Certificate = found.certificate
        self.n_iter_ = max(1, path.n_iter)
        self._keep_anchor(problem)

    def _optima(
        self,
        coordinates: GroupCoordinates,
        prior: SpikeTerms,
        path: Path[Fit],
        chosen: int,
        control: Control,
        starts: list[Floats],
    ) -> Optima:
        """Return the distinct solutions at the chosen gamma, the best first."""
        problem = coordinates.problem
        found = {"annealed": path.forward[chosen], "reheated": path.backward[chosen]}
        rng, count = check_random_state(self.random_state), self._path_method.n_starts
        starts = [*starts, *(rng.uniform(size=problem.n_features) for _ in range(count))]
        if starts:
            gamma = path.fits[chosen].strength
            starts = [prior.agreed(start) for start in starts]
            task = solve_from(problem, prior, gamma, starts, control)
            found |= run_together([task], stored_design(problem))[0]
        return coordinates.optima(distinct_optima(problem, found))

    def predict(self, X: Any, return_std: bool = False, offset: Any = None) -> Any:
        """Return predictions and, on request, their standard deviations.

        The standard deviation covers noise, coefficients and intercept, given the soft support and
        the chosen gamma; corrected, also which of the models it is. An ``offset`` is a known
        part of y.
        """
        check_is_fitted(self, "coef_")
        X = check_new_rows(self, X)
        if np.ndim(self.coef_) == 2:
            return predict_several(self, X, return_std, offset)
        mean = self._linear(X, check_new_offset(self, Gaussian(), offset, X.shape[0]))
        if not return_std:
            return mean
        posterior: Any = self.posterior_
        return mean, posterior.predictive_deviation(X, self._anchor)

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return R^2 of the predictions, of what an offset leaves of y; the mean over responses."""
        check_is_fitted(self, "coef_")
        if np.ndim(self.coef_) == 2:
            return score_several(self, X, y, sample_weight, offset)
        return super().score(X, y, sample_weight, offset)

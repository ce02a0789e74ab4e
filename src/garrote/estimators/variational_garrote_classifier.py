"""The Variational Garrote for labels of two classes, as a scikit-learn classifier and selector."""

from functools import partial
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.estimators.given.arguments import Arguments
from garrote.estimators.given.folds import split_rows
from garrote.estimators.given.rows import GivenRows
from garrote.estimators.given.switches import check_shared_switches
from garrote.estimators.shared.choice_of_gamma import (
    as_gamma,
    check_gamma_settings,
    gammas_to_visit,
    warn_if_not_converged,
)
from garrote.estimators.shared.documented import documented
from garrote.estimators.shared.labelled import SelectingClassifier
from garrote.estimators.shared.path_methods import FollowsPath
from garrote.estimators.shared.posterior_settings import repeatable_seed
from garrote.inference.beliefs import rows_left
from garrote.inference.correcting import Correction
from garrote.inference.correcting_labels import correct_labels
from garrote.inference.mean_field.label_groups import posterior_of_columns
from garrote.inference.mean_field.label_posterior import point_posterior
from garrote.inference.substitutes import with_substitutes
from garrote.limits.costs import GARROTE_SECONDS, foretell, points_in_all
from garrote.paths import AnnealBound, OnPath
from garrote.paths.annealed import DenseEnd
from garrote.priors import ExpectedSize, GroupedInclusion
from garrote.priors.garrote import SpikeTerms
from garrote.priors.shared_switches import SharedSwitchTerms
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.results.path import Path
from garrote.results.posterior import Posterior
from garrote.selecting.chosen_solution import ChosenSolution
from garrote.selecting.cross_validation import Fold, make_folds
from garrote.selecting.garrote_validation import (
    GarroteOfLabels,
    anneal_garrote,
    cross_validate_garrote,
)
from garrote.selecting.on_path import select_on_path
from garrote.settings import check_positive
from garrote.solvers.algebra.group_coordinates import GroupCoordinates
from garrote.solvers.control import Control
from garrote.solvers.labels.bound_annealing import as_path
from garrote.solvers.labels.logistic_bound import LogisticBound


@documented
class VariationalGarroteClassifier(FollowsPath, SelectingClassifier):
    """Bayesian selection of variables for labels of two classes, by the Variational Garrote.

    The log odds of the second class are intercept + sum_j s_j w_j x_j with switches s_j in {0, 1},
    each on with prior log odds gamma. The logistic likelihood is replaced by the bound of Jaakkola &
    Jordan, with which labels are a weighted regression; its variational free energy is minimised
    along an annealed and reheated path over gamma. Weights have a wide Gaussian prior in place of the
    regression's flat one: under a flat one they would run to infinity where classes are separated.

    Parameters
    ----------
    gamma : "cv", "free_energy", float, `garrote.priors.ExpectedSize` or `garrote.paths.OnPath`, \
            default="cv"
        Prior log odds of inclusion: larger means denser. "cv" chooses it by cross-validated deviance,
        "free_energy" by the bound on the evidence; a number is inserted into the path and used, and so
        is logit(M / D) of ``ExpectedSize(M)``, which expects M variables of the D columns that may be in
        or out: not covariates, nor constant ones.
    cv : int, splitter or iterable of splits, default=5
        As for `VariationalGarrote`, with the same share of both classes in every fold.
    rule : {"min", "1se"}, default="min"
        With ``gamma="cv"``: the least deviance, or the sparsest model within one standard error of it,
        which `VariationalGarrote` takes by default. That error is large with few labels, and then often
        allows no variable at all.
    method : "coordinate" or `garrote.paths.AnnealBound`, default="coordinate"
        How the path is annealed: by coordinates, or an object that also has the grid of gammas, and when
        a solution is good enough.
    slab_variance : float, default=1.5625
        Prior variance of an effect on log odds, for columns in standard deviations: a deviation of 1.25,
        or 2.5 for columns in two standard deviations, which is the scale of Gelman et al. (2008).
    {covariates_of_labels}
    inclusion : `garrote.priors.GroupedInclusion`, optional
        Which columns are one variable, in or out together, as in `VariationalGarrote`. Their slab is
        that of uncorrelated coordinates of one standard deviation each, whatever the coding.
    prior_log_odds : array of shape (D,), or mapping from columns to numbers, optional
        Added to gamma, variable by variable.
    {fit_intercept}
    standardize : bool, default=True
        Whether the slab is one of columns in standard deviations, or of columns as they are.
    correct : bool, default=True
        Whether the probabilities of the selected variables, and of all that correlate with them beyond
        0.5, are sums over their models, sampled beyond 10 columns; `path_` keeps what annealing found.
        Coefficients, intervals, predictions and credible sets follow. A gamma that was given is the
        prior log odds of these models; one that was chosen is averaged over, with one probability ~
        Beta(1, sqrt(D)) for all variables: held-out deviance chooses where on the path to be, not how
        probable variables are.
    {n_jobs}
    random_state : int, RandomState instance or None
        For ``correct``, where models are sampled; by default it takes the same random numbers always.
    {stability}
    {callback}

    Attributes
    ----------
    classes_ : array of shape (2,)
    coef_ : array of shape (1, D)
        m w, in the units of the data; corrected, averages over models.
    intercept_ : array of shape (1,)
    inclusion_probability_ : array of shape (D,)
        m, or what corrects it; 1 for covariates, 0 for columns without variation.
    gamma_, groups_, path_, cv_results_, selection_, posterior_, certificate_, n_iter_
        As in `VariationalGarrote`; errors are deviances.
    n_features_in_, feature_names_in_

    References
    ----------
    Kappen, H. J. and Gomez, V. (2014). The Variational Garrote. Machine Learning 96, 269-294.
    Jaakkola, T. S. and Jordan, M. I. (2000). Bayesian parameter estimation via variational methods.
    Statistics and Computing 10, 25-37.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import VariationalGarroteClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((150, 60))
    >>> y = np.where(2 * X[:, 3] - 2 * X[:, 7] + rng.logistic(size=150) > 0, "ill", "well")
    >>> model = VariationalGarroteClassifier().fit(X, y)
    >>> model.get_support(indices=True)
    array([3, 7])
    """

    _method_class = AnnealBound

    def __init__(
        self,
        gamma: float | str | ExpectedSize | OnPath = "cv",
        *,
        cv: Any = 5,
        rule: str = "min",
        method: str | AnnealBound = "coordinate",
        slab_variance: float = 1.5625,
        covariates: Any = None,
        prior_log_odds: Any = None,
        inclusion: GroupedInclusion | None = None,
        fit_intercept: bool = True,
        standardize: bool = True,
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
        self.slab_variance = slab_variance
        self.covariates = covariates
        self.prior_log_odds = prior_log_odds
        self.inclusion = inclusion
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.correct = correct
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.stability = stability
        self.callback = callback

    def _fit_rows(self, rows: Arguments) -> None:
        self._check_settings()
        given = GivenRows.of(self, rows)
        self.classes_, codes = given.classes, given.y
        switches = given.switches(self)
        switches.check(given.log_odds, None, given.column_names)
        self.groups_ = switches.found
        problem = given.problem(self)
        rows_left(problem)
        self._foretell(problem, given.count)
        method = self._path_method
        control = Control(method.tol, int(method.max_iter), self.callback)
        coordinates = GroupCoordinates.of(problem, switches.numbers, projected=False)
        bound = LogisticBound(coordinates.problem, given.log_odds, control, groups=switches.numbers)
        rough = self._rough_prior(bound, codes)
        end = DenseEnd.for_labels(given.log_odds[bound.problem.usable])
        grid, gamma = gammas_to_visit(self, bound.problem, rough, end)
        garrote, validation = GarroteOfLabels(bound, self.slab_variance), None
        if gamma.by_folds:
            folds = self._folds(problem, given, rows.groups)
            annealed, validation = cross_validate_garrote(
                garrote, problem, folds, grid, control, self.n_jobs
            )
        else:
            annealed = anneal_garrote(garrote, problem, grid, control)
        path = coordinates.path(as_path(bound, annealed))
        if validation is not None:
            chosen = validation.choose(self.rule)
        else:
            chosen = gamma.position(path, lambda: path.free_energy)
        posterior = point_posterior(bound, annealed, chosen, given.column_names)
        best = annealed.solutions[chosen]
        posterior = posterior_of_columns(posterior, bound, best, coordinates, switches.shared)
        corrected = self._corrected(problem, posterior, given.log_odds)
        if corrected is None:  # or its own sets are stated
            posterior = with_substitutes(problem, posterior)
        found = ChosenSolution(posterior, corrected)
        self._store(path, chosen, found)
        self._store_validation(validation, "gamma")
        choice = gamma.choice(chosen, validation, self.rule)
        self.selection_ = select_on_path(
            problem, path, choice, found, given.origin(self, problem),
            method="Variational Garrote for labels", tol=method.tol,
        )  # fmt: skip
        warn_if_not_converged(self)

    def _foretell(self, problem: Problem, columns: int) -> None:
        """Say what the path, and those of its folds, will cost."""
        points = points_in_all(self._path_method.gammas, self.cv, as_gamma(self.gamma).by_folds)
        rows = len(problem.response)
        seconds = points * GARROTE_SECONDS * rows * columns
        what = f"a garrote of {rows} labels and {columns} columns at {points} strengths"
        foretell(what, seconds, "take fewer gammas or folds, or set gamma to free_energy,")

    def _check_settings(self) -> None:
        """Refuse settings that cannot be meant, before any work."""
        check_gamma_settings(self)
        check_shared_switches(self.inclusion)
        check_positive("slab_variance", self.slab_variance)

    def _folds(self, whole: Problem, given: GivenRows, groups: Any) -> list[Fold]:
        """Return the folds of a cross-validation; refuse those that lack a class."""
        splits = split_rows(self.cv, given.X, given.y, groups, labels=True)
        self._check_splits(splits, np.where(given.weights > 0, given.y, np.nan))
        return make_folds(given.weights, splits, partial(given.part, self, whole))

    def _check_splits(self, splits: list[tuple[Array, Array]], codes: Floats) -> None:
        """Refuse rows to train on that are of one class; codes that do not count are NaN."""
        for number, (train, _) in enumerate(splits):
            seen = np.unique(codes[train][~np.isnan(codes[train])])
            if len(seen) == 1:
                raise ValueError(
                    f"fold {number} of cv trains on rows of class {self.classes_[int(seen[0])]} only: "
                    "give fewer folds, or set gamma to free_energy, which needs none"
                )

    def _rough_prior(self, bound: LogisticBound, codes: Floats) -> SpikeTerms:
        """Return the prior of the regression that stands for the empty model, which places the grid."""
        problem, offsets = bound.problem, bound.offsets
        share = float(np.average(codes, weights=problem.weights))
        lengths = np.where(problem.curvature > 0, problem.curvature, 1.0) * share * (1.0 - share)
        if bound.groups is not None:
            usable = problem.curvature > 0
            return SharedSwitchTerms.with_shared_slab(
                self.slab_variance, offsets, lengths, usable, bound.groups
            )
        return SpikeTerms.with_slab(self.slab_variance, offsets, lengths)

    def _corrected(
        self, problem: Problem, annealed: Posterior, log_odds: Floats
    ) -> Correction | None:
        """Return what sums over models say, on request."""
        if not self.correct:
            return None
        seed = repeatable_seed(self.random_state)
        believed = as_gamma(self.gamma).believed
        return correct_labels(
            problem, self.slab_variance, log_odds, annealed, believed, seed, self.n_jobs
        )

    def _refit_settings(self) -> dict[str, Any]:
        """Return the gamma that was chosen, as no more than that."""
        chosen = as_gamma(self.gamma).chosen
        return {"gamma": OnPath(self.gamma_) if chosen else self.gamma}

    def _store(self, path: Path[Fit], chosen: int, found: ChosenSolution) -> None:
        """Set the fitted attributes."""
        self.path_ = path
        self.posterior_ = found.posterior
        self.gamma_ = float(path.strengths[chosen])
        self.coef_ = self.posterior_.mean[None, :]
        self.intercept_ = np.array([self.posterior_.law.mean_intercept])
        self.inclusion_probability_ = self.posterior_.inclusion_probability
        self.certificate_ = found.certificate
        self.n_iter_ = max(1, path.n_iter)

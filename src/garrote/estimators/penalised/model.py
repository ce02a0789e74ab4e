"""What the penalised regressor and classifier share: settings, the path, the choice of alpha."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning

from garrote.arrays import Array, Floats
from garrote.designs.base import is_design
from garrote.estimators.given.arguments import Arguments
from garrote.estimators.given.folds import Split, split_rows
from garrote.estimators.given.inputs import (
    check_names,
    check_offset,
    column_names,
)
from garrote.estimators.given.provenance import provenance
from garrote.estimators.penalised.choice_of_alpha import Alpha, as_alpha
from garrote.estimators.penalised.given_terms import given_terms, projected_columns
from garrote.estimators.penalised.path_task import PathTask, ReadRows
from garrote.estimators.penalised.penalties_tried import Tried, curves, in_words, least
from garrote.estimators.shared.named_settings import Objects
from garrote.estimators.shared.path_methods import FollowsPath
from garrote.estimators.shared.selectors import SelectingEstimator
from garrote.likelihoods import FAMILIES
from garrote.limits.magnitudes import refuse_unlike_units
from garrote.paths import FollowPath
from garrote.paths.annealed import fit_path
from garrote.paths.combinations import HOMOTOPIES, check_combination
from garrote.paths.penalised import resolve_alphas, runs_away, stop_at
from garrote.penalties import Terms, as_penalty, penalties_by_name
from garrote.problem import Problem, as_design
from garrote.results.fit import PenaltyFit
from garrote.results.path import Path
from garrote.selecting.cross_validation import CrossValidation, Fold, make_folds
from garrote.selecting.filling import Origin
from garrote.selecting.on_path import CONSTANT, Choice
from garrote.selecting.on_penalty_path import select_on_penalty_path
from garrote.selecting.penalty_validation import cross_validate_penalty
from garrote.settings import is_number
from garrote.solvers.control import Control
from garrote.solvers.penalised.fused_signal import holds_intercept

# Beyond so many columns an identity matrix that has to be centred is too much to work with.
_MANY_PIECES = 5000


class SparseLinearModel(FollowsPath, SelectingEstimator):
    """Settings and the fit; see `SparseRegressor` and `SparseClassifier`."""

    _method_class = FollowPath
    _strength = "alpha"

    def __init__(
        self,
        penalty: Any = "lasso",
        alpha: float | str | None = "cv",
        *,
        cv: Any = 5,
        rule: str = "min",
        penalty_factor: Any = None,
        bounds: Any = None,
        refit: bool | float = False,
        method: str | FollowPath = "coordinate",
        fit_intercept: bool = True,
        standardize: bool = True,
        n_jobs: int | None = None,
        stability: int | str | None = None,
        callback: Any = None,
    ):
        self.penalty = penalty
        self.alpha = alpha
        self.cv = cv
        self.rule = rule
        self.penalty_factor = penalty_factor
        self.bounds = bounds
        self.refit = refit
        self.method = method
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.stability = stability
        self.callback = callback

    @property
    def _objects(self) -> dict[str, Objects]:
        families = {name: type(likelihood) for name, likelihood in FAMILIES.items()}
        return {**super()._objects, "penalty": penalties_by_name(), "family": families}

    @property
    def _holds_out(self) -> bool:
        return self._alpha.by_folds

    @property
    def _alpha(self) -> Alpha:
        """How the strength is chosen, as an object; checked."""
        return as_alpha(self.alpha)

    def _read_rows(self, rows: Arguments) -> ReadRows:
        """Check what `fit` was given, and return it as numbers."""
        raise NotImplementedError

    def _task(self, read: ReadRows, rows: Arguments) -> PathTask:
        """Return what is to be solved for checked rows, whatever their weights."""
        kinds, X = self._penalties(read.likelihood), read.X
        count = X.shape[1]
        names = check_names(rows.feature_names, getattr(self, "feature_names_in_", None), count)
        kinds = [kind.resolved(count, names, None if is_design(X) else X) for kind in kinds]
        given = self._given_terms(kinds[0], names, count)
        kinds = [kind.with_factors(given.factor, names) for kind in kinds]
        penalty = kinds[0]  # all of one class, which alone matters for what the problem is
        free = np.zeros(0, np.intp)  # where coefficients are compared, no column can be taken out
        if not penalty.compares:
            free = projected_columns(given, read.likelihood)
        known = check_offset(rows.offset, len(read.y), read.likelihood)
        make_problem = self._problem_maker(X, read.y, read.likelihood, known, free, penalty)
        return PathTask(kinds, given, make_problem, names, free, known)

    def _fit(self, read: ReadRows, rows: Arguments) -> None:
        """Fit the path to checked rows, choose on it, and store what was found."""
        X, y, response, likelihood, weights = read
        task = self._task(read, rows)
        penalty, known = task.penalty, task.offset
        problem = task.make_problem(weights)
        if not penalty.matches:  # paths of all penalties tried, and stand-ins, share one X'X
            problem = problem.with_known_gram()
        if penalty.compares:
            refuse_unlike_units(problem.table.deviation, task.names)
        if problem.yty == 0:
            warnings.warn(likelihood.uninformative or CONSTANT, UserWarning, stacklevel=4)
        folds: list[Fold] = []
        if self._alpha.by_folds:
            taken = known if likelihood.additive else None
            splits = self._splits(X, y, rows.groups, taken, likelihood.of_times)
            folds = self._folds(splits, y, weights, likelihood, task.make_problem)
        tried = [
            Tried(kind, *self._fit_path(problem, kind, task.terms_for, folds))
            for kind in task.penalties
        ]
        penalty, path, choice = self._choose(tried, problem, self._alpha)
        all_names = column_names(task.names, X.shape[1])
        always = [all_names[j] for j in task.free]
        made = provenance(self, X, y, weights, always, penalty.reference)
        made["offset"] = known is not None
        classes = tuple(str(label) for label in getattr(self, "classes_", ()))
        origin = Origin(y, response, all_names, made, classes)
        self._finish(problem, penalty, path, choice, origin)
        if len(tried) > 1 and folds:
            self.cv_results_ |= curves(tried)
        fit, relax = path.fits[choice.position], float(self.refit)
        terms = task.terms_for(problem)
        self._warn(runs_away(problem, penalty, fit, path.null_loss, terms, relax))

    def _finish(
        self,
        problem: Problem,
        penalty: Any,
        path: Path[PenaltyFit],
        choice: Choice,
        origin: Origin,
    ) -> None:
        """Store what was found, and state the selection."""
        likelihood = problem.likelihood
        loss = "least squares" if likelihood.least_squares else likelihood.name
        self._store(path, choice.position, choice.validation)
        for attribute, value in self._alpha.implied(self.alpha_, problem.n).items():
            setattr(self, attribute, value)
        self.selection_ = select_on_penalty_path(
            problem,
            path,
            choice,
            self._coefficients,
            origin,
            method=f"{penalty.name} ({loss})",
            tol=self._path_method.tol,
        )

    def _problem_maker(
        self,
        X: Any,
        y: Floats,
        likelihood: Any,
        offset: Floats | None,
        projected: Array,
        penalty: Any,
    ) -> Callable[[Floats], Problem]:
        """Return what makes the problem of some weights, those of all rows or of a fold's."""
        design = as_design(X)
        signal = penalty.compares and likelihood.least_squares and holds_intercept(design)
        if signal and self.fit_intercept and penalty.l1_ratio and design.shape[1] > _MANY_PIECES:
            raise ValueError(
                f"an intercept beside {design.shape[1]} columns of an identity matrix ties every row "
                "to all others: take fit_intercept=False, with y less its median"
            )
        return partial(
            Problem.from_rows,
            design,
            y,
            # The level of a signal is its intercept; both would be one too many.
            fit_intercept=self.fit_intercept and not (signal and not penalty.l1_ratio),
            # Where coefficients are compared, columns keep their units.
            standardize=self.standardize and not penalty.compares,
            scale_response=False,
            likelihood=likelihood,
            offset=offset,
            covariates=projected,
        )

    def _splits(
        self, X: Any, y: Floats, groups: Any, offset: Floats | None, events: bool = False
    ) -> list[Split]:
        """Return the rows of each fold of a cross-validation; events are spread evenly, as labels."""
        labels = is_classifier(self) or events
        try:
            return split_rows(self.cv, X, y, groups, labels=labels, offset=offset)
        except ValueError as error:
            raise ValueError(
                f"{error} (X has {X.shape[0]} rows): take fewer folds by cv, or choose alpha by 'bic'"
            ) from error

    def _folds(
        self,
        splits: list[Split],
        y: Floats,
        weights: Floats,
        likelihood: Any,
        make_problem: Callable[[Floats], Problem],
    ) -> list[Fold]:
        """Return the folds of a cross-validation; refuse those that have nothing to learn from."""
        for number, (inside, _) in enumerate(splits):
            self._check_fold(number, y[inside][weights[inside] > 0], y, likelihood)
        return make_folds(weights, splits, make_problem)

    def _fit_path(
        self,
        problem: Problem,
        penalty: Any,
        terms_for: Callable[[Problem], Terms],
        folds: list[Fold],
    ) -> tuple[Path[PenaltyFit], CrossValidation | None]:
        """Fit all strengths, and those of the folds if there are any."""
        terms, method = terms_for(problem), self._path_method
        grid = self._grid(problem, penalty, terms)
        # Of a grid that we place the dense end may be left out; what was asked for is fitted.
        placed = isinstance(method.alphas, Integral) and self._alpha.may_end_early
        stop = stop_at(problem, penalty) if placed else None
        control = Control(
            method.tol, method.max_iter, self.callback, stop,
            order=method.order, seed=method.random_state,
        )  # fmt: skip
        relax = float(self.refit)
        if folds:
            return cross_validate_penalty(
                problem, penalty, terms_for, folds, grid, control,
                solver=method.solver, relax=relax, n_jobs=self.n_jobs,
            )  # fmt: skip
        path = fit_path(
            problem, penalty, grid, control=control, terms=terms, solver=method.solver, relax=relax
        )
        return self._alpha.certified(problem, penalty, terms, path), None

    def _check_fold(self, number: int, trained: Floats, y: Floats, likelihood: Any) -> None:
        """Refuse training rows from which there is nothing to learn about a held-out one."""
        try:
            likelihood.check_response(trained)
        except ValueError as error:
            raise ValueError(
                f"fold {number} of cv has too little to train on: {error}; take fewer folds, or choose "
                "alpha by 'bic'"
            ) from None

    def _refit_settings(self) -> dict[str, Any]:
        """Return the strength that was chosen, and the penalty where that was chosen, too."""
        settings = super()._refit_settings()
        if hasattr(self, "l1_ratio_"):
            penalty: Any = as_penalty(self.penalty)
            settings["penalty"] = clone(penalty).set_params(l1_ratio=self.l1_ratio_)
        return settings

    def _penalties(self, likelihood: Any) -> list[Any]:
        """Return the penalties to try, mostly one, and refuse settings that cannot be meant."""
        penalty = as_penalty(self.penalty)
        self._check_numbers()
        kinds = list(penalty.candidates)
        if len(kinds) > 1 and not self._alpha.chosen:
            raise ValueError(
                f"of {len(kinds)} values of l1_ratio one is chosen with alpha: take alpha='cv', 'bic' "
                f"or 'ebic', or one l1_ratio, got alpha={self.alpha!r}"
            )
        for kind in kinds:
            check_combination(kind, likelihood, self._path_method.solver)
        return kinds

    def _check_numbers(self) -> None:
        """Refuse values that are out of range."""
        self._alpha.check(self.refit)
        if self.rule not in ("min", "1se"):
            raise ValueError(f"rule must be 'min' or '1se', got {self.rule!r}")
        if not (isinstance(self.refit, bool) or is_number(self.refit)) or not 0 <= self.refit <= 1:
            raise ValueError(
                f"refit must be True, False or a share between 0 and 1, got {self.refit!r}"
            )

    def _given_terms(self, penalty: Any, names: Array | None, count: int) -> Terms:
        """Return factors and bounds as given, in the user's units."""
        # Without a penalty, factors of it are all the same.
        factor = self.penalty_factor if penalty.charges else None
        signs_alone = self._path_method.solver in HOMOTOPIES
        return given_terms(factor, self.bounds, names, count, signs_alone=signs_alone)

    def _grid(self, problem: Problem, penalty: Any, terms: Terms) -> Floats:
        method = self._path_method
        grid = resolve_alphas(problem, penalty, terms, method.alphas, method.eps)
        return self._alpha.on(grid, problem, penalty, terms, method.solver)

    def _choose(
        self, tried: list[Tried], problem: Problem, alpha: Alpha, noise: float | None = None
    ) -> tuple[Any, Path[PenaltyFit], Choice]:
        """Choose one of the penalties that were tried, and the strength on its path."""
        chosen = least(tried, lambda path: alpha.scores(path, problem, noise))
        penalty, path, validation = chosen
        choice = self._choice(path, problem, alpha, validation, noise)
        if len(tried) > 1:
            self.l1_ratio_ = float(chosen.penalty.l1_ratio)
            choice = replace(choice, reason=choice.reason + in_words(tried, chosen))
        elif hasattr(self, "l1_ratio_"):
            del self.l1_ratio_
        return penalty, path, choice

    def _choice(
        self,
        path: Path[PenaltyFit],
        problem: Problem,
        alpha: Alpha,
        validation: CrossValidation | None,
        noise: float | None = None,
    ) -> Choice:
        """Choose by a validation where there is one, else as alpha says."""
        if validation is not None:
            reason = f"by {len(validation.errors)}-fold cross-validation, rule {self.rule!r}"
            return Choice(validation.choose(self.rule), reason, self.rule, validation)
        position = int(np.argmin(alpha.scores(path, problem, noise)))
        return Choice(position, alpha.reason, self.rule, None)

    def _store(
        self, path: Path[PenaltyFit], chosen: int, validation: CrossValidation | None
    ) -> None:
        """Set the fitted attributes."""
        self.path_ = path
        fit = path.fits[chosen]
        self.alpha_ = float(fit.strength)
        self.certificate_ = fit.certificate
        self.n_iter_ = max(1, path.n_iter)
        self._coefficients = path.coefficients()[[chosen]].toarray()[0]
        self._constant = path.intercepts[chosen] * float(self.fit_intercept)
        self._store_validation(validation, "alpha")

    def _warn(self, runs_away: bool) -> None:
        """Say where the answer is not what was asked for."""
        reached, method = float(self.path_.certificate.max()), self._path_method
        if not reached <= method.tol:
            worst = self.path_.fits[int(np.argmax(self.path_.certificate))]
            remedy = f"Raise tol of the method: {worst.n_iter} rounds did not do it"
            if worst.n_iter >= method.max_iter:
                remedy = f"Raise max_iter ({method.max_iter}) or tol of the method"
            warnings.warn(
                f"the certificate reached {reached:.2e} at alpha = {worst.strength:.4g}, not "
                f"{method.tol:.2e}; at the chosen alpha it is {self.certificate_.value:.2e}. {remedy}",
                ConvergenceWarning,
                stacklevel=5,
            )
        if runs_away:
            remedy = "refit=False" if float(self.refit) == 1 else "penalty='lasso'"
            said = (
                f"y is matched without error at alpha = {self.alpha_:.4g}, by coefficients that the "
                f"penalty does not hold back: they have no finite optimum, and {remedy} or a larger "
                "alpha gives one"
            )
            warnings.warn(said, ConvergenceWarning, stacklevel=5)
            found = self.selection_
            self.selection_ = replace(found, converged=False, warnings=(*found.warnings, said))

"""What the greedy regressor and classifier share: settings, the path, the choice on it."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning

from garrote.arrays import Array, Floats
from garrote.designs.base import is_design
from garrote.estimators.given.arguments import Arguments
from garrote.estimators.given.folds import split_rows
from garrote.estimators.given.inputs import (
    check_names,
    check_offset,
    column_names,
    resolve_columns,
)
from garrote.estimators.given.provenance import provenance
from garrote.estimators.shared.named_settings import Objects
from garrote.estimators.shared.selectors import SelectingEstimator
from garrote.paths.greedy import NO_COLUMNS, audited, greedy_solver, longest_path
from garrote.paths.penalised import run_alone
from garrote.penalties.groups.grouping import resolve_groups
from garrote.problem import Problem, as_design
from garrote.results.fit import PenaltyFit
from garrote.results.path import Path
from garrote.results.selections.evidence import ORDER
from garrote.selecting.criteria import CRITERIA, criterion
from garrote.selecting.cross_validation import CrossValidation, Fold, make_folds
from garrote.selecting.filling import Origin
from garrote.selecting.greedy_validation import cross_validate_greedy
from garrote.selecting.on_path import CONSTANT, Choice
from garrote.selecting.on_penalty_path import PathWords, entry_order, select_on_penalty_path
from garrote.settings import as_settings, check_count, is_number
from garrote.solvers.control import Control
from garrote.solvers.greedy import SEARCHES, ColumnUnits, GreedySearch

# How the model is chosen among those of the path, beside a size and a tolerance.
CHOICES = ("aic", *CRITERIA, "cv")
# What the certificate of every model has to reach.
TOL = 1e-7
_NO_INTERVALS = (
    "a search states no intervals, as those of a fit to what it has chosen would be too narrow: "
    "spike-and-slab estimators and the garrote have some"
)


class Searched(NamedTuple):
    """What a search is made on: the problem, its units, columns of labels that are always in, names."""

    problem: Problem
    units: ColumnUnits
    always: Array
    names: tuple[str, ...]


class GreedyModel(SelectingEstimator):
    """Settings and the fit; see `GreedyRegressor` and `GreedyClassifier`."""

    search: Any
    n_features: int | None
    criterion: str | None
    tol: float | None
    max_features: int | None
    cv: Any
    rule: str
    covariates: Any
    column_groups: Any
    fit_intercept: bool
    # Searches compare columns by what they explain; in standard deviations steps are well scaled.
    standardize = True
    n_jobs: int | None
    callback: Any

    @property
    def _objects(self) -> dict[str, Objects]:
        return {"search": SEARCHES}

    def _search(self, likelihood: Any) -> GreedySearch:
        """Return the search as an object, and refuse settings that cannot be meant."""
        otherwise = "an object of garrote.greedy"
        search = as_settings("search", self.search, GreedySearch, SEARCHES, otherwise)
        if not (likelihood.least_squares or search.for_labels):
            able = tuple(name for name, kind in SEARCHES.items() if kind.for_labels)
            raise ValueError(
                f"search={search.name!r} is for numbers; labels and counts are searched by {able}"
            )
        self._check_numbers()
        return search

    def _check_numbers(self) -> None:
        for name in ("n_features", "max_features"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name), 0)
        if self.tol is not None and not (is_number(self.tol) and 0 <= self.tol < 1):
            raise ValueError(
                f"tol is the share of the null model's error that may be left, from 0 to below 1, got "
                f"{self.tol!r}"
            )
        if self.criterion is not None and self.criterion not in CHOICES:
            raise ValueError(f"criterion must be None or one of {CHOICES}, got {self.criterion!r}")
        if self.rule not in ("min", "1se"):
            raise ValueError(f"rule must be 'min' or '1se', got {self.rule!r}")

    def _fit(
        self, X: Any, y: Floats, response: str, likelihood: Any, weights: Floats, rows: Arguments
    ) -> None:
        """Search, choose on the path, and store what was found."""
        search, count = self._search(likelihood), X.shape[1]
        if self.n_features is not None and self.n_features > count:
            raise ValueError(
                f"n_features must be at most the {count} columns of X, got {self.n_features}"
            )
        names = check_names(rows.feature_names, getattr(self, "feature_names_in_", None), count)
        fixed = resolve_columns(self.covariates, names, count, "covariates")
        groups = None
        if self.column_groups is not None:
            groups = resolve_groups(self.column_groups, count, names, None if is_design(X) else X)
            groups = np.where(np.isin(np.arange(count), fixed), groups.max() + 1, groups)
            groups = np.unique(groups, return_inverse=True)[1]
        if groups is not None and not search.takes_groups:
            raise ValueError(
                f"search={search.name!r} takes single columns: leave column_groups out, or take "
                "search='splicing'"
            )
        projected = fixed if likelihood.least_squares else NO_COLUMNS
        always = NO_COLUMNS if likelihood.least_squares else fixed
        known = check_offset(rows.offset, len(y), likelihood)
        make_problem = partial(
            Problem.from_rows, as_design(X), y, fit_intercept=self.fit_intercept,
            standardize=self.standardize, scale_response=False, likelihood=likelihood, offset=known,
            covariates=projected,
        )  # fmt: skip
        problem = make_problem(weights)
        all_names = column_names(names, count)
        searched = Searched(problem, ColumnUnits(count, groups), always, all_names)
        if problem.yty == 0:
            warnings.warn(likelihood.uninformative or CONSTANT, UserWarning, stacklevel=4)
        folds: list[Fold] = []
        if self._by_folds:
            taken = known if likelihood.additive else None
            labels = is_classifier(self) or likelihood.of_times
            folds = self._folds(X, y, weights, rows.groups, taken, make_problem, labels)
        path, choice = self._follow(search, searched, folds)
        made = provenance(self, X, y, weights, [all_names[j] for j in fixed], search.reference)
        made["offset"] = known is not None
        classes = tuple(str(label) for label in getattr(self, "classes_", ()))
        origin = Origin(y, response, all_names, made, classes)
        self._finish(search, searched, path, choice, origin)

    @property
    def _holds_out(self) -> bool:
        return self._by_folds

    @property
    def _by_folds(self) -> bool:
        return self.n_features is None and self.tol is None and self.criterion == "cv"

    def _folds(
        self,
        X: Any,
        y: Floats,
        weights: Floats,
        groups: Any,
        offset: Floats | None,
        make_problem: Callable[[Floats], Problem],
        labels: bool,
    ) -> list[Fold]:
        try:
            splits = split_rows(self.cv, X, y, groups, labels=labels, offset=offset)
        except ValueError as error:
            raise ValueError(
                f"{error} (X has {X.shape[0]} rows): take fewer folds by cv, or criterion='bic'"
            ) from error
        for number, (inside, _) in enumerate(splits):
            self._check_fold(number, y[inside][weights[inside] > 0], y)
        return make_folds(weights, splits, make_problem)

    def _check_fold(self, number: int, trained: Floats, y: Floats) -> None:
        """Refuse training rows from which there is nothing to learn."""

    def _follow(
        self, search: GreedySearch, searched: Searched, folds: list[Fold]
    ) -> tuple[Path[PenaltyFit], Choice]:
        """Search on all rows, and on the folds if there are any; choose one of the models."""
        problem, units, always, _ = searched
        search.check(problem, units)
        most = longest_path(problem, units) if self.max_features is None else self.max_features
        most = most if self.n_features is None else int(self.n_features)
        most = min(most, max(problem.max_rank, 0), len(units))
        limits = search.limits(problem, units, most, self.tol or 0.0)
        control = Control(TOL, callback=self.callback)
        validation: CrossValidation | None = None
        if folds:
            path, validation = cross_validate_greedy(
                problem, search, units, limits, folds, control, always, self.n_jobs
            )
        else:
            solver = greedy_solver(problem, search, units, limits, control, always)
            path = run_alone(problem, solver)
        choice = self._choice(path, problem, search, validation)
        task = audited(problem, search, units, limits, path.fits[choice.position])
        fits = list(path.fits)
        fits[choice.position] = run_alone(problem, task)
        return replace(path, fits=tuple(fits)), choice

    def _choice(
        self,
        path: Path[PenaltyFit],
        problem: Problem,
        search: GreedySearch,
        validation: CrossValidation | None,
        noise: float | None = None,
    ) -> Choice:
        """Choose by the size or tolerance given, by folds, or by a criterion."""
        position, reason = len(path) - 1, "as the last of the path"
        if len(path) == 1 and search.strength == "price":
            reason = "as given"
        elif self.n_features is not None:
            reason = f"as the last of at most {self.n_features}"
        elif self.tol is not None:
            reason = f"as the first that leaves {self.tol:g} of the null model's error"
            enough = np.flatnonzero(1.0 - path.deviance_explained <= self.tol)
            position = int(enough[0]) if len(enough) else position
        elif validation is not None:
            position = validation.choose(self.rule)
            folds = len(validation.errors)
            reason = f"by {folds}-fold cross-validation, rule {self.rule!r}"
        elif self.criterion is not None:
            position = int(np.argmin(criterion(self.criterion, path, problem, noise)))
            reason = f"by {self.criterion.upper()}"
        return Choice(position, reason, self.rule, validation)

    def _finish(
        self,
        search: GreedySearch,
        searched: Searched,
        path: Path[PenaltyFit],
        choice: Choice,
        origin: Origin,
    ) -> None:
        """Store what was found, and state the selection."""
        problem, units, always, names = searched
        fit = path.fits[choice.position]
        self.path_ = path
        self.certificate_ = fit.certificate
        self.n_iter_ = max(1, len(path) - 1)
        free = np.setdiff1d(fit.columns, always)
        self.n_features_: int = len(units.of(free))
        self._coefficients = path.coefficients()[[choice.position]].toarray()[0]
        self._constant = path.intercepts[choice.position] * float(self.fit_intercept)
        self._store_validation(choice.validation, search.strength)
        words = PathWords(search.strength, ORDER, _NO_INTERVALS, entry_order)
        selection = select_on_penalty_path(
            problem, path, choice, self._coefficients, origin,
            method=f"greedy search ({search.name})", tol=TOL, words=words,
        )  # fmt: skip
        if len(always):
            selection = replace(selection, always_in=tuple(names[j] for j in always))
        self.selection_ = selection
        self._warn(problem, fit)

    def _refit_settings(self) -> dict[str, Any]:
        """Return the size that was chosen."""
        return {"n_features": self.n_features_}

    def _warn(self, problem: Problem, fit: PenaltyFit) -> None:
        """Say where the answer is not what was asked for."""
        said = []
        short = self.n_features is not None and self.n_features_ < self.n_features
        # Of labels a path ends where classes come apart: what separates them is not in it.
        ended = None if problem.likelihood.least_squares else self.path_.cut
        if ended is not None and (short or fit is self.path_.fits[-1]):
            times = problem.likelihood.of_times
            prior = "SpikeSlabRegressor(family='cox')" if times else "SpikeSlabClassifier"
            told = f"{ended}: take a method with a prior, such as {prior}"
            if short:
                said.append(told)
            else:  # nobody asked for more
                self.selection_ = self.selection_.annotated((told,))
        elif short:
            said.append(
                f"{self.n_features} variables were asked for, and {self.n_features_} are all that "
                "explain anything, or that these rows can tell apart"
            )
        if not fit.certificate.value <= TOL:
            said.append(
                f"the certificate of the chosen model is {fit.certificate.value:.2e}, not {TOL:.0e}: "
                f"{fit.certificate}"
            )
        for text in said:
            warnings.warn(text, ConvergenceWarning, stacklevel=6)
            found = self.selection_
            self.selection_ = replace(found, warnings=(*found.warnings, text))

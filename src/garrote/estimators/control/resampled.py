"""What estimators that fit a base to many resamples share: rows, frequencies, a refit, the selection."""

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from garrote.arrays import Array, Floats
from garrote.designs.base import is_design
from garrote.estimators.control.bases import Resample, check_base, fit_each
from garrote.estimators.given.arguments import Arguments
from garrote.estimators.given.inputs import (
    check_new_rows,
    column_names,
    resolve_columns,
)
from garrote.estimators.given.provenance import provenance
from garrote.estimators.penalised.model import SparseLinearModel
from garrote.estimators.penalised.path_task import PathTask, ReadRows
from garrote.estimators.shared.posterior_settings import repeatable_seed
from garrote.estimators.shared.saving import SaveMixin
from garrote.estimators.shared.stated import StatesSelection
from garrote.estimators.sparse_classifier import SparseClassifier
from garrote.estimators.sparse_regressor import SparseRegressor
from garrote.penalties import Ridge
from garrote.penalties.groups.grouping import resolve_groups
from garrote.problem import Problem
from garrote.results.error_control import ErrorControl
from garrote.results.selections.selection import Selection
from garrote.selecting.control.describing import Decision, describe
from garrote.selecting.control.followed_paths import (
    PathsToFollow,
    follow_paths,
    most_coefficients,
)
from garrote.selecting.control.frequencies import Frequencies, Variables
from garrote.selecting.control.resampling import RowUnits, draw_resamples
from garrote.selecting.filling import Origin
from garrote.solvers.control import Control

# A placed grid is followed at every second strength: of variables that come in together those of larger
# coefficients are first, and the counts of a hundred resamples do not ask for more.
_EVERY = 2
# Of labels and counts: classes that the selected variables separate have no finite fit without.
_RIDGE = 1e-3
_REFIT_OF_NUMBERS = "least squares"
_REFIT_OF_OTHERS = (
    f"maximum likelihood, with a ridge of {_RIDGE:g} that keeps separated classes finite"
)


class GivenTable(NamedTuple):
    """A table to select on: what was given, checked; its problem, names and what is counted in it."""

    given: Arguments
    base: Any
    read: ReadRows
    task: PathTask
    problem: Problem
    names: tuple[str, ...]
    variables: Variables

    @property
    def strata(self) -> Array | None:
        """The classes of labels, each of which gives its share of every resample."""
        return self.read.y if is_classifier(self.base) and self.given.groups is None else None


class ResampledSelector(SaveMixin, StatesSelection, MetaEstimatorMixin, BaseEstimator):
    """An estimator that selects what a base selects again and again; fitted, it predicts by a refit."""

    base: Any
    random_state: Any
    n_jobs: int | None
    selection_: Selection

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        groups: Any = None,
        feature_names: Any = None,
    ) -> Self:
        """Fit the base to resamples of the rows, count, and refit all rows to what is selected.

        Parameters
        ----------
        X : array, data frame, sparse matrix or `garrote.designs.Design` of shape (N, D)
        y : array of shape (N,)
            What the base takes: numbers, labels or counts.
        sample_weight : array of shape (N,), optional
            Handed on to the base; a row of weight 0 is in no resample.
        offset : array of shape (N,), optional
            Handed on to a base of garrote; see `SparseRegressor`.
        groups : array of shape (N,), optional
            Rows of a group are in a resample, or out of it, together.
        feature_names : sequence of str, optional
            Names of the columns, for an array or a sparse matrix.
        """
        self._check_settings()
        given = Arguments.of(X, y, sample_weight, offset, groups, feature_names)
        table = self._table(given)
        decision = self._decide(table)
        self._keep(table, decision)
        return self

    def _check_settings(self) -> None:
        """Refuse settings that cannot be meant."""
        raise NotImplementedError

    def _decide(self, table: GivenTable) -> Decision:
        """Resample, count, and decide what is selected."""
        raise NotImplementedError

    def _table(self, given: Arguments) -> GivenTable:
        """Check what `fit` is given."""
        base = SparseRegressor() if self.base is None else self.base
        check_base(base)
        base = clone(base)
        reader = _reader(base)
        read = reader._read_rows(given)
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(reader, name):
                setattr(self, name, getattr(reader, name))
            elif hasattr(self, name):
                delattr(self, name)
        task = reader._task(read, given)
        if given.groups is not None and len(given.groups) != len(read.y):
            raise ValueError(f"groups has {len(given.groups)} entries for {len(read.y)} rows of X")
        count = read.X.shape[1]
        fixed = np.flatnonzero(task.given.factor == 0)
        if reader is not base and getattr(base, "covariates", None) is not None:
            fixed = resolve_columns(base.covariates, task.names, count, "covariates")
        variables = Variables(_units(base, task, read.X), fixed)
        problem = task.make_problem(read.weights)
        return GivenTable(
            given, base, read, task, problem, column_names(task.names, count), variables
        )

    def _draw(self, table: GivenTable, scheme: str, count: int) -> list[Resample]:
        """Return the resamples; of each the rows' weights, and a seed for the base."""
        weights, groups = table.read.weights, table.given.groups
        units = RowUnits.of((weights > 0).astype(np.float64), table.strata, groups)
        self._check_units(table, units, scheme)
        streams = np.random.SeedSequence(repeatable_seed(self.random_state)).spawn(count)
        times = draw_resamples(scheme, count, streams, units)
        raw = table.given.sample_weight
        raw = np.ones(len(weights)) if raw is None else np.asarray(raw, dtype=np.float64)
        if is_classifier(table.base):
            _refuse_one_class(times, table.read.y)
        seeds = [int(stream.spawn(1)[0].generate_state(1)[0] % 2**31) for stream in streams]
        return [Resample(part, raw * part, seed) for part, seed in zip(times, seeds, strict=True)]

    def _check_units(self, table: GivenTable, units: RowUnits, scheme: str) -> None:
        """Refuse rows, groups or classes that are too few for halves."""
        if scheme == "bootstrap":
            return
        what = "groups" if table.given.groups is not None else "rows of positive weight"
        if units.total < 4:
            raise ValueError(
                f"there are {units.total} {what}: halves need at least 4; take scheme='bootstrap'"
            )
        for pool in units.pools:
            if len(pool) < 2:
                row = units.counted[units.unit == pool[0]][0]
                label = self.classes_[int(table.read.y[row])]
                raise ValueError(
                    f"class {str(label)!r} has 1 row: each half needs one of its own; leave the class "
                    "out, or give more rows of it"
                )

    def _follow(
        self, table: GivenTable, resamples: list[Resample], first: int | None, alpha: Any
    ) -> Frequencies:
        """Follow a path in each resample: to so many variables, or to an alpha."""
        base, task, problem = table.base, table.task, table.problem
        method = base._path_method
        placed = not np.ndim(method.alphas)
        grid = base._grid(problem, task.penalty, task.terms_for(problem))
        grid = grid[::_EVERY] if placed else grid
        if alpha is not None:
            grid = np.append(grid[grid > alpha], float(alpha))
        most = None if first is None else most_coefficients(problem, table.variables, first)
        wanted = PathsToFollow(
            task.make_problem,
            task.terms_for,
            task.penalty,
            grid,
            extends=placed and task.penalty.first is None,
            control=Control(method.tol, method.max_iter, most=most),
            solver=method.solver,
            first=first,
        )
        parts = [table.read.weights * one.times for one in resamples]
        return follow_paths(wanted, parts, table.variables, problem, self.n_jobs)

    def _fit_each(
        self, table: GivenTable, resamples: list[Resample], first: int | None
    ) -> Frequencies:
        """Fit the base to each resample."""
        return fit_each(table.base, table.given, resamples, table.variables, first, self.n_jobs)

    def _keep(self, table: GivenTable, decision: Decision) -> None:
        """Refit all rows to what is selected, and store what was found."""
        self.frequencies_ = decision.frequencies
        self.error_control_: ErrorControl = decision.control
        unit, fixed = table.variables.unit, table.variables.fixed
        self.frequency_: Floats = decision.frequencies.share[unit]
        chosen = decision.selected[unit]
        chosen[fixed] = True
        self._refit(table, np.flatnonzero(chosen))
        y, X = table.read.y, table.read.X
        always = [table.names[j] for j in fixed]
        made = provenance(self, X, y, table.read.weights, always)
        made["offset"] = table.given.offset is not None
        classes = tuple(str(label) for label in getattr(self, "classes_", ()))
        origin = Origin(y, table.read.response, table.names, made, classes)
        how = _REFIT_OF_NUMBERS if _is_of_numbers(table) else _REFIT_OF_OTHERS
        self.selection_ = describe(
            table.problem,
            table.variables,
            decision,
            self.coef_,
            self.estimator_.certificate_,
            origin,
            how,
        )

    def _refit(self, table: GivenTable, columns: Array) -> None:
        """Fit all rows to the selected columns alone, without a penalty."""
        given, read = table.given, table.read
        penalty = "none" if _is_of_numbers(table) else Ridge()
        alpha = None if _is_of_numbers(table) else _RIDGE
        settings: dict[str, Any] = {"fit_intercept": getattr(table.base, "fit_intercept", True)}
        for name in ("family", "class_weight"):
            if hasattr(_reader(table.base), name):
                settings[name] = getattr(_reader(table.base), name)
        kind = SparseClassifier if is_classifier(table.base) else SparseRegressor
        self.estimator_ = kind(penalty, alpha=alpha, **settings)
        self._columns = columns
        self.estimator_.fit(
            _picked(read.X, columns), given.y, given.sample_weight, offset=given.offset
        )
        found = np.asarray(self.estimator_.coef_)
        self.coef_ = np.zeros((*found.shape[:-1], read.X.shape[1]))
        if len(columns):
            self.coef_[..., columns] = found
        self.intercept_ = self.estimator_.intercept_

    def predict(self, X: Any, offset: Any = None) -> Array:
        """Return what the refit predicts: expected responses or, of a classifier, labels."""
        check_is_fitted(self, "coef_")
        return self.estimator_.predict(self._seen(X), offset)

    @available_if(lambda self: is_classifier(self))
    def predict_proba(self, X: Any, offset: Any = None) -> Floats:
        """Return the probability of each class, by the refit."""
        check_is_fitted(self, "coef_")
        return self.estimator_.predict_proba(self._seen(X), offset)

    @available_if(lambda self: is_classifier(self))
    def decision_function(self, X: Any, offset: Any = None) -> Floats:
        """Return the linear predictors of the refit."""
        check_is_fitted(self, "coef_")
        return self.estimator_.decision_function(self._seen(X), offset)

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return the share of the deviance explained; of a classifier, of labels predicted rightly."""
        check_is_fitted(self, "coef_")
        return self.estimator_.score(self._seen(X), y, sample_weight, offset)

    def _seen(self, X: Any) -> Any:
        """Return the columns that the refit knows, of checked rows."""
        return _picked(check_new_rows(self, X), self._columns)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base = SparseRegressor() if self.base is None else self.base
        of_base = get_tags(base)
        tags.estimator_type = of_base.estimator_type
        tags.classifier_tags, tags.regressor_tags = of_base.classifier_tags, of_base.regressor_tags
        tags.target_tags = of_base.target_tags
        tags.target_tags.required = True
        tags.input_tags.sparse = of_base.input_tags.sparse
        return tags


def _reader(base: Any) -> Any:
    """Return a penalised model that reads rows as a base does: itself, or one of the same responses."""
    if isinstance(base, SparseLinearModel):
        return base
    if is_classifier(base):
        return SparseClassifier()
    family = getattr(base, "family", "gaussian")
    return SparseRegressor(family=family, fit_intercept=getattr(base, "fit_intercept", True))


def _units(base: Any, task: PathTask, X: Any) -> Array:
    """Return the variable of each column: its group, where columns are in or out together."""
    groups = getattr(task.penalty, "groups", None)
    if groups is None:
        law = getattr(base, "inclusion", None)
        groups = getattr(law, "groups", getattr(base, "column_groups", None))
        if groups is not None:
            groups = resolve_groups(groups, X.shape[1], task.names, X)
    if not isinstance(groups, np.ndarray) or groups.shape != (X.shape[1],):
        return np.arange(X.shape[1])
    return np.unique(groups, return_inverse=True)[1]


def _refuse_one_class(times: list[Floats], y: Floats) -> None:
    """Refuse resamples, which groups may make, that lack a class."""
    classes = np.unique(y)
    for number, part in enumerate(times, 1):
        missing = np.setdiff1d(classes, y[part > 0])
        if len(missing):
            raise ValueError(
                f"resample {number} of {len(times)} has no row of one of the classes, as whole groups "
                "were drawn: give more groups, or none"
            )


def _is_of_numbers(table: GivenTable) -> bool:
    return bool(table.read.likelihood.least_squares)


def _picked(X: Any, columns: Array) -> Any:
    """Return some columns of X; of none a column of zeros, which leaves the intercept alone."""
    if not len(columns):
        return np.zeros((X.shape[0], 1))
    if is_design(X):
        return X.pick(columns)
    return X[:, columns]

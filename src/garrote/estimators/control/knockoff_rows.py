"""What knockoffs are made of, checked, and what a reader has to know of the copies."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import is_classifier

from garrote.arrays import Array, Floats
from garrote.designs.base import is_design
from garrote.estimators.given.arguments import Arguments
from garrote.estimators.given.inputs import (
    check_labelled_rows,
    check_names,
    check_offset,
    check_rows,
    check_weights,
    column_names,
    response_name,
)
from garrote.estimators.given.provenance import provenance
from garrote.estimators.shared.labelled import two_classes
from garrote.likelihoods import Binomial, as_likelihood
from garrote.limits.budgets import BLOCK_BYTES
from garrote.limits.memory import free_memory
from garrote.penalties.groups.naming import resolve_named_groups
from garrote.priors import ColumnGroups
from garrote.problem import Problem, as_design
from garrote.selecting.filling import Origin
from garrote.selecting.knockoffs.copied_rows import CopiedRows
from garrote.selecting.knockoffs.kinds import KnockoffKind
from garrote.selecting.knockoffs.selection import Outcome
from garrote.summaries import listing

# Columns of so many values, or fewer, in so many rows are words, counts or grades.
_FEW_VALUES, _ROWS_LOOKED_AT = 5, 10_000
# Dense tables of the size of X that a fit holds at once: X, its copy, and the two side by side.
_TABLES = 4


@dataclass(frozen=True)
class Prepared:
    """Checked rows, dense, with all that a selection tells of them.

    Rows of weight 0 are left out of ``X``, ``y``, ``weights`` and ``told``, which are what the base is
    given. ``units`` are the columns' deviations.
    """

    X: Floats
    y: Array
    weights: Floats
    told: dict[str, Any]
    units: Floats
    groups: ColumnGroups
    problem: Problem
    origin: Origin
    intercept: bool
    labels: bool

    @property
    def numbers(self) -> Array:
        """The group of each column, as numbers from 0."""
        return self.groups.numbers


def prepare(model: Any, kind: KnockoffKind, rows: Arguments) -> Prepared:
    """Check what a fit is given; errors name the row or column and the remedy."""
    response, labels = response_name(rows.y), _takes_labels(model.base, rows.y)
    X, y = (check_labelled_rows if labels else check_rows)(model, rows.X, rows.y)
    weights = check_weights(rows.sample_weight, X)
    numbers, classes = y, np.zeros(0)
    likelihood: Any = Binomial()
    if labels:
        classes, numbers = two_classes(y, weights)
        response = f"{response} = {classes[1]}"
    else:
        likelihood = as_likelihood(getattr(model.base, "family", "gaussian"))
    kind.check(likelihood, rows.groups)
    known = check_offset(rows.offset, len(y), likelihood)
    intercept = bool(getattr(model.base, "fit_intercept", True))
    names = check_names(rows.feature_names, getattr(model, "feature_names_in_", None), X.shape[1])
    found = _groups_of(model.column_groups, X, names)
    problem = Problem.from_rows(
        as_design(X), numbers, weights, fit_intercept=intercept, scale_response=False,
        likelihood=likelihood, offset=known,
    )  # fmt: skip
    dense = _dense(X)
    dense[:, problem.curvature <= 0] = problem.scale.column_mean[problem.curvature <= 0]
    made = provenance(model, X, numbers, weights, [], kind.reference)
    made["offset"] = known is not None
    outputs = tuple(str(label) for label in classes)
    counted = weights > 0
    told = {
        "sample_weight": None if rows.sample_weight is None else weights,
        "offset": known,
        "groups": None if rows.groups is None else np.asarray(rows.groups),
    }
    told = {name: value[counted] for name, value in told.items() if value is not None}
    origin = Origin(numbers, response, column_names(names, X.shape[1]), made, outputs)
    units = problem.table.deviation.astype(np.float64)
    return Prepared(
        dense[counted], y[counted], weights[counted], told, units, found, problem, origin, intercept,
        labels,
    )  # fmt: skip


def _groups_of(given: Any, X: Any, names: Array | None) -> ColumnGroups:
    """Return which columns are in or out together; each by itself where nothing is given."""
    count = X.shape[1]
    if given is None:
        return ColumnGroups(column_names(names, count), np.arange(count))
    numbers, labels = resolve_named_groups(given, count, names, X)
    return ColumnGroups(labels, numbers)


def _takes_labels(base: Any, y: Any) -> bool:
    """Tell whether y is of labels: the base is a classifier, or without one y has no numbers."""
    if base is not None:
        return bool(is_classifier(base))
    values = np.asarray(y)
    if values.dtype.kind == "O":
        return any(isinstance(value, str | bool | np.bool_) for value in values.ravel())
    return values.dtype.kind in "USb"


def _dense(X: Any) -> Floats:
    """Return the rows as a dense table of their own, if there is room for that and its copies."""
    needed, free = 8 * _TABLES * X.shape[0] * X.shape[1], free_memory()
    allowed = BLOCK_BYTES if free is None else min(BLOCK_BYTES, free)
    if needed > allowed:
        raise ValueError(
            f"knockoffs of {X.shape[0]} x {X.shape[1]} take {needed / 2**30:.1f} GiB of dense tables, "
            f"and {allowed / 2**30:.1f} GiB may be taken: leave out columns, for example by a screening "
            "that uses other rows"
        )
    if is_design(X):
        return np.array(X.take(np.arange(X.shape[1]), np.zeros(X.shape[1])), dtype=np.float64)
    return np.array(X.toarray() if scipy.sparse.issparse(X) else X, dtype=np.float64)


def notes_on(given: Prepared, rows: CopiedRows, outcome: Outcome) -> list[str]:
    """Return what a reader should know before trusting the answer."""
    said = list(outcome.notes)
    tied = rows.law.separation.inseparable
    varying = np.isin(tied, given.numbers[given.units > 0])
    if varying.any():
        named = listing((given.groups.labels[g] for g in tied[varying]), str, 5)
        said.append(
            f"{named} cannot be told from linear functions of other columns, so that their copies "
            "equal them and they are never selected"
        )
    return [*said, *_unlike_gaussian(given)] if rows.gaussian_columns else said


def _unlike_gaussian(given: Prepared) -> list[str]:
    """Say which columns a Gaussian law cannot be right for: those of few values."""
    few = [j for j in np.flatnonzero(given.units > 0) if _has_few_values(given.X[:, j])]
    if not few:
        return []
    named = listing(dict.fromkeys(given.groups.labels[given.numbers[j]] for j in few), str, 3)
    return [
        f"few different values of {named}, which no Gaussian law has: what is promised of the rate "
        "is not proved for such columns"
    ]


def _has_few_values(column: Floats) -> bool:
    return len(np.unique(column[:_ROWS_LOOKED_AT])) <= _FEW_VALUES

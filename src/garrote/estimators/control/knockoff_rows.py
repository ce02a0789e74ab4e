"""What knockoffs are made of: checked rows, and the two ways to copies of their columns."""

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
from garrote.estimators.sparse_classifier import SparseClassifier
from garrote.estimators.sparse_regressor import SparseRegressor
from garrote.estimators.spike_slab_classifier import SpikeSlabClassifier
from garrote.estimators.spike_slab_regressor import SpikeSlabRegressor
from garrote.likelihoods import Binomial, as_likelihood
from garrote.limits.budgets import BLOCK_BYTES
from garrote.limits.memory import free_memory
from garrote.penalties import L1, GroupLasso
from garrote.penalties.groups.naming import resolve_named_groups
from garrote.priors import ColumnGroups
from garrote.problem import Problem, as_design
from garrote.results.certificates import Certificate, of_knockoffs
from garrote.selecting.filling import Origin
from garrote.selecting.knockoffs.column_law import ColumnLaw, law_of_columns
from garrote.selecting.knockoffs.copies import CopyLaw, FixedTable, law_of_copies
from garrote.selecting.knockoffs.exchangeability import largest_difference
from garrote.selecting.knockoffs.selection import Outcome
from garrote.selecting.knockoffs.separation import AIMS, smallest_joint_variance
from garrote.summaries import listing

KNOCKOFFS = ("model-x", "fixed")
# Columns of so many values, or fewer, in so many rows are words, counts or grades.
_FEW_VALUES, _ROWS_LOOKED_AT = 5, 10_000
# Dense tables of the size of X that a fit holds at once: X, its copy, and the two side by side.
_TABLES = 4
_REFERENCES = {
    "model-x": "Candes, Fan, Janson & Lv (2018), Panning for gold: model-X knockoffs for high "
    "dimensional controlled variable selection. JRSS B 80, 551-577",
    "fixed": "Barber & Candes (2015), Controlling the false discovery rate via knockoffs. Annals of "
    "Statistics 43, 2055-2085",
}


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


def prepare(model: Any, rows: Arguments) -> Prepared:
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
    if model.knockoffs == "fixed":
        _refuse_for_fixed(likelihood, rows.groups)
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
    made = provenance(model, X, numbers, weights, [], _REFERENCES[model.knockoffs])
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


def _refuse_for_fixed(likelihood: Any, groups: Any) -> None:
    """Raise for responses and rows that fixed-X copies are not for."""
    if not likelihood.least_squares:
        raise ValueError(
            "fixed-X knockoffs are for numbers with Gaussian noise: take knockoffs='model-x' for "
            "labels, counts and other responses"
        )
    if groups is not None:
        raise ValueError(
            "fixed-X knockoffs take the noise of all rows for independent, and have no folds of rows "
            "that belong together: leave groups out, or take knockoffs='model-x'"
        )


def _groups_of(given: Any, X: Any, names: Array | None) -> ColumnGroups:
    """Return which columns are in or out together; each by itself where nothing is given."""
    count = X.shape[1]
    if given is None:
        return ColumnGroups(column_names(names, count), np.arange(count))
    numbers, labels = resolve_named_groups(given, count, names, X)
    return ColumnGroups(labels, numbers)


def default_base(statistic: str, given: Prepared) -> Any:
    """Return what is fitted where no base is given."""
    if statistic == "probability":
        return SpikeSlabClassifier() if given.labels else SpikeSlabRegressor()
    penalty: Any = L1()
    single = given.groups.are_single
    if not single:
        penalty = GroupLasso(np.tile(given.numbers, 2) + _second_half(given.numbers))
    if statistic == "signed-max":
        if given.labels or not single:
            kind = SparseClassifier if given.labels else SparseRegressor
            return kind(penalty, alpha=None)
        return SparseRegressor(penalty, alpha=None, method="homotopy")
    return (SparseClassifier if given.labels else SparseRegressor)(penalty)


def _second_half(numbers: Array) -> Array:
    """Return what is added to the groups of originals and copies to tell these apart."""
    return np.repeat([0, int(numbers.max()) + 1], len(numbers))


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


@dataclass(frozen=True)
class KnockoffRows:
    """The rows that copies are made of, and the law of these copies; ``sample`` is one of them."""

    rows: Floats
    weights: Floats
    law: CopyLaw
    columns: ColumnLaw | None
    table: FixedTable | None
    sample: Floats

    @classmethod
    def of(cls, model: Any, given: Prepared, rng: np.random.Generator) -> "KnockoffRows":
        """Find how copies are made, by the settings of an estimator."""
        aim, numbers = model.separation, given.numbers
        if model.knockoffs == "fixed":
            table = FixedTable.of(given.X, given.weights, given.intercept)
            law = CopyLaw.of(table.mean, table.covariance, numbers, aim)
            rows, roots = table.longer()
            return cls(rows, roots**2, law, None, table, table.copies(law, rng))
        columns = law_of_columns(given.X, given.weights, model.covariance, model.mean)
        law = law_of_copies(columns, numbers, aim)
        return cls(given.X, given.weights, law, columns, None, law.draw(given.X, rng))

    def draw(
        self, given: Prepared, rng: np.random.Generator
    ) -> tuple[Floats, Floats, Array, dict[str, Any]]:
        """Return columns, copies that are made anew, responses, and what `fit` is told beside these."""
        if self.table is None:
            return self.rows, self.law.draw(self.rows, rng), given.y, given.told
        copies = self.table.copies(self.law, rng)
        y = self.table.longer_response(given.y - given.told.get("offset", 0.0), rng)
        return *self.table.turned(copies, y, rng), {}

    @property
    def assumption(self) -> str:
        """What the control of the false discovery rate rests on, in words."""
        if self.table is not None:
            said = (
                "the response is linear in the columns, with independent Gaussian noise of one "
                "variance"
            )
            if self.table.extra:
                return f"{said}, which was estimated for {self.table.extra} rows that were added"
            return said
        assert self.columns is not None
        if self.columns.known:
            return "rows are independent draws of the Gaussian law that was given"
        said = "rows are independent draws of a Gaussian law, whose covariance"
        if self.columns.shrinkage:
            by = f"{100 * self.columns.shrinkage:.2g} %"
            return f"{said} was estimated from them, correlations shrunk by {by}"
        return f"{said} or mean was estimated from them, or given, without an allowance for that"

    def certificate(self) -> Certificate:
        """Return whether such copies exist, how good the separation is, and what an exchange changes."""
        law = self.law
        smallest = smallest_joint_variance(law.coordinates.correlation, law.separation.each)
        center = self.law.mean
        differ = largest_difference(
            self.rows - center, self.sample - center, self.weights, law.coordinates.groups
        )
        left = AIMS[law.separation.aim].left
        return of_knockoffs(
            smallest, left, law.separation.optimality, differ, exact=self.table is not None
        )

    def notes(self, given: Prepared, outcome: Outcome) -> list[str]:
        """Return what a reader should know before trusting the answer."""
        said = list(outcome.notes)
        tied = self.law.separation.inseparable
        varying = np.isin(tied, given.numbers[given.units > 0])
        if varying.any():
            named = listing((given.groups.labels[g] for g in tied[varying]), str, 5)
            said.append(
                f"{named} cannot be told from linear functions of other columns, so that their copies "
                "equal them and they are never selected"
            )
        return [*said, *self._unlike_gaussian(given)]

    def _unlike_gaussian(self, given: Prepared) -> list[str]:
        """Say which columns a Gaussian law cannot be right for: those of few values."""
        if self.table is not None:
            return []
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

"""Any estimator as the base of a resampling method: what it selects in each resample of the rows."""

import inspect
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone

from garrote.arrays import Array, Floats
from garrote.designs.base import is_design
from garrote.designs.operator import is_operator
from garrote.estimators.given.arguments import Arguments
from garrote.estimators.penalised.model import SparseLinearModel
from garrote.estimators.shared.selectors import SelectingEstimator
from garrote.penalties import as_penalty
from garrote.selecting.control.frequencies import Frequencies, Trace, Variables

# Ways in which an estimator says which columns it selects.
_SAYS = "selection_, get_support() or coef_"


class Resample(NamedTuple):
    """How often each row is in a resample, the weights that it has there, and a seed for the base."""

    times: Floats
    weights: Floats
    seed: int


def check_base(base: Any) -> None:
    """Refuse, before any work, what cannot be fitted or will select nothing."""
    if isinstance(base, type):
        raise TypeError(f"base must be an estimator, not a class: write {base.__name__}()")
    if not hasattr(base, "fit") or not hasattr(base, "get_params"):
        raise TypeError(f"base must be an estimator with a fit of its own, got {base!r}")


def has_own_path(base: Any) -> bool:
    """Tell whether a base is a penalised model of ours whose paths several resamples can share."""
    if not isinstance(base, SparseLinearModel):
        return False
    penalty = as_penalty(base.penalty)
    if penalty.quadratic or not penalty.charges:
        raise ValueError(
            f"penalty={base.penalty!r} leaves no coefficient at 0, so that base selects every variable "
            "in every resample: take a penalty that selects, such as 'lasso'"
        )
    return not (penalty.compares or penalty.of_subsets or len(penalty.candidates) > 1)


def fit_each(
    base: Any,
    given: Arguments,
    resamples: Sequence[Resample],
    variables: Variables,
    first: int | None,
    n_jobs: int | None,
) -> Frequencies:
    """Fit a base to every resample, and count what it selects.

    Our own estimators are given weights, others the rows that are in; those of other libraries are
    given no groups and no offset. ``first`` takes so many variables of the largest evidence, where the
    base states any, in place of those that it selects.
    """
    threads = effective_n_jobs(n_jobs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a resample, whose rows are no one's data
        traces = Parallel(n_jobs=threads, prefer="threads")(
            delayed(_fit_one)(base, given, resample, k, len(resamples), variables, first)
            for k, resample in enumerate(resamples)
        )
    return Frequencies.of(traces, variables.free)


def _fit_one(
    base: Any,
    given: Arguments,
    resample: Resample,
    number: int,
    count: int,
    variables: Variables,
    first: int | None,
) -> Trace:
    """Fit one resample, and return what it selects."""
    model = _seeded(clone(base), resample.seed)
    fit = _fit_ours if isinstance(model, SelectingEstimator) else _fit_theirs
    try:
        fit(model, given, resample)
    except ValueError as error:
        raise ValueError(
            f"base could not be fitted to resample {number + 1} of {count} "
            f"({np.count_nonzero(resample.times)} of {len(resample.times)} rows): {error}"
        ) from error
    columns = selected_columns(model, len(variables.unit))
    chosen = variables.of_columns(columns)
    if first is not None:
        chosen = _of_most_evidence(model, variables, first)
    return Trace(chosen)


def _seeded(model: Any, seed: int) -> Any:
    """Return a model with a seed of its own, and nothing to do beside its fit."""
    known = model.get_params(deep=True)
    alone = {"stability": None, "callback": None, "n_jobs": 1}
    wanted = {name: value for name, value in alone.items() if name in known}
    return model.set_params(**wanted, **dict.fromkeys(seeds_of(model), seed))


def seeds_of(model: Any) -> list[str]:
    """Return the settings of a model, and of what it is made of, that are seeds."""
    known = model.get_params(deep=True)
    return [n for n in known if n == "random_state" or n.endswith("__random_state")]


def _fit_ours(model: Any, given: Arguments, resample: Resample) -> None:
    weights = resample.weights
    model.fit(
        given.X, given.y, weights, offset=given.offset, groups=given.groups,
        feature_names=given.feature_names,
    )  # fmt: skip


def _fit_theirs(model: Any, given: Arguments, resample: Resample) -> None:
    """Fit an estimator of another library to the rows that are in, repeated if it takes no weights."""
    takes = "sample_weight" in inspect.signature(model.fit).parameters
    if given.offset is not None:
        raise ValueError(f"{type(model).__name__} takes no offset: leave it out")
    if given.sample_weight is not None and not takes:
        raise ValueError(f"{type(model).__name__} takes no sample_weight: leave it out")
    times = resample.times.astype(np.intp)
    rows = np.flatnonzero(times) if takes else np.repeat(np.arange(len(times)), times)
    weights = {"sample_weight": resample.weights[rows]} if takes else {}
    model.fit(some_rows(given.X, rows), np.asarray(given.y)[rows], **weights)


def some_rows(X: Any, rows: Array) -> Any:
    """Return some rows of an array, a data frame or a sparse matrix."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if scipy.sparse.issparse(X):
        return X.tocsr()[rows]
    if is_design(X) or is_operator(X):
        raise TypeError("a design has no rows by themselves: base must be an estimator of garrote")
    if hasattr(X, "columns"):  # other data frames
        return X[rows]
    return np.asarray(X)[rows]


def selected_columns(model: Any, count: int) -> Array:
    """Return the columns that a fitted estimator selects; a pipeline's or a search's last model does."""
    inner = model
    while hasattr(inner, "best_estimator_"):
        inner = inner.best_estimator_
    inner = inner.steps[-1][1] if hasattr(inner, "steps") else inner
    mask = _mask(inner)
    if mask is None:
        raise TypeError(
            f"base {type(inner).__name__} says not which variables it selects: it has no {_SAYS}; give "
            "an estimator with coefficients, some of which are 0"
        )
    if mask.shape != (count,):
        raise ValueError(
            f"base {type(inner).__name__} selects among {mask.size} columns, and X has {count}: steps "
            "of a pipeline before it must keep all columns"
        )
    return np.flatnonzero(mask)


def _mask(model: Any) -> Array | None:
    """Return which columns are selected; None where an estimator does not say."""
    if hasattr(model, "selection_"):
        return np.asarray(model.selection_.selected, dtype=bool)
    if hasattr(model, "get_support"):
        return np.asarray(model.get_support(), dtype=bool)
    coef = getattr(model, "coef_", None)
    if coef is None:
        return None
    coef = coef.toarray() if scipy.sparse.issparse(coef) else np.asarray(coef)
    return np.asarray((coef != 0).reshape(-1, coef.shape[-1]).any(axis=0))


def states_evidence(base: Any) -> bool:
    """Tell whether a base, once fitted, states evidence for every variable."""
    return isinstance(base, SelectingEstimator)


def _of_most_evidence(model: Any, variables: Variables, first: int) -> Array:
    """Return the variables of the largest evidence, ties going by the size of the effect."""
    found = model.selection_
    effect = np.abs(np.nan_to_num(found.effect))
    effect = effect if found.deviation is None else effect * found.deviation
    evidence, size = np.zeros((2, variables.total))
    np.maximum.at(evidence, variables.unit, found.probability)
    np.maximum.at(size, variables.unit, effect)
    order = np.lexsort((-size, -evidence, ~variables.free))
    chosen = np.zeros(variables.total, dtype=bool)
    chosen[order[:first]] = True
    return chosen & variables.free & (evidence > 0)

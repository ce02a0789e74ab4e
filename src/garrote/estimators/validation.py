"""Whole methods on rows held out: each is fitted again without every fold, and measured on it.

`garrote.selecting.cross_validation` chooses a strength on a path; here nothing is chosen, and what is
measured is a method with all of its own choices, so that methods can be compared. Folds are the same for
all of them.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing

from garrote.arrays import Array, Floats
from garrote.designs.base import is_design
from garrote.designs.operator import is_operator
from garrote.estimators.given.folds import split_rows
from garrote.estimators.given.inputs import check_weights
from garrote.estimators.shared.densities import MeasuredRows
from garrote.likelihoods import as_likelihood
from garrote.results.selections.held_out import LabelScores, PredictiveDensity
from garrote.results.selections.selection import Selection
from garrote.results.selections.views import Predictions, Validation
from garrote.selecting.cross_validation import spread_rows
from garrote.selecting.label_scores import Scores, score_labels

# Strong enough that only what is not penalised is left of the lasso.
_NOTHING = 1e100
NULL_MODEL, LASSO = "null model", "lasso"


@dataclass(frozen=True)
class Rows:
    """The rows that methods are fitted to and measured on."""

    X: Any
    y: Array
    weights: Floats
    offset: Any = None
    groups: Any = None
    names: Any = None

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        offset: Any = None,
        groups: Any = None,
        names: Any = None,
    ) -> "Rows":
        """Take what a fit takes; rows are picked out of it, which a design does not allow."""
        if is_design(X) or is_operator(X):
            raise TypeError(
                f"rows cannot be picked out of a {type(X).__name__}: give an array, a data frame or a "
                "sparse matrix"
            )
        # Folds of a sparse matrix are rows of it.
        X = X.tocsr() if hasattr(X, "tocsr") else X
        return cls(X, np.asarray(y), check_weights(sample_weight, X), offset, groups, names)

    def fitted(self, model: Any, rows: Array) -> Any:
        """Return a copy of the model, fitted to some rows once."""
        known = {} if self.offset is None else {"offset": _safe_indexing(self.offset, rows)}
        groups = None if self.groups is None else _safe_indexing(self.groups, rows)
        copy = clone(model)
        copy.set_params(**{"stability": None} if "stability" in copy.get_params() else {})
        return copy.fit(
            _safe_indexing(self.X, rows), self.y[rows], self.weights[rows], groups=groups,
            feature_names=self.names, **known,
        )  # fmt: skip

    def measured(self, model: Any, rows: Array) -> MeasuredRows:
        """Return what a fitted model says of some rows."""
        known = None if self.offset is None else _safe_indexing(self.offset, rows)
        found: MeasuredRows = model._measure(_safe_indexing(self.X, rows), self.y[rows], known)
        return found

    def splits(self, cv: Any, labels: bool, seed: int = 0) -> list[tuple[Array, Array]]:
        """Return the folds: so many, shuffled, of whole groups where there are such; or a splitter's."""
        codes = np.unique(self.y, return_inverse=True)[1] if labels else self.y
        X = self.X if hasattr(self.X, "tocsr") else np.asarray(self.X)
        return split_rows(cv, X, codes, self.groups, labels=labels, seed=seed or None)


@dataclass(frozen=True)
class HeldOutRows:
    """What one method says of every row that was held out, and what happened on the way.

    ``density``, ``error`` and ``mean`` are of the rows ``row``, in the order of the folds, ``fold`` says
    which. ``labels`` are scores by fold, of labels. ``selected`` (folds x D) is what each fold selects.
    """

    row: Array
    fold: Array
    density: Floats
    error: Floats
    mean: Floats
    weights: Floats
    selected: Array
    labels: LabelScores | None
    unconverged: int

    @property
    def fold_errors(self) -> Floats:
        """The mean error of each fold."""
        folds = [self.fold == k for k in range(len(self.selected))]
        return np.array([np.average(self.error[f], weights=self.weights[f]) for f in folds])


def hold_out(model: Any, rows: Rows, splits: list[tuple[Array, Array]]) -> HeldOutRows:
    """Fit a model without each fold, and measure it there."""
    parts, scores, selected, unconverged = [], [], [], 0
    for train, test in splits:
        used = test[rows.weights[test] > 0]
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            fitted = rows.fitted(model, train)
        unconverged += any(issubclass(one.category, ConvergenceWarning) for one in heard)
        _check_classes(fitted, rows, used)
        found = rows.measured(fitted, used)
        parts.append((used, found))
        selected.append(fitted.selection_.selected)
        if found.probability is not None:
            codes = np.searchsorted(fitted.classes_, rows.y[used]).astype(np.float64)
            means = found.probability.T if len(fitted.classes_) > 2 else found.probability[:, 1]
            scores.append(score_labels(codes, means, rows.weights[used]))
            classes = tuple(str(label) for label in fitted.classes_)
    row = np.concatenate([used for used, _ in parts])
    return HeldOutRows(
        row=row,
        fold=np.repeat(np.arange(len(parts)), [len(used) for used, _ in parts]),
        density=np.concatenate([found.density for _, found in parts]),
        error=np.concatenate([found.error for _, found in parts]),
        mean=np.concatenate([found.mean for _, found in parts]),
        weights=rows.weights[row],
        selected=np.array(selected),
        labels=LabelScores(classes, *Scores.stacked(scores)) if scores else None,
        unconverged=unconverged,
    )


def _check_classes(fitted: Any, rows: Rows, used: Array) -> None:
    """Refuse to measure a class that no row to train on has."""
    unknown = np.setdiff1d(rows.y[used], getattr(fitted, "classes_", rows.y[used]))
    if len(unknown):
        raise ValueError(
            f"a fold trains without class {str(unknown[0])!r}: take fewer folds, or leave that class out"
        )


def rivals_of(model: Any) -> dict[str, Any]:
    """Return what a method is measured against: no variable but the covariates, and the lasso."""
    from garrote.estimators.sparse_classifier import SparseClassifier
    from garrote.estimators.sparse_regressor import SparseRegressor

    settings = {"fit_intercept": model.fit_intercept}
    if not is_classifier(model):
        settings["family"] = _family(model)
    found = model.selection_
    if found.always_in:
        always = [j for j, name in enumerate(found.names) if name in found.always_in]
        settings["penalty_factor"] = dict.fromkeys(always, 0.0)
    kind = SparseClassifier if is_classifier(model) else SparseRegressor
    return {NULL_MODEL: kind("lasso", _NOTHING, **settings), LASSO: kind("lasso", **settings)}


def measure_of(model: Any) -> str:
    """Return what an error of a method is."""
    squares = not is_classifier(model) and as_likelihood(_family(model)).least_squares
    return "squared error" if squares else "deviance"


def _family(model: Any) -> Any:
    """Return what a regressor takes y for; one without families takes it for a number."""
    return getattr(model, "family", "gaussian")


class Validated(NamedTuple):
    """How well a method predicts rows held out, what to say of it, and some of these rows."""

    validation: Validation
    notes: tuple[str, ...]
    predictions: Predictions | None


def validate(model: Any, rows: Rows, cv: Any = 5, seed: int = 0) -> Validated:
    """Measure a method, and its rivals, on rows held out."""
    splits = rows.splits(cv, is_classifier(model), seed)
    found = {"": hold_out(model, rows, splits)}
    found |= {name: hold_out(rival, rows, splits) for name, rival in rivals_of(model).items()}
    own = found[""]
    density = compare_densities({model.selection_.method: own, **_without(found, "")})
    errors = own.fold_errors
    spread = errors.std(ddof=1) / np.sqrt(len(errors)) if len(errors) > 1 else 0.0
    missed = f"{own.unconverged} of {len(splits)} fits without a fold did not converge"
    validation = Validation(
        measure=measure_of(model),
        folds=len(splits),
        rule="",
        mean=np.array([errors.mean()]),
        standard_error=np.array([float(spread)]),
        null=float(found[NULL_MODEL].fold_errors.mean()),
        labels=own.labels,
        density=density,
    )
    return Validated(validation, (missed,) * bool(own.unconverged), _predictions(model, rows, own))


def _predictions(model: Any, rows: Rows, found: HeldOutRows) -> Predictions | None:
    """Return some held-out rows as they were and as they were predicted; None of several classes."""
    classes = getattr(model, "classes_", ())
    if len(classes) > 2:
        return None
    observed = np.searchsorted(classes, rows.y).astype(np.float64) if len(classes) else rows.y
    kept = spread_rows(rows.weights)
    predicted = np.full(len(rows.y), np.nan)
    predicted[found.row] = found.mean
    return Predictions(True, kept, np.asarray(observed[kept], np.float64), predicted[None, kept])


def compare_densities(found: Mapping[str, HeldOutRows]) -> PredictiveDensity:
    """Return the densities of several methods, measured on the same folds, the first before all."""
    first = next(iter(found.values()))
    return PredictiveDensity(
        models=tuple(found),
        density=np.array([one.density for one in found.values()]),
        fold=first.fold,
        weights=first.weights,
        errors=np.array([one.fold_errors.mean() for one in found.values()]),
    )


def _without(found: Mapping[str, HeldOutRows], name: str) -> dict[str, HeldOutRows]:
    return {key: value for key, value in found.items() if key != name}


def with_validation(selection: Selection, found: Validated) -> Selection:
    """Return a selection that tells of a validation of its whole method.

    One that was chosen on a path keeps the errors along it, and gains the densities.
    """
    validation, predictions = found.validation, selection.predictions
    if selection.path is None:
        predictions = found.predictions
    else:
        known = selection.validation
        if known is None:
            nothing = np.full(len(selection.path.strengths), np.nan)
            mean, error = nothing.copy(), nothing.copy()
            mean[selection.path.chosen] = validation.mean[0]
            error[selection.path.chosen] = validation.standard_error[0]
            validation = replace(validation, mean=mean, standard_error=error)
        else:
            validation = replace(known, density=validation.density)
    return selection.annotated(found.notes, validation=validation, predictions=predictions)

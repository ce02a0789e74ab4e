"""Several selectors side by side: fitted to all rows, and measured on the same folds."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from garrote.arrays import Array
from garrote.estimators.given.inputs import response_name
from garrote.estimators.registry import SELECTORS
from garrote.estimators.validation import (
    NULL_MODEL,
    HeldOutRows,
    Rows,
    compare_densities,
    hold_out,
    measure_of,
    rivals_of,
)
from garrote.results.selections.comparison import Comparison

# What is compared where nobody says, the quickest first.
METHODS = ("lasso", "garrote", "single-effects", "spike-slab", "shrinkage")


def compare(
    X: Any,
    y: Any,
    methods: Mapping[str, Any] | None = None,
    sample_weight: Any = None,
    *,
    cv: Any = 5,
    offset: Any = None,
    groups: Any = None,
    feature_names: Any = None,
    random_state: int = 0,
    callback: Callable[[str], None] | None = None,
) -> Comparison:
    """Fit several selectors to the same rows, and measure them on the same folds.

    Parameters
    ----------
    X, y, sample_weight, offset, groups, feature_names
        As a selector's ``fit`` takes them.
    methods : mapping from names to estimators, optional
        Selectors of garrote; by default one of each kind. All are regressors, or all classifiers.
    cv : int, splitter or list of splits, default=5
        So many folds, shuffled; all of a method, its own choices too, is fitted without each of them.
    random_state : int, default=0
        The seed of the folds, and of the default methods.
    callback : callable, optional
        Called with the name of each method before it is fitted.

    Returns
    -------
    Comparison
        With ``table()``, ``variables()`` and ``report(path)``. A method that cannot be fitted is told of
        in ``failures``.

    Examples
    --------
    >>> from garrote import SparseRegressor, VariationalGarrote, compare
    >>> from garrote.datasets import make_sparse_regression
    >>> data = make_sparse_regression(n_samples=80, n_features=12, n_informative=2, random_state=0)
    >>> methods = {"lasso": SparseRegressor(), "garrote": VariationalGarrote()}
    >>> found = compare(data.X, data.y, methods, cv=3)
    >>> found.table().columns["method"]
    ['null model', 'lasso', 'garrote']
    >>> found.report("methods.html")  # doctest: +SKIP
    """
    labels = np.asarray(y).dtype.kind not in "fiu"
    methods = default_methods(labels, random_state) if methods is None else methods
    if not methods:
        raise ValueError("methods is empty: give at least one selector, by a name")
    kinds = {is_classifier(model) for model in methods.values()}
    if len(kinds) > 1:
        raise ValueError(
            "methods has regressors and classifiers, whose errors cannot be compared: give one kind"
        )
    rows = Rows.of(X, y, sample_weight, offset, groups, feature_names)
    splits = rows.splits(cv, kinds.pop(), random_state)
    found = _fit_all(methods, rows, splits, callback)
    return _compared(*found, response_name(y))


_Held = dict[str, HeldOutRows]


def _fit_all(
    methods: Mapping[str, Any],
    rows: Rows,
    splits: list[tuple[Array, Array]],
    callback: Callable[[str], None] | None,
) -> tuple[dict[str, Any], _Held, list[tuple[str, str]]]:
    """Return the fitted methods, what each and the null model say of held-out rows, and failures."""
    every = np.arange(len(rows.y))
    fitted: dict[str, Any] = {}
    held_out: _Held = {}
    failures = []
    for name, model in methods.items():
        if callback is not None:
            callback(name)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what a fit says is in its selection
                one = rows.fitted(model, every)
            held_out[name] = hold_out(model, rows, splits)
            fitted[name] = one
        except (ValueError, TypeError) as error:
            failures.append((name, str(error)))
    if not fitted:
        raise ValueError(f"no method could be fitted; {failures[0][0]}: {failures[0][1]}")
    null = hold_out(rivals_of(next(iter(fitted.values())))[NULL_MODEL], rows, splits)
    return fitted, {NULL_MODEL: null, **held_out}, failures


def default_methods(
    labels: bool, random_state: int = 0, names: Any = METHODS, **settings: Any
) -> dict[str, Any]:
    """Return selectors by their names; a setting is given to those that have it."""
    made = {}
    for name in names:
        place = SELECTORS[name].for_labels if labels else SELECTORS[name]
        if place is None:
            raise ValueError(f"{name} has no classifier: leave it out")
        kind = place.load()
        wanted = {**settings, "random_state": random_state}
        known = kind().get_params()
        made[name] = kind(**{key: value for key, value in wanted.items() if key in known})
    return made


def _compared(
    fitted: Mapping[str, Any], held_out: _Held, failures: list[tuple[str, str]], response: str
) -> Comparison:
    """Gather what the methods say, the null model's rows first."""
    first = next(iter(fitted.values()))
    found = [held_out[name] for name in fitted]
    scores = [one.labels for one in found if one.labels is not None]
    folds = len(found[0].selected)
    said = [
        f"{name}: {one.unconverged} of {folds} fits without a fold did not converge"
        for name, one in zip(fitted, found, strict=True)
        if one.unconverged
    ]
    said += [
        f"{name} did not converge" for name, one in fitted.items() if not one.selection_.converged
    ]
    return Comparison(
        methods=tuple(fitted),
        selections=tuple(
            # Rows are picked out of arrays, which have lost the name of y.
            replace(found, response=response + found.response.removeprefix("y"))
            for found in (one.selection_ for one in fitted.values())
        ),
        found_again=np.array([one.selected.mean(axis=0) for one in found]),
        density=compare_densities(held_out),
        fold_errors=np.array([one.fold_errors for one in held_out.values()]),
        measure=measure_of(first),
        labels=tuple(scores) if scores else None,
        failures=tuple(failures),
        warnings=tuple(said),
    )

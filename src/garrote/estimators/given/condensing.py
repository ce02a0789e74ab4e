"""Tables larger than memory: read once, and replaced by a small table with the same moments."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from garrote.arrays import Array, Floats
from garrote.designs.blocks.base import BlockDesign
from garrote.designs.blocks.condensed import Kept, parts_of, splits_of
from garrote.estimators.given.arguments import Arguments
from garrote.estimators.given.folds import each_split
from garrote.estimators.given.inputs import check_offset, check_rows, check_weights, response_name
from garrote.estimators.given.provenance import fingerprint_of_rows, rows_of_fingerprint
from garrote.likelihoods import Gaussian, as_likelihood
from garrote.likelihoods.several import SeveralResponses
from garrote.penalties import as_penalty
from garrote.results.selections.views import Predictions
from garrote.selecting.cross_validation import spread_rows
from garrote.solvers.control import Progress


@dataclass(frozen=True)
class CondensedRows:
    """What is fitted in place of a large table, and what a selection has to say of that table.

    ``given`` are the arguments of the fit; ``y``, ``offset`` and the rows ``kept`` are those of the
    table, ``told`` is where it comes from.
    """

    given: Arguments
    y: Floats
    offset: Floats | None
    shown: Kept
    response: str
    told: dict[str, Any]

    def describe(self, model: Any) -> None:
        """Let the selection of a fitted model tell of the large table."""
        found = model.selection_
        parts: dict[str, Any] = {}
        if found.predictions is not None and self.y.ndim == 1:
            parts["predictions"] = self._predictions(model)
        if found.response == "y":
            parts["response"] = self.response
        model.selection_ = found.annotated((), self.told, **parts)

    def _predictions(self, model: Any) -> Predictions:
        """Return what is predicted for rows of the table, at each strength of a path."""
        X, rows = self.shown.X.astype(np.float64), self.shown.rows
        if model.selection_.path is None:
            predicted = (X @ model.coef_ + model.intercept_)[None, :]
        else:
            predicted = model.path_.coefficients() @ X.T + model.path_.intercepts[:, None]
        if self.offset is not None:
            predicted = predicted + self.offset[rows]
        return Predictions(False, rows, self.y[rows], np.asarray(predicted))


def condense_rows(model: Any, given: Arguments) -> CondensedRows | None:
    """Return a small table to fit in place of a large one; None where that is not the same.

    Only moments matter to a Gaussian likelihood. Folds are told apart in the same pass.
    """
    X = given.X
    if not isinstance(X, BlockDesign) or not _by_moments(model):
        return None
    if not X.condenses():
        return None
    _, y = check_rows(model, X, given.y, several=True)
    several = SeveralResponses(y.shape[1]) if y.ndim == 2 else Gaussian()
    if y.ndim == 2 and not (y.shape[1] > 1 and getattr(model, "_takes_several", False)):
        return None
    weights = check_weights(given.sample_weight, X)
    offset = check_offset(given.offset, len(y), several)
    responses = 1 if y.ndim == 1 else y.shape[1]
    left = y if offset is None else y - offset
    part, trained, tested = _parts(model, given, y, offset)
    parts = trained.shape[1] if len(trained) else 1
    if not X.condenses(parts, responses):
        return None
    sampled, shown = rows_of_fingerprint(X.shape), spread_rows(weights)
    kept = np.unique(np.concatenate([sampled, shown]))
    small = X.condense(left, weights, part if parts > 1 else None, parts, kept, _teller(model))
    small.design.names = X.names
    if len(trained):
        # A part without weight has no rows; those that are left keep their numbers.
        small.design.splits = splits_of(small.part, trained, tested)
    y_small = small.y[:, 0] if y.ndim == 1 else small.y
    made = given._replace(
        X=small.design, y=y_small, sample_weight=small.weights, offset=None, groups=None
    )
    told = {
        "n_rows": X.shape[0],
        "total_weight": float(weights.sum()),
        "fingerprint": fingerprint_of_rows(X, y, _rows(small.kept, sampled).X),
        "offset": offset is not None,
        "condensed": f"{X.shape[0]} rows in one pass, to {len(small.weights)} with the same moments",
    }
    held = _rows(small.kept, shown)
    return CondensedRows(made, y, offset, held, response_name(given.y), told)


def _teller(model: Any) -> Callable[[int, int], None] | None:
    """Return what tells the callback of a model, if it has one, how much has been read."""
    callback = getattr(model, "callback", None)
    if callback is None:
        return None
    return lambda done, total: callback(Progress("reading", done, total))


def _by_moments(model: Any) -> bool:
    """Tell whether a model asks of rows no more than their moments.

    A lasso or a ridge as a first fit is chosen by criteria that count rows as well.
    """
    if is_classifier(model):
        return False
    try:
        first = as_penalty(model.penalty).first if hasattr(model, "penalty") else None
        if (first or getattr(model, "first", None)) in ("lasso", "ridge"):
            return False
        return bool(as_likelihood(getattr(model, "family", "gaussian")).least_squares)
    except (TypeError, ValueError):
        return False  # which the fit will refuse in its own words


def _parts(
    model: Any, given: Arguments, y: Floats, offset: Floats | None
) -> tuple[Array, Array, Array]:
    """Return which part of the rows each is in, and which parts a fold trains on and tests."""
    nothing = np.zeros((0, 1), dtype=np.int64)
    if not model._holds_out:
        return np.zeros(0, dtype=np.int64), nothing, nothing
    splits: Iterator[tuple[Array, Array]] = each_split(
        model.cv,
        given.X,
        y,
        given.groups,
        seed=getattr(model, "_seed_of_folds", None),
        offset=offset,
    )
    return parts_of(splits, len(y))


def _rows(kept: Kept, wanted: Array) -> Kept:
    return Kept(wanted, kept.X[np.searchsorted(kept.rows, wanted)])

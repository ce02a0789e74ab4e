"""Fit one method to thousands of traits or genes on shared columns, a batch at a time, resumably."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from garrote.arrays import Array, Floats
from garrote.designs import DenseDesign, JoinedDesign
from garrote.designs.base import Design
from garrote.estimators.given.provenance import fingerprint
from garrote.estimators.single_effects_regressor import SingleEffectsRegressor
from garrote.many.parts import Parts, digest_of
from garrote.problem import as_design
from garrote.summaries import Shown, listing

# Variables less probable than this, in no credible set, are not written.
_LEAST = 0.01


@dataclass(frozen=True, repr=False)
class ManyFits(Shown):
    """What `fit_many` did.

    Attributes
    ----------
    path : str
        The Parquet file.
    traits, rows : int
        How many responses it tells of, and its rows.
    resumed : int
        How many of them an earlier, interrupted call had fitted.
    failed : int
        How many have no fit; their rows say why.
    """

    path: str
    traits: int
    rows: int
    resumed: int
    failed: int


def fit_many(
    X: Any,
    Y: Any,
    path: str | os.PathLike[str],
    *,
    model: Any = None,
    windows: Sequence[Any] | None = None,
    covariates: Any = None,
    sample_weight: Any = None,
    names: Sequence[str] | None = None,
    traits: Sequence[str] | None = None,
    least: float = _LEAST,
    batch: int = 50,
    callback: Callable[[int, int], None] | None = None,
) -> ManyFits:
    """Fit a model to every column of Y, and write what is found to one Parquet file.

    Each response is fitted as ``model.fit(X[:, window], y)`` fits it. What was found is on disk after
    every batch: a call that was interrupted goes on where it was, given the same data and settings.

    Parameters
    ----------
    X : array, sparse matrix or Design of shape (N, D)
    Y : array or data frame of shape (N, K)
        NaN where a response is not known: that row is left out of its fit.
    path : path
        Replaced at once when all is done; until then the folder ``path.parts`` beside it is filled.
    model : estimator, optional
        A regressor by a posterior; by default `garrote.SingleEffectsRegressor`.
    windows : sequence of K slices or arrays of columns, optional
        The columns for each response, such as variants near a gene; by default all.
    covariates : array of shape (N, C), optional
        Always in the model, beside each window.
    sample_weight : array of shape (N,), optional
    names, traits : sequences of str, optional
        Of the columns of X and of Y, where these have none themselves.
    least : float
        Variables less probable than that are not written, unless they are in a credible set.
    batch : int
        Responses between two writings.
    callback : callable, optional
        Told how many responses are done, and of how many.

    Returns
    -------
    ManyFits
        The file has a row for each probable variable of each response, with the number of its credible
        set. One with none has one row without a variable; ``note`` says why one has no fit.
    """
    if batch < 1:
        raise ValueError(f"batch must be at least 1, got {batch}")
    given = (X, Y, model, windows, covariates, sample_weight, names, traits, least)
    return _run(_Work.of(*given), Path(path), batch, callback)


def _run(
    work: "_Work", path: Path, batch: int, callback: Callable[[int, int], None] | None
) -> ManyFits:
    """Fit what is not done yet, a batch at a time."""
    count = len(work.traits)
    parts = Parts(path, work.identity(batch), -(-count // batch))
    resumed = sum(min(batch, count - k * batch) for k in parts.done)
    for k in range(parts.count):
        last = min((k + 1) * batch, count)
        if k not in parts.done:
            parts.write(k, [row for trait in range(k * batch, last) for row in work.rows(trait)])
        if callback is not None:
            callback(last, count)
    rows, failed = parts.finish()
    return ManyFits(str(path), count, rows, resumed, failed)


@dataclass(frozen=True)
class _Work:
    """All that fits need."""

    model: Any
    design: Design
    responses: Floats
    weights: Floats
    windows: tuple[Array | None, ...]
    beside: Design | None
    columns: Sequence[str]
    traits: Sequence[str]
    least: float

    @classmethod
    def of(
        cls, X: Any, Y: Any, model: Any, windows: Any, covariates: Any, sample_weight: Any,
        names: Any, traits: Any, least: float,
    ) -> "_Work":  # fmt: skip
        """Check what was given."""
        model = SingleEffectsRegressor() if model is None else model
        if not hasattr(model, "get_params") or "covariates" not in model.get_params(deep=False):
            raise TypeError(f"model must be a regressor by a posterior, got {type(model).__name__}")
        design, responses = as_design(X), np.asarray(Y, dtype=np.float64)
        (rows, columns), shape = design.shape, responses.shape
        if len(shape) != 2 or shape[0] != rows or not shape[1]:
            raise ValueError(
                f"Y must have {rows} rows like X and a column for each response, got shape {shape}"
            )
        return cls(
            model=model,
            design=design,
            responses=responses,
            weights=_weights(sample_weight, rows),
            windows=_windows(windows, columns, shape[1]),
            beside=_beside(covariates, design),
            columns=_names(names, getattr(design, "names", _frame_columns(X)), columns, "x"),
            traits=_names(traits, _frame_columns(Y), shape[1], "y"),
            least=least,
        )

    def identity(self, batch: int) -> str:
        """Return a digest of data and settings: parts of another call are not taken for this one's."""
        beside = None if self.beside is None else fingerprint(self.beside, self.weights)
        told = [
            type(self.model).__name__, repr(self.model.get_params()), self.least, batch, beside,
            fingerprint(self.design, self.weights), tuple(self.columns), tuple(self.traits),
        ]  # fmt: skip
        return digest_of(repr(told), self.responses, *(w for w in self.windows if w is not None))

    def rows(self, k: int) -> Iterator[dict[str, Any]]:
        """Yield what is written of one response."""
        y = self.responses[:, k]
        known = np.isfinite(y)
        weights = np.where(known, self.weights, 0.0)
        window = self.windows[k]
        base = {"trait": self.traits[k]}
        if window is not None and not len(window):
            yield _empty(base, "its window has no column")
            return
        places = np.arange(self.design.shape[1]) if window is None else window
        X = self.design if window is None else self.design.pick(window)
        always = np.arange(X.shape[1], X.shape[1] + (self.beside.shape[1] if self.beside else 0))
        if self.beside is not None:
            X = JoinedDesign([X, self.beside])
        fitted = clone(self.model)
        if len(always):
            fitted.set_params(covariates=always.tolist())
        try:
            fitted.fit(X, np.where(known, y, 0.0), weights)
        except ValueError as error:
            yield _empty(base, str(error))
            return
        yield from _told(fitted.selection_, base, places, self)


def _told(found: Any, base: dict[str, Any], places: Array, work: _Work) -> Iterator[dict[str, Any]]:
    member = {int(j): k for k, one in enumerate(found.credible_sets, 1) for j in one.variables}
    count = len(places)
    probable = np.flatnonzero(found.probability[:count] >= work.least)
    shown = sorted({*probable.tolist(), *(j for j in member if j < count)},
                   key=lambda j: -found.probability[j])  # fmt: skip
    if not shown:
        yield _empty(base, None, bool(found.converged))
    for j in shown:
        yield {
            **base,
            "variable": str(work.columns[places[j]]),
            "column": int(places[j]),
            "probability": float(found.probability[j]),
            "effect": float(found.effect[j]),
            "standard_error": float(found.standard_error[j]),
            "lower": float(found.lower[j]),
            "upper": float(found.upper[j]),
            "set": member.get(j),
            "converged": bool(found.converged),
            "note": None,
        }


def _empty(base: dict[str, Any], note: str | None, converged: bool = False) -> dict[str, Any]:
    nothing = dict.fromkeys(
        ("variable", "column", "probability", "effect", "standard_error", "lower", "upper", "set")
    )
    return {**base, **nothing, "converged": converged, "note": note}


def _frame_columns(table: Any) -> Any:
    """Return the names of a data frame's columns; None of anything else."""
    found = getattr(table, "columns", None)
    return None if callable(found) else found


def _names(given: Any, own: Any, count: int, letter: str) -> Sequence[str]:
    chosen = given if given is not None else own
    if chosen is None:
        return [f"{letter}{j}" for j in range(count)]
    names = [str(name) for name in chosen]
    if len(names) != count or len(set(names)) != count:
        raise ValueError(
            f"{count} names are needed, each once, got {len(names)}: {listing(names, most=3)}"
        )
    return names


def _weights(given: Any, count: int) -> Floats:
    weights = np.ones(count) if given is None else np.asarray(given, dtype=np.float64)
    if weights.shape != (count,) or not (weights >= 0).all():
        raise ValueError(f"sample_weight must be {count} numbers of at least 0")
    return weights


def _windows(given: Sequence[Any] | None, columns: int, count: int) -> tuple[Array | None, ...]:
    if given is None:
        return (None,) * count
    if len(given) != count:
        raise ValueError(f"windows must be one for each of {count} responses, got {len(given)}")
    found = []
    for k, one in enumerate(given):
        places = (
            np.arange(columns)[one] if isinstance(one, slice) else np.asarray(one, dtype=np.int64)
        )
        if len(places) and (places.min() < 0 or places.max() >= columns):
            raise ValueError(f"window {k} has column {places.max()}, and X has {columns} columns")
        found.append(places)
    return tuple(found)


def _beside(given: Any, design: Design) -> Design | None:
    if given is None:
        return None
    values = np.asarray(given, dtype=np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if len(values) != design.shape[0] or not np.isfinite(values).all():
        raise ValueError(f"covariates must be finite numbers in {design.shape[0]} rows like X has")
    return DenseDesign(np.asfortranarray(values))

"""What users hand over, checked before any work, with errors that name the column and the remedy."""

import warnings
from collections import Counter
from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import _check_sample_weight, validate_data

from garrote.arrays import Array, Floats
from garrote.designs.base import is_design
from garrote.designs.stored import as_stored
from garrote.estimators.given.designs import check_design, check_new_design
from garrote.estimators.given.frames import IMPUTE, refuse_text_columns
from garrote.estimators.given.responses import refuse_missing_labels, refuse_words
from garrote.limits.magnitudes import (
    LINKS,
    PREDICTIONS,
    WEIGHTS,
    refuse_large,
    within,
)
from garrote.summaries import listing

_DROP = "Drop those rows, or impute the values before fitting."


def check_rows(estimator: Any, X: Any, y: Any, several: bool = False) -> tuple[Any, Floats]:
    """Return X as a float array or CSC matrix, uncopied where possible, and y as a float vector.

    With ``several`` y may be a matrix, a column for each response.
    """
    refuse_words(estimator, y)
    X, y = check_labelled_rows(estimator, X, y, y_numeric=True, multi_output=several)
    y = np.asarray(y, dtype=np.float64)
    refuse_large(y, "y")
    return X, y


def check_response_rows(
    estimator: Any, rows: Any, family: Any, several: bool = False
) -> tuple[Any, Floats, Any]:
    """Do as `check_rows`; return also the likelihood of the responses, which of times are events."""
    if not family.of_times:
        X, y = check_rows(estimator, rows.X, rows.y, several)
        return X, y, family
    likelihood, events = family.given(rows.y)
    X, y = check_rows(estimator, rows.X, events)
    return X, y, likelihood


def check_labelled_rows(estimator: Any, X: Any, y: Any, **checks: Any) -> tuple[Any, Array]:
    """Do as `check_rows`, but leave y as the labels that it holds unless ``checks`` ask for more."""
    if hasattr(estimator, "consistency_"):  # of an earlier fit to z-scores
        del estimator.consistency_
    X = as_stored(X)
    if is_design(X):
        return X, check_design(estimator, X, y, **checks)
    refuse_repeated_names(X)
    refuse_text_columns(X, y)
    if not checks.get("y_numeric"):
        refuse_missing_labels(y)
    try:
        with _quiet():
            X, y = validate_data(
                estimator,
                X,
                y,
                accept_sparse="csc",
                dtype=[np.float64, np.float32],
                ensure_min_samples=2,
                **checks,
            )
    except ValueError as error:
        raise with_place(error, X, y) from None
    refuse_large(X, "X", getattr(estimator, "feature_names_in_", None))
    return X, y


def _quiet() -> Any:
    """Let a check of finiteness add up what may overflow: refusals have words of their own."""
    return np.errstate(over="ignore", invalid="ignore")


def response_name(y: Any) -> str:
    """Return the name that y carries, as a data frame's column does, or "y"."""
    name = getattr(y, "name", None)
    return str(name) if name is not None else "y"


def check_names(given: Any, of_frame: Array | None, count: int) -> Array | None:
    """Return the names of the columns: those given, else those of the data frame, if it was one."""
    if given is None:
        return of_frame
    names = np.array([str(name) for name in given], dtype=object)
    if of_frame is not None and not np.array_equal(names, of_frame):
        raise ValueError(
            "feature_names are for arrays; this X is a data frame with names of its own"
        )
    if len(names) != count:
        raise ValueError(f"feature_names has {len(names)} names for {count} columns of X")
    repeated, counts = np.unique(names, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"feature_names repeats {listing(repeated[counts > 1])}: rename them")
    return names


def column_names(names: Array | None, count: int) -> tuple[str, ...]:
    """Return a name for every column: its own, or x0, x1, ..."""
    return tuple(f"x{j}" for j in range(count)) if names is None else tuple(map(str, names))


def check_new_rows(estimator: Any, X: Any) -> Any:
    """Return rows to predict for, with the same columns as in the fit."""
    if hasattr(estimator, "consistency_"):
        raise ValueError(
            "this model was fitted to z-scores, so that means and scales of its columns are not known: "
            "multiply columns in standard deviations by coef_ for predictions in standard deviations"
        )
    X = as_stored(X)
    if is_design(X):
        return check_new_design(estimator, X)
    refuse_repeated_names(X)
    try:
        with _quiet():
            X = validate_data(
                estimator, X, accept_sparse=("csr", "csc"), dtype=[np.float64, np.float32],
                reset=False,
            )  # fmt: skip
    except ValueError as error:
        raise with_place(error, X, None) from None
    refuse_large(X, "X", getattr(estimator, "feature_names_in_", None))
    _refuse_far_rows(X, np.asarray(getattr(estimator, "coef_", 0.0)))
    return X


def _refuse_far_rows(X: Any, coef: Floats) -> None:
    """Raise for rows so far from those of the fit that the squares of predictions would overflow."""
    together = float(np.abs(coef).sum(axis=-1).max(initial=0.0)) if coef.ndim else 0.0
    if not X.shape[0] or within(X, PREDICTIONS.most / max(together, 1.0)):
        return
    largest = np.abs(X).max(axis=0)
    largest = largest.toarray().ravel() if scipy.sparse.issparse(largest) else np.asarray(largest)
    with np.errstate(over="ignore"):
        reach = float((np.abs(coef) * largest).sum(axis=-1).max(initial=0.0))
    if reach > PREDICTIONS.most:
        raise ValueError(
            f"X holds {largest.max():.3g} where coefficients are up to {np.abs(coef).max():.3g}: "
            f"predictions beyond {PREDICTIONS.most:g} are refused, as {PREDICTIONS.why}; give rows in "
            "the units of the fit"
        )


def refuse_repeated_names(X: Any) -> None:
    """Raise for data frames of which several columns have one name."""
    twice = [
        name for name, count in Counter(map(str, getattr(X, "columns", ()))).items() if count > 1
    ]
    if twice:
        raise ValueError(f"X has more than one column named {listing(twice)}: rename them")


def check_weights(sample_weight: Any, X: Any) -> Floats:
    """Return non-negative weights, not all zero."""
    if sample_weight is not None and not np.any(np.asarray(sample_weight)):
        raise ValueError("sample_weight is zero for every row; at least two rows need weight")
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if np.count_nonzero(weights) < 2:
        raise ValueError(
            "sample_weight is positive for 1 sample only; at least two rows need weight"
        )
    refuse_large(weights, "sample_weight", limit=WEIGHTS)
    return weights


def resolve_columns(given: Any, names: Array | None, count: int, argument: str) -> Array:
    """Turn names, positions or a mask into sorted column positions."""
    if given is None:
        return np.zeros(0, dtype=np.intp)
    values = [given] if isinstance(given, str) else list(given)
    if values and all(isinstance(v, bool | np.bool_) for v in values):
        if len(values) != count:
            raise ValueError(f"{argument} is a mask of {len(values)} for {count} columns")
        return np.flatnonzero(values)
    return np.unique(
        np.array([_position(v, names, count, argument) for v in values], dtype=np.intp)
    )


def resolve_values(
    given: Any, names: Array | None, count: int, argument: str, default: float = 0.0
) -> Floats:
    """Turn None, one number, an array, or a mapping from columns to numbers into D numbers.

    A column that is not named has the ``default``; infinite ones are allowed where that is infinite.
    """
    values = np.full(count, default)
    if given is None:
        return values
    if isinstance(given, Mapping):
        for key, value in given.items():
            values[_position(key, names, count, argument)] = value
    else:
        array = np.asarray(given, dtype=np.float64)
        if array.ndim and array.shape != (count,):
            raise ValueError(
                f"{argument} must have {count} entries, one a column, got {array.shape}"
            )
        values[:] = array
    if np.isnan(values).any() or (np.isfinite(default) and np.isinf(values).any()):
        raise ValueError(f"{argument} must be finite at every column")
    return values


def resolve_signs(given: Any, names: Array | None, count: int) -> Floats:
    """Return -1, 0 or 1 for every column."""
    signs = resolve_values(given, names, count, "signs")
    wrong = np.flatnonzero(~np.isin(signs, (-1, 0, 1)))
    if len(wrong):
        raise ValueError(f"signs must be -1, 0 or 1, got {signs[wrong[0]]:g} at column {wrong[0]}")
    return signs


def _position(value: Any, names: Array | None, count: int, argument: str) -> int:
    if isinstance(value, str):
        found = np.flatnonzero(names == value) if names is not None else np.zeros(0, int)
        if not len(found):
            known = f"known are {listing(names)}" if names is not None else "X has no column names"
            raise ValueError(f"{argument} names an unknown column {value!r}; {known}")
        return int(found[0])
    if not isinstance(value, Integral):
        raise ValueError(f"{argument} must hold column names or positions, got {value!r}")
    position = int(value)
    if not -count <= position < count:
        raise ValueError(f"{argument} has column {position}, but X has {count} columns")
    return position % count


def with_place(error: ValueError, X: Any, y: Any, remedy: str = IMPUTE) -> ValueError:
    """Add the first bad column and row to scikit-learn's message about NaN or infinity."""
    text = str(error).split("\n")[0]
    if "NaN" not in text and "infinity" not in text:
        return error
    place, column_gaps = "", "NaN" in text
    if "y" in text.split() and "X" not in text.split():
        column_gaps = False
        bad = np.flatnonzero(~np.isfinite(np.asarray(y, dtype=np.float64).ravel()))
        place = f" First at row {bad[0]} ({len(bad)} in all)." if len(bad) else ""
    else:
        rows, columns = _not_finite(X)
        if len(rows):
            names = getattr(X, "columns", None)
            name = repr(str(names[columns[0]])) if names is not None else str(columns[0])
            count = len(np.unique(columns))
            affected = f"{count} column{'s' * (count != 1)} affected"
            place = f" First at row {rows[0]}, column {name} ({affected})."
    return ValueError(f"{text}{place} {remedy if column_gaps else _DROP}")


def _not_finite(X: Any) -> tuple[Array, Array]:
    if scipy.sparse.issparse(X):
        entries = scipy.sparse.coo_array(X)
        bad = ~np.isfinite(entries.data)
        rows, columns = entries.coords
        return rows[bad], columns[bad]
    try:
        missing = {"na_value": np.nan} if hasattr(X, "iloc") else {}
        values = X.to_numpy(dtype=np.float64, **missing) if missing else np.asarray(X, np.float64)
    except (TypeError, ValueError):
        return np.zeros(0, dtype=int), np.zeros(0, dtype=int)
    rows, columns = np.nonzero(~np.isfinite(np.atleast_2d(values)))
    return rows, columns


def check_new_offset(model: Any, likelihood: Any, offset: Any, count: int) -> Floats | None:
    """Return the offset of rows to predict for; warn where the fit had one and these have none."""
    if offset is None and model.selection_.provenance.get("offset", False):
        warnings.warn(
            "the model was fitted with an offset, and none is given for these rows: they are predicted "
            "as if theirs were 0; pass offset=, zeros if that is meant",
            UserWarning,
            stacklevel=3,
        )
    values = check_offset(offset, count, likelihood)
    if values is not None and not likelihood.additive:
        refuse_large(values, "offset", limit=LINKS)
    return values


def check_offset(offset: Any, count: int, likelihood: Any) -> Floats | None:
    """Return a known part of the linear predictor, one number a row, or one for each output."""
    if offset is None:
        return None
    try:
        values = np.asarray(offset, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"offset must hold numbers, one a row, got {offset!r}") from None
    outputs = likelihood.outputs
    if outputs == 1 and values.shape != (count,):
        raise ValueError(f"offset must have {count} entries like X has rows, got {values.shape}")
    if likelihood.several and outputs == 1:
        values = values[:, None]
    if outputs > 1 and values.shape != (count, outputs):
        raise ValueError(
            f"offset must have shape {(count, outputs)}, a column for each of {outputs} classes or "
            f"responses (one number a row would move all of them alike), got {values.shape}"
        )
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        raise ValueError(f"offset is not finite at row {bad[0][0]}")
    refuse_large(values, "offset")
    return values

"""Responses of words: which classifier takes them where numbers are asked for, which are missing."""

from typing import Any

import numpy as np

from garrote.estimators.given.frames import is_number_column, is_text
from garrote.estimators.registry import classifier_of
from garrote.summaries import listing, some_of

# The classifier of any number of classes; all others have two.
_ANY_NUMBER = "SparseClassifier"
# Words and cells in one sentence.
_NAMED = 5


def refuse_words(estimator: Any, y: Any) -> None:
    """Raise if the response of a regressor holds words, and say what to do with these."""
    values = np.asarray(y)
    if values.dtype.names is not None:
        raise ValueError(
            f"y holds records of {list(values.dtype.names)}: times until an event are for family='cox' "
            "of SparseRegressor, GreedyRegressor, SpikeSlabRegressor and SingleEffectsRegressor"
        )
    if values.dtype.kind not in "OUST":
        return
    cells, columns = values.ravel().tolist(), values.shape[1] if values.ndim > 1 else 1
    bad = [k for k, cell in enumerate(cells) if is_text(cell)]
    if not bad:
        return
    if is_number_column(cells, bad):
        shown = some_of(bad, lambda k: f"{cells[k]!r} in row {k // columns}", _NAMED)
        raise ValueError(
            f"y must hold numbers, and does but for {shown}: correct that, or drop those rows"
        )
    classes = sorted({str(cells[k]) for k in bad})
    labels = 2 * len(classes) <= len(cells)  # else texts of their own, such as names of the rows
    remedy = _remedy(type(estimator), len(classes)) if labels else ""
    raise ValueError(f"y must hold numbers, got {listing(classes, most=_NAMED)}{remedy}")


def refuse_missing_labels(y: Any) -> None:
    """Raise if labels among objects are missing, or words beside numbers, which have no order."""
    values = np.asarray(y)
    if values.dtype.kind != "O" or values.ndim != 1:
        return
    cells = values.tolist()
    missing = [k for k, cell in enumerate(cells) if _is_missing(cell)]
    if missing:
        raise ValueError(
            f"y has no label at row {missing[0]} ({len(missing)} in all): drop those rows, or make them "
            "a class of their own"
        )
    words = next((cell for cell in cells if isinstance(cell, str)), None)
    other = next((cell for cell in cells if not isinstance(cell, str)), None)
    if words is not None and other is not None:
        raise ValueError(
            f"y has words and numbers for labels, such as {words!r} and {other!r}: make all of them "
            "words"
        )


def _is_missing(cell: Any) -> bool:
    """Tell whether a label is None, NaN, or one of the missing values of pandas."""
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or bool(cell != cell)


def _remedy(estimator: type, count: int) -> str:
    """Return which classifier takes so many classes."""
    found = classifier_of(estimator) if count <= 2 else _ANY_NUMBER
    return f": {estimator.__name__} is for numbers; take {found} for labels" if found else ""

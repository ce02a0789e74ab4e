"""A data frame that cannot be fitted as it is: all that is wrong with it, in one message."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from garrote.summaries import some_of

# Names, and cells, in one sentence.
_NAMED = 3
# A column is one of numbers if at least this part of its values are.
_NUMBER_SHARE = 0.8
# A column of text names the rows if more than this part of its values differ.
_OWN_TEXTS, _FEWEST_ROWS = 0.9, 20
IMPUTE = (
    "Drop those rows, or impute the values before fitting: garrote.impute.pool(estimator, X, y) does so "
    "several times over and pools what it finds."
)


def refuse_text_columns(X: Any, y: Any) -> None:
    """Raise for a data frame with columns that are not numbers; say also what is missing elsewhere."""
    frame = _as_frame(X)
    if frame is None:
        return
    texts = {
        name: frame.get_column(name).to_list()
        for name in frame.columns
        if _may_be_text(frame.get_column(name))
    }
    bad = {name: [k for k, v in enumerate(vs) if is_text(v)] for name, vs in texts.items()}
    refused = [name for name in texts if bad[name] or _is_refused(frame.get_column(name))]
    if not refused:
        return
    slips = [name for name in refused if is_number_column(texts[name], bad[name])]
    others = [name for name in refused if name not in slips]
    said = [_slip(name, texts[name], bad[name]) for name in slips]
    if others:
        shown = some_of(others, lambda name: f"{name!r}{_about(texts[name])}", _NAMED)
        said.append(
            f"columns are not numbers: {shown}. Encode them (for example with "
            "sklearn.preprocessing.OneHotEncoder; inclusion=GroupedInclusion() or "
            "penalty=GroupLasso('factors') then takes the columns of each for one variable) or drop them"
        )
    raise ValueError("; ".join([*said, *_gaps(frame, y)]))


def _as_frame(X: Any) -> Any:
    if not hasattr(X, "columns") or scipy.sparse.issparse(X):
        return None
    import narwhals as nw

    try:
        return nw.from_native(X, eager_only=True)
    except (TypeError, ValueError):  # not a data frame
        return None


def _may_be_text(column: Any) -> bool:
    import narwhals as nw

    return _is_refused(column) or column.dtype == nw.Object


def _is_refused(column: Any) -> bool:
    """Tell whether a type is no number; an array of Python objects may hold such."""
    import narwhals as nw

    kind = column.dtype
    return not (kind.is_numeric() or kind == nw.Boolean or kind == nw.Object)


def is_text(value: Any) -> bool:
    """Tell whether a value is text that is no number."""
    if not isinstance(value, str):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False


def is_number_column(values: Sequence[Any], bad: Sequence[int]) -> bool:
    """Tell whether nearly all values of a column, but for bad ones, are numbers or written as such."""
    there = [v for v in values if isinstance(v, str | int | float) and v == v]
    return bool(there) and len(there) - len(bad) >= _NUMBER_SHARE * len(there)


def _slip(name: str, values: Sequence[Any], bad: Sequence[int]) -> str:
    remedy = f"pandas.to_numeric(X[{name!r}], errors='coerce')"
    if not bad:
        return f"{name!r} holds numbers that are stored as text: convert it, as by {remedy}"
    cells = some_of(bad, lambda k: f"{values[k]!r} in row {k}", _NAMED)
    slip = f"{name!r} is a column of numbers but for {cells}"
    return f"{slip}: correct that, or make it missing by {remedy}"


def _about(values: Sequence[Any]) -> str:
    """Return what is known of a column beside its name."""
    texts = [value for value in values if isinstance(value, str)]
    distinct = len(texts) >= _FEWEST_ROWS and len(set(texts)) > _OWN_TEXTS * len(texts)
    return " (another text in nearly every row)" if distinct else ""


def _gaps(frame: Any, y: Any) -> list[str]:
    """Say which columns have missing values, and whether y has."""
    counts = {name: _missing(frame.get_column(name).to_list()) for name in frame.columns}
    some = sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])
    said = []
    if some:
        shown = some_of(some, lambda name: f"{name!r} ({counts[name]:,})", _NAMED)
        said.append(f"values are missing in {shown}. {IMPUTE}")
    unknown = 0 if y is None else _missing(np.ravel(np.asarray(y, dtype=object)).tolist())
    if unknown:
        said.append(f"y has no value in {unknown:,} rows, which must be dropped")
    return said


def _missing(values: Sequence[Any]) -> int:
    return sum(v is None or (isinstance(v, float) and math.isnan(v)) for v in values)

"""How large numbers may be: within these limits nothing that a method squares or sums overflows.

One place and one form of refusal for all that users hand over: columns, responses, offsets, weights,
moments, z-scores, and the arguments of proximal operators.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats


class Limit(NamedTuple):
    """The largest number of some kind, and why there is none beyond."""

    most: float
    why: str


# Squares of larger numbers, summed over a million rows, are infinite in double precision.
VALUES = Limit(1e151, "their squares overflow")
# Predictions, of a row at a time.
PREDICTIONS = Limit(1e153, VALUES.why)
# Sums of squares, of up to so many rows.
MOMENTS = Limit(1e302, "sums of them overflow")
# So many repeats of a row leave a logarithm of a likelihood no digits by which models differ.
WEIGHTS = Limit(1e16, "they leave no digits for anything else")
# Known parts of linear predictors that a link makes a probability or a rate of: e^1000 is infinite.
LINKS = Limit(1e3, "probabilities and rates there are 0 or infinite")
# Logarithms of rates that are predicted for counts: squares of e^300 are still numbers.
RATES = Limit(300.0, "no counts have them")
# Where columns keep their units, coefficients of one multiply squares of another.
LARGEST_RATIO = 1e75
# Coefficients of columns that vary by less would be as large as the largest number is.
SMALLEST_SPREAD = 1.0 / VALUES.most


def refuse_large(
    values: Any, what: str, names: Any = None, *, limit: Limit = VALUES, of: str = "row"
) -> None:
    """Raise for a number beyond a limit, naming the first row, and column, that has one.

    Parameters
    ----------
    values : array or sparse matrix of finite numbers
    what : str
        What the user calls it, as ``"X"``.
    names : sequence of str, optional
        Names of the columns of a matrix.
    limit : Limit
    of : str
        What the first dimension counts.
    """
    if within(values, limit.most):
        return
    at, size = _first_beyond(values, limit.most)
    place, remedy = (f" at {of} {at[0]}" if at else ""), what
    if len(at) > 1:
        place += f", column {_called(at[1], names)}"
        remedy = "that column" if what == "X" else what
    raise ValueError(
        f"{what} is {size:.3g}{place}: numbers beyond {limit.most:g} are refused, as {limit.why}; "
        f"rescale {remedy}"
    )


def refuse_small_spread(spread: Floats, names: Any = None) -> None:
    """Raise for a column that varies, but by so little that its coefficient would overflow."""
    small = np.flatnonzero((spread > 0) & (spread < SMALLEST_SPREAD))
    if len(small):
        raise ValueError(
            f"X varies by {spread[small[0]]:.3g} in column {_called(small[0], names)}: columns that "
            f"vary by less than {SMALLEST_SPREAD:g} are refused, as their coefficients overflow; "
            "rescale that column"
        )


def refuse_small_response(spread: float) -> None:
    """Raise for a response that varies, but by so little that its variance is not a number."""
    if 0 < spread < SMALLEST_SPREAD:
        raise ValueError(
            f"y varies by {spread:.3g}: responses that vary by less than {SMALLEST_SPREAD:g} are "
            "refused, as their squares vanish; rescale y"
        )


def refuse_unlike_units(spread: Floats, names: Any = None) -> None:
    """Raise for columns that are compared in their own units, and whose units are too far apart."""
    used = np.flatnonzero(spread > 0)
    if not len(used):
        return
    narrow, wide = used[np.argmin(spread[used])], used[np.argmax(spread[used])]
    if spread[wide] > LARGEST_RATIO * spread[narrow]:
        raise ValueError(
            f"X varies by {spread[wide]:.3g} in column {_called(wide, names)} and by "
            f"{spread[narrow]:.3g} in column {_called(narrow, names)}: where columns keep their units, "
            f"ratios beyond {LARGEST_RATIO:g} are refused, as products overflow; rescale that column"
        )


def refuse_rates(log_rate: Floats) -> None:
    """Raise for a predicted rate beyond the limit, naming the first row that has one."""
    beyond = np.flatnonzero(~(log_rate <= RATES.most))
    if len(beyond):
        raise ValueError(
            f"the rate of row {beyond[0]} is predicted to be beyond e^{RATES.most:g} ({len(beyond)} "
            f"such in all): rates like that are refused, as {RATES.why}; that row is far from those of "
            "the fit: give rows in the units of the fit, or leave it out"
        )


def _called(column: int, names: Any) -> str:
    return str(column) if names is None else repr(str(names[column]))


def within(values: Any, most: float = VALUES.most) -> bool:
    """Tell whether no number is beyond a limit; one quick pass where all are far from it."""
    stored = values.data if scipy.sparse.issparse(values) else np.asarray(values)
    if stored.dtype.kind != "f" or not stored.size or float(np.finfo(stored.dtype).max) <= most:
        return True
    flat = stored if stored.flags.c_contiguous else stored.T
    if flat.flags.c_contiguous:
        flat = flat.reshape(-1)
        with np.errstate(over="ignore", invalid="ignore"):
            if float(flat @ flat) <= min(most, VALUES.most) ** 2:
                return True
    return bool(-most <= stored.min() and stored.max() <= most)


def _first_beyond(values: Any, most: float) -> tuple[tuple[int, ...], float]:
    """Return the place of the first number beyond a limit, and that number."""
    if scipy.sparse.issparse(values):
        entries = scipy.sparse.coo_array(values)
        beyond = np.flatnonzero(np.abs(entries.data) > most)
        first = beyond[np.argmin(entries.coords[0][beyond])]
        return tuple(int(places[first]) for places in entries.coords), float(entries.data[first])
    stored: Array = np.asarray(values)
    for i in range(len(stored)) if stored.ndim else ():
        if not within(stored[i], most):
            inside = np.abs(np.atleast_1d(stored[i])) > most
            j = int(np.argmax(inside))
            return ((i, j) if stored.ndim > 1 else (i,)), float(np.atleast_1d(stored[i])[j])
    return (), float(stored.reshape(-1)[0])

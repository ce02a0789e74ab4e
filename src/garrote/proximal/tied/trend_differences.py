"""Differences of some order at unequal places, and signals made of them: piecewise polynomials.

With D_1 the differences of neighbours, D_(m+1) = D_1 diag(m / (x_(i+m) - x_i)) D_m (Tibshirani 2014,
section 2.1): D_(k+1) is 0 on polynomials of degree k, and an entry of it is a change of the k-th
derivative.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from garrote.arrays import Floats

ORDERS = (0, 1, 2)


def check_order(order: Any) -> int:
    """Return the degree of the pieces; refuse what is none of those that there are."""
    whole = isinstance(order, int | np.integer) and not isinstance(order, bool)
    if not whole or order not in ORDERS:
        raise ValueError(
            f"order must be 0 (constant pieces), 1 (lines) or 2 (parabolas), got {order!r}"
        )
    return int(order)


def check_positions(positions: Any, count: int, order: int) -> Floats:
    """Return where a signal was observed, 0, 1, 2, ... by default; refuse what does not rise."""
    if count < order + 2:
        raise ValueError(
            f"a trend of order {order} needs at least {order + 2} places, got {count}: with fewer there "
            "is no place where it could bend"
        )
    if positions is None:
        return np.arange(count, dtype=np.float64)
    try:
        places = np.asarray(positions, dtype=np.float64)
    except (TypeError, ValueError):
        places = np.zeros((0, 0))
    if places.shape != (count,):
        raise ValueError(f"positions must have a number for each of {count} places")
    if not np.isfinite(places).all():
        first = int(np.argmin(np.isfinite(places)))
        raise ValueError(f"positions must be finite, got {places[first]} at place {first}")
    still = np.flatnonzero(np.diff(places) <= 0)
    if len(still):
        at = int(still[0])
        raise ValueError(
            f"positions must rise, got {places[at]:g} and then {places[at + 1]:g} at place {at + 1}: "
            "sort by them, and average what is observed at one place"
        )
    return places


def slopes_of(positions: Floats, order: int) -> list[Floats]:
    """Return m / (x_(i+m) - x_i) for m = 1, ..., order, in units of the mean distance of neighbours."""
    unit = (positions[-1] - positions[0]) / (len(positions) - 1)
    places = (positions - positions[0]) / unit
    return [m / (places[m:] - places[:-m]) for m in range(1, order + 1)]


def difference_matrix(positions: Floats, order: int) -> csr_array:
    """Return D_(order+1), with a row for each place where a trend may bend.

    Distances are in units of the mean distance of neighbours, so that places at equal distances have
    the usual differences.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.proximal.tied.trend_differences import difference_matrix
    >>> difference_matrix(np.arange(4.0), 1).toarray()
    array([[ 1., -2.,  1.,  0.],
           [ 0.,  1., -2.,  1.]])
    """
    count = len(positions)
    matrix: Any = _first_differences(count)
    for scale in slopes_of(positions, order):
        matrix = _first_differences(len(scale)) @ (diags_array(scale) @ matrix)
    return csr_array(matrix)


def _first_differences(count: int) -> Any:
    ones = np.ones(count - 1)
    return diags_array([-ones, ones], offsets=[0, 1], shape=(count - 1, count))


def signal_of(values: Floats, slopes: list[Floats]) -> Floats:
    """Return signals from where they start and their differences (N x K), by running sums.

    The first order + 1 rows are the first entries of the signal and of its lower differences.
    """
    order = len(slopes)
    found = values[order + 1 :]
    for m in range(order, -1, -1):
        found = np.cumsum(np.concatenate([values[m : m + 1], found]), axis=0)
        if m:
            found = found / slopes[m - 1][:, None]
    return np.asarray(found)


def products_of(signals: Floats, slopes: list[Floats]) -> Floats:
    """Return the products of signals (N x K) with all columns that `signal_of` is made of."""
    starts, rest = [], signals
    for m in range(len(slopes) + 1):
        if m:
            rest = rest / slopes[m - 1][:, None]
        sums = np.cumsum(rest[::-1], axis=0)[::-1]
        starts.append(sums[:1])
        rest = sums[1:]
    return np.concatenate([*starts, rest])


def forces_of(gradient: Floats, slopes: list[Floats]) -> Floats:
    """Return the u of D'u = gradient (N x K), for one that sums to 0 with every polynomial.

    By running sums from the left; what does not sum to 0 is left over at the right end.
    """
    force = gradient
    for m in range(len(slopes) + 1):
        if m:
            force = force / slopes[m - 1][:, None]
        force = -np.cumsum(force, axis=0)[:-1]
    return np.asarray(force)

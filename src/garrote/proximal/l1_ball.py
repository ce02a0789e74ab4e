"""Projections onto the l1 ball and the simplex: soft thresholding at a level that a selection finds.

The level t solves sum_j weights_j max(size_j - t weights_j, 0) = radius. Coefficients are kept or
dropped around a random pivot, as in quickselect, so that the expected time is linear (Duchi et al.
2008); a first pass drops most of them, all that lie below the level of the whole vector (Michelot
1986; Condat 2016).
"""

from typing import Any

import numpy as np

from garrote._jit import kernel
from garrote.proximal.inputs import as_floats, as_strength, as_vector, as_weights, like, namespace
from garrote.proximal.thresholds import soft_threshold


def project_l1_ball(x: Any, radius: float = 1.0, weights: Any = None) -> Any:
    """Return the nearest point whose weighted l1 norm is at most ``radius``.

    ::

        argmin_z ||z - x|| such that sum_j weights_j |z_j| <= radius

    It is soft(x, t weights), where t is 0 inside the ball and otherwise brings the norm to the radius.
    In expected time O(d).

    Parameters
    ----------
    x : array
        A vector: NumPy, PyTorch or another of the array API (those by Michelot's iteration).
    radius : float
    weights : array, optional
        One number >= 0 for each coefficient.

    Returns
    -------
    array
        Of the shape and type of ``x``.

    References
    ----------
    Murphy (2012), Eqs. 13.75-13.76; Duchi, Shalev-Shwartz, Singer & Chandra (2008), ICML; Condat (2016),
    Math. Program. 158.

    Examples
    --------
    >>> from garrote.proximal import project_l1_ball
    >>> project_l1_ball([3.0, -2.0, 0.5], 3.0).tolist()
    [2.0, -1.0, 0.0]
    """
    radius = as_strength(radius, "radius")
    if namespace(x) is not np:
        return _by_iteration(x, radius, weights)
    vector = as_vector(x)
    size = np.abs(vector).astype(np.float64)
    each = as_weights(weights, vector.shape, "coefficient")
    return soft_threshold(vector, level(size, each, radius), weights)


def project_simplex(x: Any, total: float = 1.0) -> Any:
    """Return the nearest point with coordinates >= 0 that sum to ``total``.

    ::

        max(x - t, 0)

    where t brings the sum to the total. In expected time O(d).

    Parameters
    ----------
    x : array
        A NumPy vector of one number or more.
    total : float

    Returns
    -------
    array
        Of the shape and type of ``x``.

    References
    ----------
    Duchi, Shalev-Shwartz, Singer & Chandra (2008), ICML; Condat (2016), Math. Program. 158.

    Examples
    --------
    >>> from garrote.proximal import project_simplex
    >>> project_simplex([0.5, 1.5, -2.0], 1.0).tolist()
    [0.0, 1.0, 0.0]
    """
    total, vector = as_strength(total, "total"), as_vector(x)
    if not len(vector):
        raise ValueError("x must have one number or more, got none: no numbers have a sum to share")
    # The largest alone brings the sum when it is lowered to the total: what is 0 then stays 0, and the
    # level of the l1 ball does the rest.
    values = vector.astype(np.float64)
    size = np.maximum(values - (values.max() - total), 0.0)
    found = np.maximum(size - level(size, np.ones(len(size)), total), 0.0)
    return found.astype(vector.dtype)


def _by_iteration(x: Any, radius: float, weights: Any) -> Any:
    """Project an array of another library: drop what lies below the level, and find it anew.

    Michelot (1986), J. Optim. Theory Appl. 50: the level only rises, and a handful of passes do.
    """
    x = as_floats(x)
    xp = namespace(x)
    size = xp.abs(x)
    each = xp.ones_like(x) if weights is None else like(x, weights)
    if float(xp.sum(size * each)) <= radius:
        return x * 1.0
    kept, threshold = each > 0, 0.0
    while True:
        inside = xp.where(kept, each, xp.zeros_like(x))
        threshold = max(
            threshold, float((xp.sum(inside * size) - radius) / xp.sum(inside * inside))
        )
        remaining = kept & (size > threshold * each)
        if not bool(xp.any(remaining)) or bool(xp.all(remaining == kept)):
            return soft_threshold(x, threshold, weights)
        kept = remaining


@kernel
def level(size, weights, radius):
    """Return t >= 0 such that the weighted sum of max(size - t weights, 0) is at most the radius."""
    total = 0.0
    squares = 0.0
    for j in range(len(size)):
        total += weights[j] * size[j]
        squares += weights[j] * weights[j]
    if total <= radius:
        return 0.0
    bound = (total - radius) / squares
    left = np.empty(len(size), dtype=np.int64)
    n_left = 0
    for j in range(len(size)):
        # A weight of 0 takes no part: its coefficient is left alone at any level.
        if weights[j] > 0.0 and size[j] > bound * weights[j]:
            left[n_left] = j
            n_left += 1
    return _level_among(size, weights, radius, left, n_left, bound)


@kernel
def _level_among(size, weights, radius, left, n_left, bound):
    """Return the level, which lies among the ratios size / weight of the candidates ``left``.

    ``taken`` and ``squares`` are sums over those that are known to stay: above the level.
    """
    taken = 0.0
    squares = 0.0
    dropped = bound
    begin, end = 0, n_left
    state = np.uint64(88172645463325252)
    while begin < end:
        state = _next_random(state)
        pivot_at = left[begin + np.int64(state % np.uint64(end - begin))]
        pivot, pivot_weight = size[pivot_at], weights[pivot_at]
        above = begin
        taken_above, squares_above = 0.0, 0.0
        for k in range(begin, end):
            j = left[k]
            # The ratios are compared without division; the pivot goes above itself.
            if size[j] * pivot_weight >= pivot * weights[j]:
                taken_above += weights[j] * size[j]
                squares_above += weights[j] * weights[j]
                left[k] = left[above]
                left[above] = j
                above += 1
        # At the pivot's ratio, would the sum still be below the radius? Then all of them stay.
        weighted = (taken + taken_above) * pivot_weight - pivot * (squares + squares_above)
        if weighted < radius * pivot_weight:
            taken += taken_above
            squares += squares_above
            begin = above
        else:
            end = _without(size, weights, left, begin, above, pivot, pivot_weight)
            dropped = pivot / pivot_weight
    # A radius of 0, or one that rounding makes 0, drops all: the last pivot was the largest ratio.
    return dropped if squares == 0.0 else max((taken - radius) / squares, 0.0)


@kernel
def _without(size, weights, left, begin, above, pivot, pivot_weight):
    """Drop the candidates at the pivot's own ratio, which the level reaches; return the new end."""
    end = begin
    for k in range(begin, above):
        j = left[k]
        if size[j] * pivot_weight > pivot * weights[j]:
            left[end] = j
            end += 1
    return end


@kernel
def _next_random(state):
    """Return the next number of a xorshift generator (Marsaglia 2003): pivots need no seed."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    return state ^ (state << np.uint64(17))

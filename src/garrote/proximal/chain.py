"""Total variation along a chain, exactly and in linear time: the taut string.

The sums of the first i numbers, widened by the strength, make a tube; the shortest string through
it has the solution for slopes. Two ways to pull it are combined. ``_scan`` keeps only the lowest
and the highest slope that the string can still have and goes back to the last knot when neither
fits (Condat 2013): quick on noise, but the returns may cost quadratic time. When they do,
``_taut_string`` takes over from the knot reached: it keeps the convex minorant of the tube's roof
and the concave majorant of its floor as stacks of segments, so that every number is added and
removed once (Davies & Kovac 2001).
"""

from typing import Any

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array
from garrote.proximal.inputs import as_strength, as_vector, as_weights

# Within this many numbers of a knot the slopes change often: they are updated without a branch.
_NEAR = 1024
# How often a number may be visited again, on average, before stacks are cheaper.
_RETURNS = 2.5
_GRACE = 20_000


def total_variation(x: Any, strength: float, weights: Any = None) -> Array:
    """Make a sequence piecewise constant: the fused lasso's penalty on neighbours.

    ::

        prox(x) = argmin_z ||z - x||^2 / 2 + strength sum_i weights_i |z_{i+1} - z_i|

    Exact to rounding; the time is linear in the length for every input.
    :func:`total_variation_gap` certifies it.

    Parameters
    ----------
    x : array
        A NumPy vector.
    strength : float
    weights : array, optional
        One number >= 0 for each pair of neighbours: one less than ``x`` has.

    Returns
    -------
    array
        Of the shape and type of ``x``.

    References
    ----------
    Murphy (2012), Eq. 13.115 with X = I; Davies & Kovac (2001), Ann. Statist. 29; Condat (2013), IEEE
    Signal Process. Lett. 20; Barbero & Sra (2018), J. Mach. Learn. Res. 19.

    Examples
    --------
    >>> from garrote.proximal import total_variation
    >>> total_variation([1.0, 1.5, 0.5, 6.0, 5.0], 1.0).round(3).tolist()
    [1.333, 1.333, 1.333, 5.0, 5.0]
    """
    vector, strength = as_vector(x), as_strength(strength)
    n = len(vector)
    if weights is not None:
        weights = as_weights(weights, (max(n - 1, 0),), "pair of neighbours")
    if n < 2 or strength == 0.0:
        return vector.copy()
    values = vector.astype(np.float64, copy=False)
    # No string touches a tube wider than this; wider ones would only cost digits.
    widest = 0.5 * n * float(values.max() - values.min())
    out = np.empty(n)
    start, side = 0, 0
    if weights is None:
        strength = min(strength, widest)
        start, side = _scan(values, strength, out)
    if start < n:
        # Half the tube's height before each number and at the end: it is closed at both ends.
        tube = np.zeros(n + 1)
        tube[1:n] = strength if weights is None else np.minimum(strength * weights, widest)
        _taut_string(values, tube, start, side, out)
    return out.astype(vector.dtype, copy=False)


@kernel(inline=True)
def _fill(out, begin, end, value):
    for i in range(begin, end):
        out[i] = value


# In the order written, only one addition waits for the one before.
@kernel(fastmath=False, inline=True)
def _coast(values, strength, at, last, low, high, low_room, high_room):
    """Pass the numbers after which neither line touches a wall; return the new place and rooms."""
    while at < last:
        number = values[at + 1]
        a, b = low_room + (number - low), high_room + (number - high)
        if not ((abs(a) < strength) & (abs(b) < strength)):
            break
        low_room, high_room = a, b
        at += 1
    return at, low_room, high_room


@kernel
def _scan(values, strength, out):
    """Settle numbers from the left while that is quick; return where and on which side it stopped.

    The string has its last knot before number ``start``. ``low`` and ``high`` are the extreme
    slopes that it can have from there, ``low_room`` and ``high_room`` how far lines of these slopes
    lie from the tube's centre at number ``at``, ``low_end`` and ``high_end`` the numbers after
    which they touch its walls. The side returned is -1 for a knot at the floor, 1 at the roof; the
    number is len(values) when all is done.
    """
    last = len(values) - 1
    start, at, low_end, high_end = 0, 0, 0, 0
    low, high = values[0] - strength, values[0] + strength
    low_room, high_room = strength, -strength
    returns = 0
    while True:
        fits = True
        a, b = low_room, high_room
        while at < last:
            if at > start + _NEAR:
                at, low_room, high_room = _coast(
                    values, strength, at, last, low, high, low_room, high_room
                )
                if at == last:
                    break
            number = values[at + 1]
            a, b = low_room + (number - low), high_room + (number - high)
            fits = (a >= -strength) & (b <= strength)
            if not fits:
                break
            at += 1
            share = 1.0 / (at - start + 1)
            low += max(a - strength, 0.0) * share
            high += min(b + strength, 0.0) * share
            low_end = at if a >= strength else low_end
            high_end = at if b <= -strength else high_end
            low_room, high_room = min(a, strength), max(b, -strength)
        if fits and low_room >= 0.0 and high_room <= 0.0:
            _fill(out, start, last + 1, low + low_room / (at - start + 1))
            return last + 1, 0
        falls = low_room < 0.0 if fits else a < -strength
        knot = low_end + 1 if falls else high_end + 1
        _fill(out, start, knot, low if falls else high)
        returns += at - knot
        start, at, low_end, high_end = knot, knot, knot, knot
        low = values[knot] if falls else values[knot] - 2.0 * strength
        high = low + 2.0 * strength
        low_room, high_room = strength, -strength
        if returns > _GRACE + _RETURNS * start:
            return start, -1 if falls else 1


@kernel
def _taut_string(values, tube, start, side, out):
    """Settle the numbers from ``start`` on, before which the string has a knot at a side of the tube.

    ``roof`` and ``floor`` are stacks of segments, rise and length: of the convex minorant of the
    tube's roof and the concave majorant of its floor, seen from the knot. While the roof's first
    segment is the steeper, a straight string fits between them. When a new number ends that, one of
    them has become a single segment; the string follows the other up to where it fits again.
    """
    n = len(values)
    roof_rise, roof_length = np.empty(n - start), np.empty(n - start)
    floor_rise, floor_length = np.empty(n - start), np.empty(n - start)
    roof, roof_top, floor, floor_top = 0, -1, 0, -1
    done = start
    for i in range(start, n):
        rise, fall = values[i] + tube[i + 1], values[i] - tube[i + 1]
        if i == start:
            rise, fall = rise - side * tube[i], fall - side * tube[i]
        else:
            rise, fall = rise - tube[i], fall + tube[i]
        length = 1.0
        while roof_top >= roof and roof_rise[roof_top] * length >= rise * roof_length[roof_top]:
            rise += roof_rise[roof_top]
            length += roof_length[roof_top]
            roof_top -= 1
        roof_top += 1
        roof_rise[roof_top], roof_length[roof_top] = rise, length
        length = 1.0
        while (
            floor_top >= floor and floor_rise[floor_top] * length <= fall * floor_length[floor_top]
        ):
            fall += floor_rise[floor_top]
            length += floor_length[floor_top]
            floor_top -= 1
        floor_top += 1
        floor_rise[floor_top], floor_length[floor_top] = fall, length
        if roof_top == roof:
            while (
                floor_top > floor
                and roof_rise[roof] * floor_length[floor] < floor_rise[floor] * roof_length[roof]
            ):
                knot = done + int(floor_length[floor])
                _fill(out, done, knot, floor_rise[floor] / floor_length[floor])
                roof_rise[roof] -= floor_rise[floor]
                roof_length[roof] -= floor_length[floor]
                floor += 1
                done = knot
        elif floor_top == floor:
            while (
                roof_top > roof
                and floor_rise[floor] * roof_length[roof] > roof_rise[roof] * floor_length[floor]
            ):
                knot = done + int(roof_length[roof])
                _fill(out, done, knot, roof_rise[roof] / roof_length[roof])
                floor_rise[floor] -= roof_rise[roof]
                floor_length[floor] -= roof_length[roof]
                roof += 1
                done = knot
    _fill(out, done, n, roof_rise[roof] / roof_length[roof])

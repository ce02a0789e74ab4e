"""The sorted l1 norm's operator: the larger a coefficient is among all, the more it is shrunk."""

from typing import Any

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.proximal.inputs import as_strength, as_vector


def sorted_l1(x: Any, strength: float, sequence: Any) -> Array:
    """Shrink coefficients by their ranks, and make those equal that would change places: SLOPE.

    ::

        prox(x) = argmin_z ||z - x||^2 / 2 + strength sum_k sequence_k |z|_(k)

    with |z|_(1) >= |z|_(2) >= ... the sorted sizes. Sorted sizes less the sequence are made
    non-increasing by pooling neighbours, and cut at 0: exact, in the time that sorting takes.

    Parameters
    ----------
    x : array
        A NumPy vector.
    strength : float
    sequence : array
        As many numbers >= 0 as coefficients, none larger than the one before.

    Returns
    -------
    array
        Of the shape and type of ``x``.

    References
    ----------
    Bogdan, van den Berg, Sabatti, Su & Candes (2015), SLOPE - adaptive variable selection via convex
    optimization. Annals of Applied Statistics 9, 1103-1140, Algorithm 4.

    Examples
    --------
    >>> from garrote.proximal import sorted_l1
    >>> sorted_l1([3.0, -2.8, 0.5, 1.5], 1.0, [2.0, 1.0, 0.5, 0.2]).round(3).tolist()
    [1.4, -1.4, 0.3, 1.0]
    """
    vector, strength = as_vector(x), as_strength(strength)
    charged = strength * as_sequence(sequence, len(vector))
    return sorted_point(vector.astype(np.float64), charged).astype(vector.dtype)


def as_sequence(sequence: Any, count: int) -> Floats:
    """Return a sequence as an array; refuse what rises, is negative or not a number for each."""
    try:
        values = np.asarray(sequence, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.zeros((0, 0))
    if values.shape != (count,):
        raise ValueError(
            f"sequence must have a number for each of {count} coefficients, got {_shown(sequence)}"
        )
    check_sequence(values)
    return values


def check_sequence(values: Floats) -> None:
    """Refuse a sequence with an entry that cannot be, by its position."""
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(wrong):
        raise ValueError(
            f"sequence must be finite numbers >= 0, got {values[wrong[0]]} at position {wrong[0]}"
        )
    rising = np.flatnonzero(np.diff(values) > 0)
    if len(rising):
        at = int(rising[0])
        raise ValueError(
            f"sequence must not rise, got {values[at]:g} and then {values[at + 1]:g} at position "
            f"{at + 1}: the largest coefficient is charged the most; sort it in descending order"
        )


def sorted_point(z: Floats, sequence: Floats) -> Floats:
    """Return the proximal point of a sequence that is known to be one."""
    size = np.abs(z)
    order = np.argsort(-size, kind="stable")
    pooled = pool(size[order] - sequence, np.array([0, len(z)]))
    point = np.empty(len(z))
    point[order] = np.maximum(pooled, 0.0)
    return np.copysign(point, z)


@kernel
def pool(values, starts):
    """Return the nearest non-increasing numbers, for every stretch between two starts by itself.

    Means of neighbours that rise are pooled: a stack of blocks, the last of which swallows those before
    it as long as it is higher.
    """
    pooled = np.empty(values.shape[0])
    first = np.empty(values.shape[0] + 1, np.int64)
    total = np.empty(values.shape[0])
    for part in range(starts.shape[0] - 1):
        top = -1
        for k in range(starts[part], starts[part + 1]):
            top += 1
            first[top], total[top] = k, values[k]
            end = k + 1
            while top > 0 and total[top - 1] * (end - first[top]) <= total[top] * (
                first[top] - first[top - 1]
            ):
                total[top - 1] += total[top]
                top -= 1
        end = starts[part + 1]
        for block in range(top, -1, -1):
            mean = total[block] / (end - first[block])
            for k in range(first[block], end):
                pooled[k] = mean
            end = first[block]
    return pooled


def _shown(sequence: Any) -> str:
    text = " ".join(repr(sequence).split())
    return text if len(text) <= 100 else f"{text[:90]}..."

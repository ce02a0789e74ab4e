"""How much of a gradient a penalty holds at 0: what makes a slope one of the dual."""

from collections.abc import Callable

from garrote.arrays import Floats

# A share is known up to this part of itself.
_PRECISION = 1e-13


def held_share(
    gradient: Floats,
    charge: Callable[[Floats], float],
    proximal: Callable[[Floats], Floats],
    most: float,
) -> float:
    """Return the largest share of a gradient, up to ``most``, that is held at 0.

    That is the least of charge(w) / gradient'w over all w, by Dinkelbach's method: the proximal point of
    a share that is too large is a better w.
    """
    length = float(gradient @ gradient)
    if length == 0.0:
        return most
    share = min(most, charge(gradient) / length)
    for _ in range(100):
        point = proximal(share * gradient)
        size, cost = float(point @ point), charge(point)
        # At the proximal point share * gradient'w = charge(w) + ||w||^2. One without any charge is what
        # the penalty leaves free, and rounding.
        if size <= _PRECISION * cost or cost == 0.0:
            break
        share *= cost / (cost + size)
    return share

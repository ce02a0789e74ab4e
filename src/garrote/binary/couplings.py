"""What couples the switches of a programme, dense or sparse, as kernels read it: a row at a time."""

from typing import Any, NamedTuple

from garrote._jit import generic
from garrote.arrays import Array, Floats


class DenseCouplings(NamedTuple):
    """What each pair of switches adds where both are on: symmetric, 0 on the diagonal."""

    values: Floats


class SparseCouplings(NamedTuple):
    """The same by rows: row i is coupled to ``other[first[i] : first[i + 1]]``, by ``values``."""

    first: Array
    other: Array
    values: Floats


@generic
def add_row(couplings: Any, i: int, step: float, gain: Floats) -> int:
    """Add ``step`` times row ``i`` to the gains; return how many numbers that took."""
    raise TypeError(f"{type(couplings).__name__} has no rows")


@generic
def add_directions(couplings: Any, i: int, directions: Floats, total: Floats) -> int:
    """Add to ``total`` the rows of ``directions``, each times its coupling to ``i``; return the work."""
    raise TypeError(f"{type(couplings).__name__} has no rows")


@add_row.register
def _(couplings: DenseCouplings, i, step, gain):
    for j in range(len(gain)):
        gain[j] += step * couplings.values[i, j]
    return len(gain)


@add_row.register
def _(couplings: SparseCouplings, i, step, gain):
    for place in range(couplings.first[i], couplings.first[i + 1]):
        gain[couplings.other[place]] += step * couplings.values[place]
    return couplings.first[i + 1] - couplings.first[i]


@add_directions.register
def _(couplings: DenseCouplings, i, directions, total):
    n, size = len(directions), len(total)
    for j in range(n):
        coupling = couplings.values[i, j]
        if coupling != 0.0:
            for k in range(size):
                total[k] += coupling * directions[j, k]
    return n * size


@add_directions.register
def _(couplings: SparseCouplings, i, directions, total):
    size = len(total)
    for place in range(couplings.first[i], couplings.first[i + 1]):
        coupling, j = couplings.values[place], couplings.other[place]
        for k in range(size):
            total[k] += coupling * directions[j, k]
    return (couplings.first[i + 1] - couplings.first[i]) * size

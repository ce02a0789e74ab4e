"""All 2^n settings of a few switches, each one flip away from the one before (Gray's code)."""

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Floats
from garrote.binary.couplings import add_row
from garrote.binary.programme import BinaryProgramme
from garrote.elementary import copy_into

# More switches than this take more than some seconds.
MOST_SWITCHES = 25
# After so many flips, a power of 2, the value is computed anew: rounding does not grow.
_FLIPS = 1 << 10
_PER_CALL = 1 << 20


def best_of_all(programme: BinaryProgramme) -> tuple[Floats, float]:
    """Return the best of all settings, and a bound that allows for the rounding of sums."""
    n = programme.n_switches
    best, values = np.zeros(n), np.array([0.0])
    for first in range(0, 1 << n, _PER_CALL):
        last = min(first + _PER_CALL, 1 << n)
        _visit(programme.couplings, programme.single, first, last, best, values)
    rounding = (_FLIPS + n) * np.finfo(float).eps * programme.scale
    return best, float(values[0] + rounding)


@kernel
def _visit(couplings, single, first, last, best, values):
    """Visit settings number ``first`` to ``last`` of the code; keep the best of them."""
    n = len(single)
    x, gain = np.zeros(n), np.empty(n)
    value = 0.0
    for number in range(first, last):
        if number % _FLIPS == 0 or number == first:
            code = number ^ (number >> 1)
            copy_into(gain, single)
            value = 0.0
            for i in range(n):
                x[i] = float((code >> i) & 1)
            for i in range(n):
                if x[i] > 0.0:
                    value += gain[i]
                    add_row(couplings, i, 1.0, gain)
        else:
            i = 0
            while (number >> i) & 1 == 0:
                i += 1
            sign = 1.0 - 2.0 * x[i]
            value += sign * gain[i]
            x[i] += sign
            add_row(couplings, i, sign, gain)
        if value > values[0]:
            values[0] = value
            copy_into(best, x)

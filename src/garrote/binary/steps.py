"""Kernels that change one switch, or one probability, at a time and keep what each would add.

``gain[i]`` is what switch i adds where it is on: b_i + A_ii + 2 sum_{j != i} A_ij x_j, the slope of the
mean in theta_i. A flip changes the gains by one row of the couplings. Every kernel returns when its
work is done or used up, and goes on from there when it is called again.
"""

import numpy as np

from garrote._jit import kernel
from garrote.binary.couplings import add_row
from garrote.elementary import copy_into


@kernel
def climb(couplings, order, at, x, gain, least, work):
    """Flip switches, in turn, while a flip adds more than ``least``.

    ``at`` is the place in ``order`` and how many switches in a row have been left as they are: all of
    them once it returns True.
    """
    n = len(order)
    while at[1] < n and work > 0:
        i = order[at[0]]
        at[0] = at[0] + 1 if at[0] + 1 < n else 0
        at[1] += 1
        work -= 1
        sign = 1.0 - 2.0 * x[i]
        if sign * gain[i] > least:
            x[i] += sign
            work -= add_row(couplings, i, sign, gain)
            at[1] = 0
    return at[1] >= n


@kernel
def cool(couplings, order, begin, betas, theta, gain, work):
    """Minimise the free energy in one probability after the other, a sweep for each beta.

    Given all others, theta_i = 1 / (1 + exp(-beta gain_i)). ``begin`` is the number of updates made
    already; returns it again, with those made here.
    """
    n = len(order)
    while begin < n * len(betas) and work > 0:
        i, beta = order[begin % n], betas[begin // n]
        new = 1.0 / (1.0 + np.exp(-beta * gain[i]))
        step = new - theta[i]
        work -= 20
        if step != 0.0:
            theta[i] = new
            work -= add_row(couplings, i, step, gain)
        begin += 1
    return begin


@kernel
def search_with_tabus(couplings, tenures, begin, x, gain, best, values, until, work):
    """Make the best flip that is allowed, again and again, uphill or down; remember the best switches.

    A switch that was flipped stays as it is for as many steps as ``tenures`` says, unless its flip
    leads to a new best. ``values`` holds the present value, the best one, and the step that found it;
    ``until[i]`` is the step from which switch i may be flipped. Returns the steps made.
    """
    n = len(x)
    least = 1e-12 * max(abs(values[1]), 1e-300)
    step = begin
    while step < len(tenures) and work > 0:
        chosen, most, sign = -1, -np.inf, 0.0
        for i in range(n):
            turn = 1.0 - 2.0 * x[i]
            added = turn * gain[i]
            if added > most and (until[i] <= step or values[0] + added > values[1] + least):
                chosen, most, sign = i, added, turn
        work -= 2 * n
        if chosen >= 0:
            x[chosen] += sign
            values[0] += most
            until[chosen] = step + 1 + tenures[step]
            work -= add_row(couplings, chosen, sign, gain)
            if values[0] > values[1] + least:
                values[1], values[2] = values[0], step
                copy_into(best, x)
        step += 1
    return step

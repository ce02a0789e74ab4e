"""One group of coefficients at a time: sweeps over groups, each by proximal steps.

Given all others, a group's coefficients solve a small problem of their own, by accelerated proximal
steps on its block of the cross products (Beck & Teboulle 2009, with O'Donoghue & Candes' restarts).
"""

import numpy as np

from garrote._jit import kernel
from garrote.rules import add_block, block_dot, proximal_group, violation_of_group

# Proximal steps on one group's problem, at most; and the share of its violation that they leave.
_STEPS, _LEFT = 100, 0.05


@kernel
def sweep_groups(design, rule, groups, blocks, places, coef, residual, tolerance):
    """Minimise over each of some groups once, in place; return the largest violation met before.

    ``blocks[places[g]:]`` has the cross products of group g, row by row. Groups that violate their
    optimality by less than ``tolerance`` stay as they are.
    """
    widest = 0
    for g in groups:
        widest = max(widest, rule.starts[g + 1] - rule.starts[g])
    slope, new = np.zeros(widest), np.zeros(widest)
    met = 0.0
    for g in groups:
        first, size = rule.starts[g], rule.starts[g + 1] - rule.starts[g]
        block = blocks[places[g] : places[g] + size * size].reshape((size, size))
        steep = _steepness(block)
        if steep == 0.0:
            continue
        members = rule.order[first : first + size]
        block_dot(design, members, residual, slope)
        for a in range(size):
            new[a] = coef[members[a]]
        off = violation_of_group(rule, g, slope, new, np.diag(block))
        met = max(met, off)
        if off <= tolerance:
            continue
        _solve_group(rule, g, block, slope, new, steep, max(_LEFT * off, 0.1 * tolerance))
        for a in range(size):
            slope[a] = coef[members[a]] - new[a]
            coef[members[a]] = new[a]
        add_block(design, members, slope, residual)
    return met


@kernel
def _steepness(block):
    """Return a bound of the largest eigenvalue: the largest row of sizes."""
    bound = 0.0
    for a in range(block.shape[0]):
        row = 0.0
        for b in range(block.shape[0]):
            row += abs(block[a, b])
        bound = max(bound, row)
    return bound


@kernel
def _solve_group(rule, g, block, slope, new, steep, tolerance):
    """Minimise a group's quadratic plus its penalty, from ``new`` where the gradient is ``slope``."""
    size = block.shape[0]
    fixed, ahead, z = np.zeros(size), np.zeros(size), np.zeros(size)
    for a in range(size):
        fixed[a] = slope[a]
        ahead[a] = new[a]
        for b in range(size):
            fixed[a] += block[a, b] * new[b]
    momentum = 1.0
    for _ in range(_STEPS):
        for a in range(size):
            total = fixed[a]
            for b in range(size):
                total -= block[a, b] * ahead[b]
            z[a] = ahead[a] + total / steep
        proximal_group(rule, g, z, 1.0 / steep)
        largest, turned = 0.0, 0.0
        for a in range(size):
            largest = max(largest, abs(z[a] - ahead[a]) * steep)
            turned += (ahead[a] - z[a]) * (z[a] - new[a])
        if turned > 0.0:
            momentum = 1.0
        after = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
        for a in range(size):
            ahead[a] = z[a] + (momentum - 1.0) / after * (z[a] - new[a])
            new[a] = z[a]
        momentum = after
        if largest <= tolerance:
            return

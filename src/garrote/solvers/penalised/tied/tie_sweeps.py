"""Coordinate descent on ties: one size after the other becomes the best one, past others if that pays.

Given all others a tie's size minimises a parabola plus what its ranks cost, which is convex and linear
between the sizes of the others: it ends between two of them, at one (and joins that tie), or at 0
(Larsson, Klopfenstein, Massias & Wallin 2023). What no sweep does is to split a tie.
"""

import numpy as np

from garrote._jit import kernel


@kernel
def sweep_ties(gram, gradient, coef, members, starts, signs, charged, sweeps, tolerance):
    """Sweep over ties until none moves by more than ``tolerance`` in units of gradients, in place.

    Tie t are the coefficients ``members[starts[t]:starts[t + 1]]``, by falling size, each with its sign;
    ``charged[k]`` is what the first k ranks cost together. Returns the largest move of the last sweep.
    """
    count = starts.shape[0] - 1
    size, begin, width = np.zeros(count), starts[:-1].copy(), np.diff(starts)
    for t in range(count):
        size[t] = abs(coef[members[starts[t]]])
    joined, after = np.arange(count), np.full(members.shape[0], -1)
    last = starts[1:] - 1  # the place of a tie's last member, after which others' members follow
    ranked = np.arange(count)
    moved = 0.0
    for _ in range(sweeps):
        moved = 0.0
        for t in range(count):
            if joined[t] != t or width[t] == 0:
                continue
            slope, curvature = _look(gram, gradient, members, signs, begin[t], after, last[t])
            if curvature <= 0.0:
                continue
            aim = size[t] + slope / curvature
            place, other, new = _best_size(aim, curvature, t, ranked, size, width, charged)
            step = new - size[t]
            moved = max(moved, abs(step) * curvature)
            if step != 0.0:
                _move(gram, gradient, coef, members, signs, begin[t], after, last[t], step, new)
            size[t] = new
            _rank_anew(ranked, t, place)
            if other >= 0:
                after[last[other]] = begin[t]
                last[other] = last[t]
                width[other] += width[t]
                joined[t], width[t], size[t] = other, 0, 0.0
        if moved <= tolerance:
            break
    return moved


@kernel
def _next(place, after, last):
    """Return the place of the next member of a tie; -1 after the last."""
    if place == last:
        return -1
    return after[place] if after[place] >= 0 else place + 1


@kernel
def _look(gram, gradient, members, signs, first, after, last):
    """Return the gradient of a tie's size, and its curvature."""
    slope, curvature, a = 0.0, 0.0, first
    while a >= 0:
        slope += signs[a] * gradient[members[a]]
        b = first
        while b >= 0:
            curvature += signs[a] * signs[b] * gram[members[a], members[b]]
            b = _next(b, after, last)
        a = _next(a, after, last)
    return slope, curvature


@kernel
def _best_size(aim, curvature, t, ranked, size, width, charged):
    """Return the place among others, the tie to join (or -1) and the size of tie ``t``."""
    before, place, wide = 0, 0, width[t]
    for k in range(ranked.shape[0]):
        other = ranked[k]
        if other == t:
            continue
        if width[other] == 0 or size[other] <= 0.0:
            place = k if place == 0 and before == 0 else place
            continue
        pull = (charged[before + wide] - charged[before]) / curvature
        if aim - pull > size[other]:
            return k, -1, aim - pull
        past = before + width[other]
        if aim - (charged[past + wide] - charged[past]) / curvature >= size[other]:
            return k, other, size[other]
        before, place = past, k + 1
    pull = (charged[before + wide] - charged[before]) / curvature
    return place, -1, max(aim - pull, 0.0)


@kernel
def _rank_anew(ranked, t, place):
    """Move tie ``t`` in the order of sizes to before the one at ``place``."""
    now = 0
    while ranked[now] != t:
        now += 1
    if place > now:
        for k in range(now, place - 1):
            ranked[k] = ranked[k + 1]
        ranked[place - 1] = t
    else:
        for k in range(now, place, -1):
            ranked[k] = ranked[k - 1]
        ranked[place] = t


@kernel
def _move(gram, gradient, coef, members, signs, first, after, last, step, new):
    """Give a tie its new size."""
    a = first
    while a >= 0:
        j = members[a]
        coef[j] = signs[a] * new
        change = signs[a] * step
        for i in range(gradient.shape[0]):
            gradient[i] -= change * gram[j, i]
        a = _next(a, after, last)

"""The largest sum of all s, by a barrier: copies as far from their originals as can be.

::

    max sum_g s_g   where   0 <= s <= 1   and   2 R - diag(s) is positive semidefinite

Newton steps climb sum s + mu (log det(2 R - diag s) + sum log s + sum log(1 - s)) while mu falls. Any
positive semidefinite Z bounds the sum from above,

::

    sum_g s_g <= 2 <R, Z> + sum_g max(0, 1 - tr Z_gg),

and the Newton step gives one, as in dual scaling (Benson, Ye & Zhang 2000). A step costs a factor and an
inverse, about 1.5 D^3 operations.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotrf, dpotri

from garrote.arrays import Array, Floats

# The bound and the sum agree to this share of the number of groups.
TOL = 1e-6
# How much mu falls from one centre to the next, and the most steps.
_FALL, _MOST_STEPS = 0.15, 300
# A centre is near enough if the Newton decrement is below this; beyond, steps are searched for.
_NEAR = 0.7
_TO_THE_BORDER = 0.98


class _Place(NamedTuple):
    """A point inside: s, the inverse of 2 R - diag(s), its diagonal over groups, and log det."""

    share: Floats
    inverse: Floats
    trace: Floats
    log_det: float


def most_separated(
    correlation: Floats, groups: Array, tol: float = TOL, max_steps: int = _MOST_STEPS
) -> tuple[Floats, float]:
    """Return s of each group, and how much larger the mean of all s could be at most."""
    count, size = int(groups.max()) + 1, len(correlation)
    inside = min(0.5, float(np.linalg.eigvalsh(correlation)[0]))
    place = _place_at(correlation, groups, np.full(count, inside))
    assert place is not None
    mu, bound = 1.0, np.inf
    for _ in range(max_steps):
        share, low, high = place.share, 1.0 / place.share, 1.0 / (1.0 - place.share)
        squares = _over_groups(place.inverse**2, groups, count)
        slope = (1.0 - mu * place.trace) / mu + low - high
        factor = cho_factor(squares + np.diag(low**2 + high**2), check_finite=False)
        step = cho_solve(factor, slope, check_finite=False)
        decrement = float(np.sqrt(max(slope @ step, 0.0)))
        if decrement < 1.0:  # Z is positive semidefinite then
            tie = mu * (place.trace + squares @ step)
            product = size + share @ place.trace + step @ (place.trace + squares @ share)
            bound = min(bound, mu * product + np.maximum(1.0 - tie, 0.0).sum())
        if bound - share.sum() <= tol * count:
            break
        if decrement < _NEAR:
            mu *= _FALL
        place = _moved(correlation, groups, place, step, slope, mu, decrement)
    return place.share, max(0.0, (bound - float(place.share.sum())) / count)


def _moved(
    correlation: Floats,
    groups: Array,
    place: _Place,
    step: Floats,
    slope: Floats,
    mu: float,
    decrement: float,
) -> _Place:
    """Return where a step leads: all of it, or as far as the objective of its mu rises."""
    share = place.share
    with np.errstate(divide="ignore"):
        room = np.where(step > 0, (1.0 - share) / step, -share / np.where(step < 0, step, -np.inf))
    length = min(1.0, _TO_THE_BORDER * float(room[room > 0].min(initial=np.inf)))
    sure = length / (1.0 + decrement)  # rises by the theory of such barriers
    while length > sure:
        reached = _place_at(correlation, groups, share + length * step)
        # Near a centre all of the step is right, however rounding has it.
        if reached is not None and (
            decrement < _NEAR or _rise(place, reached, step * length, slope, mu) > 0
        ):
            return reached
        length *= 0.5
    reached = _place_at(correlation, groups, share + sure * step)
    return place if reached is None else reached


def _rise(place: _Place, reached: _Place, moved: Floats, slope: Floats, mu: float) -> float:
    """Return by how much the objective over mu rises from one place to another."""
    before, after = place.share, reached.share
    barrier = np.log(after / before).sum() + np.log((1.0 - after) / (1.0 - before)).sum()
    return float(moved.sum() / mu + reached.log_det - place.log_det + barrier)


def _place_at(correlation: Floats, groups: Array, share: Floats) -> _Place | None:
    """Return a point with its inverse; None outside."""
    factor, fault = dpotrf(2.0 * correlation - np.diag(share[groups]), lower=1, clean=1)
    if fault:
        return None
    log_det = 2.0 * float(np.log(np.diag(factor)).sum())
    inverse, fault = dpotri(factor, lower=1)
    if fault:
        return None
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    trace: Any = np.bincount(groups, weights=np.diag(inverse), minlength=len(share))
    return _Place(share, inverse, trace, log_det)


def _over_groups(values: Floats, groups: Array, count: int) -> Floats:
    """Return the sums of a matrix over blocks of groups."""
    if count == len(groups) and (groups == np.arange(count)).all():
        return values
    member = np.zeros((len(groups), count))
    member[np.arange(len(groups)), groups] = 1.0
    return np.asarray(member.T @ values @ member)

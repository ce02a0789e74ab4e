"""All variances at a time: EM, which never lowers the evidence, and the quicker fixed point.

Both repeat: coefficients given the variances, variances given the coefficients. EM takes the expected
squares of the coefficients (Murphy 2012, Eqs. 13.166 and 13.168), MacKay's fixed point divides their
squared means by how much the data determine them (Eqs. 13.169 to 13.171). Near 0 a variance of EM falls
as slowly as 1 / step. Where a sparse solution is asked for, variances whose best value, given all
others, is 0 are therefore set to 0 now and then, if the evidence does not fall by that; and one that
should not have been is brought back at the end.
"""

from collections.abc import Callable

import numpy as np

from garrote.arrays import Array, Floats
from garrote.solvers.control import Control
from garrote.solvers.relevance.evidence import (
    Hyperpriors,
    Solution,
    expected_noise,
    gain_of_one,
    gradient,
    is_spent,
    log_evidence,
    next_noise,
    solution_of,
    without_itself,
)
from garrote.solvers.relevance.given_variances import Data, Given

# Steps between two looks for variances that should be 0.
_LOOK = 10
# Of these only such that are determined by the data to less than this share.
_HARDLY = 0.5

Step = Callable[[Given, Floats, float, Hyperpriors], tuple[Floats, float]]


def em_step(
    given: Given, variance: Floats, noise: float, laws: Hyperpriors
) -> tuple[Floats, float]:
    """Return variances and noise by a step of EM."""
    square = given.mean**2 + variance * (1.0 - variance * given.strength)
    moved = (np.maximum(square, 0.0) + 2 * laws.b) / (1.0 + 2 * laws.a)
    moved = np.minimum(np.where(variance > 0, moved, 0.0), laws.most_variance)
    return moved, expected_noise(given, variance, noise, laws)


def fixed_point_step(
    given: Given, variance: Floats, noise: float, laws: Hyperpriors
) -> tuple[Floats, float]:
    """Return variances and noise by MacKay's fixed point."""
    determined = variance * given.strength + 2 * laws.a
    moved = (given.mean**2 + 2 * laws.b) / np.maximum(determined, 1e-300)
    moved = np.minimum(np.where(variance > 0, moved, 0.0), laws.most_variance)
    return moved, next_noise(given, variance, noise, laws)


def climb(
    data: Data, laws: Hyperpriors, start: tuple[Floats, float], step: Step, control: Control
) -> tuple[Solution, int]:
    """Repeat steps from given variances and noise until the evidence is level; return also how many."""
    variance, noise = start[0].copy(), start[1]
    done = 0
    while True:
        inside = np.flatnonzero(variance > 0)
        some, noise, made = _climb_inside(
            data.among(inside), laws, variance[inside], noise, step, control, done
        )
        done += made
        variance[:] = 0.0
        variance[inside] = some
        given = data.given(variance, noise)
        back = None if laws.b else _missed(given, variance, control.tol)
        if back is None or done >= control.max_iter:
            return solution_of(given, variance, noise, laws), done
        j, value = back
        variance[j] = value


def _climb_inside(
    data: Data,
    laws: Hyperpriors,
    variance: Floats,
    noise: float,
    step: Step,
    control: Control,
    before: int,
) -> tuple[Floats, float, int]:
    """Repeat steps for variances that are positive, some of which become 0."""
    given, places = data.given(variance, noise), np.arange(len(variance))
    found = variance.copy()
    for made in range(before, control.max_iter):
        slopes, of_noise = gradient(given, variance, noise, laws)
        still = laws.noise is not None or is_spent(given, variance, laws)
        still |= noise <= laws.least_noise
        level = 0.0 if still else abs(of_noise) / laws.rows
        if max(np.abs(slopes).max(initial=0.0), level) <= control.tol:
            break
        variance, noise = step(given, variance, noise, laws)
        given = data.given(variance, noise)
        if not laws.b and made % _LOOK == _LOOK - 1:
            kept = _worth_keeping(data, given, variance, noise, laws)
            if len(kept) < len(variance):
                found[places] = 0.0
                data, places, variance = data.among(kept), places[kept], variance[kept]
                given = data.given(variance, noise)
        control.report("evidence", made + 1, control.max_iter)
    else:
        made = control.max_iter
    found[places] = variance
    return found, noise, made - before


def _worth_keeping(
    data: Data, given: Given, variance: Floats, noise: float, laws: Hyperpriors
) -> Array:
    """Return the variances that stay: others are best at 0, and the evidence does not fall with them."""
    strength, pull = without_itself(given, variance)
    useless = (pull**2 <= strength) & (variance * given.strength < _HARDLY)
    order = np.flatnonzero(useless)[np.argsort(variance[useless] * given.strength[useless])]
    value = log_evidence(given, variance, noise, laws)
    while len(order):
        fewer = variance.copy()
        fewer[order] = 0.0
        if log_evidence(data.given(fewer, noise), fewer, noise, laws) >= value:
            break
        order = order[: len(order) // 2]
    return np.setdiff1d(np.arange(len(variance)), order)


def _missed(given: Given, variance: Floats, tol: float) -> tuple[int, float] | None:
    """Return who is out and should be in the most, with its best variance; None if nobody is."""
    gain = np.where(variance > 0, 0.0, gain_of_one(given.strength, given.pull))
    j = int(np.argmax(gain)) if len(gain) else 0
    if not len(gain) or gain[j] <= tol:
        return None
    return j, float((given.pull[j] ** 2 - given.strength[j]) / given.strength[j] ** 2)

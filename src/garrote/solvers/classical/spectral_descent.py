"""Steps whose length is read off the last one, and that may raise the objective for a while.

The curvature that explains best how the gradient changed over the last step is taken for that of the
next (Barzilai & Borwein 1988; Murphy 2012, Eq. 13.82). That is far faster than the safe step, but not
monotone: a step is accepted if the objective falls below the largest of the last few, else it is halved
(Grippo et al. 1986).
"""

from collections import deque
from typing import Protocol

import numpy as np

from garrote.arrays import Floats
from garrote.solvers.classical.first_order import Goal, Solution, Steps
from garrote.solvers.losses.whole_loss import WholeLoss

# Objectives that a new one is compared with, and the share of the expected fall that is asked for.
_MEMORY, _ENOUGH = 10, 1e-4
# Curvatures are kept within these shares of the safe one, and doubled up to so many times.
_LEAST, _MOST, _DOUBLINGS = 1e-8, 1e8, 60
# The share of the objective that rounding may change it by.
_ROUNDING = 1e-14


class Variables(Protocol):
    """What is moved: coefficients, or other variables that they are made of."""

    def of(self, coef: Floats) -> Floats:
        """Return variables that stand for coefficients."""

    def coef(self, values: Floats) -> Floats:
        """Return the coefficients that variables stand for."""

    def slope(self, values: Floats, downhill: Floats) -> Floats:
        """Return the gradient (upwards) of the smooth part, given that of the loss (downhill)."""

    def move(self, values: Floats, slope: Floats, steepness: float) -> Floats:
        """Return the variables after a step of length 1 / steepness."""

    def charge(self, values: Floats) -> float:
        """Return the penalty."""


def descend(loss: WholeLoss, goal: Goal, variables: Variables, steps: Steps) -> Solution:
    """Minimise from the loss's present coefficients; return the fit as seen, and the rounds."""
    values, steepness = variables.of(loss.coef), steps.steepness
    seen = yield from loss.evaluate()
    recent = deque([seen.loss + variables.charge(values)], maxlen=_MEMORY)
    slope = variables.slope(values, seen.gradient)
    made = 0
    while made < goal.max_iter and not goal.reached(loss, seen, steps.steepness):
        found = _accepted(loss, variables, values, slope, steepness, recent)
        if found is None:  # no step lowers the objective any more: numbers end here
            break
        made += 1
        new, steepness = found
        seen = yield from loss.evaluate()
        new_slope = variables.slope(new, seen.gradient)
        change, turned = new - values, new_slope - slope
        along, square = float(np.vdot(change, turned)), float(np.vdot(change, change))
        safe = steps.steepness
        steepness = min(max(along / square, _LEAST * safe), _MOST * safe) if square > 0 else safe
        values, slope = new, new_slope
        recent.append(seen.loss + variables.charge(values))
    return seen, made


def _accepted(
    loss: WholeLoss,
    variables: Variables,
    values: Floats,
    slope: Floats,
    steepness: float,
    recent: deque[float],
) -> tuple[Floats, float] | None:
    """Go to the first step that is accepted; return it and its steepness, None if there is none."""
    before, image, worst = loss.coef, loss.image, max(recent)
    for _ in range(_DOUBLINGS):
        new = variables.move(values, slope, steepness)
        coef = variables.coef(new)
        loss.place(coef, loss.product(coef))
        fall = 0.5 * _ENOUGH * steepness * float(np.vdot(new - values, new - values))
        reached = loss.value() + variables.charge(new)
        if reached <= worst - fall + _ROUNDING * abs(worst):
            return new, steepness
        steepness *= 2.0
    loss.place(before, image)
    return None

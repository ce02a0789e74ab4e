"""How far a machine is from the best one: its hinge objective less a dual value, from the data.

The primal is w'w + sum of cost_n max(0, at_n - side_n f_n); for multipliers within their bounds whose
pulls add up to 0, every machine's objective is at least
sum of at_n alpha_n - |sum of pull_n phi(x_n)|^2 / 4. The kinks are those of the loss itself, whatever
made the machine.
"""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.solvers.margins.losses import Margins
from garrote.solvers.margins.spaces import Point, Space

# Pulls below this share of their bound are no support of a machine.
_SLIGHT = 1e-9


class Gap(NamedTuple):
    """The objective of a machine, a bound below all machines' objectives, and that of w = 0."""

    objective: float
    bound: float
    null: float

    @property
    def relative(self) -> float:
        """The gap as a share of the objective."""
        return max(self.objective - self.bound, 0.0) / max(abs(self.objective), 1e-300)

    @property
    def of_null(self) -> float:
        """The gap as a share of the null model's objective."""
        return max(self.objective - self.bound, 0.0) / max(self.null, 1e-300)


def gap(space: Space, margins: Margins, point: Point, pull: Floats) -> Gap:
    """Return how far a machine is from the best, by pulls that are allowed."""
    objective = space.norm(point) + margins.value(point.f)
    bound = margins.dual_value(pull) - 0.25 * space.norm_of_pull(pull)
    return Gap(objective, bound, null_objective(margins))


def allowed(margins: Margins, pull: Floats) -> Floats:
    """Return pulls within their bounds that add up to 0, near given ones; slight ones become 0."""
    found = margins.clip(np.where(np.abs(pull) > _SLIGHT * margins.cost, pull, 0.0))
    up, down = float(found[found > 0].sum()), float(-found[found < 0].sum())
    if not (up > 0 and down > 0):
        return np.zeros_like(found)
    if up > down:  # the heavier side gives way, all alike, so that none leaves its bounds
        found[found > 0] *= down / up
    else:
        found[found < 0] *= up / down
    return found


def null_objective(margins: Margins) -> float:
    """Return the objective of the best machine that says the same of every row."""
    zero = np.zeros(len(margins.cost))
    return margins.value(zero + margins.best_intercept(zero))

"""Costs beyond all multipliers: machines with no row on the wrong side, where rows can be separated.

Where every multiplier of the best machine is below its cost, larger costs change nothing, but for the
widths: they would have to be narrower than numbers are. The machine is then trained at costs that are
larger by and by, until they bound no multiplier, and made longer by what its nearest row lacks of the
margin. Its gap is that of the costs that were asked for.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from garrote.arrays import Floats
from garrote.solvers.margins.duality import gap
from garrote.solvers.margins.losses import Margins
from garrote.solvers.margins.narrowing import Narrowing, Trained, train
from garrote.solvers.margins.spaces import Space
from garrote.solvers.smoothing.kinks import Kink

# The first cost, by the mean squared length of rows, and by how much the next is larger.
_FIRST, _LARGER = 10.0, 10.0
# A multiplier below this share of its cost is not bounded by it; the rows' share of the tolerance.
_BELOW, _SHARPER = 0.9, 0.1
_ROUNDING = 1e-12


def train_hard(
    space: Space,
    margins: Margins,
    kink: Kink,
    scales: Floats,
    narrowing: Narrowing,
    report: Callable[[int, float], None] | None = None,
) -> Trained | None:
    """Return the best machine, where it has no row on the wrong side; else None."""
    cost, steps = _FIRST / (float(np.mean(space.lengths)) or 1.0), 0
    while cost < float(margins.cost.max()) and steps < narrowing.max_iter:
        some = replace(margins, cost=np.minimum(margins.cost, cost))
        left = narrowing.max_iter - steps
        sharper = replace(narrowing, tol=_SHARPER * narrowing.tol, max_iter=left)
        found = train(space, some, kink, scales, sharper, report)
        steps += found.steps
        if not found.converged:
            return None
        if (np.abs(found.pull) < _BELOW * some.cost).all():
            return _lengthened(space, margins, found, narrowing.tol, steps)
        cost *= _LARGER
    return None


def _lengthened(
    space: Space, margins: Margins, found: Trained, tol: float, steps: int
) -> Trained | None:
    """Return the machine whose nearest rows of both sides are at the margin, if there is one."""
    above = margins.side[0] > 0
    low = float(found.point.fitted[above].min())
    high = float(found.point.fitted[~above].max())
    if not low > high:
        return None
    # Nearest rows that rounding leaves short of the margin would count, at such costs.
    longer = 2.0 / (low - high) * (1.0 + _ROUNDING)
    pull = longer * found.pull
    point = space.at(longer * found.point.coef, -0.5 * longer * (low + high))
    reached = gap(space, margins, point, pull)
    return Trained(point, pull, found.width, reached, steps, reached.relative <= tol)

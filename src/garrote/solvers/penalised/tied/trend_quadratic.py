"""A quadratic plus what a trend is charged: an interior point, and a regression on the pieces found."""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.solvers.descent.working_block import WorkingBlock


class TrendQuadratic:
    """The cross products of all columns, their coefficients and the gradient there (downhill)."""

    def __init__(self, rule: Any, gram: Floats, gradient: Floats, coef: Floats):
        self.rule, self.gram, self.gradient, self.coef = rule, gram, gradient, coef


def no_rows(rule: Any, block: WorkingBlock, residual: Floats, coef: Floats) -> Any:
    """Refuse: trends are found on cross products."""
    raise TypeError("trends are found on cross products")


def suit_rows(shape: tuple[int, int]) -> bool:
    """Tell that rows are not worked on."""
    return False


def solve_trends(state: TrendQuadratic, tolerance: float, max_rounds: int) -> int:
    """Solve, unless the coefficients are the solution; return the rounds."""
    rule, coef = state.rule, state.coef
    if not len(coef) or np.abs(rule.held_back(state.gradient, coef)).max() <= tolerance:
        return 0
    pull = state.gradient + state.gram @ coef
    new = rule.solved(state.gram, pull)
    state.gradient -= state.gram @ (new - coef)
    coef[:] = new
    return 1

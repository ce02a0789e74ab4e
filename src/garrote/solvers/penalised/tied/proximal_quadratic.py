"""A quadratic plus a penalty of which a proximal point is all that is known: accelerated steps.

Steps start a little beyond the present point, along its last change (Beck & Teboulle 2009), and forget
where they came from when they turn back (O'Donoghue & Candes 2015). Every few steps the sequence is
extrapolated (Anderson 1965; Bertrand & Massias 2021), which is what brings many digits.
"""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.rules import proximal_point, total_cost
from garrote.solvers.descent.working_block import WorkingBlock

# Steps between two extrapolations; a round has so many.
_STEPS = 10
# Steps of the power method, and what is added to the curvature that it finds.
_POWERS, _MARGIN = 30, 1.05


class ProximalQuadratic:
    """The cross products of a working set, its coefficients and the gradient there (downhill)."""

    def __init__(self, rule: Any, gram: Floats, gradient: Floats, coef: Floats):
        self.rule, self.gram, self.gradient, self.coef = rule, gram, gradient, coef

    def steepness(self) -> float:
        """Return a curvature that no direction exceeds by much, and that steps raise where one does."""
        vector = np.random.default_rng(0).standard_normal(len(self.coef))
        size = 0.0
        for _ in range(_POWERS):
            vector = self.gram @ vector
            size = float(np.linalg.norm(vector))
            if size == 0.0:
                return 0.0
            vector /= size
        return _MARGIN * size

    def value(self, coef: Floats) -> float:
        """Return the objective, up to a constant, beside the present coefficients."""
        change = coef - self.coef
        drop = float(change @ (self.gradient - 0.5 * (self.gram @ change)))
        return float(total_cost(self.rule, np.arange(len(coef)), coef)) - drop


def no_rows(rule: Any, block: WorkingBlock, residual: Floats, coef: Floats) -> Any:
    """Refuse: steps are made on cross products."""
    raise TypeError("steps are made on cross products")


def suit_rows(shape: tuple[int, int]) -> bool:
    """Tell that rows are not worked on."""
    return False


def solve_by_steps(state: ProximalQuadratic, tolerance: float, max_rounds: int) -> int:
    """Step until none is longer than ``tolerance``, in units of gradients; return the rounds."""
    if not len(state.coef):
        return 0
    steep = state.steepness()
    if steep == 0.0:
        return 0
    fixed = state.gradient + state.gram @ state.coef
    present = ahead = state.coef.copy()
    momentum, seen, made = 1.0, [present], 0
    while made < max_rounds * _STEPS:
        made += 1
        new, steep = _step(state, fixed, ahead, steep)
        arrived, moved = float(np.abs(new - ahead).max()) * steep <= tolerance, ahead is not present
        change = new - present
        if arrived:  # unless momentum made the step that short: then one without it decides
            present = ahead = new
            momentum = 1.0
            if moved:
                continue
            break
        momentum = 1.0 if float((ahead - new) @ change) > 0.0 else momentum
        faster = 0.5 + np.sqrt(0.25 + momentum**2)
        ahead = new + (momentum - 1.0) / faster * change if momentum > 1.0 else new
        present, momentum = new, faster
        seen.append(present)
        if len(seen) > _STEPS:
            jumped = _extrapolated(state, seen)
            if jumped is not None:
                present = ahead = jumped
                momentum = 1.0
            seen = [present]
    state.gradient -= state.gram @ (present - state.coef)
    state.coef[:] = present
    return 1 + made // _STEPS


def _step(
    state: ProximalQuadratic, fixed: Floats, ahead: Floats, steep: float
) -> tuple[Floats, float]:
    """Return a proximal step, and the curvature that was steep enough along it."""
    downhill = fixed - state.gram @ ahead
    while True:
        new = proximal_point(state.rule, ahead + downhill / steep, 1.0 / steep)
        change = new - ahead
        moved = float(change @ change)
        along = float(change @ (state.gram @ change))
        if along <= steep * moved * (1.0 + 1e-10) or moved == 0.0:
            return new, steep
        steep = _MARGIN * along / moved


def _extrapolated(state: ProximalQuadratic, seen: list[Floats]) -> Floats | None:
    """Return where the sequence leads to, if the objective is lower there."""
    steps = np.diff(seen, axis=0)
    products = steps @ steps.T
    products[np.diag_indices_from(products)] += 1e-12 * np.trace(products) + 1e-300
    try:
        shares = np.linalg.solve(products, np.ones(len(products)))
    except np.linalg.LinAlgError:
        return None
    total = shares.sum()
    if not np.isfinite(total) or total == 0.0:
        return None
    jumped = (shares / total) @ np.array(seen[1:])
    jumped[seen[-1] == 0.0] = 0.0
    jumped[jumped * seen[-1] < 0.0] = 0.0
    return jumped if state.value(jumped) < state.value(seen[-1]) else None

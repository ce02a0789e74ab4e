"""The dual of a support vector machine as a quadratic programme, solved by interior points.

This is the text's comparator "quadratic programming on the dual" (Staines & Barber 2012, section 3.2):
maximise sum alpha_n - |sum alpha_n y_n phi(x_n)|^2 / 4 over 0 <= alpha_n <= cost with alpha'y = 0.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from garrote.arrays import Floats

# Steps end where what products of bounds and multipliers add up to is this share of the objective.
_EXACT, _STEPS = 1e-9, 100
# A step goes so far of the way to the nearest bound.
_INSIDE = 0.995


class _Inside(NamedTuple):
    """A point within its bounds: alpha, the multiplier of alpha'y = 0, and those of both bounds."""

    alpha: Floats
    level: float
    low: Floats
    high: Floats

    def moved(self, step: "_Inside", share: float) -> "_Inside":
        """Return the point a share of a step away."""
        return _Inside(
            self.alpha + share * step.alpha,
            self.level + share * step.level,
            self.low + share * step.low,
            self.high + share * step.high,
        )


def solve_dual(kernel: Floats, y: Floats, cost: float) -> Floats:
    """Return the best multipliers alpha, by Mehrotra's predictor and corrector."""
    signed = 0.5 * kernel * np.outer(y, y)
    ones = np.ones(len(y))
    at = _Inside(0.5 * cost * ones, 0.0, ones, ones)
    for _ in range(_STEPS):
        average = _average(at, cost)
        value = float(at.alpha.sum() - 0.5 * at.alpha @ signed @ at.alpha)
        small = _EXACT * max(abs(value), 1.0)
        if 2 * len(y) * average <= small and abs(float(y @ at.alpha)) <= _EXACT * cost:
            break
        equations = _Equations(signed, y, cost, at)
        ahead = equations.step(-at.alpha * at.low, -(cost - at.alpha) * at.high)
        reached = _average(at.moved(ahead, _reach(at, ahead, cost)), cost)
        aim = average * (reached / average) ** 3
        step = equations.step(
            aim - at.alpha * at.low - ahead.alpha * ahead.low,
            aim - (cost - at.alpha) * at.high + ahead.alpha * ahead.high,
        )
        at = at.moved(step, _reach(at, step, cost))
    return at.alpha


class _Equations:
    """The conditions of the optimum, made linear around a point: one factor serves two steps."""

    def __init__(self, signed: Floats, y: Floats, cost: float, at: _Inside):
        self.y, self.at, self.room = y, at, cost - at.alpha
        self.slope = 1.0 - signed @ at.alpha - at.level * y + at.low - at.high
        curved = signed + np.diag(at.low / at.alpha + at.high / self.room)
        self.factor = scipy.linalg.cho_factor(curved, overwrite_a=True)
        self.along = scipy.linalg.cho_solve(self.factor, y)

    def step(self, below: Floats, above: Floats) -> _Inside:
        """Return the step that changes alpha low by ``below`` and (cost - alpha) high by ``above``."""
        at, room = self.at, self.room
        right = self.slope + below / at.alpha - above / room
        free = scipy.linalg.cho_solve(self.factor, right)
        level = float(self.y @ (free + at.alpha)) / float(self.y @ self.along)
        alpha = free - level * self.along
        low, high = (below - at.low * alpha) / at.alpha, (above + at.high * alpha) / room
        return _Inside(alpha, level, low, high)


def _average(at: _Inside, cost: float) -> float:
    """Return the mean product of a bound's distance and its multiplier: 0 at the optimum."""
    return float(at.alpha @ at.low + (cost - at.alpha) @ at.high) / (2 * len(at.alpha))


def _reach(at: _Inside, step: _Inside, cost: float) -> float:
    """Return how far along a step all bounds hold, and no farther than its end."""
    values = np.concatenate([at.alpha, cost - at.alpha, at.low, at.high])
    moves = np.concatenate([step.alpha, -step.alpha, step.low, step.high])
    falling = moves < 0
    ends = -values[falling] / moves[falling]
    return min(1.0, _INSIDE * float(ends.min(initial=np.inf)))

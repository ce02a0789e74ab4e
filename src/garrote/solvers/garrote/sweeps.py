"""Sweeps to a fixed point: coefficients and noise precision in turn, until neither moves.

Between sweeps the noise variance is re-estimated as (r'r + sum of coefficient variances) / n, which is
Eq. 10 of Kappen & Gomez (2014) before their Eq. 9 has been used in it.
"""

from typing import Any, NamedTuple

import numpy as np

from garrote._jit import generic, kernel
from garrote.arrays import Floats
from garrote.limits.budgets import PRODUCTS_PER_CALL
from garrote.priors.garrote import SpikeRule, implied_noise
from garrote.priors.shared_switches import SharedSwitchRule
from garrote.rules import (
    Residual,
    add_column,
    column_dot,
    moments_among,
    noise_pull,
    noise_share,
    squared_residual,
)
from garrote.solvers.descent.sweep import sweep

_NOTHING = np.zeros(0)


class State(NamedTuple):
    """A solution on all columns, or on the working set alone, as sweeps work on it.

    ``target`` are the least-squares values that coefficients are shrunk from, ``coef`` what enters the
    ``residual``; that and the inclusion probabilities are empty where they are not needed.
    """

    gamma: float
    precision: float
    coef: Floats
    target: Floats
    sweeps: int
    probability: Floats = _NOTHING
    residual: Floats = _NOTHING


class Start(NamedTuple):
    """Where the sweeps begin: coefficients, X'Wr there and the squared residual there."""

    coef: Floats
    gradient: Floats
    squared_residual: float


class Noise(NamedTuple):
    """What the noise variance is made of besides the residual, its lower bound, and if it is known."""

    n: float
    other_variance: float
    smallest: float
    known: bool


def sweep_to_fixed_point(
    design: NamedTuple,
    rule: Any,
    residual: Residual,
    curvature: Floats,
    start: Start,
    noise: Noise,
    tolerance: float,
    max_sweeps: int,
) -> tuple[Floats, Floats, int, bool]:
    """Sweep until the steps still to come are below ``tolerance`` standard errors.

    ``residual`` and the rule's precision are updated in place. Returns coefficients, the least-squares
    values that they are shrunk from, how many sweeps it took, and whether they converged.
    """
    coef = start.coef.copy()
    target = coef.copy()
    length = max(1, len(coef) * len(residual.values))
    count = max(1, int(PRODUCTS_PER_CALL / length))
    done, previous, converged = 0, np.inf, False
    while done < max_sweeps and not converged:
        made, previous, converged = _sweeps(
            design, rule, coef, target, residual, curvature, start, noise,
            tolerance, min(count, max_sweeps - done), previous,
        )  # fmt: skip
        done += made
    return coef, target, done, converged


@generic
def update_switches(
    rule: Any,
    design: Any,
    columns: Any,
    coef: Floats,
    target: Floats,
    residual: Residual,
    curvature: Floats,
    resolution: float,
) -> float:
    """Do as `sweep`: update all columns once, those that share a switch together."""
    raise TypeError(f"no switches are registered for {type(rule).__name__}")


@update_switches.register
def _(rule: SpikeRule, design, columns, coef, target, residual, curvature, resolution):
    return sweep(design, rule, columns, coef, target, residual, curvature, resolution)


@update_switches.register
def _(rule: SharedSwitchRule, design, columns, coef, target, residual, curvature, resolution):
    largest = 0.0
    for g in range(rule.starts.shape[0] - 1):
        first, last = rule.starts[g], rule.starts[g + 1]
        # Coordinates of a group are orthogonal: what one has does not move what another wants.
        for place in range(first, last):
            j = rule.order[place]
            if curvature[j] > 0:
                target[j] = coef[j] + column_dot(design, j, residual) / curvature[j]
        for place in range(first, last):
            j = rule.order[place]
            if curvature[j] > 0:
                old = coef[j]
                m, w, _ = moments_among(rule, j, target, curvature)
                step = abs(m * w - old) * np.sqrt(curvature[j])
                if step > resolution:
                    coef[j] = m * w
                    add_column(design, j, old - m * w, residual)
                    largest = max(largest, step)
    return largest


@kernel
def _sweeps(
    design, rule, coef, target, residual, curvature, start, noise, tolerance, count, previous
):
    columns = np.arange(coef.shape[0])
    for number in range(count):
        precision = rule.precision[0]
        resolution = 1e-3 * tolerance / np.sqrt(precision)
        change = update_switches(
            rule, design, columns, coef, target, residual, curvature, resolution
        )
        change *= np.sqrt(precision)
        if not noise.known:
            total = noise.other_variance + squared_residual(design, residual, start, coef)
            pull = 0.0
            for j in range(coef.shape[0]):
                m, w, variance = moments_among(rule, j, target, curvature)
                total += noise_share(rule, target[j], m, w, variance, curvature[j])
                pull += noise_pull(rule, target[j], m, curvature[j])
            implied = implied_noise(noise.n, total, pull, noise.other_variance, precision)
            rule.precision[0] = 1.0 / max(noise.smallest, implied)
            change = max(change, abs(rule.precision[0] / precision - 1.0))
        ratio = change / previous
        previous = change
        # Steps shrink geometrically: what is still to come is change * ratio / (1 - ratio).
        if change <= tolerance and ratio < 1.0 and change * ratio <= tolerance * (1.0 - ratio):
            return number + 1, previous, True
    return count, previous, False

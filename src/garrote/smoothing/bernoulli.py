"""The average of a function of switches over independent ones: smooth in their probabilities."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.settings import check_count
from garrote.smoothing.averages import Average
from garrote.smoothing.objective import Objective, to_numpy

# Switches whose 2^D states are all looked at, and draws where none are asked for.
_ALL_STATES, _DRAWS = 12, 32


@dataclass(frozen=True, eq=False)
class BernoulliBound:
    """U(theta) = E f(x) over independent x_j that are 1 with probability theta_j, above min f.

    U is linear in every theta_j, so that its slope is E f(x, x_j = 1) - E f(x, x_j = 0): sampled by
    flipping one switch after the other, from draws that are the same for all theta (common random
    numbers, in pairs u and 1 - u). With up to 12 switches all states are summed over. With all theta at
    0 or 1 the bound is tight (Staines & Barber 2012, section 4).

    Parameters
    ----------
    f : callable
        Takes points as rows, an array of shape (K, D) of zeros and ones, and returns K numbers.
    average : callable, optional
        theta -> U, as the user knows it.
    gradient : callable, optional
        theta -> dU/dtheta, D numbers.
    batched : bool, default=True
        False where f takes one point and returns one number.
    draws : int, default=32
        An even number; each costs D + 1 values of f where the slope is sampled.
    random_state : int, default=0

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.smoothing import BernoulliBound, minimise
    >>> def cut(x):
    ...     return -np.abs(np.diff(x, axis=1)).sum(axis=1)
    >>> fit = minimise(BernoulliBound(cut), np.array([0.4, 0.5, 0.5, 0.5]))
    >>> fit.x.tolist(), fit.value
    ([0.0, 1.0, 0.0, 1.0], -3.0)
    """

    f: Callable[[Any], Any]
    average: Callable[[Floats], Any] | None = None
    gradient: Callable[[Floats], Any] | None = None
    batched: bool = True
    draws: int = _DRAWS
    random_state: int = 0

    def __post_init__(self) -> None:
        check_count("draws", self.draws, 4)
        check_count("random_state", self.random_state, 0)
        if (self.average is None) != (self.gradient is None):
            raise ValueError(
                "average and gradient go together: give both, or none of them and U is sampled"
            )

    def is_exact(self, count: int) -> bool:
        """Whether U of so many switches is known, or a sum over all states."""
        return self.average is not None or count <= _ALL_STATES

    def at(self, objective: Objective, theta: Floats, stream: int, times: int = 1) -> Average:
        """Return U and its slope, from draws of some stream, ``times`` as many as usual."""
        if self.average is not None and self.gradient is not None:
            return self.known(theta)
        if self.is_exact(len(theta)):
            return _over_all_states(objective, theta)
        half = times * ((self.draws + 1) // 2)
        uniform: Floats = np.random.default_rng([self.random_state, stream]).random(
            (half, len(theta))
        )
        pairs = (uniform < theta, 1.0 - uniform < theta)
        both = [flipped(objective, states.astype(np.float64)) for states in pairs]
        values, slopes = zip(*both, strict=True)
        value, slope = 0.5 * (values[0] + values[1]), 0.5 * (slopes[0] + slopes[1])
        return Average(
            float(value.mean()),
            slope.mean(axis=0),
            None,
            float(value.std(ddof=1) / np.sqrt(half)),
            slope.std(axis=0, ddof=1) / np.sqrt(half),
        )

    def known(self, theta: Floats) -> Average:
        """Return what the user's own functions say, checked."""
        value = to_numpy(self.average(theta)) if self.average else np.empty(0)
        gradient = to_numpy(self.gradient(theta)) if self.gradient else np.empty(0)
        for name, found, shape in (
            ("average", value, ()),
            ("gradient", gradient, theta.shape),
        ):
            if found.shape != shape or not np.isfinite(found).all():
                raise ValueError(
                    f"{name} must return finite numbers of shape {shape}, got shape {found.shape}"
                )
        return Average(float(value), gradient, None, 0.0, np.zeros(len(theta)))


def flipped(objective: Objective, states: Floats) -> tuple[Floats, Floats]:
    """Return f at some states, and what each of their switches does to it."""
    values = objective.values(objective.place(states))
    slopes = np.empty_like(states)
    for row, state in enumerate(states):
        others = flips(state)
        slopes[row] = (objective.values(objective.place(others)) - values[row]) * (
            1.0 - 2.0 * state
        )
    return values, slopes


def flips(state: Floats) -> Floats:
    """Return the states that differ from one in one switch, one a row."""
    return np.abs(state - np.eye(len(state)))


def _over_all_states(objective: Objective, theta: Floats) -> Average:
    """Return U and its slope as sums over all states."""
    count = len(theta)
    table = objective.all_states(count)
    slope = np.empty(count)
    for j in range(count):
        rest, across = np.delete(theta, j), np.diff(table, axis=j).squeeze(j)
        slope[j] = _contracted(across, rest)
    return Average(_contracted(table, theta), slope, None, 0.0, np.zeros(count))


def _contracted(table: Floats, theta: Floats) -> float:
    """Return the mean of a table with two entries along each axis."""
    for share in theta:
        table = (1.0 - share) * table[0] + share * table[1]
    return float(table)

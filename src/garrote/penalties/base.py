"""What a penalty is: settings that do not change along a path, from which a scalar rule is made."""

from typing import Any, NamedTuple, Protocol

import numpy as np

from garrote.arrays import Floats


class Terms(NamedTuple):
    """What each variable has of its own: a factor of the penalty (0: always in) and bounds."""

    factor: Floats
    lower: Floats
    upper: Floats

    @classmethod
    def equal(cls, count: int) -> "Terms":
        """Return factors of 1 and no bounds."""
        return cls(np.ones(count), np.full(count, -np.inf), np.full(count, np.inf))


class Penalty(Protocol):
    """The settings of a penalty.

    Objectives are F(w) + strength * sum of factor_j times the penalty of w_j, F being the mean of the
    samples' losses (half their squared error for a Gaussian response).
    """

    @property
    def name(self) -> str:
        """What users call it."""

    @property
    def convex(self) -> bool:
        """Whether the objective has one minimum."""

    def at(self, strength: float, terms: Terms) -> Any:
        """Return the scalar rule at one strength."""

    def largest_strength(self, gradient: Floats, terms: Terms) -> float:
        """Return the least strength at which no penalised variable is in, given the null gradient."""

"""Single effects that are updated in turn, and more of them as long as none is null."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from garrote.arrays import Floats
from garrote.solvers.effects.effect_groups import EffectGroups
from garrote.solvers.effects.single_effect_regression import SingleEffect, single_effect_regression

# Where the number of effects is to be found: how many are tried first, and at most.
FIRST, MOST = 5, 100
# An effect of a smaller log Bayes factor tells that there are enough of them.
IDLE = 1.0


@dataclass(frozen=True)
class SummedEffects:
    """A stationary point of the bound: its effects, and the bound after each round.

    Effects that came out null are not listed; ``tried`` counts them too.
    """

    effects: tuple[SingleEffect, ...]
    bounds: Floats
    converged: bool
    tried: int

    @property
    def bound(self) -> float:
        """The lower bound of the log evidence that was reached."""
        return float(self.bounds[-1])

    @property
    def fall(self) -> float:
        """How far the bound ever fell from one round to the next: rounding, or an error."""
        return float(np.maximum(-np.diff(self.bounds), 0.0).max(initial=0.0))

    def left_out(self, k: int) -> Self:
        """Return the fit without one of its effects."""
        return replace(self, effects=self.effects[:k] + self.effects[k + 1 :])


class EffectsInTurn:
    """Effects while they are fitted; those that are null have a prior variance of 0."""

    def __init__(self, log_prior: Floats, units: EffectGroups | None = None):
        self.log_prior, self.units = log_prior, units
        self.effects: list[SingleEffect] = []

    def extend(self, count: int) -> None:
        """Add effects that are null so far, up to a number of them."""
        columns = len(self.log_prior) if self.units is None else len(self.units.of_column)
        nothing = np.zeros(columns)
        null = single_effect_regression(nothing, nothing, self.log_prior, 0.0, units=self.units)
        self.effects += [null] * (count - len(self.effects))

    @property
    def has_null(self) -> bool:
        """Whether an effect has next to no evidence."""
        # A given variance is never 0: there, effects that explain nothing are null.
        return any(effect.log_bayes_factor < IDLE for effect in self.effects)

    @property
    def kept(self) -> tuple[SingleEffect, ...]:
        """The effects that are not null, those of the strongest evidence first."""
        kept = [effect for effect in self.effects if effect.prior_variance > 0]
        return tuple(sorted(kept, key=lambda effect: -effect.log_bayes_factor))

    def repeat(
        self, a_round: Callable[[], bool], usable: int, asked: int | None, max_iter: int
    ) -> bool:
        """Repeat rounds until one tells that nothing moves; return whether one did.

        All effects that are ``asked`` for are tried; where their number is to be found, some, and
        twice as many each time that none of them is null.
        """
        most = min(asked or MOST, usable)
        self.extend(most if asked else min(most, max(FIRST, len(self.effects) + 1)))
        for _ in range(max_iter):
            if a_round():
                if self.has_null or len(self.effects) >= most:
                    return True
                self.extend(min(most, 2 * len(self.effects)))
        return False

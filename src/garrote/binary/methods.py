"""Ways to good settings of switches, as objects with the settings that each has."""

from dataclasses import dataclass
from time import monotonic
from typing import ClassVar

import numpy as np

from garrote.arrays import Floats
from garrote.binary.programme import BinaryProgramme
from garrote.binary.steps import climb, cool, search_with_tabus
from garrote.limits.budgets import PRODUCTS_PER_CALL
from garrote.settings import Settings, as_settings, check_count, check_positive

# Gains below this share of all terms are rounding.
_ROUNDING = 1e-13
# Where cooling begins and ends: beta times the root of the sum of squares of a switch's couplings.
_HOT, _COLD = 0.5, 100.0


class Deadline:
    """The time at which a search ends with what it has; None for never."""

    def __init__(self, seconds: float | None) -> None:
        if seconds is not None:
            check_positive("max_seconds", seconds)
        self._end = np.inf if seconds is None else monotonic() + seconds

    @property
    def passed(self) -> bool:
        """Whether the time is over."""
        return monotonic() >= self._end


class SwitchSearch(Settings):
    """A way from a random start to settings that no single flip improves."""

    name: ClassVar[str]

    def find(
        self, programme: BinaryProgramme, rng: np.random.Generator, deadline: Deadline
    ) -> Floats:
        """Return switches, 0 or 1, from one start."""
        raise NotImplementedError


@dataclass(frozen=True)
class Ascent(SwitchSearch):
    """Random switches, flipped one after the other while that helps.

    The mean over independent switches is linear in each of their probabilities: its ascent in one
    probability at a time goes from corner to corner, and this is it.
    """

    name: ClassVar[str] = "ascent"

    def find(
        self, programme: BinaryProgramme, rng: np.random.Generator, deadline: Deadline
    ) -> Floats:
        """Return switches, 0 or 1, from one start."""
        x = rng.integers(0, 2, programme.n_switches).astype(np.float64)
        return flipped(programme, x, rng, deadline)


@dataclass(frozen=True)
class Annealing(SwitchSearch):
    """Probabilities that follow the minimum of the free energy while it cools, then flips.

    At each beta every probability in turn becomes 1 / (1 + exp(-beta slope_i)), its best value given
    all others. beta grows geometrically, from where all probabilities are near 1/2 to where they
    are 0 or 1. Cooled slowly from the hot end, all starts find one solution: each start therefore
    enters, with probabilities at random, at a beta of its own, anywhere in the schedule.

    Parameters
    ----------
    n_sweeps : int
        Sweeps over all switches, each at a larger beta.

    References
    ----------
    Staines & Barber (2012), Eqs. 45-46.
    """

    n_sweeps: int = 200
    name: ClassVar[str] = "annealing"

    def __post_init__(self) -> None:
        check_count("n_sweeps", self.n_sweeps, 1)

    def find(
        self, programme: BinaryProgramme, rng: np.random.Generator, deadline: Deadline
    ) -> Floats:
        """Return switches, 0 or 1, from one start."""
        theta = rng.random(programme.n_switches)
        gain, order = programme.slope(theta), rng.permutation(programme.n_switches)
        betas = self._betas(programme)[rng.integers(self.n_sweeps) :]
        begin, end = 0, len(betas) * len(order)
        while begin < end and not deadline.passed:
            begin = cool(programme.couplings, order, begin, betas, theta, gain, PRODUCTS_PER_CALL)
        return flipped(programme, np.rint(theta), rng, deadline)

    def _betas(self, programme: BinaryProgramme) -> Floats:
        one, other, pair = programme.pairs
        n = programme.n_switches
        squared = np.bincount(one, pair**2, n) + np.bincount(other, pair**2, n)
        alone = np.abs(programme.slope(np.full(n, 0.5)))
        size = float(np.sqrt(squared).max(initial=0.0)) or float(alone.max()) or 1.0
        return np.geomspace(_HOT / size, _COLD / size, self.n_sweeps)


@dataclass(frozen=True)
class Tabu(SwitchSearch):
    """The best flip again and again, uphill or down, of a switch that was not flipped of late.

    Parameters
    ----------
    n_steps : int, optional
        Flips from each start, by default 20 a switch and 5000 at least.
    tenure : int, optional
        For how many steps a switch stays as it is, by default one for every hundred switches, but for
        at most half of them; up to 10 more are drawn at random each time.

    References
    ----------
    Glover, Kochenberger & Alidaee (1998), Management Science 44; Palubeckis (2004), Annals of OR 131.
    """

    n_steps: int | None = None
    tenure: int | None = None
    name: ClassVar[str] = "tabu"

    def __post_init__(self) -> None:
        if self.n_steps is not None:
            check_count("n_steps", self.n_steps, 1)
        if self.tenure is not None:
            check_count("tenure", self.tenure, 0)

    def find(
        self, programme: BinaryProgramme, rng: np.random.Generator, deadline: Deadline
    ) -> Floats:
        """Return switches, 0 or 1, from one start."""
        n = programme.n_switches
        x = rng.integers(0, 2, n).astype(np.float64)
        n_steps = max(5000, 20 * n) if self.n_steps is None else self.n_steps
        shortest = n // 100 if self.tenure is None else self.tenure
        longest = max(0, min(shortest + 10, n // 2))
        tenures = rng.integers(min(shortest, longest), longest + 1, n_steps)
        value, best = programme.value(x), x.copy()
        values, until = np.array([value, value, 0.0]), np.zeros(n, dtype=np.int64)
        gain, begin = programme.slope(x), 0
        while begin < n_steps and not deadline.passed:
            begin = search_with_tabus(
                programme.couplings, tenures, begin, x, gain, best, values, until, PRODUCTS_PER_CALL
            )
        return flipped(programme, best, rng, deadline)


def flipped(
    programme: BinaryProgramme, x: Floats, rng: np.random.Generator, deadline: Deadline
) -> Floats:
    """Return switches that no single flip improves, from ``x`` uphill."""
    gain, order = programme.slope(x), rng.permutation(len(x))
    at, done = np.zeros(2, dtype=np.int64), False
    while not done and not deadline.passed:
        done = climb(
            programme.couplings, order, at, x, gain, _ROUNDING * programme.scale, PRODUCTS_PER_CALL
        )
    return x


# Searches by the names that stand for them with default settings.
METHODS: dict[str, type[SwitchSearch]] = {
    method.name: method for method in (Annealing, Ascent, Tabu)
}


def as_method(method: SwitchSearch | str) -> SwitchSearch:
    """Return the search that an object or a name stands for."""
    return as_settings("method", method, SwitchSearch, METHODS, "an object of garrote.binary")

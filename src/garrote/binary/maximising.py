"""Binary quadratic programmes between two bounds: the best value found, and one that none exceeds."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.binary.bounding import check_bound, quick_bound, slow_bound
from garrote.binary.methods import Deadline, SwitchSearch, as_method
from garrote.binary.programme import BinaryProgramme
from garrote.settings import check_count
from garrote.solvers.control import Callback, Progress
from garrote.summaries import Shown


@dataclass(frozen=True, eq=False, repr=False)
class BinaryMaximum(Shown):
    """The best switches found, and a bound that no others exceed.

    Attributes
    ----------
    x : array of int, shape (n,)
        Zeros and ones.
    value : float
        x'Ax + b'x, from A and b as they were given.
    upper_bound : float
        What no x exceeds, whatever the search did.
    bound : str
        How: "enumeration" of all settings, "branching", "semidefinite", "roof" (duality) or "signs"
        (the sum of all that is positive).
    values : array
        What each start found.
    rounding : float
        What sums of as many terms, of their size, may be off by.
    """

    x: Array
    value: float
    upper_bound: float
    bound: str
    values: Floats
    rounding: float

    @property
    def gap(self) -> float:
        """How much better another x could be at most."""
        return max(0.0, self.upper_bound - self.value)

    @property
    def certified(self) -> bool:
        """Whether no x is better, but for the rounding of sums."""
        return self.gap <= self.rounding

    def _parts(self) -> dict[str, str]:
        return super()._parts() | {"gap": f"{self.gap:.4g}", "certified": str(self.certified)}


def maximise_binary(
    A: Any,
    b: Any = None,
    *,
    method: SwitchSearch | str = "annealing",
    n_starts: int = 50,
    bound: str = "auto",
    max_seconds: float | None = None,
    random_state: Any = None,
    callback: Callback | None = None,
) -> BinaryMaximum:
    """Maximise x'Ax + b'x over switches x_i in {0, 1}, and say how much better any others could be.

    The problem is NP-hard. Where the value found equals the upper bound, it is the maximum.

    Parameters
    ----------
    A, b
        As in `BinaryProgramme`.
    method : {"annealing", "ascent", "tabu"} or an object such as Tabu(n_steps=10_000)
        How switches are found from a start: `Annealing`, `Ascent` or `Tabu`.
    n_starts : int
        Independent starts; the best is kept. No more are made once one of them reaches the bound.
    bound : {"auto", "enumeration", "branching", "semidefinite", "roof", "signs"}
        The upper bound. "auto" looks at all settings of 20 switches or fewer. Else it is the best of
        roof duality, a minimum cut that proves the maximum where no entry of A off its diagonal is
        negative (up to 500,000 pairs), the semidefinite relaxation (up to 1000 switches), and 1000
        parts of branch and bound (up to 100). "branching" looks at 100,000 parts (up to 200).
    max_seconds : float, optional
        After so long starts and branches end with the best so far; other bounds take their time.
    random_state : int or SeedSequence, optional
    callback : callable, optional
        Called with a `Progress` after each start and each branching.

    Returns
    -------
    BinaryMaximum

    References
    ----------
    Staines & Barber (2012), Variational Optimization, Eqs. 41-46; Goemans & Williamson (1995), J. ACM
    42; Boros & Hammer (1991), Annals of OR 33.

    Examples
    --------
    >>> from garrote.binary import maximise_binary
    >>> found = maximise_binary([[2, -3, 1], [-3, 3, 1], [1, 1, -1]])
    >>> found.x.tolist(), found.value, found.upper_bound, found.certified
    ([0, 1, 1], 4.0, 4.0, True)
    """
    programme, search = BinaryProgramme(A, b), as_method(method)
    check_bound(bound, programme)
    streams, deadline = _streams(random_state, n_starts), Deadline(max_seconds)
    known = quick_bound(bound, programme)
    limits = _Limits(deadline, known.value - programme.rounding, callback)
    x, values = _from_starts(programme, search, known.best, streams, limits)
    proved = slow_bound(bound, programme, x, known, limits.go_on)
    x = x if proved.best is None else proved.best
    integers, value = x.astype(np.int8), programme.value(x)
    return BinaryMaximum(integers, value, proved.value, proved.name, values, programme.rounding)


class _Limits(NamedTuple):
    """When no more starts are made, by the clock or by what was found, and who is told."""

    deadline: Deadline
    enough: float
    callback: Callback | None

    def go_on(self, done: int, total: int, stage: str = "branches") -> bool:
        """Tell the callback, if there is one, and whether there is time left."""
        if self.callback is not None:
            self.callback(Progress(stage, done, total))
        return not self.deadline.passed


def _from_starts(
    programme: BinaryProgramme,
    search: SwitchSearch,
    known: Floats | None,
    streams: list[np.random.SeedSequence],
    limits: _Limits,
) -> tuple[Floats, Floats]:
    """Return the best of the switches known and those found from each start, and all starts' values."""
    found = np.zeros(programme.n_switches) if known is None else known
    best, values = programme.value(found), []
    for made, stream in enumerate(streams, 1):
        x = search.find(programme, np.random.default_rng(stream), limits.deadline)
        values.append(programme.value(x))
        if values[-1] > best:
            found, best = x, values[-1]
        if not limits.go_on(made, len(streams), "starts") or best >= limits.enough:
            break
    return found, np.array(values)


def _streams(random_state: Any, count: int) -> list[np.random.SeedSequence]:
    """Return a seed for each start, so that none depends on how many there are."""
    check_count("n_starts", count, 1)
    if isinstance(random_state, np.random.SeedSequence):
        return random_state.spawn(count)
    return np.random.SeedSequence(random_state).spawn(count)
